//! Values of a file as they go over the wire.

use serde_json::Value;

use super::holders::At;
use super::values::{Fraction, Word};
use crate::model::Object;

/// Something that is sent as JSON.
pub(in crate::scenario_file) trait Served {
    /// The value that is sent; `None` for none.
    fn served(&self) -> Option<Value>;
}

/// An object of the members that are there.
pub(in crate::scenario_file) fn object<const N: usize>(
    members: [(&str, Option<Value>); N],
) -> Value {
    let given = members.into_iter();
    given
        .filter_map(|(name, value)| value.map(|it| (name.to_owned(), it)))
        .collect::<Object>()
        .into()
}

impl<T: Served> Served for Option<T> {
    fn served(&self) -> Option<Value> {
        self.as_ref().and_then(T::served)
    }
}

impl<T: Served> Served for Vec<T> {
    fn served(&self) -> Option<Value> {
        Some(self.iter().filter_map(T::served).collect())
    }
}

impl<T: Served> Served for At<T> {
    fn served(&self) -> Option<Value> {
        self.value.served()
    }
}

/// What is sent as it is.
macro_rules! as_it_is {
    ($($type:ty),+) => { $(
        impl Served for $type {
            fn served(&self) -> Option<Value> {
                Some(self.clone().into())
            }
        }
    )+ };
}

as_it_is!(bool, i64, String, Value, Object);

impl Served for Word {
    fn served(&self) -> Option<Value> {
        Some(self.0.clone().into())
    }
}

impl Served for Fraction {
    fn served(&self) -> Option<Value> {
        Some(self.0.into())
    }
}
