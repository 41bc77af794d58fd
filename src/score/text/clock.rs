//! Differences between times in answers that only come from the passing of time.
//!
//! A time is judged in a few zones at once: the one it names, UTC, and that of the machine that made each run. In each of them it has a
//! place on the wall's clock and a distance from its own call; what the clock explains shows in these.

use std::ops::RangeInclusive;

use model::{ToolCall, Trajectory};

use super::key;
use super::lengths::{self, DAY, HOUR, MINUTE, SECOND, length};
use super::times::{Time, day, days_to, epoch, milliseconds, months_to, read, seconds, weekday};

/// Two clocks may be so far apart without anybody noticing.
const APART: i64 = 2 * SECOND;

/// Times of observations and plans lie on these.
const QUARTER: i64 = 15 * MINUTE;

/// `ls` shows the year instead of the hour from this age on: half a year, which some count as 180 days.
const OLD: i64 = 179 * DAY;

/// How `ls` then writes a time, and how before.
const OF_LS: [&str; 2] = ["M 0 0:0", "M 0 4"];

/// What became of a time that was the same in all takes, from what says nothing to what must not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Moved {
    /// It is the same one.
    Same,
    /// It moved with the clock, and is as near to its call as before.
    Quiet,
    /// It moved with the clock, or by an error that is as large.
    WithTheClock,
    /// It moved otherwise, as times do that come round, or that were noted some time ago.
    Otherwise,
    /// It is another one.
    No,
}

/// One of the two calls whose answers are compared.
#[derive(Debug, Clone, Copy, Default)]
struct Side {
    /// When it was made.
    at: i64,
    /// How long the run had lasted when it was answered.
    lasted: i64,
    /// How far the clock on the machine's wall was ahead of UTC, where that is known.
    ahead: Option<i64>,
}

impl Side {
    fn new(run: &Trajectory, call: &ToolCall) -> Self {
        let begun = call.start_ms.unwrap_or_default() / 1000.0;
        let took = call.duration_ms.unwrap_or_default() / 1000.0;
        Self {
            at: run.began(call).as_millisecond() + milliseconds(begun),
            lasted: milliseconds(begun + took),
            ahead: run.stamp.utc_offset.map(|it| i64::from(it) * SECOND),
        }
    }
}

/// When the two calls were made whose answers are compared.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clock {
    b: Side,
    c: Side,
}

/// A pair of times and of their calls on the walls of one zone, which daylight saving may have moved in between.
#[derive(Debug, Clone, Copy)]
struct OnWalls {
    b: i64,
    c: i64,
    b_call: i64,
    c_call: i64,
}

impl OnWalls {
    /// Whether both are within a calendar day of their calls.
    fn are_near(&self) -> bool {
        let is_near = |it: i64, call: i64| (day(it) - day(call)).abs() <= 1;
        is_near(self.b, self.b_call) && is_near(self.c, self.c_call)
    }

    /// How far they lie after their calls.
    fn distances(&self) -> [i64; 2] {
        [self.b - self.b_call, self.c - self.c_call]
    }

    /// Whether they are the same one of the first and last days of weeks, months, quarters and years around their calls.
    fn are_same_bounds(&self) -> bool {
        let of_calls = bounds(day(self.b_call)).zip(bounds(day(self.c_call)));
        let found = (day(self.b), day(self.c));
        found.0 != found.1
            && of_calls.is_some_and(|(b, c)| b.into_iter().zip(c).any(|it| it == found))
    }
}

impl Clock {
    pub(crate) fn new(
        (baseline, asked): (&Trajectory, &ToolCall),
        (current, asks): (&Trajectory, &ToolCall),
    ) -> Self {
        Self {
            b: Side::new(baseline, asked),
            c: Side::new(current, asks),
        }
    }

    /// Of two calls made at once.
    #[cfg(test)]
    pub(crate) fn still() -> Self {
        Self::default()
    }

    /// What became of a time, given the innermost key that names it, or the word before it.
    pub(crate) fn judge(&self, b: &str, c: &str, key: &str) -> Moved {
        if b == c {
            return Moved::Same;
        }
        let pairs = self.pairs(b, c).into_iter().flatten();
        let judged = pairs.map(|(of_b, of_c)| match of_b.is_bare {
            // A bare time of day is a value, unless it says since when something is up.
            true if key::is_uptime(key) && self.grew(b, c) => Moved::Quiet,
            true => Moved::No,
            false if of_b.at(0) == of_c.at(0) => Moved::Same,
            false => self.moved(of_b, of_c, key),
        });
        judged.min().unwrap_or(Moved::No)
    }

    /// The same of seconds or milliseconds since 1970.
    pub(crate) fn judge_number(&self, b: f64, c: f64, key: &str) -> Moved {
        self.judge(&b.to_string(), &c.to_string(), key)
    }

