//! Answers that are no verdict: broken, slow, contradictory, out of range.

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use serde_json::{Value, json};

use super::desk::{
    CRITERIA, EXAMPLES, Model, PROVIDERS, answer, asked, document, examples, question, scripted,
    verdict,
};
use crate::common::Project;
use crate::http::serve_app;

const ONE: &str = "\n  - { name: one, passed: true, final_text: Order 7 is paid. }\n";
const CHAT: &str = "provider: custom";

fn with(changes: &Value) -> Value {
    let mut answer = verdict(0.9);
    for (name, value) in changes.as_object().unwrap() {
        answer[name] = value.clone();
    }
    answer
}

#[test]
fn what_is_no_verdict_is_asked_for_once_more() {
    for (name, provider) in PROVIDERS {
        let project = Project::new();
        project.file("e.yaml", examples(provider, CRITERIA, ONE));
        let wrong = with(&json!({ "score": 86.5 }));
        let script = answer(name, &wrong) + &answer(name, &verdict(0.865));
        let (_stand_in, url) = scripted(&project, &script);
        let found = document(&project, &url, 0, &["judge", "check", "e.yaml"]);
        assert_eq!(found["results"][0]["verdict"]["score"], 0.865, "{name}");
        // The example and its padded form, each asked about twice.
        assert_eq!(found["usage"]["requests"], 4, "{name}");
        let log = project.read("asked.jsonl");
        let repair = log.lines().nth(1).unwrap();
        assert!(
            repair.contains("`score` is 86.5: it must be a number from 0 to 1"),
            "{repair}"
        );
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_is_no_verdict_twice_is_an_error_and_never_a_pass() {
    let cases = [
        (with(&json!({ "score": 1.2 })), "`score` is 1.2"),
        (with(&json!({ "score": "0.9" })), "`score` is \"0.9\""),
        (with(&json!({ "passed": "yes" })), "`passed` is \"yes\""),
        (with(&json!({ "passed": false })), "contradicts itself"),
        (with(&json!({ "score": 0.2 })), "contradicts itself"),
        (with(&json!({ "reasoning": "" })), "`reasoning`"),
        (json!({}), "`passed` is missing"),
    ];
    for (name, provider) in PROVIDERS {
        for (wrong, words) in &cases {
            let project = Project::new();
            project.file("e.yaml", examples(provider, CRITERIA, ONE));
            let script = answer(name, wrong) + &answer(name, wrong);
            let (_stand_in, url) = scripted(&project, &script);
            let found = document(&project, &url, 3, &["judge", "check", "e.yaml"]);
            let problem = found["results"][0]["verdict"]["problem"].as_str().unwrap();
            assert!(problem.contains(words), "{name}: {problem}");
            assert_eq!(
                found["results"][0]["verdict"]["passed"],
                json!(null),
                "{name}"
            );
            assert_eq!(found["agreement"]["of"], 0, "{name}");
            assert_eq!(found["usage"]["requests"], 2, "{name}");
        }
    }
}

#[test]
fn other_answers_are_no_verdict_either() {
    let cases = [
        ("  - { text: It is fine. }\n", "the answer is not JSON"),
        ("  - { text: \"[0.9]\" }\n", "no object"),
        ("  - { text: \"\" }\n", "the answer is empty"),
        (
            "  - { text: x, stop: max_tokens }\n",
            "`judge.max_tokens` allows more",
        ),
        ("  - { text: no, stop: refusal }\n", "the model refused"),
        (
            "  - { tool_calls: [{ name: verdict, arguments: \"{\" }] }\n",
            "the arguments are not valid JSON",
        ),
        (
            "  - { tool_calls: [{ name: verdict }, { name: verdict }] }\n",
            "was called 2 times",
        ),
    ];
    for (script, words) in cases {
        let project = Project::new();
        project.file("e.yaml", examples("provider: openai", CRITERIA, ONE));
        let (_stand_in, url) = scripted(&project, &script.repeat(2));
        let ran = asked(&project, &url, &["judge", "check", "e.yaml"]);
        assert_eq!(ran.code, 3, "{words}: {ran:#?}");
        ran.says(words);
    }
    // JSON in a fence, or as a text where a call was asked for, is still a verdict.
    let text = json!(format!("```json\n{}\n```", verdict(0.9)));
    let project = Project::new();
    project.file("e.yaml", examples("provider: openai", CRITERIA, ONE));
    let (_stand_in, url) = scripted(&project, &format!("  - {{ text: {text} }}\n"));
    document(&project, &url, 0, &["judge", "check", "e.yaml"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn trouble_is_waited_out_and_a_judge_that_is_gone_is_an_error() {
    let project = Project::new();
    project.file("e.yaml", examples("provider: anthropic", CRITERIA, ONE));
    let script = "  - { error: { status: 429, message: slow down, retry_after: 0.05 } }\n  - { fault: disconnect }\n";
    let script = script.to_owned() + &answer("anthropic", &verdict(0.9));
    let (_stand_in, url) = scripted(&project, &script);
    let found = document(&project, &url, 0, &["judge", "check", "e.yaml"]);
    assert_eq!(found["usage"]["requests"], 2);
    assert_eq!(found["usage"]["attempts"], 6);
    let cases = [
        (401, "does not accept the key in `JUDGE_SECRET_WORD`"),
        (404, "check `judge."),
        (400, "the API refused the request"),
    ];
    for (status, words) in cases {
        let project = Project::new();
        project.file("e.yaml", examples("provider: anthropic", CRITERIA, ONE));
        let script = format!("  - {{ error: {{ status: {status}, message: no }} }}\n");
        let (_stand_in, url) = scripted(&project, &script);
        let ran = asked(&project, &url, &["judge", "check", "e.yaml"]);
        assert_eq!(ran.code, 3, "{ran:#?}");
        ran.says(words).says_not("`agent.");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_slow_judge_is_not_waited_for_forever() {
    let project = Project::new();
    project.file(
        "e.yaml",
        examples("provider: openai, timeout: 300ms", CRITERIA, ONE),
    );
    let (_stand_in, url) = scripted(&project, "  - { fault: hang }\n");
    let ran = asked(&project, &url, &["judge", "check", "e.yaml"]);
    assert_eq!(ran.code, 3, "{ran:#?}");
    ran.says("no verdict within 900ms")
        .says("`judge.timeout`")
        .says("unknown, because there is no verdict");
    assert!(ran.took.as_secs() < 20, "{:?}", ran.took);
}

#[test]
fn a_missing_key_is_named_before_anything_is_asked() {
    let project = Project::new();
    let file = examples("provider: openai", CRITERIA, ONE)
        .replace("JUDGE_SECRET_WORD", "NOT_SET_ANYWHERE");
    project.file("e.yaml", file);
    let ran = asked(
        &project,
        "http://127.0.0.1:9",
        &["judge", "check", "e.yaml"],
    );
    assert_eq!(ran.code, 3, "{ran:#?}");
    ran.says("set the environment variable `NOT_SET_ANYWHERE`")
        .says("`judge.api_key_env`");
}

#[test]
fn the_majority_of_the_votes_decides() {
    let project = Project::new();
    let votes = format!("{CRITERIA}\nvotes: 3");
    let cases = [
        ([0.9, 0.1, 0.8], Some((true, 0.8))),
        ([0.9, 0.1, 0.2], Some((false, 0.2))),
        // A vote that is none could not change this one, and could change that one.
        ([0.9, 9.0, 0.8], Some((true, 0.8))),
        ([0.9, 9.0, 0.2], None),
    ];
    for (scores, expected) in cases {
        project.file("e.yaml", examples(CHAT, &votes, ONE));
        let model = Model::new(move |_, body| {
            // Of each question, the first request is a vote, and the second a repair of it.
            let is_padded = question(body).contains("my whole answer");
            let messages = body["messages"].as_array().unwrap().len();
            let vote = VOTES.with_next(is_padded, messages > 2);
            verdict(scores[vote % 3])
        });
        VOTES.reset();
        let code = if expected.is_some() { 0 } else { 3 };
        let arguments = ["judge", "check", "e.yaml", "--no-cache"];
        let found = document(&project, &model.url, code, &arguments);
        let verdict = &found["results"][0]["verdict"];
        let decided = verdict["passed"].as_bool().zip(verdict["score"].as_f64());
        assert_eq!(decided, expected, "{scores:?}: {found}");
    }
}

/// Which vote is asked for now.
static VOTES: Votes = Votes(std::sync::Mutex::new((0, 0)));

struct Votes(std::sync::Mutex<(usize, usize)>);

impl Votes {
    fn reset(&self) {
        *self.0.lock().unwrap() = (0, 0);
    }

    fn with_next(&self, is_padded: bool, is_repair: bool) -> usize {
        let mut counts = self.0.lock().unwrap();
        let count = if is_padded {
            &mut counts.1
        } else {
            &mut counts.0
        };
        if is_repair {
            return *count - 1;
        }
        *count += 1;
        *count - 1
    }
}

#[test]
fn the_score_of_a_rubric_is_reckoned_by_weight() {
    let project = Project::new();
    project.file(
        "rubrics/helpful.yaml",
        "id: helpful\nversion: 2\ndimensions:\n  - { name: right, weight: 3, description: Is it right?, anchors: { 1: all of it, 0: nothing } }\n  - { name: brief }\n",
    );
    let by_file = "rubric: rubrics/helpful.yaml";
    project.file("e.yaml", examples(CHAT, by_file, EXAMPLES));
    let model = Model::new(
        |_, _| json!({ "reasoning": "Call 2 says so.", "dimension_scores": { "right": 1.0, "brief": 0.5 } }),
    );
    let found = document(&project, &model.url, 0, &["judge", "check", "e.yaml"]);
    assert_eq!(found["results"][0]["verdict"]["score"], 0.875);
    assert_eq!(found["results"][0]["verdict"]["passed"], true);
    let body = &model.bodies()[0];
    let question = question(body);
    for words in [
        "Rubric helpful, version 2.",
        "`right` (weight 3): Is it right?",
        "- 1 means: all of it",
    ] {
        assert!(question.contains(words), "{words}: {question}");
    }
    let schema = &body["tools"][0]["function"]["parameters"];
    assert_eq!(
        schema["properties"]["dimension_scores"]["required"],
        json!(["right", "brief"])
    );
    // What is reckoned is not asked for.
    for reckoned in ["score", "passed"] {
        assert_eq!(schema["properties"].get(reckoned), None);
        assert!(!question.contains(&format!("`{reckoned}`")), "{question}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn errors_of_a_judge_are_reported_where_its_time_is_over() {
    let refuse = || async {
        let wait = [(RETRY_AFTER, "30")];
        (StatusCode::INTERNAL_SERVER_ERROR, wait, "out of tokens")
    };
    let address = serve_app(move || Router::new().fallback(refuse));
    let project = Project::new();
    let provider = "provider: custom, timeout: 1s";
    project.file("e.yaml", examples(provider, CRITERIA, ONE));
    let url = format!("http://{address}");
    let ran = asked(&project, &url, &["judge", "check", "e.yaml"]);
    assert_eq!(ran.code, 3, "{ran:#?}");
    ran.says("one answer may take 1s (`judge.timeout`); before that: HTTP 500");
}
