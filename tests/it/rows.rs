//! The rows of a data set: each value is kept as it is written, or is an error with its place; nothing is lost without a word.

use serde_json::Value;

use crate::common::Project;

const SHOP: &str = r#"
name: Shop
servers: { shop: { type: mock } }
mcp_interactions:
  shop:
    tools:
      - { name: pay, responses: [{ content: Order 7 is paid }] }
expected_trajectory:
  - { tool: pay, args: { order: "{{row.order}}" } }
"#;

/// A scenario that pays the `order` of each row, with more keys.
fn project(more: &str) -> Project {
    let project = Project::new();
    project.file("scenarios/t.yaml", format!("{SHOP}{more}\n"));
    project
}

/// What was sent as `order` in each scenario, as JSON.
fn sent(project: &Project, arguments: &[&str]) -> Vec<String> {
    let result = project.result(0, arguments);
    let run = result["run_id"].as_str().unwrap();
    let scenarios = result["scenarios"].as_array().unwrap().iter();
    let sent = scenarios.map(|it| {
        let id = it["id"].as_str().unwrap();
        let run = project.read(format!(".mcp-eval/runs/{run}/current/{id}.json"));
        let run: Value = serde_json::from_str(&run).unwrap();
        let mut steps = run["steps"].as_array().unwrap().iter();
        let call = steps.find(|it| it["kind"] == "tool_call").unwrap();
        call["arguments"]["order"].to_string()
    });
    sent.collect()
}

#[test]
fn a_wanted_text_that_becomes_empty_is_an_error_with_its_row() {
    for (evaluator, said) in [
        (
            "{ type: text, contains: '{{row.want}}' }",
            "must not be empty",
        ),
        (
            "{ type: text, starts_with: '{{row.want}}' }",
            "must not be empty",
        ),
        ("{ type: text, regex: '{{row.want}}' }", "must not be empty"),
        (
            "{ type: not, of: { type: text, contains: '{{row.want}}' } }",
            "must not be empty",
        ),
        (
            "{ type: file, path: left.txt, regex: '{{row.want}}' }",
            "must not be empty",
        ),
        (
            "{ type: tool-calls, required: [{ tool: pay, answer: { path: $, matches: '{{row.want}}' } }] }",
            "must not be empty",
        ),
        (
            "{ type: tool-calls, required: [{ tool: pay, args: { order: '{{row.want}}' }, match: regex }] }",
            "an empty regular expression finds something in every text; so it is for row `b`",
        ),
    ] {
        let project = project(&format!("dataset: rows.csv\nevaluators: [{evaluator}]"));
        project.file(
            "scenarios/rows.csv",
            "id,order,want\na,7,paid\nb,7,\nc,7,paid\n",
        );
        for command in ["validate", "run"] {
            let ran = project.expect(2, &[command]);
            ran.says(said)
                .says(" row `b`, scenarios/rows.csv:3:1")
                .says("scenarios/t.yaml:11:");
        }
    }
    // The same is refused where it is written so.
    for evaluator in [
        "{ type: text, regex: '' }",
        "{ type: text, contains: '' }",
        "{ type: tool-calls, required: [{ tool: pay, args: { order: '' }, match: regex }] }",
    ] {
        let more = format!("dataset: [{{ id: a, order: 7 }}]\nevaluators: [{evaluator}]");
        project(&more).expect(2, &["validate"]).says("empty");
    }
    // A variable tells its name.
    let project = project(
        "variables: { v: paid }\ndataset: [{ id: a, order: 7 }]\nevaluators: [{ type: text, contains: '{{v}}' }]",
    );
    project.expect(0, &["validate"]);
    project
        .expect(2, &["run", "--var", "v="])
        .says("must not be empty; filled in from `v`");
}

#[test]
fn an_empty_text_is_equal_to_an_answer_that_says_nothing_alone() {
    let more = "dataset: [{ id: a, order: 7, want: '' }]\nevaluators: [{ type: text, equals: '{{row.want}}' }]";
    let project = project(more);
    project
        .expect(1, &["run"])
        .says("nothing in the answers equals");
    project.edit("scenarios/t.yaml", "Order 7 is paid", "''");
    project.expect(0, &["run"]);
}