    /// What became of the elements of a list, if they are dates, or times on a full quarter of an hour, that all moved alike and forward:
    /// what became of the one nearest to its call.
    pub(crate) fn judge_all(&self, pairs: &[(&str, &str)], key: &str) -> Option<Moved> {
        let read: Vec<_> = pairs.iter().map(|(b, c)| self.pairs(b, c)).collect();
        let judge = |order: usize| {
            let times = read.iter().map(|it| it[order]);
            let times = times.collect::<Option<Vec<_>>>()?;
            let apart = |(b, c): &(Time, Time)| c.wall - b.wall;
            let first = times.first().map(apart)?;
            let is_full = |it: Time| it.wall % QUARTER == 0;
            let slack = if self.may_have_shifted() { HOUR } else { 0 };
            let alike = times.iter().all(|it| {
                let is_plain = apart(it) % DAY == 0 || (is_full(it.0) && is_full(it.1));
                !it.0.is_bare && is_plain && apart(it) > 0 && (apart(it) - first).abs() <= slack
            });
            let (b, c) = (times.into_iter().filter(|_| alike))
                .min_by_key(|(b, _)| (b.at(0) - self.b.at).abs())?;
            Some(self.moved(b, c, key))
        };
        let slid = |order: usize| {
            let times = read.iter().map(|it| it[order]);
            self.slid(&times.collect::<Option<Vec<_>>>()?)
        };
        let judged = [0, 1].into_iter().filter_map(judge).min();
        judged.or_else(|| [0, 1].into_iter().find_map(slid))
    }

    /// What became of the next few times of a schedule, of which the first ones have passed and later ones have come.
    fn slid(&self, times: &[(Time, Time)]) -> Option<Moved> {
        let (was, is): (Vec<i64>, Vec<i64>) = times.iter().map(|(b, c)| (b.at(0), c.at(0))).unzip();
        let passed = was.iter().take_while(|it| **it <= self.c.at).count();
        let is_plain = |it: &Time| !it.is_bare && it.wall % QUARTER == 0;
        let goes_on = passed > 0
            && was.len() > 1
            && times.iter().all(|(b, c)| is_plain(b) && is_plain(c))
            && was.windows(2).all(|it| it[0] < it[1])
            && is.windows(2).all(|it| it[0] < it[1])
            && was[passed..] == is[..was.len() - passed]
            && was[0] >= self.b.at
            && is[0] >= self.c.at;
        goes_on.then_some(Moved::Otherwise)
    }

    /// Whether a number of some unit, or a length of time, went up or down by as much as time has passed.
    pub(crate) fn counted(&self, b: f64, c: f64, unit: f64) -> bool {
        let by = ((c - b) * unit).abs();
        let later = seconds(self.later().abs());
        let slack = unit + seconds(self.tolerance());
        b.fract() == 0.0 && c.fract() == 0.0 && by > 0.0 && (by - later).abs() < slack
    }

    /// Whether a length of time grew by as much as time has passed, to the unit at which it stops: `3h21m`, `2d6h`, `3 days, 4:29`.
    pub(crate) fn grew(&self, b: &str, c: &str) -> bool {
        let (later, tolerance) = (self.later(), self.tolerance());
        length(b).zip(length(c)).is_some_and(|(b, c)| {
            b.is_short == c.is_short
                && c.time > b.time
                && c.time < b.time + b.unit + later + tolerance
                && c.time + c.unit > b.time + later - tolerance
        })
    }

    /// Whether what was so long ago is longer ago by no more than the time that has passed. Words that are not known are believed.
    pub(crate) fn is_as_long_ago(&self, b: &str, c: &str) -> bool {
        lengths::ago(b).zip(lengths::ago(c)).is_none_or(|(b, c)| {
            let slack = b.unit + c.unit + self.tolerance();
            c.time <= b.time + self.later().abs() + slack
        })
    }

    /// How many seconds may have passed between the two calls.
    pub(crate) fn passed(&self) -> f64 {
        seconds(self.later().abs() + self.tolerance())
    }

    /// Whether a time, as a text, is later than the recording, and said as finely as the recorded one.
    pub(crate) fn is_after_recording(&self, recorded: &str, text: &str) -> bool {
        let mut pairs = self.pairs(recorded, text).into_iter().flatten();
        // A time without a zone may be of any zone.
        let latest = |it: Time| it.at(-12 * HOUR) + it.unit;
        pairs.any(|(_, it)| !it.is_bare && latest(it) >= self.b.at - self.b.lasted)
    }

    /// The same of seconds or milliseconds since 1970.
    pub(crate) fn is_number_after_recording(&self, number: f64) -> bool {
        let recorded = self.b.at - self.b.lasted;
        epoch(number).is_some_and(|it| (recorded..self.c.at + DAY).contains(&it))
    }

    /// When the current call was made, in seconds since 1970.
    pub(crate) fn now(&self) -> f64 {
        seconds(self.c.at)
    }

    fn later(&self) -> i64 {
        self.c.at - self.b.at
    }

    /// By how much a moment may be off.
    fn tolerance(&self) -> i64 {
        self.b.lasted + self.c.lasted + APART
    }

