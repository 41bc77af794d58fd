//! Checks that decide whether a request is let in.

use std::io;

use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode};

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    pub status: StatusCode,
    pub message: String,
}

impl Refusal {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, message }
    }
}

fn refuse(status: StatusCode, message: impl Into<String>) -> Result<(), Refusal> {
    Err(Refusal::new(status, message))
}

/// A page in a browser must not reach us: neither by a name that leads to this machine (`Host`), nor from another site (`Origin`).
pub fn same_site(headers: &HeaderMap, any_host: bool) -> Result<(), Refusal> {
    let host = text(headers, HOST.as_str()).unwrap_or_default();
    if !any_host && !is_loopback(host_name(host)) {
        return refuse(
            StatusCode::FORBIDDEN,
            format!("the host `{host}` is not this machine"),
        );
    }
    let Some(origin) = text(headers, ORIGIN.as_str()) else {
        if headers.contains_key(ORIGIN) {
            return refuse(StatusCode::FORBIDDEN, "the origin is not text");
        }
        return Ok(());
    };
    let site = origin.split_once("://").map(|(_, site)| site);
    let is_ours = site.is_some_and(|it| {
        is_loopback(host_name(it)) || any_host && host_name(it) == host_name(host)
    });
    if is_ours {
        return Ok(());
    }
    refuse(
        StatusCode::FORBIDDEN,
        format!("requests from `{origin}` are not allowed"),
    )
}

/// The request comes from no page but those that we serve ourselves, at this port.
pub fn from_own_pages(headers: &HeaderMap, port: u16) -> Result<(), Refusal> {
    let Some(origin) = headers.get(ORIGIN) else {
        return Ok(());
    };
    let site = origin
        .to_str()
        .ok()
        .and_then(|it| it.strip_prefix("http://"));
    let host = site.and_then(|it| it.strip_suffix(&format!(":{port}")));
    if host.is_some_and(is_loopback) {
        return Ok(());
    }
    refuse(
        StatusCode::FORBIDDEN,
        "requests from pages of others are not allowed",
    )
}

/// The client calls this machine by a name of its own, or by one of these.
pub fn host_is_known(headers: &HeaderMap, names: &[String]) -> Result<(), Refusal> {
    let host = text(headers, HOST.as_str()).unwrap_or_default();
    let name = host_name(host);
    let is_named = |it: &String| host_name(it).eq_ignore_ascii_case(name);
    if is_loopback(name) || names.iter().any(is_named) {
        return Ok(());
    }
    refuse(
        StatusCode::FORBIDDEN,
        format!("the host `{host}` is none that is let in"),
    )
}

/// The client shows this token (RFC 6750, section 2.1).
pub fn shows_token(headers: &HeaderMap, token: &str) -> Result<(), Refusal> {
    let shown = text(headers, AUTHORIZATION.as_str()).and_then(|it| it.split_once(' '));
    match shown {
        Some((scheme, shown))
            if scheme.eq_ignore_ascii_case("bearer") && is_secret(shown.trim(), token) =>
        {
            Ok(())
        }
        _ => refuse(
            StatusCode::UNAUTHORIZED,
            "the request needs the header `Authorization: Bearer …` with the token that was printed at the start",
        ),
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|it| it.to_str().ok())
}

/// The host without its port.
fn host_name(host: &str) -> &str {
    // The colons of an IPv6 address are none before a port. Whatever else is behind its bracket makes it another name.
    let address = host.find(']').unwrap_or_default();
    let port = host[address..].find(':').map(|it| address + it);
    &host[..port.unwrap_or(host.len())]
}

fn is_loopback(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let address = address.unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || address
            .parse::<std::net::IpAddr>()
            .is_ok_and(|it| it.is_loopback())
}

/// The body of a message is JSON.
pub fn is_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let kind = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    refuse(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "the content type must be application/json",
    )
}

