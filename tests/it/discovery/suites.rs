//! Searches and scanners among the scenarios of a suite: one report, one history, one exit code.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::proxy::{Proxy, catalogue, results};
use crate::common::{Project, commit_all};

const IDS: [&str; 4] = ["a:one", "a:two", "b:three", "b:four"];

const FOUND: &[(&str, &[&str])] = &[
    ("first thing", &["a:one", "a:two"]),
    ("second thing", &["a:two"]),
    ("third thing", &["a:one", "b:three"]),
];

/// One query loses its tool, and another finds it further up.
const LOST: &[(&str, &[&str])] = &[
    ("first thing", &["a:one", "a:two"]),
    ("second thing", &["a:one"]),
    ("third thing", &["b:three"]),
];

/// What does not count is found in another order.
const MOVED: &[(&str, &[&str])] = &[("first thing", &["a:one", "b:four"]), FOUND[1], FOUND[2]];

/// What one query should find stands further down, or further up.
const DOWN: &[(&str, &[&str])] = &[FOUND[0], ("second thing", &["a:one", "a:two"]), FOUND[2]];
const UP: &[(&str, &[&str])] = &[MOVED[0], FOUND[1], ("third thing", &["b:three", "a:one"])];

/// A project with a corpus of four tools, three queries, and a scenario `scenarios/search.yaml` with these keys besides.
fn project(more: &str) -> Project {
    let project = Project::new();
    let tools = IDS.map(|id| {
        let (server, tool) = id.split_once(':').unwrap();
        json!({ "tool_id": id, "server": server, "tool": tool, "description": format!("does {tool}") })
    });
    project.file(
        "scenarios/corpus.json",
        json!({ "version": "v1", "generated_from": "by hand", "tools": tools }).to_string(),
    );
    let query = |id: &str, text: &str, tool: &str| json!({ "id": id, "query": text, "labels": [{ "tool_id": tool, "relevance": 2 }] });
    let queries = [
        query("q1", "first thing", "a:one"),
        query("q2", "second thing", "a:two"),
        query("q3", "third thing", "b:three"),
    ];
    project.file(
        "scenarios/golden.json",
        json!({ "corpus_version": "v1", "queries": queries }).to_string(),
    );
    project.file(
        "scenarios/search.yaml",
        format!(
            "name: The search\nkind: retrieval\ncorpus: corpus.json\ngolden: golden.json\n{more}\n"
        ),
    );
    project
}

