//! Times in texts, in the notations that servers use, and how those are distinguished.

use std::sync::LazyLock;

use jiff::civil::Date;
use jiff::{SignedDuration, Span};
use regex::{Captures, Regex};

use super::lengths::{DAY, HOUR, MINUTE, SECOND};

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Names of zones, with how many hours they are ahead of UTC.
const ZONES: &str = "Z=0 z=0 UT=0 UTC=0 GMT=0 WET=0 WEST=1 BST=1 CET=1 CEST=2 EET=2 EEST=3 MSK=3 JST=9 KST=9 AEST=10 AEDT=11 NZST=12 NZDT=13 EDT=-4 EST=-5 CDT=-5 CST=-6 MDT=-6 MST=-7 PDT=-7 PST=-8 AKDT=-8 AKST=-9 HST=-10";

const WEEKDAY: &str = "(?P<wd>Mon(?:day)?|Tue(?:sday)?|Wed(?:nesday)?|Thu(?:rsday)?|Fri(?:day)?|Sat(?:urday)?|Sun(?:day)?)";
const MONTH: &str = "(?P<mon>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)";
const YEAR: &str = r"(?P<y>\d{4})";
const DATE: &str = r"(?P<d>\d{1,2})";
const HALF: &str = r"(?:[\x20\u{202f}]?(?P<ap>[AaPp]\.?[Mm]\b\.?))";
const SECONDS: &str = r"(?P<s>\d{2})(?:[.,](?P<f>\d+))?";

/// The notations of times, the more specific first, each with named parts.
fn patterns() -> Vec<String> {
    let clock = format!(r"(?P<h>\d{{1,2}}):(?P<mi>\d{{2}})(?::{SECONDS})?{HALF}?");
    let names = ZONES.split(' ').filter_map(|it| it.split_once('='));
    let names = names.map(|it| it.0).collect::<Vec<_>>().join("|");
    // With a blank before it, a number of two digits may be anything.
    let zone = format!(
        r"(?:\x20?(?P<z>(?:GMT|UTC)?[+-]\d{{2}}:?\d{{2}}|(?:{names})\b)|(?P<zz>[+-]\d{{2}}\b))"
    );
    let time = format!(r"(?:{clock}|(?P<hh>\d{{1,2}})\x20?(?P<aap>[AaPp][Mm]\b))");
    let at = format!(r"(?:,?\x20(?:at\x20)?{time}(?:{zone}(?:\x20\([^()]{{1,60}}\))?)?)?");
    let weekday = format!(r"(?:{WEEKDAY},?\x20+)?");
    let of_iso = format!(r"(?P<h>\d{{2}}):(?P<mi>\d{{2}})(?::{SECONDS})?{zone}?");
    vec![
        // ISO 8601, also with a blank, and with slashes as log files have it.
        format!(r"{YEAR}[-/](?P<mo>\d{{2}})[-/](?P<d>\d{{2}})(?:[Tt\x20]{of_iso})?"),
        // The same in basic notation.
        format!(r"{YEAR}(?P<mo>\d\d)(?P<d>\d\d)T(?P<h>\d\d)(?P<mi>\d\d)(?:{SECONDS})?{zone}?"),
        // The C library's and git's, with the zone before or after the year.
        format!(
            r"{WEEKDAY}\x20{MONTH}\x20{{1,2}}{DATE}\x20{clock}(?:\x20(?P<zy>[A-Z]{{1,4}}))?\x20{YEAR}{zone}?"
        ),
        // As web servers log it.
        format!(r"{DATE}/{MONTH}/{YEAR}:{clock}{zone}?"),
        // RFC 2822, and the day first in prose.
        format!(r"{weekday}{DATE}\x20{MONTH}\.?,?\x20{YEAR}{at}"),
        // The month first, in prose and as JavaScript's toString has it.
        format!(r"{weekday}{MONTH}\.?\x20{{1,2}}{DATE}(?:st|nd|rd|th)?,?\x20{{1,2}}{YEAR}{at}"),
        // The same of the last or next months, as `ls` has it.
        format!(r"{weekday}{MONTH}\x20{{1,2}}{DATE},?\x20(?:at\x20)?{clock}"),
        // Day and month, or month and day, as people write them.
        format!(r"(?P<a>\d{{1,2}})[/.](?P<b>\d{{1,2}})[/.]{YEAR}{at}"),
        time,
        "(?P<wd>Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)".to_owned(),
    ]
}

