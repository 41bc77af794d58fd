//! `mcp-eval judge check`: a judge is judged.

use serde_json::json;

use super::desk::{
    CANARY, CRITERIA, EXAMPLES, Model, PROVIDERS, answer, asked, document, examples, question,
    scripted, verdict,
};
use crate::common::Project;

const CHAT: &str = "provider: custom";

#[test]
fn a_judge_is_asked_in_every_wire_format() {
    for (name, provider) in PROVIDERS {
        let project = Project::new();
        project.file("e.yaml", examples(provider, CRITERIA, EXAMPLES));
        let (_stand_in, url) = scripted(&project, &answer(name, &verdict(0.865)));
        let found = document(&project, &url, 0, &["judge", "check", "e.yaml"]);
        assert_eq!(found["examples"], 2, "{name}");
        assert_eq!(found["agreement"]["agreed"], 1, "{name}: {found}");
        assert_eq!(found["agreement"]["too_lenient"], 1, "{name}");
        // It passes everything, which is no better than chance.
        assert_eq!(found["agreement"]["kappa"], 0.0, "{name}");
        let first = &found["results"][0];
        assert_eq!(first["verdict"]["score"], 0.865, "{name}");
        assert_eq!(first["verdict"]["reasoning"], "Call 2 says so.", "{name}");
        // Two examples, one of them reversed, both padded.
        assert_eq!(found["usage"]["requests"], 5, "{name}");
        assert_eq!(found["usage"]["input_tokens"], 500, "{name}");
        assert_eq!(found["usage"]["cost"], json!(null), "{name}");
        assert_eq!(
            found["order_bias"],
            json!({ "of": 1, "flipped": 0, "share": 0.0 })
        );
        assert_eq!(found["verbosity_bias"]["of"], 2, "{name}");

        let log = project.read("asked.jsonl");
        let body: serde_json::Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
        let body = &body["body"];
        let forced = match name {
            "anthropic" => body["tool_choice"] == json!({ "type": "tool", "name": "verdict" }),
            "chat" => body["tool_choice"]["function"]["name"] == "verdict",
            "responses" => body["tool_choice"]["name"] == "verdict",
            _ => body["format"]["required"]
                .as_array()
                .unwrap()
                .contains(&json!("score")),
        };
        assert!(forced, "{name}: {body}");
        assert!(!log.contains("temperature"), "{name}: {log}");
        let text = asked(&project, &url, &["judge", "check", "e.yaml"]);
        assert_eq!(text.code, 0, "{text:#?}");
        text.says("claimed (e.yaml:12): labelled failed, judged passed, 86.5%");
        text.says("agreement: 1 of 2 (50.0%");
        text.says("Cohen's kappa: 0.00");
        assert!(!text.all().contains(CANARY), "{text:#?}");
    }
}

#[test]
fn schemas_are_for_servers_that_cannot_force_a_call() {
    for api in ["chat", "responses"] {
        let project = Project::new();
        let provider = format!("{CHAT}, api: {api}, answer: json_schema");
        project.file("e.yaml", examples(&provider, CRITERIA, EXAMPLES));
        let (_stand_in, url) = scripted(&project, &answer("ollama", &verdict(0.9)));
        document(&project, &url, 0, &["judge", "check", "e.yaml"]);
        let log = project.read("asked.jsonl");
        assert!(log.contains("json_schema"), "{log}");
        assert!(!log.contains("tool_choice"), "{log}");
    }
}

/// A judge that knows the truth: whether a call of the right tool was answered.
fn knows(question: &str) -> bool {
    question.contains("state\":\"paid")
}

