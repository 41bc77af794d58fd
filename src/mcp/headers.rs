//! The headers with which a server over HTTP is asked.

use std::collections::HashMap;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};

/// Headers as the HTTP client takes them.
pub(super) fn header_map(
    headers: &[(String, String)],
) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    headers
        .iter()
        .map(|(name, value)| {
            let parsed = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value.as_str()).ok());
            parsed.ok_or_else(|| format!("cannot be asked with the header `{name}`: its name or value has a character HTTP does not allow"))
        })
        .collect()
}

/// The same, with the bearer token.
pub(super) fn with_token(
    headers: &[(String, String)],
    bearer_token: Option<&str>,
) -> Result<HeaderMap, String> {
    let mut headers: HeaderMap = header_map(headers)?.into_iter().collect();
    if let Some(token) = bearer_token {
        let value = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| "has a bearer token HTTP does not allow".to_owned())?;
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}