/// All notations as one pattern without names.
pub(super) fn notations() -> String {
    let all = patterns().join("|");
    let names = Regex::new("[?]P<[a-z]+>").ok();
    names.map_or(String::new(), |it| it.replace_all(&all, "?:").into_owned())
}

/// Dates and times as China, Japan and Korea write them, with the half of the day before the hour.
const EASTERN: &str = r"(?P<y>\d{4})(?:/|年|\.\x20)(?P<mo>\d{1,2})(?:/|月|\.\x20)(?P<d>\d{1,2})[日.]?(?:[\x20\u{2009}\u{202f}]?(?:(?P<ap>[上下]午|午[前後]|오[전후])\x20?)?(?P<h>\d{1,2})(?::|时|時)(?P<mi>\d{2})分?(?::?(?P<s>\d{2})秒?)?)?";

static EASTERN_TIME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!("^(?:{EASTERN})")).ok());

/// How long the date or time is, in bytes, that a text begins with, if it is one as China, Japan and Korea write it.
pub(super) fn eastern_length(text: &str) -> Option<usize> {
    let after = text
        .get(..4)
        .filter(|it| it.bytes().all(|it| it.is_ascii_digit()));
    after.filter(|_| text[4..].starts_with(['/', '年', '.']))?;
    Some(EASTERN_TIME.as_ref()?.find(text)?.end())
}

static NOTATIONS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    // A text that is nothing else may also be the short name of a weekday, or seconds or milliseconds of this millennium.
    let epoch = r"(?P<epoch>[12]\d{9}(?:\d{3})?(?:\.\d+)?)";
    let alone = [WEEKDAY, epoch, EASTERN];
    let patterns = patterns().into_iter().chain(alone.map(str::to_owned));
    let whole = patterns.map(|it| format!("^(?:{it})$"));
    whole.filter_map(|it| Regex::new(&it).ok()).collect()
});

/// What makes up the shape of a notation.
static RUNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\(.*|\x20+|[A-Za-z]+|[上下]午|午[前後]|오[전후]|:\d\d[.,]\d+|\d{6,}[.,]\d+|\d+")
        .ok()
});

/// A time as a text says it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    /// Milliseconds since 1970 as the clock on the wall shows them; of a time without a year or a day, those nearest to its call.
    pub(super) wall: i64,
    /// How far that clock is ahead of UTC.
    pub(super) zone: Option<i64>,
    /// The unit at which the text stops.
    pub(super) unit: i64,
    /// The text says no day.
    pub(super) is_bare: bool,
}

impl Time {
    /// Its moment, in that zone if it names none.
    pub(super) fn at(self, zone: i64) -> i64 {
        self.wall - self.zone.unwrap_or(zone)
    }
}

/// The way a time is written.
#[derive(Debug, Clone)]
pub(crate) struct Notation {
    /// Its signs and units, without the zone.
    pub(super) shape: String,
    pub(super) zone: String,
    ahead: Option<i64>,
}

impl Notation {
    /// Whether it says of which zone it is.
    pub(crate) fn has_zone(&self) -> bool {
        !self.zone.is_empty()
    }
}

impl PartialEq for Notation {
    /// Daylight saving is the same zone, and how many digits a number has is no notation.
    fn eq(&self, other: &Self) -> bool {
        let apart = self.ahead.zip(other.ahead).map(|(b, c)| (b - c).abs());
        let length = |it: &str| it.contains(['+', '-']).then_some(it.len());
        // Some write `Z` where a zone is no hour ahead.
        let is_alike = length(&self.zone) == length(&other.zone)
            || [&self.zone, &other.zone].iter().any(|it| *it == "Z");
        let is_shifted = apart == Some(HOUR) && is_alike;
        self.shape == other.shape && (self.zone == other.zone || is_shifted)
    }
}

