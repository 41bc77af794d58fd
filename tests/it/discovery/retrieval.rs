//! `retrieval`: a search measured over real HTTP, and what is no measurement.

use serde_json::{Value, json};

use super::proxy::{Proxy, catalogue, results};
use crate::common::{Project, Ran};

const IDS: [&str; 6] = ["a:one", "a:two", "a:three", "b:four", "b:five", "b:six"];

fn corpus() -> Value {
    let tools = IDS.iter().map(|id| {
        let (server, tool) = id.split_once(':').unwrap();
        json!({ "tool_id": id, "server": server, "tool": tool, "description": format!("does {tool}") })
    });
    json!({ "version": "v1", "generated_from": "by hand", "tools": tools.collect::<Vec<_>>() })
}

/// Four queries: found first, found second of two, not found, and answered with nothing.
fn golden() -> Value {
    let query = |id: &str, text: &str, labels: &[(&str, u8)]| {
        let labels = labels
            .iter()
            .map(|(id, grade)| json!({ "tool_id": id, "relevance": grade }));
        json!({ "id": id, "query": text, "labels": labels.collect::<Vec<_>>() })
    };
    json!({ "corpus_version": "v1", "queries": [
        query("q1", "first thing", &[("a:one", 2)]),
        query("q2", "second & third?", &[("a:two", 2), ("b:five", 1)]),
        query("q3", "nowhere", &[("b:six", 2)]),
        query("q4", "silence", &[("a:three", 1)]),
    ] })
}

const FOUND: &[(&str, &[&str])] = &[
    ("first thing", &["a:one=3.0", "a:two=2.0"]),
    ("second & third?", &["b:four=2.0", "a:two=2.0", "a:two=1.0"]),
    ("nowhere", &["a:one", "a:two", "a:three"]),
];

/// The same, and what was not found in another order.
const TURNED: &[(&str, &[&str])] = &[
    FOUND[0],
    FOUND[1],
    ("nowhere", &["a:two", "a:one", "a:three"]),
];

/// The same without what was found of two.
const FEWER: &[(&str, &[&str])] = &[FOUND[0], FOUND[2]];

fn project() -> Project {
    let project = Project::new();
    project.file("corpus.json", corpus().to_string());
    project.file("sets/golden_v1.json", golden().to_string());
    project
}

fn measure(project: &Project, url: &str, code: i32, more: &[&str]) -> Ran {
    let usual = [
        "retrieval",
        "--corpus",
        "corpus.json",
        "--golden",
        "sets/golden_v1.json",
        "--base-url",
        url,
    ];
    project.expect(code, &[&usual[..], more].concat())
}

fn report(project: &Project) -> Value {
    serde_json::from_str(&project.read("reports/retrieval/report.json")).unwrap()
}

