//! Running only what matters: `-k`, `--changed` and `--last-failed`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::common::{Project, Ran, commit_all};

/// A scenario with a mock that answers `answer`, expected to say `wanted`.
fn scenario(name: &str, tags: &str, (answer, wanted): (&str, &str)) -> String {
    format!(
        "name: {name}\ntags: [{tags}]\nservers: {{ m: {{ type: mock }} }}\n\
         expected_trajectory: [{{ tool: look, args: {{}} }}]\nsuccess_criteria: [{{ text: {wanted} }}]\n\
         mcp_interactions: {{ m: {{ tools: [{{ name: look, annotations: {{ read_only_hint: true }}, responses: [{{ content: {answer} }}] }}] }} }}\n"
    )
}

/// Three scenarios that pass.
fn project() -> Project {
    let project = Project::new();
    for (path, name, tags) in [
        ("sky/weather", "Weather in a city", "slow, read"),
        ("sky/wind", "Wind", "read"),
        ("search", "Search for tools", "Tools"),
    ] {
        let text = scenario(name, tags, ("fine", "fine"));
        project.file(&format!("scenarios/{path}.yaml"), text);
    }
    project
}

/// The ids of the scenarios in a result, in order.
#[track_caller]
fn ran(project: &Project, code: i32, arguments: &[&str]) -> Vec<String> {
    ids(&project.result(code, arguments))
}

