//! The majority of several votes, and a judge's agreement with people.

use crate::model::Unanswered;
use crate::model::number::share;
use crate::model::ruling::Verdict;

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

/// What the votes say together: the majority of all that were asked for decides, and a tie is none. What counts as the score is the
/// median, the lower one of two, which lies on the side of the majority.
///
/// # Errors
///
/// That votes are missing which could have decided.
pub(super) fn majority(
    votes: &[Result<Verdict, Unanswered>],
    of: usize,
) -> Result<Verdict, Unanswered> {
    let mut judged: Vec<&Verdict> = votes.iter().filter_map(|it| it.as_ref().ok()).collect();
    judged.sort_by(|a, b| a.score.total_cmp(&b.score));
    let passed = judged.iter().filter(|it| it.passed).count();
    let failed = judged.len() - passed;
    let is_decided = passed * 2 > of || failed * 2 >= of;
    let middle = judged.get(judged.len().saturating_sub(1) / 2);
    match (middle, is_decided) {
        (Some(verdict), true) => Ok((*verdict).clone()),
        _ => Err(undecided(votes, of)),
    }
}

fn undecided(votes: &[Result<Verdict, Unanswered>], of: usize) -> Unanswered {
    let mut failures = votes.iter().filter_map(|it| it.as_ref().err());
    let first = failures.next();
    let mut unruled = first
        .cloned()
        .unwrap_or_else(|| Unanswered::new("the judge was not asked"));
    if of > 1 {
        let judged = votes.iter().filter(|it| it.is_ok()).count();
        let said = format!("{judged} of {of} votes have a verdict, which decides nothing");
        unruled.details.push(said);
    }
    unruled
}

#[cfg(test)]
mod tests {
    use super::{Agreement, Flips, majority};
    use crate::model::Unanswered;
    use crate::model::ruling::Verdict;

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

    /// Votes with these scores; `None` is one that is no verdict.
    fn votes(scores: &[Option<f64>]) -> Vec<Result<Verdict, Unanswered>> {
        let vote = |score: f64| Verdict {
            passed: score >= 0.7,
            score,
            confidence: None,
            reasoning: format!("{score}"),
            dimensions: Vec::new(),
            tool_accuracy: None,
            suggestions: Vec::new(),
        };
        let none = || Unanswered::new("no answer");
        let votes = scores.iter();
        votes.map(|it| it.map(vote).ok_or_else(none)).collect()
    }

    #[test]
    fn the_majority_decides_and_its_median_counts() {
        let cases = [
            (&[Some(0.9)][..], Some((true, 0.9))),
            (&[Some(0.9), Some(0.1), Some(0.7)], Some((true, 0.7))),
            (&[Some(0.9), Some(0.1), Some(0.6)], Some((false, 0.6))),
            // A tie is no majority.
            (&[Some(0.9), Some(0.2)], Some((false, 0.2))),
            // A missing vote matters where it could decide.
            (&[Some(0.9), None, Some(0.8)], Some((true, 0.8))),
            (&[Some(0.9), None, Some(0.2)], None),
            (&[None, None, Some(0.2)], None),
            (&[None], None),
        ];
        for (scores, expected) in cases {
            let decided = majority(&votes(scores), scores.len());
            let decided = decided.map(|it| (it.passed, it.score)).ok();
            assert_eq!(decided, expected, "{scores:?}");
        }
        let why = majority(&votes(&[Some(0.9), None, Some(0.2)]), 3).unwrap_err();
        assert_eq!(why.message, "no answer");
        assert!(why.details[0].contains("2 of 3 votes"), "{why:?}");
    }
}
