//! Numbers for people. Arithmetic leaves specks beside 0, and a sign before a 0 makes readers look for what was gained.

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

#[cfg(test)]
mod tests {
    use super::{fixed, signed, tidy};

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
