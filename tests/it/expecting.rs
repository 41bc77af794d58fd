//! The expectations of a scenario: they are checked, and what is not checked is said to be unchecked.

use serde_json::{Value, json};

use crate::common::{Project, Ran, small_agent};

/// Two mock servers with tools that answer, fail, and say in words alone that they failed.
const SERVERS: &str = r#"
servers: { desk: { type: mock }, store: { type: mock } }
mcp_interactions:
  desk:
    tools:
      - name: echo
        description: Says it again
        input_schema: { type: object, properties: { message: { type: string }, loud: { type: boolean } } }
        responses: [{ content: "you said {{args.message}}" }]
      - name: fail
        responses: [{ content: the disk is on fire, is_error: true }]
      - name: say_error
        responses: [{ content: [{ type: text, json: { error: no such server, code: 404 } }] }]
      - { name: both, responses: [{ content: from the desk }] }
  store:
    tools:
      - name: add
        description: Adds two numbers
        input_schema: { type: object, properties: { a: { type: number }, b: { type: number } } }
        responses: [{ content: the sum is 3 }]
      - name: getResourceLinks
        description: Returns many links
        input_schema: { type: object, properties: { count: { type: number } } }
        responses: [{ content: links }]
      - { name: both, responses: [{ content: from the store }] }
"#;

/// A scenario `s` with these lines, over both servers.
fn scenario(project: &Project, lines: &str) {
    let text = format!("name: s\nagent: {{ kind: scripted }}\n{lines}\n{SERVERS}");
    project.file("scenarios/s.yaml", text);
}

fn project(lines: &str) -> Project {
    let project = Project::new();
    scenario(&project, lines);
    project
}

fn checks(result: &Value) -> Vec<(String, &'static str)> {
    let checks = result["scenarios"][0]["checks"].as_array().unwrap().iter();
    checks
        .map(|it| {
            let state = match (it["passed"] == true, it["unchecked"] == true) {
                (true, false) => "met",
                (false, true) => "unchecked",
                (false, false) => "not met",
                (true, true) => panic!("{it}"),
            };
            (it["name"].as_str().unwrap().to_owned(), state)
        })
        .collect()
}

#[track_caller]
fn states(result: &Value, expected: &[(&str, &str)]) {
    let found = checks(result);
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|(name, it)| (name.as_str(), *it))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_failed_call_is_no_success() {
    let misspelt = "expected_trajectory: [{ tool: mcp__desk__ecko, args: { message: hello } }, { tool: mcp__desk__echo, args: { message: hello } }]\nsuccess_criteria: [hello]";
    let project = project(misspelt);
    for command in ["run", "record"] {
        let ran = project.expect(1, &[command]);
        ran.says("ecko`")
            .says("lists no tool of that name; nearest: `echo`");
    }
    assert!(!project.path("baselines").exists());
    project
        .expect(0, &["record", "--allow-failing"])
        .says("recorded, failing")
        .says("call 1 of `mcp__desk__ecko` failed")
        .says("1/1 tests recorded (1 failing)");
    let page = project.read("reports/latest/s.html");
    assert!(page.contains("kept, and failing"));
    project.expect(0, &["list"]).says(", failing");
    let listed = project.result(0, &["list"]);
    assert!(
        listed["scenarios"][0]["failing"][0]
            .as_str()
            .unwrap()
            .contains("ecko")
    );
    // It fails as it did when it was accepted.
    project.expect(0, &["compare"]);
}

#[test]
fn a_call_that_is_meant_to_fail_has_to() {
    let cases = [
        ("{ tool: fail, is_error: true }", 0),
        ("{ tool: fail }", 1),
        ("{ tool: mcp__desk__echo, is_error: true }", 1),
        // Servers that say so in words alone have failed, too.
        ("{ tool: say_error, is_error: true }", 0),
        ("{ tool: say_error }", 0),
        ("{ tool: mcp__desk__nothing, is_error: true }", 0),
    ];
    for (call, code) in cases {
        let expected = format!("expected_trajectory: [{{ tool: both2 }}, {call}]");
        let listed = format!("agent: {{ kind: scripted, calls: [{call}] }}");
        for lines in [expected.replace("{ tool: both2 }, ", ""), listed] {
            let project = Project::new();
            project.file("scenarios/s.yaml", format!("name: s\n{lines}\n{SERVERS}"));
            for command in ["run", "record"] {
                let ran = project.run(&[command]);
                assert_eq!(ran.code, code, "{command} {lines}: {ran:#?}");
                if code == 1 {
                    ran.says("call 1");
                }
            }
        }
    }
}