#[test]
fn null_is_no_text_and_stays_a_value() {
    let rows = "dataset: rows.jsonl\n";
    for text in [
        "evaluators: [{ type: text, contains: '{{row.want}}' }]",
        "evaluators: [{ type: text, equals: 'so {{row.want}}' }]",
        "success_criteria: ['{{row.want}} it is']",
        "description: '{{row.want}}'",
        "user_intent: Pay {{row.want}}",
    ] {
        let project = project(&format!("{rows}{text}"));
        project.file(
            "scenarios/rows.jsonl",
            r#"{"id":"a","order":7,"want":null}"#,
        );
        project.expect(2, &["validate"]).says(
            "`null` is not text; filled in from `row.want` of row `a`, scenarios/rows.jsonl:1:1",
        );
    }
    let project = project(rows);
    project.file("scenarios/rows.jsonl", r#"{"id":"a","order":null}"#);
    assert_eq!(sent(&project, &["run"]), ["null"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn tables_that_would_lose_something_are_refused() {
    for (text, said) in [
        (
            "id,order,note\na,7,\"two spoons\nb,7,x\nc,7,y\n",
            "rows.csv:2:5: error: the quote that opens here is never closed",
        ),
        (
            "id,order,\"note\na,7,x\n",
            "rows.csv:1:10: error: the quote that opens here is never closed",
        ),
        (
            "id,order,note\na,7,\"two\"spoons\n",
            "rows.csv:2:10: error: something follows the quote",
        ),
        (
            "id,order,note\na,7,\"two spoons\nb,7,\"x\"\n",
            "rows.csv:3:6: error: something follows the quote",
        ),
        (
            "id,order,note\na,7,5\" nail\n",
            "rows.csv:2:6: error: a quote is within a cell",
        ),
        (
            "id,order,note\na,7, \"b, c\"\n",
            "rows.csv:2:6: error: a quote is within a cell",
        ),
        (
            "id,order\r\n\r\na,7\r\nb,7,8\r\n",
            "rows.csv:4:1: error: has 3 cells, and the first line names 2 columns",
        ),
        (
            "order\na\n\nb\n",
            "rows.csv:3:1: error: a blank line is not a row",
        ),
        ("id,order\na,\0\n", "holds a NUL byte"),
        ("id,order, id\na,7,b\n", "two columns are called `id`"),
    ] {
        let project = project("dataset: rows.csv");
        project.file("scenarios/rows.csv", text);
        project.expect(2, &["validate"]).says(said);
        project.expect(2, &["run"]).says(said);
    }
    // Spreadsheets leave rows of nothing but commas behind.
    let sheet = project("dataset: rows.csv");
    sheet.file("scenarios/rows.csv", "id,order\na,7\n,\nb,8\n,\n , \n");
    sheet
        .expect(0, &["validate"])
        .says("rows.csv:3:1: warning: 3 empty rows are left out");
    // What is written by the rules is read, and its lines are counted as the file has them.
    let project = project("dataset: rows.csv");
    project.file(
        "scenarios/rows.csv",
        "\n\"id\",order\r\n\r\na,\"5\"\" nail,\nlong\"\r\n\r\nb,\"\"\r\n\r\n",
    );
    assert_eq!(sent(&project, &["run"]), [r#""5\" nail,\nlong""#, r#""""#]);
    project.edit("scenarios/rows.csv", "b,", "../b,");
    project
        .expect(2, &["validate"])
        .says("scenarios/rows.csv:7:1: error: `../b` is not an id");
    let one = self::project("dataset: { file: rows.csv, id: order }");
    one.file("scenarios/rows.csv", "order\na\n\"b\"\n\n\n");
    assert_eq!(sent(&one, &["run"]), [r#""a""#, r#""b""#]);
}

#[test]
fn cells_become_numbers_only_where_that_changes_nothing() {
    let project = project("dataset: rows.csv");
    let cells = [
        ("123456789012345678901", r#""123456789012345678901""#),
        ("1.10", r#""1.10""#),
        ("0.12345678901234567890", r#""0.12345678901234567890""#),
        ("007", r#""007""#),
        ("+1", r#""+1""#),
        ("1e5", r#""1e5""#),
        ("NaN", r#""NaN""#),
        ("-0", r#""-0""#),
        ("True", r#""True""#),
        (" 1", r#"" 1""#),
        ("null", r#""null""#),
        ("18446744073709551615", "18446744073709551615"),
        ("-12", "-12"),
        ("1.5", "1.5"),
        ("true", "true"),
    ];
    let rows = cells.map(|(cell, _)| format!("{cell}\n")).concat();
    project.file("scenarios/rows.csv", format!("order\n{rows}"));
    assert_eq!(sent(&project, &["run"]), cells.map(|(_, sent)| sent));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn numbers_that_would_lose_digits_are_refused_and_quotes_keep_them() {
    for number in [
        "123456789012345678901",
        "0.12345678901234567890",
        "9007199254740993.0",
        "1e-400",
    ] {
        let json = format!("{{\"id\":\"a\",\"order\":1}}\n{{\"id\":\"b\",\"order\":{number}}}\n");
        let yaml = format!("- {{ id: a, order: 1 }}\n- {{ id: b, order: {number} }}\n");
        for (file, text) in [("rows.jsonl", json), ("data/rows.yaml", yaml)] {
            let project = project(&format!("dataset: {file}"));
            project.file(&format!("scenarios/{file}"), &text);
            let ran = project.expect(2, &["validate"]);
            ran.says(&format!("{file}:2:")).says("put it in quotes");
            let quoted = text.replace(number, &format!("\"{number}\""));
            project.file(&format!("scenarios/{file}"), quoted);
            assert_eq!(
                sent(&project, &["run"]),
                ["1".to_owned(), format!("\"{number}\"")]
            );
        }
        let inline = project(&format!("dataset: [{{ id: a, order: {number} }}]"));
        inline.expect(2, &["validate"]).says("put it in quotes");
        let other = project(&format!(
            "dataset: [{{ id: a, order: 7 }}]\nvariables: {{ v: 1 }}\nenvironments: {{ there: {{ v: {number} }} }}"
        ));
        let there = other.expect(2, &["validate", "--environment", "there"]);
        there.says("put it in quotes");
        let variable = project(&format!(
            "dataset: [{{ id: a, order: 7 }}]\nvariables: {{ v: {number} }}"
        ));
        variable.expect(2, &["validate"]).says("put it in quotes");
    }
    // A value from the command line keeps its digits, too.
    let project = Project::new();
    let text = SHOP.replace("row.order", "v");
    project.file("scenarios/t.yaml", format!("{text}variables: {{ v: 1 }}\n"));
    for (given, arrives) in [
        ("2.5", "2.5"),
        ("0.12345678901234567890", r#""0.12345678901234567890""#),
    ] {
        let sent = sent(&project, &["run", "--var", &format!("v={given}")]);
        assert_eq!(sent, [arrives]);
    }
}

#[test]
fn a_key_that_is_given_twice_is_refused() {
    for (file, text, said) in [
        (
            "rows.jsonl",
            "{\"id\":\"a\",\"order\":7}\n{\"id\":\"b\",\"order\":7,\"order\":8}\n",
            "rows.jsonl:2:27: error: the key `order` is given twice",
        ),
        (
            "rows.jsonl",
            "{\"id\":\"a\",\"order\":[{\"x\":7,\"\\u0078\":8}]}\n",
            "the key `x` is given twice",
        ),
        (
            "rows.yaml",
            "- { id: a, order: 7, order: 8 }\n",
            "rows.yaml:1:22: error: the key `order` is given twice",
        ),
        (
            "rows.jsonl",
            "{\"id\":\"a\",\"order\":}\n",
            "rows.jsonl:1:19: error: is not JSON: expected value",
        ),
    ] {
        let project = project(&format!("dataset: {file}"));
        project.file(&format!("scenarios/{file}"), text);
        project.expect(2, &["validate"]).says(said);
        project.expect(2, &["run"]).says(said);
    }
    project("dataset: [{ id: a, order: 7, order: 8 }]")
        .expect(2, &["validate"])
        .says("the key `order` is given twice");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn evaluators_are_filled_in_before_their_mock_servers_start() {
    let rows = "variables: { v: pa.d }\ndataset: [{ id: a, order: 7, role: advisory, times: 1, w: 0.5, not: false, schema: one }]\n";
    let evaluator = "{ type: text, regex: '{{v}}', role: '{{row.role}}', at_least: '{{row.times}}', weight: '{{row.w}}', not: '{{row.not}}' }";
    let schema = "{ type: tool-calls, required: [{ tool: pay, min: '{{row.times}}', args_schema: '{{row.schema}}.json' }] }";
    let own = project(&format!("{rows}evaluators:\n  - {evaluator}\n  - {schema}"));
    own.file("scenarios/one.json", "{ \"required\": [\"order\"] }");
    own.expect(0, &["validate"]);
    own.expect(0, &["run"]);
    // The same in defaults, which are read before any variable is known.
    let defaults = project(rows);
    defaults.file(
        "scenarios/_defaults.yaml",
        format!("evaluators: [{evaluator}]\n"),
    );
    defaults.expect(0, &["validate"]);
    defaults.expect(0, &["run"]);
    // What comes out wrong is reported with the row.
    let wrong = own;
    for (from, to, said) in [
        (
            "role: advisory",
            "role: sometimes",
            "found `sometimes`; filled in from `row.role` of row `a`, scenarios/t.yaml:",
        ),
        ("role: sometimes", "role: gating", ""),
        (
            "v: pa.d",
            "v: pa(d",
            "`pa(d` is not a regular expression: unclosed group; filled in from `v`",
        ),
        ("v: pa(d", "v: pa.d", ""),
        (
            "schema: one",
            "schema: two",
            "filled in from `row.schema` of row `a`",
        ),
        ("schema: two", "schema: one", ""),
        (
            "times: 1",
            "times: once",
            "expected a whole number, found text; filled in from `row.times`",
        ),
    ] {
        wrong.edit("scenarios/t.yaml", from, to);
        if said.is_empty() {
            wrong.expect(0, &["validate"]);
        } else {
            wrong.expect(2, &["validate"]).says(said);
            wrong.expect(2, &["run"]).says(said);
        }
    }
}

#[test]
fn a_column_that_is_named_where_nothing_is_filled_in_is_an_error() {
    for more in [
        "tags: ['{{row.order}}']",
        "scoring: { ignore: ['{{row.order}}'] }",
        "evaluators: [{ type: schema-validate, schema: { const: '{{row.order}}' } }]",
    ] {
        let project = project(&format!("dataset: [{{ id: a, order: 7 }}]\n{more}"));
        project
            .expect(2, &["validate"])
            .says("`row.order` is not filled in here");
    }
    // A misspelt column is that alone.
    project("dataset: [{ id: a, ordr: 7 }]")
        .expect(2, &["validate"])
        .says("did you mean `row.ordr`?")
        .says("1 error,")
        .says_not("is not filled in");
    // A value that looks like a reference is none.
    let own = project("dataset: [{ id: a, order: '{{row.order}}' }]\nx-note: '{{row.order}}'");
    assert_eq!(sent(&own, &["run"]), [r#""{{row.order}}""#]);
    // An expected text takes a number as text.
    let expected = project("dataset: [{ id: a, order: 7 }]");
    expected.edit(
        "scenarios/t.yaml",
        "\"{{row.order}}\" }",
        "\"{{row.order}}\" }, expect: { text: \"{{row.order}}\" }",
    );
    expected.expect(0, &["run"]);
}

#[test]
fn what_a_scenario_names_beside_it_is_no_scenario() {
    let project = project(
        "dataset: cities.yaml\nevaluators: [{ type: llm-judge, rubric: tone.yaml, role: advisory }]\njudge: { provider: ollama, model: m }",
    );
    project.file(
        "scenarios/cities.yaml",
        "# Cities\n- { id: a, order: 1 }\n- { id: b, order: 2 }\n",
    );
    project.file("scenarios/tone.yaml", "dimensions: [{ name: kind }]\n");
    project
        .expect(0, &["validate"])
        .says("2 valid scenarios, 0 errors");
    project
        .expect(0, &["list"])
        .says("Shop [a]")
        .says_not("cities");
    // What is wrong in it is said once, and one that nobody names is no data set.
    project.edit(
        "scenarios/cities.yaml",
        "order: 2 }",
        "order: 2, order: 3 }",
    );
    project
        .expect(2, &["validate"])
        .says("cities.yaml:3:22: error: the key `order` is given twice")
        .says("1 error,");
    project.file("scenarios/cities.yaml", "- { id: a, order: 1 }\n");
    project.edit(
        "scenarios/t.yaml",
        "dataset: cities.yaml",
        "dataset: [{ id: a, order: 1 }]",
    );
    project
        .expect(2, &["validate"])
        .says("cities.yaml:1:1: error: expected a map of keys, found a list")
        .says("a scenario names the file: `dataset: FILE`");
}
