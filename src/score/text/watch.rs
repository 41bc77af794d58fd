//! Suspicious values at a place that varies: ones that differ from those of the takes by more than chance.

use std::collections::HashSet;

use model::placeholder;

use super::{key, times};

/// What is wrong with a value that may vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watched {
    /// No take was so, and no chance makes it so.
    Never(&'static str),
    /// Worth a look.
    Shown(&'static str),
}

use Watched::{Never, Shown};

/// What programs write where they have nothing.
const NOTHINGS: [&str; 4] = ["undefined", "null", "None", "NaN"];
/// Ids of so many characters are new each time.
const LONG: usize = 16;
/// Those of fewer are counted up, and may have any length.
const SHORT: usize = 7;
/// So many hexadecimal digits without another letter are no chance.
const MUCH_HEX: usize = 24;
/// So often the same character in a row, and nothing else, is no id.
const ALIKE: usize = 8;
/// Seconds by which a time may be off that was the moment of its call.
const OFF: i64 = 120;
const FAR_OFF: i64 = 15 * 60;
const MINUTE: i64 = 60;
const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 366 * DAY;
const DECADE: i64 = 3652 * DAY;
/// So many times the largest number of all takes is worth a look.
const BEYOND: f64 = 1000.0;

/// Whether a text says that there is nothing, where no take did.
pub(crate) fn words(seen: &[&str], now: &str) -> Option<Watched> {
    if now.trim().is_empty() {
        return (!seen.iter().any(|it| it.trim().is_empty())).then_some(Never("is empty"));
    }
    (has_nothing(now) && !seen.iter().any(|it| has_nothing(it)))
        .then_some(Never("holds `undefined`, `null`, `None` or `NaN`"))
}

/// An id. `is_new` where it was made by a server just now, so that it is another one each time; `is_used` where later calls use it, which
/// fail if it is none.
pub(crate) fn id(seen: &[&str], now: &str, is_new: bool, is_used: bool) -> Option<Watched> {
    if let Some(nothing) = words(seen, now) {
        return Some(nothing);
    }
    // Of a secret no more is known than that it is one.
    if placeholder::holds(now) || seen.iter().any(|it| placeholder::holds(it)) {
        return None;
    }
    let all = |is: &dyn Fn(&str) -> bool| seen.iter().all(|it| is(it));
    if is_alike(now) && !seen.iter().any(|it| is_alike(it)) {
        return Some(Never("is one character again and again"));
    }
    let digits: usize = seen.iter().map(|it| plain(it).len()).sum();
    // Fewer digits do, too, if they are no numbers with a letter, or if a word stands there.
    let is_word = !is_used && !now.bytes().any(|it| it.is_ascii_digit());
    let letters: HashSet<u8> = (seen.iter().flat_map(|it| it.bytes()))
        .filter(u8::is_ascii_alphabetic)
        .collect();
    let is_known = digits >= MUCH_HEX
        || (!is_used && digits >= MUCH_HEX / 2 && (is_word || letters.len() > 2));
    if is_known && all(&is_hex) && !is_hex(now) {
        return Some(Never("is not hexadecimal"));
    }
    if all(&|it| is_uuid(it) && has_hyphens(it)) && !is_uuid(now) {
        return Some(Never("is not a UUID"));
    }
    let length = seen.first()?.len();
    let have_one_length = all(&|it| it.len() == length && has_digits(it));
    let least = if length >= LONG {
        length * 3 / 4
    } else {
        length / 2
    };
    if have_one_length && length >= SHORT && now.len() < least {
        return Some(Never("is cut short"));
    }
    let mixes = |it: &str| has_upper(it) && has_lower(it);
    let is_rare = now.len() != length || (length >= SHORT + 3 && all(&mixes) && !mixes(now));
    if have_one_length && length >= SHORT && is_word && is_rare {
        return Some(Never("is a word"));
    }
    if have_one_length && length >= LONG && now.len() + 2 < length {
        return Some(Shown("is shorter"));
    }
    let more = now.len().checked_sub(length).filter(|_| have_one_length);
    let more = more.and_then(|it| now.get(..it)).unwrap_or_default();
    let name = more.trim_end_matches(['-', '_', ':', '.']);
    if name.len() > 1 && name.len() < more.len() && name.bytes().all(|it| it.is_ascii_alphabetic())
    {
        return Some(Shown("begins otherwise"));
    }
    another_form(seen, now).or_else(|| {
        let is_other_each_time =
            |(at, it): (usize, &&str)| !seen[..at].contains(it) && it.len() >= LONG;
        let is_new = is_new && seen.len() > 1 && seen.iter().enumerate().all(is_other_each_time);
        (is_new && now == seen[0]).then_some(Shown("is not new any more"))
    })
}

/// Whether an id has another form than all that were seen share.
fn another_form(seen: &[&str], now: &str) -> Option<Watched> {
    let count = |of: fn(&u8) -> bool| -> usize {
        seen.iter().map(|it| it.bytes().filter(of).count()).sum()
    };
    let has = |of: fn(&u8) -> bool| now.bytes().any(|it| of(&it));
    let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    if (upper == 0 && lower >= ALIKE && has(u8::is_ascii_uppercase))
        || (lower == 0 && upper >= ALIKE && has(u8::is_ascii_lowercase))
    {
        return Some(Shown("is written in another case"));
    }
    let of_first = signs(seen.first()?);
    if !of_first.is_empty()
        && seen.iter().all(|it| is_hex(it))
        && seen.iter().all(|it| signs(it) == of_first)
        && signs(now)
            .iter()
            .map(|it| it.1)
            .ne(of_first.iter().map(|it| it.1))
    {
        return Some(Shown("has other separators"));
    }
    if let (Some(letters), Some(others)) = (beside_number(seen[0]), beside_number(now))
        && seen.iter().all(|it| beside_number(it) == Some(letters))
        && letters != others
    {
        return Some(Shown("has other letters beside its number"));
    }
    let beginning = beginning(seen[0])?;
    let mut letters = beginning.chars();
    letters.next_back();
    let is_literal = beginning.chars().nth(1).is_some() && letters.all(char::is_alphabetic);
    (is_literal && seen.iter().all(|it| it.starts_with(beginning)) && !now.starts_with(beginning))
        .then_some(Shown("begins otherwise"))
}

/// A text without its signs.
fn plain(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// How a text looks beside the first of its place: what all texts of a place may share, and what may be said of any.
pub(super) fn look(first: &str, text: &str) -> [bool; 15] {
    [
        text.len() == first.len(),
        signs(text) == signs(first),
        beside_number(text) == beside_number(first),
        beginning(first).is_none_or(|it| text.starts_with(it)),
        text.trim().is_empty(),
        text.contains(char::is_whitespace),
        has_nothing(text),
        placeholder::holds(text),
        is_alike(text),
        is_hex(text),
        is_uuid(text),
        has_hyphens(text),
        has_digits(text),
        has_upper(text),
        has_lower(text),
    ]
}

fn is_alike(text: &str) -> bool {
    let text = plain(text);
    text.len() >= ALIKE && text.bytes().all(|each| each == text.as_bytes()[0])
}

fn is_hex(text: &str) -> bool {
    plain(text).bytes().all(|it| it.is_ascii_hexdigit())
}

fn is_uuid(text: &str) -> bool {
    is_hex(text) && plain(text).len() == 32
}

fn has_hyphens(text: &str) -> bool {
    text.bytes().filter(|it| *it == b'-').count() == 4
}

fn has_digits(text: &str) -> bool {
    text.bytes().any(|it| it.is_ascii_digit())
}

fn has_upper(text: &str) -> bool {
    text.bytes().any(|it| it.is_ascii_uppercase())
}

fn has_lower(text: &str) -> bool {
    text.bytes().any(|it| it.is_ascii_lowercase())
}

fn has_nothing(text: &str) -> bool {
    let mut parts = text.split(|it: char| !it.is_alphanumeric());
    parts.any(|it| NOTHINGS.contains(&it))
}

/// What comes before each sign, by its length, and the sign.
fn signs(text: &str) -> Vec<(usize, char)> {
    let signs = text.char_indices().filter(|(_, it)| !it.is_alphanumeric());
    signs.collect()
}

/// What a text begins with, to its first sign.
fn beginning(text: &str) -> Option<&str> {
    let (at, sign) = text.char_indices().find(|(_, it)| !it.is_alphanumeric())?;
    Some(&text[..at + sign.len_utf8()])
}

/// The letters before and after the one number in a text: of `606Mi` none and `Mi`.
fn beside_number(text: &str) -> Option<(&str, &str)> {
    let number = text.trim_matches(|it: char| it.is_ascii_alphabetic());
    let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    text.split_once(number).filter(|_| is_number)
}

/// A count, a size, or how long something took.
pub(crate) fn number(seen: &[f64], now: f64) -> Option<Watched> {
    let largest = seen.iter().copied().fold(0.0, f64::max);
    if seen.iter().all(|it| *it > 0.0) && now < 0.0 {
        Some(Shown("is below zero"))
    } else if largest > 0.0 && now > BEYOND * largest {
        Some(Shown("is more than 1,000 times what it was"))
    } else {
        None
    }
}

/// How long something took or lasts, in units of so many seconds where that is known, under a key that says so, where all takes had the
/// same. What counts up or down does so by the seconds that have `passed` at most, and from the start of what is up. Small measurements
/// agree by chance, others seldom do.
pub(crate) fn lasting(
    key: &str,
    (was, now): (f64, f64),
    unit: Option<f64>,
    passed: f64,
) -> Option<Watched> {
    let (less, more) = (was.min(now), was.max(now));
    // Of a key without a unit, any will do.
    let second = unit.or(key::unit(key)).unwrap_or(1e-3);
    let went_on = |by: f64| (0.0..=1.0 + passed / second).contains(&by);
    let says = |words: &[&str]| key::says(key, words);
    let is_other = if says(&["percent", "percentage", "pct", "ratio"]) {
        true
    } else if says(&["age"]) {
        !went_on(now - was)
    } else if says(&["ttl", "remaining", "expires in", "retry after"]) {
        !went_on(was - now)
    } else if !key::is_duration(key) || says(&["uptime"]) {
        false
    } else {
        // Computers seldom work for seconds.
        let is_long = unit.is_some() || says(&["duration", "durations", "seconds", "secs"]);
        let least = if is_long { 10.0 } else { 100.0 };
        more * unit.unwrap_or(1.0) >= least && more > 1.5 * less
    };
    number(&[was], now).or(is_other.then_some(Shown("is another length of time")))
}

/// The same of a longer text: `None` is also a word of English.
pub(crate) fn lacks(seen: &[&str], now: &str) -> Option<Watched> {
    words(seen, &now.replace("None", "")).filter(|_| !now.trim().is_empty() && !seen.is_empty())
}

/// A text that varies as a whole, and has no white space in any take: what is cut short, or says something instead.
pub(crate) fn run(seen: &[&str], now: &str) -> Option<Watched> {
    let least = seen.iter().map(|it| it.len()).min()?;
    let is_run = |it: &str| !it.contains(char::is_whitespace);
    if seen.len() < 2 || least < LONG || !seen.iter().all(|it| is_run(it)) {
        None
    } else if !is_run(now) {
        Some(Never("has white space in it"))
    } else {
        let have_one_length = seen.iter().all(|it| it.len() == least);
        let least = if have_one_length {
            least * 3 / 4
        } else {
            least / 2
        };
        (now.len() < least).then_some(Never("is cut short"))
    }
}

/// A time that was seen so many seconds after its call in each take, and now is, in one of its readings.
pub(crate) fn time(seen: &[i64], now: &[i64], has_zone: bool) -> Option<Watched> {
    let (least, most) = (seen.iter().min()?, seen.iter().max()?);
    let nearest = |to: i64| now.iter().map(|it| (it - to).abs()).min();
    if seen.len() > 1 && most - least <= MINUTE && most.abs() <= DAY {
        let middle = i64::midpoint(*least, *most);
        let mut off = nearest(middle)?;
        if !has_zone {
            // Summer time may have begun or ended since.
            off = off.min((off - HOUR).abs());
        }
        return match off {
            it if it > FAR_OFF => Some(Never("is not the time of its call any more")),
            it if it > OFF => Some(Shown("is off by minutes")),
            _ => None,
        };
    }
    if seen.len() > 1 && most - least <= 1 && *least > DAY {
        return later_by(*least, nearest(*least)?);
    }
    let is_within_a_day = seen.iter().all(|it| it.abs() <= DAY);
    // Where the takes were hours apart, things happened at these times whenever they did, and the last of them may be long ago.
    let (long_ago, what) = if most - least > HOUR {
        (YEAR, "is more than a year before its call")
    } else {
        (DAY, "is more than a day before its call")
    };
    if is_within_a_day && now.iter().all(|it| *it < -long_ago) {
        return Some(Never(what));
    }
    if seen.iter().all(|it| *it > HOUR) && now.iter().all(|it| *it < 0) {
        return Some(Shown("has passed"));
    }
    let was_near = seen.iter().all(|it| it.abs() < DECADE);
    (was_near && now.iter().all(|it| it.abs() > DECADE)).then_some(Shown("is years away"))
}

/// A time that was so much later than its call in each take, and is off by so much now. Months have other lengths, and weekends and holidays
/// come between.
fn later_by(later: i64, off: i64) -> Option<Watched> {
    let months = if later >= 28 * DAY { 3 * DAY } else { 0 };
    match off {
        it if it > 4 * DAY => Some(Never("is not as long after its call any more")),
        it if it > months.max(HOUR + FAR_OFF) => Some(Shown("is off by hours or days")),
        _ => None,
    }
}

/// A time, as it is written.
pub(crate) fn time_text(seen: &[&str], offsets: &[i64], (now, at): (&str, f64)) -> Option<Watched> {
    let notation = times::notation(now);
    let offset = whole(times::offsets(now, at));
    let has_zone = notation.as_ref().is_some_and(times::Notation::has_zone);
    if let Some(found @ Never(_)) = time(offsets, &offset, has_zone) {
        return Some(found);
    }
    let notations: Vec<_> = seen.iter().filter_map(|it| times::notation(it)).collect();
    if notation.is_none() && notations.len() == seen.len() {
        return Some(Never("is no time any more"));
    }
    let is_known = notation.is_some_and(|it| notations.contains(&it));
    if is_known {
        time(offsets, &offset, has_zone)
    } else {
        Some(Shown("is written otherwise"))
    }
}

/// By how many seconds a number is after a moment, if it may be seconds or milliseconds since 1970.
pub(crate) fn epoch(number: f64, at: f64) -> Option<f64> {
    const YEARS: f64 = 10.0 * 366.0 * 86_400.0;
    times::epoch_offset(number, at).filter(|it| it.abs() < YEARS)
}

/// Seconds as whole ones.
#[expect(
    clippy::cast_possible_truncation,
    reason = "seconds of a calendar are far from the ends of the range"
)]
pub(crate) fn whole(seconds: Vec<f64>) -> Vec<i64> {
    seconds.into_iter().map(|it| it.round() as i64).collect()
}

