//! Times in answers, and whether one differs from another only because time has passed.

use std::sync::LazyLock;

use jiff::civil::Date;
use regex::{Captures, Regex};

use crate::model::trajectory::{ToolCall, Trajectory};

const DAY: i64 = 86_400;

/// A time that is later by as much as the call is, give or take so many seconds, has moved with the clock.
const TOLERANCE: i64 = 120;

/// Local times may be so many seconds behind or ahead of UTC.
const WESTMOST: i64 = -12 * 3600;
const EASTMOST: i64 = 14 * 3600;

const WEEKDAY: &str = "(?:Mon(?:day)?|Tue(?:sday)?|Wed(?:nesday)?|Thu(?:rsday)?|Fri(?:day)?|Sat(?:urday)?|Sun(?:day)?)";
const MONTH: &str = "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)";
const CLOCK: &str = r"(?P<h>\d{1,2}):(?P<mi>\d{2})(?::(?P<s>\d{2})(?:[.,]\d+)?)?";
const HALF: &str = r"(?:[\x20\u{202f}]?(?P<ap>[AaPp]\.?[Mm]\b\.?))?";

/// The notations of times, the more specific first, each with named parts.
fn patterns() -> Vec<String> {
    vec![
        // ISO 8601, also with a blank, and with slashes as log files have it.
        r"(?P<y>\d{4})[-/](?P<mo>\d{2})[-/](?P<d>\d{2})(?:[Tt\x20](?P<h>\d{2}):(?P<mi>\d{2})(?::(?P<s>\d{2})(?:[.,]\d+)?)?(?:\x20?(?P<z>Z|z|UTC|GMT|[+-]\d{2}:?\d{2}))?)?".to_owned(),
        // The same in basic notation.
        r"(?P<y>\d{4})(?P<mo>\d{2})(?P<d>\d{2})T(?P<h>\d{2})(?P<mi>\d{2})(?P<s>\d{2})(?:[.,]\d+)?(?P<z>Z|[+-]\d{4})?".to_owned(),
        // The C library's and git's, with the zone before or after the year.
        format!(r"{WEEKDAY}\x20(?P<mon>{MONTH})\x20{{1,2}}(?P<d>\d{{1,2}})\x20{CLOCK}(?:\x20[A-Z]{{1,4}})?\x20(?P<y>\d{{4}})(?:\x20(?P<z>[+-]\d{{4}}))?"),
        // RFC 2822, and the day first in prose.
        format!(r"(?:{WEEKDAY},?\x20+)?(?P<d>\d{{1,2}})\x20(?P<mon>{MONTH})\.?,?\x20(?P<y>\d{{4}})(?:,?\x20(?:at\x20)?{CLOCK}(?:\x20(?P<z>[+-]\d{{4}}|[A-Z]{{1,4}}))?)?"),
        // The month first, in prose and as JavaScript's toString has it.
        format!(r"(?:{WEEKDAY},?\x20+)?(?P<mon>{MONTH})\.?\x20{{1,2}}(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\x20(?P<y>\d{{4}})(?:,?\x20(?:at\x20)?{CLOCK}{HALF}(?:\x20(?:GMT|UTC)(?P<z>[+-]\d{{4}})?)?(?:\x20\([^()]{{1,60}}\))?)?"),
        // Day and month, or month and day, as people write them.
        format!(r"(?P<a>\d{{1,2}})[/.](?P<b>\d{{1,2}})[/.](?P<y>\d{{4}})(?:,?\x20{CLOCK}{HALF})?"),
        format!("{CLOCK}{HALF}"),
        r"(?P<h>\d{1,2})\x20?(?P<ap>[AaPp][Mm])".to_owned(),
        "(?P<wd>Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)".to_owned(),
    ]
}

/// All notations as one pattern without names.
pub(super) fn notations() -> String {
    let anonymous = patterns().into_iter().map(|it| {
        let mut text = String::new();
        for piece in it.split("(?P<") {
            if text.is_empty() && !it.starts_with("(?P<") {
                text.push_str(piece);
            } else if let Some((_, rest)) = piece.split_once('>') {
                text.push_str("(?:");
                text.push_str(rest);
            }
        }
        format!("(?:{text})")
    });
    anonymous.collect::<Vec<_>>().join("|")
}

static NOTATIONS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let whole = patterns().into_iter().map(|it| format!("^(?:{it})$"));
    whole.filter_map(|it| Regex::new(&it).ok()).collect()
});

