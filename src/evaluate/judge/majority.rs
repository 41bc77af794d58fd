//! What several votes say together.

use crate::model::ruling::Verdict;
use crate::model::trouble::Unanswered;

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
    use super::majority;
    use crate::model::ruling::Verdict;
    use crate::model::trouble::Unanswered;

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