#[cfg(test)]
mod tests {
    use super::{DAY, HOUR, Never, Shown, YEAR, time};

    #[test]
    fn what_is_due_is_due_as_long_after_its_call() {
        let week = 7 * DAY;
        for (seen, now, found) in [
            ([week, week], week, None),
            // Summer time has begun.
            ([week, week + 1], week + HOUR, None),
            (
                [week, week],
                week + 2 * HOUR,
                Some(Shown("is off by hours or days")),
            ),
            (
                [week, week],
                week + 2 * DAY,
                Some(Shown("is off by hours or days")),
            ),
            (
                [week, week],
                12 * DAY,
                Some(Never("is not as long after its call any more")),
            ),
            (
                [week, week],
                HOUR,
                Some(Never("is not as long after its call any more")),
            ),
            // A month.
            ([30 * DAY, 30 * DAY], 28 * DAY, None),
            (
                [30 * DAY, 30 * DAY],
                60 * DAY,
                Some(Never("is not as long after its call any more")),
            ),
            // Moments of their own.
            ([week, week + 60], 12 * DAY, None),
            ([-week, -week], -12 * DAY, None),
        ] {
            assert_eq!(time(&seen, &[now], true), found, "{seen:?} {now}");
        }
    }

    #[test]
    fn a_time_may_be_as_long_ago_as_the_takes_were_apart() {
        let alike = [-5 * HOUR, -5 * HOUR - 300];
        let apart = [-19 * HOUR, -1];
        for (takes, now, fails) in [
            (alike, -DAY - 1, true),
            (alike, -DAY + 1, false),
            (apart, -33 * DAY, false),
            (apart, -YEAR - 1, true),
        ] {
            let found = time(&takes, &[now], true);
            assert_eq!(
                matches!(found, Some(Never(_))),
                fails,
                "{takes:?}, {now}: {found:?}"
            );
        }
    }
}