#[test]
fn answers_that_look_like_errors_are_counted() {
    let lines = "expected_trajectory: [{ tool: say_error }, { tool: echo, args: { message: a } }, { tool: say_error }]";
    let ran = project(lines).expect(0, &["record"]);
    ran.says("2 of 3 answers look like errors")
        .says("no such server");
    let off = format!("{lines}\nscoring: {{ errors: false }}");
    project(&off)
        .expect(0, &["record"])
        .says_not("look like errors");
    let more = format!("{lines}\nscoring: {{ errors: [{{ text: you said }}] }}");
    project(&more)
        .expect(0, &["record"])
        .says("3 of 3 answers look like errors");
}

#[test]
fn criteria_are_met_by_answers_and_tools_and_never_by_what_was_sent() {
    let lines = "user_intent: a question about secrets\nexpected_trajectory: [{ tool: add, args: { a: 12345, b: 2 } }]\n\
        success_criteria: [the sum, mcp__store__add, '12345', secrets, text, { text: SUM IS 3 }, { tool_called: add }, { tool_called: mcp__store__add }, { tool_never_called: both }, \
        Agent uses the appropriate tool]";
    let project = project(lines);
    let met = |recorded: &'static str| {
        [
            ("the sum", "met"),
            ("mcp__store__add", "met"),
            ("12345", recorded),
            ("secrets", recorded),
            ("text", recorded),
            ("text: SUM IS 3", "met"),
            ("tool_called: add", "met"),
            ("tool_called: mcp__store__add", "met"),
            ("tool_never_called: both", "met"),
            ("Agent uses the appropriate tool", "unchecked"),
        ]
    };
    states(&project.result(1, &["run"]), &met("not met"));
    states(&project.result(0, &["record"]), &met("unchecked"));
    states(&project.result(0, &["compare"]), &met("unchecked"));
    project
        .expect(0, &["list"])
        .says("4 of 10 criteria unchecked");
    let ran = project.expect(0, &["compare"]);
    ran.says("unchecked: Agent uses the appropriate tool")
        .says("4 criteria were not checked, in 1 scenario");
    assert!(
        project
            .read("reports/latest/s.html")
            .contains("unchecked</span> 12345")
    );
}

#[test]
fn what_the_recording_met_gates_from_then_on() {
    let lines = "expected_trajectory: [{ tool: add }]\nsuccess_criteria: [the sum is 3, it was added up for good]\nscoring: { responses: ignore }";
    let project = project(lines);
    project.expect(0, &["record"]);
    project.edit(
        "scenarios/s.yaml",
        "the sum is 3 }",
        "it was added up for good }",
    );
    let result = project.result(1, &["compare"]);
    states(
        &result,
        &[
            ("the sum is 3", "not met"),
            ("it was added up for good", "unchecked"),
        ],
    );
    project
        .expect(1, &["compare"])
        .says("recorded again it is checked");
    // A text that is said to be one is demanded, whatever was accepted.
    project.edit(
        "scenarios/s.yaml",
        "[the sum is 3, it",
        "[{ text: the sum is 3 }, it",
    );
    project.expect(1, &["record"]).says("not kept");
    project.expect(0, &["record", "--allow-failing"]);
    project
        .expect(1, &["compare"])
        .says("the scenario expects `text: the sum is 3`: appears nowhere");
}

#[test]
fn a_tool_that_was_never_there_is_no_criterion() {
    let cases = [
        ("tool_called: ecko", "did you mean `echo`?"),
        ("tool_never_called: ecko", "did you mean `echo`?"),
        ("tool_called: mcp__desk__Echo", "did you mean"),
        (
            "tool_never_called: 'desk:echo'",
            "did you mean `mcp__desk__echo`?",
        ),
        (
            "tool_never_called: get_resource_links",
            "did you mean `getResourceLinks`?",
        ),
    ];
    let project = project("expected_trajectory: [{ tool: echo, args: { message: a } }]");
    project.expect(0, &["record"]);
    for (criterion, hint) in cases {
        let lines = format!(
            "expected_trajectory: [{{ tool: echo, args: {{ message: a }} }}]\nsuccess_criteria: [{{ {criterion} }}]"
        );
        scenario(&project, &lines);
        for command in ["run", "record", "compare"] {
            let ran = project.expect(3, &[command]);
            ran.says("no server offers a tool of that name").says(hint);
        }
    }
}

