//! Runs that come to no good end, and whose doing that is: the server's (1), or nobody knows (3).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::Response;
use axum::routing::post;
use serde_json::{Value, json};

use crate::causes::{reads, shop};
use crate::common::{Project, small_agent};
use crate::http::serve_app;

/// Makes something, gets it by what `make` answers, and asks for something else.
fn makes(project: &Project, make: &Value) {
    let text = |it: &Value| json!([{"content": [{"type": "text", "json": it}]}]);
    let mut maker = json!({"name": "make", "responses": text(make)});
    if make.is_null() {
        maker["responses"] =
            json!([{"is_error": true, "content": [{"type": "text", "text": "it is locked"}]}]);
    }
    let tools = json!([
        maker,
        reads("get", "gets", &json!({"state": "new"})),
        reads("about", "about", &json!({"version": 3})),
    ]);
    let calls = [
        ("make", json!({})),
        ("get", json!({"id": "{{calls.0.json:/id}}", "all": true})),
        ("about", json!({})),
    ];
    shop(project, "s", &tools, &calls, &json!({}));
}

#[test]
fn a_reference_that_leads_nowhere_now_fails_for_the_call_it_needs() {
    for id in [json!(7), json!("order-17")] {
        let project = Project::new();
        makes(&project, &json!({"id": id}));
        project.expect(0, &["record"]);
        for make in [json!({"key": id}), Value::Null] {
            makes(&project, &make);
            let result = project.result(1, &["compare"]);
            let scenario = &result["scenarios"][0];
            assert_eq!(scenario["status"], "failed", "{make}");
            let causes = result["causes"].as_array().unwrap();
            let [cause] = causes.as_slice() else {
                panic!("{make}: {causes:#?}");
            };
            assert_eq!(cause["tool"], "mcp__shop__make", "{cause:#}");
            let follows = cause["follows"].to_string();
            assert!(follows.contains("{{calls.0.json:/id}}"), "{follows}");
            let rows = scenario["comparison"]["rows"].as_array().unwrap();
            assert_eq!(rows.len(), 3, "the others are compared");
            let run = project.read(project.last_run().join("current/s.json"));
            let run: Value = serde_json::from_str(&run).unwrap();
            let got = run["steps"].to_string();
            assert!(
                got.contains("not_sent") && got.contains(r#""all":true"#),
                "{got}"
            );
        }
    }
}

#[test]
fn a_reference_that_never_led_anywhere_is_an_error_of_the_script() {
    let project = Project::new();
    makes(&project, &json!({"id": 7}));
    project.expect(0, &["record"]);
    project.edit("scenarios/s.yaml", "json:/id", "json:/nope");
    (project.expect(3, &["compare"])).says("finds nothing in the answer");
    project.edit("scenarios/s.yaml", "json:/nope", "json:/id");
    makes(&project, &json!({"key": 7}));
    (project.expect(3, &["run"])).says("finds nothing in the answer");
}

/// Takes from the text of an answer what is counted.
fn counts(project: &Project, stock: &Value) {
    let tools = json!([
        {"name": "stock", "responses": [stock]},
        {"name": "set", "responses": [{"content": "set to {{args.count}}"}]},
    ]);
    let count = r"{{calls.0.text:(?:^|HTTP )(\d{2,3})}}";
    let calls = [("stock", json!({})), ("set", json!({"count": count}))];
    shop(project, "s", &tools, &calls, &json!({}));
}

#[test]
fn the_words_of_a_failure_are_an_answer_only_where_it_is_expected() {
    let failure = json!({"is_error": true, "content": "HTTP 503 from stock service"});
    let sent = |project: &Project| {
        let baseline = project.read("baselines/s/baseline.json");
        let baseline: Value = serde_json::from_str(&baseline).unwrap();
        baseline["steps"][1]["arguments"].clone()
    };
    let project = Project::new();
    counts(&project, &json!({"content": "12 pieces"}));
    project.expect(0, &["record"]);
    assert_eq!(sent(&project), json!({"count": "12"}));
    counts(&project, &failure);
    let result = project.result(1, &["compare"]);
    assert_eq!(result["scenarios"][0]["status"], "failed", "{result:#}");
    let run = project.read(project.last_run().join("current/s.json"));
    assert!(run.contains("not_sent"), "{run}");

    let project = Project::new();
    counts(&project, &failure);
    for command in ["run", "record"] {
        (project.expect(3, &[command])).says("refers to a call that failed unexpectedly");
    }
    let stock = r#""tool":"mcp__shop__stock""#;
    project.edit(
        "scenarios/s.yaml",
        stock,
        &format!(r#""is_error":true,{stock}"#),
    );
    project.expect(0, &["record"]);
    assert_eq!(sent(&project), json!({"count": "503"}));
}

#[test]
fn a_server_that_dies_in_a_call_that_was_answered_has_failed_it() {
    let calls = [
        ("echo", json!({"n": 1})),
        ("echo", json!({"n": 2})),
        ("echo", json!({"n": 3})),
    ];
    let project = Project::new();
    project.faulty("s", &[], &calls);
    project.expect(0, &["record"]);
    project.faulty("s", &["die-after=1"], &calls);
    let ran = project.expect(1, &["compare", "-v"]);
    ran.says("it exited with code 7")
        .says("panic: index out of range");
    let result = project.read("reports/latest/result.json");
    let result: Value = serde_json::from_str(&result).unwrap();
    assert_eq!(result["causes"].as_array().unwrap().len(), 1, "{result:#}");
    // Nobody knows what it would have answered.
    project.expect(3, &["run"]);
}

/// A server that is too busy for so many calls, with this status.
#[derive(Clone)]
struct Busy {
    left: Arc<AtomicUsize>,
    status: u16,
    pause: &'static str,
    reads: bool,
}

async fn busy(State(server): State<Busy>, body: Bytes) -> Response<Body> {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let respond = |status: u16| Response::builder().status(status);
    let Some(id) = request.get("id") else {
        return respond(202).body(Body::empty()).unwrap();
    };
    let result = match request["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{
            "name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": server.reads},
        }]}),
        _ => {
            let less = |it: usize| it.checked_sub(1);
            let left = (server.left).fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
            if left.is_ok() {
                let response = respond(server.status).header("retry-after", server.pause);
                return response.body(Body::from("slow down")).unwrap();
            }
            json!({"content": [{"type": "text", "text": "ok"}]})
        }
    };
    let message = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    let response = respond(200).header("content-type", "application/json");
    response.body(Body::from(message)).unwrap()
}