#[test]
fn a_workflow_of_the_original_finds_its_lines_and_keys() {
    let proxy = Proxy::finding(&IDS, FOUND);
    let project = project();
    let baseline = json!({ "corpus_version": "v1", "recall_at": { "1": 0.25, "3": 0.5, "5": 0.4, "10": 0.5 }, "mrr": 0.5, "ndcg_at_10": 0.5, "map": 0.25, "tolerance": { "recall_at_5": 0.05 }, "security": {} });
    project.file("baseline.json", baseline.to_string());
    let ran = measure(
        &project,
        &proxy.url,
        0,
        &[
            "--baseline",
            "baseline.json",
            "--tolerance",
            "0.05",
            "--runs",
            "1",
            "--api-key",
            "key-of-the-proxy",
        ],
    );
    let lines: Vec<&str> = ran.stdout.lines().take(4).collect();
    assert_eq!(
        lines,
        [
            "Recall@1/3/5/10: 0.250 0.375 0.375 0.375",
            "MRR=0.375  nDCG@10=0.370  MAP=0.312",
            "Gate (recall_at_5): PASS (value=0.375 threshold=0.350)",
            "Reports: reports/retrieval/report.json , reports/retrieval/report.html",
        ]
    );
    let report = report(&project);
    assert_eq!(
        report["metrics"]["recall_at"],
        json!({ "1": 0.25, "3": 0.375, "5": 0.375, "10": 0.375 })
    );
    assert_eq!(report["metrics"]["mrr"], json!(0.375));
    assert_eq!(report["baseline_delta"]["mrr"], json!(-0.125));
    assert_eq!(
        report["gate"],
        json!({ "metric": "recall_at_5", "passed": true, "tolerance": 0.05, "value": 0.375, "threshold": 0.4 - 0.05 })
    );
    assert_eq!(
        (
            &report["golden_version"],
            &report["corpus_version"],
            &report["runs_averaged"]
        ),
        (&json!("golden_v1"), &json!("v1"), &json!(1))
    );
    let second = &report["per_query"][1];
    assert_eq!(second["retrieved"], json!(["b:four", "a:two"]));
    assert_eq!(second["relevant"], json!(["a:two", "b:five"]));
    assert_eq!(
        (&second["mrr"], &second["ap"], &second["query"]),
        (&json!(0.5), &json!(0.25), &json!("second & third?"))
    );
    // One question each, and another of those that missed something.
    let asked = proxy.asked();
    let searches: Vec<_> = asked
        .iter()
        .filter(|it| it.path == "/api/v1/index/search")
        .collect();
    assert_eq!(searches.iter().filter(|it| it.limit == 10).count(), 4);
    assert_eq!(searches.iter().filter(|it| it.limit == 100).count(), 3);
    assert!(
        asked
            .iter()
            .all(|it| it.key.as_deref() == Some("key-of-the-proxy"))
    );
    for file in ["report.json", "report.html", "report.md", "junit.xml"] {
        let text = project.read(format!("reports/retrieval/{file}"));
        assert!(!text.contains("key-of-the-proxy"), "{file}");
        assert!(!text.contains("<script"), "{file}");
    }
    assert!(
        project
            .read("reports/retrieval/report.html")
            .contains("second &amp; third?")
    );

    project.edit("baseline.json", "\"5\":0.4", "\"5\":0.43");
    let ran = measure(&project, &proxy.url, 1, &["--baseline", "baseline.json"]);
    ran.says("Gate (recall_at_5): FAIL (value=0.375 threshold=0.380)");
    assert!(
        project
            .read("reports/retrieval/junit.xml")
            .contains("failures=\"1\"")
    );
    // The environment names the proxy as the command line does.
    let mut command = project.command();
    command.args([
        "retrieval",
        "--corpus",
        "corpus.json",
        "--golden",
        "sets/golden_v1.json",
    ]);
    let ran = crate::common::ran(
        command
            .env("MCPPROXY_BASE_URL", format!("{}/", proxy.url))
            .env("MCPPROXY_API_KEY", "k"),
    );
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!ran.stdout.contains("Gate"));
    // What nothing is demanded of has not passed anything.
    ran.says("no gate: nothing is demanded of these figures");
    assert_eq!(self::report(&project)["status"], "no_gate");
    let page = project.read("reports/retrieval/report.html");
    assert!(page.contains("<span class=\"badge status-recorded\">no gate</span>"));
    assert!(
        project
            .read("reports/retrieval/report.md")
            .contains(": no gate")
    );
    measure(&project, &proxy.url, 0, &["--tolerance", "0.1"])
        .says("the tolerance of 0.1 gates nothing without `--baseline` or `--against`");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_baseline_holds_figures_that_are_some() {
    let project = project();
    let proxy = Proxy::finding(&IDS, FOUND);
    measure(&project, &proxy.url, 0, &[]);
    let good = project.read("reports/retrieval/report.json");
    let with = ["--baseline", "base.json"];
    let asked = proxy.asked().len();
    let mut figures: Value = serde_json::from_str(&good).unwrap();
    let mut other = figures.clone();
    other["per_query"][0]["recall_at"]["5"] = json!(0.0);
    figures["per_query"][1]["mrr"] = json!(-1.0);
    for (text, message) in [
        (
            "{\"recall_at\": {\"5\": 37.5}}".to_owned(),
            "base.json:1:21: error: this must be a number from 0 to 1, and is 37.5",
        ),
        (
            "{\"recall_at\": {\"5\": 0.5}, \"mrr\": \"NaN\"}".to_owned(),
            "base.json:1:34: error: this must be a number from 0 to 1, and is \"NaN\"",
        ),
        (
            "{\"recall_at\": {\"5\": 0.5}, \"tolerance\": {\"recall_at_5\": 5}}".to_owned(),
            "must be a number from 0 to 1, and is 5",
        ),
        (
            "{\"recall_at\": {\"5\": 0.5, \"5\": 0.1}}".to_owned(),
            "the key `5` is here twice",
        ),
        (
            figures.to_string(),
            "must be a number from 0 to 1, and is -1.0",
        ),
        (
            other.to_string(),
            "recall@5 is 0.375 here, and its queries under `per_query` come to 0.1250",
        ),
    ] {
        project.file("base.json", text);
        measure(&project, &proxy.url, 3, &with).says(message);
    }
    assert_eq!(proxy.asked().len(), asked, "nothing was asked");
    // Who says how much may be lost gets an answer; what is just kept is kept; and what is not does not look so.
    for (recall, more, code, message) in [
        (
            "0.375",
            &["--tolerance", "0"][..],
            0,
            "it is so much as `tolerance` says",
        ),
        (
            "0.425",
            &[][..],
            0,
            "it is so much as nothing says otherwise",
        ),
        (
            "0.3752",
            &["--tolerance", "0"][..],
            1,
            "FAIL (value=0.3750 threshold=0.3752)",
        ),
    ] {
        project.file(
            "base.json",
            format!("{{\"recall_at\": {{\"5\": {recall}}}}}"),
        );
        measure(&project, &proxy.url, code, &[&with[..], more].concat()).says(message);
    }
    project.file(
        "base.json",
        json!({ "recall_at": { "5": 0.9 }, "tolerance": { "recall_at_5": 0.1 } }).to_string(),
    );
    measure(&project, &proxy.url, 1, &with).says("it is so much as the baseline says");
    measure(&project, &proxy.url, 1, &["--recall-floor", "0.3751"])
        .says("Gate (recall_at_5, floor): FAIL (value=0.3750 floor=0.3751)");
}

#[test]
fn credentials_that_a_search_declares_are_shown_to_nobody() {
    let project = project();
    let echo = Proxy::new(|asked, _| {
        let key = asked.key.clone().unwrap_or_default();
        (
            401,
            json!({ "error": format!("{} does not fit {key}, nor {}", asked.query, asked.path) })
                .to_string(),
        )
    });
    let words = [
        "hunter-of-keys-7",
        "parameter-of-4711",
        "other-parameter-0815",
        "header-of-2342",
    ];
    let search = |address: &str| {
        format!(
            "list: data.results\nid: \"{{{{tool.name}}}}\"\nhttp:\n  url: \"{address}/{0}/find?api_key={0}\"\n  query: {{ q: \"{{{{query}}}} {1}\", token: {1} }}\n  headers: {{ X-API-Key: {2} }}\n",
            words[1], words[2], words[3]
        )
    };
    let named = |url: &str| url.replace("http://", &format!("http://robot:{}@", words[0]));
    let broken = format!(
        "list: x\nid: y\nhttp: \"http://robot:{}@127.0.0.1:1/?api_key={}\"\n",
        words[0], words[1]
    );
    for text in [
        search(&named(&echo.url)),
        search(&named("http://127.0.0.1:1")),
        broken,
    ] {
        project.file("s.yaml", text);
        let ran = measure(&project, &echo.url, 3, &["--search", "s.yaml"]);
        for word in words {
            assert!(!ran.all().contains(word), "{word} in {ran:#?}");
            for file in ["report.json", "report.html", "report.md", "junit.xml"] {
                let path = format!("reports/retrieval/{file}");
                let text = if project.path(&path).exists() {
                    project.read(&path)
                } else {
                    String::new()
                };
                assert!(!text.contains(word), "{word} in {file}");
            }
        }
    }
    let asked = echo.asked();
    assert!(
        asked.iter().any(|it| it.key.as_deref() == Some(words[3])),
        "{asked:#?}"
    );
}

