//! The gateway's records of an agent's calls.

use serde_json::json;

use super::kit::{Stage, faulty, mock, steps};

fn with_mock(calls: &[&str]) -> Stage {
    let (servers, interactions) = mock();
    Stage::with(
        calls,
        &servers,
        &json!({ "mcp_interactions": interactions }),
    )
}

#[test]
fn calls_are_recorded_between_the_prompt_and_the_answer() {
    let stage = with_mock(&[
        "read",
        r#"call weather forecast {"city": "Lisbon", "n": 12345678901234567890, "x": null}"#,
        r#"call weather forecast {"city": "Nowhere"}"#,
        "call weather gone {}",
        "print Take one.",
    ]);
    let (ran, recorded) = stage.run(1);
    ran.says("S: call 1 mcp__weather__forecast: ok");
    ran.says("S: call 2 mcp__weather__forecast: tool error");
    let lines = steps(&recorded);
    assert_eq!(
        lines[..4],
        [
            "user: Do I need an umbrella?",
            r#"weather.forecast {"city":"Lisbon","n":12345678901234567890,"x":null} ok"#,
            r#"weather.forecast {"city":"Nowhere"} tool_error"#,
            "weather.gone {} rpc_error",
        ]
    );
    let answer = "assistant: stdin: Do I need an umbrella?\n{\"city\":\"Lisbon\",\"sky\":\"rain\"}\nthere is no such city\n";
    assert!(lines[4].starts_with(answer), "{}", lines[4]);
    assert!(lines[4].ends_with("Take one."), "{}", lines[4]);
    assert_eq!(recorded["stamp"]["agent"], "command");
    let tools = &recorded["catalogue"][0]["tools"];
    assert_eq!(tools.as_array().unwrap().len(), 3);
}

#[test]
fn what_comes_before_an_answer_reaches_the_agent_and_its_replies_the_server() {
    let stage = with_mock(&["call weather slow {}", "call weather ask {}"]);
    let (_, recorded) = stage.run(0);
    let lines = steps(&recorded);
    assert_eq!(lines[1..3], ["weather.slow {} ok", "weather.ask {} ok"]);
    for expected in [
        "heard notifications/progress",
        "heard notifications/message",
        "heard sampling/createMessage",
        "heard elicitation/create",
        "\nsampled big",
    ] {
        assert!(lines[3].contains(expected), "{expected}: {}", lines[3]);
    }
}

#[test]
fn parallel_calls_keep_their_own_answers() {
    let calls = [
        r#"call s echo {"n": 1} &"#,
        r#"call s echo {"n": 2} &"#,
        r#"call s echo {"n": 3} &"#,
    ];
    let (_, recorded) = Stage::new(&calls, &faulty(&[])).run(0);
    let calls = recorded["steps"].as_array().unwrap().iter();
    let calls: Vec<_> = calls.filter(|it| it["kind"] == "tool_call").collect();
    assert_eq!(calls.len(), 3);
    for call in calls {
        let text = call["outcome"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&call["arguments"].to_string()), "{call}");
    }
}

#[test]
fn each_session_has_a_process_of_its_own() {
    let steps_of_agent = [
        "call s count {}",
        "call s count {}",
        "end s",
        "call s count {}",
    ];
    let stage = Stage::new(&steps_of_agent, &faulty(&[]));
    let (_, recorded) = stage.run(0);
    let counts = "{\"calls\":1}\n{\"calls\":2}\n204\n{\"calls\":1}";
    assert_eq!(steps(&recorded)[4], format!("assistant: {counts}"));
    assert_eq!(stage.project.survivors(), [""; 0]);
}

#[test]
fn everything_but_calls_passes_unrecorded() {
    let (servers, mut interactions) = mock();
    interactions["weather"]["resources"] = json!([{ "uri": "note://a", "text": "a note" }]);
    let more = json!({ "mcp_interactions": interactions });
    let steps_of_agent = [
        r#"send weather {"jsonrpc":"2.0","id":1,"method":"server/discover"}"#,
        r#"send weather {"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"call weather forecast {"city": "Lisbon"}"#,
        r#"send weather {"jsonrpc":"2.0","id":"r","method":"resources/read","params":{"uri":"note://a"}}"#,
        r#"send weather {"jsonrpc":"2.0","method":"notifications/x"}"#,
        r#"send weather [{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#,
        r#"send weather {"jsonrpc":"2.0","id":8,"method":["#,
        r#"send weather {"jsonrpc":"2.0","id":"m","method":5}"#,
    ];
    let (_, recorded) = Stage::with(&steps_of_agent, &servers, &more).run(0);
    let lines = steps(&recorded);
    assert_eq!(lines.len(), 3);
    for said in [
        r#"200 {"jsonrpc":"2.0","id":1,"error":{"code":-32601"#,
        "400 ",
        "the request needs the header Mcp-Session-Id",
        r#""id":"r","result":{"contents":[{"uri":"note://a","text":"a note""#,
        "\n202 \n",
        "the body is not a single JSON-RPC message",
        r#"400 {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the body is not valid JSON (it breaks off)"}}"#,
        r#"400 {"jsonrpc":"2.0","id":"m","error":{"code":-32600,"#,
    ] {
        assert!(lines[2].contains(said), "{said}: {}", lines[2]);
    }
}

#[test]
fn a_limit_keeps_further_calls_from_the_server() {
    let calls = [
        "call s count {}",
        "call s count {}",
        "call s count {}",
        "sleep",
    ];
    let more = json!({ "limits": { "max_steps": 2 } });
    let stage = Stage::with(&calls, &faulty(&[]), &more);
    let (ran, recorded) = stage.run(1);
    ran.says("`limits.max_steps` ended the run: 2 tool calls had been made");
    let lines = steps(&recorded);
    assert_eq!(lines[1..3], ["s.count {} ok", "s.count {} ok"]);
    assert!(lines[3].starts_with("assistant: "), "{lines:?}");
    assert_eq!(stage.project.survivors(), [""; 0]);
}
