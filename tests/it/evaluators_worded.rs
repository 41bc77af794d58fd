//! The words on evaluators: the right ones, and where they stand.

use serde_json::json;

use crate::common::Project;

/// A shop that refuses to pay order 9.
const SHOP: &str = r"
name: Shop
servers: { shop: { type: mock } }
agent:
  calls:
    - { tool: pay, args: { order: 7 } }
    - { tool: pay, args: { order: 9 }, is_error: true }
mcp_interactions:
  shop:
    tools:
      - name: pay
        responses:
          - { match: { order: 9 }, is_error: true, content: There is no order 9 }
          - { content: Order is paid }
";

fn shop(more: &str) -> Project {
    let project = Project::new();
    project.file("scenarios/shop.yaml", format!("{SHOP}{more}\n"));
    project
}

#[test]
fn an_error_that_was_meant_is_no_error_and_is_shown() {
    let project = shop("evaluators: [{ type: trace-no-errors }]");
    let found = project.result(0, &["run"])["scenarios"][0]["evaluators"][0].clone();
    assert_eq!(found["status"], "passed");
    assert_eq!(
        found["message"],
        "2 calls, no error but 1 error that was meant"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn whatever_speaks_against_a_run_has_its_line() {
    let line = |more: &str, code: i32| -> String {
        let project = shop(more);
        let ran = project.expect(code, &["run", "--format", "github"]);
        let (_, place) = ran.stdout.split_once("::error file=").unwrap();
        let (place, _) = place.split_once(",title=").unwrap();
        place.replace(",line=", ":")
    };
    let evaluators = "evaluators:\n  - { type: text, contains: paid }\n";
    let below = SHOP.lines().count() + 3;
    for (evaluator, code) in [
        ("{ type: text, contains: nowhere }", 1),
        // One that cannot judge, too.
        (r#"{ type: command, command: ["false"] }"#, 3),
        (
            r#"{ type: command, command: [sh, -c, "cat > /dev/null; echo '[true]'"] }"#,
            3,
        ),
    ] {
        let place = line(&format!("{evaluators}  - {evaluator}"), code);
        assert_eq!(place, format!("scenarios/shop.yaml:{below}"), "{evaluator}");
    }
    let place = line("success_criteria:\n  - text: nowhere\n", 1);
    assert_eq!(place, format!("scenarios/shop.yaml:{}", below - 1));
    let project = shop("");
    let calls = "agent:\n  calls:\n    - { tool: pay, args: { order: 7 } }";
    let expected =
        "expected_trajectory:\n    - { tool: pay, args: { order: 7 }, expect: { text: refused } }";
    project.edit("scenarios/shop.yaml", calls, expected);
    project.edit(
        "scenarios/shop.yaml",
        ", is_error: true }",
        ", expect: { is_error: true } }",
    );
    project
        .expect(1, &["run"])
        .says("the answer to step 1 (`pay`) is not as expected: call 1: the answer does not hold `refused`");
}

#[test]
fn an_explicit_allow_empty_wins_and_is_advised_against() {
    let scenario = |allow_empty: &str| {
        let project = Project::new();
        let program = env!("CARGO_BIN_EXE_mcp-eval");
        project.file("llm.yaml", "llm_interactions: [{ text: Nothing to do. }]");
        project.file(
            "scenarios/s.yaml",
            format!(
                "name: S\nuser_intent: Do nothing.\nservers: {{ shop: {{ type: mock }} }}\n\
                 agent: {{ kind: command, command: [{program:?}, --version] }}\nexpected_trajectory: []\n\
                 evaluators: [{{ type: trace-no-errors{allow_empty} }}]\n\
                 mcp_interactions: {{ shop: {{ tools: [{{ name: pay, responses: [{{ content: paid }}] }}] }} }}\n"
            ),
        );
        project
    };
    for (allow_empty, code, is_warned) in [
        ("", 0, false),
        (", allow_empty: true", 0, false),
        (", allow_empty: false", 1, true),
    ] {
        let project = scenario(allow_empty);
        project.expect(code, &["run"]);
        let warned = project.expect(0, &["validate"]).all();
        let warning = "`allow_empty: false` fails a run that calls nothing";
        assert_eq!(
            warned.contains(warning),
            is_warned,
            "{allow_empty}: {warned}"
        );
    }
}

#[test]
fn without_weights_no_score_reaches_a_threshold_and_that_is_why() {
    let project =
        shop("evaluation_threshold: 0.5\nevaluators: [{ type: trace-no-errors, weight: 0 }]");
    project
        .expect(3, &["run"])
        .says("the weights of all gating evaluators that have judged the run are 0")
        .says("`evaluation_threshold` 0.5")
        .says_not("no gating evaluator has judged");
}

#[test]
fn an_evaluator_of_defaults_says_where_it_stands() {
    let project = shop("evaluators: [{ type: within, steps: 1 }]");
    project.file(
        "scenarios/_defaults.yaml",
        "tags: [shop]\nevaluators:\n  - { type: text, contains: nowhere }\n  - { type: text, contains: never, role: advisory }\n",
    );
    let result = project.result(
        1,
        &[
            "run",
            "--report",
            "html",
            "--report",
            "junit=junit.xml",
            "--report",
            "markdown=summary.md",
        ],
    );
    let found = &result["scenarios"][0]["evaluators"];
    assert_eq!(found[0]["said_in"], "scenarios/_defaults.yaml:3");
    assert_eq!(found[0]["line"], json!(null));
    assert_eq!(found[1]["said_in"], "scenarios/_defaults.yaml:4");
    assert_eq!(found[2]["said_in"], json!(null));
    assert!(found[2]["line"].is_number(), "{found}");
    let place = "(scenarios/_defaults.yaml:3)";
    project.expect(1, &["run", "-v"]).says(place);
    for report in ["junit.xml", "summary.md"] {
        let text = project.read(report);
        assert!(text.contains(place), "{report}: {text}");
    }
    let page = project.read("reports/latest/shop.html");
    assert!(page.contains("scenarios/_defaults.yaml:4"), "{page}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_misspelt_server_of_a_file_is_found_before_the_run() {
    for (server, says) in [
        ("shp", "did you mean `shop`?"),
        ("somewhere_else", "there is shop"),
    ] {
        for evaluator in [
            json!({ "type": "file", "path": "a.txt", "server": server }),
            json!({ "type": "not", "of": { "type": "schema-validate", "path": "a.txt", "server": server, "schema": {} } }),
        ] {
            let project = shop(&format!("evaluators: [{evaluator}]"));
            let ran = project.expect(2, &["validate"]);
            ran.says(&format!("no server is named `{server}`"))
                .says(says);
            project.expect(3, &["run"]).says("there is no server");
        }
    }
    let right = json!({ "type": "file", "path": "a.txt", "server": "shop" });
    shop(&format!("evaluators: [{right}]")).expect(0, &["validate"]);
}
