//! Judges within `all_of`, `any_of` and `not`.

use serde_json::Value;

use super::desk::{Model, asked, verdict};
use super::evaluator::shop;
use crate::common::Project;

/// What else gates, and passes.
const ELSE: &str = "  - { type: tool-calls, required: [mcp__shop__pay] }\n";

const JUDGE: &str = "{ type: llm-judge, criteria: The order is paid. }";
const DECLARED: &str = "{ type: llm-judge, role: gating, criteria: The order is paid. }";
const NOT_THERE: &str = "{ type: text, contains: nowhere }";

fn within(several: &str, inner: &[&str]) -> String {
    format!("{{ type: {several}, of: [{}] }}", inner.join(", "))
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_judge_within_others_advises_until_it_is_declared_gating() {
    let any = within("any_of", &[NOT_THERE, JUDGE]);
    let all = within("all_of", &["{ type: text, contains: paid }", JUDGE]);
    let deep = within(
        "all_of",
        &[&format!(
            "{{ type: not, of: {{ type: not, of: {JUDGE} }} }}"
        )],
    );
    let declared = within("any_of", &[NOT_THERE, DECLARED]);
    let half_declared = within("any_of", &[JUDGE, DECLARED]);
    let outer = any.replacen("type: any_of", "type: any_of, role: gating", 1);
    let cases = [
        (format!("  - {any}\n{ELSE}"), "advisory", 0),
        (format!("  - {all}\n{ELSE}"), "advisory", 0),
        (format!("  - {deep}\n{ELSE}"), "advisory", 0),
        (format!("  - {half_declared}\n{ELSE}"), "advisory", 0),
        (format!("  - {declared}\n{ELSE}"), "gating", 1),
        (format!("  - {outer}\n{ELSE}"), "gating", 1),
        // Where nothing else can fail, the judge decides.
        (format!("  - {any}\n"), "gating", 1),
        (format!("  - {deep}\n"), "gating", 1),
    ];
    let model = Model::new(|_, _| verdict(0.2));
    for (evaluators, role, code) in cases {
        let project = Project::new();
        shop(
            &project,
            "provider: custom",
            &format!("evaluators:\n{evaluators}"),
        );
        let ran = asked(&project, &model.url, &["run", "--format", "json"]);
        assert_eq!(ran.code, code, "{evaluators}: {ran:#?}");
        let result: Value = serde_json::from_str(&ran.stdout).unwrap();
        let first = &result["scenarios"][0]["evaluators"][0];
        assert_eq!(first["role"], role, "{evaluators}");
        assert_eq!(first["status"], "failed", "{evaluators}: {first}");
    }
}

#[test]
fn validate_warns_where_only_judges_can_fail_a_scenario() {
    const ONLY: &str = "only a judge can fail this scenario";
    const OPEN: &str = "no run fails for this, because a judge decides in it";
    let gating = |it: &str| it.replacen("type: ", "role: gating, type: ", 1);
    let paid = "{ type: text, contains: paid }";
    let mute = "{ type: text, in: final_text, contains: paid }";
    let cases = [
        (vec![JUDGE.to_owned()], Some(ONLY)),
        // Without the judge's no, it passes.
        (vec![within("any_of", &[NOT_THERE, JUDGE])], Some(ONLY)),
        (vec![within("all_of", &[JUDGE, JUDGE])], Some(ONLY)),
        (vec![format!("{{ type: not, of: {JUDGE} }}")], Some(ONLY)),
        (
            vec![format!(
                "{{ type: not, of: {} }}",
                within("all_of", &[paid, JUDGE])
            )],
            Some(ONLY),
        ),
        // The others can fail it alone.
        (vec![within("all_of", &[paid, JUDGE])], None),
        (
            vec![format!(
                "{{ type: not, of: {} }}",
                within("any_of", &[NOT_THERE, JUDGE])
            )],
            None,
        ),
        // What is skipped in every run fails none.
        (vec![mute.to_owned(), gating(JUDGE)], Some(ONLY)),
        (
            vec![
                paid.to_owned(),
                gating(&within("any_of", &[NOT_THERE, JUDGE])),
            ],
            None,
        ),
        (
            vec![paid.to_owned(), within("all_of", &[paid, JUDGE])],
            Some(OPEN),
        ),
        (vec![paid.to_owned(), JUDGE.to_owned()], None),
        (
            vec![paid.to_owned(), within("any_of", &[NOT_THERE, DECLARED])],
            None,
        ),
    ];
    for (evaluators, said) in cases {
        let project = Project::new();
        let evaluators = evaluators.join("\n  - ");
        let more = format!("evaluators:\n  - {evaluators}");
        shop(&project, "provider: custom", &more);
        let ran = asked(&project, "http://127.0.0.1:1", &["validate"]);
        assert_eq!(ran.code, 0, "{more}: {ran:#?}");
        for warning in [ONLY, OPEN] {
            let is_said = ran.all().contains(warning);
            assert_eq!(is_said, said == Some(warning), "{more}: {ran:#?}");
        }
    }
}

#[test]
fn a_tie_is_reported_as_one() {
    let model = Model::new(|number, _| verdict(if number == 0 { 0.9 } else { 0.2 }));
    let project = Project::new();
    let more = "evaluators:\n  - { type: llm-judge, criteria: The order is paid., votes: 2 }";
    shop(&project, "provider: custom", more);
    asked(&project, &model.url, &["validate"]).says("an even number of votes may be a tie");
    let ran = asked(&project, &model.url, &["run", "-v"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    ran.says("LLM judge score: 20.0%");
    ran.says("votes: 1 passed, 1 failed – a tie, which does not pass; the lower score counts; scores from 20.0% to 90.0%");
}