    /// Whether daylight saving may have begun or ended in between.
    fn may_have_shifted(&self) -> bool {
        self.later().abs() >= DAY
    }

    /// What two texts say, for both orders of day and month, if they say it in the same way.
    fn pairs(&self, b: &str, c: &str) -> [Option<(Time, Time)>; 2] {
        let (Some(was), Some(is)) = (read(b, self.b.at), read(c, self.c.at)) else {
            return [None; 2];
        };
        let (of_b, of_c) = (&was.notation, &is.notation);
        let is_same = of_b == of_c && (of_b.zone == of_c.zone || self.may_have_shifted());
        [0, 1].map(|order| {
            let (b, c) = was.times[order].zip(is.times[order])?;
            // What has grown old is the same, to the day.
            let is_old = || self.c.at - b.wall >= OLD && day(b.wall) == day(c.wall);
            if [&*of_b.shape, &*of_c.shape] == OF_LS && is_old() {
                return Some((c, c));
            }
            // Of one moment, only the digits of a fraction may be others.
            let is_one = b.at(0) == c.at(0);
            let is_finer = of_b.shape.contains('f') && b.zone == c.zone;
            (is_same && (!is_one || is_finer)).then_some((b, c))
        })
    }

    fn moved(&self, b: Time, c: Time, key: &str) -> Moved {
        let walls = |(x, y): (i64, i64)| OnWalls {
            b: b.at(x) + x,
            c: c.at(y) + y,
            b_call: self.b.at + x,
            c_call: self.c.at + y,
        };
        let machines = self.b.ahead.zip(self.c.ahead);
        let zones = [b.zone.zip(c.zone), Some((0, 0)), machines];
        let zones = zones.into_iter().flatten().map(walls);
        let judged = zones
            .map(|it| self.on_walls(&it, b, key))
            .min()
            .unwrap_or(Moved::No);
        // A date may also be that of the call where else people live, at whole hours, or beside them in Asia and Australia.
        let any = (-24..=28).filter(|it| it % 2 == 0 || (6..22).contains(it));
        let mut any = any.map(|it| walls((it * HOUR / 2, it * HOUR / 2)));
        if judged > Moved::WithTheClock && any.any(|it| self.as_date(&it, b) && it.are_near()) {
            return Moved::Quiet;
        }
        judged
    }

    fn on_walls(&self, it: &OnWalls, like: Time, key: &str) -> Moved {
        let may_be_off = self.tolerance() + if like.unit > SECOND { like.unit } else { 0 };
        // A clock that names no zone may have been shifted by an hour.
        let [before, after] = it.distances();
        let shifted = self.may_have_shifted() && like.zone.is_none();
        let is_off_by = |hour: i64| ((after - before).abs() - hour).abs() <= may_be_off;
        let with_clock = like.unit < DAY && (is_off_by(0) || (shifted && is_off_by(HOUR)));
        let as_date = self.as_date(it, like);
        if (with_clock || as_date) && it.are_near() {
            Moved::Quiet
        } else if as_date || (with_clock && self.later().abs() > may_be_off) {
            Moved::WithTheClock
        } else if (self.is_date(it, like) && it.are_same_bounds())
            || (like.unit < DAY && self.moved_otherwise(it, key))
        {
            Moved::Otherwise
        } else {
            Moved::No
        }
    }

    /// Whether a date is later by the midnights between the calls.
    fn as_date(&self, it: &OnWalls, like: Time) -> bool {
        let days = (it.c - it.b + HOUR).div_euclid(DAY);
        self.is_date(it, like) && days != 0 && days == day(it.c_call) - day(it.b_call)
    }

    /// Whether both have the same time of day. What people have set, and a program says in UTC, is an hour off where daylight saving began
    /// or ended.
    fn is_date(&self, it: &OnWalls, like: Time) -> bool {
        let beside = (it.c - it.b + HOUR).rem_euclid(DAY) - HOUR;
        let shifted = self.may_have_shifted() && like.zone.is_none_or(|it| it == 0);
        beside == 0 || (shifted && beside.abs() == HOUR && it.b % QUARTER == 0)
    }

    /// Whether a time that did not move with the clock is one that is noted now and then, or comes round.
    fn moved_otherwise(&self, it: &OnWalls, key: &str) -> bool {
        let [before, after] = it.distances();
        let both = |it: RangeInclusive<i64>| it.contains(&before) && it.contains(&after);
        let is_full = it.b % QUARTER == 0 && it.c % QUARTER == 0;
        let comes_round = || key::comes_round(key) && both(0..=i64::MAX) && before <= self.later();
        both(-DAY..=self.tolerance()) || (is_full && both(-DAY..=DAY)) || comes_round()
    }
}