/// A time as a text says it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Moment {
    /// Seconds since 1970 as the clock on the wall shows them, how far that clock is ahead of UTC, and the precision of the notation, in
    /// seconds.
    Date {
        wall: i64,
        zone: Option<i64>,
        unit: i64,
    },
    /// Seconds since midnight.
    TimeOfDay { seconds: i64, unit: i64 },
    /// Days since Monday.
    Weekday(i64),
}

impl Moment {
    /// The precision of a date's notation, in seconds.
    fn unit(self) -> Option<i64> {
        match self {
            Self::Date { unit, .. } => Some(unit),
            Self::TimeOfDay { .. } | Self::Weekday(_) => None,
        }
    }
}

/// When the two calls were made whose answers are compared, in seconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(in crate::score) struct Clock {
    baseline: f64,
    current: f64,
    /// When the baseline was recorded.
    recorded: f64,
}

impl Clock {
    pub(in crate::score) fn new(
        (baseline, asked): (&Trajectory, &ToolCall),
        (current, asks): (&Trajectory, &ToolCall),
    ) -> Self {
        let at = |run: &Trajectory, call: &ToolCall| {
            seconds(run) + call.start_ms.unwrap_or_default() / 1000.0
        };
        Self {
            baseline: at(baseline, asked),
            current: at(current, asks),
            recorded: seconds(baseline),
        }
    }

    /// Of two calls made at once.
    #[cfg(test)]
    pub(in crate::score) fn still() -> Self {
        Self {
            baseline: 0.0,
            current: 0.0,
            recorded: 0.0,
        }
    }

    /// Whether the second of two times is the first, moved with the clock: later by as much as the call is later, or by whole calendar days
    /// at the same time of day.
    pub(super) fn moved(&self, b: &str, c: &str) -> bool {
        let (b, c) = (moments(b), moments(c));
        b.iter()
            .any(|b| c.iter().any(|c| self.moved_moment(*b, *c)))
    }

    /// The same of seconds or milliseconds since 1970.
    pub(in crate::score) fn moved_number(&self, b: f64, c: f64) -> bool {
        let is_epoch = |it: f64| (1.2e9..2.6e9).contains(&it) || (1.2e12..2.6e12).contains(&it);
        let scale = if b > 1e11 { 1000.0 } else { 1.0 };
        let later = (c - b) / scale;
        #[expect(clippy::cast_precision_loss, reason = "two minutes are few seconds")]
        let tolerance = TOLERANCE as f64;
        is_epoch(b) && is_epoch(c) && (later - self.later()).abs() <= tolerance
    }

    /// Whether a time, as a text, is later than the recording, and said as finely as the recorded one.
    pub(in crate::score) fn is_after_recording(&self, recorded: &str, text: &str) -> bool {
        let units: Vec<i64> = moments(recorded)
            .iter()
            .filter_map(|it| it.unit())
            .collect();
        moments(text).iter().any(|it| match it {
            Moment::Date { wall, zone, unit } => {
                // A time without a zone may be of any zone.
                let slack = if zone.is_some() {
                    0
                } else {
                    EASTMOST - WESTMOST
                };
                units.contains(unit)
                    && wall - zone.unwrap_or(0) + unit + slack >= whole(self.recorded)
            }
            Moment::TimeOfDay { .. } | Moment::Weekday(_) => false,
        })
    }

    /// The same of seconds or milliseconds since 1970.
    pub(in crate::score) fn is_number_after_recording(&self, number: f64) -> bool {
        let seconds = if number > 1e11 {
            number / 1000.0
        } else {
            number
        };
        seconds >= self.recorded && seconds < self.recorded + 1e9
    }

    fn later(&self) -> f64 {
        self.current - self.baseline
    }