/// What a text says of a time, for both orders of day and month, where that could be either.
pub(super) struct Reading {
    pub(super) notation: Notation,
    pub(super) times: [Option<Time>; 2],
}

/// Whether a text is nothing but a time.
pub(crate) fn is_time(text: &str) -> bool {
    NOTATIONS.iter().any(|it| it.is_match(text))
}

/// Reads a text that is nothing but a time; `near` is near it.
pub(super) fn read(text: &str, near: i64) -> Option<Reading> {
    NOTATIONS.iter().find_map(|it| {
        let parts = it.captures(text)?;
        let times = [false, true].map(|month_first| time(&parts, month_first, near));
        let notation = notation_of(text, &parts);
        times[0].or(times[1]).map(|_| Reading { notation, times })
    })
}

/// The way a time is written: separators, precision, whether and how a zone is given.
pub(crate) fn notation(text: &str) -> Option<Notation> {
    read(text, 0).map(|it| it.notation)
}

fn notation_of(text: &str, parts: &Captures<'_>) -> Notation {
    let zone = ["z", "zz", "zy"].iter().find_map(|it| parts.name(it));
    let (before, after) = zone.map_or((text, ""), |it| (&text[..it.start()], &text[it.end()..]));
    let signs = |run: &Captures<'_>| {
        let (run, length) = (&run[0], run[0].len());
        let whole = run.find('.').unwrap_or(length);
        let is_of = |names: &[&str]| length > 2 && place(names, run).is_some();
        match run.as_bytes()[0] {
            it @ (b'(' | b' ') => char::from(it).to_string(),
            b'0'..=b'9' if length <= 2 => "0".to_owned(),
            // How finely a number is said is no notation, but for the seconds of a clock.
            b'0'..=b'9' if whole >= 10 => whole.to_string(),
            b':' | b'0'..=b'9' if run.contains('.') => ":f".to_owned(),
            b':' | b'0'..=b'9' if run.contains(',') => ",f".to_owned(),
            b'0'..=b'9' => length.to_string(),
            _ if matches!(run, "st" | "nd" | "rd" | "th") => "th".to_owned(),
            _ if is_of(&MONTHS) => "M".to_owned(),
            _ if is_of(&WEEKDAYS) => "W".repeat(length.min(4)),
            _ if !run.is_ascii() => "A".to_owned(),
            _ => run.replace('P', "A").replace('p', "a"),
        }
    };
    let rest = format!("{before}{after}");
    let shape = RUNS
        .as_ref()
        .map(|it| it.replace_all(rest.trim_end(), signs));
    Notation {
        shape: shape.unwrap_or_default().into_owned(),
        zone: zone.map_or("", |it| it.as_str()).to_owned(),
        ahead: zone.and_then(|it| ahead(it.as_str())),
    }
}

/// Seconds by which a time lies after a moment, given in seconds since 1970; several where day and month could be exchanged. A time without
/// a zone is read as UTC, and a time of day as that of the nearest day.
pub(crate) fn offsets(text: &str, at: f64) -> Vec<f64> {
    let at = milliseconds(at);
    // A word may be the name of a weekday.
    let read = read(text, at).filter(|_| text.contains(|it: char| it.is_ascii_digit()));
    let times = read.map_or([None; 2], |it| it.times);
    let times = times.into_iter().flatten();
    let mut offsets: Vec<i64> = times.map(|it| it.at(0) - at).collect();
    offsets.dedup();
    offsets.into_iter().map(seconds).collect()
}

/// The same of a number of seconds or milliseconds since 1970; `None` for one that is too large for either.
pub(crate) fn epoch_offset(number: f64, at: f64) -> Option<f64> {
    epoch(number).map(|it| seconds(it - milliseconds(at)))
}

/// A number of seconds or milliseconds since 1970, in milliseconds.
pub(super) fn epoch(number: f64) -> Option<i64> {
    let scale = if number.abs() < 1e11 { 1.0 } else { 1000.0 };
    (number.abs() < 1e14).then(|| milliseconds(number / scale))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "milliseconds of a calendar are far from the ends of the range"
)]
pub(super) fn milliseconds(seconds: f64) -> i64 {
    (seconds * 1000.0).floor() as i64
}

