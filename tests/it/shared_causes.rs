//! Causes of failure that several scenarios have in common, and what the classic preset says, as the program reports them.

use serde_json::{Value, json};

use crate::common::Project;

/// An answer that lists tools under such names.
fn tools(prefix: &str) -> String {
    let tools: Vec<Value> = (["echo", "add", "sum"].iter())
        .map(|it| json!({"name": format!("{prefix}{it}"), "about": "some tool"}))
        .collect();
    format!("text={}", json!({ "tools": tools }))
}

#[test]
fn equal_causes_stand_together_at_the_end() {
    let project = Project::new();
    let calls = |n: usize| [("echo", json!({ "n": n })), ("count", json!({}))];
    let write = |prefix: &str, third: &str| {
        project.faulty("one", &[&tools(prefix)], &calls(1)[..1]);
        project.faulty("two", &[&tools(prefix)], &calls(2)[..1]);
        project.faulty("three", &[third], &calls(3)[..1]);
    };
    write("", "text=fine");
    project.expect(0, &["record"]);
    write("everything:", "tool-error");
    let ran = project.expect(1, &["compare"]);
    ran.says("every `tools/*/name` of `echo` gained `everything:`, such as")
        .says("the server · 2 scenarios, 2 calls: one (0.50), two (0.50)");
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let causes = result["causes"].as_array().unwrap();
    let first = &causes[0];
    assert_eq!(
        first["text"],
        "every `tools/*/name` of `echo` gained `everything:`, such as \"echo\" → \"everything:echo\""
    );
    assert_eq!(first["scenarios"], json!(["one", "two"]));
    assert_eq!(
        (
            &first["kind"],
            &first["whose"],
            &first["fails"],
            &first["calls"]
        ),
        (&json!("answer"), &json!("server"), &json!(true), &json!(2))
    );
    assert_eq!(first["path"], "response/content/0/json/tools/*/name");
    assert_eq!(first["places"][1]["calls"][0]["current"], 1, "{first}");
    assert_eq!(causes[1]["scenarios"], json!(["three"]), "{causes:?}");
    assert!(
        causes[1]["text"]
            .as_str()
            .unwrap()
            .contains("`echo` failed: "),
        "{causes:?}"
    );
    assert_eq!(causes[1]["kind"], "error");
    for scenario in result["scenarios"].as_array().unwrap() {
        let comparison = &scenario["comparison"];
        assert_eq!(
            comparison["reasons"].as_array().unwrap().len(),
            2,
            "{comparison}"
        );
        let band = comparison["band"].as_str().unwrap();
        assert!(["degraded", "broken"].contains(&band), "{band}");
    }
    let index = project.read("reports/latest/index.html");
    let why = index.find("Why it failed").unwrap();
    assert!(why < index.find("All scenarios").unwrap());
    assert!(index[why..].contains("2 scenarios, 2 calls"));
}

/// A scenario of an order system: a lamp or a desk is looked up, ordered, looked at, cancelled.
fn order(number: usize, with_bugs: bool) -> Value {
    let (sku, price) = match (number.is_multiple_of(2), with_bugs) {
        (false, _) => ("desk", 120.0),
        (true, false) => ("lamp", 19.99),
        (true, true) => ("lamp", 24.99),
    };
    let quantity = number % 3 + 1;
    let total = price * f64::from(u32::try_from(quantity).unwrap());
    let order = |status: &str| json!({ "order_id": "ord-4711", "unit_price": price, "total": total, "status": status });
    let seen = |status: &str| {
        let mut seen = order(status);
        if !with_bugs {
            seen["eta"] = json!("three days");
        }
        json!({ "content": [{ "json": seen }] })
    };
    let cancelled = if with_bugs { "open" } else { "cancelled" };
    let search = if with_bugs {
        "find_products"
    } else {
        "search_products"
    };
    let reads = json!({ "read_only_hint": true });
    let mut first = seen("open");
    first["times"] = json!(1);
    let tools = json!([
        { "name": search, "description": "Searches products by words.", "annotations": reads, "responses": [{ "content": [{ "json": [sku] }] }] },
        { "name": "get_product", "annotations": reads, "responses": [{ "content": [{ "json": { "price": price } }] }] },
        { "name": "create_order", "responses": [{ "content": [{ "json": order("open") }] }] },
        { "name": "get_order", "annotations": reads, "responses": [first, seen(cancelled)] },
        { "name": "cancel_order", "responses": [
            if with_bugs {
                json!({ "content": "internal error", "is_error": true })
            } else {
                json!({ "content": [{ "json": { "status": "cancelled" } }] })
            }
        ] },
    ]);
    let all = [
        "search_products",
        "get_product",
        "create_order",
        "get_order",
        "cancel_order",
        "get_order",
    ];
    let made = match number % 5 {
        0 => &all[..1],
        1 => &all[1..2],
        2 => &all[2..4],
        3 => &all[1..6],
        _ => &all[..6],
    };
    let calls: Vec<Value> = made
        .iter()
        .map(|it| json!({ "tool": it, "args": {} }))
        .collect();
    json!({
        "name": format!("Order {number}"),
        "user_intent": "Order something.",
        "servers": { "shop": { "type": "mock" } },
        "expected_trajectory": calls,
        "mcp_interactions": { "shop": { "tools": tools } },
    })
}

