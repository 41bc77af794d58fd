//! One way to talk with a model: from neutral requests to an API's JSON, and back; whose API it is, and where it is asked.

use reqwest::Url;
use serde_json::Value;

use super::message::{Request, Response};
use super::names::NameRule;

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

#[cfg(test)]
mod tests {
    use super::address;
    use crate::llm::dialect::wire;
    use crate::model::agent::ModelApi;

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
}