pub(super) fn seconds(milliseconds: i64) -> f64 {
    SignedDuration::from_millis(milliseconds).as_secs_f64()
}

/// Days since 1970.
pub(super) fn day(wall: i64) -> i64 {
    wall.div_euclid(DAY)
}

/// Days since Monday of a day since 1970, which began on a Thursday.
pub(super) fn weekday(day: i64) -> i64 {
    (day + 3).rem_euclid(7)
}

/// Months from the beginning of our reckoning to a day since 1970.
pub(super) fn months_to(day: i64) -> Option<i64> {
    let since_1970 = Span::new().try_days(day).ok()?;
    let date = Date::constant(1970, 1, 1).checked_add(since_1970).ok()?;
    Some(i64::from(date.year()) * 12 + i64::from(date.month()) - 1)
}

/// Days from the beginning of 1970 to a date.
pub(super) fn days_to(year: i64, month: i64, date: i64) -> Option<i64> {
    let (month, date) = (i8::try_from(month).ok()?, i8::try_from(date).ok()?);
    let date = Date::new(i16::try_from(year).ok()?, month, date).ok()?;
    Some(i64::from((date - Date::constant(1970, 1, 1)).get_days()))
}

/// Reads the parts of a time; `month_first` where two numbers do not say which is which.
fn time(parts: &Captures<'_>, month_first: bool, near: i64) -> Option<Time> {
    let text = |name: &str| parts.name(name).map(|it| it.as_str());
    let number = |name: &str| text(name).and_then(|it| it.parse::<i64>().ok());
    if let Some(number) = text("epoch") {
        return Some(Time {
            wall: epoch(number.parse().ok()?)?,
            zone: Some(0),
            unit: SECOND,
            is_bare: false,
        });
    }
    let units = [("s", SECOND), ("mi", MINUTE), ("h", HOUR), ("hh", HOUR)];
    let unit = units.iter().find(|it| text(it.0).is_some());
    let fraction = text("f").and_then(|it| format!("{it:0<3}").get(..3)?.parse::<i64>().ok());
    let mut time = fraction.unwrap_or(0);
    for (name, unit) in units {
        time += number(name).unwrap_or(0) * unit;
    }
    if let Some(half) = text("ap").or(text("aap")) {
        let is_later = half.starts_with(['P', 'p', '下']) || matches!(half, "午後" | "오후");
        time = time % (12 * HOUR) + if is_later { 12 * HOUR } else { 0 };
    }
    let is_below = |name: &str, end: i64| number(name).is_none_or(|it| it < end);
    if time >= DAY + SECOND || !is_below("mi", 60) || !is_below("s", 61) {
        return None;
    }
    let month = text("mon")
        .and_then(|it| place(&MONTHS, it))
        .map(|it| it + 1);
    let date = match number("a").zip(number("b")) {
        Some((a, b)) if month_first => Some((a, b)),
        Some((a, b)) => Some((b, a)),
        None => number("mo").or(month).zip(number("d")),
    };
    let named = text("wd").and_then(|it| place(&WEEKDAYS, it));
    let days: Vec<Option<i64>> = match (date, number("y")) {
        (Some((month, date)), Some(year)) => vec![days_to(year, month, date)],
        (Some((month, date)), None) => {
            let year = months_to(day(near))? / 12;
            (year - 1..=year + 1)
                .map(|it| days_to(it, month, date))
                .collect()
        }
        (None, _) => (-4..=4).map(|it| Some(day(near) + it)).collect(),
    };
    // A day that is no such weekday is none.
    let fits = |it: &i64| named.is_none_or(|name| name == weekday(*it));
    let days = days.into_iter().flatten().filter(fits);
    let walls = days.map(|it| it * DAY + time);
    Some(Time {
        wall: walls.min_by_key(|it| (it - near).abs())?,
        zone: ["z", "zz", "zy"].into_iter().find_map(text).and_then(ahead),
        unit: unit.map_or(DAY, |it| it.1),
        is_bare: date.is_none() && named.is_none(),
    })
}

/// Which of some names a longer or shorter one begins with.
fn place(names: &[&str], name: &str) -> Option<i64> {
    let mut numbered = (0..).zip(names);
    Some(numbered.find(|it| name.starts_with(*it.1))?.0)
}

