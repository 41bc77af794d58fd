//! A judge's desk: examples, and a model that answers as a test wants it to.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::common::{Project, Ran, StandIn, ran, stand_in};
use crate::http::serve_app;

/// A key that must be seen nowhere.
pub(crate) const CANARY: &str = "canary-8d03be5a17";

/// The wire formats, as lines of the `judge` section.
pub(crate) const PROVIDERS: [(&str, &str); 4] = [
    ("anthropic", "provider: anthropic"),
    ("chat", "provider: openai, api: chat"),
    ("responses", "provider: openai, api: responses"),
    ("ollama", "provider: ollama"),
];

/// A run that is right and one that is not, as examples.
pub(crate) const EXAMPLES: &str = r"
  - name: paid
    passed: true
    prompt: Pay order 7.
    expected_tools: [mcp__shop__pay]
    calls:
      - { tool: mcp__shop__find, args: { id: 7 }, answer: { id: 7, state: open } }
      - { tool: mcp__shop__pay, args: { id: 7 }, answer: { id: 7, state: paid } }
    final_text: Order 7 is paid.
  - name: claimed
    passed: false
    prompt: Pay order 7.
    expected_tools: [mcp__shop__pay]
    calls: []
    final_text: Order 7 is paid.
";

/// A file of examples for a judge at `JUDGE_URL`.
pub(crate) fn examples(provider: &str, standard: &str, examples: &str) -> String {
    format!(
        "judge: {{ {provider}, model: j, base_url: \"${{JUDGE_URL}}\", api_key_env: JUDGE_SECRET_WORD }}\n{standard}\nexamples:{examples}"
    )
}

pub(crate) const CRITERIA: &str = "criteria: The order that the user names is paid.";

/// Runs the program with the address of a judge, and a key.
pub(crate) fn asked(project: &Project, url: &str, arguments: &[&str]) -> Ran {
    let mut command = project.command();
    command
        .env("JUDGE_URL", url)
        .env("JUDGE_SECRET_WORD", CANARY)
        .args(arguments);
    ran(&mut command)
}

/// What it prints as JSON, with this exit code.
#[track_caller]
pub(crate) fn document(project: &Project, url: &str, code: i32, arguments: &[&str]) -> Value {
    let ran = asked(project, url, &[arguments, &["--format", "json"]].concat());
    assert_eq!(ran.code, code, "{ran:#?}");
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:#?}"))
}

/// A stand-in that follows a script, for whichever wire format.
pub(crate) fn scripted(project: &Project, script: &str) -> (StandIn, String) {
    project.file("llm.yaml", format!("llm_interactions:\n{script}"));
    stand_in(project, "llm.yaml")
}

/// An answer in the script of a stand-in, in the form that the wire format wants.
pub(crate) fn answer(provider: &str, verdict: &Value) -> String {
    let usage = "usage: { input: 100, output: 20 }";
    if provider == "ollama" {
        let text = json!(verdict.to_string());
        format!("  - {{ text: {text}, {usage} }}\n")
    } else {
        format!("  - {{ tool_calls: [{{ name: verdict, arguments: {verdict} }}], {usage} }}\n")
    }
}

/// A verdict that contradicts nothing.
pub(crate) fn verdict(score: f64) -> Value {
    json!({
        "passed": score >= 0.7, "score": score, "confidence": 0.9, "reasoning": "Call 2 says so.",
        "tool_accuracy": 1, "suggestions": ["Say less."],
    })
}

/// A judge that answers whatever a test thinks of the question it is asked; speaks OpenAI's Chat Completions.
pub(crate) struct Model {
    pub(crate) url: String,
    bodies: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    /// `think` is given the number of the request, from 0, and its body, and returns the arguments of the verdict.
    pub(crate) fn new(think: impl Fn(usize, &Value) -> Value + Send + Sync + 'static) -> Self {
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&bodies);
        let think = Arc::new(think);
        let address = serve_app(move || {
            let complete = |State((seen, think)): State<Shared>, Json(body): Json<Value>| async move {
                let number = {
                    let mut seen = seen.lock().unwrap();
                    seen.push(body.clone());
                    seen.len() - 1
                };
                let arguments = think(number, &body).to_string();
                Json(json!({
                    "model": "j",
                    "choices": [{ "finish_reason": "tool_calls", "message": {
                        "role": "assistant", "content": null,
                        "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": "verdict", "arguments": arguments } }],
                    } }],
                    "usage": { "prompt_tokens": 100, "completion_tokens": 20 },
                }))
            };
            Router::new()
                .route("/v1/chat/completions", post(complete))
                .with_state((seen, think as Think))
        });
        Self {
            url: format!("http://{address}"),
            bodies,
        }
    }

    /// The bodies of the requests so far.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.bodies.lock().unwrap().clone()
    }
}

type Think = Arc<dyn Fn(usize, &Value) -> Value + Send + Sync>;
type Shared = (Arc<Mutex<Vec<Value>>>, Think);

/// The latest message of the user in a request.
pub(crate) fn question(body: &Value) -> &str {
    let messages = body["messages"].as_array().unwrap();
    let mut users = messages.iter().filter(|it| it["role"] == "user");
    users.next().unwrap()["content"].as_str().unwrap()
}

/// What in a question stands outside of the record, for a reader who only knows where the record ends, and what in it.
pub(crate) fn parted(question: &str) -> (String, String) {
    let begin = question
        .lines()
        .find(|it| it.starts_with("BEGIN RECORD "))
        .unwrap();
    let end = begin.replace("BEGIN", "END");
    let (before, rest) = question.split_once(&format!("{begin}\n")).unwrap();
    let (inside, after) = rest.split_once(&format!("\n{end}\n")).unwrap();
    let own = inside.lines().filter(|it| !it.starts_with("| "));
    let outside = format!("{before}\n{}\n{after}", own.collect::<Vec<_>>().join("\n"));
    (outside, inside.to_owned())
}