/// The first and last days of the weeks, months, quarters and years before, around and after a day.
fn bounds(of: i64) -> Option<Vec<i64>> {
    let months = months_to(of)?;
    let first_of = |it: i64| days_to(it.div_euclid(12), it.rem_euclid(12) + 1, 1);
    let mut bounds = Vec::new();
    for period in -1..=1 {
        for length in [1, 3, 12] {
            let first = months - months.rem_euclid(length) + period * length;
            bounds.extend([first_of(first)?, first_of(first + length)? - 1]);
        }
        // Weeks begin on Mondays or Sundays.
        for first in [of - weekday(of), of - weekday(of + 1)] {
            bounds.extend([first + 7 * period, first + 7 * period + 6]);
        }
    }
    Some(bounds)
}

#[cfg(test)]
mod tests {
    use super::super::times::{milliseconds, notations};
    use super::Moved::{No, Otherwise, Quiet, Same, WithTheClock};
    use super::{Clock, Moved, Side};

    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;

    /// 2026-11-20 10:10:20 UTC, a Friday.
    const NOVEMBER: f64 = 1_795_169_420.0;
    /// 2026-10-08 10:41:17 UTC, a Thursday; daylight saving ends before the next month does.
    const OCTOBER: f64 = 1_791_456_077.0;

    /// Calls at a moment and so many seconds later, each made a second after its run began.
    fn calls(at: f64, later: f64) -> Clock {
        let side = |at: f64| Side {
            at: milliseconds(at),
            lasted: 1000,
            ahead: None,
        };
        Clock {
            b: side(at),
            c: side(at + later),
        }
    }

    fn later(seconds: f64) -> Clock {
        calls(NOVEMBER, seconds)
    }

    fn all_are(cases: &[(Clock, &str, &str, Moved)]) {
        for (clock, b, c, expected) in cases {
            assert_eq!(clock.judge(b, c, "at"), *expected, "{b} → {c}");
        }
    }

    #[test]
    fn times_near_their_calls_move_quietly_and_others_are_shown() {
        let (minute, day) = (later(MINUTE), later(DAY));
        let (two_days, month) = (later(2.0 * DAY), calls(OCTOBER, 33.0 * DAY));
        all_are(&[
            (
                minute,
                "2026-11-20T10:10:20Z",
                "2026-11-20T10:11:23Z",
                Quiet,
            ),
            (minute, "2026-11-20T10:10:20Z", "2026-11-20T10:11:30Z", No),
            (minute, "2026-11-20T10:40:20Z", "2026-11-20T10:41:20.5Z", No),
            (
                minute,
                "2026-11-20T10:40:20.25Z",
                "2026-11-20T10:41:20.125Z",
                Quiet,
            ),
            (
                minute,
                "2026-11-20T10:40:20.250Z",
                "2026-11-20T10:40:20.25Z",
                Same,
            ),
            (minute, "2026-03-29T01:30:00Z", "2026-03-29T01:31:30Z", No),
            // An error as large, where hardly any time has passed, is an error.
            (minute, "2026-03-29T01:30Z", "2026-03-29T01:31Z", No),
            (
                later(3.0),
                "2026-03-29T01:30:00Z",
                "2026-03-29T01:30:03Z",
                No,
            ),
            (two_days, "2026-11-20T10:10Z", "2026-11-22T10:11Z", Quiet),
            (two_days, "2026-11-20T10:10Z", "2026-11-22T10:15Z", No),
            (
                two_days,
                "2026-12-20T10:10Z",
                "2026-12-22T10:11Z",
                WithTheClock,
            ),
            (day, "2026-10-21", "2026-10-22", WithTheClock),
            (day, "2026-11-20", "2026-11-21", Quiet),
            (day, "2026-11-21", "2026-11-22", Quiet),
            (day, "2026-11-22", "2026-11-23", WithTheClock),
            (day, "2026-11-21", "2026-11-23", No),
            (two_days, "2026-05-01", "2026-05-02", No),
            (day, "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z", Quiet),
            (
                later(29.0 * HOUR),
                "2026-11-20T00:00:00Z",
                "2026-11-21T00:00:00Z",
                Quiet,
            ),
            (
                later(29.0 * HOUR),
                "2026-11-20T00:00:00Z",
                "2026-11-23T00:00:00Z",
                No,
            ),
            (
                day,
                "2026-09-30T16:20:11Z",
                "2026-10-01T16:20:11Z",
                WithTheClock,
            ),
            (minute, "2026-09-30T16:20:11Z", "2026-10-01T16:20:11Z", No),
            // A run that lasted long may have asked at any time of it.
            (
                minute,
                "2026-11-20T10:00:01Z",
                "2026-11-20T10:01:04Z",
                Quiet,
            ),
            (month, "2026-10-09T07:00:00Z", "2026-11-11T08:00:00Z", Quiet),
            (month, "2026-10-09T07:21:00Z", "2026-11-11T08:21:00Z", No),
        ]);
        let mut long = minute;
        long.c.lasted = 60_000;
        assert_eq!(
            long.judge("2026-11-20T12:10:20Z", "2026-11-20T12:10:40Z", "at"),
            Quiet
        );
    }

