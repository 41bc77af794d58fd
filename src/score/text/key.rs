//! Properties of a value that its key reveals.

use std::sync::LazyLock;

use super::generated::is_generated;
use model::Object;
use regex::Regex;
use serde_json::Value;

const TIMES: [&str; 14] = [
    "at",
    "time",
    "timestamp",
    "ts",
    "date",
    "created",
    "updated",
    "modified",
    "expires",
    "expiry",
    "since",
    "until",
    "epoch",
    "mtime",
];
const DURATIONS: [&str; 19] = [
    "took",
    "elapsed",
    "duration",
    "latency",
    "uptime",
    "age",
    "ms",
    "millis",
    "milliseconds",
    "seconds",
    "secs",
    "durations",
    "latencies",
    "micros",
    "ttl",
    "remaining",
    "expires in",
    "retry after",
    "milli",
];
/// What lengths of time are counted in.
const UNITS: [&str; 10] = [
    "time", "ms", "seconds", "secs", "minutes", "mins", "hours", "days", "weeks", "months",
];
/// Words of settings, which are no measurements.
const LIMITS: [&str; 7] = [
    "max", "min", "maximum", "minimum", "limit", "timeout", "interval",
];
const AGES: [&str; 11] = [
    "created",
    "modified",
    "updated",
    "accessed",
    "started",
    "built",
    "last",
    "seen",
    "mtime",
    "ctime",
    "birthtime",
];

/// Whether a number under this key may be seconds or milliseconds since 1970.
pub(crate) fn is_time(key: &str) -> bool {
    let lower = key.to_lowercase();
    says(key, &TIMES) || TIMES.iter().any(|it| it.len() > 2 && lower.ends_with(it))
}

/// Whether the key says that its value is how long something took.
pub(crate) fn is_duration(key: &str) -> bool {
    says(key, &DURATIONS) && !is_limit(key)
}

/// Whether the key says that somebody has set its value.
pub(crate) fn is_limit(key: &str) -> bool {
    says(key, &LIMITS)
}

/// Whether the key says that its value is how long something is still there.
pub(crate) fn is_left(key: &str) -> bool {
    // Of what else is left, such as pieces in a shop, somebody has taken one.
    says(key, &["until"]) || (says(key, &["left"]) && says(key, &UNITS))
}

/// How many seconds the unit is in which the key says that its value is counted.
pub(crate) fn unit(key: &str) -> Option<f64> {
    let units: [(&[&str], f64); 5] = [
        (&["weeks", "week"], 604_800.0),
        (&["days", "day"], 86_400.0),
        (&["hours", "hrs"], 3600.0),
        (&["minutes", "mins"], 60.0),
        (&["seconds", "secs"], 1.0),
    ];
    let mut units = units.into_iter();
    units.find(|it| says(key, it.0)).map(|it| it.1)
}

/// Whether the key says that its value is when something was last touched.
pub(crate) fn is_age(key: &str) -> bool {
    says(key, &AGES)
}

/// Whether the key says that its value is how long something is up.
pub(crate) fn is_uptime(key: &str) -> bool {
    says(key, &["up", "uptime"])
}

/// Whether the key says that its value is when something comes round.
pub(crate) fn comes_round(key: &str) -> bool {
    says(key, &["next", "expires", "expiry", "reset", "valid until"])
}

/// Whether the key says that its value differs in each run.
pub(crate) fn is_moving(key: &str) -> bool {
    is_time(key) || is_duration(key) || is_age(key)
}

/// Whether the key says that its value names something.
pub(crate) fn is_id(key: &str) -> bool {
    says(key, &["id", "ids", "uuid", "key", "number", "no", "ref"])
}

/// Whether one of the words that a key consists of is among some.
pub(super) fn says(key: &str, words: &[&str]) -> bool {
    // A key longer than this is data rather than a name.
    if key.is_empty() || key.len() > 100 {
        return false;
    }
    let mut all = String::from(" ");
    let mut was_lower = false;
    for it in key.chars() {
        if it.is_alphabetic() {
            if it.is_uppercase() && was_lower {
                all.push(' ');
            }
            all.extend(it.to_lowercase());
        } else if !all.ends_with(' ') {
            all.push(' ');
        }
        was_lower = it.is_lowercase();
    }
    all.push(' ');
    words.iter().any(|it| {
        let found = all.match_indices(it);
        let mut whole = found
            .filter(|(at, it)| all[..*at].ends_with(' ') && all[at + it.len()..].starts_with(' '));
        whole.next().is_some()
    })
}

static DURATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let unit = r"(?:n|µ|u|m)?s|nanos(?:econds?)?|micros(?:econds?)?|msecs?|millis(?:econds?)?|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?";
    Regex::new(&format!(
        r"(?i)^\s*(?:P?T?(?:\d+(?:[.,:]\d+)*\s*(?:{unit})?(?:,?\s*(?:and\s+)?)?T?)+)\s*$"
    ))
    .ok()
});

/// Whether a text is nothing but a duration: `88 ms`, `1h2m3s`, `PT3S`, `0:01:22`, or a number.
pub(crate) fn is_duration_text(text: &str) -> bool {
    text.len() <= 60 && DURATION.as_ref().is_some_and(|it| it.is_match(text))
}

/// If this many entries have other names in every take, they are records under generated names, even if these do not look generated.
const RECORDS: usize = 3;

/// Whether a key looks made up by a server.
pub(crate) fn is_made_up(key: &str) -> bool {
    is_generated(&Value::String(key.to_owned()))
}

/// Whether each of several takes of an object has keys of its own, that look made up or name records.
pub(crate) fn vary(takes: &[&Object]) -> bool {
    let own: Vec<Vec<(&String, &Value)>> = takes.iter().map(|it| own(it, takes)).collect();
    let is_in_one = |key: &String| takes.iter().filter(|it| it.contains_key(key)).count() == 1;
    let all = || own.iter().flatten();
    let made_up = all().filter(|(key, _)| is_made_up(key)).count();
    let are_records = || {
        let are_enough = |it: &Vec<_>| it.len() >= RECORDS;
        own.iter()
            .zip(takes)
            .all(|(own, take)| are_enough(own) && own.len() == take.len())
            && all().all(|(_, value)| value.is_object())
    };
    own.iter().all(|it| !it.is_empty())
        && all().all(|(key, _)| is_in_one(key))
        && (2 * made_up > all().count() || are_records())
}

/// What a take has under keys that not all takes have.
fn own<'a>(take: &'a Object, takes: &[&Object]) -> Vec<(&'a String, &'a Value)> {
    let is_own = |(key, _): &(&String, &Value)| !takes.iter().all(|it| it.contains_key(*key));
    take.iter().filter(is_own).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_age, is_duration, is_duration_text, is_id, is_time};

    #[test]
    fn keys_say_what_their_values_are() {
        for key in [
            "took_ms",
            "tookMs",
            "elapsed",
            "build-duration",
            "uptime",
            "age",
            "responseTimeSeconds",
        ] {
            assert!(is_duration(key), "{key}");
        }
        for key in ["average", "message", "items", "stage", "msg", "title", ""] {
            assert!(!is_duration(key), "{key}");
        }
        for key in [
            "created_at",
            "lastUpdated",
            "ts",
            "expires",
            "eventDate",
            "updatedAt",
        ] {
            assert!(is_time(key), "{key}");
        }
        for key in ["id", "total", "status", "format", "count"] {
            assert!(!is_time(key), "{key}");
        }
        for key in ["last_seen", "mtime", "startedAt", "modified"] {
            assert!(is_age(key), "{key}");
        }
        for key in ["plastic", "expires_at", "due_date", "until", "time"] {
            assert!(!is_age(key), "{key}");
        }
        for key in ["id", "user_id", "itemIds", "order-number"] {
            assert!(is_id(key), "{key}");
        }
        for key in ["width", "valid", "numbered", "notes", "keyboard"] {
            assert!(!is_id(key), "{key}");
        }
    }

    #[test]
    fn durations_are_distinguished_from_other_texts() {
        for text in [
            "88 ms",
            "88.5ms",
            "1h2m3s",
            "PT3S",
            "P1DT2H",
            "0:01:22",
            "12",
            "2 minutes and 3 seconds",
        ] {
            assert!(is_duration_text(text), "{text}");
        }
        for text in ["undefined ms", "error", "3 failures", "", "ms"] {
            assert!(!is_duration_text(text), "{text}");
        }
    }
}