#[test]
fn a_file_with_variables_is_read_or_refused() {
    let project = project();
    let proxy = Proxy::finding(&IDS, FOUND);
    let lines = format!(
        "# wer fragt\nMCPPROXY_BASE_URL={}\nMCPPROXY_API_KEY=key-of-the-file\n",
        proxy.url
    );
    let wide = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| {
        [
            &mark[..],
            &lines.encode_utf16().flat_map(bytes).collect::<Vec<u8>>(),
        ]
        .concat()
    };
    let run = |code: i32| {
        project.expect(
            code,
            &[
                "retrieval",
                "--corpus",
                "corpus.json",
                "--golden",
                "sets/golden_v1.json",
            ],
        )
    };
    let first = lines.strip_prefix("# wer fragt\n").unwrap();
    for bytes in [
        lines.clone().into_bytes(),
        format!("\u{feff}{first}").into_bytes(),
        wide([0xff, 0xfe], u16::to_le_bytes),
        wide([0xfe, 0xff], u16::to_be_bytes),
    ] {
        std::fs::write(project.path(".env"), bytes).unwrap();
        run(0);
        assert_eq!(
            proxy.asked().last().unwrap().key.as_deref(),
            Some("key-of-the-file")
        );
    }
    let latin = lines.replace("wer", "f\u{fc}r");
    let latin = latin.chars().map(|it| u8::try_from(u32::from(it)).unwrap());
    let latin: Vec<u8> = "A=1\n".bytes().chain(latin).collect();
    std::fs::write(project.path(".env"), latin).unwrap();
    let asked = proxy.asked().len();
    run(3).says(".env:2: this is not text in UTF-8");
    assert_eq!(proxy.asked().len(), asked);
    let plain: Vec<u8> = lines.encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(project.path(".env"), plain).unwrap();
    run(3).says(".env:1: this is not text in UTF-8");
    // Where it is not needed, it is of no matter.
    measure(&project, &proxy.url, 0, &["--api-key", "k"]);
}

#[test]
fn ids_are_split_where_the_corpus_has_their_servers() {
    const TOOLS: [&str; 3] = ["my_files:list_all", "my:files_read", "a_b_c:d"];
    let project = project();
    let tools = TOOLS.map(|id| {
        let (server, tool) = id.split_once(':').unwrap();
        json!({ "tool_id": id, "server": server, "tool": tool, "description": "does it" })
    });
    project.file(
        "corpus.json",
        json!({ "version": "v1", "tools": tools }).to_string(),
    );
    let query = |id: &str, tool: &str| json!({ "id": id, "query": id, "labels": [{ "tool_id": tool, "relevance": 2 }] });
    let queries = TOOLS.map(|it| query(it.split_once(':').unwrap().1, it));
    project.file(
        "sets/golden_v1.json",
        json!({ "queries": queries }).to_string(),
    );
    project.file("s.yaml", "http: { url: \"{{base_url}}/api/v1/index/search\", query: { q: \"{{query}}\" } }\nlist: data.results\nid: \"{{tool.server_name}}_{{tool.name}}\"\nsplit: _\n");
    let proxy = Proxy::new(|asked, _| {
        let found = TOOLS
            .iter()
            .filter(|it| it.split_once(':').unwrap().1 == asked.query);
        (200, results(&found.copied().collect::<Vec<_>>(), 10))
    });
    measure(&project, &proxy.url, 0, &["--search", "s.yaml"]).says("Recall@1/3/5/10: 1.000");
}

#[test]
fn a_search_that_answers_a_few_at_most_is_reported() {
    let project = project();
    let capped = Proxy::new(|asked, _| match asked.path.as_str() {
        "/api/v1/tools" => (200, catalogue(&IDS)),
        _ => (200, results(&IDS, 5)),
    });
    let warning = "the search seems to answer 5 ids at most (4 of 4 answers have so many), although 10 are asked for";
    measure(&project, &capped.url, 0, &[]).says(warning);
    assert!(
        project
            .read("reports/retrieval/report.html")
            .contains(warning)
    );
    measure(&project, &Proxy::finding(&IDS, FOUND).url, 0, &[]).says_not("ids at most");
}

#[test]
fn every_miss_has_a_reason_and_every_tie_its_two_cases() {
    let deep: &[&str] = &[
        "b:four", "a:one", "a:two", "a:three", "b:five", "x:1", "x:2", "x:3", "x:4", "x:5", "x:6",
        "b:six",
    ];
    let proxy = Proxy::new(move |asked, _| match asked.path.as_str() {
        "/api/v1/tools" => (200, catalogue(&IDS[..5])),
        _ if asked.query == "nowhere" => (200, results(deep, asked.limit)),
        _ => (
            200,
            results(
                FOUND
                    .iter()
                    .find(|it| it.0 == asked.query)
                    .map_or(&[], |it| it.1),
                asked.limit,
            ),
        ),
    });
    let project = project();
    let mut labelled = golden();
    labelled["queries"][0]["labels"] =
        json!([{ "tool_id": "a:one", "relevance": 2 }, { "tool_id": "a:gone", "relevance": 1 }]);
    project.file("sets/golden_v1.json", labelled.to_string());
    measure(&project, &proxy.url, 3, &[])
        .says("the live catalogue differs from the corpus: 1 missing (b:six)");
    assert_eq!(report(&project)["metrics"], Value::Null);
    let ran = measure(&project, &proxy.url, 0, &["--allow-drift"]);
    let report = report(&project);
    let why = |query: usize| report["per_query"][query]["misses"][0]["why"].clone();
    assert_eq!(
        [0, 1, 2, 3].map(why),
        [
            json!("label_stale"),
            json!("not_found"),
            json!("not_in_catalogue"),
            json!("no_answer")
        ]
    );
    assert_eq!(report["further"]["repeated"], 1);
    assert_eq!(report["further"]["zero_hits"], json!(["q3", "q4"]));
    assert_eq!(report["catalogue"]["missing"], json!(["b:six"]));
    // Both of the second query have the same score.
    assert_eq!(report["ties"]["queries"], json!(["q2"]));
    assert!(report["ties"]["best"]["mrr"].as_f64() > report["metrics"]["mrr"].as_f64());
    assert_eq!(report["ties"]["worst"]["mrr"], report["metrics"]["mrr"]);
    ran.says("equal scores in q2");
}

