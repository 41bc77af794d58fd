//! Numbers with bounds.

pub(super) fn parse_threshold(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|it| (0.0..=1.0).contains(it))
        .ok_or_else(|| "write a number from 0 to 1".to_owned())
}

pub(super) fn parse_budget(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|it: &f64| it.is_finite() && *it > 0.0)
        .ok_or_else(|| "write an amount above 0".to_owned())
}
