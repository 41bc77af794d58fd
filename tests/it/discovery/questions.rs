//! `datasets gen-queries`: questions that a model writes, over real HTTP.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Project, StandIn, stand_in};

/// A project with a corpus of these tools, and a stand-in that follows a script; `model.yaml` names it.
fn stage(provider: &str, tools: &[&str], script: &str) -> (Project, StandIn) {
    let project = Project::new();
    let tools = tools.iter().map(|id| {
        let (server, tool) = id.split_once(':').unwrap();
        json!({ "tool_id": id, "server": server, "tool": tool, "description": format!("It does {tool}.") })
    });
    project.file(
        "corpus.json",
        json!({ "version": "v1", "generated_from": "by hand", "tools": tools.collect::<Vec<_>>() })
            .to_string(),
    );
    project.file("llm.yaml", format!("llm_interactions:\n{script}"));
    let (stand_in, url) = stand_in(&project, "llm.yaml");
    project.file(
        "model.yaml",
        format!(
            "provider: {provider}\nmodel: m\nbase_url: {url}\nprice: {{ input: 1, output: 2 }}\n"
        ),
    );
    (project, stand_in)
}

/// An answer with these questions, as an API takes it.
fn answer(provider: &str, questions: &[&str]) -> String {
    let given = json!({ "questions": questions });
    let said = if provider == "ollama" {
        json!({ "text": given.to_string(), "usage": { "input": 100, "output": 20 } })
    } else {
        json!({ "tool_calls": [{ "name": "verdict", "arguments": given }], "usage": { "input": 100, "output": 20 } })
    };
    format!("  - {said}\n")
}

const WRITE: [&str; 9] = [
    "datasets",
    "gen-queries",
    "--corpus",
    "corpus.json",
    "--out",
    "golden.json",
    "--model-file",
    "model.yaml",
    "--per-tool=2",
];

#[test]
fn a_model_is_asked_again_for_questions_that_name_the_tool() {
    for provider in ["anthropic", "openai", "ollama"] {
        let script = answer(
            provider,
            &["what does my letter say", "please READ_FILE a.txt"],
        ) + &answer(provider, &["show me what is in the notes", "one too many"]);
        let (project, _stand_in) = stage(provider, &["files:read_file"], &script);
        let ran = project.expect(0, &WRITE);
        ran.says("2 questions for 1 tool in golden.json")
            .says("Left to you")
            .says("datasets pool")
            // 200 tokens in, 40 out.
            .says("2 requests")
            .says("0.00028");
        let golden: Value = serde_json::from_str(&project.read("golden.json")).unwrap();
        assert_eq!(golden["corpus_version"], "v1");
        let queries = golden["queries"].as_array().unwrap();
        let pairs: Vec<_> = queries
            .iter()
            .map(|it| (it["id"].as_str().unwrap(), it["query"].as_str().unwrap()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("q0001", "what does my letter say"),
                ("q0002", "show me what is in the notes")
            ],
            "{provider}"
        );
        assert_eq!(
            queries[1]["labels"],
            json!([{ "tool_id": "files:read_file", "relevance": 2 }])
        );
        let log = project.read("asked.jsonl");
        let again = log.lines().nth(1).unwrap();
        assert!(again.contains("names the tool"), "{again}");
        project
            .expect(
                0,
                &[
                    "datasets",
                    "validate",
                    "--corpus",
                    "corpus.json",
                    "--golden",
                    "golden.json",
                ],
            )
            .says("OK: 2 queries valid against v1");
    }
}

#[test]
fn questions_that_stay_of_no_use_are_left_out_and_reported() {
    let same = answer("openai", &["read_file please", "how is the weather"]);
    let script = same.repeat(3);
    let tools = ["files:read_file", "calendar:list_events"];
    let (project, _stand_in) = stage("openai", &tools, &script);
    let ran = project.expect(0, &WRITE);
    // Each is asked three times at most. What names another tool is no name of this one.
    ran.says("6 requests")
        .says("left out: 1 question of files:read_file:")
        .says("left out: 1 question of calendar:list_events: the last question that was refused is one that there is already");
    let golden: Value = serde_json::from_str(&project.read("golden.json")).unwrap();
    let pairs: Vec<_> = golden["queries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["query"].clone(), it["labels"][0]["tool_id"].clone()))
        .collect();
    assert_eq!(
        pairs,
        [
            (json!("how is the weather"), json!("files:read_file")),
            (json!("read_file please"), json!("calendar:list_events"))
        ]
    );
    // Nothing is replaced unless that is asked for.
    project.file("golden.json", "mine");
    project
        .expect(2, &WRITE)
        .says("golden.json is there already");
    assert_eq!(project.read("golden.json"), "mine");
    project.expect(0, &[&WRITE[..], &["--force"]].concat());
    assert!(project.read("golden.json").contains("how is the weather"));
}

#[test]
fn without_a_whole_nothing_is_written() {
    // The second request is answered with an error that no other would change.
    let broken = answer("openai", &["how is the weather"])
        + "  - error: { status: 400, message: no more }\n";
    let (project, _stand_in) = stage("openai", &["files:read_file"], &broken);
    project
        .expect(3, &WRITE)
        .says("no more")
        .says("1 question had been written");
    // A budget that is used up.
    let (dear, _stand_in) = stage(
        "openai",
        &["files:read_file"],
        &answer("openai", &["how is the weather"]).repeat(3),
    );
    dear.expect(3, &[&WRITE[..], &["--budget", "0.0001"]].concat())
        .says("the budget is spent");
    // Nothing that can be used.
    let (useless, _stand_in) = stage(
        "openai",
        &["files:read_file"],
        &answer("openai", &["read_file!"]).repeat(3),
    );
    useless.expect(3, &WRITE).says("no usable question");
    // Somebody stops it while the model thinks.
    let (slow, _stand_in) = stage("openai", &["files:read_file"], &answer("openai", &["x"]));
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    slow.file(
        "model.yaml",
        format!("provider: openai\nmodel: m\nbase_url: {url}\n"),
    );
    let child = slow
        .command()
        .args(WRITE)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _asked = silent.accept().unwrap();
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    for project in [&project, &dear, &useless, &slow] {
        assert!(!project.path("golden.json").exists());
    }
}