    fn moved_moment(&self, b: Moment, c: Moment) -> bool {
        let later = whole(self.later());
        match (b, c) {
            (
                Moment::Date {
                    wall: b,
                    zone,
                    unit,
                },
                Moment::Date {
                    wall: c,
                    zone: c_zone,
                    unit: c_unit,
                },
            ) => {
                if unit != c_unit || zone.is_some() != c_zone.is_some() {
                    return false;
                }
                let apart = (c - c_zone.unwrap_or(0)) - (b - zone.unwrap_or(0));
                let with_clock = unit < DAY && (apart - later).abs() <= TOLERANCE.max(unit);
                let whole_days = c != b && (c - b) % DAY == 0 && zone == c_zone && {
                    let (b_day, c_day) = (b.div_euclid(DAY), c.div_euclid(DAY));
                    let days = c_day - b_day;
                    let of_zone = [0, zone.unwrap_or(0)].map(|it| self.days(it));
                    let names_today = |it: i64| (b_day, c_day) == self.dates(it);
                    of_zone.contains(&days) || zones().any(names_today)
                };
                with_clock || whole_days
            }
            (
                Moment::TimeOfDay { seconds: b, unit },
                Moment::TimeOfDay {
                    seconds: c,
                    unit: c_unit,
                },
            ) => {
                let off = (c - b - later).rem_euclid(DAY);
                unit == c_unit && off.min(DAY - off) <= TOLERANCE.max(unit)
            }
            (Moment::Weekday(b), Moment::Weekday(c)) => {
                // 1970 began on a Thursday.
                let weekday = |day: i64| (day + 3).rem_euclid(7);
                let names_today = |it: i64| {
                    let (then, now) = self.dates(it);
                    (weekday(then), weekday(now)) == (b, c)
                };
                (c - b - self.days(0)).rem_euclid(7) == 0 || zones().any(names_today)
            }
            _ => false,
        }
    }

    /// The days since 1970 of the two calls, on a clock so many seconds ahead of UTC.
    fn dates(&self, ahead: i64) -> (i64, i64) {
        let day = |at: f64| (whole(at) + ahead).div_euclid(DAY);
        (day(self.baseline), day(self.current))
    }

    /// How many midnights lie between the two calls.
    fn days(&self, ahead: i64) -> i64 {
        let (then, now) = self.dates(ahead);
        now - then
    }
}

fn zones() -> impl Iterator<Item = i64> {
    (WESTMOST / 3600..=EASTMOST / 3600).map(|it| it * 3600)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "seconds of a calendar are far from the ends of the range"
)]
fn whole(seconds: f64) -> i64 {
    seconds.floor() as i64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds of a calendar fit a double"
)]
fn seconds(run: &Trajectory) -> f64 {
    run.stamp.recorded_at.as_millisecond() as f64 / 1000.0
}

/// The times that a text may mean: two where day and month could be exchanged.
fn moments(text: &str) -> Vec<Moment> {
    for notation in NOTATIONS.iter() {
        if let Some(found) = notation.captures(text) {
            let read: Vec<Moment> = [false, true]
                .into_iter()
                .filter_map(|it| moment(&found, it))
                .collect();
            if !read.is_empty() {
                return read;
            }
        }
    }
    Vec::new()
}

/// Reads the parts of a time; `month_first` where two numbers do not say which is which.
fn moment(parts: &Captures<'_>, month_first: bool) -> Option<Moment> {
    let text = |name: &str| parts.name(name).map(|it| it.as_str());
    let number = |name: &str| text(name).and_then(|it| it.parse::<i64>().ok());
    if let Some(day) = text("wd") {
        let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        let place = names.iter().position(|it| day.starts_with(it))?;
        return i64::try_from(place).ok().map(Moment::Weekday);
    }
    let unit = match (number("h"), number("mi"), number("s")) {
        (_, _, Some(_)) => 1,
        (_, Some(_), None) => 60,
        (Some(_), None, None) => 3600,
        (None, None, None) => DAY,
    };
    let hour = match (
        number("h").unwrap_or(0),
        text("ap").map(|it| it.starts_with(['P', 'p'])),
    ) {
        (12, Some(false)) => 0,
        (it, Some(true)) if it < 12 => it + 12,
        (it, _) => it,
    };
    let seconds = hour * 3600 + number("mi").unwrap_or(0) * 60 + number("s").unwrap_or(0);
    if seconds > DAY {
        return None;
    }
    let Some(year) = number("y") else {
        return Some(Moment::TimeOfDay { seconds, unit });
    };
    let (month, day) = match (number("a"), number("b")) {
        (Some(a), Some(b)) if month_first => (a, b),
        (Some(a), Some(b)) => (b, a),
        _ => (number("mo").or_else(|| month(text("mon")?))?, number("d")?),
    };
    let date = Date::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
    );
    let midnight = date.ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Moment::Date {
        wall: midnight.timestamp().as_second() + seconds,
        zone: text("z").and_then(zone),
        unit,
    })
}

fn month(name: &str) -> Option<i64> {
    let names = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let place = names.iter().position(|it| name.starts_with(it))?;
    i64::try_from(place + 1).ok()
}

/// How far a zone is ahead of UTC; `None` for an unknown abbreviation.
fn zone(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z" | "UTC" | "GMT") {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = (digits.get(..2)?, digits.get(2..4)?);
    let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
    Some(sign * minutes * 60)
}