fn at(proxy: &Proxy) -> String {
    format!("base_url: \"{}\"", proxy.url)
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn trajectories_searches_and_scanners_are_one_suite() {
    let project = Project::measured();
    let result = project.result(0, &["run"]);
    let scenario = |result: &Value, id: &str| {
        let mut all = result["scenarios"].as_array().unwrap().iter();
        all.find(|it| it["id"] == id).unwrap().clone()
    };
    let search = scenario(&result, "discovery/tool_search");
    let scanner = scenario(&result, "discovery/scanner");
    assert_eq!(
        [
            &search["status"],
            &scanner["status"],
            &result["summary"]["passed"]
        ],
        [&json!("passed"), &json!("passed"), &json!(11)]
    );
    assert_eq!(
        (
            &search["measured"]["kind"],
            &search["measured"]["report"]["metrics"]["recall_at"]["5"]
        ),
        (&json!("retrieval"), &json!(0.75))
    );
    assert_eq!(
        search["measured"]["report"]["per_query"]
            .as_array()
            .unwrap()
            .len(),
        30
    );
    // Nothing differs from what was accepted.
    assert_eq!(search["measured"]["report"]["compared"]["lost"], json!([]));
    assert_eq!(search["checks"].as_array().unwrap().len(), 3);
    assert_eq!(
        scanner["measured"]["report"]["security"]["gate"]["fpr_ceiling"],
        json!(0.2)
    );
    let schema: Value =
        serde_json::from_str(&project.expect(0, &["schema", "result"]).stdout).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = schema
        .iter_errors(&result)
        .map(|it| format!("{}: {it}", it.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    // Each has its page, to which the index leads, and all are tests of one build.
    let index = project.read("reports/latest/index.html");
    for (page, metric) in [
        ("discovery.tool_search.html", "Recall@5"),
        ("discovery.scanner.html", "Precision"),
    ] {
        assert!(index.contains(&format!("href=\"{page}\"")), "{page}");
        assert!(
            project
                .read(format!("reports/latest/{page}"))
                .contains(metric),
            "{page}"
        );
    }
    let ran = project.expect(
        0,
        &[
            "run",
            "--report",
            "junit=j.xml",
            "--report",
            "markdown=m.md",
        ],
    );
    ran.says("Suite Results: 11/11 tests passed");
    assert!(project.read("j.xml").contains("discovery.tool_search"));
    // The main figure is its score over time.
    let history = project.result(0, &["history", "discovery/tool_search"]);
    let text = history.to_string();
    assert!(text.contains("0.75"), "{text}");
    // A gate that fails is the suite's failure, and what could not be measured is no verdict.
    project.edit(
        "scenarios/discovery/scanner.yaml",
        "fpr_ceiling: 0.2",
        "fpr_ceiling: 0.01",
    );
    let result = project.result(1, &["run"]);
    let failed = scenario(&result, "discovery/scanner");
    assert_eq!(failed["status"], "failed");
    assert_eq!(result["summary"]["passed"], 10);
    project.expect(1, &["run"]).says("FPR is");
    project.edit(
        "scenarios/discovery/scanner.yaml",
        "fpr_ceiling: 0.01",
        "fpr_ceiling: 0.2",
    );
    let verdicts = project.read("scenarios/discovery/verdicts.json");
    let mut fewer: Value = serde_json::from_str(&verdicts).unwrap();
    fewer["entries"].as_array_mut().unwrap().pop();
    project.file("scenarios/discovery/verdicts.json", fewer.to_string());
    let result = project.result(3, &["run"]);
    let unknown = scenario(&result, "discovery/scanner");
    assert_eq!(unknown["status"], "error");
    assert!(
        unknown["problem"]["message"]
            .as_str()
            .unwrap()
            .contains("silent drop")
    );
    // What no report tells is asked for again, without running anything.
    project.expect(0, &["report", "--output", "again"]);
    assert!(
        project
            .read("again/discovery.tool_search.html")
            .contains("Recall@5")
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_search_is_recorded_and_held_against_that() {
    let before = Proxy::finding(&IDS, FOUND);
    let project = project(&format!(
        "{}\ngates: {{ max_lost: 0, tolerance: 1 }}",
        at(&before)
    ));
    let result = project.result(3, &["compare"]);
    let problem = &result["scenarios"][0]["problem"];
    assert!(
        problem["message"]
            .as_str()
            .unwrap()
            .starts_with("no baseline"),
        "{problem}"
    );
    assert!(
        problem["hint"]
            .as_str()
            .unwrap()
            .contains("mcp-eval record"),
        "{problem}"
    );
    // What is demanded is of a baseline: without one, nobody can say whether a query is lost.
    project.expect(3, &["run"]).says("no baseline");
    // Else `run` needs none, and says that nothing is demanded.
    let gates = "gates: { max_lost: 0, tolerance: 1 }";
    project.edit("scenarios/search.yaml", gates, "enabled: true");
    project
        .expect(0, &["run", "-v"])
        .says("nothing is demanded of these figures");
    project.edit("scenarios/search.yaml", "enabled: true", gates);
    project
        .expect(0, &["record"])
        .says("kept as baselines/search/baseline.json");
    let kept = project.read("baselines/search/baseline.json");
    let figures: Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(
        (&figures["recall_at"]["5"], &figures["per_query"][2]["mrr"]),
        (&json!(1.0), &json!(0.5))
    );
    project
        .expect(0, &["record", "-v"])
        .says("nothing has changed, so baselines/search/baseline.json stays as it is");
    assert_eq!(project.read("baselines/search/baseline.json"), kept);
    project
        .expect(0, &["list"])
        .says("retrieval")
        .says("accepted");
    let unchanged = project.result(0, &["compare"]);
    assert_eq!(unchanged["summary"]["changed"], 0);
    assert!(
        unchanged["scenarios"][0]["in_words"]
            .as_str()
            .unwrap()
            .starts_with("Unchanged: 3 queries")
    );
    // The command reads what was recorded, too.
    let alone = [
        "retrieval",
        "--corpus",
        "scenarios/corpus.json",
        "--golden",
        "scenarios/golden.json",
        "--baseline",
        "baselines/search/baseline.json",
        "--max-lost",
        "0",
        "--base-url",
        &before.url,
    ];
    project
        .expect(0, &alone)
        .says("Gate (lost queries): PASS (0 lost");

    let with = |proxy: &Proxy| {
        let text = project.read("scenarios/search.yaml");
        let rest: Vec<&str> = text
            .lines()
            .filter(|it| !it.starts_with("base_url"))
            .collect();
        project.file(
            "scenarios/search.yaml",
            format!("{}\n{}\n", rest.join("\n"), at(proxy)),
        );
    };
    let lost = Proxy::finding(&IDS, LOST);
    with(&lost);
    let result = project.result(1, &["compare"]);
    let failed = &result["scenarios"][0];
    assert_eq!(failed["status"], "failed");
    assert_eq!(
        failed["measured"]["report"]["lost_gate"]["lost"],
        json!(["q2"])
    );
    let unmet = failed["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["passed"] == false);
    assert_eq!(unmet.unwrap()["message"], "1 are: q2");
    // A run in which something changed never looks like one in which nothing did.
    let moved = Proxy::finding(&IDS, MOVED);
    with(&moved);
    let result = project.result(0, &["compare"]);
    assert_eq!(
        (
            &result["summary"]["changed"],
            &result["scenarios"][0]["status"]
        ),
        (&json!(1), &json!("passed"))
    );
    project
        .expect(0, &["compare"])
        .says("passed, 1 query answered otherwise with the same figures");
    project.expect(1, &["compare", "--strict"]);
    let [down, up] = [DOWN, UP].map(|it| Proxy::finding(&IDS, it));
    with(&down);
    project
        .expect(0, &["compare"])
        .says("passed, 1 query ranked worse");
    with(&up);
    project
        .expect(0, &["compare"])
        .says("passed, 1 query ranked better, 1 answered otherwise with the same figures");
    // What could not be measured is neither a zero nor green, and is not accepted.
    let broken = Proxy::new(|asked, _| {
        if asked.path.ends_with("tools") {
            (200, catalogue(&IDS))
        } else {
            (500, "{\"error\": \"broken\"}".to_owned())
        }
    });
    with(&broken);
    for command in ["compare", "run", "record"] {
        let result = project.result(3, &[command]);
        let scenario = &result["scenarios"][0];
        assert_eq!(
            (
                &scenario["status"],
                &scenario["measured"]["report"]["metrics"]
            ),
            (&json!("error"), &Value::Null),
            "{command}"
        );
        assert!(
            scenario["problem"]["message"]
                .as_str()
                .unwrap()
                .contains("HTTP 500: broken")
        );
    }
    assert_eq!(project.read("baselines/search/baseline.json"), kept);
}

#[test]
fn a_floor_needs_no_baseline_and_runs_are_asked_for_in_the_file() {
    let proxy = Proxy::finding(&IDS, LOST);
    let project = project(&format!(
        "{}\nruns: 2\ngates: {{ recall_floor: 0.7 }}",
        at(&proxy)
    ));
    let result = project.result(1, &["run"]);
    let report = &result["scenarios"][0]["measured"]["report"];
    assert_eq!(
        (&report["runs_averaged"], &report["floor"]["passed"]),
        (&json!(2), &json!(false))
    );
    // What does not reach the floor is not accepted either.
    project
        .expect(1, &["record"])
        .says("not kept")
        .says("`--allow-failing` keeps it");
    assert!(!project.path("baselines").exists());
    project
        .expect(0, &["record", "--allow-failing"])
        .says("kept, although it is not what the scenario demands");
    let kept = project.read("baselines/search/baseline.json");
    assert!(kept.contains("\"kind\": \"retrieval\""));
    project.edit("scenarios/search.yaml", "0.7", "0.6");
    project.expect(0, &["run"]);
    // The flag of the command says the same.
    let alone = [
        "retrieval",
        "--corpus",
        "scenarios/corpus.json",
        "--golden",
        "scenarios/golden.json",
        "--base-url",
        &proxy.url,
    ];
    project.expect(1, &[&alone[..], &["--recall-floor", "0.67"]].concat());
    project.expect(0, &[&alone[..], &["--recall-floor", "0.66"]].concat());
}

#[test]
fn what_nothing_is_demanded_of_or_what_cannot_fail_has_not_passed() {
    let proxy = Proxy::finding(&IDS, FOUND);
    let project = project(&at(&proxy));
    let result = project.result(0, &["run"]);
    let scenario = &result["scenarios"][0];
    assert_eq!(scenario["status"], "inconclusive");
    assert_eq!(result["summary"]["passed"], 0);
    project
        .expect(0, &["run", "--threshold", "0.99"])
        .says("nothing is demanded of these figures")
        .says("warning: of no matter to searches and scanners, such as `search`, which have gates of their own: `--threshold`");
    // What is accepted with nothing found can only become better.
    let nothing = Proxy::finding(&IDS, &[("first thing", &["a:two"])]);
    project.file(
        "scenarios/search.yaml",
        format!(
            "name: s\nkind: retrieval\ncorpus: corpus.json\ngolden: golden.json\n{}\n",
            at(&nothing)
        ),
    );
    project.expect(0, &["record"]);
    project
        .expect(3, &["compare"])
        .says("the gate cannot fail: recall@5 is 0.000 in the baseline, and may be 0.05 lower");
}

#[test]
fn what_was_accepted_of_a_trajectory_goes_when_a_search_takes_its_place() {
    let proxy = Proxy::finding(&IDS, FOUND);
    let project = project(&at(&proxy));
    let others = ["trajectory.txt", "variant-2.json", "variant-3.json"];
    for name in others.iter().chain(&["baseline.json", "notes.md"]) {
        project.file(&format!("baselines/search/{name}"), "of a trajectory");
    }
    project.expect(0, &["record"]).says("kept as");
    for name in others {
        let path = project.path(format!("baselines/search/{name}"));
        assert!(!path.exists(), "{name}");
    }
    // What somebody else has put there is none of ours.
    assert!(project.path("baselines/search/notes.md").exists());
    project.expect(0, &["compare"]);
}

#[test]
fn a_search_that_cannot_be_reached_is_asked_again_where_the_suite_says_so() {
    for (status, kind) in [(0, "transport"), (503, "transport"), (429, "rate_limit")] {
        let proxy = Proxy::new(move |asked, number| match asked.path.as_str() {
            "/api/v1/tools" => (200, catalogue(&IDS)),
            _ if number == 2 => (status, "{\"error\": \"busy\"}".to_owned()),
            _ => (200, results(&["a:one", "a:two", "b:three"], asked.limit)),
        });
        let project = project(&at(&proxy));
        let suite = |on: &str| {
            let text = format!("retries: {{ on: [{on}], times: 1, backoff: 10ms }}\n");
            project.file("scenarios/_suites/nightly.yaml", text);
        };
        suite(kind);
        let result = project.result(0, &["run", "--suite", "nightly"]);
        let retried = &result["scenarios"][0]["retried"][0];
        assert_eq!(retried["trouble"], kind, "{status}: {retried}");
        assert!(
            retried["reason"]
                .as_str()
                .unwrap()
                .contains("`q2` has no answer"),
            "{retried}"
        );
    }
    // What is answered wrongly would be so once more.
    let proxy = Proxy::new(|asked, number| match asked.path.as_str() {
        "/api/v1/tools" => (200, catalogue(&IDS)),
        _ if number == 2 => (500, "{\"error\": \"broken\"}".to_owned()),
        _ => (200, results(&["a:one"], asked.limit)),
    });
    let project = project(&at(&proxy));
    let text = "retries: { on: [transport, rate_limit, timeout], times: 1, backoff: 10ms }\n";
    project.file("scenarios/_suites/nightly.yaml", text);
    project
        .expect(3, &["run", "--suite", "nightly"])
        .says("HTTP 500: broken");
}

#[test]
fn what_is_wrong_with_a_measurement_has_its_place() {
    let project = project(
        "search: mcproxy\ngates: { tolerance: 2, fpr_ceiling: 0.1 }\nagent: { kind: replay }\nverdicts: v.json",
    );
    project.file(
        "scenarios/scanner.yaml",
        "name: s\nkind: security\nverdicts: [missing.json]\nservers: { a: { type: mock } }\ngates: { max_lost: 1 }\n",
    );
    project.file("scenarios/plain.yaml", "name: p\nexpected_trajectory: []\ngolden: golden.json\nservers: { a: { type: stdio, command: x } }\n");
    project.file(
        "scenarios/odd.yaml",
        "name: o\nkind: retreival\nexpected_trajectory: []\n",
    );
    let ran = project.expect(2, &["validate"]);
    for finding in [
        "scenarios/search.yaml:5:9: error: no search is called `mcproxy`",
        "scenarios/search.yaml:6:21: error: expected a number from 0 to 1",
        "scenarios/search.yaml:7:1: error: `agent` means nothing in a scenario of `kind: retrieval`",
        "scenarios/search.yaml:8:1: error: `verdicts` means nothing",
        "scenarios/scanner.yaml:3:12: error: there is no file `missing.json`",
        "scenarios/scanner.yaml:4:1: error: `servers` means nothing in a scenario of `kind: security`",
        "`max_lost` is a gate of searches",
        "scenarios/plain.yaml:3:1: error: `golden` means nothing in a scenario of `kind: trajectory`",
        "scenarios/odd.yaml:2:7: error:",
    ] {
        ran.says(finding);
    }
    for file in ["scanner.yaml", "plain.yaml", "odd.yaml"] {
        std::fs::remove_file(project.path("scenarios").join(file)).unwrap();
    }
    // What the data sets hold is looked at, too, and how a search is declared.
    project.file("scenarios/search.yaml", "name: s\nkind: retrieval\ncorpus: corpus.json\ngolden: golden.json\nsearch: { http: { url: x }, list: found }\n");
    project.edit("scenarios/corpus.json", "\"a:two\"", "\"a:one\"");
    let ran = project.expect(2, &["validate"]);
    ran.says("the tool `a:one` is here twice")
        .says("scenarios/corpus.json:1:");
    ran.says("scenarios/search.yaml:5:9: error: no search can be asked so: missing field `id`");
    project
        .expect(3, &["run"])
        .says("the tool `a:one` is here twice");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_makes_no_sense_for_a_measurement_is_left_out_or_refused_with_a_sentence() {
    let project = Project::measured();
    for arguments in [
        &["compare", "--servers", "recorded"][..],
        &["run", "--matrix", "agent=scripted"],
        &["run", "--agent", "scripted"],
    ] {
        let result = project.result(0, arguments);
        let search = result["scenarios"]
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["id"] == "discovery/tool_search");
        let is_left = arguments[1] == "--servers";
        let expected = if is_left { "skipped" } else { "passed" };
        assert_eq!(search.unwrap()["status"], expected, "{arguments:?}");
    }
    project
        .expect(
            2,
            &["record", "--listen", "scenarios/discovery/tool_search.yaml"],
        )
        .says("a session becomes a scenario of calls");
    let ran = project.expect(0, &["record", "-v", "scenarios/discovery"]);
    ran.says("nothing is recorded of scanners")
        .says("stays as it is");
    let plan = project.expect(0, &["run", "--dry-run"]);
    plan.says("discovery/tool_search retrieval, the search mcpproxy by golden.json over corpus.json, on proxy (mock)");
    plan.says("discovery/scanner security, what scanners said in verdicts.json");
    // The run of a measurement is no trajectory to score or to accept.
    let run = project.result(0, &["run", "scenarios/discovery"]);
    let id = run["run_id"].as_str().unwrap();
    let scored = project.run(&["compare", "--run", id, "--format", "json"]);
    assert!(
        scored
            .stdout
            .contains("what was measured is not scored again"),
        "{scored:#?}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn two_versions_of_a_search_are_measured_side_by_side() {
    let project = project("search: mcpproxy");
    let answers = |found: &[(&str, &[&str])]| {
        let responses = found.iter().map(|(query, ids)| {
            let tools = ids.iter().map(|it| {
                let (server, name) = it.split_once(':').unwrap();
                json!({ "server": server, "name": name })
            });
            let tools = json!({ "tools": tools.collect::<Vec<_>>() });
            json!({ "match": { "query": query }, "structured_content": tools, "content": tools.to_string() })
        });
        let tool = json!({ "name": "retrieve_tools", "description": "Find tools.", "annotations": { "read_only_hint": true }, "responses": responses.collect::<Vec<_>>() });
        json!({ "tools": [tool] }).to_string()
    };
    project.file("system/mock.yaml", answers(FOUND));
    commit_all(&project.path("system"), "Find all three");
    project.file("system/mock.yaml", answers(LOST));
    let server = json!({ "proxy": { "type": "stdio", "command": env!("CARGO_BIN_EXE_mcp-eval"), "args": ["mock", "${source.dir}/mock.yaml"] } });
    let text = project.read("scenarios/search.yaml");
    project.file(
        "scenarios/search.yaml",
        format!("{text}servers: {server}\nsource: {{ repo: ../system }}\n"),
    );
    // As a scenario: the other version takes the part of the baseline, and gates as one does.
    let result = project.result(1, &["compare", "--against", "git:HEAD"]);
    let scenario = &result["scenarios"][0];
    let with = scenario["compared_with"].as_str().unwrap();
    assert!(
        with.starts_with("git:HEAD (") && with.ends_with(" Find all three)"),
        "{with}"
    );
    let compared = &scenario["measured"]["report"]["compared"];
    assert_eq!(
        (&compared["lost"], &compared["moved"]),
        (&json!(["q2"]), &json!(["q3"]))
    );
    assert_eq!(compared["tests"][0]["metric"], "recall_at_5");
    project
        .expect(0, &["explain", "search"])
        .says("lost, against git:HEAD (");
    // What scanners said is no version's; and what is measured is no answer that tells one commit from another.
    let files = "name: scanner\nkind: security\nverdicts: [v.json]\ngates: { fpr_ceiling: 0.5, recall_floor: 0 }\n";
    let entry = json!({ "id": "a", "label": "benign", "flagged": false, "status": "ok" });
    let verdicts = json!({ "format_version": 2, "detector": { "name": "d" }, "entries": [entry] });
    project
        .file("scenarios/scanner.yaml", files)
        .file("scenarios/v.json", verdicts.to_string());
    project.expect(0, &["run", "scenarios/scanner.yaml"]);
    let result = project.result(
        3,
        &["compare", "scenarios/scanner.yaml", "--against", "git:HEAD"],
    );
    assert_eq!(result["scenarios"][0]["status"], "skipped");
    std::fs::remove_file(project.path("scenarios/scanner.yaml")).unwrap();
    let range = [
        "bisect",
        "scenarios/search.yaml",
        "--good",
        "HEAD",
        "--bad",
        "HEAD",
    ];
    project
        .expect(2, &range)
        .says("`search` measures something");
    // And as a command of its own.
    let alone = [
        "retrieval",
        "--corpus",
        "scenarios/corpus.json",
        "--golden",
        "scenarios/golden.json",
        "--search",
        "mcpproxy",
        "--scenario",
        "scenarios/search.yaml",
        "--against",
        "git:HEAD",
    ];
    let ran = project.expect(1, &alone);
    ran.says("lost, against git:HEAD (")
        .says("): q2")
        .says("by the paired randomisation test");
    project.expect(0, &[&alone[..], &["--tolerance", "0.4"]].concat());
    project.expect(
        1,
        &[&alone[..], &["--tolerance", "0.4", "--max-lost", "0"]].concat(),
    );
    project.expect(
        2,
        &[
            "retrieval",
            "--corpus",
            "scenarios/corpus.json",
            "--golden",
            "scenarios/golden.json",
            "--against",
            "git:HEAD",
        ],
    );
    // Nothing else is left.
    assert!(!project.path(".mcp-eval/sources").exists());
    assert!(!project.path("baselines").exists());
    commit_all(&project.path("system"), "Lose one");
    project
        .expect(2, &alone)
        .says("that is the current version, unchanged");
}

#[test]
fn a_command_that_measures_has_a_history() {
    let proxy = Proxy::finding(&IDS, FOUND);
    let worse = Proxy::finding(&IDS, LOST);
    let project = project("enabled: false");
    let measure = |url: &str, more: &[&str]| {
        let usual = [
            "retrieval",
            "--corpus",
            "scenarios/corpus.json",
            "--golden",
            "scenarios/golden.json",
            "--base-url",
            url,
        ];
        project.expect(0, &[&usual[..], more].concat());
    };
    measure(&proxy.url, &[]);
    measure(&worse.url, &[]);
    measure(&worse.url, &["--no-db"]);
    let history = project.expect(
        0,
        &[
            "history",
            "retrieval/golden/mcpproxy-rest",
            "--format",
            "json",
        ],
    );
    let document: Value = serde_json::from_str(&history.stdout).unwrap();
    let text = document.to_string();
    assert!(text.contains("0.666"), "{text}");
    // What is in the database comes from files, too.
    project.expect(0, &["db", "rebuild"]);
    project.file("verdicts.json", json!({ "detectors": ["d"], "entries": [
        { "id": "x", "label": "malicious", "category": "c", "verdicts": [{ "detector": "d", "flagged": true, "max_severity": "high", "detections": [] }] },
        { "id": "y", "label": "benign", "category": "c", "verdicts": [{ "detector": "d", "flagged": false, "max_severity": "", "detections": [] }] },
    ] }).to_string());
    project.expect(0, &["security", "--verdicts", "verdicts.json"]);
    let history = project.expect(0, &["history", "security/verdicts", "--format", "json"]);
    assert!(history.stdout.contains("security/verdicts"), "{history:#?}");
}

#[test]
fn a_measurement_that_is_interrupted_says_how_far_it_came() {
    let (reached, waits) = std::sync::mpsc::channel();
    let proxy = Proxy::new(move |asked, _| match asked.query.as_str() {
        _ if asked.path.ends_with("tools") => (200, catalogue(&IDS)),
        "second thing" => {
            let _ = reached.send(());
            // Longer than any test: the program does not wait for it.
            thread::sleep(Duration::from_secs(600));
            (0, String::new())
        }
        _ => (200, results(&["a:one"], asked.limit)),
    });
    let project = project(&at(&proxy));
    let alone = [
        "retrieval",
        "--corpus",
        "scenarios/corpus.json",
        "--golden",
        "scenarios/golden.json",
        "--base-url",
        &proxy.url,
    ];
    for arguments in [&alone[..], &["run", "--format", "json"]] {
        let child = project
            .command()
            .args(arguments)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        waits.recv_timeout(Duration::from_secs(50)).unwrap();
        let id = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{output:?}");
    }
    let report: Value =
        serde_json::from_str(&project.read("reports/retrieval/report.json")).unwrap();
    assert_eq!(
        (&report["status"], &report["metrics"]),
        (&json!("incomplete"), &Value::Null)
    );
    let problems = report["problems"].to_string();
    assert!(
        problems.contains("interrupted") && problems.contains("1 of 3 queries had been answered"),
        "{problems}"
    );
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    assert_eq!(result["scenarios"][0]["status"], "interrupted");
}