#[test]
fn four_bugs_in_many_scenarios_are_four_causes() {
    let project = Project::new();
    let write = |with_bugs| {
        for number in 0..20 {
            project.file(
                &format!("scenarios/s{number:02}.yaml"),
                order(number, with_bugs).to_string(),
            );
        }
    };
    write(false);
    project.expect(0, &["record"]);
    write(true);
    let ran = project.expect(1, &["compare"]);
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let causes = result["causes"].as_array().unwrap();
    let texts: Vec<&str> = causes.iter().filter_map(|it| it["text"].as_str()).collect();
    assert_eq!(
        texts,
        [
            "`get_order` no longer returns `eta` (was \"three days\")",
            "`get_product` returned a different `price`: 19.99 → 24.99",
            "`cancel_order` failed: internal error",
            "tool `search_products` was renamed to `find_products`",
        ],
        "{ran:#?}"
    );
    // Those that do not use the tool are no concern of that.
    assert_eq!(causes[3]["scenarios"].as_array().unwrap().len(), 8);
    let beneath = |cause: usize| causes[cause]["follows"].to_string();
    assert!(
        beneath(1).contains("`unit_price`: 19.99 → 24.99 (the same value)"),
        "{}",
        beneath(1)
    );
    assert!(
        beneath(1).contains("`total`: 39.98 → 49.98 (computed from it)"),
        "{}",
        beneath(1)
    );
    assert!(beneath(2).contains("(after it failed)"), "{}", beneath(2));
    // Every scenario that fails for one of them is named there, those too that never ask for the price.
    assert_eq!(
        causes[1]["scenarios"],
        json!(["s02", "s04", "s06", "s08", "s12", "s14", "s16", "s18"])
    );
}

#[test]
fn an_annotation_is_where_the_first_failing_call_is_asked_for() {
    let project = Project::new();
    let write = |sky: &str| {
        for name in ["a", "b"] {
            let text = format!(
                "name: {name}\nservers: {{ w: {{ type: mock }} }}\nagent:\n  kind: scripted\n  calls:\n    - {{ tool: f, args: {{}} }}\n    \
                 - {{ tool: g, args: {{}} }}\nmcp_interactions:\n  w:\n    tools:\n      \
                 - {{ name: f, annotations: {{ read_only_hint: true }}, responses: [{{ content: same }}] }}\n      \
                 - {{ name: g, annotations: {{ read_only_hint: true }}, responses: [{{ content: [{{ json: {{ sky: {sky} }} }}] }}] }}\n"
            );
            project.file(&format!("scenarios/{name}.yaml"), text);
        }
    };
    write("rain");
    project.expect(0, &["record"]);
    write("sun");
    project.expect(1, &["compare", "--report", "github=g.txt"]);
    let lines = project.read("g.txt");
    let errors: Vec<&str> = lines
        .lines()
        .filter(|it| it.starts_with("::error"))
        .collect();
    assert_eq!(errors.len(), 1, "{lines}");
    assert!(
        errors[0].starts_with("::error file=scenarios/a.yaml,line=7,title=a%2C b::`g`"),
        "{lines}"
    );
    assert!(
        errors[0].contains("2 scenarios%2C 2 calls") || errors[0].contains("2 scenarios, 2 calls")
    );
}