/// The client takes all of these types; one that says nothing takes everything.
pub fn accepts(headers: &HeaderMap, types: &[&str]) -> Result<(), Refusal> {
    let mut accepted = headers.get_all(ACCEPT).iter().peekable();
    if accepted.peek().is_none() {
        return Ok(());
    }
    let ranges: Vec<String> = accepted
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','))
        .map(|it| {
            it.split(';')
                .next()
                .unwrap_or_default()
                .trim()
                .to_lowercase()
        })
        .collect();
    let missing = types.iter().find(|wanted| {
        let family = wanted.split('/').next().unwrap_or_default();
        !ranges
            .iter()
            .any(|it| it == *wanted || it == "*/*" || *it == format!("{family}/*"))
    });
    match missing {
        None => Ok(()),
        Some(missing) => refuse(
            StatusCode::NOT_ACCEPTABLE,
            format!("the client must accept {missing}"),
        ),
    }
}

/// 128 random bits, in hexadecimal digits.
///
/// # Errors
///
/// When the system has no randomness to give.
pub fn unguessable() -> io::Result<String> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(io::Error::other)?;
    Ok(hex::encode(bits))
}

/// Whether what somebody gave is the secret. How long that takes tells nothing of how much of it is right.
pub fn is_secret(given: &str, secret: &str) -> bool {
    let pairs = given.bytes().zip(secret.bytes());
    let differing = pairs.fold(0, |found, (given, wanted)| found | (given ^ wanted));
    given.len() == secret.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderName, HeaderValue};

    use super::{accepts, is_json, is_secret, same_site, unguessable};

    fn headers(given: &[(&'static str, &'static str)]) -> HeaderMap {
        let given = given.iter();
        given
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect()
    }

    #[test]
    fn only_this_machine_is_let_in() {
        let cases = [
            (&[("host", "127.0.0.1:80")][..], true, true),
            (&[("host", "localhost")], true, true),
            (&[("host", "[::1]:3000")], true, true),
            (&[], false, true),
            (&[("host", "evil.example")], false, true),
            (&[("host", "localhost.evil.example")], false, true),
            (&[("host", "[::1].evil.example")], false, true),
            (&[("host", "[::1]evil.example:80")], false, true),
            (&[("host", "127.0.0.1.evil.example")], false, true),
            (
                &[("host", "127.0.0.1"), ("origin", "http://localhost:3000")],
                true,
                true,
            ),
            (
                &[("host", "127.0.0.1"), ("origin", "http://evil.example")],
                false,
                false,
            ),
            (
                &[
                    ("host", "127.0.0.1"),
                    ("origin", "http://localhost.evil.example"),
                ],
                false,
                false,
            ),
            (&[("host", "127.0.0.1"), ("origin", "null")], false, false),
            (
                &[("host", "proxy:80"), ("origin", "http://proxy:80")],
                false,
                true,
            ),
        ];
        for (given, here, anywhere) in cases {
            assert_eq!(same_site(&headers(given), false).is_ok(), here, "{given:?}");
            assert_eq!(
                same_site(&headers(given), true).is_ok(),
                anywhere,
                "{given:?}"
            );
        }
    }

    #[test]
    fn content_types_are_checked() {
        for (kind, right) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("text/plain", false),
            ("application/json-patch+json", false),
        ] {
            assert_eq!(
                is_json(&headers(&[("content-type", kind)])).is_ok(),
                right,
                "{kind}"
            );
        }
        assert!(is_json(&headers(&[])).is_err());
        let both = ["application/json", "text/event-stream"];
        for (accept, right) in [
            ("application/json, text/event-stream", true),
            ("text/event-stream;q=0.5,APPLICATION/JSON", true),
            ("*/*", true),
            ("application/*, text/*", true),
            ("application/json", false),
            ("text/html", false),
        ] {
            assert_eq!(
                accepts(&headers(&[("accept", accept)]), &both).is_ok(),
                right,
                "{accept}"
            );
        }
        assert!(accepts(&headers(&[]), &both).is_ok());
    }

    #[test]
    fn only_the_whole_secret_is_the_secret() {
        let secret = unguessable().unwrap();
        assert_eq!(secret.len(), 32);
        assert_ne!(secret, unguessable().unwrap());
        assert!(is_secret(&secret, &secret));
        for given in ["", &secret[..31], &format!("{secret}0"), &"0".repeat(32)] {
            assert!(!is_secret(given, &secret), "{given}");
        }
    }
}
