//! Criteria that are prose, in scenarios that have a judge.

use serde_json::{Value, json};

use super::desk::{CANARY, Model, asked, question, verdict};
use crate::common::Project;

const SCENARIO: &str = r#"
name: Shop
user_intent: Pay order 7.
servers: { shop: { type: mock } }
expected_trajectory:
  - { tool: mcp__shop__pay, args: { id: 7 } }
success_criteria:
  - paid
  - The agent names the currency in which the order was paid, clearly and only once.
judge:
  provider: custom
  model: j
  base_url: "${JUDGE_URL}"
  api_key_env: JUDGE_SECRET_WORD
  price: { input: 1000, output: 1000 }
mcp_interactions:
  shop:
    tools:
      - name: pay
        annotations: { read_only_hint: true }
        responses:
          - content: [{ json: { id: "{{args.id}}", state: paid } }]
"#;

fn shop() -> Project {
    let project = Project::new();
    project.file("scenarios/shop.yaml", SCENARIO);
    project
}

/// What the judge says of the criterion that is prose, and the result of the scenario; nothing where it says nothing.
fn prose(project: &Project, model: &Model, code: i32, arguments: &[&str]) -> (Value, Value) {
    let arguments = [arguments, &["--format", "json"]].concat();
    let ran = asked(project, &model.url, &arguments);
    assert_eq!(ran.code, code, "{ran:#?}");
    assert!(!ran.all().contains(CANARY), "{ran:#?}");
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    let scenario = &result["scenarios"][0];
    let checks = scenario["checks"].as_array().unwrap();
    assert!(
        checks.iter().any(|it| it["unchecked"] == true),
        "{checks:?}"
    );
    (scenario["evaluators"][0].clone(), scenario.clone())
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_judge_has_its_say_and_decides_nothing() {
    for score in [0.865, 0.1] {
        let project = shop();
        let model = Model::new(move |_, _| verdict(score));
        for command in ["run", "record", "compare"] {
            let (opinion, _) = prose(&project, &model, 0, &[command, "--no-cache"]);
            let words = format!("LLM judge score: {:.1}%", score * 100.0);
            assert_eq!(opinion["message"], words, "{command}");
            assert_eq!(opinion["role"], "advisory", "{command}");
            assert_eq!(opinion["type"], "llm-judge", "{command}");
            assert_eq!(opinion["score"], score, "{command}");
            assert_eq!(opinion["line"], 9, "{command}");
            let details = opinion["details"].to_string();
            assert!(
                details.contains("asked j: 1 request, 120 tokens, cost 0.12"),
                "{details}"
            );
            assert_eq!(opinion["judges"][0]["usage"]["cost"], 0.12, "{command}");
        }
        let bodies = model.bodies();
        let question = question(&bodies[0]);
        for words in [
            "- The agent names the currency",
            "| mcp__shop__pay {\"id\":7}",
            "| Pay order 7.",
            "| {\"id\":7,\"state\":\"paid\"}",
        ] {
            assert!(question.contains(words), "{words}: {question}");
        }
        assert_eq!(bodies.len(), 3);
    }
}

#[test]
fn several_criteria_are_one_question_and_have_a_score_each() {
    let project = shop();
    project.edit(
        "scenarios/shop.yaml",
        "judge:\n",
        "  - Nothing is paid that nobody has asked for, whatever else happens.\njudge:\n",
    );
    let model = Model::new(|_, _| {
        let mut verdict = verdict(0.7);
        verdict["dimension_scores"] = json!({ "criterion 1": 0.5, "criterion 2": 0.9 });
        verdict
    });
    let ran = asked(&project, &model.url, &["run", "-v"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("LLM judge score: 50.0%")
        .says("LLM judge score: 90.0%");
    assert_eq!(model.bodies().len(), 1);
    let (_, scenario) = prose(&project, &model, 0, &["run"]);
    let opinions = scenario["evaluators"].as_array().unwrap().iter();
    let scores: Vec<&Value> = opinions.map(|it| &it["score"]).collect();
    assert_eq!(scores, [0.5, 0.9]);
    // The same run is the same question.
    asked(&project, &model.url, &["run"]);
    assert_eq!(model.bodies().len(), 1);
    asked(&project, &model.url, &["run", "--no-cache"]);
    assert_eq!(model.bodies().len(), 2);
}

#[test]
fn a_judge_that_cannot_say_is_reported_and_fails_nothing() {
    let project = shop();
    let model = Model::new(|_, _| json!({ "score": 2 }));
    let (check, _) = prose(&project, &model, 0, &["run"]);
    let message = check["message"].as_str().unwrap();
    assert!(
        message.contains("the judge's answer is not a verdict"),
        "{message}"
    );
    project.edit(
        "scenarios/shop.yaml",
        "JUDGE_SECRET_WORD",
        "NOT_SET_ANYWHERE",
    );
    let (check, _) = prose(&project, &model, 0, &["run"]);
    let message = check["message"].as_str().unwrap();
    assert!(message.contains("no key for the model"), "{message}");
}

#[test]
fn another_judge_is_named_on_the_command_line() {
    let project = shop();
    let mine = Model::new(|_, _| verdict(0.2));
    let other = Model::new(|_, _| verdict(0.9));
    project.file(
        "other.yaml",
        format!(
            "judge: {{ provider: custom, model: other, base_url: \"{}\" }}\n",
            other.url
        ),
    );
    let (check, _) = prose(&project, &mine, 0, &["run", "--judge", "other.yaml"]);
    assert!(
        check["message"].as_str().unwrap().contains("90.0%"),
        "{check}"
    );
    assert!(mine.bodies().is_empty());
    assert_eq!(other.bodies()[0]["model"], "other");
    let ran = asked(
        &project,
        &mine.url,
        &["run", "--judge", "other.yaml", "--budget", "1"],
    );
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.says("the price of the judge is unknown");
    project.file("bad.yaml", "provider: custom\nmodle: x\n");
    let ran = asked(&project, &mine.url, &["run", "--judge", "bad.yaml"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.says("did you mean `model`").says("bad.yaml:2:1");
    let ran = asked(&project, &mine.url, &["run", "--judge", "none.yaml"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn judges_have_a_budget_which_the_whole_one_counts() {
    let project = shop();
    for number in 2..=3 {
        project.file(
            &format!("scenarios/shop{number}.yaml"),
            SCENARIO.replace("name: Shop", &format!("name: Shop {number}")),
        );
    }
    let model = Model::new(|_, _| verdict(0.9));
    let run = |arguments: &[&str]| {
        let arguments = [&["run", "-v", "--no-cache"], arguments].concat();
        asked(&project, &model.url, &arguments)
    };
    let asked_before = || model.bodies().len();
    for (arguments, words) in [
        (
            &["--judge-budget", "0.2"][..],
            "the budget is spent: 0.2400 of 0.2 (`--judge-budget`)",
        ),
        (
            &["--judge-budget", "20%", "--budget", "1"],
            "the budget is spent: 0.2400 of 0.2 (`--judge-budget`)",
        ),
        (
            &["--budget", "0.2"],
            "the budget is spent: 0.2400 of 0.2 (`--budget`)",
        ),
    ] {
        let before = asked_before();
        let ran = run(arguments);
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran.says(words);
        assert_eq!(asked_before() - before, 2, "{arguments:?}");
    }
    // They take turns at what judges may spend.
    for arguments in [&["--judge-budget", "0.1"][..], &["--budget", "0.1"]] {
        let before = asked_before();
        let ran = run(arguments);
        assert_eq!(ran.code, 0, "{ran:#?}");
        assert_eq!(asked_before() - before, 1, "{arguments:?}: {ran:#?}");
    }
    for (arguments, words) in [
        (
            &["--judge-budget", "20%"][..],
            "a share of --budget, which is not given",
        ),
        (
            &["--judge-budget", "2", "--budget", "1"],
            "is more than --budget",
        ),
        (&["--judge-budget", "0"], "write an amount above 0"),
        (&["--judge-budget", "101%"], "at most 100%"),
    ] {
        let ran = run(arguments);
        assert_eq!(ran.code, 2, "{ran:#?}");
        ran.says(words);
    }
}

#[test]
fn without_a_judge_prose_is_unchecked_as_ever() {
    let project = shop();
    let text = SCENARIO.split("judge:").next().unwrap().to_owned();
    let servers = SCENARIO.split("mcp_interactions:").nth(1).unwrap();
    project.file(
        "scenarios/shop.yaml",
        format!("{text}mcp_interactions:{servers}"),
    );
    let model = Model::new(|_, _| verdict(0.9));
    let (check, _) = prose(&project, &model, 0, &["run"]);
    assert_eq!(check, Value::Null);
    assert!(model.bodies().is_empty());
}
