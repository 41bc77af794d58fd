//! One way to talk with a model: from neutral requests to an API's JSON, and back; whose API it is, and where it is asked.

use std::collections::{BTreeMap, HashSet};

use reqwest::Url;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::message::{Request, Response};

/// A wire format. Pure: it knows neither addresses nor keys.
pub(crate) trait Wire: Send + Sync {
    /// Whose API it is.
    fn vendor(&self) -> &'static Vendor;

    /// The last part of the path, after the vendor's address and version, without a slash before it.
    fn endpoint(&self) -> &'static str;

    /// The body of a request. `at_home` is set for the vendor's own address.
    fn body(&self, request: &Request<'_>, at_home: bool) -> Value;

    /// Reads the body of a response.
    ///
    /// # Errors
    ///
    /// What it lacks.
    fn read(&self, body: &Value) -> Result<Response, String>;
}

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

/// The endpoint of an API, and whether that is the vendor's own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Address {
    pub(crate) url: Url,
    pub(crate) at_home: bool,
}

/// The endpoint below a base address, which may or may not hold the version or the endpoint already.
///
/// # Errors
///
/// A sentence on what is wrong with the address.
pub(crate) fn address(base_url: Option<&str>, wire: &dyn Wire) -> Result<Address, String> {
    let vendor = wire.vendor();
    let home = Url::parse(vendor.home).ok();
    let base = base_url.unwrap_or(vendor.home);
    let wrong = |why: &str| format!("`base_url` {base}: {why}");
    let mut url = Url::parse(base).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("write http://HOST or https://HOST"));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    let path = path
        .strip_suffix(wire.endpoint())
        .or_else(|| path.strip_suffix("/api"))
        .filter(|_| vendor.version.is_none() || path.ends_with(wire.endpoint()))
        .unwrap_or(&path)
        .trim_end_matches('/');
    let is_version = |it: &str| {
        it.strip_prefix('v')
            .is_some_and(|rest| rest.starts_with(|it: char| it.is_ascii_digit()))
    };
    let path = match vendor.version {
        // A gateway may have its own idea of where the version stands.
        Some(version) if !path.split('/').any(is_version) => format!("{path}/{version}"),
        Some(_) => path.to_owned(),
        None => path.strip_suffix("/v1").unwrap_or(path).to_owned(),
    };
    url.set_path(&format!("{path}/{}", wire.endpoint()));
    let at_home = home.is_some_and(|it| it.host_str() == url.host_str());
    Ok(Address { url, at_home })
}

/// How many hexadecimal digits of a name's hash stand for what was cut off.
const HASH_DIGITS: usize = 8;

/// Which names an API takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// Letters, digits, `_` and `-`, at most this many.
    Plain(usize),
    /// Anything.
    Any,
}

/// The names tools are offered with, and the full names they stand for.
#[derive(Debug, Default)]
pub(crate) struct Names {
    full: BTreeMap<String, String>,
}

impl Names {
    /// Gives each full name, all different, one that the rule allows. A name that is allowed stays as it is.
    pub(crate) fn new<'n>(full: impl Iterator<Item = &'n str> + Clone, rule: NameRule) -> Self {
        let mut names = Self::default();
        let taken: HashSet<&str> = full.clone().filter(|it| allows(rule, it)).collect();
        for name in full {
            let mut offered = name.to_owned();
            let mut seed = 0;
            while !allows(rule, &offered)
                || names.full.contains_key(&offered)
                || (offered != name && taken.contains(offered.as_str()))
            {
                offered = shortened(name, rule, seed);
                seed += 1;
            }
            names.full.insert(offered, name.to_owned());
        }
        names
    }

    /// The full name; one that was never offered stands for itself.
    pub(crate) fn full<'n>(&'n self, offered: &'n str) -> &'n str {
        self.full.get(offered).map_or(offered, String::as_str)
    }

    /// The name a tool is offered with.
    pub(crate) fn offered(&self, full: &str) -> Option<&str> {
        let known = self.full.iter().find(|(_, it)| *it == full);
        known.map(|(offered, _)| offered.as_str())
    }
}