#[cfg(test)]
mod tests {
    use super::Clock;

    /// Calls at 2026-11-20 22:50:00 UTC and so many seconds later.
    fn later(seconds: f64) -> Clock {
        let baseline = 1_795_215_000.0;
        Clock {
            baseline,
            current: baseline + seconds,
            recorded: baseline - 1.0,
        }
    }

    #[test]
    fn times_move_with_the_clock_or_not() {
        let day = 86_400.0;
        let cases = [
            (60.0, "2026-11-20T22:50:00Z", "2026-11-20T22:51:10Z", true),
            (60.0, "2026-11-20T22:50:00Z", "2026-11-20T23:50:00Z", false),
            (
                60.0,
                "2026-11-20T22:50:00Z",
                "2026-11-20T17:50:59-05:00",
                true,
            ),
            (day, "2026-11-20", "2026-11-21", true),
            (60.0, "2026-03-01", "2026-03-02", false),
            // Midnight lies between the two where clocks are an hour ahead.
            (1800.0, "2026-11-20", "2026-11-21", true),
            (
                3600.0,
                "2026-12-01T08:30:00+01:00",
                "2026-12-02T08:30:00+01:00",
                true,
            ),
            (1800.0, "2026-12-24", "2026-12-25", false),
            (
                day,
                "2026-12-01T08:30:00+01:00",
                "2026-12-02T08:30:00+01:00",
                true,
            ),
            (
                60.0,
                "2026-03-01T08:30:00+09:00",
                "2026-03-01T03:30:00+09:00",
                false,
            ),
            (3600.0, "22:50", "23:50", true),
            (3600.0, "12:30", "13:00", false),
            (3600.0, "12:30 PM", "1:30 PM", true),
            // An answer may be quicker than the one it is compared with.
            (60.0, "22:50:20", "22:50:50", true),
            (7200.0, "10:50:00 PM", "12:50:00 AM", true),
            (day, "Friday", "Saturday", true),
            (60.0, "Friday", "Saturday", false),
            (day, "November 20, 2026", "November 21, 2026", true),
            (day, "20/11/2026", "21/11/2026", true),
            (day, "11/20/2026", "11/21/2026", true),
            (
                day,
                "Fri, 20 Nov 2026 22:50:00 GMT",
                "Sat, 21 Nov 2026 22:50:00 GMT",
                true,
            ),
            (
                60.0,
                "Fri Nov 20 22:50:00 2026 +0000",
                "Fri Nov 20 22:51:01 2026 +0000",
                true,
            ),
            (60.0, "20261120T225000Z", "20261120T225100Z", true),
            (60.0, "99:99", "98:98", false),
            (60.0, "2026-13-45", "2026-13-46", false),
        ];
        for (seconds, was, is, expected) in cases {
            assert_eq!(later(seconds).moved(was, is), expected, "{was} → {is}");
        }
        assert!(later(60.0).moved_number(1_795_215_000.0, 1_795_215_060.0));
        assert!(later(60.0).moved_number(1_795_215_000_000.0, 1_795_215_060_000.0));
        assert!(!later(600.0).moved_number(1_795_215_000.0, 1_795_215_001.0));
        assert!(!later(60.0).moved_number(1_000_000_000.0, 1_000_000_060.0));
    }

    #[test]
    fn an_age_is_told_by_being_later_than_the_recording() {
        let clock = later(3600.0);
        assert!(clock.is_after_recording("2026-11-01T23:00:00Z", "2026-11-20T23:00:00Z"));
        assert!(!clock.is_after_recording("2026-11-01T23:00:00Z", "2026-11-20T22:00:00Z"));
        assert!(!clock.is_after_recording("2026-11-01T23:00:00Z", "2026-11-21"));
        assert!(!clock.is_after_recording("22:00", "23:00"));
        // The time has the precision of a minute, and the recording was made within that minute.
        assert!(clock.is_after_recording("2026-11-01T23:00Z", "2026-11-20T22:49Z"));
        assert!(!clock.is_after_recording("2026-11-01T23:00Z", "2026-11-20T22:48Z"));
        // A clock on the wall may be hours behind.
        assert!(clock.is_after_recording("2026-11-01 23:00:00", "2026-11-20 17:50:00"));
        assert!(!clock.is_after_recording("2026-11-01 23:00:00", "2026-11-18 17:50:00"));
        assert!(clock.is_number_after_recording(1_795_215_100.0));
        assert!(!clock.is_number_after_recording(1_695_215_100.0));
    }
}
