//! How far a judge's verdicts are those of people.
//!
//! Agreement alone flatters a judge that always says the same where most examples are alike. Cohen's κ takes off what chance would give:
//! J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20 (1960), 37–46.

use crate::model::number::share;

/// How often two verdicts were given by a person and by a judge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Both say that it passed.
    pub both_passed: usize,
    /// Both say that it failed.
    pub both_failed: usize,
    /// The judge passes what people fail.
    pub too_lenient: usize,
    /// The judge fails what people pass.
    pub too_strict: usize,
}

/// How many verdicts became others, of those that could.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flips {
    pub flipped: usize,
    pub of: usize,
}

impl Agreement {
    /// Counts an example.
    pub fn add(&mut self, labelled: bool, judged: bool) {
        match (labelled, judged) {
            (true, true) => self.both_passed += 1,
            (false, false) => self.both_failed += 1,
            (false, true) => self.too_lenient += 1,
            (true, false) => self.too_strict += 1,
        }
    }

    pub fn count(&self) -> usize {
        self.both_passed + self.both_failed + self.too_lenient + self.too_strict
    }

    /// How many verdicts are the same.
    pub fn agreed(&self) -> usize {
        self.both_passed + self.both_failed
    }

    /// The share of verdicts that are the same; `None` without any.
    pub fn share(&self) -> Option<f64> {
        share(self.agreed(), self.count())
    }

    /// Cohen's κ: 1 where all verdicts are the same, 0 where no more are than by chance, below that where fewer are. `None` where people
    /// and judge both know one verdict alone, so that chance would give all of it.
    pub fn kappa(&self) -> Option<f64> {
        let all = self.count();
        let observed = self.share()?;
        let labelled = share(self.both_passed + self.too_strict, all)?;
        let judged = share(self.both_passed + self.too_lenient, all)?;
        let by_chance = labelled * judged + (1.0 - labelled) * (1.0 - judged);
        let is_certain = (1.0 - by_chance).abs() < 1e-12;
        (!is_certain).then(|| (observed - by_chance) / (1.0 - by_chance))
    }
}

impl Flips {
    /// Counts a verdict, and what it became.
    pub fn add(&mut self, before: bool, after: bool) {
        self.of += 1;
        self.flipped += usize::from(before != after);
    }

    /// The share of verdicts that became others; `None` where none could.
    pub fn share(&self) -> Option<f64> {
        share(self.flipped, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::{Agreement, Flips};

    fn agreement(
        both_passed: usize,
        too_lenient: usize,
        too_strict: usize,
        both_failed: usize,
    ) -> Agreement {
        Agreement {
            both_passed,
            both_failed,
            too_lenient,
            too_strict,
        }
    }

    #[test]
    fn kappa_is_what_is_left_of_agreement_without_chance() {
        // A worked example: 35 of 50 agree; of chance, 0.5 · 0.6 + 0.5 · 0.4 = 0.5.
        let kappa = agreement(20, 10, 5, 15).kappa().unwrap();
        assert!((kappa - 0.4).abs() < 1e-12, "{kappa}");
        // 90 % agree, and a judge that always passes has earned none of it.
        let always = agreement(9, 1, 0, 0);
        assert_eq!(always.share(), Some(0.9));
        assert!(always.kappa().unwrap().abs() < 1e-12);
        assert_eq!(agreement(5, 0, 0, 5).kappa(), Some(1.0));
        assert_eq!(agreement(0, 5, 5, 0).kappa(), Some(-1.0));
        // Of one verdict alone, nobody can tell.
        assert_eq!(agreement(5, 0, 0, 0).kappa(), None);
        assert_eq!(agreement(0, 0, 0, 0).kappa(), None);
        assert_eq!(agreement(0, 0, 0, 0).share(), None);
    }

    #[test]
    fn flips_are_counted_of_what_could_flip() {
        let mut flips = Flips::default();
        assert_eq!(flips.share(), None);
        for (before, after) in [(true, true), (true, false), (false, true), (false, false)] {
            flips.add(before, after);
        }
        assert_eq!(flips.share(), Some(0.5));
    }
}
