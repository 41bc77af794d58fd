//! The two eras of MCP: sessions that begin with `initialize`, and since 2026-07-28 requests that stand by themselves.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

use rmcp::model::ProtocolVersion;
use rmcp::service::ClientInitializeError;
use serde_json::Value;

use crate::model::{Object, ServerCatalogue};
use crate::protocol::{
    HEADER_MISMATCH, LEGACY, META_CAPABILITIES, META_SERVER, META_SUBSCRIPTION, META_VERSION,
    MISSING_CAPABILITY, STATELESS, UNSUPPORTED_VERSION, revision,
};
use crate::scenario_file::servers::Protocol;
use crate::text::beginning;

/// What a request of the newer era says of itself.
pub(super) fn said(request: &Value) -> Option<&Value> {
    let params = request.get("params")?;
    revision(params).and(params.get("_meta"))
}

/// The revision that a request of the newer era is in, and what its client can do.
pub(super) fn client(meta: &Value) -> (Option<&str>, Option<&Object>) {
    (
        meta[META_VERSION].as_str(),
        meta[META_CAPABILITIES].as_object(),
    )
}

/// The id of the request for a subscription that a notification belongs to.
pub(super) fn subscription(notification: &Value) -> Option<&Value> {
    notification
        .pointer("/params/_meta")?
        .get(META_SUBSCRIPTION)
}

/// What the result of a request in the newer era is.
pub(super) enum Opened {
    /// An answer.
    Complete(Value),
    /// The server wants to know something first, and gives what is to be sent back with the answers.
    Asks {
        requests: Object,
        state: Option<String>,
    },
    /// It is not for us: why.
    Unusable(String),
}

/// Whether an error with this code comes from a server of the newer era alone: a header that differs from the body, a capability that
/// the client lacks, a revision that is not served.
pub(super) fn is_code(code: i64) -> bool {
    [HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION].contains(&code)
}

/// Whether a server has refused `initialize` because it speaks the newer era alone: by one of its codes, or by naming no older revision.
pub(super) fn names_only_newer(error: &ClientInitializeError) -> bool {
    let ClientInitializeError::JsonRpcError(error) = error else {
        return false;
    };
    let said = format!(
        "{} {}",
        error.message,
        error.data.as_ref().unwrap_or(&Value::Null)
    );
    let asked = ProtocolVersion::LATEST_WITH_INITIALIZE;
    let mut named = revisions(&said)
        .filter(|it| *it != asked.as_str())
        .peekable();
    if named.peek().is_none() {
        return is_code(error.code.0.into());
    }
    named.all(|it| it == STATELESS)
}

/// The revisions that a text names: dates, and not those that a time stands behind.
fn revisions(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|it: char| !it.is_ascii_alphanumeric() && !"-:+".contains(it));
    let words = words.map(|it| it.trim_matches(|it: char| !it.is_ascii_digit()));
    words.filter(|it| {
        let parts: Vec<usize> = it.split('-').map(str::len).collect();
        parts == [4, 2, 2] && it.bytes().all(|it| it.is_ascii_digit() || it == b'-')
    })
}

/// Why nobody goes on in the revision that a server has answered `initialize` with; `None` where that begins sessions.
pub(super) fn unfit(answered: &str) -> Option<String> {
    let is_date = revisions(answered).next() == Some(answered);
    let is_older = is_date && Protocol::of_version(answered) == Protocol::Legacy;
    (!is_older).then(|| {
        format!(
            "answered `initialize` with the revision `{}`, which has no `initialize`: clients refuse that",
            beginning(answered, 40)
        )
    })
}

/// Whether a server names one of the revisions before.
pub(super) fn has_older(theirs: &[ProtocolVersion]) -> bool {
    theirs.iter().any(|it| LEGACY.contains(&it.as_str()))
}

/// The members that an answer to `server/discover` must have, and this one lacks.
pub(super) fn lacking(discovered: &Value) -> Vec<&'static str> {
    let must = [
        "resultType",
        "supportedVersions",
        "capabilities",
        "ttlMs",
        "cacheScope",
    ];
    let lacking = must.into_iter().filter(|it| discovered.get(it).is_none());
    lacking.collect()
}

/// What to do where a server refuses what sessions begin with.
pub(super) fn advice(method: &str, code: i64) -> String {
    match method {
        "server/discover" if !is_code(code) => format!(
            "; it speaks no {STATELESS}, as it seems: `protocol: legacy` or `--protocol legacy` speaks to it in the revisions before"
        ),
        "initialize" => {
            format!("; `--protocol {STATELESS}` speaks to it in the revision without `initialize`")
        }
        _ => String::new(),
    }
}

/// That there is no revision which both sides speak.
pub(super) fn no_common(theirs: &[ProtocolVersion]) -> String {
    if theirs.contains(&ProtocolVersion::V_2026_07_28) {
        return format!("refuses {STATELESS} although it says that it speaks it");
    }
    let theirs: Vec<&str> = theirs.iter().map(ProtocolVersion::as_str).collect();
    let theirs = if theirs.is_empty() {
        "names none that it speaks".to_owned()
    } else {
        format!("speaks {}", theirs.join(", "))
    };
    format!(
        "does not speak {STATELESS}: it {theirs}; `protocol: legacy` or `--protocol legacy` speaks to it in the revisions before"
    )
}

/// Takes what a server says of itself from its answer to `server/discover`.
pub(super) fn introduce(mut discovered: Object, catalogue: &mut ServerCatalogue) {
    let meta = discovered.get_mut("_meta").and_then(Value::as_object_mut);
    catalogue.info = meta.and_then(|it| it.remove(META_SERVER));
    catalogue.protocol_version = Some(STATELESS.to_owned());
    catalogue.capabilities = discovered.remove("capabilities");
    catalogue.instructions = match discovered.remove("instructions") {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
}

/// A result without what belongs to the era and not to the answer, in whichever era it came.
pub(super) fn without_envelope(result: Value) -> Value {
    match result {
        Value::Object(mut result) => {
            if result.get("resultType").is_some_and(|it| it == "complete") {
                result.remove("resultType");
            }
            if let Some(Value::Object(meta)) = result.get_mut("_meta")
                && meta.remove(META_SERVER).is_some()
                && meta.is_empty()
            {
                result.remove("_meta");
            }
            Value::Object(result)
        }
        other => other,
    }
}

/// Takes a result apart.
pub(super) fn opened(result: Value) -> Opened {
    let Value::Object(mut result) = result else {
        return Opened::Complete(result);
    };
    let kind = result.remove("resultType");
    match kind.as_ref().map(|it| it.as_str().unwrap_or_default()) {
        // Without one it is complete.
        None | Some("complete") => Opened::Complete(Value::Object(result)),
        Some("input_required") => {
            let state = match result.remove("requestState") {
                None => None,
                Some(Value::String(state)) => Some(state),
                Some(_) => return Opened::Unusable("`requestState` is no text".to_owned()),
            };
            match result.remove("inputRequests") {
                Some(Value::Object(requests)) => Opened::Asks { requests, state },
                None if state.is_some() => Opened::Asks {
                    requests: Object::new(),
                    state,
                },
                _ => Opened::Unusable(
                    "`input_required` has neither `inputRequests` nor `requestState`".to_owned(),
                ),
            }
        }
        Some("task") => Opened::Unusable(
            "the server has begun a task, although the client did not say that it takes tasks"
                .to_owned(),
        ),
        _ => Opened::Unusable(format!(
            "`resultType` is {}, which is none that there is",
            kind.unwrap_or_default()
        )),
    }
}
