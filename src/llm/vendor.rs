//! What is known of those who offer APIs.

use super::names::NameRule;

/// The facts about one vendor, whatever the format its API is asked in.
#[derive(Debug)]
pub(crate) struct Vendor {
    /// Its own address, without the version.
    pub(crate) home: &'static str,
    /// The part of the path between the address and the endpoint, such as `v1`; `None` where there is none.
    pub(crate) version: Option<&'static str>,
    /// The environment variable that usually holds the key; `None` where none is needed.
    pub(crate) key_env: Option<&'static str>,
    /// The header that carries the key, and what stands before the key in it.
    pub(crate) key_header: (&'static str, &'static str),
    /// Headers that every request has, with a key or without.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// Which names it allows for tools.
    pub(crate) names: NameRule,
}

/// [`Vendor::key_header`] of those who take a bearer token.
pub(super) const BEARER: (&str, &str) = ("authorization", "Bearer ");

impl Vendor {
    /// The headers of a request, by name and value.
    pub(crate) fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let (name, prefix) = self.key_header;
        let key = key.map(|it| (name, format!("{prefix}{it}")));
        let fixed = self.headers.iter();
        fixed
            .map(|&(name, value)| (name, value.to_owned()))
            .chain(key)
            .collect()
    }
}
