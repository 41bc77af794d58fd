//! The meaning of an API's error, in our own words.

use serde_json::Value;

use crate::model::Trouble;
use crate::text::beginning;

/// How much of an API's message is shown, in characters.
const EXCERPT: usize = 400;

/// A response that is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) kind: Kind,
    pub(crate) status: u16,
    /// What the API said.
    pub(crate) said: String,
}

/// What kind of trouble it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Unauthorised,
    Forbidden,
    UnknownModel,
    /// There is nothing at the address.
    NotFound,
    /// Nothing is left of what was paid for.
    Quota,
    RateLimit,
    ContextTooLong,
    ContentFilter,
    /// The model takes no temperature, or not this one.
    Temperature,
    /// The model cannot call tools.
    NoTools,
    /// The API has trouble of its own.
    Overloaded,
    Other,
}

/// Words by which an error is recognised, whatever its status; the first that fits counts.
const WORDS: &[(&str, Kind)] = &[
    ("insufficient_quota", Kind::Quota),
    ("billing_error", Kind::Quota),
    ("credit balance is too low", Kind::Quota),
    ("exceeded your current quota", Kind::Quota),
    ("context_length_exceeded", Kind::ContextTooLong),
    ("maximum context length", Kind::ContextTooLong),
    ("prompt is too long", Kind::ContextTooLong),
    ("exceeds the available context size", Kind::ContextTooLong),
    ("request_too_large", Kind::ContextTooLong),
    ("content_filter", Kind::ContentFilter),
    ("content filtering policy", Kind::ContentFilter),
    ("content_policy_violation", Kind::ContentFilter),
    ("content management policy", Kind::ContentFilter),
    ("does not support tools", Kind::NoTools),
    ("invalid_api_key", Kind::Unauthorised),
    ("authentication_error", Kind::Unauthorised),
    ("model_not_found", Kind::UnknownModel),
];

impl ApiError {
    /// Reads the body of a response with an error status.
    pub(crate) fn read(status: u16, body: &str) -> Self {
        let json: Value = serde_json::from_str(body).unwrap_or_default();
        let said = said(&json).unwrap_or_else(|| body.trim().to_owned());
        // Gateways answer 200, and say within what they were answered themselves.
        let within = (200..300).contains(&status).then(|| status_within(&json));
        let status = within.flatten().unwrap_or(status);
        let everything = if json.is_null() {
            said.to_lowercase()
        } else {
            json.to_string().to_lowercase()
        };
        Self {
            kind: kind(status, &everything, &said.to_lowercase()),
            status,
            said: beginning(&said, EXCERPT).into_owned(),
        }
    }

    /// Whether the same request may succeed later.
    pub(crate) fn is_passing(&self) -> bool {
        match self.kind {
            Kind::RateLimit | Kind::Overloaded => true,
            Kind::Other => matches!(self.status, 408 | 409 | 425),
            _ => false,
        }
    }

    /// What stood in the way, where the same request may succeed later.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        match (self.kind, self.status) {
            // 529: too many ask, whoever they are.
            (Kind::RateLimit, _) | (Kind::Overloaded, 529) => Some(Trouble::RateLimit),
            _ => self.is_passing().then_some(Trouble::Transport),
        }
    }

    /// What is wrong, in a sentence without its end.
    pub(crate) fn message(&self, asked: &Asked<'_>) -> String {
        let Asked {
            asker,
            model,
            url,
            key,
        } = asked;
        let section = asker.section();
        let status = self.status;
        match (self.kind, key) {
            (Kind::Unauthorised, Some(name)) => {
                format!("the API does not accept the key in `{name}` (HTTP {status})")
            }
            (Kind::Unauthorised, None) => format!(
                "the API wants a key, and none was sent (HTTP {status}): name the environment variable that holds it in \
                 `{section}.api_key_env`"
            ),
            (Kind::Forbidden, _) => {
                format!("the API does not allow this request (HTTP {status})")
            }
            (Kind::UnknownModel, _) => {
                format!("the API knows no model `{model}` (HTTP {status}): check `{section}.model`")
            }
            (Kind::NotFound, _) => {
                format!("there is no API at {url} (HTTP {status}): check `{section}.base_url`")
            }
            (Kind::Quota, _) => format!(
                "the quota of the account is used up (HTTP {status}): add credit, or use another key"
            ),
            (Kind::RateLimit, _) => {
                format!("the API's rate limit is reached (HTTP {status})")
            }
            (Kind::ContextTooLong, _) => format!(
                "the conversation is too long for `{model}` (HTTP {status}): {}",
                asker.shortened_by()
            ),
            (Kind::ContentFilter, _) => {
                format!("the vendor's content filter blocked the request (HTTP {status})")
            }
            (Kind::Temperature, _) => format!(
                "`{model}` does not take this temperature (HTTP {status}): with `temperature: null` under `{section}`, none is sent"
            ),
            (Kind::NoTools, _) => {
                format!("`{model}` cannot call tools (HTTP {status}): choose another model")
            }
            (Kind::Overloaded, _) => format!("the API has failed (HTTP {status})"),
            (Kind::Other, _) => format!("the API refused the request (HTTP {status})"),
        }
    }
}

/// On whose behalf a model is asked, for messages that name keys of its section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    Agent,
    Judge,
}

