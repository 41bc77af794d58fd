//! Several runs of one scenario in the published result, in words.

use std::fmt::Write as _;

use crate::Interval;
use crate::number::signed;
use crate::repeated::Repeated;
use crate::repeated::{OfRuns, PassRate, Tally, percent};

impl Repeated {
    /// For people: `passed 7 of 10 (70 %, 40–89 %) · score 0.91 ± 0.05 (0.82–0.97) · flaky`.
    pub fn words(&self) -> String {
        let judged = self.passed + self.failed;
        if judged == 0 {
            return format!("no verdict in {} runs", self.runs);
        }
        let mut words = vec![format!(
            "passed {} of {judged}{}",
            self.passed,
            self.rate_words()
        )];
        if self.incomplete > 0 {
            words.push(format!("{} without a verdict", self.incomplete));
        }
        words.extend(self.score.map(|it| format!("score {}", it.words())));
        words.extend(self.flaky.then(|| "flaky".to_owned()));
        words.join(" · ")
    }

    /// The pass rate with its interval, in brackets after a blank; empty where there is no verdict.
    fn rate_words(&self) -> String {
        match (self.pass_rate, self.interval) {
            (Some(rate), Some(interval)) => {
                format!(" ({}, {})", percent(rate), interval.words())
            }
            _ => String::new(),
        }
    }

    /// Which attempt is shown, for people: `attempt 3 of 10, failed`.
    pub fn shown_words(&self) -> Option<String> {
        let shown = self.attempts.get(self.shown.checked_sub(1)?)?;
        let (number, status) = (self.shown, shown.status.name());
        Some(format!("attempt {number} of {}, {status}", self.runs))
    }

    /// What the runs say of several in a row: `pass@1 70 %, pass@2 93 %`, and `pass^1 70 %, pass^2 47 %`.
    pub fn chances_words(&self) -> [String; 2] {
        let chances_of = |name: &str, chances: &[OfRuns]| {
            let each = chances.iter();
            let each = each.map(|it| format!("{name}{} {}", it.k, percent(it.chance)));
            each.collect::<Vec<_>>().join(", ")
        };
        [
            chances_of("pass@", &self.pass_at_k),
            chances_of("pass^", &self.pass_hat_k),
        ]
    }

    /// What became of the pass rate: `baseline recorded 10 times, 9 passed (90 %) · difference -20 points (-51 to +18), not significant`.
    pub fn baseline_words(&self) -> Option<String> {
        let baseline = self.baseline?;
        let mut words = format!("baseline {}", baseline.tally.words());
        if let Some(it) = &self.difference {
            let points = |it: f64| signed(it * 100.0, 0);
            let significant = if it.significant { "" } else { "not " };
            let _ = write!(
                words,
                " · difference {} points ({} to {}), {significant}significant",
                points(it.value),
                points(it.low),
                points(it.high)
            );
        }
        Some(words)
    }
}

impl PassRate {
    /// For people: `recorded 10 times, 9 passed (90 %)`.
    pub fn words(&self) -> String {
        let tally = Tally {
            runs: self.runs,
            passed: self.passed,
        };
        let rate = self.pass_rate.map(|it| format!(" ({})", percent(it)));
        format!("{}{}", tally.recorded_words(), rate.unwrap_or_default())
    }
}

impl Interval {
    /// For people, of shares: `40–89 %`.
    pub fn words(&self) -> String {
        let low = percent(self.low);
        format!("{}–{}", low.trim_end_matches(" %"), percent(self.high))
    }
}
