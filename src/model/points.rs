//! Scores and points as reports write them: one way for all.

use super::number::fixed;

/// A number between 0 and 1: two digits, but never `1.00` for less than 1 or `0.00` for more than 0.
pub fn score(number: f64) -> String {
    let text = fixed(plain(number), 2);
    let rounded_to_an_end =
        (text == "1.00" && number < 1.0 - 1e-9) || (text == "0.00" && number > 1e-9);
    if rounded_to_an_end {
        fixed(number, 4)
    } else {
        text
    }
}

/// Points lost, as a number of three digits; a loss too small for them is `less than 0.001`.
pub fn points(number: f64) -> String {
    let number = plain(number);
    if number > 0.0 && number < 0.0005 {
        "less than 0.001".to_owned()
    } else {
        fixed(number, 3)
    }
}

/// Whether anything was lost at all.
pub fn costs(points: f64) -> bool {
    plain(points) > 0.0
}

/// The number without what floating-point arithmetic leaves behind: nothing below a billionth, and no `-0`.
pub fn plain(number: f64) -> f64 {
    if number.abs() < 1e-9 { 0.0 } else { number }
}

/// JSON knows no infinity and no NaN; such a number is unknown.
pub fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}