#[test]
fn a_classic_score_passes_with_what_it_does_not_look_at_and_fails_with_failed_calls() {
    let project = Project::new();
    let write = |fault: &str| {
        let preset = json!({ "scoring": { "preset": "classic" } });
        project.faulty_with("s", &[fault], &[("echo", json!({ "n": 1 }))], &preset);
    };
    write("text=balance 1000");
    project.expect(0, &["record"]);
    write("text=balance -1000");
    let ran = project.expect(0, &["compare"]);
    ran.says("scored by the preset `classic`")
        .says("answers (1 differs)");
    ran.says_not("answered the same")
        .says_not("the same answer");
    let result = project.read("reports/latest/result.json");
    assert!(!result.contains("answered the same"), "{result}");
    write("tool-error");
    let ran = project.expect(1, &["compare"]);
    ran.says("0.50");
}

#[test]
fn every_place_of_an_answer_is_shown_with_all_calls_that_it_changed_in() {
    let project = Project::new();
    let call = |c: usize| json!({ "tool": "f", "args": { "c": c } });
    let scenario = json!({
        "name": "D",
        "servers": { "w": { "type": "mock" } },
        "expected_trajectory": [call(1), call(2), call(3)],
        "mcp_interactions": { "w": { "tools": [
            { "name": "f", "annotations": { "read_only_hint": true }, "responses": [{ "content": [{ "json": { "sky": "rain", "degrees": 14 } }] }] },
        ] } },
    });
    project.file("scenarios/d.yaml", scenario.to_string());
    project.expect(0, &["record"]);
    project.edit("scenarios/d.yaml", "\"rain\"", "\"sun\"");
    project.edit("scenarios/d.yaml", "14", "15");
    let ran = project.expect(1, &["compare", "--report", "markdown=m.md"]);
    ran.says("different `sky`: \"rain\" → \"sun\"")
        .says("different `degrees`: 14 → 15");
    assert_eq!(
        ran.stdout
            .matches("scenarios/d.yaml · calls 1, 2, 3")
            .count(),
        2,
        "{}",
        ran.stdout
    );
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let counts: Vec<&Value> = (result["causes"].as_array().unwrap().iter())
        .map(|it| &it["calls"])
        .collect();
    assert_eq!(counts, [3, 3]);
}

/// Scenarios over one server of seventeen tools; each calls two of them.
fn hinted(project: &Project, hints: &Value, more: Option<&Value>) {
    for number in 0..3_usize {
        let tools: Vec<Value> = (0..17)
            .map(|at| {
                json!({
                    "name": format!("tool_{at}"),
                    "annotations": hints,
                    "responses": [{ "content": "fine" }],
                })
            })
            .chain(more.cloned())
            .collect();
        let call = |at: usize| json!({ "tool": format!("tool_{at}"), "args": {} });
        let scenario = json!({
            "name": format!("Scenario {number}"),
            "servers": { "w": { "type": "mock" } },
            "expected_trajectory": [call(number), call(number + 1)],
            "mcp_interactions": { "w": { "tools": tools } },
        });
        project.file(&format!("scenarios/s{number}.yaml"), scenario.to_string());
    }
}

#[test]
fn hints_that_many_tools_lost_are_one_cause() {
    let project = Project::new();
    let hints = json!({
        "read_only_hint": true, "destructive_hint": false, "idempotent_hint": true, "open_world_hint": false,
    });
    hinted(&project, &hints, None);
    project.expect(0, &["record"]);
    hinted(&project, &json!({ "read_only_hint": true }), None);
    project.expect(0, &["compare"]);
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let [cause] = result["causes"].as_array().unwrap().as_slice() else {
        panic!("{:#}", result["causes"]);
    };
    assert_eq!(
        cause["text"],
        "the annotations of `tool_0`, `tool_1`, `tool_10` and 14 other tools changed"
    );
    assert_eq!(
        cause["follows"],
        json!([
            "`destructiveHint`: false → nothing",
            "`idempotentHint`: true → nothing",
            "`openWorldHint`: false → nothing",
        ])
    );
    assert_eq!(cause["scenarios"], json!(["s0", "s1", "s2"]));
}

#[test]
fn a_tool_that_nobody_uses_changes_no_scenario() {
    let project = Project::new();
    let hints = json!({ "read_only_hint": true });
    let extra = json!({ "name": "extra", "responses": [{ "content": "more" }] });
    hinted(&project, &hints, None);
    project.expect(0, &["record"]);
    hinted(&project, &hints, Some(&extra));
    let ran = project.expect(0, &["compare"]);
    ran.says("tool `extra` is new")
        .says("3 scenarios: s0, s1, s2")
        .says("3/3 tests passed")
        .says_not("with changes");
    assert_eq!(ran.stdout.matches("`extra`").count(), 1, "{}", ran.stdout);
    project.expect(0, &["review", "--list"]).says_not("extra");
    // Where nothing may change, it is one failure that can be accepted.
    let ran = project.expect(1, &["compare", "--strict"]);
    assert_eq!(ran.stdout.matches("`extra`").count(), 1, "{}", ran.stdout);
    project.expect(0, &["review", "--accept-all"]);
    project
        .expect(0, &["compare", "--strict"])
        .says_not("extra");
}