impl Asker {
    /// The section of a scenario that holds the settings.
    pub(crate) fn section(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Judge => "judge",
        }
    }

    /// How what the model is sent becomes shorter.
    pub(crate) fn shortened_by(self) -> &'static str {
        match self {
            Self::Agent => "`agent.max_result_chars` shortens what tools answer",
            Self::Judge => "`judge.max_input_chars` shortens what it is shown of the run",
        }
    }
}

/// What was asked, for messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) asker: Asker,
    pub(crate) model: &'a str,
    pub(crate) url: &'a str,
    /// The environment variable that holds the key; `None` when none was sent.
    pub(crate) key: Option<&'a str>,
}

fn kind(status: u16, everything: &str, said: &str) -> Kind {
    if let Some((_, kind)) = WORDS.iter().find(|(word, _)| everything.contains(word)) {
        return *kind;
    }
    match status {
        401 => Kind::Unauthorised,
        402 => Kind::Quota,
        403 => Kind::Forbidden,
        404 if said.contains("model") => Kind::UnknownModel,
        404 => Kind::NotFound,
        413 => Kind::ContextTooLong,
        429 => Kind::RateLimit,
        400 | 422 if said.contains("temperature") => Kind::Temperature,
        500..=599 => Kind::Overloaded,
        _ => Kind::Other,
    }
}

/// The status that an error itself tells of, or stands for.
fn status_within(json: &Value) -> Option<u16> {
    let members = ["code", "status", "type"].map(|it| json["error"].get(it));
    members.into_iter().flatten().find_map(|it| {
        let number = it.as_u64().or_else(|| it.as_str()?.parse().ok());
        let number = number.and_then(|it| u16::try_from(it).ok());
        let named = it.as_str().and_then(|it| match it {
            "overloaded_error" => Some(529),
            "rate_limit_error" | "rate_limit_exceeded" => Some(429),
            "server_error" | "api_error" | "internal_error" => Some(500),
            "timeout_error" => Some(504),
            _ => None,
        });
        number.filter(|it| (400..600).contains(it)).or(named)
    })
}

/// The message of an error, wherever the API puts it, and what a gateway got itself.
fn said(json: &Value) -> Option<String> {
    let text = |place: &str| json.pointer(place).and_then(Value::as_str);
    let places = ["/error/message", "/error", "/message", "/detail"];
    let message = places.into_iter().find_map(text)?;
    Some(
        match text("/error/metadata/raw").filter(|it| !it.is_empty()) {
            Some(raw) => format!("{message}: {raw}"),
            None => message.to_owned(),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::{ApiError, Kind};

    #[test]
    fn errors_are_sorted_by_kind() {
        let cases = [
            (
                401,
                r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
                Kind::Unauthorised,
            ),
            (
                404,
                r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-0"}}"#,
                Kind::UnknownModel,
            ),
            (
                404,
                r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
                Kind::UnknownModel,
            ),
            (
                404,
                r#"{"error":"model 'x' not found"}"#,
                Kind::UnknownModel,
            ),
            (404, "404 page not found", Kind::NotFound),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
                Kind::Quota,
            ),
            (
                400,
                r#"{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API"}}"#,
                Kind::Quota,
            ),
            (
                429,
                r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#,
                Kind::RateLimit,
            ),
            (
                400,
                r#"{"error":{"message":"prompt is too long: 200001 tokens > 200000 maximum"}}"#,
                Kind::ContextTooLong,
            ),
            (
                400,
                r#"{"error":{"code":"context_length_exceeded","message":"too many"}}"#,
                Kind::ContextTooLong,
            ),
            (
                400,
                r#"{"error":{"code":"content_filter","message":"no"}}"#,
                Kind::ContentFilter,
            ),
            (
                400,
                r#"{"error":{"param":"temperature","message":"Unsupported value: 'temperature' does not support 0"}}"#,
                Kind::Temperature,
            ),
            (
                400,
                r#"{"error":"m does not support tools"}"#,
                Kind::NoTools,
            ),
            (
                529,
                r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Kind::Overloaded,
            ),
            (500, "<html>", Kind::Overloaded),
            (
                200,
                r#"{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"no capacity"}}}"#,
                Kind::Overloaded,
            ),
            (
                200,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Kind::Overloaded,
            ),
            (
                200,
                r#"{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"}}"#,
                Kind::RateLimit,
            ),
            (
                200,
                r#"{"error":{"message":"no","code":"400"}}"#,
                Kind::Other,
            ),
            (400, "{}", Kind::Other),
        ];
        for (status, body, expected) in cases {
            let error = ApiError::read(status, body);
            assert_eq!(error.kind, expected, "{status} {body}");
            let passing = matches!(expected, Kind::RateLimit | Kind::Overloaded);
            assert_eq!(error.is_passing(), passing, "{status} {body}");
        }
        let passed_on =
            r#"{"error":{"message":"failed","code":502,"metadata":{"raw":"no capacity"}}}"#;
        assert_eq!(ApiError::read(200, passed_on).said, "failed: no capacity");
        assert_eq!(
            ApiError::read(404, r#"{"error":"model 'x' not found"}"#).said,
            "model 'x' not found"
        );
    }
}
