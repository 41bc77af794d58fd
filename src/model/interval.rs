//! Confidence intervals of estimated values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The standard normal quantile at 0.975: what makes an interval one of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// Where a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// How sure that is: 0.95.
    pub confidence: f64,
}

impl Interval {
    /// With a confidence of 95 %.
    pub fn of_95(low: f64, high: f64) -> Self {
        Self {
            low,
            high,
            confidence: 0.95,
        }
    }

    /// Where a share lies of which `hits` of `of` were seen, which need not be whole, with `of` above 0: the score interval of E. B. Wilson,
    /// "Probable inference, the law of succession, and statistical inference", JASA 22 (1927), 209–212.
    pub fn wilson(hits: f64, of: f64) -> Self {
        let share = hits / of;
        let square = Z * Z;
        let scale = 1.0 + square / of;
        let centre = share + square / (2.0 * of);
        let inner = share * (1.0 - share) / of + square / (4.0 * of * of);
        let half = Z * inner.max(0.0).sqrt();
        Self::of_95(
            ((centre - half) / scale).max(0.0),
            ((centre + half) / scale).min(1.0),
        )
    }

    /// The same, and nowhere past this value, which it holds but for rounding.
    #[must_use]
    pub fn holding(self, value: f64) -> Self {
        Self {
            low: self.low.min(value),
            high: self.high.max(value),
            ..self
        }
    }
}
