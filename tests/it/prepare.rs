//! What is done before a system under test can be started, at the program.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::common::{Project, commit_all, faulty_server};

/// A project with a repository `server` beside it, whose server answers with what was built from `say`.
pub(crate) struct Sourced {
    pub(crate) project: Project,
}

impl Sourced {
    /// `source` is merged into the section of the scenario.
    pub(crate) fn new(source: &Value) -> Self {
        let project = Project::new();
        let sourced = Self { project };
        let server = faulty_server();
        let run = format!("#!/bin/sh\nexec {server} \"text=$(cat \"$(dirname \"$0\")/built\")\"\n");
        sourced.project.file("server/run.sh", run);
        let run = sourced.project.path("server/run.sh");
        fs::set_permissions(run, fs::Permissions::from_mode(0o755)).unwrap();
        let build = "set -e\necho \"building $MARK\"\necho x >> ../built\ncp say built\n";
        sourced.project.file("server/build.sh", build);
        sourced.project.file("server/.gitignore", "built\n");
        let mut section = json!({
            "repo": "../server",
            "prepare": [["sh", "build.sh"]],
            "env": { "MARK": "of-mine" },
        });
        for (key, value) in source.as_object().unwrap() {
            section[key] = value.clone();
        }
        let scenario = json!({
            "name": "Says",
            "source": section,
            "servers": { "s": { "command": "${source.dir}/run.sh" } },
            "agent": { "kind": "scripted", "calls": [{ "tool": "count", "args": { "a": 1 } }] },
        });
        sourced
            .project
            .file("scenarios/says.yaml", scenario.to_string());
        sourced
    }

    /// Writes what the server is to say.
    pub(crate) fn says(&self, text: &str) -> &Self {
        self.project.file("server/say", text);
        self
    }

    /// Commits all files of the server; returns the commit's identity.
    pub(crate) fn commit(&self, message: &str) -> String {
        commit_all(&self.project.path("server"), message)
    }

