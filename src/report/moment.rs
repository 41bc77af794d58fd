//! Points in time as people write them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

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