#[test]
fn a_tool_that_was_taken_away_is_a_failed_comparison() {
    let lines = "expected_trajectory: [{ tool: echo, args: { message: a } }, { tool: get-sum, args: { a: 1, b: 2 } }, { tool: echo, args: { message: b } }]\n\
        success_criteria: [{ tool_called: get-sum }, { tool_never_called: erase }]";
    let with_sum = "  store:\n    tools:\n      - name: get-sum\n        description: Returns the sum of two numbers\n        \
        input_schema: { type: object, properties: { a: { type: number }, b: { type: number } } }\n        responses: [{ content: the sum is 3 }]\n      \
        - { name: erase, responses: [{ content: gone }] }\n";
    let project = project(lines);
    project.edit("scenarios/s.yaml", "  store:\n    tools:\n", with_sum);
    project.expect(0, &["record"]);
    scenario(&project, lines);
    let result = project.result(1, &["compare"]);
    let made = &result["scenarios"][0];
    assert_eq!(made["status"], "failed", "{made}");
    assert_eq!(made["current"]["calls"], 3, "the run goes on");
    assert_eq!(
        made["checks"],
        json!([
            { "name": "tool_called: get-sum", "line": 4, "passed": false, "asks_for_more": true, "message": "the tool was not called: no server offers it any more; nearest: `add`" },
            { "name": "tool_never_called: erase", "line": 4, "passed": true, "message": "" },
        ])
    );
    project.expect(1, &["compare"]).says("get-sum");
    // Nobody knows of it without a baseline.
    project
        .expect(3, &["run"])
        .says("no server lists a tool `get-sum`");
}

#[test]
fn an_empty_list_of_expected_calls_means_no_call() {
    let agent = small_agent();
    let with = |lines: &str, calls: &str| {
        let project = Project::new();
        let agent = json!({ "kind": "command", "command": [agent, calls] });
        let lines = format!("name: s\nuser_intent: do nothing\nagent: {agent}\n{lines}\n{SERVERS}");
        project.file("scenarios/s.yaml", lines);
        project
    };
    let call = "call store add {}";
    let quiet = with("expected_trajectory: []", "print");
    quiet.expect(0, &["run"]);
    quiet.expect(0, &["record"]);
    let busy = with("expected_trajectory: []", call);
    for command in ["run", "record"] {
        busy.expect(1, &[command]).says("no tool is called");
    }
    // Without the list, nothing is said about calls.
    with("description: x", call).expect(0, &["run"]);
    // A script without the list has nothing to play.
    project("description: x")
        .expect(2, &["run"])
        .says("nothing to play");
}

#[test]
fn validate_finds_tools_that_mocks_lack_and_scenarios_that_expect_nothing() {
    let add = "expected_trajectory: [{ tool: add }]\nsuccess_criteria: [the sum]";
    let cases = [
        (add, 0, ""),
        (
            "expected_trajectory: [{ tool: ad }]",
            2,
            "no mock has a tool `ad`",
        ),
        (
            "expected_trajectory: [{ tool: mcp__desk__ecko }]",
            2,
            "did you mean `mcp__desk__echo`?",
        ),
        (
            "expected_trajectory: [{ tool: mcp__desk__ecko, is_error: true }]",
            0,
            "",
        ),
        (
            "expected_trajectory: [{ tool: both }]",
            2,
            "write `mcp__desk__both` or `mcp__store__both`",
        ),
        (
            "expected_trajectory: [{ tool: add }]\nsuccess_criteria: [{ tool_called: both }]",
            0,
            "",
        ),
        (
            "expected_trajectory: [{ tool: add }]\nsuccess_criteria: [{ tool_never_called: addd }]",
            2,
            "did you mean `add`?",
        ),
        (
            "expected_trajectory: [{ tool: add }]\nscoring: { reads: [ech] }",
            2,
            "did you mean `echo`?",
        ),
    ];
    for (lines, code, says) in cases {
        let ran: Ran = project(lines).expect(code, &["validate"]);
        ran.says(says).says_not("nothing is expected");
    }
    let calls = "agent: { kind: scripted, calls: [{ tool: add }] }";
    let nothing = [
        (calls, true),
        (
            "agent: { kind: scripted, calls: [{ tool: add }] }\nsuccess_criteria: [Agent uses the appropriate tool]",
            true,
        ),
        (
            "agent: { kind: scripted, calls: [{ tool: add }] }\nsuccess_criteria: [the sum]",
            false,
        ),
        ("agent: { kind: ollama, model: m }\nuser_intent: x", true),
        (
            "agent: { kind: ollama, model: m }\nuser_intent: x\nexpected_trajectory: []",
            false,
        ),
        (
            "agent: { kind: ollama, model: m }\nuser_intent: x\nsuccess_criteria: [{ text: a b c d e }]",
            false,
        ),
    ];
    for (lines, warns) in nothing {
        let project = Project::new();
        project.file("scenarios/s.yaml", format!("name: s\n{lines}\n{SERVERS}"));
        let ran = project.expect(0, &["validate"]);
        assert_eq!(
            ran.all().contains("nothing is expected"),
            warns,
            "{lines}: {ran:#?}"
        );
    }
}

