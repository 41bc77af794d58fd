//! The answers of a judge: what is kept of them, and what they may cost.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::desk::{CANARY, CRITERIA, EXAMPLES, Model, asked, document, examples, verdict};
use super::evaluator::shop;
use crate::common::{Project, commit_all};

const PRICED: &str = "provider: custom, price: { input: 1000, output: 1000 }";

#[test]
fn the_same_question_is_asked_once() {
    let project = Project::new();
    project.file("e.yaml", examples(PRICED, CRITERIA, EXAMPLES));
    let model = Model::new(|_, _| verdict(0.9));
    let check = |arguments: &[&str]| {
        let arguments = [&["judge", "check", "e.yaml"], arguments].concat();
        document(&project, &model.url, 0, &arguments)
    };
    let first = check(&[]);
    assert_eq!(first["usage"]["requests"], 5);
    assert_eq!(first["usage"]["cost"], 0.6);
    let again = check(&[]);
    assert_eq!(again["usage"]["requests"], 0);
    assert_eq!(again["usage"]["cached_votes"], 5);
    assert_eq!(again["usage"]["cost"], 0.0);
    assert_eq!(again["usage"]["input_tokens"], json!(null));
    assert_eq!(again["results"], first["results"]);
    assert_eq!(check(&["--no-cache"])["usage"]["requests"], 5);
    // Another model, temperature or standard is another question.
    for (from, to) in [
        ("model: j", "model: k"),
        ("model: k", "model: k, temperature: 0.5"),
        ("is paid", "is paid once"),
    ] {
        project.edit("e.yaml", from, to);
        assert_eq!(check(&[])["usage"]["requests"], 5, "{to}");
    }
    // Votes are questions of their own; the first has its answer.
    project.edit("e.yaml", "examples:", "votes: 3\nexamples:");
    let votes = check(&[]);
    assert_eq!(votes["usage"]["requests"], 10);
    assert_eq!(votes["usage"]["cached_votes"], 5);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn advisory_evaluators_take_no_money_from_those_that_gate() {
    const GATING: &str = "{ type: llm-judge, role: gating, criteria: The order is paid. }";
    const ADVISORY: &str = "{ type: llm-judge, role: advisory, criteria: The order is paid once. }";
    let within = |kind: &str| {
        let inner = ADVISORY.replace("once", kind);
        format!("{{ type: {kind}, role: advisory, of: [{inner}, {ADVISORY}] }}")
    };
    let not = format!("{{ type: not, role: advisory, of: {ADVISORY} }}");
    let cases = [
        vec![GATING.to_owned()],
        vec![ADVISORY.to_owned(), GATING.to_owned()],
        vec![not, GATING.to_owned(), ADVISORY.to_owned()],
        vec![within("any_of"), within("all_of"), GATING.to_owned()],
    ];
    let model = Model::new(|_, _| verdict(0.9));
    for (evaluators, budget) in cases
        .iter()
        .flat_map(|it| [(it, "--budget"), (it, "--judge-budget")])
    {
        let project = Project::new();
        let listed = evaluators.join("\n  - ");
        shop(
            &project,
            "provider: custom",
            &format!("evaluators:\n  - {listed}"),
        );
        // Enough for one question, which costs 0.12.
        let arguments = ["run", "--format", "json", "--no-cache", budget, "0.1"];
        let ran = asked(&project, &model.url, &arguments);
        assert_eq!(ran.code, 0, "{listed}: {ran:#?}");
        let result: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let evaluations = result["scenarios"][0]["evaluators"].as_array().unwrap();
        assert_eq!(evaluations.len(), evaluators.len());
        for (evaluation, written) in evaluations.iter().zip(evaluators) {
            let gates = written.as_str() == GATING;
            let (role, status) = if gates {
                ("gating", "passed")
            } else {
                ("advisory", "error")
            };
            assert_eq!(evaluation["role"], role, "{listed}");
            assert_eq!(evaluation["status"], status, "{listed}: {evaluation}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_asked_for_again() {
    let project = Project::new();
    project.file("e.yaml", examples(PRICED, CRITERIA, EXAMPLES));
    let model = Model::new(|_, _| verdict(0.9));
    let check = || document(&project, &model.url, 0, &["judge", "check", "e.yaml"]);
    check();
    let kept = fs::read_dir(project.path(".mcp-eval/cache"))
        .unwrap()
        .flatten();
    let kept: Vec<_> = kept.map(|it| it.path()).collect();
    assert_eq!(kept.len(), 5);
    let broken = ["", "{", "{\"format_version\": 99, \"answer\": {}}", "[]"];
    for (path, text) in kept.iter().zip(broken) {
        fs::write(path, text).unwrap();
    }
    let text = fs::read_to_string(&kept[4]).unwrap();
    fs::write(&kept[4], text.replace("0.9", "9.0")).unwrap();
    assert_eq!(check()["usage"]["requests"], 5);
    assert_eq!(check()["usage"]["requests"], 0);
}

#[test]
fn money_is_kept_within_a_budget() {
    let project = Project::new();
    project.file("e.yaml", examples(PRICED, CRITERIA, EXAMPLES));
    let model = Model::new(|_, _| verdict(0.9));
    let arguments = ["judge", "check", "e.yaml", "--budget", "0.2"];
    let ran = asked(&project, &model.url, &arguments);
    assert_eq!(ran.code, 3, "{ran:#?}");
    ran.says("the budget is spent: 0.2400 of 0.2 (`--budget`)");
    assert_eq!(model.bodies().len(), 2);
    let unpriced = PRICED.split(',').next().unwrap();
    project.file("e.yaml", examples(unpriced, CRITERIA, EXAMPLES));
    let ran = asked(&project, &model.url, &arguments);
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.says("the price of the judge is unknown")
        .says("`judge.price`");
}

/// All text below a folder.
fn all_text(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all_text(&path, text);
        } else {
            text.push_str(&String::from_utf8_lossy(&fs::read(&path).unwrap()));
        }
    }
}

#[test]
fn a_key_is_seen_nowhere() {
    let project = Project::new();
    project.file("e.yaml", examples(PRICED, CRITERIA, EXAMPLES));
    let model = Model::new(|_, _| {
        let mut verdict = verdict(0.9);
        verdict["reasoning"] = json!(format!("I was sent {CANARY}, \u{1b}[2Jand obey."));
        verdict["suggestions"] = json!([format!("Forget {CANARY}.")]);
        verdict
    });
    for arguments in [
        &["judge", "check", "e.yaml"][..],
        &["judge", "check", "e.yaml", "--format", "json"],
    ] {
        let ran = asked(&project, &model.url, arguments);
        assert_eq!(ran.code, 0, "{ran:#?}");
        assert!(!ran.all().contains(CANARY), "{ran:#?}");
        assert!(!ran.all().contains("\u{1b}[2J"), "{ran:#?}");
    }
    let mut text = String::new();
    all_text(&project.path(".mcp-eval"), &mut text);
    assert!(text.contains("and obey"), "{text}");
    assert!(!text.contains(CANARY), "{text}");
    // The key goes to the judge, in its header, and in nothing that the judge is asked.
    assert!(
        model
            .bodies()
            .iter()
            .all(|it| !it.to_string().contains(CANARY))
    );
}

#[test]
fn an_answer_from_the_cache_says_so_and_one_that_git_tracks_is_none() {
    const JUDGED: &str = "evaluators:\n  - { type: llm-judge, role: gating, votes: 2, criteria: The order is paid. }";
    let project = Project::new();
    shop(&project, "provider: custom", JUDGED);
    let model = Model::new(|_, _| verdict(0.2));
    let run = || asked(&project, &model.url, &["run"]);
    run().says("LLM judge score: 20.0%").says_not("cached)");
    run().says("LLM judge score: 20.0% (cached)");
    let page = project.read("reports/latest/shop.html");
    assert!(page.contains("20.0% (cached)"));
    assert_eq!(model.bodies().len(), 2);
    project.edit("scenarios/shop.yaml", "votes: 2", "votes: 3");
    run().says("LLM judge score: 20.0% (cached)");
    assert_eq!(model.bodies().len(), 3);
    run().says("20.0% (cached)");
    // Git leaves the folder alone unless somebody wants it.
    fs::remove_file(project.path(".mcp-eval/.gitignore")).unwrap();
    commit_all(&project.path(""), "All");
    run().says("git tracks .mcp-eval/").says_not("cached)");
    assert_eq!(model.bodies().len(), 6);
}