#[test]
fn a_renamed_tool_is_shown_with_the_line_that_calls_it() {
    let project = Project::new();
    let write = |name: &str| {
        let text = format!(
            "name: Life\nservers: {{ w: {{ type: mock }} }}\nagent:\n  kind: scripted\n  calls:\n    - {{ tool: word_count, args: {{}} }}\n\
             mcp_interactions:\n  w:\n    tools:\n      - {{ name: {name}, description: Counts words, responses: [{{ content: \"3\" }}] }}\n"
        );
        project.file("scenarios/life.yaml", text);
    };
    write("word_count");
    project.expect(0, &["record"]);
    write("count_words");
    let ran = project.expect(1, &["compare"]);
    ran.says("tool `word_count` was renamed to `count_words`")
        .says("→ scenarios/life.yaml:6 calls `word_count`; the tool is now `count_words`")
        .says("(refused by the new catalogue)");
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let comparison = &result["scenarios"][0]["comparison"];
    let renamed =
        json!({ "server": "w", "tool": "word_count", "change": { "renamed": "count_words" } });
    assert_eq!(comparison["changes"][1]["code"]["catalogue"], renamed);
    assert_eq!(
        comparison["changes"][0]["follows"],
        json!({ "change": 1, "how": "refused" })
    );
    assert_eq!(
        comparison["losses"][0]["code"],
        json!({ "answer": "became an error" })
    );
    assert_eq!(result["causes"].as_array().unwrap().len(), 1);
}

#[test]
fn what_keeps_all_scenarios_from_running_is_one_cause() {
    let project = Project::new();
    for name in ["a", "b", "c"] {
        let text = format!(
            "name: {name}\nservers: {{ w: {{ command: no-such-program-of-ours }} }}\nexpected_trajectory: []\n"
        );
        project.file(&format!("scenarios/{name}.yaml"), text);
    }
    project.expect(3, &["run"]);
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    assert_eq!(
        result["causes"].as_array().unwrap().len(),
        1,
        "{:#}",
        result["causes"]
    );
    project.expect(3, &["compare"]);
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    assert_eq!(
        result["causes"].as_array().unwrap().len(),
        1,
        "{:#}",
        result["causes"]
    );
}

#[test]
fn tools_that_fail_alike_are_all_named_and_an_end_belongs_to_what_brought_it_about() {
    let project = Project::new();
    let write = |of_n: &str, answers: [&str; 3]| {
        let tool = |at: usize, name: &str| {
            let is_error = answers[at] != "fine";
            json!({
                "name": name,
                "input_schema": { "type": "object", "properties": { "n": { "type": of_n } } },
                "responses": [{ "content": answers[at], "is_error": is_error }],
            })
        };
        let call = |name: &str, is_critical: bool| json!({ "tool": name, "args": { "n": "1" }, "critical": is_critical });
        let scenario = json!({
            "name": "A",
            "servers": { "w": { "type": "mock" } },
            "agent": { "kind": "scripted", "calls": [call("get", false), call("put", false), call("end", true), call("get", false)] },
            "mcp_interactions": { "w": { "tools": [tool(0, "get"), tool(1, "put"), tool(2, "end")] } },
        });
        project.file("scenarios/a.yaml", scenario.to_string());
    };
    let failing = || {
        let result: Value =
            serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
        let causes = result["causes"].as_array().unwrap().iter();
        let failing: Vec<String> = causes
            .filter(|it| it["fails"] == true)
            .map(|it| it["text"].as_str().unwrap().to_owned())
            .collect();
        failing
    };
    write("string", ["fine"; 3]);
    project.expect(0, &["record"]);
    write("string", ["HTTP 404", "HTTP 500", "fine"]);
    project.expect(1, &["compare"]);
    assert_eq!(failing(), ["`get` and `put` failed, such as HTTP 404"]);
    write("integer", ["fine", "fine", "n is no integer"]);
    project.expect(1, &["compare"]);
    assert_eq!(
        failing(),
        ["parameter `n` of `end`, `get` and `put` became an integer: string → integer"]
    );
}