#[test]
fn the_eleventh_is_ranked_below_and_what_was_graded_0_is_known() {
    const MANY: [&str; 12] = [
        "a:t0", "a:t1", "a:t2", "a:t3", "a:t4", "a:t5", "a:t6", "a:t7", "a:t8", "a:t9", "a:t10",
        "a:t11",
    ];
    let project = Project::new();
    let tools = MANY.map(|id| {
        json!({ "tool_id": id, "server": "a", "tool": &id[2..], "description": format!("does {}", &id[2..]) })
    });
    let corpus = json!({ "version": "v1", "generated_from": "by hand", "tools": tools });
    project.file("corpus.json", corpus.to_string());
    let labels =
        json!([{ "tool_id": "a:t10", "relevance": 1 }, { "tool_id": "a:t0", "relevance": 0 }]);
    let golden = json!({ "corpus_version": "v1", "queries": [{ "id": "q", "query": "something", "labels": labels }] });
    project.file("sets/golden_v1.json", golden.to_string());
    let proxy = Proxy::new(|asked, _| match asked.path.as_str() {
        "/api/v1/tools" => (200, catalogue(&MANY)),
        _ => (200, results(&MANY, asked.limit)),
    });
    measure(&project, &proxy.url, 0, &[]);
    let report = report(&project);
    let miss = &report["per_query"][0]["misses"][0];
    assert_eq!(
        (&miss["why"], &miss["rank"]),
        (&json!("ranked_below"), &json!(11))
    );
    assert_eq!(report["further"]["unlabelled_share"], json!(0.9));
}

#[test]
fn equal_scores_across_the_tenth_rank_are_reported_both_ways() {
    const SCORED: [&str; 12] = [
        "a:t0=9.9",
        "a:t1=9.8",
        "a:t2=9.7",
        "a:t3=9.6",
        "a:t4=9.5",
        "a:t5=9.4",
        "a:t6=9.3",
        "a:t7=9.2",
        "a:t8=9.1",
        "a:t9=8.0",
        "a:t10=8.0",
        "a:t11=7.0",
    ];
    let project = Project::new();
    let ids = SCORED.map(|it| it.split_once('=').unwrap().0);
    let tools = ids.map(|id| {
        json!({ "tool_id": id, "server": "a", "tool": &id[2..], "description": format!("does {}", &id[2..]) })
    });
    project.file(
        "corpus.json",
        json!({ "version": "v1", "tools": tools }).to_string(),
    );
    let query = |id: &str, tool: &str| json!({ "id": id, "query": id, "labels": [{ "tool_id": tool, "relevance": 2 }] });
    // Found as the tenth, missed as the eleventh, and two that no equal score touches.
    let queries = [
        query("tenth", "a:t9"),
        query("eleventh", "a:t10"),
        query("ninth", "a:t8"),
        query("twelfth", "a:t11"),
    ];
    project.file(
        "sets/golden_v1.json",
        json!({ "queries": queries }).to_string(),
    );
    let proxy = Proxy::new(move |asked, _| match asked.path.as_str() {
        "/api/v1/tools" => (200, catalogue(&ids)),
        _ => (200, results(&SCORED, asked.limit)),
    });
    measure(&project, &proxy.url, 0, &[])
        .says("equal scores in tenth, eleventh: at worst Recall@5 0.0000, MRR 0.0278");
    let found = report(&project);
    let at_ten = |of: &Value| of["recall_at"]["10"].clone();
    assert_eq!(
        [
            &found["metrics"],
            &found["ties"]["worst"],
            &found["ties"]["best"]
        ]
        .map(at_ten),
        [json!(0.5), json!(0.25), json!(0.75)]
    );
    let page = project.read("reports/retrieval/report.html");
    assert!(page.contains("They are in <code>tenth</code> <code>eleventh</code>."));
    assert!(
        project
            .read("reports/retrieval/report.md")
            .contains("Equal scores in tenth, eleventh")
    );
    // What comes next has another score.
    let other = Proxy::new(move |asked, _| match asked.path.as_str() {
        "/api/v1/tools" => (200, catalogue(&ids)),
        _ if asked.limit == 10 => (200, results(&SCORED, 10)),
        _ => (
            200,
            results(&[&SCORED[..10], &["a:t10=7.5", "a:t11=7.0"]].concat(), 100),
        ),
    });
    measure(&project, &other.url, 0, &[]).says_not("equal scores");
}