    #[test]
    fn dates_move_at_midnight_in_some_zone() {
        // From 22:50 to 23:10 and to 00:10 UTC.
        let (evening, midnight) = (
            calls(NOVEMBER + 45_580.0, 1200.0),
            calls(NOVEMBER + 45_580.0, 4800.0),
        );
        all_are(&[
            (evening, "2026-11-20", "2026-11-21", Quiet),
            (evening, "2026-11-21", "2026-11-22", Quiet),
            (evening, "2026-12-24", "2026-12-25", No),
            (
                evening,
                "2026-12-24T09:00+01:00",
                "2026-12-25T09:00+01:00",
                WithTheClock,
            ),
            (
                evening,
                "2026-11-21T09:00+01:00",
                "2026-11-22T09:00+01:00",
                Quiet,
            ),
            (
                evening,
                "2026-11-21T08:00:00Z",
                "2026-11-22T08:00:00Z",
                Quiet,
            ),
            (midnight, "2026-12-24", "2026-12-25", WithTheClock),
            (later(1800.0), "2026-11-20", "2026-11-21", No),
        ]);
        let mut at_home = evening;
        (at_home.b.ahead, at_home.c.ahead) = (Some(3_600_000), Some(3_600_000));
        assert_eq!(
            at_home.judge("2026-12-24", "2026-12-25", "on"),
            WithTheClock
        );
        // One machine shows its local time, another UTC.
        at_home.c.ahead = Some(0);
        assert_eq!(
            at_home.judge("2026-11-20 23:50", "2026-11-20 23:10", "at"),
            Quiet
        );
    }

    #[test]
    fn another_notation_or_zone_is_another_value() {
        let (minute, month) = (later(MINUTE), calls(OCTOBER, 33.0 * DAY));
        all_are(&[
            (
                minute,
                "2026-03-29T03:30:00+02:00",
                "2026-03-29T02:30:00+01:00",
                No,
            ),
            (minute, "2026-03-29T03:30:00Z", "2026-03-29 03:30:00Z", No),
            (minute, "2026-11-20T10:10:20Z", "2026-11-20T10:11:20", No),
            (
                minute,
                "2026-11-20T10:10:20Z",
                "2026-11-20T10:11:20+00:00",
                No,
            ),
            (minute, "2026-11-20T10:10:20Z", "2026-11-20T10:11Z", No),
            (minute, "2026-11-20", "20/11/2026", No),
            (
                minute,
                "2026-11-20T10:10:20+02:00",
                "2026-11-20T09:11:20+01:00",
                No,
            ),
            (
                month,
                "2026-10-08T12:41:17+02:00",
                "2026-11-10T11:41:17+01:00",
                Quiet,
            ),
            (
                month,
                "2026-10-08T12:41:17+02:00",
                "2026-11-10T12:41:17+02:00",
                Quiet,
            ),
            (
                month,
                "2026-10-08T12:41:17+02:00",
                "2026-11-10T10:41:17Z",
                No,
            ),
            (
                month,
                "2026-10-08T11:41:17+01:00",
                "2026-11-10T10:41:17Z",
                Quiet,
            ),
            (
                month,
                "2026-10-09T09:00:00+02:00",
                "2026-11-11T09:00:00+01:00",
                Quiet,
            ),
            (month, "2026-10-08T12:30", "2026-11-10T11:30", Quiet),
            (
                month,
                "2026-10-08 12:41:17 CEST",
                "2026-11-10 11:41:17 CET",
                Quiet,
            ),
            (
                month,
                "2026-10-08 06:41:17 EDT",
                "2026-11-10 05:41:17 EST",
                Quiet,
            ),
            (
                month,
                "2026-10-08 06:41:17 EDT",
                "2026-11-10 02:41:17 PST",
                No,
            ),
            (month, "2026-09-30 10:12:44", "2026-09-30 09:12:44", No),
            (
                month,
                "2026-09-30 10:12:44.5+02:00",
                "2026-09-30 09:12:44.5+01:00",
                No,
            ),
            (month, "Fri, 1 May 2026", "Fri, 01 May 2026", No),
        ]);
    }

