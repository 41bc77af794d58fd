//! Headers that repeat the body of a request.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation>

use axum::http::{HeaderMap, HeaderName};
use serde_json::Value;

use crate::mock::service::Service;
use crate::protocol::{
    METHOD_HEADER, Mirrored, NAME_HEADER, VERSION_HEADER, decode_header, named_by, plain_header,
    revision,
};

/// What is wrong with the headers of a request. Of one that does not name its revision, something else is wrong.
pub(super) fn check(
    service: &Service,
    headers: &HeaderMap,
    method: &str,
    params: &Value,
) -> Result<(), String> {
    let Some(Value::String(version)) = revision(params) else {
        return Ok(());
    };
    if !service.core().declared.checks_headers {
        return Ok(());
    }
    let plain = |value: &[u8]| plain_header(value).map(str::to_owned);
    compare(
        VERSION_HEADER,
        only(headers, VERSION_HEADER, plain)?,
        version,
    )?;
    compare(METHOD_HEADER, only(headers, METHOD_HEADER, plain)?, method)?;
    let Some(Value::String(name)) = named_by(method).and_then(|it| params.get(it)) else {
        return Ok(());
    };
    compare(
        NAME_HEADER,
        only(headers, NAME_HEADER, decode_header)?,
        name,
    )?;
    if method != "tools/call" {
        return Ok(());
    }
    let arguments = params.get("arguments").unwrap_or(&Value::Null);
    let mut repeated = service.mirrored_by(name).into_iter();
    repeated.try_for_each(|it| check_argument(headers, &it, arguments))
}

fn check_argument(
    headers: &HeaderMap,
    mirrored: &Mirrored,
    arguments: &Value,
) -> Result<(), String> {
    let header = mirrored.header.as_str();
    let given = only(headers, header, decode_header)?;
    match (given, arguments.pointer(&mirrored.pointer)) {
        (None, None | Some(Value::Null)) => Ok(()),
        // A number is the same however it is written.
        (Some(given), Some(Value::Number(number)))
            if given.parse::<f64>().ok() == number.as_f64() =>
        {
            Ok(())
        }
        (given, Some(Value::String(text))) => compare(header, given, text),
        (given, value) => compare(header, given, &value.unwrap_or(&Value::Null).to_string()),
    }
}

/// The value of a header that may be there once.
fn only(
    headers: &HeaderMap,
    name: &str,
    read: impl Fn(&[u8]) -> Option<String>,
) -> Result<Option<String>, String> {
    let Ok(header) = HeaderName::try_from(name) else {
        return Ok(None);
    };
    let mut values = headers.get_all(header).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(format!("the header {name} is there twice"));
    }
    let read = read(value.as_bytes());
    read.map(Some)
        .ok_or_else(|| format!("the header {name} is malformed"))
}

fn compare(name: &str, given: Option<String>, expected: &str) -> Result<(), String> {
    match given {
        Some(given) if given == expected => Ok(()),
        Some(given) => Err(format!(
            "the header {name} is `{given}`, in the body it is `{expected}`"
        )),
        None => Err(format!("the header {name} is missing")),
    }
}
