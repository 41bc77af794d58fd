//! The two eras of MCP: which one a server is spoken to in, and the change from the one to the other.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};

use crate::common::{Project, whole};
use crate::http::serve_app;

const OLDER: &str = "2025-11-25";
const NEWER: &str = "2026-07-28";

/// What a server over HTTP speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaks {
    Both,
    Older,
    Newer,
    /// It answers everything but `initialize` with this status, and nothing in it.
    OlderWith(u16),
    /// It answers everything with this status.
    Nothing(u16),
}

/// A server over HTTP that speaks what stands at this place of a list.
fn serve(speaks: Vec<Speaks>) -> (SocketAddr, Arc<AtomicUsize>) {
    let at = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&at);
    let answer = move |headers: HeaderMap, body: Bytes| {
        let speaks = speaks[now.load(Ordering::Relaxed)];
        async move { answer(speaks, &headers, &body) }
    };
    let address = serve_app(move || Router::new().route("/mcp", post(answer)));
    (address, at)
}

fn answer(speaks: Speaks, headers: &HeaderMap, body: &Bytes) -> Response {
    let message: Value = serde_json::from_slice(body).unwrap();
    let method = message["method"].as_str().unwrap_or_default();
    let id = &message["id"];
    let respond = |status: StatusCode, key: &str, value: Value| {
        let text = json!({ "jsonrpc": "2.0", "id": id, key: value }).to_string();
        (status, [("content-type", "application/json")], text).into_response()
    };
    let refuse = |code: i32, why: &str| {
        let error = json!({ "code": code, "message": why, "data": { "supported": [NEWER] } });
        respond(StatusCode::BAD_REQUEST, "error", error)
    };
    if let Speaks::Nothing(status) = speaks {
        return StatusCode::from_u16(status).unwrap().into_response();
    }
    if id.is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let version = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    let is_newer = !version.is_null();
    match speaks {
        Speaks::Newer if !is_newer => return refuse(-32022, "Unsupported protocol version"),
        Speaks::Older if is_newer => {
            let error = json!({ "code": -32600, "message": "Bad Request: no session" });
            return respond(StatusCode::BAD_REQUEST, "error", error);
        }
        Speaks::OlderWith(status) if is_newer => {
            return StatusCode::from_u16(status).unwrap().into_response();
        }
        _ => {}
    }
    let header = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
    let params = &message["params"];
    if is_newer {
        let named = [
            ("mcp-protocol-version", version.as_str()),
            ("mcp-method", Some(method)),
            ("mcp-name", params["name"].as_str()),
        ];
        let wrong = named.iter().find(|(name, value)| header(name) != *value);
        if let Some((name, _)) = wrong {
            return refuse(-32020, &format!("{name} is another one than in the body"));
        }
        if header("mcp-session-id").is_some() {
            return refuse(-32020, "there are no sessions");
        }
    }
    let mut result = match method {
        "initialize" => json!({
            "protocolVersion": OLDER,
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "shop", "version": "1" },
        }),
        "server/discover" => json!({
            "supportedVersions": [NEWER],
            "capabilities": { "tools": {} },
        }),
        "tools/list" => {
            let city = json!({ "type": "string", "x-mcp-header": "City" });
            let schema = json!({ "type": "object", "properties": { "city": city } });
            // So long that the answer is not handed on whole to those who only want to know that it came.
            let look = json!({ "name": "look", "description": "x".repeat(80_000), "inputSchema": schema, "annotations": { "readOnlyHint": true } });
            json!({ "tools": [look] })
        }
        "tools/call" => {
            let city = params["arguments"]["city"].as_str();
            let expected = city.filter(|_| is_newer).map(|it| match it {
                "Lisbon" => "Lisbon",
                _ => "=?base64?w4lsdmFz?=",
            });
            if header("mcp-param-city") != expected {
                return refuse(-32020, "mcp-param-city is another one than in the body");
            }
            json!({ "content": [{ "type": "text", "text": format!("{} is fine", city.unwrap_or("it")) }] })
        }
        _ => return refuse(-32601, "no such method"),
    };
    if is_newer {
        result["resultType"] = json!("complete");
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
        result["_meta"] =
            json!({ "io.modelcontextprotocol/serverInfo": { "name": "shop", "version": "1" } });
    }
    respond(StatusCode::OK, "result", result)
}