#[test]
fn figures_that_gate_nothing_are_on_the_page() {
    let project = project();
    let proxy = Proxy::finding(&IDS, FOUND);
    measure(&project, &proxy.url, 0, &[]);
    let report = report(&project);
    let page = project.read("reports/retrieval/report.html");
    let row = |name: &str, of: &Value| {
        let cells = ["1", "3", "5", "10"].map(|it| {
            let value = of[it].as_f64().unwrap();
            format!("<td class=\"number\">{value:.3}</td>")
        });
        format!("<th scope=\"row\">{name}</th>{}", cells.concat())
    };
    let further = &report["further"];
    for (name, of) in [
        ("Recall", &report["metrics"]["recall_at"]),
        (
            "Recall, grade 2 alone",
            &further["grade_2_only"]["recall_at"],
        ),
        ("Queries with any relevant id (hit)", &further["hit_at"]),
        (
            "Queries with all of them (complete)",
            &further["complete_at"],
        ),
    ] {
        let row = row(name, of);
        assert!(page.contains(&row), "no {row}");
    }
    let exponential = further["ndcg_exp_at_10"].as_f64().unwrap();
    assert!(page.contains(&format!("− 1: {exponential:.3}.")));
    // Hit and complete differ where one of two is found.
    assert_eq!(further["hit_at"]["5"], json!(0.5));
    assert_eq!(further["complete_at"]["5"], json!(0.25));
}

