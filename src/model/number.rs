//! Numbers for people. Arithmetic leaves specks beside 0, and a sign before a 0 makes readers look for what was gained.

use std::cmp::Ordering;

use serde_json::Number;

/// What is nearer to 0 than this is 0 with the noise of arithmetic.
const NOISE: f64 = 1e-9;

/// A number with so many places, never a negative zero.
pub fn fixed(number: f64, places: usize) -> String {
    let text = format!("{number:.places$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.bytes().all(|it| matches!(it, b'0' | b'.')) => zero.to_owned(),
        _ => text,
    }
}

/// The same with a sign before what is not 0.
pub fn signed(number: f64, places: usize) -> String {
    let text = fixed(number, places);
    let is_zero = text.bytes().all(|it| matches!(it, b'0' | b'.'));
    if is_zero || text.starts_with('-') || !number.is_finite() {
        text
    } else {
        format!("+{text}")
    }
}

/// A number that cannot be below 0 but for noise, without that.
pub fn tidy(number: f64) -> f64 {
    if -NOISE < number && number <= 0.0 {
        0.0
    } else {
        number
    }
}

/// More places behind the point than that are noise.
pub(crate) const MOST_PLACES: usize = 17;

/// What differs by less than this share of itself is the same with the noise of arithmetic.
const SPECK: f64 = 1e-12;

/// Whether a number is at most another one, but for noise.
pub fn is_at_most(number: f64, limit: f64) -> bool {
    number <= limit || number - limit <= SPECK * limit.abs()
}

/// How many places behind the point it takes, from `few` on, so that two numbers that differ do not look alike: rounded alike, what misses a
/// bound would look as if it kept it.
pub fn places_apart(a: f64, b: f64, few: usize) -> usize {
    if is_at_most(a, b) && is_at_most(b, a) {
        return few;
    }
    let mut enough = few..MOST_PLACES;
    enough
        .find(|it| fixed(a, *it) != fixed(b, *it))
        .unwrap_or(MOST_PLACES)
}

/// Two numbers with so many places behind the point, or as many as it takes to tell them apart.
pub fn apart(a: f64, b: f64, few: usize) -> [String; 2] {
    let places = places_apart(a, b, few);
    [fixed(a, places), fixed(b, places)]
}

/// Which of two numbers is larger, exactly: integers of 64 bits have digits that a floating-point number has no room for.
pub fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        (Some(a), None) => Some(compare_with(a, b.as_f64()?)),
        (None, Some(b)) => Some(compare_with(b, a.as_f64()?).reverse()),
        (None, None) => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// The same of an integer of 64 bits and a finite number.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what is beyond these integers is cut to the largest of them, which no integer of 64 bits reaches"
)]
fn compare_with(integer: i128, number: f64) -> Ordering {
    let whole = number.trunc();
    let order = integer.cmp(&(whole as i128));
    order.then_with(|| 0.0_f64.total_cmp(&(number - whole + 0.0)))
}

/// A count as a float, for means and shares.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of things in memory stay far below 2^53"
)]
pub fn count(it: usize) -> f64 {
    it as f64
}

/// A part as a share of the whole, 0 to 1; `None` of nothing.
pub fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| count(part) / count(whole))
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{Equal, Greater, Less};

    use serde_json::{Number, json};

    use super::{apart, compare, fixed, is_at_most, signed, tidy};

    #[test]
    fn numbers_are_compared_digit_for_digit() {
        for (a, b, order) in [
            (
                json!(9_007_199_254_740_993_u64),
                json!(9_007_199_254_740_992_u64),
                Greater,
            ),
            (json!(u64::MAX), json!(u64::MAX - 1), Greater),
            (json!(i64::MIN), json!(u64::MAX), Less),
            (json!(1), json!(1.0), Equal),
            (json!(1), json!(1.5), Less),
            (json!(-1), json!(-1.5), Greater),
            (json!(0), json!(-0.5), Greater),
            (json!(2), json!(1.5), Greater),
            (json!(5), json!(1e300), Less),
            (json!(0.1), json!(0.2), Less),
        ] {
            let number =
                |it: &serde_json::Value| -> Number { it.as_number().expect("one").clone() };
            let (a, b) = (number(&a), number(&b));
            assert_eq!(compare(&a, &b), Some(order), "{a} {b}");
            assert_eq!(compare(&b, &a), Some(order.reverse()), "{b} {a}");
        }
    }

    #[test]
    fn numbers_that_differ_do_not_look_alike() {
        for (a, b, expected) in [
            (0.5, 0.7, ["0.5", "0.7"]),
            (69.99, 70.0, ["69.99", "70.00"]),
            (70.0, 70.0, ["70.0", "70.0"]),
            (0.1 + 0.2, 0.3, ["0.3", "0.3"]),
            (f64::NAN, f64::NAN, ["NaN", "NaN"]),
        ] {
            assert_eq!(apart(a, b, 1), expected);
        }
        assert!(is_at_most(0.1 + 0.2, 0.3) && !is_at_most(0.300_000_1, 0.3));
    }

    #[test]
    fn no_zero_has_a_sign() {
        for (number, places, plain, with_sign) in [
            (-0.0, 3, "0.000", "0.000"),
            (-1e-19, 4, "0.0000", "0.0000"),
            (-0.0004, 3, "0.000", "0.000"),
            (-0.0006, 3, "-0.001", "-0.001"),
            (-0.4, 0, "0", "0"),
            (0.25, 2, "0.25", "+0.25"),
            (-20.0, 0, "-20", "-20"),
            (0.0, 0, "0", "0"),
            (f64::NAN, 2, "NaN", "NaN"),
        ] {
            assert_eq!(fixed(number, places), plain);
            assert_eq!(signed(number, places), with_sign);
        }
        assert!(tidy(-1e-19).is_sign_positive() && tidy(-0.0).is_sign_positive());
        assert!(tidy(-0.5) < 0.0 && tidy(1e-12) > 0.0);
    }
}
