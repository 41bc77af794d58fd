//! Corpora and labelled queries: made, checked, and what nobody has graded.

use serde_json::{Value, json};

use super::proxy::{Proxy, catalogue};
use crate::common::{Project, root};

fn tool(id: &str) -> Value {
    let (server, name) = id.split_once(':').unwrap();
    json!({ "tool_id": id, "server": server, "tool": name, "description": format!("does {name}") })
}

const VALIDATE: [&str; 6] = [
    "datasets", "validate", "--corpus", "c.json", "--golden", "g.json",
];

#[test]
fn the_shipped_sets_are_valid() {
    let project = Project::shipped();
    let folder = root().join("scenarios/discovery");
    let paths = ["corpus.json", "golden.json"].map(|it| folder.join(it).display().to_string());
    let ran = project.expect(
        0,
        &[
            "datasets", "validate", "--corpus", &paths[0], "--golden", &paths[1],
        ],
    );
    assert!(
        ran.stdout
            .starts_with("OK: 30 queries valid against everyday_v1\n"),
        "{ran:#?}"
    );
    ran.says("0 errors");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn many_findings_on_one_long_line_take_no_longer_than_on_many() {
    const TOOLS: usize = 40_000;
    let project = Project::new();
    let tools = (0..TOOLS).map(|it| json!({ "tool_id": format!("ü:t{it}") }));
    let tools: Vec<Value> = tools.collect();
    let corpus = json!({ "tools": tools }).to_string();
    let query = json!({ "id": "q", "query": "something", "labels": [{ "tool_id": "ü:t0", "relevance": 1 }] });
    project.file("g.json", json!({ "queries": [query] }).to_string());
    project.file("c.json", &corpus);
    let ran = project.expect(0, &[&VALIDATE[..], &["--format", "json"]].concat());
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    // Each has no description, and all but one are asked for by nobody.
    assert_eq!(document["warnings"], json!(2 * TOOLS - 1));
    let findings = document["findings"].as_array().unwrap();
    let last = corpus.rfind("{\"tool_id\"").unwrap();
    let column = corpus[..last].chars().count() + 1;
    assert_eq!(findings[findings.len() - 1]["column"], json!(column));
}

#[test]
fn every_defect_is_reported_with_its_place() {
    let project = Project::new();
    project.file(
        "c.json",
        json!({ "version": "v1", "tools": [tool("a:read_page"), tool("a:write_page"), tool("b:send")] }).to_string(),
    );
    let golden = r#"{ "corpus_version": "v0",
  "queries": [
    { "id": "q1", "query": "please read page four", "labels": [{ "tool_id": "a:read_page", "relevance": 2 }] },
    { "id": "q2", "query": "please save what I typed on the page", "labels": [{ "tool_id": "a:write_page", "relevance": 0 }] },
    { "id": "q3", "query": "please save what I typed on this page", "labels": [{ "tool_id": "a:gone", "relevance": 1 }] },
    { "id": "q4", "query": "Please, read page four!", "labels": [{ "tool_id": "b:send", "relevance": 1 }] },
    { "id": "q5", "query": "keep it", "labels": [
      { "tool_id": "a:write_page", "relevance": 1 },
      { "tool_id": "a:write_page", "relevance": 1 }] }
  ] }"#;
    project.file("g.json", golden);
    let ran = project.expect(3, &VALIDATE);
    for finding in [
        "g.json:1:21: error: this was labelled on `v0`, and c.json is `v1`",
        "g.json:3:28: warning: `q1` names the tool that it should find, `a:read_page`",
        "g.json:4:78: error: all labels of `q2` are 0",
        "g.json:5:28: warning: `q3` is nearly the same query as `q2`",
        "g.json:5:93: error: the corpus has no tool `a:gone`",
        "g.json:6:28: error: `q4` is the same query as `q1`, with other labels",
        "g.json:9:20: error: `a:write_page` is labelled twice",
        "5 errors, 2 warnings",
    ] {
        ran.says(finding);
    }
    assert!(!ran.stdout.contains("OK:"), "{ran:#?}");
    let document: Value = serde_json::from_str(
        &project
            .expect(3, &[&VALIDATE[..], &["--format", "json"]].concat())
            .stdout,
    )
    .unwrap();
    assert_eq!(
        (&document["errors"], &document["valid"]),
        (&json!(5), &json!(false))
    );
    assert_eq!(document["findings"][0]["line"], 1);
}

#[test]
fn a_file_that_cannot_be_used_is_reported_with_all_that_is_wrong() {
    let project = Project::new();
    project.file("c.json", "{\n \"tools\": [\n  {\"tool_id\": \"a:x\"},\n  {\"tool_id\": \"a:x\"},\n  {\"tool\": \"y\"}, 7 ],\n \"version\": 3 }");
    project.file("g.json", "{\"queries\": [\n {\"id\": \"q\", \"query\": \"  \", \"labels\": [{\"tool_id\": \"a:x\", \"relevance\": 3}]},\n {\"id\": \"q\", \"id\": \"r\", \"query\": \"x\"}] }");
    let ran = project.expect(3, &VALIDATE);
    for finding in [
        "c.json:4:15: error: the tool `a:x` is here twice",
        "c.json:5:3: error: `tool_id` is missing",
        "c.json:5:18: error: a tool must be an object",
        "c.json:6:13: error: `version` must be a text",
        "g.json:2:23: error: `query` is empty",
        "error: `relevance` must be 0, 1 or 2, not 3",
        "g.json:3:14: error: the key `id` is here twice",
        "g.json:3:2: error: `labels` is missing",
        "warning: `a:x` has no description",
    ] {
        ran.says(finding);
    }
    project.file("g.json", "{\"queries\": [}");
    project
        .expect(3, &VALIDATE)
        .says("g.json:1:14: error: this is not JSON");
    project
        .expect(
            3,
            &[
                "datasets",
                "validate",
                "--corpus",
                "none.json",
                "--golden",
                "g.json",
            ],
        )
        .says("none.json cannot be read");
}