    #[test]
    fn times_are_read_in_many_notations() {
        let cases = [
            ("2026-11-20 10:10:20,678", "2026-11-20 10:11:20,012"),
            ("2026/11/20 10:10:20", "2026/11/20 10:11:20"),
            (
                "2026-11-20 10:10:20.123456+00",
                "2026-11-20 10:11:20.123+00",
            ),
            ("20261120T101020Z", "20261120T101120Z"),
            ("20261120T1010Z", "20261120T1011Z"),
            ("20261120T101020.678Z", "20261120T101120.12Z"),
            ("Fri Nov 20 10:10:20 2026", "Fri Nov 20 10:11:20 2026"),
            (
                "Fri Nov 20 10:10:20 2026 +0000",
                "Fri Nov 20 10:11:20 2026 +0000",
            ),
            (
                "Fri Nov 20 10:10:20 UTC 2026",
                "Fri Nov 20 10:11:20 UTC 2026",
            ),
            ("20/Nov/2026:10:10:20 +0000", "20/Nov/2026:10:11:20 +0000"),
            (
                "Fri, 20 Nov 2026 10:10:20 GMT",
                "Fri, 20 Nov 2026 10:11:20 GMT",
            ),
            (
                "Fri Nov 20 2026 10:10:20 GMT+0000 (Coordinated Universal Time)",
                "Fri Nov 20 2026 10:11:20 GMT+0000 (Coordinated Universal Time)",
            ),
            ("Nov 20 10:10", "Nov 20 10:11"),
            ("Nov 20 10:10:20", "Nov 20 10:11:20"),
            ("20 November 2026 at 10:10", "20 November 2026 at 10:11"),
            (
                "November 20th, 2026, 10:10:20 AM",
                "November 20th, 2026, 10:11:20 AM",
            ),
            ("20/11/2026, 10:10", "20/11/2026, 10:11"),
            ("11/20/2026, 10:10:20 AM", "11/20/2026, 10:11:20 AM"),
            ("20.11.2026 10:10:20", "20.11.2026 10:11:20"),
            ("1795169420", "1795169480"),
            ("1795169420123", "1795169480012"),
        ];
        let tokens = regex::Regex::new(&notations()).expect("the notations are a pattern");
        for (b, c) in cases {
            assert_eq!(later(MINUTE).judge(b, c, "at"), Quiet, "{b} → {c}");
            assert_eq!(later(HOUR).judge(b, c, "at"), Otherwise, "{b} → {c}");
            let whole = tokens.find(b).map_or("", |it| it.as_str());
            assert!(whole == b || b.starts_with("179"), "{b}: {whole}");
        }
        for text in [
            "2026-11-20 10:10 -12.5",
            "2026-11-20 10:10 INFO",
            "2026-11-20 10:10 ESTATE",
        ] {
            let found = tokens.find(text).map_or("", |it| it.as_str());
            assert_eq!(found, "2026-11-20 10:10", "{text}");
        }
        let days = [
            ("November 20, 2026", "November 21, 2026"),
            ("20/11/2026", "21/11/2026"),
            ("11/20/2026", "11/21/2026"),
            ("Fri, 20 Nov 2026", "Sat, 21 Nov 2026"),
            ("9/12/2026", "10/12/2026"),
            ("2026年11月20日", "2026年11月21日"),
        ];
        for (b, c) in days {
            assert!(later(DAY).judge(b, c, "at") < Otherwise, "{b} → {c}");
        }
        all_are(&[
            (later(MINUTE), "99:99", "98:98", No),
            (later(DAY), "2026-13-45", "2026-13-46", No),
            (later(DAY), "Fri May 1 2026", "Thu May 1 2026", No),
            (later(DAY), "Fri, 20 Nov 2026", "Fri, 21 Nov 2026", No),
            (later(DAY), "a word", "another", No),
            (
                later(12.0 * HOUR),
                "2026/11/20\u{2009}上午10:10:20",
                "2026/11/20\u{2009}下午10:10:20",
                Quiet,
            ),
            (
                later(MINUTE),
                "2026年11月20日 10時10分",
                "2026年11月20日 10時11分",
                Quiet,
            ),
            (
                later(12.0 * HOUR),
                "2026. 11. 20. 오전 10:10",
                "2026. 11. 20. 오후 10:10",
                Quiet,
            ),
            (
                later(12.0 * HOUR),
                "2026/11/20 午前10:10",
                "2026/11/20 午後10:10",
                Quiet,
            ),
            (
                later(12.0 * HOUR),
                "2026/11/20\u{2009}上午10:10:20",
                "2026/11/20\u{2009}上午10:10:20",
                Same,
            ),
            (
                later(HOUR),
                "2026/11/20 上午10:10:20",
                "2026/11/20 下午10:10:20",
                No,
            ),
        ]);
    }

    #[test]
    fn old_files_are_listed_with_their_year() {
        let half_a_year = calls(OCTOBER, 181.0 * DAY);
        all_are(&[
            (half_a_year, "Sep 30 08:12", "Sep 30  2026", Same),
            (half_a_year, "Sep 30 08:12", "Sep 29  2026", No),
            (half_a_year, "Sep 30 08:12", "Sep 30  2027", No),
            (
                calls(OCTOBER, 33.0 * DAY),
                "Sep 30 08:12",
                "Sep 30  2026",
                No,
            ),
            (half_a_year, "Apr  2  2025", "Apr  3  2025", No),
            (half_a_year, "Sep 30  2026", "Sep 30 08:12", No),
            (calls(OCTOBER, MINUTE), "Sep 30 08:12", "Sep 29 08:12", No),
            (calls(OCTOBER, MINUTE), "Sep 30 08:12", "Sep 30 08:13", No),
            // From December into January.
            (
                calls(OCTOBER, 90.0 * DAY),
                "Oct  8 10:41",
                "Jan  6 10:41",
                Quiet,
            ),
        ]);
    }