#[test]
fn a_judge_that_knows_the_truth_agrees_and_never_flips() {
    let project = Project::new();
    let rubric = "rubric: { dimensions: [{ name: done }, { name: said }] }";
    project.file("e.yaml", examples(CHAT, rubric, EXAMPLES));
    let model = Model::new(|_, body| {
        let score = if knows(question(body)) { 0.9 } else { 0.1 };
        let mut verdict = verdict(score);
        verdict["dimension_scores"] = json!({ "done": score, "said": score });
        verdict
    });
    let arguments = [
        "judge",
        "check",
        "e.yaml",
        "--min-agreement",
        "1",
        "--min-kappa",
        "1",
        "--max-flips",
        "0",
    ];
    let found = document(&project, &model.url, 0, &arguments);
    assert_eq!(found["agreement"]["kappa"], 1.0);
    assert_eq!(found["agreement"]["share"], 1.0);
    // Both have dimensions that can be reversed.
    assert_eq!(
        found["order_bias"],
        json!({ "of": 2, "flipped": 0, "share": 0.0 })
    );
    assert_eq!(
        found["verbosity_bias"],
        json!({ "of": 2, "flipped": 0, "share": 0.0 })
    );
    assert_eq!(found["passed"], true);
    let schema = project.expect(0, &["schema", "judge"]).stdout;
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let wrong: Vec<String> = schema
        .iter_errors(&found)
        .map(|it| it.to_string())
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn bias_for_order_and_for_length_is_the_share_of_verdicts_that_flip() {
    let project = Project::new();
    project.file("e.yaml", examples(CHAT, CRITERIA, EXAMPLES));
    // It likes whatever is called first, and long words.
    let model = Model::new(|_, body| {
        let question = question(body);
        let finds_first = question.find("shop__find") < question.rfind("| mcp__shop__pay");
        let is_long = question.contains("my whole answer");
        let has_calls = question.contains("Call 1 of 2");
        verdict(if has_calls && finds_first || is_long {
            0.9
        } else {
            0.2
        })
    });
    let arguments = ["judge", "check", "e.yaml", "--max-flips", "0.4"];
    let found = document(&project, &model.url, 1, &arguments);
    assert_eq!(found["agreement"]["agreed"], 2);
    assert_eq!(
        found["order_bias"],
        json!({ "of": 1, "flipped": 1, "share": 1.0 })
    );
    assert_eq!(
        found["verbosity_bias"],
        json!({ "of": 2, "flipped": 1, "share": 0.5 })
    );
    assert_eq!(found["passed"], false);
    let reasons = found["reasons"].as_array().unwrap();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    let text = asked(&project, &model.url, &arguments);
    assert_eq!(text.code, 1, "{text:#?}");
    text.says("paid (e.yaml:4): flips when listed in reverse: failed, 20.0%");
    text.says("claimed (e.yaml:12): flips when padded: passed, 90.0%");
    text.says("order bias: 1 of 1 verdicts flip (100.0%)");
    text.says("failed: verbosity bias is 0.50, above 0.4");
    // Shown as it goes on, beside the result.
    let asked = asked(&project, &model.url, &["judge", "check", "e.yaml"]);
    assert!(
        asked.stderr.contains("2 of 2: claimed: failed, 20.0%"),
        "{asked:#?}"
    );
}

#[test]
fn a_stored_trajectory_is_an_example() {
    let project = Project::shipped();
    let stored =
        "\n  - { name: stored, passed: true, trajectory: baselines/flows/ticket/baseline.json }\n";
    project.file("e.yaml", examples(CHAT, CRITERIA, stored));
    let model = Model::new(|_, _| verdict(0.9));
    document(&project, &model.url, 0, &["judge", "check", "e.yaml"]);
    let bodies = model.bodies();
    assert!(question(&bodies[0]).contains("Call 1 of"), "{bodies:?}");
    project.edit("e.yaml", "flows/ticket", "none");
    let ran = asked(&project, &model.url, &["judge", "check", "e.yaml"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.says("e.yaml:4:47: error: stored: cannot read")
        .says("none/baseline.json")
        .says("name a file that `mcp-eval record` has stored");
}

#[test]
fn what_is_wrong_with_a_file_is_said_at_once() {
    let project = Project::new();
    let wrong = r"
judge: { provider: anthropics, model: j, temprature: 1 }
criteria: [one]
rubric: { dimensions: [{ name: a, weight: 0 }, { name: a, anchors: { 2: no } }] }
threshold: 7
examples:
  - { passed: maybe, calls: [{ args: {} }] }
  - { passed: true }
";
    project.file("e.yaml", wrong);
    let ran = asked(
        &project,
        "http://localhost:1",
        &["judge", "check", "e.yaml"],
    );
    assert_eq!(ran.code, 2, "{ran:#?}");
    for words in [
        "did you mean `anthropic`",
        "did you mean `temperature`",
        "e.yaml:4:",
        "expected a number above 0",
        "expected a number from 0 to 1",
        "missing key `tool`",
        "says nothing of the run",
    ] {
        ran.says(words);
    }
    project.file(
        "none.yaml",
        "criteria: x\nexamples: [{ passed: true, final_text: y }]\n",
    );
    let ran = asked(
        &project,
        "http://localhost:1",
        &["judge", "check", "none.yaml"],
    );
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.says("names no judge").says("--judge");
    project.file("j.yaml", "judge: { provider: custom, model: j }\n");
    let ran = asked(
        &project,
        "",
        &["judge", "check", "none.yaml", "--judge", "j.yaml"],
    );
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.says("missing key `base_url`");
}

#[test]
fn what_was_not_measured_is_below_no_bound() {
    let project = Project::new();
    let only =
        "\n  - { name: paid, passed: true, calls: [{ tool: pay, args: {}, answer: { id: 7 } }] }\n";
    project.file("e.yaml", examples("provider: custom", CRITERIA, only));
    let model = Model::new(|_, _| verdict(0.9));
    let arguments = ["judge", "check", "e.yaml", "--max-flips", "0"];
    let ran = asked(&project, &model.url, &arguments);
    assert_eq!(ran.code, 1, "{ran:#?}");
    ran.says("order bias cannot be determined");
    ran.says("verbosity bias cannot be determined");
    // Nor is one kind that was not measured green because another one was.
    let worded = "\n  - { name: paid, passed: true, calls: [{ tool: pay, args: {}, answer: { id: 7 } }], final_text: Paid. }\n";
    project.file("e.yaml", examples("provider: custom", CRITERIA, worded));
    let found = document(&project, &model.url, 1, &arguments);
    assert_eq!(found["verbosity_bias"]["of"], 1);
    let reasons = found["reasons"].as_array().unwrap();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].as_str().unwrap().starts_with("order bias"));
}

#[test]
fn one_run_has_one_label() {
    let project = Project::new();
    let twice = "\n  - { name: paid, passed: true, final_text: Paid. }\n  - { passed: true, final_text: Paid. }\n  - { name: paid, passed: false, final_text: Paid. }\n";
    project.file("e.yaml", examples("provider: custom", CRITERIA, twice));
    let arguments = ["judge", "check", "e.yaml"];
    let ran = asked(&project, "http://localhost:1", &arguments);
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.says("e.yaml:6:")
        .says("`paid` is labelled failed here and passed in line 4");
}