    /// How often it was built.
    pub(crate) fn builds(&self) -> usize {
        fs::read_to_string(self.project.path("built")).map_or(0, |it| it.lines().count())
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_is_built_from_its_source_when_that_has_changed() {
    let sourced = Sourced::new(&json!({}));
    sourced.says("seven").commit("Say seven");
    let project = &sourced.project;
    project
        .expect(0, &["record", "-v"])
        .says("Says: building `sh build.sh`")
        .says("Says: built `sh build.sh` in ")
        .says("; log: .mcp-eval/prepared/");
    assert_eq!(sourced.builds(), 1, "both takes are of one build");
    project.expect(0, &["compare"]).says("1/1 tests passed");
    assert_eq!(sourced.builds(), 1, "nothing has changed");
    let log = fs::read_dir(project.path(".mcp-eval/prepared")).unwrap();
    let log = log.flatten().map(|it| it.path());
    let log: Vec<_> = log
        .filter(|it| it.extension().is_some_and(|it| it == "log"))
        .collect();
    assert_eq!(
        fs::read_to_string(&log[0]).unwrap(),
        "$ sh build.sh\nbuilding of-mine\n"
    );

    sourced.says("eight");
    project.expect(1, &["compare"]).says("seven").says("eight");
    assert_eq!(sourced.builds(), 2, "what is not committed counts");
    sourced.commit("Say eight");
    project.expect(1, &["compare"]);
    project.expect(1, &["compare"]);
    assert_eq!(sourced.builds(), 3);
    // Nothing is built for servers that are not started.
    sourced.says("nine");
    project.expect(0, &["compare", "--servers", "recorded"]);
    assert_eq!(sourced.builds(), 3);
}

#[test]
fn what_a_build_depends_on_can_be_named() {
    let inputs = json!({ "inputs": ["../server/s*", "../server/build.sh"] });
    let sourced = Sourced::new(&inputs);
    let project = &sourced.project;
    sourced.says("seven");
    project.expect(0, &["record"]);
    project.file("server/else", "1");
    project.expect(0, &["compare"]);
    assert_eq!(sourced.builds(), 1);
    sourced.says("eight");
    project.expect(1, &["compare"]);
    assert_eq!(sourced.builds(), 2);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_build_that_fails_is_an_error_that_says_what_it_said() {
    for (prepare, expected) in [
        (
            json!({ "prepare": [["sh", "-c", "echo no such header: $MARK; exit 4"]] }),
            &[
                "`sh -c echo no such header: $MARK; exit 4` exited with code 4",
                "no such header: of-mine",
                "all it said: .mcp-eval/prepared/",
            ][..],
        ),
        (
            json!({ "prepare": [["no-such-compiler", "build"]] }),
            &["`no-such-compiler build` cannot be started: No such file or directory"],
        ),
        (
            json!({ "prepare": [["sh", "-c", "sleep 60"]], "timeout": "300ms" }),
            &["did not end within 300ms (`timeout` changes that)"],
        ),
        (
            json!({ "prepare": [["sh", "-c", "echo $API_KEY; exit 1"]], "env": { "API_KEY": "canary-of-mine-77" } }),
            &["<secret:env.API_KEY>"],
        ),
        (
            json!({ "prepare": [["make"]], "cwd": "../nowhere" }),
            &["is not a folder"],
        ),
    ] {
        let sourced = Sourced::new(&prepare);
        sourced.says("seven").commit("Say seven");
        let ran = sourced.project.expect(3, &["record"]);
        for it in expected {
            ran.says(it);
        }
        assert!(!ran.all().contains("canary-of-mine"), "{ran:#?}");
        assert!(!sourced.project.path("baselines").exists());
        // It is no more prepared the next time.
        sourced.project.expect(3, &["run"]).says(expected[0]);
    }
}

#[test]
fn what_means_nothing_is_said() {
    let sourced = Sourced::new(&json!({ "prepare": null, "env": null, "inputs": ["x"] }));
    let ran = sourced.project.expect(2, &["validate"]);
    ran.says("`inputs` means nothing without `prepare`");
    let sourced = Sourced::new(&json!({ "prepare": [[]] }));
    sourced
        .project
        .expect(2, &["validate"])
        .says("names no program");
    let sourced = Sourced::new(&json!({ "repo": null, "prepare": null, "env": null }));
    let ran = sourced.project.expect(3, &["record"]);
    ran.says("nothing in the scenario provides `source.dir`");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_was_built_by_others_is_not_taken_for_ones_own() {
    let sourced = Sourced::new(&json!({}));
    let project = &sourced.project;
    sourced.says("seven").commit("Say seven");
    project.expect(0, &["record"]);
    // Somebody else built something else there, or removed what was built.
    project.file("server/built", "eight");
    project.expect(0, &["compare"]);
    assert_eq!(sourced.builds(), 2);
    fs::remove_file(project.path("server/built")).unwrap();
    project.expect(0, &["compare"]);
    assert_eq!(sourced.builds(), 3);
    // Another scenario builds another thing in the same folder.
    let other = project.read("scenarios/says.yaml").replace(
        "[\"sh\",\"build.sh\"]",
        "[\"sh\",\"-c\",\"echo other > built\"]",
    );
    project.file("other/other.yaml", other);
    project.expect(0, &["run", "other/other.yaml"]);
    project.expect(0, &["compare"]);
    assert_eq!(sourced.builds(), 4);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_edit_while_it_is_built_is_built_next() {
    let slow = json!({ "prepare": [["sh", "-c", "cp say built; echo x >> ../built; sleep 0.2; echo late > say"]] });
    let sourced = Sourced::new(&slow);
    sourced.says("seven").commit("Say seven");
    let project = &sourced.project;
    project.expect(0, &["run"]);
    project.expect(0, &["run"]);
    assert_eq!(sourced.builds(), 2);
    project.expect(0, &["run"]);
    assert_eq!(sourced.builds(), 2);
}

#[test]
fn all_of_a_repository_counts_for_what_lies_in_a_part_of_it() {
    let sourced = Sourced::new(&json!({}));
    let project = &sourced.project;
    commit_all(&project.path("scenarios"), "x");
    fs::remove_dir_all(project.path("scenarios/.git")).unwrap();
    project.file("shared", "one");
    sourced.says("seven");
    commit_all(&project.path(""), "All in one");
    project.expect(0, &["run"]);
    project.file("shared", "two");
    project.expect(0, &["run"]);
    assert_eq!(sourced.builds(), 2);
}

#[test]
fn inputs_that_are_not_there_are_an_error() {
    let sourced = Sourced::new(&json!({ "inputs": ["../sever/*"] }));
    sourced.says("seven");
    let ran = sourced.project.expect(3, &["run"]);
    ran.says("`inputs`: ").says("sever/* matches no file");
}

#[test]
fn two_versions_are_built_one_after_the_other() {
    let sourced = Sourced::new(&json!({}));
    let project = &sourced.project;
    let cache = project.path("cache");
    // It fails where another build is at work in the cache that they share.
    let build = format!("set -e\nmkdir {cache:?}\nsleep 0.5\ncp say built\nrmdir {cache:?}\n");
    project.file("server/build.sh", build);
    sourced.says("seven").commit("Say seven");
    sourced.says("eight");
    let ran = project.expect(1, &["compare", "--against", "git:HEAD"]);
    ran.says("seven").says("eight");
    for what in ["`sh build.sh`", "`sh build.sh` at HEAD"] {
        ran.says(&format!("Says: building {what} Says: built {what} in "));
    }
}

#[test]
fn what_one_scenario_cannot_build_is_not_built_for_the_next() {
    let fails = json!({ "prepare": [["sh", "-c", "echo x >> ../built; exit 4"]] });
    let sourced = Sourced::new(&fails);
    sourced.says("seven").commit("Say seven");
    let project = &sourced.project;
    let text = project.read("scenarios/says.yaml");
    project.file("scenarios/too.yaml", text.replace("Says", "Too"));
    let ran = project.expect(3, &["run", "--jobs", "1"]);
    ran.says("`sh -c echo x >> ../built; exit 4` exited with code 4")
        .says("2 scenarios: ");
    assert_eq!(sourced.builds(), 1);
}

#[test]
fn a_source_that_is_not_there_is_an_error_that_says_who_names_it() {
    let sourced = Sourced::new(&json!({ "prepare": null, "env": null }));
    fs::rename(sourced.project.path("server"), sourced.project.path("away")).unwrap();
    sourced
        .project
        .expect(3, &["run"])
        .says("`source.repo` names the folder of the source, but there is no folder /");
    let sourced = Sourced::new(&json!({}));
    fs::rename(sourced.project.path("server"), sourced.project.path("away")).unwrap();
    sourced
        .project
        .expect(0, &["validate"])
        .says("scenarios/says.yaml:1:")
        .says("warning: there is no folder")
        .says("scenarios/../server");
    let nowhere = "`source.repo` names the folder of the source, but there is no folder /";
    sourced.project.expect(3, &["run"]).says(nowhere);
    let against = ["compare", "--against", "git:HEAD"];
    sourced.project.expect(2, &against).says(nowhere);
    // What `source.repo` refers to is not set, so it names nothing.
    sourced
        .project
        .edit("scenarios/says.yaml", "\"repo\":\"", "\"repo\":\"${NOPE}/");
    let mut command = sourced.project.command();
    let command = command.arg("run").env("MCPPROXY_SOURCE_PATH", "/nowhere");
    let ran = crate::common::ran(command);
    assert_eq!(ran.code, 3, "{ran:#?}");
    ran.says("the environment variable MCPPROXY_SOURCE_PATH names the folder of the source, but there is no folder /nowhere");
}

#[test]
fn secrets_of_the_environment_are_hidden_in_what_a_build_says() {
    let sourced = Sourced::new(&json!({ "prepare": [["sh", "-c", "echo is $MY_TOKEN; exit 1"]] }));
    sourced.says("seven");
    let mut command = sourced.project.command();
    let command = command.arg("run").env("MY_TOKEN", "S3cr3t-Value-of-99x");
    let ran = crate::common::ran(command);
    assert_eq!(ran.code, 3, "{ran:#?}");
    ran.says("is <secret:env.MY_TOKEN>");
    for file in walkdir::WalkDir::new(sourced.project.path(".mcp-eval")) {
        let file = file.unwrap();
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        assert!(!text.contains("S3cr3t-Value"), "{:?}", file.path());
    }
}

#[test]
fn the_list_shows_the_source_and_every_image() {
    let sourced = Sourced::new(&json!({}));
    let project = &sourced.project;
    sourced.says("seven").commit("Say seven");
    project.file(
        "scenarios/plain.yaml",
        "name: Plain\nservers: { s: { command: x } }\nexpected_trajectory: [{ tool: x }]\n",
    );
    let repository = git2::Repository::open(project.path("server")).unwrap();
    let head = repository.head().unwrap();
    let branch = head.shorthand().unwrap();
    let list = || project.expect(0, &["list"]);
    list().says("SOURCE").says(&format!("server ({branch})"));
    sourced.says("eight");
    list().says(&format!("server ({branch}, changed)"));
    let listed = project.result(0, &["list"]);
    let [plain, says] = &listed["scenarios"].as_array().unwrap()[..] else {
        panic!("{listed:#}");
    };
    assert_eq!(plain.get("source"), None);
    assert_eq!(says["source"]["ref"], branch);
    assert_eq!(says["source"]["dirty"], true);
    repository
        .set_head_detached(head.target().unwrap())
        .unwrap();
    let short = head.target().unwrap().to_string();
    list().says(&format!("({}, changed)", &short[..7]));

    let image = |name: &str| json!({ "image": format!("mcp-eval-test/no-such-{name}"), "port": 1 });
    let several = json!({
        "name": "Several",
        "containers": { "one": image("a"), "other": image("b") },
        "servers": { "s": { "type": "http", "url": "${containers.one.url}/mcp" } },
        "expected_trajectory": [{ "tool": "x" }],
    });
    project.file("scenarios/says.yaml", several.to_string());
    // Whether there is an engine or not.
    list()
        .says("(image mcp-eval-test/no-such-a")
        .says("(image mcp-eval-test/no-such-b")
        .says_not("SOURCE");
    let images = project.result(0, &["list"])["scenarios"][1]["images"].clone();
    let names = [&images[0]["container"], &images[1]["container"]];
    assert_eq!(names, ["one", "other"]);
}