    #[test]
    fn bare_times_of_day_are_values_and_weekdays_move_by_days() {
        all_are(&[
            (later(HOUR), "12:30", "13:30", No),
            (later(HOUR), "10:10:20 AM", "11:10:20 AM", No),
            (later(DAY), "Friday", "Saturday", Quiet),
            (later(MINUTE), "Friday", "Thursday", No),
            (later(DAY), "Tuesday", "Wednesday", WithTheClock),
            (later(DAY), "Friday", "Sunday", No),
            (later(2.0 * DAY), "Sat", "Mon", Quiet),
            (later(DAY), "Sat", "Sunday", No),
        ]);
        assert_eq!(later(HOUR).judge("4:29", "5:29", "up"), Quiet);
        assert_eq!(later(HOUR).judge("4:29", "6:29", "up"), No);
    }

    #[test]
    fn some_times_may_move_otherwise_and_are_shown() {
        let days = later(2.0 * DAY + 6.0 * HOUR + 34.0 * MINUTE);
        let cases = [
            (
                "observed",
                "2026-11-20T10:00Z",
                "2026-11-22T16:30Z",
                Otherwise,
            ),
            (
                "fetched_at",
                "2026-11-20T09:58:11Z",
                "2026-11-22T16:37:45Z",
                Otherwise,
            ),
            (
                "fetched_at",
                "2026-11-20T09:58:11Z",
                "2026-11-22T16:46:45Z",
                No,
            ),
            (
                "fetched_at",
                "2026-11-18T09:58:11Z",
                "2026-11-22T16:37:45Z",
                No,
            ),
            (
                "next_run",
                "2026-11-20T11:00:00Z",
                "2026-11-22T17:00:00Z",
                Otherwise,
            ),
            ("at", "2026-11-22T11:00:00Z", "2026-11-24T18:00:00Z", No),
            (
                "nextRun",
                "2026-11-20T11:07:00Z",
                "2026-11-22T17:07:00Z",
                Otherwise,
            ),
            ("x-ratelimit-reset", "1795173020", "1795370000", Otherwise),
            (
                "valid_until",
                "2026-11-20T11:07:00Z",
                "2026-11-23T17:07:00Z",
                Otherwise,
            ),
            ("until", "2026-11-20T11:07:00Z", "2026-11-22T17:07:00Z", No),
            // It has not come round yet.
            (
                "next_run",
                "2026-11-23T11:07:00Z",
                "2026-11-24T17:07:00Z",
                No,
            ),
            ("reset", "1795173020", "1795173020000", No),
        ];
        for (key, b, c, expected) in cases {
            assert_eq!(days.judge(b, c, key), expected, "{key}: {b} → {c}");
        }
        let bounds = [
            ("2026-11-01", "2026-12-01"),
            ("2026-11-30", "2026-12-31"),
            ("2026-12-01", "2027-01-01"),
            ("2026-10-31", "2026-11-30"),
            ("2026-11-16", "2026-11-30"),
            ("2026-11-15T00:00:00Z", "2026-11-29T00:00:00Z"),
            ("2026-11-30T23:59:59+01:00", "2026-12-31T23:59:59+01:00"),
        ];
        for (b, c) in bounds {
            assert_eq!(
                later(12.0 * DAY).judge(b, c, "since"),
                Otherwise,
                "{b} → {c}"
            );
        }
        all_are(&[
            (later(50.0 * DAY), "2026-10-01", "2027-01-01", Otherwise),
            (later(50.0 * DAY), "2026-01-01", "2027-01-01", Otherwise),
            (later(12.0 * DAY), "2026-11-02", "2026-12-02", No),
            (later(12.0 * DAY), "2026-11-01", "2026-12-31", No),
            (later(12.0 * DAY), "2026-05-01", "2026-06-01", No),
        ]);
    }

    #[test]
    fn numbers_may_be_times() {
        let clock = later(DAY);
        let cases = [
            (NOVEMBER, NOVEMBER + DAY, Quiet),
            (NOVEMBER + 0.5, NOVEMBER + DAY + 1.25, Quiet),
            (1000.0 * NOVEMBER, 1000.0 * (NOVEMBER + DAY), Quiet),
            (
                NOVEMBER + 30.0 * DAY,
                NOVEMBER + 31.0 * DAY + 1.0,
                WithTheClock,
            ),
            (NOVEMBER, NOVEMBER, Same),
            (NOVEMBER - HOUR, NOVEMBER + 20.0 * HOUR, Otherwise),
            (NOVEMBER, 1000.0 * (NOVEMBER + DAY), No),
            (NOVEMBER + HOUR + 1.0, NOVEMBER + HOUR, No),
            (1000.0, 1000.0 + DAY, No),
            (NOVEMBER, 0.0, No),
            (f64::NAN, 0.0, No),
        ];
        for (b, c, expected) in cases {
            assert_eq!(clock.judge_number(b, c, "at"), expected, "{b} → {c}");
        }
    }

