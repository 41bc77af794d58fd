//! Two versions of a system under test in one command, at the program.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Project;
use crate::prepare::Sourced;

fn sourced() -> Sourced {
    let sourced = Sourced::new(&json!({}));
    sourced
        .says("the price is 7 at 12:00:01")
        .commit("Say seven");
    sourced.project.file("server/else", "1");
    sourced.commit("Change nothing");
    sourced
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_working_copy_is_compared_with_a_commit_and_nothing_else_is_written() {
    let sourced = sourced();
    let project = &sourced.project;
    project
        .expect(0, &["compare", "-v", "--against", "git:HEAD~1"])
        .says("1/1 tests passed")
        .says("compared with git:HEAD~1 (");
    sourced.says("the price is 8 at 12:00:01");
    let ran = project.expect(1, &["compare", "--against", "git:HEAD"]);
    ran.says("price is 7")
        .says("price is 8")
        .says("Change nothing");
    let result = project.result(1, &["compare", "--against", "git:HEAD"]);
    let scenario = &result["scenarios"][0];
    let with = scenario["compared_with"].as_str().unwrap();
    assert!(
        with.starts_with("git:HEAD (") && with.ends_with(" Change nothing)"),
        "{with}"
    );
    assert!(
        !project
            .read("reports/latest/says.html")
            .contains("review --accept")
    );
    let stamp = |side: &str| scenario[side]["stamp"]["source"].clone();
    assert_eq!(stamp("baseline")["subject"], "Change nothing");
    assert_eq!(stamp("baseline")["dirty"], false);
    assert_eq!(stamp("current")["dirty"], true);
    assert!(!project.path("baselines").exists());
    assert!(!project.path(".mcp-eval/sources").exists());
    // What was changed is committed: the new commit is the one before no more.
    sourced.commit("Say eight");
    project
        .expect(2, &["compare", "--against", "git:HEAD"])
        .says("that is the current version, unchanged");
    project
        .expect(1, &["compare", "--against", "git:HEAD~1"])
        .says("price is 8");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_varies_is_known_from_both_versions() {
    let sourced = sourced();
    let project = &sourced.project;
    let server = crate::common::faulty_server();
    let run = format!("#!/bin/sh\nexec {server} \"text=now $(date +%s%N), id $$\"\n");
    project.file("server/run.sh", run);
    let ran = project.expect(1, &["compare", "--against", "git:HEAD"]);
    ran.says("the price is 7");
    sourced.commit("Say now");
    project.file("server/else", "2");
    project
        .expect(0, &["compare", "--against", "git:HEAD"])
        .says("1/1 tests passed");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_varies_in_this_version_alone_is_unsteady_and_no_pass() {
    let sourced = sourced();
    let project = &sourced.project;
    let server = crate::common::faulty_server();
    let says = |price: &str, id: &str| {
        let text = format!(r#"{{\"price\": {price}, \"id\": {id}}}"#);
        let run = format!("#!/bin/sh\nexec {server} \"text={text}\"\n");
        project.file("server/run.sh", run);
    };
    says("7", "5");
    sourced.commit("Say five");
    says("7", "$$");
    let against = ["compare", "--against", "git:HEAD"];
    project
        .expect(3, &against)
        .says("unsteady: this version, call 1");
    let result = project.result(3, &against);
    let answers = result["scenarios"][0]["unsteady"]["answers"]
        .as_array()
        .unwrap();
    assert_eq!(answers.len(), 1, "{answers:#?}");
    assert_eq!(answers[0]["path"], "response/content/0/json/id");
    assert_ne!(answers[0]["first"], answers[0]["again"]);
    // What fails besides is a regression.
    says("8", "$$");
    project.expect(1, &against);
    // Where both vary there, neither is unsteady.
    says("7", "$$");
    sourced.commit("Say anything");
    project.file("server/else", "3");
    project.expect(0, &against);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_cannot_be_compared_is_an_error() {
    let sourced = sourced();
    let project = &sourced.project;
    let expect = |against: &str, says: &str| {
        project
            .expect(2, &["compare", "--against", against])
            .says(says);
    };
    expect("git:no-such", "has no commit `no-such`");
    expect(
        "v1.0",
        "write git:REF, image:NAME, config:FILE, url:URL, protocol:REVISION, run:ID or baseline:DIR",
    );
    expect("https://host/mcp", "write url:https://host/mcp");
    expect("gti:HEAD", "`gti` is none of git");
    expect("image:x", "no container");
    expect("url:http://127.0.0.1:1/mcp", "no server over HTTP");
    expect("config:nowhere.json", "there is no file nowhere.json");
    expect(
        "run:nowhere",
        "no stored run in .mcp-eval/runs/ has an id that begins with this",
    );
    expect("run:latest", "there is no latest one");
    // A version that cannot be built is no failure of the other one.
    let id = sourced.commit("x");
    project.edit("server/build.sh", "set -e", "exit 5");
    let broken = sourced.commit("Break the build");
    project.edit("server/build.sh", "exit 5", "set -e");
    project
        .expect(3, &["compare", "--against", &format!("git:{broken}")])
        .says("exited with code 5")
        .says("Break the build");
    project.expect(0, &["compare", "--against", &format!("git:{id}")]);
    // Nothing of what is run comes from the source: the two would be one.
    let server = crate::common::faulty_server();
    project.edit("scenarios/says.yaml", "${source.dir}/run.sh", &server);
    expect("git:HEAD", "nothing that it starts comes from its source");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_address_where_nobody_listens_is_said_before_anything_is_run() {
    let project = Project::new();
    let scenario = json!({
        "name": "S",
        "before": [["touch", "begun"]],
        "servers": { "s": { "type": "http", "url": "http://127.0.0.1:${port}/mcp",
            "start": { "command": "true", "args": ["${port}"] } } },
        "expected_trajectory": [{ "tool": "echo" }],
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let began = Instant::now();
    project
        .expect(
            3,
            &[
                "compare",
                "--against",
                &format!("url:http://{address}/mcp?key=open-sesame"),
            ],
        )
        .says(&format!(
            "nothing can be compared with url:http://{address}/mcp: there is no server"
        ))
        .says_not("open-sesame");
    assert!(began.elapsed() < Duration::from_secs(10));
    assert!(!project.path("begun").exists());
}

#[test]
fn a_version_that_is_not_all_there_says_what_is_missing() {
    let sourced = Sourced::new(&json!({}));
    let project = &sourced.project;
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5\n",
        "ab".repeat(32)
    );
    project
        .file("server/.gitattributes", "*.bin filter=lfs\n")
        .file("server/model.bin", pointer);
    sourced.says("seven").commit("Say seven");
    project.file("server/else", "1");
    project
        .expect(0, &["compare", "-v", "--against", "git:HEAD"])
        .says("Say seven; model.bin is a Git LFS pointer")
        .says("`git lfs fetch --all` gets it");
    // A submodule that nobody has got.
    let repository = git2::Repository::open(project.path("server")).unwrap();
    let declared = "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib\n";
    project.file("server/.gitmodules", declared);
    sourced.commit("Say where a library is");
    let mut index = repository.index().unwrap();
    let mut link = index.get_path("say".as_ref(), 0).unwrap();
    link.mode = 0o160_000;
    link.path = b"lib".to_vec();
    link.id = git2::Oid::from_str(&"12".repeat(20)).unwrap();
    index.add(&link).unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let parent = repository.head().unwrap().peel_to_commit().unwrap();
    let who = parent.author();
    let id = repository.commit(Some("HEAD"), &who, &who, "Use it", &tree, &[&parent]);
    id.unwrap();
    project.file("server/else", "2");
    project
        .expect(2, &["compare", "--against", "git:HEAD"])
        .says("the submodule `lib` is missing")
        .says("submodule update --init --recursive");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_criteria_say_of_the_other_version_is_not_said_of_a_baseline() {
    let sourced = sourced();
    let project = &sourced.project;
    let criteria = "\"success_criteria\":[\"a discount of 5\",{\"tool_never_called\":\"count\"}],\"name\":\"Says\"";
    project.edit("scenarios/says.yaml", "\"name\":\"Says\"", criteria);
    project.file("server/else", "2");
    // A criterion that both fail says nothing of either.
    let seven = project.result(3, &["compare", "--against", "git:HEAD"]);
    let checks = |result: &Value| result["scenarios"][0]["checks"].to_string();
    assert!(
        checks(&seven).contains("the other version does not say it\"")
            && checks(&seven).contains("both the other version and this run call the tool"),
        "{seven:#}"
    );
    sourced.says("the price is 7 at 12:00:01, a discount of 5");
    let run = project.result(1, &["compare", "--against", "git:HEAD"]);
    assert!(checks(&run).contains("the other version does not say it; this one does"));
    let stored = |it: &Value| it["run_id"].as_str().unwrap().to_owned();
    let of = format!("run:{}", stored(&seven));
    let two = project.result(1, &["compare", "--run", &stored(&run), "--against", &of]);
    assert!(
        checks(&two).contains("the other version does not say it"),
        "{two:#}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_run_is_compared_with_a_stored_one() {
    let sourced = sourced();
    let project = &sourced.project;
    let kept = |project: &Project, code: i32| -> String {
        project.result(code, &["run"])["run_id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let seven = kept(project, 0);
    sourced.says("the price is 8 at 12:00:01");
    let eight = kept(project, 0);
    let again = kept(project, 0);
    let against = |id: &str| format!("run:{id}");
    project
        .expect(1, &["compare", "--against", &against(&seven)])
        .says("price is 7");
    project.expect(0, &["compare", "--against", &against(&eight)]);
    // By the beginning of its id, or as the latest one.
    project
        .expect(
            1,
            &["compare", "--against", &against(&seven[..seven.len() - 1])],
        )
        .says("price is 7");
    project
        .expect(2, &["compare", "--against", &against(&seven[..4])])
        .says("the ids of several runs begin with")
        .says(&seven)
        .says(&eight);
    sourced.says("the price is 9 at 12:00:01");
    project
        .expect(1, &["compare", "--against", "run:latest"])
        .says("price is 8");
    project.expect(0, &["compare", "--against", "run:latest"]);
    sourced.says("the price is 8 at 12:00:01");
    let stored = |code: i32, run: &str, of: &str| -> Value {
        project.result(code, &["compare", "--run", run, "--against", &against(of)])
    };
    assert_eq!(
        stored(1, &eight, &seven)["scenarios"][0]["status"],
        "failed"
    );
    assert_eq!(
        stored(0, &eight, &again)["scenarios"][0]["status"],
        "passed"
    );
    project
        .expect(2, &["compare", "--run", &eight, "--against", "git:HEAD"])
        .says("`--run` runs nothing");
    // Only the scenarios that are named.
    project.faulty("other", &["random"], &[("count", json!({}))]);
    let (first, second) = (kept(project, 0), kept(project, 0));
    let named = "scenarios/says.yaml";
    let against_first = against(&first);
    let two = ["compare", "--run", &second, "--against", &against_first];
    let all = project.result(1, &two);
    assert_eq!(all["scenarios"].as_array().unwrap().len(), 2, "{all:#}");
    let one = project.result(0, &[&two[..], &[named]].concat());
    assert_eq!(one["scenarios"].as_array().unwrap().len(), 1, "{one:#}");
    assert_eq!(one["scenarios"][0]["id"], "says");
    assert_eq!(one["summary"]["selected"], 1);
    std::fs::remove_file(project.path("scenarios/other.yaml")).unwrap();
    project
        .expect(
            2,
            &["compare", "--run", &eight, "--against", &against(&eight)],
        )
        .says("one and the same run");
    project.expect(0, &["record"]);
    project.expect(0, &["compare", "--against", "baseline:baselines"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn another_configuration_takes_the_part_of_the_baseline() {
    let project = Project::new();
    project.faulty("s", &["text=seven"], &[("count", json!({ "a": 1 }))]);
    let other = |text: &str| {
        json!({ "mcpServers": { "s": {
            "command": crate::common::faulty_server(), "args": [format!("text={text}")],
        } } })
    };
    let same = other("seven").to_string();
    project.file("own.json", &same);
    project.file(
        "same.json",
        same.replace("\"args\"", "\"env\":{\"X\":\"1\"},\"args\""),
    );
    project
        .expect(2, &["compare", "--against", "config:own.json"])
        .says("it is run with anyway");
    project.file("other.json", other("eight").to_string());
    project.expect(0, &["compare", "--against", "config:same.json"]);
    project
        .expect(1, &["compare", "--against", "config:other.json"])
        .says("eight");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_first_bad_commit_is_found() {
    let sourced = sourced();
    let project = &sourced.project;
    let mut ids = vec![sourced.commit("Good")];
    for number in 1..=9 {
        project.file("server/else", number.to_string());
        match number {
            4 => drop(project.edit("server/build.sh", "set -e", "exit 5")),
            5 => drop(project.edit("server/build.sh", "exit 5", "set -e")),
            7 => drop(sourced.says("the price is 8 at 12:00:01")),
            _ => {}
        }
        ids.push(sourced.commit(&format!("Change {number}")));
    }
    let ran = project.expect(0, &["bisect", "--good", &ids[0]]);
    ran.says(&format!("first bad commit: {} Change 7", ids[7]))
        .says("price is 8");
    assert!(!project.path(".mcp-eval/bisect.json").exists());
    let found = project.result(0, &["bisect", "--good", &ids[0]]);
    let commit = &found["bisected"]["first_bad"][0];
    assert_eq!(
        (&commit["commit"], &commit["subject"]),
        (&json!(ids[7]), &json!("Change 7"))
    );
    assert_eq!(found["gate"]["exit_code"], 0);
    let ran = project.expect(3, &["bisect", "--good", &ids[3], "--bad", &ids[4]]);
    ran.says("cannot be compared");
    project
        .expect(3, &["bisect", "--good", &ids[0], "--bad", &ids[3]])
        .says("no scenario fails at the bad commit");
    project
        .expect(2, &["bisect", "--good", &ids[9], "--bad", &ids[1]])
        .says("does not come before");
    project
        .expect(2, &["bisect", "--good", &ids[0], "--resume"])
        .says("no search to continue");
    // Where the commit before it cannot be run, it may have been that one.
    project.edit("server/build.sh", "set -e", "exit 5");
    sourced.commit("Break the build");
    project.edit("server/build.sh", "exit 5", "set -e");
    sourced
        .says("the price is 9 at 12:00:01")
        .commit("Say nine");
    let ran = project.expect(3, &["bisect", "--good", &ids[9]]);
    ran.says("one of these")
        .says("Break the build")
        .says("Say nine");
    ran.says("skipped ").says_not("Change 9\n");
    let found = project.result(3, &["bisect", "--good", &ids[9]]);
    let bisected = &found["bisected"];
    let of = |it: &Value, key: &str| it[key].as_str().unwrap().to_owned();
    let subjects: Vec<String> = (bisected["first_bad"].as_array().unwrap().iter())
        .map(|it| of(it, "subject"))
        .collect();
    assert_eq!(subjects, ["Break the build", "Say nine"]);
    assert!(
        of(bisected, "reason").contains("price is 9"),
        "{bisected:#}"
    );
    let [skipped] = &bisected["skipped"].as_array().unwrap()[..] else {
        panic!("{bisected:#}");
    };
    assert_eq!(of(skipped, "subject"), "Break the build");
    assert_eq!(found["gate"]["exit_code"], 3);
    // Its log is there although others were built after it.
    let why = of(skipped, "why");
    assert!(why.contains("exited with code 5"), "{why}");
    let log = why.split_once("all it said: ").unwrap().1;
    assert!(log.contains(&of(skipped, "commit")[..12]), "{log}");
    assert!(project.path(log).exists());
    // A server that goes away during a call that the good version answered is a bad one, and no accident.
    project.edit("server/run.sh", "exec", "exec false #");
    let _ = sourced.commit("Start nothing");
    project.edit("server/run.sh", "exec false #", "exec");
    project.edit("server/run.sh", "\"text=", "die-after=0 \"text=");
    let id = sourced.commit("Die in the call");
    let ran = project.expect(3, &["bisect", "--good", "HEAD~2"]);
    ran.says(&id).says("Start nothing");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_the_good_commit_says_by_chance_hides_no_crash() {
    let sourced = sourced();
    let project = &sourced.project;
    let server = crate::common::faulty_server();
    let run =
        |dies: &str| format!("#!/bin/sh\nexec {server} {dies} \"text=now $(date +%s%N), id $$\"\n");
    project.file("server/run.sh", run(""));
    let good = sourced.commit("Say now");
    project.file("server/else", "2");
    sourced.commit("Change nothing more");
    project.file("server/run.sh", run("die-after=0"));
    let bad = sourced.commit("Die in the call");
    project
        .expect(0, &["bisect", "--good", &good])
        .says(&format!("first bad commit: {bad} Die in the call"))
        .says("(1 commit left)");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_search_that_was_interrupted_goes_on() {
    let slow =
        json!({ "prepare": [["sh", "-c", "sleep 0.4; cp say built; echo x >> \"$BUILDS\""]] });
    let sourced = Sourced::new(&slow);
    let project = &sourced.project;
    let builds = project.path("built");
    project.edit("scenarios/says.yaml", "of-mine", "x").edit(
        "scenarios/says.yaml",
        "\"MARK\":\"x\"",
        &format!("\"BUILDS\":{:?}", builds.to_str().unwrap()),
    );
    let mut ids = vec![sourced.says("seven").commit("Good")];
    for number in 1..=8 {
        project.file("server/else", number.to_string());
        if number == 3 {
            sourced.says("eight");
        }
        ids.push(sourced.commit(&format!("Change {number}")));
    }
    let arguments = ["bisect", "--good", &ids[0]];
    let mut child = project
        .command()
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(
        said.any(|it| it.unwrap().starts_with("  ")),
        "something is found"
    );
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(rest.iter().any(|it| it.contains("--resume")), "{rest:?}");
    assert!(!project.path(".mcp-eval/sources").exists());
    project
        .expect(0, &["bisect", "--good", &ids[0], "--resume"])
        .says("going on: 1 of 7 commits are known")
        .says(&format!("first bad commit: {} Change 3", ids[3]));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn both_versions_are_built_in_their_own_folders_whatever_the_keys_say() {
    // Paths below the repository lead into the version's own folder.
    let below = json!({ "cwd": "../server", "inputs": ["../server/sa*"] });
    let sourced = Sourced::new(&below);
    let project = &sourced.project;
    sourced.says("seven").commit("Say seven");
    sourced.says("eight");
    project
        .expect(1, &["compare", "--against", "git:HEAD"])
        .says("seven")
        .says("eight");
    // What one version was asked must not be there for the other: they take turns where something is reset.
    project.edit(
        "scenarios/says.yaml",
        "\"name\":\"Says\"",
        "\"name\":\"Says\",\"before\":[[\"sh\",\"-c\",\"echo begins >> ../log\"]],\"after\":[[\"sh\",\"-c\",\"sleep 0.1; echo ends >> ../log\"]]",
    );
    project.expect(1, &["compare", "--against", "git:HEAD"]);
    let log: Vec<String> = walkdir::WalkDir::new(project.path(""))
        .into_iter()
        .flatten()
        .filter(|it| it.file_name() == "log")
        .map(|it| std::fs::read_to_string(it.path()).unwrap())
        .collect();
    let log = if log.is_empty() {
        std::fs::read_to_string(project.path("").parent().unwrap().join("log")).unwrap()
    } else {
        log.concat()
    };
    let lines: Vec<&str> = log.lines().collect();
    assert!(
        lines.len() >= 4 && lines.chunks(2).all(|it| it == ["begins", "ends"]),
        "{log}"
    );
}

#[test]
fn what_fails_on_both_versions_is_no_success() {
    let sourced = sourced();
    let project = &sourced.project;
    project.edit("server/run.sh", "\"text=", "tool-error \"x=");
    sourced.commit("Fail");
    project.file("server/else", "2");
    project
        .expect(3, &["compare", "--against", "git:HEAD"])
        .says("it fails on both versions");
}
