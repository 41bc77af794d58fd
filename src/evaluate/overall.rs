//! The overall result of all evaluators of a run.

use crate::model::{Evaluation, EvaluationStatus, Gate, Overall, Role};

/// The gating evaluators together; `None` where there are none, and no threshold that they would have to reach.
///
/// The score is Σ weight × score / Σ weight of those that were judged. An evaluator that could not judge makes the verdict incomplete,
/// never better; one that is advisory changes nothing.
pub fn overall(evaluations: &[Evaluation], threshold: Option<f64>) -> Option<Overall> {
    if evaluations.is_empty() && threshold.is_none() {
        return None;
    }
    let gating = || evaluations.iter().filter(|it| it.role == Role::Gating);
    let judged = gating().filter_map(|it| Some((it.weight, it.score?)));
    let (weights, sum) = judged.fold((0.0, 0.0), |(weights, sum), (weight, score)| {
        (weights + weight, sum + weight * score)
    });
    let score = (weights > 0.0).then(|| (sum / weights).clamp(0.0, 1.0));
    let has = |status| gating().any(|it| it.status == status);
    let gate = if has(EvaluationStatus::Failed) {
        Gate::Fails
    } else if has(EvaluationStatus::Error) {
        Gate::Incomplete
    } else {
        match (threshold, score) {
            (None, _) => Gate::Passes,
            // A share of ones may come out a hair below itself.
            (Some(least), Some(score)) if score + ROUNDING >= least => Gate::Passes,
            (Some(_), Some(_)) => Gate::Fails,
            // A threshold that nothing was measured by is not reached, and not missed.
            (Some(_), None) => Gate::Incomplete,
        }
    };
    Some(Overall {
        score,
        threshold,
        gate,
    })
}

/// What adding up and dividing may take off a score.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::overall;
    use crate::model::{Evaluation, EvaluationStatus, Gate, Role};

    fn evaluation(
        role: Role,
        weight: f64,
        status: EvaluationStatus,
        score: Option<f64>,
    ) -> Evaluation {
        Evaluation {
            name: "it".to_owned(),
            kind: "text".to_owned(),
            role,
            weight,
            status,
            score,
            message: String::new(),
            details: Vec::new(),
            duration_ms: None,
            line: None,
            said_in: None,
            definition: None,
            judges: Vec::new(),
            is_gone: false,
        }
    }

    #[test]
    fn weights_are_worked_numbers() {
        use EvaluationStatus::{Error, Failed, Passed, Skipped};
        let gating = |weight, status, score| evaluation(Role::Gating, weight, status, score);
        let advisory = evaluation(Role::Advisory, 100.0, Failed, Some(0.0));
        let cases = [
            // (3 × 1 + 1 × 0.5) / 4
            (
                vec![
                    gating(3.0, Passed, Some(1.0)),
                    gating(1.0, Passed, Some(0.5)),
                ],
                Some(0.875),
                Some(0.875),
                Gate::Passes,
            ),
            (
                vec![
                    gating(3.0, Passed, Some(1.0)),
                    gating(1.0, Passed, Some(0.5)),
                ],
                Some(0.876),
                Some(0.875),
                Gate::Fails,
            ),
            // A failed one fails the run whatever the score: 2 × 1 / 3.
            (
                vec![
                    gating(2.0, Passed, Some(1.0)),
                    gating(1.0, Failed, Some(0.0)),
                ],
                Some(0.5),
                Some(2.0 / 3.0),
                Gate::Fails,
            ),
            // What was skipped leaves both sums, and so does what could not judge.
            (
                vec![gating(1.0, Passed, Some(1.0)), gating(9.0, Skipped, None)],
                Some(1.0),
                Some(1.0),
                Gate::Passes,
            ),
            (
                vec![gating(1.0, Passed, Some(1.0)), gating(9.0, Error, None)],
                None,
                Some(1.0),
                Gate::Incomplete,
            ),
            (
                vec![gating(1.0, Failed, Some(0.0)), gating(9.0, Error, None)],
                None,
                Some(0.0),
                Gate::Fails,
            ),
            (vec![advisory.clone()], None, None, Gate::Passes),
            (vec![advisory], Some(0.5), None, Gate::Incomplete),
            (
                vec![gating(0.0, Passed, Some(1.0))],
                None,
                None,
                Gate::Passes,
            ),
        ];
        for (evaluations, threshold, score, gate) in cases {
            let overall = overall(&evaluations, threshold).expect("there are evaluators");
            assert_eq!(
                (overall.score, overall.gate),
                (score, gate),
                "{evaluations:?}"
            );
        }
        assert_eq!(overall(&[], None), None);
    }

    fn any() -> impl proptest::strategy::Strategy<Value = Evaluation> {
        use proptest::prelude::*;
        let status = prop_oneof![
            (0.0..=1.0).prop_map(|score| (EvaluationStatus::Passed, Some(score))),
            (0.0..=1.0).prop_map(|score| (EvaluationStatus::Failed, Some(score))),
            Just((EvaluationStatus::Skipped, None)),
            Just((EvaluationStatus::Error, None)),
        ];
        let role = prop_oneof![Just(Role::Gating), Just(Role::Advisory)];
        (role, 0.0..10.0, status)
            .prop_map(|(role, weight, (status, score))| evaluation(role, weight, status, score))
    }

    proptest::proptest! {
        #[test]
        fn an_advisory_evaluator_decides_nothing(
            all in proptest::collection::vec(any(), 0..8),
            threshold in proptest::option::of(0.0..=1.0),
            others in proptest::collection::vec(any(), 0..8),
        ) {
            let gating: Vec<_> = all.iter().filter(|it| it.role == Role::Gating).cloned().collect();
            let mut changed = gating.clone();
            changed.extend(others.into_iter().map(|it| Evaluation { role: Role::Advisory, ..it }));
            let verdict = |evaluations: &[Evaluation]| {
                overall(evaluations, threshold).map_or((None, Gate::Passes), |it| (it.score, it.gate))
            };
            proptest::prop_assert_eq!(verdict(&all), verdict(&gating));
            proptest::prop_assert_eq!(verdict(&changed), verdict(&gating));
        }

        #[test]
        fn one_more_that_fails_or_cannot_judge_never_helps(
            all in proptest::collection::vec(any(), 0..8),
            weight in 0.0..10.0,
        ) {
            let gate = |evaluations: &[Evaluation]| overall(evaluations, None).map_or(Gate::Passes, |it| it.gate);
            let mut more = all.clone();
            more.push(evaluation(Role::Gating, weight, EvaluationStatus::Error, None));
            proptest::prop_assert!(gate(&more) != Gate::Passes);
            more.push(evaluation(Role::Gating, weight, EvaluationStatus::Failed, Some(1.0)));
            proptest::prop_assert_eq!(gate(&more), Gate::Fails);
        }
    }
}
