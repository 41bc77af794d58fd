//! Lengths of time, as texts say them.

// All in milliseconds.
pub(super) const SECOND: i64 = 1000;
pub(super) const MINUTE: i64 = 60 * SECOND;
pub(super) const HOUR: i64 = 60 * MINUTE;
pub(super) const DAY: i64 = 24 * HOUR;

/// A length of time, the unit at which its text stops, and whether its units are single letters.
pub(super) struct Length {
    pub(super) time: i64,
    pub(super) unit: i64,
    pub(super) is_short: bool,
}

/// How long the unit of this name is, in milliseconds.
pub(super) fn unit_of(name: &str) -> Option<i64> {
    Some(match name {
        "s" | "sec" | "secs" | "second" | "seconds" => SECOND,
        "m" | "min" | "mins" | "minute" | "minutes" => MINUTE,
        "h" | "hr" | "hrs" | "hour" | "hours" => HOUR,
        "d" | "day" | "days" => DAY,
        "w" | "week" | "weeks" => 7 * DAY,
        "month" | "months" => 30 * DAY,
        "y" | "year" | "years" => 365 * DAY,
        _ => return None,
    })
}

/// Reads how long ago a text says that something was: `5 minutes ago`, `just now`, `yesterday`.
pub(super) fn ago(text: &str) -> Option<Length> {
    let lower = text.to_lowercase();
    match lower.strip_suffix(" ago") {
        None if lower == "yesterday" => length("1 day"),
        None | Some("moments" | "moment" | "a moment") => length("0 minutes"),
        Some(it) => length(it.trim_start_matches("about ")),
    }
}

/// Reads a text that is nothing but a length of time: `3h21m`, `3 days, 4:29`, `about an hour`.
pub(super) fn length(text: &str) -> Option<Length> {
    let text = ["About ", "Less than "]
        .iter()
        .fold(text, |text, it| text.trim_start_matches(it));
    let text = text.replacen("an ", "1 ", 1).replacen("a ", "1 ", 1);
    let (mut time, mut unit, mut is_short, mut rest) = (0_i64, i64::MAX, true, text.as_str());
    let end = |text: &str, is: bool| text.find(|it: char| it.is_ascii_digit() != is);
    while !rest.is_empty() {
        let (number, after) = rest.split_at(end(rest, true).unwrap_or(rest.len()));
        let (name, after) = after.split_at(end(after, false).unwrap_or(after.len()));
        // `3 days, 4:29` stops at minutes, `4:29:10` at seconds.
        let is_hour = !text[..text.len() - rest.len()].ends_with(':');
        unit = match name.trim_matches([' ', ',']) {
            ":" if is_hour => HOUR,
            ":" => MINUTE,
            "" if !is_hour => unit / 60,
            name => unit_of(name.trim_end_matches(" and").trim_end_matches(','))?,
        };
        time = time.checked_add(number.parse::<i64>().ok()?.checked_mul(unit)?)?;
        is_short &= name.len() == 1 && name != ":";
        rest = after;
    }
    (unit < i64::MAX && time < i64::MAX / 4).then_some(Length {
        time,
        unit,
        is_short,
    })
}