/// Scenarios that ask a server over HTTP for two cities.
fn over_http(address: SocketAddr, names: &[&str]) -> Project {
    let project = Project::new();
    for name in names {
        let scenario = json!({
            "name": name,
            "servers": { "shop": { "type": "http", "url": format!("http://{address}/mcp") } },
            "agent": { "kind": "scripted", "calls": [
                { "tool": "look", "args": { "city": "Lisbon" } },
                { "tool": "look", "args": { "city": "Élvas" } },
            ] },
        });
        project.file(&format!("scenarios/{name}.yaml"), scenario.to_string());
    }
    project
}

/// The revision that the last run of a scenario was in.
fn revision(project: &Project, scenario: &str) -> String {
    let run = project.last_run();
    let text = std::fs::read_to_string(run.join(format!("current/{scenario}.json"))).unwrap();
    let run: Value = serde_json::from_str(&text).unwrap();
    run["catalogue"][0]["protocol_version"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn each_server_over_http_is_spoken_to_in_an_era_that_it_speaks() {
    let cases = [
        (Speaks::Both, "legacy", Ok(OLDER)),
        (Speaks::Both, "auto", Ok(NEWER)),
        (Speaks::Both, NEWER, Ok(NEWER)),
        (Speaks::Older, "legacy", Ok(OLDER)),
        (Speaks::Older, "auto", Ok(OLDER)),
        (Speaks::Older, NEWER, Err("`--protocol legacy`")),
        (Speaks::OlderWith(404), "auto", Ok(OLDER)),
        (Speaks::OlderWith(405), "auto", Ok(OLDER)),
        // These say nothing of what it speaks.
        (Speaks::OlderWith(401), "auto", Err("HTTP 401")),
        (Speaks::OlderWith(403), "auto", Err("HTTP 403")),
        (Speaks::OlderWith(503), "auto", Err("HTTP 503")),
        (Speaks::Newer, "legacy", Ok(NEWER)),
        (Speaks::Newer, "auto", Ok(NEWER)),
        (Speaks::Newer, NEWER, Ok(NEWER)),
        (Speaks::Nothing(404), "auto", Err("HTTP 404")),
    ];
    for (speaks, protocol, expected) in cases {
        let (address, _) = serve(vec![speaks]);
        let project = over_http(address, &["look"]);
        let arguments = ["run", "-v", "--protocol", protocol];
        match expected {
            Ok(version) => {
                let ran = project.expect(0, &arguments);
                assert_eq!(revision(&project, "look"), version, "{protocol}");
                let note = "refuses `initialize` and is spoken to in 2026-07-28";
                if (speaks, protocol) == (Speaks::Newer, "legacy") {
                    ran.says(note);
                } else {
                    ran.says_not(note);
                }
            }
            Err(said) => {
                project.expect(3, &arguments).says(said);
            }
        }
    }
}

#[test]
fn each_program_is_spoken_to_in_an_era_that_it_speaks() {
    let cases: [(&[&str], &str, Result<&str, &str>); 18] = [
        (&[], "auto", Ok(OLDER)),
        (
            &[],
            NEWER,
            Err("refused `server/discover`: no such method (code -32601)"),
        ),
        (&["strict"], "auto", Ok(OLDER)),
        (&["dual"], "legacy", Ok(OLDER)),
        (&["dual"], "auto", Ok(NEWER)),
        (&["dual"], NEWER, Ok(NEWER)),
        (&["newer"], "legacy", Ok(NEWER)),
        (&["newer=words"], "legacy", Ok(NEWER)),
        (&["refuse"], "legacy", Err("`--protocol 2026-07-28`")),
        (&["silent"], "auto", Err("did not get ready within 1s")),
        (
            &["revision=2099-01-01"],
            "legacy",
            Err("answered `initialize` with the revision `2099-01-01`"),
        ),
        (&["revision=2026-07-28"], "auto", Err("clients refuse that")),
        (
            &["refuse=2026-07-28T10:11:12Z disk full"],
            "legacy",
            Err("disk full"),
        ),
        (
            &["refuse=removed on 2026-11-30"],
            "legacy",
            Err("removed on"),
        ),
        (
            &["refuse=use 2026-07-28 or 2025-06-18"],
            "legacy",
            Err("use 2026-07-28 or"),
        ),
        (&["discovered={}"], "auto", Ok(OLDER)),
        (
            &[
                r#"discovered={"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"cacheScope":"public"}"#,
            ],
            "auto",
            Err("it lacks `ttlMs`"),
        ),
        (
            &[
                r#"discovered={"resultType":"complete","supportedVersions":["2025-11-25"],"capabilities":{},"ttlMs":0,"cacheScope":"public"}"#,
            ],
            "auto",
            Ok(OLDER),
        ),
    ];
    for (faults, protocol, expected) in cases {
        let project = Project::new();
        let soon = json!({ "connect_timeout": if faults == ["silent"] { "1s" } else { "30s" } });
        project.faulty_with("s", faults, &[("echo", json!({ "a": 1 }))], &soon);
        let arguments = ["run", "--protocol", protocol];
        match expected {
            Ok(version) => {
                project.expect(0, &arguments);
                assert_eq!(revision(&project, "s"), version, "{faults:?} {protocol}");
            }
            Err(said) => {
                project.expect(3, &arguments).says(said);
            }
        }
        assert_eq!(project.survivors(), Vec::<String>::new());
    }
}

#[test]
fn the_era_of_the_baseline_goes_before_what_nobody_has_chosen() {
    let project = Project::new();
    let echo = [("echo", json!({ "a": 1 }))];
    project.faulty("s", &["dual"], &echo);
    project.expect(0, &["record", "--protocol", NEWER]);
    project.expect(0, &["compare"]).says("nothing changed");
    assert_eq!(revision(&project, "s"), NEWER);
    // The key of a server goes before the baseline, and the option before the key.
    let server = json!({ "command": crate::common::faulty_server(), "args": ["dual"], "protocol": "legacy" });
    project.faulty_with(
        "s",
        &["dual"],
        &echo,
        &json!({ "servers": { "s": server } }),
    );
    project
        .expect(0, &["compare"])
        .says("speaks another version of the protocol: \"2026-07-28\" → \"2025-11-25\"");
    assert_eq!(revision(&project, "s"), OLDER);
    project.expect(0, &["compare", "--protocol", NEWER]);
    assert_eq!(revision(&project, "s"), NEWER);
}

#[test]
fn an_old_baseline_holds_in_the_new_era_and_the_envelope_is_no_change() {
    let (address, _) = serve(vec![Speaks::Both]);
    let project = over_http(address, &["look"]);
    project.expect(0, &["record"]);
    let result = project.result(0, &["compare", "--protocol", NEWER]);
    let scenario = &result["scenarios"][0];
    assert_eq!(scenario["status"], "passed", "{scenario:#}");
    let drift = scenario["comparison"]["drift"].as_array().unwrap();
    let codes: Vec<&Value> = drift.iter().map(|it| &it["code"]).collect();
    assert_eq!(
        codes,
        [
            &json!({ "lost_capability": "tools/listChanged" }),
            &json!("protocol")
        ],
        "{drift:#?}"
    );
    assert_eq!(scenario["comparison"]["scores"]["overall"], 1.0);
}

#[test]
fn an_era_that_is_no_longer_served_fails_a_suite_once_and_can_be_accepted() {
    let (address, now) = serve(vec![Speaks::Both, Speaks::Newer]);
    let project = over_http(address, &["a", "b"]);
    project.expect(0, &["record"]);
    now.store(1, Ordering::Relaxed);
    let result = project.result(1, &["compare", "--pending"]);
    let causes = result["causes"].as_array().unwrap();
    let failing: Vec<&Value> = causes.iter().filter(|it| it["fails"] == true).collect();
    assert_eq!(failing.len(), 1, "{causes:#?}");
    let said = failing[0]["text"].to_string();
    assert!(
        said.contains("server `shop` no longer serves MCP 2025-11-25"),
        "{said}"
    );
    let id = failing[0]["id"].as_str().unwrap().to_owned();
    project.expect(0, &["review", "--accept-cause", &id]);
    project
        .expect(0, &["compare"])
        .says("nothing changed")
        .says_not("refuses `initialize`");
    let accepted = whole(&project, "baselines/a/baseline.json");
    assert_eq!(accepted["catalogue"][0]["protocol_version"], NEWER);
}

#[test]
fn what_a_server_wants_to_know_is_a_part_of_the_call() {
    let cases: [(&[&str], Result<&str, &str>); 11] = [
        (
            &["input=elicitation/create"],
            Ok(r#"{"q":{"action":"decline"}}"#),
        ),
        (
            &["input=elicitation/create", "again"],
            Err("asked for elicitation again after it was declined"),
        ),
        (
            &["input=sampling/createMessage"],
            Err("asked for sampling; no input given"),
        ),
        (
            &["input=roots/list"],
            Err("asked for roots; no input given"),
        ),
        (&["result-type=task"], Err("the server has begun a task")),
        (
            &["result-type=sideways"],
            Err("`resultType` is \"sideways\""),
        ),
        (
            &["result-type=input_required"],
            Err("neither `inputRequests` nor `requestState`"),
        ),
        (&["result-type=complete"], Ok("x")),
        (
            &["input=elicitation/create", "state=7"],
            Err("`requestState` is no text"),
        ),
        (
            &["input=text"],
            Err("asked for something that no client answers"),
        ),
        (
            &["input=tools/call"],
            Err("asked for something that no client answers"),
        ),
    ];
    for (faults, expected) in cases {
        let project = Project::new();
        let faults = [&["newer"], faults].concat();
        project.faulty("s", &faults, &[("echo", json!({}))]);
        let recorded = project.expect(0, &["record", "--allow-failing"]);
        let baseline: Value =
            serde_json::from_str(&project.read("baselines/s/baseline.json")).unwrap();
        let outcome = &baseline["steps"][0]["outcome"];
        match expected {
            Ok(said) => {
                let text = outcome["content"][0]["text"].as_str().unwrap();
                assert!(text.contains(said), "{text}");
                if said != "x" {
                    assert!(text.contains("s-1"), "{text}");
                    recorded.says("server `s` asked its client `elicitation/create`: declined");
                    let asked = &outcome["other"]["_meta"]["asked_its_client"]["1 elicitation"];
                    assert_eq!(asked["message"], "Which city?", "{outcome:#}");
                }
            }
            Err(why) => {
                let message = outcome["error"]["message"].as_str().unwrap();
                assert!(message.contains(why), "{message}");
                recorded.says_not("declined;");
            }
        }
        assert_eq!(baseline["steps"].as_array().unwrap().len(), 1);
    }
}

/// What a scenario answers, and what a server that asks so then has heard.
#[test]
fn a_scenario_answers_what_a_server_wants_to_know_in_both_eras() {
    let inputs = json!([
        { "match": "^Which city", "answer": { "city": "{{city}}" } },
        { "decline": true },
        { "method": "sampling", "answer": "Lisbon" },
        { "method": "roots/list", "key": "q", "answer": ["file:///work"] },
    ]);
    let more = json!({ "inputs": inputs, "variables": { "city": "Lisbon" } });
    let cases = [
        (
            "elicitation/create",
            r#"{"q":{"action":"accept","content":{"city":"Lisbon"}}}"#,
        ),
        (
            "sampling/createMessage",
            r#""content":{"type":"text","text":"Lisbon"}"#,
        ),
        ("roots/list", r#"{"q":{"roots":[{"uri":"file:///work"}]}}"#),
    ];
    let echo = [("echo", json!({}))];
    for (method, said) in cases {
        let project = Project::new();
        let asks = format!("input={method}");
        project.faulty_with("s", &["newer", &asks], &echo, &more);
        project.expect(0, &["record"]).says_not("declined");
        let baseline: Value =
            serde_json::from_str(&project.read("baselines/s/baseline.json")).unwrap();
        let text = &baseline["steps"][0]["outcome"]["content"][0]["text"];
        assert!(text.as_str().unwrap().contains(said), "{text}");
        project.expect(0, &["compare"]).says("nothing changed");
    }
    // Nothing is asked of those who have nothing to say but the defaults of a form.
    let project = Project::new();
    let form = json!({ "inputs": [{ "answer": {} }] });
    project.faulty_with(
        "s",
        &["newer", "input=elicitation/create", "default=Faro"],
        &echo,
        &form,
    );
    project.expect(0, &["record"]);
    let recorded = project.read("baselines/s/baseline.json");
    assert!(recorded.contains("Faro"), "{recorded}");
    // A page that the user is sent to is no form.
    project.faulty_with(
        "s",
        &["newer", "input=elicitation/create", "url"],
        &echo,
        &form,
    );
    project.expect(0, &["record"]).says("declined");
    // In the older era it is a request of the server's, and what was answered is said back.
    let project = Project::new();
    project.faulty_with("s", &["ask-first=Which city is it?"], &echo, &more);
    project.expect(0, &["record"]).says_not("declined");
    let recorded = project.read("baselines/s/baseline.json");
    assert!(recorded.contains("Lisbon"), "{recorded}");
    project.expect(0, &["compare"]).says("nothing changed");
    project.edit("scenarios/s.yaml", "^Which city", "^Which town");
    let changed = project.expect(1, &["compare"]);
    changed.says("decline");
}

#[test]
fn a_client_says_of_itself_that_it_can_do_what_the_scenario_answers_and_nothing_else() {
    for (inputs, expected) in [
        (json!([]), json!({})),
        (json!([{ "decline": true }]), json!({ "elicitation": {} })),
        (
            json!([{ "method": "roots", "answer": [] }, { "method": "sampling", "answer": "x" }]),
            json!({ "roots": {}, "sampling": {} }),
        ),
    ] {
        for protocol in ["legacy", NEWER] {
            let project = Project::new();
            let more = json!({ "inputs": inputs });
            project.faulty_with("s", &["dual", "client"], &[("echo", json!({}))], &more);
            project.expect(0, &["record", "--protocol", protocol]);
            let baseline: Value =
                serde_json::from_str(&project.read("baselines/s/baseline.json")).unwrap();
            let text = &baseline["steps"][0]["outcome"]["content"][0]["text"];
            let said: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
            assert_eq!(said, expected, "{inputs} {protocol}");
        }
    }
}

#[test]
fn inputs_that_say_nothing_are_refused_with_their_line() {
    for (input, said) in [
        (json!({}), "says what is asked, and not what is answered"),
        (json!({ "answer": "yes" }), "is not the values of a form"),
        (
            json!({ "method": "sampling", "answer": 3 }),
            "is nothing that a model says",
        ),
        (
            json!({ "method": "sampling", "answer": {} }),
            "is nothing that a model says",
        ),
        (
            json!({ "method": "roots", "answer": [3] }),
            "is no list of folders",
        ),
        (
            json!({ "method": "roots", "decline": true }),
            "only the user can decline",
        ),
        (json!({ "decline": false }), "says nothing"),
        (
            json!({ "decline": true, "answer": {} }),
            "keep one of the two",
        ),
        (json!({ "method": "tools", "answer": {} }), "elicitation"),
        (
            json!({ "match": "(", "decline": true }),
            "is not a regular expression",
        ),
    ] {
        let project = Project::new();
        let more = json!({ "inputs": [input] });
        project.faulty_with("s", &[], &[("echo", json!({}))], &more);
        project
            .expect(2, &["validate"])
            .says(said)
            .says("scenarios/s.yaml:");
    }
}

#[test]
fn both_eras_of_a_server_are_compared_in_one_command() {
    let echo = [("echo", json!({ "a": 1 }))];
    for (against, revisions) in [
        ("protocol:legacy", [OLDER, NEWER]),
        ("protocol:2026-07-28", [NEWER, OLDER]),
    ] {
        let project = Project::new();
        // What the key says does not matter.
        let server = json!({ "command": crate::common::faulty_server(), "args": ["dual"], "protocol": "legacy" });
        project.faulty_with("s", &[], &echo, &json!({ "servers": { "s": server } }));
        let result = project.result(0, &["compare", "--against", against]);
        let scenario = &result["scenarios"][0];
        assert_eq!(scenario["compared_with"], against);
        let drift = &scenario["comparison"]["drift"][0];
        let [was, now] = revisions.map(|it| json!(format!("\"{it}\"")));
        assert_eq!([&drift["was"], &drift["now"]], [&was, &now], "{drift:#}");
    }
    let project = Project::new();
    for (faults, said) in [
        (
            &["newer"][..],
            "refused `initialize`: Unsupported protocol version",
        ),
        (&[], "refused `server/discover`"),
    ] {
        project.faulty("s", faults, &echo);
        project
            .expect(3, &["compare", "--against", "protocol:legacy"])
            .says(said);
    }
    project
        .expect(2, &["compare", "--against", "protocol:3"])
        .says("write protocol:legacy or protocol:2026-07-28");
    project
        .expect(
            2,
            &[
                "compare",
                "--against",
                "protocol:legacy",
                "--protocol",
                "auto",
            ],
        )
        .says("leave `--protocol` out");
}

#[test]
fn an_answer_that_comes_only_after_a_question_fails_in_the_new_era() {
    let project = Project::new();
    let echo = [("echo", json!({}))];
    let answers = r#"text={"state":"s-1","said":{"q":{"action":"decline"}}}"#;
    project.faulty("s", &["newer", answers], &echo);
    project.expect(0, &["record"]);
    // In the end it answers the same.
    project.faulty("s", &["newer", "input=elicitation/create"], &echo);
    project
        .expect(1, &["compare"])
        .says("`echo`")
        .says("is given only after a question to the client");
    project.edit(
        "scenarios/s.yaml",
        "elicitation/create",
        "sampling/createMessage",
    );
    project
        .expect(1, &["compare"])
        .says("asked for sampling; no input given");
}

#[test]
fn another_question_is_shown_where_a_call_was_recorded_once_too() {
    for (faults, protocol) in [("ask-first=", "legacy"), ("question=", NEWER)] {
        let project = Project::new();
        let echo = [("echo", json!({}))];
        let more = json!({ "inputs": [{ "answer": { "sure": true } }] });
        let asks = |question: &str| {
            let fault = format!("{faults}{question}");
            let faults = ["dual", &fault, "input=elicitation/create"];
            let faults = if protocol == "legacy" {
                &faults[..2]
            } else {
                &faults
            };
            project.faulty_with("s", faults, &echo, &more);
        };
        asks("Really?");
        project.expect(0, &["record", "--takes", "1", "--protocol", protocol]);
        project.expect(0, &["compare"]).says("nothing changed");
        asks("Delete everything?");
        project
            .expect(0, &["compare"])
            .says("asked_its_client")
            .says("Delete everything?");
        project.expect(1, &["compare", "--strict"]);
    }
}

#[test]
fn what_strict_clients_refuse_of_the_new_era_is_said() {
    let (address, _) = serve(vec![Speaks::Both]);
    let project = over_http(address, &["look"]);
    let recorded = project.expect(0, &["record", "--protocol", NEWER]);
    recorded.says_not("strict clients");
    let project = Project::new();
    project.faulty("s", &["newer"], &[("echo", json!({}))]);
    project
        .expect(0, &["record"])
        .says("sent a list without `ttlMs` or `cacheScope`; strict clients refuse that")
        .says("sent a list without `resultType`")
        .says("sent an answer without `resultType`");
}

#[test]
fn a_client_that_made_its_calls_in_another_era_than_before_is_shown() {
    let project = Project::new();
    project.faulty("s", &["dual"], &[("echo", json!({}))]);
    project.expect(0, &["record"]);
    // As a program with a client of its own is recorded, whose server was looked at in the older era.
    let path = "baselines/s/baseline.json";
    let mut baseline: Value = serde_json::from_str(&project.read(path)).unwrap();
    baseline["catalogue"][0]["client"] =
        json!({ "capabilities": {}, "answers": [], "wanted": NEWER, "spoke": NEWER });
    project.file(path, baseline.to_string());
    project
        .expect(0, &["compare"])
        .says("speaks another version of the protocol: \"2026-07-28\" → \"2025-11-25\"");
}
