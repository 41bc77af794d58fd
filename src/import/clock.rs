//! Times of a recording: local ones without an offset, as Python's `isoformat` writes them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

/// Measures from the start of a recorded run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) start: Timestamp,
}

impl Clock {
    /// Milliseconds from the start; `None` for a moment that is unknown or before it.
    pub(super) fn offset(self, at: Option<Timestamp>) -> Option<f64> {
        milliseconds(Some(self.start), at)
    }
}

/// A time, taken as UTC where it has no offset: only the differences between times matter. `None` for anything that is no time.
pub(super) fn time(value: Option<&Value>) -> Option<Timestamp> {
    let text = value?.as_str()?;
    text.parse().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        Some(local.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })
}

/// Milliseconds between two moments, to a tenth; `None` where one is unknown, or the clock was set back in between.
pub(super) fn milliseconds(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<f64> {
    let duration = to?.duration_since(from?);
    let tenths = (duration.as_secs_f64() * 10_000.0).round();
    (!duration.is_negative()).then_some(tenths / 10.0)
}
