//! Values of a file as they go over the wire.

use serde_json::Value;

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