fn ids(result: &Value) -> Vec<String> {
    let scenarios = result["scenarios"].as_array().unwrap().iter();
    scenarios
        .map(|it| it["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn words_pick_scenarios_by_name_path_and_tag() {
    let project = project();
    for (arguments, picked) in [
        (&["-k", "weather"][..], &["sky/weather"][..]),
        (&["-k", "SKY/"], &["sky/weather", "sky/wind"]),
        (&["-k", "tools"], &["search"]),
        (&["-k", "tool"], &["search"]),
        (&["-k", "rea"], &[]),
        (&["-k", "read and not slow"], &["sky/wind"]),
        (
            &["-k", "search or (read and slow)"],
            &["search", "sky/weather"],
        ),
        (&["-k", "'in a city'"], &["sky/weather"]),
        (&["-k", "not wind", "--tag", "read"], &["sky/weather"]),
        (&["-k", "wind or search", "scenarios/sky"], &["sky/wind"]),
        (
            &["-k=search.yaml", "--scenario", "scenarios/search.yaml"],
            &["search"],
        ),
    ] {
        let arguments = [&["list"], arguments].concat();
        assert_eq!(ran(&project, 0, &arguments), picked, "{arguments:?}");
    }
    assert_eq!(ran(&project, 0, &["run", "-k", "wind"]), ["sky/wind"]);
    // Above the working directory, a path is no part of the choice.
    let here = project.path("scenarios").display().to_string();
    let above = project
        .path("")
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    project.expect(3, &["run", "-k", &above, &here]);
    project.expect(0, &["record", "-k", "wind"]);
    assert!(project.path("baselines/sky/wind").exists());
    assert!(!project.path("baselines/search").exists());
    assert_eq!(ran(&project, 0, &["compare", "-k", "wind"]), ["sky/wind"]);
    // The baseline of what was not picked has not lost its scenario.
    fs::remove_file(project.path("scenarios/sky/weather.yaml")).unwrap();
    fs::rename(
        project.path("baselines/sky/wind"),
        project.path("baselines/sky/gone"),
    )
    .unwrap();
    project.expect(0, &["run", "-k", "search"]);
    project
        .expect(0, &["list", "-k", "search"])
        .says_not("gone");
    project.expect(0, &["list"]).says("baselines/sky/gone");
}

#[test]
fn a_word_that_matches_no_scenario_is_reported() {
    let project = project();
    for command in ["run", "compare", "record"] {
        project
            .expect(3, &[command, "-k", "serch and not slow"])
            .says("no scenario matches `-k \"serch and not slow\"`")
            .says("nothing here is called or tagged `serch`; did you mean `search`?")
            .says_not("`slow`");
    }
    project
        .expect(3, &["run", "-k", "wind and search"])
        .says("each of its words matches some, and no scenario matches all of it");
    // A part of a name would do, and one of a tag does not.
    project
        .expect(3, &["run", "-k", "sl"])
        .says("nothing here is called or tagged `sl`; did you mean `slow`?");
    // What is mistyped behind `not` picks too much, and is reported as well.
    project
        .expect(0, &["run", "-k", "not serch"])
        .says("-k: nothing here is called or tagged `serch`; did you mean `search`?");
    project
        .expect(0, &["list", "-k", "widn"])
        .says("no scenario matches `-k widn`")
        .says("did you mean `wind`?");
    project
        .expect(3, &["validate", "-k", "widn"])
        .says("did you mean `wind`?");
    project
        .expect(3, &["run", "--tag", "slwo"])
        .says("no scenario has the tag slwo")
        .says("did you mean `slow`?");
    let refused = project.result(3, &["run", "-k", "widn"]);
    assert_eq!(refused["gate"]["exit_code"], 3);
    project
        .expect(0, &["validate", "-k", "wind"])
        .says("1 valid scenario,");
}

#[test]
fn a_wrong_expression_is_shown_with_its_place() {
    let project = project();
    let ran = project.expect(2, &["run", "-k", "wind and (slow or"]);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(
        lines[0].ends_with("a word is missing after `or`"),
        "{ran:#?}"
    );
    assert_eq!(lines[1], "  wind and (slow or");
    assert_eq!(
        lines[2],
        format!("  {}^", " ".repeat("wind and (slow or".len()))
    );
    project
        .expect(2, &["run", "-k", ""])
        .says("it says nothing");
    project
        .expect(2, &["compare", "--run", "x", "-k", "wind"])
        .says("cannot be used with");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_did_not_pass_last_time_is_run_again() {
    let project = project();
    let fails = scenario("Search for tools", "Tools", ("fine", "wrong"));
    let all = ["search", "sky/weather", "sky/wind"];
    let again =
        |arguments: &[&str]| -> Ran { project.run(&[arguments, &["--last-failed"]].concat()) };

    again(&["run"])
        .says("no earlier `mcp-eval run` of these scenarios is stored, so all are taken")
        .says("3/3 tests passed");
    again(&["run"]).says("all passed when `mcp-eval run` ran them last, so all are taken");
    project.file("scenarios/search.yaml", &fails);
    let broken = "servers: { m: { command: ./nowhere } }\n";
    let wind = project.read("scenarios/sky/wind.yaml");
    let without = wind
        .lines()
        .filter(|it| !it.starts_with("servers") && !it.starts_with("mcp"));
    let without: Vec<&str> = without.collect();
    project.file(
        "scenarios/sky/wind.yaml",
        format!("{}\n{broken}", without.join("\n")),
    );
    assert_eq!(ran(&project, 1, &["run"]), all);
    // An error did not pass either.
    assert_eq!(
        ran(&project, 1, &["run", "--last-failed"]),
        ["search", "sky/wind"]
    );
    project.file("scenarios/sky/wind.yaml", wind);
    again(&["run"]).says("2 of 3 did not pass when `mcp-eval run` ran them last (20");
    // One that passed meanwhile is not run again, and one that was not run then is still known.
    assert_eq!(ran(&project, 1, &["run", "--lf"]), ["search"]);
    project.expect(0, &["run", "scenarios/sky/weather.yaml"]);
    assert_eq!(ran(&project, 1, &["run", "--lf"]), ["search"]);
    // Of these, all passed.
    assert_eq!(
        ran(&project, 0, &["run", "--lf", "scenarios/sky"]),
        ["sky/weather", "sky/wind"]
    );
    // Another command has a past of its own; who only lists asks for any.
    again(&["record"]).says("no earlier `mcp-eval record` of these");
    project.expect(1, &["run"]);
    assert_eq!(ran(&project, 0, &["list", "--last-failed"]), ["search"]);
    // Nothing else that was picked failed.
    assert_eq!(
        ran(&project, 0, &["run", "--lf", "-k", "wind"]),
        ["sky/wind"]
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_fail_fast_has_left_out_counts_as_not_passed() {
    let project = project();
    project.file("scenarios/a.yaml", scenario("A", "", ("fine", "wrong")));
    project.edit("scenarios/sky/wind.yaml", "tags:", "enabled: false\ntags:");
    let all = ["a", "search", "sky/weather", "sky/wind"];
    assert_eq!(ran(&project, 1, &["run", "-x"]), all);
    project.file("scenarios/a.yaml", scenario("A", "", ("fine", "fine")));
    assert_eq!(ran(&project, 0, &["run", "--lf"]), &all[..3]);
    assert_eq!(
        ran(&project, 0, &["run", "--lf"]),
        all,
        "one is disabled, and none has failed"
    );
}

/// Three scenarios with defaults, a configuration and recorded baselines, all committed.
fn committed() -> Project {
    let project = project();
    project.file(".gitignore", ".mcp-eval/\nreports/\n");
    project.expect(0, &["record"]);
    commit_all(&project.path(""), "All");
    project
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_has_changed_is_run() {
    let project = committed();
    let nothing = project.expect(0, &["compare", "--changed"]);
    nothing.says(
        "Nothing to do: none of 3 scenarios, nor anything that they depend on, has changed since the last commit.",
    );
    assert!(nothing.stdout.starts_with("Nothing to do"), "{nothing:#?}");
    let document = project.result(0, &["compare", "--changed"]);
    assert_eq!(document["gate"]["name"], "unchanged");
    assert_eq!(document["gate"]["exit_code"], 0);
    assert_eq!(ids(&document), Vec::<String>::new());
    // It is no run: nothing is stored, and the last one stays the last.
    let runs = fs::read_dir(project.path(".mcp-eval/runs")).unwrap();
    let runs = runs.filter(|it| it.as_ref().unwrap().path().is_dir());
    assert_eq!(runs.count(), 1);
    let asked = [
        "--report",
        "json=some.json",
        "--report",
        "html=pages",
        "--report",
        "terminal",
    ];
    project.expect(0, &[&["compare", "--changed"][..], &asked].concat());
    let some: Value = serde_json::from_str(&project.read("some.json")).unwrap();
    assert_eq!(some["gate"]["name"], "unchanged");
    assert!(project.path("pages/index.html").exists());
    // The folder of the run, `latest`, and what keeps them out of git.
    assert_eq!(fs::read_dir(project.path("reports")).unwrap().count(), 3);
    project.expect(0, &["compare", "--changed", "--output", "out"]);
    assert!(project.path("out/index.html").exists() && project.path("out/result.json").exists());

    let changed = |arguments: &[&str]| {
        let all = [&["run", "--changed"], arguments].concat();
        let ran = project.run(&[&all[..], &["--format", "json"]].concat());
        ids(&serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:#?}")))
    };
    project.edit("scenarios/sky/wind.yaml", "fine", "fresh");
    assert_eq!(changed(&[]), ["sky/wind"]);
    assert_eq!(changed(&["-k", "weather"]), [""; 0]);
    project
        .expect(0, &["run", "--changed", "scenarios/sky"])
        .says("1 of 2 has changed since the last commit");
    // A new file, of which git does not know; one that is staged; a new file of defaults; one that was removed.
    project.file("scenarios/new.yaml", scenario("New", "", ("fine", "fine")));
    assert_eq!(changed(&[]), ["new", "sky/wind"]);
    project.file("scenarios/sky/_defaults.yaml", "timeout: 100s\n");
    assert_eq!(changed(&[]), ["new", "sky/weather", "sky/wind"]);
    commit_all(&project.path(""), "More");
    assert_eq!(changed(&[]), [""; 0]);
    fs::remove_file(project.path("scenarios/sky/_defaults.yaml")).unwrap();
    assert_eq!(changed(&[]), ["sky/weather", "sky/wind"]);
    commit_all(&project.path(""), "Less");
    let stage = |path: &str| {
        let repository = git2::Repository::open(project.path("")).unwrap();
        let mut index = repository.index().unwrap();
        index.add_path(Path::new(path)).unwrap();
        index.write().unwrap();
    };
    project.edit("scenarios/search.yaml", "fine", "found");
    stage("scenarios/search.yaml");
    assert!(changed(&[]).contains(&"search".to_owned()));
    assert_eq!(
        ran(&project, 0, &["list", "--changed", "-k", "search"]),
        ["search"]
    );
    project
        .expect(0, &["validate", "--changed", "-k", "search"])
        .says("1 valid scenario,");
}

#[test]
fn a_server_that_git_ignores_may_have_changed() {
    let project = committed();
    project.file(".gitignore", ".mcp-eval/\nreports/\nbuilt/\n");
    project.file("built/server.sh", "exit 1");
    project.file(
        "scenarios/built.yaml",
        "name: Built\nservers: { s: { command: sh, args: [built/server.sh] } }\nexpected_trajectory: [{ tool: x, args: {} }]\n",
    );
    commit_all(&project.path(""), "A server that is built");
    assert_eq!(ran(&project, 0, &["list", "--changed"]), ["built"]);
}

#[test]
fn interpreters_are_no_code() {
    let (project, other) = (committed(), Project::new());
    (other.file(".gitignore", "versions/\n"))
        .file("versions/python", "1")
        .file("tools/tool.sh", "1");
    commit_all(&other.path(""), "An interpreter, and a tool");
    project.file(".gitignore", ".mcp-eval/\nreports/\nvenv/\n");
    project.file("server/run.py", "1");
    fs::create_dir_all(project.path("venv/bin")).unwrap();
    symlink(
        other.path("versions/python"),
        project.path("venv/bin/python"),
    )
    .unwrap();
    let tool = other.path("tools/tool.sh").display().to_string();
    for (name, args) in [
        ("script", "server/run.py"),
        ("module", "-m, a_server"),
        ("tool", tool.as_str()),
    ] {
        project.file(
            &format!("scenarios/{name}.yaml"),
            format!(
                "name: {name}\nservers: {{ s: {{ command: venv/bin/python, args: [{args}] }} }}\n\
                 expected_trajectory: [{{ tool: x, args: {{}} }}]\n"
            ),
        );
    }
    commit_all(&project.path(""), "Three servers");
    assert!(ran(&project, 0, &["list", "--changed"]).is_empty());
    project
        .expect(0, &["list", "--changed"])
        .says("the code of `venv/bin/python -m a_server` is not known");
    project.file("server/run.py", "2");
    other.file("tools/untracked.sh", "1");
    let changed = ran(&project, 0, &["list", "--changed"]);
    assert_eq!(changed, ["script"]);
    other.file("tools/tool.sh", "2");
    let changed = ran(&project, 0, &["list", "--changed"]);
    assert_eq!(changed, ["script", "tool"]);
}

#[test]
fn code_beside_what_a_command_names_counts() {
    let project = committed();
    let plays = "expected_trajectory: [{ tool: x, args: {} }]\n";
    for (name, command) in [
        ("script", "command: sh, args: [server/run.sh]"),
        ("fetched", "command: npx, args: [a-server]"),
    ] {
        let servers = format!("servers: {{ s: {{ {command} }} }}\n");
        let scenario = format!("name: {name}\n{servers}{plays}");
        project.file(&format!("scenarios/{name}.yaml"), scenario);
    }
    (project.file("server/run.sh", ". lib/help.sh"))
        .file("server/lib/help.sh", "1")
        .file("server/README.md", "1");
    commit_all(&project.path(""), "A server of two files");
    (project.file("server/README.md", "2")).file("server/log.txt", "untracked");
    let nothing = project.expect(0, &["list", "--changed"]);
    nothing.says("has changed since the last commit (the code of `npx a-server` is not known");
    project.file("server/lib/help.sh", "2");
    assert_eq!(ran(&project, 0, &["list", "--changed"]), ["script"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_a_scenario_is_read_from_and_started_with_counts() {
    let project = committed();
    let folder = project.path("");
    let plays = "expected_trajectory: [{ tool: x, args: {} }]\n";
    let write = |name: &str, rest: &str| {
        project.file(
            &format!("scenarios/{name}.yaml"),
            format!("name: {name}\n{plays}{rest}"),
        );
    };
    write("configured", "config_file: servers.json\n");
    write("usual", "");
    write(
        "script",
        "servers: { s: { command: sh, args: [tools/server.sh] } }\n",
    );
    write(
        "hooked",
        "servers: { s: { command: sh } }\nbefore: [{ command: [sh, tools/reset.sh] }]\n",
    );
    write(
        "built",
        "servers: { s: { url: '${docker.url}/mcp' } }\ndocker: { build: ../image, port: 80 }\n",
    );
    write(
        "mounted",
        "servers: { s: { url: '${docker.url}/mcp' } }\ndocker: { image: i, port: 80, mounts: ['../seed:/seed'] }\n",
    );
    write(
        "made",
        "servers: { s: { command: sh } }\nsource: { repo: .., prepare: [[make]], inputs: ['../src/*.go'] }\n",
    );
    write(
        "whole",
        "servers: { s: { command: sh } }\nsource: { repo: .. }\n",
    );
    write(
        "picture",
        "servers: { m: { type: mock } }\nmcp_interactions: { m: { tools: [{ name: x, responses: [{ content: [{ type: image, mime_type: image/png, data_file: pixel.png }] }] }] } }\n",
    );
    let everything = [
        "servers.json",
        "mcp_servers.json",
        "tools/server.sh",
        "tools/reset.sh",
        "image/Dockerfile",
        "seed/one/two",
        "src/main.go",
        "scenarios/pixel.png",
        "README.md",
    ];
    let servers = r#"{"mcpServers": {"s": {"command": "sh"}}}"#;
    for file in everything {
        project.file(file, if file.ends_with("json") { servers } else { "1" });
    }
    commit_all(&folder, "Everything");
    for (file, concerned) in [
        ("servers.json", &["configured", "whole"][..]),
        ("mcp_servers.json", &["usual", "whole"]),
        // A command counts with the folder of what it names.
        ("tools/server.sh", &["hooked", "script", "whole"]),
        ("tools/reset.sh", &["hooked", "script", "whole"]),
        ("image/Dockerfile", &["built", "whole"]),
        ("seed/one/two", &["mounted", "whole"]),
        ("src/main.go", &["made", "whole"]),
        // Not the source of others, because it is a scenario's.
        ("scenarios/pixel.png", &["picture"]),
        ("README.md", &["whole"]),
        ("baselines/search/baseline.json", &["search"]),
        ("baselines/search/pending.json", &[]),
    ] {
        let before = fs::read(project.path(file)).ok();
        let text = before.clone().unwrap_or_default();
        project.file(file, [&text[..], b" \n"].concat());
        assert_eq!(
            ran(&project, 0, &["list", "--changed"]),
            concerned,
            "{file}"
        );
        match before {
            Some(before) => fs::write(project.path(file), before).unwrap(),
            None => fs::remove_file(project.path(file)).unwrap(),
        }
    }
    // Nobody records anew because a baseline has changed, and the servers of the command line concern all.
    project.edit("baselines/search/baseline.json", "{", "{ ");
    project
        .expect(0, &["record", "--changed", "scenarios/search.yaml"])
        .says("Nothing to do: none of 1 scenario, nor anything that it depends on, has changed");
    project.file(
        "other.json",
        r#"{"mcpServers": {"s": {"command": "false"}}}"#,
    );
    let concerned = project.result(
        3,
        &[
            "run",
            "--changed",
            "--mcp-config",
            "other.json",
            "-k",
            "search or wind or weather",
        ],
    );
    assert_eq!(ids(&concerned).len(), 3);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn changes_count_since_a_branch_began() {
    let project = committed();
    let folder = project.path("");
    let repository = git2::Repository::open(&folder).unwrap();
    let head =
        |repository: &git2::Repository| repository.head().unwrap().peel_to_commit().unwrap().id();
    let base = repository.find_commit(head(&repository)).unwrap();
    repository.branch("main2", &base, false).unwrap();
    repository.branch("topic", &base, false).unwrap();
    repository.set_head("refs/heads/main2").unwrap();
    project.edit("scenarios/search.yaml", "fine", "found");
    commit_all(&folder, "Main goes on");
    repository.set_head("refs/heads/topic").unwrap();
    repository
        .checkout_head(Some(git2::build::CheckoutBuilder::new().force()))
        .unwrap();
    project.edit("scenarios/sky/wind.yaml", "fine", "fresh");
    commit_all(&folder, "Topic");
    project.edit("scenarios/sky/weather.yaml", "fine", "fair");

    assert_eq!(
        ran(&project, 0, &["list", "--changed=main2"]),
        ["sky/weather", "sky/wind"]
    );
    assert_eq!(ran(&project, 0, &["list", "--changed"]), ["sky/weather"]);
    project
        .expect(0, &["list", "--changed=main2"])
        .says("2 of 3 have changed since")
        .says("All, the last commit in common with `main2`");
    project
        .expect(2, &["run", "--changed=origin/main"])
        .says("the repository has no commit `origin/main`")
        .says("`git fetch origin main`");
    // A variable that is not set does not silently mean something else.
    project
        .expect(2, &["run", "--changed="])
        .says("names no commit");
}

#[test]
fn without_git_nothing_is_known_to_have_changed() {
    let project = project();
    project
        .expect(2, &["run", "--changed"])
        .says("`--changed` cannot tell what has changed around scenarios/search.yaml: not in a git repository");
    let document = project.result(2, &["compare", "--changed"]);
    assert_eq!(document["gate"]["exit_code"], 2);
}