#[test]
fn rules_are_checked_against_the_schemas_of_the_tools() {
    let lines = "expected_trajectory: [{ tool: echo, args: { message: a } }]\nscoring: { args: { mesage: words, loud: exact, add.c: any, ecko.message: any }, reads: [{ tool: echo, args: { noisy: true } }, getresourcelinks] }";
    let project = project(lines);
    for command in ["run", "record", "compare"] {
        let ran = project.expect(0, &[command]);
        ran.says("no tool has an argument `mesage`; did you mean `message`?")
            .says("`add` has no argument `c`")
            .says("no server offers a tool `ecko`; did you mean `echo`?")
            .says("`echo` has no argument `noisy`")
            .says("no server offers a tool `getresourcelinks`; did you mean `getResourceLinks`?")
            .says_not("`loud`");
    }
    project.edit("scenarios/s.yaml", ", getresourcelinks]", "]");
    let ran = project.expect(0, &["validate"]);
    ran.says("no call has an argument `mesage`")
        .says_not("`loud`");
}

#[test]
fn run_words_nothing_as_a_regression() {
    let lines = "agent: { kind: scripted, calls: [{ tool: add, args: { a: 1 } }, { tool: echo, args: { message: x } }, { tool: fail }] }\n\
        expected_trajectory: [{ tool: getResourceLinks }, { tool: add, args: { a: 2 } }, { tool: fail }]";
    let project = Project::new();
    project.file("scenarios/s.yaml", format!("name: s\n{lines}\n{SERVERS}"));
    let ran = project.expect(1, &["run", "-v"]);
    ran.says("expected call 1, mcp__store__getResourceLinks, was not made")
        .says("call 2, mcp__desk__echo, was made and is not expected")
        .says("call 1, mcp__store__add, differs from the expected call: argument `a`: expected 2, got 1")
        .says("call 3 of `mcp__desk__fail` succeeds: the disk is on fire");
    let words = [
        "asked the same",
        "changed",
        "another answer",
        "regression",
        "baseline",
        "any more",
        "worse",
        "became",
    ];
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let printed = format!("{}\n{result:#}", ran.stdout).to_lowercase();
    for word in words {
        let sentences = printed.lines().filter(|it| {
            it.contains(' ')
                && !it.contains("\"changed\":")
                && !it.contains("\"baseline")
                && !it.contains("\"file\"")
        });
        let found: Vec<&str> = sentences.filter(|it| it.contains(word)).collect();
        assert!(found.is_empty(), "{word}: {found:#?}");
    }
}

#[test]
fn a_run_that_a_critical_call_ended_says_so() {
    let lines = "expected_trajectory: [{ tool: add }, { tool: echo, args: { message: a } }]";
    let project = project(lines);
    project.expect(0, &["record"]);
    project.edit(
        "scenarios/s.yaml",
        "responses: [{ content: the sum is 3 }]",
        "responses: [{ content: broken, is_error: true }]",
    );
    let result = project.result(1, &["compare"]);
    let words = result["scenarios"][0]["in_words"].as_str().unwrap();
    assert!(
        words.contains("The run ended early with a call that failed"),
        "{words}"
    );
    assert!(
        !words.contains("differently; where") && !words.contains("script asked differently"),
        "{words}"
    );
    let page = project.read("reports/latest/s.html");
    assert!(page.contains("Not made, because the run had ended"));
}
