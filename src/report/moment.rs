//! Points in time as people write them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The day of an RFC 3339 time stamp, with the year where it is not that of `now`: `12 Nov`, `12 Nov 2025`. Any other text has none.
pub fn day(rfc3339: &str, now: &str) -> Option<String> {
    let [day, now] = [rfc3339, now].map(|it| it.parse::<Timestamp>().ok());
    let day = day?.to_zoned(TimeZone::UTC);
    let is_this_year = now.is_some_and(|it| it.to_zoned(TimeZone::UTC).year() == day.year());
    let format = if is_this_year { "%-d %b" } else { "%-d %b %Y" };
    Some(day.strftime(format).to_string())
}

/// An RFC 3339 time stamp for people, in UTC: `2026-11-20 19:22 UTC`. Any other text comes back as it is.
pub fn words(rfc3339: &str) -> String {
    match rfc3339.parse::<Timestamp>() {
        Ok(timestamp) => timestamp
            .to_zoned(TimeZone::UTC)
            .strftime("%Y-%m-%d %H:%M UTC")
            .to_string(),
        Err(_) => rfc3339.to_owned(),
    }
}