/// How far a zone is ahead of UTC; `None` for an unknown name.
fn ahead(zone: &str) -> Option<i64> {
    let Some(sign) = zone.find(['+', '-']) else {
        let mut known = ZONES.split(' ').filter_map(|it| it.split_once('='));
        return Some(known.find(|it| it.0 == zone)?.1.parse::<i64>().ok()? * HOUR);
    };
    let digits = zone[sign + 1..].replace(':', "");
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = minutes.parse().unwrap_or(0) * MINUTE;
    let ahead = hours.parse::<i64>().ok()? * HOUR + minutes;
    Some(if zone[sign..].starts_with('-') {
        -ahead
    } else {
        ahead
    })
}

#[cfg(test)]
mod tests {
    use super::{epoch_offset, notation, offsets};

    const HOUR: f64 = 3600.0;

    /// 2026-11-20 10:10:20 UTC, a Friday.
    const NOVEMBER: f64 = 1_795_169_420.0;

    #[test]
    fn times_are_measured_from_a_moment() {
        let cases: [(&str, &[f64]); 9] = [
            ("2026-11-20T10:10:25.5Z", &[5.5]),
            ("2026-11-20 11:10:20", &[HOUR]),
            ("2026-11-20T11:10:20+01:00", &[0.0]),
            ("1/2/2027", &[]),
            ("Nov 20 10:11", &[40.0]),
            ("10:11:20 AM", &[60.0]),
            ("1795169425", &[5.0]),
            ("Friday", &[]),
            ("undefined", &[]),
        ];
        for (text, expected) in cases {
            let found = offsets(text, NOVEMBER);
            assert!(
                found == expected || (found.len() == 2 && text == "1/2/2027"),
                "{text}: {found:?}"
            );
        }
        assert_eq!(epoch_offset(0.0, NOVEMBER), Some(-NOVEMBER));
        assert_eq!(epoch_offset(1000.0 * NOVEMBER + 500.0, NOVEMBER), Some(0.5));
        assert_eq!(epoch_offset(1e20, NOVEMBER), None);
        assert_eq!(epoch_offset(f64::NAN, NOVEMBER), None);
    }

    #[test]
    fn notations_are_distinguished() {
        let of = |it: &str| notation(it).unwrap_or_else(|| panic!("{it}"));
        let equal = [
            ("2026-01-02T03:04:05.1Z", "2027-11-12T13:14:15.123456Z"),
            ("2026-01-02T03:04:05+02:00", "2026-01-02T03:04:05+01:00"),
            ("Sep 30 08:12", "Oct  1 09:12"),
            ("7:19:39 AM", "12:00:01 PM"),
            (
                "Fri, 2 Jan 2026 03:04:05 GMT",
                "Thu, 12 May 2016 03:04:05 GMT",
            ),
            ("1795169425", "1795169426.5"),
        ];
        for (a, b) in equal {
            assert!(of(a) == of(b), "{a} = {b}");
        }
        let in_zone = [
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05"),
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05+00:00"),
            ("2026-01-02T03:04:05+00:00", "2026-01-02T03:04:05+02:00"),
            ("2026-01-02T03:04:05+00:00", "2026-01-02T03:04:05+0000"),
            ("2026-01-02 03:04:05 UTC", "2026-01-02 03:04:05 CEST"),
        ];
        for (a, b) in in_zone {
            assert!(of(a).shape == of(b).shape && of(a) != of(b), "{a} ≠ {b}");
        }
        let other = [
            ("2026-01-02T03:04:05Z", "2026-01-02 03:04:05Z"),
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.1Z"),
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04Z"),
            ("2026-01-02", "2026/01/02"),
            ("2026/01/02", "01/02/2026"),
            ("Monday", "Mon"),
            ("1795169425", "1795169425000"),
            ("2026-01-02T03:04:05Z", "Fri, 02 Jan 2026 03:04:05 GMT"),
        ];
        for (a, b) in other {
            assert!(of(a).shape != of(b).shape, "{a} ≠ {b}");
        }
        assert!(notation("undefined").is_none());
    }
}
