//! Pages that prove that servers can be asked, and what answers must hold.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::model::json_path::JsonPath;

/// A page of a server's REST interface.
#[derive(Debug, Clone, PartialEq)]
pub struct HealthPage {
    pub at: PageAddress,
    /// With `${…}` not yet filled in.
    pub headers: Vec<(String, String)>,
    pub status: u16,
    pub expect: Expected,
}

/// Where a page is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageAddress {
    /// Below the origin of a server; `None` where there is only one with an origin.
    Path {
        server: Option<String>,
        path: String,
    },
    /// Somewhere else.
    Url(String),
}

/// What an answer must hold. With nothing said, an answer that is no error is enough.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    /// The answer must be an error.
    pub is_error: bool,
    /// This text is somewhere in the answer.
    pub text: Option<String>,
    /// What must be found at a place in its JSON.
    pub at: Option<(JsonPath, AtPath)>,
}

impl fmt::Display for Expected {
    /// `is_error, text "a", /n: 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_error = self.is_error.then(|| "is_error".to_owned());
        let text = self.text.as_ref().map(|it| format!("text {it:?}"));
        let at = self.at.as_ref().map(|(path, at)| match at {
            AtPath::Equals(value) => format!("{path}: {value}"),
            AtPath::Exists(true) => format!("{path} exists"),
            AtPath::Exists(false) => format!("{path} does not exist"),
            AtPath::MinItems(count) => format!("{path}: {count} or more"),
        });
        let parts: Vec<String> = [is_error, text, at].into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

/// What the answer to a read must hold before a script goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Until {
    pub expect: Expected,
    /// How long the read is repeated for that.
    pub timeout: Duration,
}

/// What must be found at a place.
#[derive(Debug, Clone, PartialEq)]
pub enum AtPath {
    /// This value.
    Equals(Value),
    /// Anything but `null`, or nothing at all.
    Exists(bool),
    /// A list of so many items; for a path with `*`, so many places.
    MinItems(usize),
}

pub use crate::scenario_file::servers::ready::{Ready, ReadyCall};