#[test]
fn a_baseline_that_failed_itself_is_reported() {
    let project = project();
    let proxy = Proxy::finding(&IDS, FOUND);
    measure(&project, &proxy.url, 1, &["--recall-floor", "0.9"]);
    project.file("base.json", project.read("reports/retrieval/report.json"));
    let note = "the baseline is a report of a measurement that failed what was demanded of it";
    measure(&project, &proxy.url, 0, &["--baseline", "base.json"]).says(note);
    project.edit("base.json", "\"failed\"", "\"passed\"");
    measure(&project, &proxy.url, 0, &["--baseline", "base.json"]).says_not(note);
    measure(&project, &proxy.url, 3, &["--baseline", "none.json"])
        .says("none.json: error: there is no such file: an earlier `report.json` is a baseline");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_query_without_an_answer_is_no_zero() {
    let project = project();
    for (body, message) in [
        ("<html>busy</html>", "it answered a page in place of JSON"),
        ("", "it answered nothing"),
        ("{\"data\": {}}", "the answer has no `data.results`"),
        (
            "{\"success\": false, \"error\": \"index is being built\"}",
            "index is being built",
        ),
        (
            "{\"data\": {\"results\": []}, \"error\": \"index not ready\"}",
            "it answered an error: index not ready",
        ),
        (
            "{\"data\": {\"results\": []}, \"errors\": [{\"message\": \"no shard\"}]}",
            "no shard",
        ),
        (
            "{\"success\": \"false\", \"data\": {\"results\": []}}",
            "it answered an error: of which it says no more",
        ),
    ] {
        let proxy = Proxy::new(move |asked, _| match asked.query.as_str() {
            "nowhere" => (200, body.to_owned()),
            _ if asked.path.ends_with("tools") => (200, catalogue(&IDS)),
            _ => (200, results(&["a:one"], 10)),
        });
        measure(&project, &proxy.url, 3, &[])
            .says("`q3` has no answer")
            .says(message);
        let report = report(&project);
        assert_eq!(
            (&report["status"], &report["metrics"]),
            (&json!("incomplete"), &Value::Null),
            "{body}"
        );
    }
    // What is there in part is no answer, and an error that is none is none.
    let partial = Proxy::new(|asked, _| match asked.path.as_str() {
        "/api/v1/tools" => (200, catalogue(&IDS)),
        _ => (206, results(&["a:one"], 10)),
    });
    measure(&project, &partial.url, 3, &[]).says("it answered HTTP 206");
    let polite = Proxy::new(|asked, _| {
        if asked.path.ends_with("tools") {
            return (200, catalogue(&IDS));
        }
        let found = results(&["a:one"], 10);
        (
            200,
            format!("{{\"error\":null,\"errors\":[],{}", &found[1..]),
        )
    });
    measure(&project, &polite.url, 0, &[]);
    // It dies after the first query, and is not asked for ever.
    let proxy = Proxy::new(|asked, number| match number {
        0 => (200, catalogue(&IDS)),
        1 => (200, results(&["a:one"], asked.limit)),
        _ => (0, String::new()),
    });
    measure(&project, &proxy.url, 3, &[]).says("`q2` has no answer");
    let failing = Proxy::new(|asked, _| {
        if asked.path.ends_with("tools") {
            (200, catalogue(&IDS))
        } else {
            (500, "{\"error\": \"broken\"}".to_owned())
        }
    });
    measure(&project, &failing.url, 3, &[])
        .says("HTTP 500: broken")
        .says("1 more queries were not asked");
    measure(&project, "http://127.0.0.1:1", 3, &[])
        .says("the catalogue of http://127.0.0.1:1 is not known");
    // A server without a list of its tools can be measured all the same.
    let bare = Proxy::new(|asked, _| {
        if asked.path.ends_with("tools") {
            (404, String::new())
        } else {
            (200, results(&["a:one"], asked.limit))
        }
    });
    measure(&project, &bare.url, 0, &[]).says("warning: the live catalogue is unknown");
}

#[test]
fn ids_that_are_written_otherwise_are_no_zero_either() {
    let project = project();
    let renamed = Proxy::new(|asked, _| {
        if asked.path.ends_with("tools") {
            (404, String::new())
        } else {
            (
                200,
                results(&["srv_a:one", "srv_a:two", "a:three"], asked.limit),
            )
        }
    });
    measure(&project, &renamed.url, 3, &[]).says("8 of 12 answered ids are not in the corpus: the search answers `srv_a:one`, `srv_a:two`, and the corpus has `a:one`, `a:two`, `a:three`");
    project.file(
        "sets/golden_v1.json",
        golden().to_string().replace("\"v1\"", "\"v2\""),
    );
    let ran = measure(&project, &renamed.url, 3, &[]);
    ran.says("sets/golden_v1.json:1:")
        .says("this was labelled on `v2`, and corpus.json is `v1`");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn queries_are_lost_and_won_one_by_one() {
    let project = project();
    let before = Proxy::finding(&IDS, FOUND);
    measure(&project, &before.url, 0, &[]);
    project.file("base.json", project.read("reports/retrieval/report.json"));
    let as_before = ["--baseline", "base.json", "--tolerance", "0"];
    measure(&project, &before.url, 0, &as_before)
        .says("Gate (recall_at_5): PASS")
        .says("equal, against the baseline: 4 queries got the same");
    let after = Proxy::finding(
        &IDS,
        &[
            ("first thing", &["a:two", "a:one"]),
            ("second & third?", &["b:four"]),
            ("nowhere", &["b:six"]),
        ],
    );
    let gate = ["--baseline", "base.json", "--max-lost", "0"];
    let ran = measure(&project, &after.url, 1, &gate);
    ran.says("Gate (recall_at_5): PASS")
        .says("Gate (lost queries): FAIL (1 lost, at most 0)");
    ran.says("lost, against the baseline: q2")
        .says("won, against the baseline: q3")
        .says("moved, against the baseline: q1")
        .says("q1: nDCG@10 -0.369, MRR -0.500, a:one 1 → 2");
    ran.says("a tolerance of 0.05 lets 0 of 4 queries be lost as a whole");
    let found = report(&project);
    assert_eq!(found["compared"]["tests"][0]["metric"], "recall_at_5");
    assert_eq!(found["compared"]["tests"][0]["p"], json!(1.0));
    assert_eq!(
        found["per_query"][0]["before"]["retrieved"],
        json!(["a:one", "a:two"])
    );
    project.file(
        "allowed.json",
        json!([{ "id": "q2", "reason": "the tool is being renamed", "until": "2999-12-31" }])
            .to_string(),
    );
    measure(
        &project,
        &after.url,
        0,
        &[&gate[..], &["--allow-lost", "allowed.json"]].concat(),
    )
    .says("and 1 allowed");
    let page = project.read("reports/retrieval/report.html");
    assert!(
        page.contains("<code>q2</code> may be lost until 2999-12-31: the tool is being renamed")
    );
    // What is lost comes first, and is marked.
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(at("<code>q2</code> <span class=\"badge") < at("<code>q1</code> <span class=\"badge"));
    assert!(page.contains(">lost, as allowed</span>"));
    assert!(page.contains(">won</span>"));
    project.file(
        "unexplained.json",
        json!([{ "id": "q2", "reason": " ", "until": "2999-12-31" }]).to_string(),
    );
    let unexplained = [&gate[..], &["--allow-lost", "unexplained.json"]].concat();
    measure(&project, &after.url, 3, &unexplained).says("its `reason` is empty");
    project.edit("allowed.json", "2999", "2001");
    measure(
        &project,
        &after.url,
        1,
        &[&gate[..], &["--allow-lost", "allowed.json"]].concat(),
    )
    .says("`q2` may not be lost any more, since 2002-01-01");
    project.edit("allowed.json", "q2", "q9");
    let with = [&gate[..], &["--allow-lost", "allowed.json"]].concat();
    measure(&project, &after.url, 1, &with).says("there is no query `q9`");
    // A bound that is just reached is kept.
    measure(&project, &before.url, 0, &["--recall-floor", "0.375"])
        .says("Gate (recall_at_5, floor): PASS");
    measure(&project, &before.url, 1, &["--recall-floor", "0.376"]);
    let most = ["--baseline", "base.json", "--max-lost", "1"];
    measure(&project, &after.url, 0, &most).says("Gate (lost queries): PASS (1 lost, at most 1)");
    let idle = ["--baseline", "base.json", "--tolerance", "0.375"];
    measure(&project, &before.url, 2, &idle).says("the gate cannot fail");
    // What is found in another order is distinguished from what is better or worse for it.
    let turned = Proxy::finding(&IDS, TURNED);
    let ran = measure(&project, &turned.url, 0, &["--baseline", "base.json"]);
    ran.says("answered otherwise with the same figures, against the baseline: 1 query")
        .says_not("moved, against");
    assert_eq!(report(&project)["compared"]["reordered"], json!(["q3"]));
    let page = project.read("reports/retrieval/report.html");
    assert!(page.contains(">answered otherwise, same figures</span>"));
    // What takes no rank is reported: whoever asks gets it all the same.
    let foreign = Proxy::finding(&IDS, &[("first thing", &["z:y", "z:y", "a:one", "a:two"])]);
    measure(&project, &foreign.url, 0, &[])
        .says("1 of 4 answered ids are not in the corpus and take no rank")
        .says("1 of 4 answers have an id more than once, which counts once")
        .says("as whoever asks gets it, Recall@1/3/5/10 is 0.000 0.250 0.250 0.250, and MRR 0.083");
    // A query that is asked no more is reported.
    let mut fewer = golden();
    fewer["queries"].as_array_mut().unwrap().pop();
    project.file("sets/golden_v1.json", fewer.to_string());
    measure(&project, &before.url, 0, &["--baseline", "base.json"])
        .says("the baseline has other queries");
    assert_eq!(report(&project)["compared"]["only_there"], json!(["q4"]));
    // Whether it is lost, nobody can say; nor of one that is another query now.
    fewer["queries"][1]["query"] = json!("first thing");
    fewer["queries"][1]["labels"] = json!([{ "tool_id": "a:one", "relevance": 2 }]);
    fewer["queries"][2]["labels"][0]["relevance"] = json!(1);
    project.file("sets/golden_v1.json", fewer.to_string());
    measure(&project, &before.url, 3, &gate)
        .says("with other words or labels than in the baseline: `q2`, `q3`; asked no more: `q4`")
        .says("Gate (lost queries): NOT MEASURED")
        .says_not("Gate (lost queries): PASS");
    let tests = project.read("reports/retrieval/junit.xml");
    assert!(!tests.contains("name=\"lost queries\"") && tests.contains("errors=\"1\""));
    let found = report(&project);
    assert_eq!(found["compared"]["changed"], json!(["q2", "q3"]));
    assert_eq!(found["compared"]["won"], json!([]));
    // What is asked for on the command line wins over what the baseline bears.
    let lenient = json!({ "recall_at": { "5": 0.9 }, "tolerance": { "recall_at_5": 0.8 } });
    project.file("lenient.json", lenient.to_string());
    let gate_of = |code: i32, more: &[&str]| {
        let with = [&["--baseline", "lenient.json"], more].concat();
        measure(&project, &before.url, code, &with)
    };
    gate_of(0, &[]);
    gate_of(1, &["--tolerance", "0.1"]);
    // One that cannot fail is none.
    let asked = before.asked().len();
    gate_of(2, &["--tolerance", "0.9"]).says("the gate cannot fail: recall@5 is 0.900");
    assert_eq!(before.asked().len(), asked);
    // A baseline of means alone does not know its queries.
    project.file(
        "means.json",
        json!({ "recall_at": { "5": 0.1 } }).to_string(),
    );
    measure(
        &project,
        &after.url,
        3,
        &["--baseline", "means.json", "--max-lost", "0"],
    )
    .says("the baseline does not list its queries");
}

#[test]
fn what_is_measured_with_is_not_written_over() {
    let project = project();
    let proxy = Proxy::finding(&IDS, FOUND);
    measure(&project, &proxy.url, 0, &[]);
    let before = project.read("reports/retrieval/report.json");
    let asked = proxy.asked().len();
    for path in [
        "reports/retrieval/report.json",
        "reports/../reports/retrieval/report.json",
    ] {
        measure(&project, &proxy.url, 2, &["--baseline", path])
            .says("is given as `--baseline`, and would be written over")
            .says("--out-dir");
    }
    assert_eq!(project.read("reports/retrieval/report.json"), before);
    assert_eq!(proxy.asked().len(), asked);
    let elsewhere = [
        "--baseline",
        "reports/retrieval/report.json",
        "--out-dir",
        "reports/now",
    ];
    measure(&project, &proxy.url, 0, &elsewhere);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_is_set_up_wrongly_is_no_zero() {
    let project = project();
    let silent = Proxy::new(|asked, _| {
        if asked.path.ends_with("tools") {
            (200, catalogue(&IDS))
        } else {
            (200, "{\"data\": {\"results\": null}}".to_owned())
        }
    });
    measure(&project, &silent.url, 3, &[]).says("nothing was found for any of the 4 queries");
    let proxy = Proxy::finding(&IDS, FOUND);
    measure(&project, &proxy.url, 0, &[]);
    for (query, message) in [
        (
            "{{qery}}",
            "s.yaml:2:63: `{{qery}}` in `http.query.q` would be sent as is",
        ),
        ("a", "s.yaml:2:1: `http` asks the same for every query"),
    ] {
        let search = format!(
            "list: data.results\nhttp: {{ url: \"{{{{base_url}}}}/api/v1/index/search\", query: {{ q: \"{query}\" }} }}\nid: \"{{{{tool.server_name}}}}:{{{{tool.name}}}}\"\nscore: rank.scoree\n"
        );
        project.file("s.yaml", &search);
        measure(&project, &proxy.url, 3, &["--search", "s.yaml"]).says(message);
        // What an earlier measurement left does not stand for this one.
        assert_eq!(report(&project)["status"], "incomplete");
        assert!(
            project
                .read("reports/retrieval/junit.xml")
                .contains("errors=\"1\"")
        );
    }
    project.edit(
        "s.yaml",
        "q: \"a\"",
        "q: \"{{query}}\", limit: \"{{limit}}\"",
    );
    measure(&project, &proxy.url, 0, &["--search", "s.yaml"])
        .says("`score` is `rank.scoree`, and nothing that was found has a number there");
    measure(
        &project,
        &proxy.url,
        3,
        &["--search", "s.yaml", "--wait", "5s"],
    )
    .says("the catalogue cannot be waited for");
    // Two searches are held against each other where there is no baseline, and besides it where there is one.
    let other = Proxy::finding(&IDS, FEWER);
    let search = project.read("s.yaml").replace("{{base_url}}", &other.url);
    project.file("t.yaml", search);
    let both = [
        "--search",
        "s.yaml",
        "--search",
        "t.yaml",
        "--max-lost",
        "0",
    ];
    measure(&project, &proxy.url, 1, &both).says("lost, against `s`: q2");
    project.file("u.yaml", project.read("s.yaml"));
    let alike = ["--search", "s.yaml", "--search", "u.yaml"];
    measure(&project, &proxy.url, 0, &alike).says("equal, against `s`: 4 queries got the same");
    project.file("base.json", project.read("reports/retrieval/report.json"));
    let with = [&both[..], &["--baseline", "base.json"]].concat();
    measure(&project, &proxy.url, 1, &with)
        .says("lost, against `s`: q2")
        .says("lost, against the baseline: q2");
    measure(&project, &proxy.url, 2, &["--max-lost", "0"]).says("another `--search`");
    // Where the first could not be measured, nobody can say what the second has lost.
    project.file(
        "gone.yaml",
        project
            .read("s.yaml")
            .replace("{{base_url}}", "http://127.0.0.1:1"),
    );
    let gone = [
        "--search",
        "gone.yaml",
        "--search",
        "t.yaml",
        "--max-lost",
        "3",
    ];
    measure(&project, &proxy.url, 3, &gone)
        .says("lost queries cannot be determined: `gone` could not be measured")
        .says_not("no gate");
    // A list that no answer has, one of several, is reported.
    let text = project.read("s.yaml");
    project.file(
        "two.yaml",
        text.replace("list: data.results", "list: [data.results, data.mroe]"),
    );
    measure(&project, &proxy.url, 0, &["--search", "two.yaml"])
        .says("nothing was found at `data.mroe`, one of the places in `list`");
    project.file("odd.yaml", text.replace("score:", "scroe:"));
    measure(&project, &proxy.url, 3, &["--search", "odd.yaml"])
        .says("odd.yaml:4:1: unknown key `scroe`; did you mean `score`?");
    let mut unlabelled = golden();
    unlabelled["queries"][0]["labels"] = json!([]);
    project.file("sets/golden_v1.json", unlabelled.to_string());
    measure(&project, &proxy.url, 3, &[]).says("`q1` has no labels");
}

#[test]
fn credentials_are_shown_to_nobody() {
    let project = project();
    let proxy = Proxy::finding(&IDS, FOUND);
    let named = proxy.url.replace("http://", "http://robot:hunter-of-keys@");
    let gone = "http://robot:hunter-of-keys@127.0.0.1:1";
    for (url, code) in [(named.as_str(), 0), (gone, 3)] {
        let ran = measure(&project, url, code, &[]);
        assert!(!ran.all().contains("hunter-of-keys"), "{ran:#?}");
        for file in ["report.json", "report.html", "report.md", "junit.xml"] {
            let text = project.read(format!("reports/retrieval/{file}"));
            assert!(!text.contains("hunter-of-keys"), "{file}");
        }
    }
    let snapshot = ["datasets", "snapshot", "--out", "new.json", "--base-url"];
    project.expect(0, &[&snapshot[..], &[&named]].concat());
    assert!(!project.read("new.json").contains("robot"));
    let ran = project.expect(3, &[&snapshot[..], &[gone]].concat());
    assert!(!ran.all().contains("hunter-of-keys"), "{ran:#?}");
    let echo = Proxy::new(|asked, _| {
        let key = asked.key.clone().unwrap_or_default();
        (
            401,
            json!({ "error": format!("no such key {key}") }).to_string(),
        )
    });
    let with = [&echo.url, "--api-key", "key-that-is-echoed"];
    let ran = project.expect(3, &[&snapshot[..], &with].concat());
    assert!(!ran.all().contains("key-that-is-echoed"), "{ran:#?}");
    // A search may send what the environment has.
    let search = "http: { url: \"{{base_url}}/api/v1/index/search\", query: { q: \"{{query}}\" }, headers: { X-API-Key: \"${WHO_ASKS}\" } }\nlist: data.results\nid: \"{{tool.server_name}}:{{tool.name}}\"\n";
    project.file("s.yaml", search);
    let mut command = project.command();
    command.args(["retrieval", "--corpus", "corpus.json", "--golden"]);
    command.args(["sets/golden_v1.json", "--search", "s.yaml"]);
    command.args(["--base-url", &echo.url]);
    let ran = crate::common::ran(command.env("WHO_ASKS", "somebody-of-the-team"));
    assert_eq!(ran.code, 3, "{ran:#?}");
    ran.says("no such key");
    assert!(!ran.all().contains("somebody-of-the-team"), "{ran:#?}");
    let asked = echo.asked();
    assert_eq!(
        asked.last().unwrap().key.as_deref(),
        Some("somebody-of-the-team")
    );
}

#[test]
fn a_key_that_is_a_piece_of_json_breaks_no_report() {
    let project = project();
    let proxy = Proxy::finding(&IDS, FOUND);
    for key in ["\": \"", "\",\n", "{\""] {
        let key = key.trim();
        measure(&project, &proxy.url, 0, &["--api-key", key]);
        assert_eq!(report(&project)["metrics"]["mrr"], json!(0.375), "{key}");
    }
    let snapshot = ["datasets", "snapshot", "--out", "new.json", "--base-url"];
    project.expect(
        0,
        &[&snapshot[..], &[&proxy.url, "--api-key", "\": \""]].concat(),
    );
    let corpus: Value = serde_json::from_str(&project.read("new.json")).unwrap();
    assert_eq!(corpus["tools"].as_array().map(Vec::len), Some(6));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_catalogue_is_waited_for_and_runs_are_compared() {
    let project = project();
    let proxy = Proxy::new(|asked, number| match asked.path.as_str() {
        "/api/v1/tools" => (200, catalogue(if number < 2 { &IDS[..3] } else { &IDS })),
        // The first run answers otherwise than the second.
        _ if asked.query == "first thing" && number < 8 => (200, results(&["a:one"], asked.limit)),
        _ => (200, results(&["a:two", "a:one"], asked.limit)),
    });
    let ran = measure(&project, &proxy.url, 0, &["--wait", "60s", "--runs", "2"]);
    ran.says("3 of 6 tools are there")
        .says("not deterministic: q1 answered otherwise in another run, which is 1 of 4 queries");
    let page = project.read("reports/retrieval/report.html");
    assert!(page.contains("Not deterministic: 1 of 4 queries"));
    let report = report(&project);
    let same = measure(&project, &proxy.url, 0, &["--runs", "3"]);
    same.says("deterministic: all 3 runs found the same ids in the same order for 4 queries");
    assert_eq!(
        (&report["deterministic"], &report["runs_averaged"]),
        (&json!(false), &json!(2))
    );
    assert_eq!(report["per_query"][0]["mrr"], json!(0.75));
    measure(
        &project,
        &Proxy::finding(&IDS[..2], FOUND).url,
        3,
        &["--wait", "1s"],
    )
    .says("the live catalogue differs from the corpus after 1 s: 4 missing")
    .says("--allow-drift");
    let few = Proxy::finding(&IDS[..2], FOUND);
    let all_the_same = ["--wait", "1s", "--allow-drift"];
    measure(&project, &few.url, 0, &all_the_same).says("differs from the corpus after 1 s");
    let restless = Proxy::new(|asked, number| match asked.path.as_str() {
        "/api/v1/tools" => {
            let last = format!("b:more{number}");
            (200, catalogue(&[&IDS[..], &[last.as_str()]].concat()))
        }
        _ => (200, results(&["a:two"], asked.limit)),
    });
    measure(&project, &restless.url, 3, &["--wait", "2s"])
        .says("it kept changing, and was not the same for");
    measure(&project, &proxy.url, 2, &["--wait", "soon"]);
}