#[test]
fn a_server_that_is_busy_is_waited_for_and_is_no_regression() {
    let cases = [
        (429, "0.05", true, 2, 0),
        (429, "0.05", false, 1, 0),
        (503, "0.05", true, 1, 0),
        // It may have been executed.
        (503, "0.05", false, 1, 3),
        (429, "600", true, 1, 3),
    ];
    let program = json!({"kind": "command", "command": [small_agent(), "call web look {}"]});
    let script = json!({"kind": "scripted", "calls": [{"tool": "look"}]});
    let by_program = [
        (429, "0.05", false, 2, 0),
        (503, "0.05", true, 2, 0),
        (503, "0.05", false, 1, 3),
        (429, "600", true, 1, 3),
    ];
    let by_script = cases.map(|it| (it, &script));
    let by_program = by_program.map(|it| (it, &program));
    let cases = by_script.into_iter().chain(by_program);
    for ((status, pause, reads, times, code), agent) in cases {
        let server = Busy {
            left: Arc::default(),
            status,
            pause,
            reads,
        };
        let left = Arc::clone(&server.left);
        let address = serve_app(move || Router::new().route("/mcp", post(busy)).with_state(server));
        let project = Project::new();
        let scenario = json!({
            "name": "s",
            "servers": {"web": {"type": "http", "url": format!("http://{address}/mcp")}},
            "user_intent": "Look.",
            "agent": agent,
        });
        project.file("scenarios/s.yaml", scenario.to_string());
        project.expect(0, &["record"]);
        left.store(times, Ordering::SeqCst);
        let ran = project.expect(code, &["compare"]);
        if code == 3 {
            ran.says(&format!("too busy: HTTP {status}"));
        }
        assert_eq!(left.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn a_tool_that_must_be_ready_and_has_another_name_is_gone() {
    let project = Project::new();
    let with = |tools: &Value, ready: &str| {
        let call = [("find_items", json!({"q": "x"}))];
        let more = json!({"ready": {"tools": [ready], "timeout": "300ms", "settle": 0}});
        shop(&project, "s", tools, &call, &more);
    };
    let mut tool = reads("find_items", "Finds items by a word.", &json!({"n": 1}));
    tool["input_schema"] = json!({"type": "object", "properties": {"q": {"type": "string"}}});
    let mut renamed = tool.clone();
    renamed["name"] = json!("search_items");
    let other = reads("find_item", "Something else entirely", &json!({}));
    with(&json!([tool]), "find_items");
    project.expect(0, &["record"]);
    with(&json!([renamed]), "find_items");
    (project.expect(1, &["compare"])).says("`search_items`");
    with(&json!([other]), "find_items");
    let ran = project.expect(3, &["compare", "-v"]);
    ran.says("missing `find_items`")
        .says("nearest to `find_items`: `find_item`");
}