    #[test]
    fn lengths_of_time_grow_with_the_clock() {
        let cases = [
            (7.0 * MINUTE, "3h21m", "3h28m", true),
            (7.0 * MINUTE, "3h21m", "3h31m", false),
            (7.0 * MINUTE, "3h21m", "3h21m", false),
            (27.0 * HOUR, "3h21m", "30h", true),
            (27.0 * HOUR, "27h", "2d6h", true),
            (27.0 * HOUR, "27h", "2d9h", false),
            (33.0 * DAY, "3d3h", "36d", true),
            (33.0 * DAY, "3d3h", "39d", false),
            (7.0 * MINUTE, "5m12s", "12m", true),
            (7.0 * MINUTE, "2m", "9m3s", true),
            (HOUR, "3 days, 4:29", "3 days,  5:29", true),
            (HOUR, "23:50", "1 day, 0:50", true),
            (HOUR, "3 days, 4:29:10", "3 days, 5:29:11", true),
            (HOUR, "12 min", "1:12", true),
            (
                HOUR,
                "12 hours and 3 minutes",
                "13 hours, and 3 minutes",
                true,
            ),
            (
                HOUR,
                "12 hours and 3 minutes",
                "12 hours and 3 minutes",
                false,
            ),
            (DAY, "Up 3 hours", "Up 27 hours", false),
            (DAY, "3 hours", "27 hours", true),
            (HOUR, "About a minute", "About an hour", true),
            (33.0 * DAY, "3 hours", "4 weeks", true),
            (HOUR, "Less than a second", "About an hour", true),
            (DAY, "3h", "27 hours", false),
            (HOUR, "3", "4", false),
            (HOUR, "99999999 years", "4294967295 years", false),
            (HOUR, "", "", false),
        ];
        for (seconds, b, c, expected) in cases {
            assert_eq!(later(seconds).grew(b, c), expected, "{b} → {c}");
        }
    }

    #[test]
    fn elements_that_moved_alike_are_judged_as_the_nearest() {
        /// Pairs of elements.
        type Pairs = &'static [(&'static str, &'static str)];
        let day = later(DAY);
        let cases: [(Clock, Pairs, Option<Moved>); 9] = [
            (
                day,
                &[("2026-11-20", "2026-11-21"), ("2026-11-24", "2026-11-25")],
                Some(Quiet),
            ),
            (
                day,
                &[("2026-11-20", "2026-11-21"), ("2026-11-24", "2026-11-26")],
                None,
            ),
            (
                day,
                &[("2026-11-20", "2026-11-19"), ("2026-11-24", "2026-11-23")],
                None,
            ),
            (
                later(MINUTE),
                &[("2026-11-20", "2026-11-21"), ("2026-11-24", "2026-11-25")],
                Some(No),
            ),
            (
                later(27.3 * HOUR),
                &[
                    ("2026-11-20T10:00", "2026-11-21T13:00"),
                    ("2026-11-22T09:00", "2026-11-23T12:00"),
                ],
                Some(Otherwise),
            ),
            (
                later(27.3 * HOUR),
                &[
                    ("2026-11-20T07:21", "2026-11-21T07:21"),
                    ("2026-11-26T07:27", "2026-11-27T07:27"),
                ],
                Some(Quiet),
            ),
            (
                day,
                &[
                    ("2026-11-20T07:21", "2026-11-21T07:22"),
                    ("2026-11-26T07:27", "2026-11-27T07:28"),
                ],
                None,
            ),
            (day, &[("12:30", "13:30")], None),
            (day, &[], None),
        ];
        for (clock, pairs, expected) in cases {
            assert_eq!(clock.judge_all(pairs, "time"), expected, "{pairs:?}");
        }
    }

    #[test]
    fn an_age_is_recognized_by_being_later_than_the_recording() {
        let clock = later(HOUR);
        let cases = [
            ("2026-11-01T23:00:00Z", "2026-11-20T11:00:00Z", true),
            ("2026-11-01T23:00:00Z", "2026-11-20T10:00:00Z", false),
            ("2026-11-01T23:00:00Z", "2026-11-21", false),
            ("22:00", "23:00", false),
            // The time has the precision of a minute, and the recording was made within that minute.
            ("2026-11-01T23:00Z", "2026-11-20T10:10Z", true),
            ("2026-11-01T23:00Z", "2026-11-20T10:08Z", false),
            // A clock on the wall may be hours behind.
            ("2026-11-01 23:00:00", "2026-11-20 05:50:00", true),
            ("2026-11-01 23:00:00", "2026-11-18 17:50:00", false),
        ];
        for (b, c, expected) in cases {
            assert_eq!(clock.is_after_recording(b, c), expected, "{b} → {c}");
        }
        assert!(clock.is_number_after_recording(NOVEMBER + 100.0));
        assert!(!clock.is_number_after_recording(NOVEMBER - 1e8));
    }
}