fn allows(rule: NameRule, name: &str) -> bool {
    match rule {
        NameRule::Any => true,
        NameRule::Plain(longest) => {
            !name.is_empty() && name.len() <= longest && name.bytes().all(is_plain)
        }
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// The beginning of a name in allowed characters, and a hash of the whole, so that the same name is always shortened the same way.
fn shortened(name: &str, rule: NameRule, seed: u32) -> String {
    let NameRule::Plain(longest) = rule else {
        return format!("{name}_{seed}");
    };
    let kept = longest - HASH_DIGITS - 1;
    let beginning: String = name
        .chars()
        .take(kept)
        .map(|it| {
            if it.is_ascii() && is_plain(it as u8) {
                it
            } else {
                '_'
            }
        })
        .collect();
    let salt = if seed == 0 {
        String::new()
    } else {
        seed.to_string()
    };
    let hash = hex::encode(Sha256::digest(format!("{name}{salt}")));
    format!("{beginning}_{}", &hash[..HASH_DIGITS])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{NameRule, Names, address, allows};
    use crate::llm::client::wire;
    use crate::scenario_file::agent::ModelApi;

    #[test]
    fn base_addresses_are_taken_with_and_without_version() {
        use ModelApi::{Anthropic, Ollama, OpenAiChat, OpenAiResponses};
        let cases = [
            (Anthropic, None, "https://api.anthropic.com/v1/messages"),
            (
                Anthropic,
                Some("http://localhost:1/"),
                "http://localhost:1/v1/messages",
            ),
            (
                Anthropic,
                Some("http://localhost:1/v1/"),
                "http://localhost:1/v1/messages",
            ),
            (
                Anthropic,
                Some("http://h/proxy/v1/messages"),
                "http://h/proxy/v1/messages",
            ),
            (
                OpenAiChat,
                None,
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                OpenAiChat,
                Some("http://h:8000"),
                "http://h:8000/v1/chat/completions",
            ),
            (
                OpenAiChat,
                Some("http://h/openai"),
                "http://h/openai/v1/chat/completions",
            ),
            (
                OpenAiChat,
                Some("http://h/v1beta/openai/"),
                "http://h/v1beta/openai/chat/completions",
            ),
            (
                OpenAiChat,
                Some("http://h/openai/v1?api-version=preview"),
                "http://h/openai/v1/chat/completions?api-version=preview",
            ),
            (
                OpenAiChat,
                Some("http://h/v1/chat/completions"),
                "http://h/v1/chat/completions",
            ),
            (
                OpenAiResponses,
                Some("http://h/v1"),
                "http://h/v1/responses",
            ),
            (Ollama, None, "http://localhost:11434/api/chat"),
            (Ollama, Some("http://h:1/api"), "http://h:1/api/chat"),
            (Ollama, Some("http://h:1/v1"), "http://h:1/api/chat"),
            (
                Ollama,
                Some("http://h:1/x/api/chat"),
                "http://h:1/x/api/chat",
            ),
        ];
        for (api, base, expected) in cases {
            let found = address(base, wire(api)).unwrap();
            assert_eq!(found.url.as_str(), expected, "{base:?}");
            assert_eq!(found.at_home, base.is_none(), "{base:?}");
        }
        for base in ["localhost:8000", "ftp://h", "nonsense", ""] {
            assert!(address(Some(base), wire(OpenAiChat)).is_err(), "{base}");
        }
    }

    #[test]
    fn only_names_that_are_not_allowed_change() {
        let long = format!("mcp__server__{}", "x".repeat(80));
        let full = [
            "mcp__a__find",
            "mcp__a__dots.and spaces",
            "mcp__b__ä",
            &long,
        ];
        let names = Names::new(full.iter().copied(), NameRule::Plain(64));
        assert_eq!(names.offered("mcp__a__find"), Some("mcp__a__find"));
        let offered = names.offered("mcp__a__dots.and spaces").unwrap();
        assert!(offered.starts_with("mcp__a__dots_and_spaces_"), "{offered}");
        for name in full {
            assert_eq!(names.full(names.offered(name).unwrap()), name);
        }
        assert_eq!(names.offered(&long).unwrap().len(), 64);
        assert_eq!(names.full("mcp__a__made_up"), "mcp__a__made_up");
        let any = Names::new(full.iter().copied(), NameRule::Any);
        assert_eq!(any.offered(&long), Some(long.as_str()));
    }

    proptest! {
        #[test]
        fn shortening_is_reversible(full in proptest::collection::btree_set("[a-c.ä]{1,6}|[a_]{60,70}", 1..30)) {
            let names = Names::new(full.iter().map(String::as_str), NameRule::Plain(20));
            for name in &full {
                let offered = names.offered(name).unwrap();
                prop_assert!(allows(NameRule::Plain(20), offered), "{offered}");
                prop_assert_eq!(names.full(offered), name);
            }
        }
    }
}