#[test]
fn a_snapshot_is_a_corpus() {
    let proxy = Proxy::new(|asked, _| {
        if asked.key.as_deref() == Some("secret-key-of-mine") {
            (200, catalogue(&["b:two", "a:one", "a:one"]))
        } else {
            (
                401,
                "{\"success\": false, \"error\": \"no key\"}".to_owned(),
            )
        }
    });
    let project = Project::new();
    let snapshot = [
        "datasets",
        "snapshot",
        "--out",
        "new/c.json",
        "--base-url",
        &proxy.url,
        "--version",
        "v7",
        "--note",
        "by hand",
    ];
    project.expect(3, &snapshot).says("HTTP 401: no key");
    assert!(!project.path("new/c.json").exists());
    project.file(".env", "MCPPROXY_API_KEY=secret-key-of-mine\n");
    project.expect(0, &snapshot).says("2 tools in new/c.json");
    let text = project.read("new/c.json");
    assert!(!text.contains("secret-key-of-mine"));
    let corpus: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(corpus["version"], "v7");
    assert_eq!(corpus["tools"], json!([tool("a:one"), tool("b:two")]));
    let gone = [
        "datasets",
        "snapshot",
        "--out",
        "c.json",
        "--base-url",
        "http://127.0.0.1:1",
    ];
    project
        .expect(3, &gone)
        .says("cannot be asked for its tools");
}

#[test]
fn what_nobody_has_graded_is_collected_most_valuable_first() {
    let project = Project::new();
    project.file(
        "c.json",
        json!({ "tools": [tool("a:one"), tool("a:two"), tool("a:three")] }).to_string(),
    );
    let labels = json!([{ "tool_id": "a:one", "relevance": 2 }]);
    project.file(
        "g.json",
        json!({ "queries": [{ "id": "q", "query": "first", "labels": labels }] }).to_string(),
    );
    let report = |retrieved: Value| {
        json!({ "per_query": [{ "id": "q", "retrieved": retrieved }] }).to_string()
    };
    project.file("r1.json", report(json!(["a:one", "a:two", "a:three"])));
    project.file("r2.json", report(json!(["a:three", "x:gone", "a:one"])));
    project
        .expect(
            0,
            &[
                "datasets", "pool", "r1.json", "r2.json", "--corpus", "c.json", "--golden",
                "g.json", "--out", "p.json",
            ],
        )
        .says("2 answers to grade");
    let pool: Value = serde_json::from_str(&project.read("p.json")).unwrap();
    let ids: Vec<&str> = pool["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["tool_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["a:three", "a:two"]);
    let first = &pool["candidates"][0];
    assert_eq!(
        (&first["best_rank"], &first["runs"], &first["relevance"]),
        (&json!(1), &json!(2), &Value::Null)
    );
    assert_eq!(first["value"], json!(1.5));
    // What a person has graded stays, and what is of something else is not looked through.
    let with = [
        "--corpus", "c.json", "--golden", "g.json", "--out", "p.json",
    ];
    project.edit("p.json", "\"relevance\": null", "\"relevance\": 2");
    let again = [&["datasets", "pool", "r1.json"], &with[..]].concat();
    project
        .expect(0, &again)
        .says("0 answers to grade")
        .says("2 grades kept");
    let pool: Value = serde_json::from_str(&project.read("p.json")).unwrap();
    let grades = pool["candidates"].as_array().unwrap().iter();
    assert_eq!(grades.filter(|it| it["relevance"] == 2).count(), 2);
    // A grade that is none is reported with its place, and nothing is lost of the others.
    let kept = project.read("p.json");
    project.edit("p.json", "\"relevance\": 2", "\"relevance\": 7");
    project
        .expect(3, &again)
        .says("p.json:")
        .says("`relevance` must be 0, 1, 2 or null, and is 7");
    assert!(project.read("p.json").contains("\"relevance\": 7"));
    project.file("p.json", kept);
    // A report of other queries is one of another golden set.
    project.file(
        "r3.json",
        json!({ "per_query": [{ "id": "other", "retrieved": ["a:two"] }] }).to_string(),
    );
    let foreign = [&["datasets", "pool", "r3.json"], &with[..]].concat();
    project
        .expect(3, &foreign)
        .says("none of its queries is one of the golden set");
    project.edit(
        "r1.json",
        "{\"per_query\"",
        "{\"status\":\"incomplete\",\"per_query\"",
    );
    project.expect(3, &again).says("could not be made");
    project
        .expect(
            3,
            &[
                "datasets", "pool", "g.json", "--corpus", "c.json", "--golden", "g.json", "--out",
                "p.json",
            ],
        )
        .says("this is not a report");
}
