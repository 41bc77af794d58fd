//! `init`: from nothing to a first scenario, and with a server to a first verdict.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{Project, Ran, faulty_server, in_terminal, served};
use mcp_eval::scenario_file::servers::{Server, Start, Transport};
use mcp_eval::scenario_file::{self, FirstCall, FirstScenario, Options, first_scenario};

/// A mock server with these tools, as a command line.
fn server(project: &Project, tools: &Value) -> String {
    let file = json!({ "mcp_interactions": { "hub": { "tools": tools } } });
    project.file("hub.yaml", file.to_string());
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    project.file(
        "bin/hub",
        format!("#!/bin/sh\necho called >> starts.log\nexec '{program}' mock hub.yaml \"$@\"\n"),
    );
    let path = project.path("bin/hub");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    "./bin/hub".to_owned()
}

fn reading(name: &str, schema: &Value, answer: &Value) -> Value {
    json!({ "name": name, "annotations": { "read_only_hint": true }, "input_schema": schema, "responses": [answer] })
}

/// What most servers are like: some tools read, some do more, and some need what nobody can guess.
fn tools() -> Value {
    let any = json!({ "type": "object" });
    let unit = json!({ "type": "object", "properties": { "unit": { "enum": ["celsius", "kelvin"] } }, "required": ["unit"] });
    let path = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    json!([
        reading("list", &any, &json!({ "content": "a list" })),
        reading("weather", &unit, &json!({ "content": "{{args.unit}}" })),
        reading("read", &path, &json!({ "content": "of {{args.path}}" })),
        reading("broken", &any, &json!({ "content": "the disk is on fire", "is_error": true })),
        reading("slow", &any, &json!({ "content": "at last", "delay": "30s" })),
        { "name": "add", "input_schema": path, "responses": [{ "content": "added {{args.path}}" }] },
        { "name": "reset", "responses": [{ "content": "all is gone" }] },
    ])
}

fn starts(project: &Project) -> usize {
    project.read("starts.log").lines().count()
}

#[test]
fn an_empty_folder_gets_a_scenario_that_runs() {
    let project = Project::new();
    project.file(".gitignore", "target");
    let ran = project.expect(0, &["init"]);
    ran.says("wrote scenarios/first.yaml")
        .says("mcp-eval record scenarios/first.yaml");
    assert_eq!(
        project.read(".gitignore"),
        "target\n.mcp-eval/\nreports/\npending.json\n"
    );
    project
        .expect(0, &["validate"])
        .says("1 valid scenario, 0 errors, 0 warnings");
    project.expect(0, &["record", "scenarios/first.yaml"]);
    project.expect(0, &["compare", "scenarios/first.yaml"]);
    assert_eq!(
        project.read(".gitattributes"),
        "baselines/**/baseline.json linguist-generated\nbaselines/_catalogues/*.json linguist-generated\n"
    );
    // Also where nobody says so above them.
    for folder in [".mcp-eval", "reports"] {
        assert_eq!(project.read(format!("{folder}/.gitignore")), "*\n");
    }

    // Again: nothing is written twice, and nothing replaced.
    project.edit("scenarios/first.yaml", "name: First", "name: Mine");
    let before = (
        project.read("scenarios/first.yaml"),
        project.read(".gitignore"),
    );
    project
        .expect(0, &["init"])
        .says("scenarios/ has 1 scenario");
    project
        .expect(2, &["init", "--name", "first"])
        .says("scenarios/first.yaml is there already")
        .says("--name");
    let after = (
        project.read("scenarios/first.yaml"),
        project.read(".gitignore"),
    );
    assert_eq!(before, after);
    project.expect(0, &["init", "--name", "team/second"]);
    assert!(project.path("scenarios/team/second.yaml").is_file());
}

#[test]
fn configurations_of_clients_are_found_and_listed() {
    let project = Project::new();
    project.file(
        ".mcp.json",
        json!({ "mcpServers": { "hub": { "command": "hub" } } }).to_string(),
    );
    let desktop = ".config/Claude/claude_desktop_config.json";
    project.file(desktop, json!({ "mcpServers": { "notes": { "command": "notes" }, "web": { "url": "http://x/mcp" } } }).to_string());
    project.file(".cursor/mcp.json", "{ not even JSON");
    project.file(".gemini/settings.json", r#"{ "theme": "dark" }"#);
    let ran = project.expect(0, &["init"]);
    ran.says("mcp-eval init --mcp-config .mcp.json # Claude Code: hub")
        .says(&format!("{desktop} # Claude Desktop: notes, web"))
        .says_not("gemini");
}

#[test]
fn configurations_are_found_from_folders_below_and_of_this_project_alone() {
    let project = Project::new();
    git2::Repository::init(project.path("repository")).unwrap();
    let at = |name: &str| json!({ "mcpServers": { name: { "command": name } } });
    project.file("repository/.mcp.json", at("above").to_string());
    project.file(".mcp.json", at("too-far").to_string());
    project.file(
        "repository/deep/down/.vscode/mcp.json",
        "{ // of the editor\n \"servers\": { \"edited\": { \"command\": \"x\" }, } }",
    );
    let folder = project.path("repository").canonicalize().unwrap();
    let of_claude = json!({ "numStartups": 7, "projects": {
        folder.to_str().unwrap(): at("local"),
        "/somewhere/else": at("elsewhere"),
    } });
    project.file("home/.claude.json", of_claude.to_string());
    let mut command = project.command();
    let below = project.path("repository/deep/down");
    command.args(["init"]).current_dir(&below);
    let listed = crate::common::ran(command.env("HOME", project.path("home")));
    assert_eq!(listed.code, 0, "{listed:#?}");
    listed
        .says("--mcp-config .vscode/mcp.json # VS Code: edited")
        .says("--mcp-config ../../.mcp.json # Claude Code: above")
        .says(".claude.json # Claude Code: local")
        .says_not("too-far")
        .says_not("elsewhere");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_becomes_a_scenario_a_baseline_and_a_verdict() {
    let project = Project::new();
    let command = server(&project, &tools());
    let ran = project.expect(0, &["init", "--server", &command]);
    ran.says("wrote scenarios/hub.yaml: 2 calls to `hub`; 5 tools are comments")
        .says("Suite Results: 1/1 tests passed")
        .says("next: commit scenarios/, baselines/, .gitignore and .gitattributes")
        .says("mcp-eval compare scenarios/hub.yaml");
    let scenario = project.read("scenarios/hub.yaml");
    for line in [
        "    command: ../bin/hub\n",
        "  - tool: list\n",
        "  - tool: weather\n    args: { unit: celsius }\n",
        "  # Not called: it needs a value for `path`\n  # - tool: read\n  #   args: { path: \"...\" }\n",
        "  # Not called: tried once, it failed: the disk is on fire\n  # - tool: broken\n",
        "  # Not called: tried once, no answer came within 1.5 s\n  # - tool: slow\n",
        "  # Not called: it is not marked as read-only\n  # - tool: reset\n",
    ] {
        assert!(scenario.contains(line), "no {line:?} in {scenario}");
    }
    ran.says("too slow for a first verdict in seconds: `slow`")
        .says("`--call TOOL`");
    assert!(ran.took.as_secs() < 10, "{ran:#?}");
    // To list, again because it was busy with the slow one, to record twice, to compare.
    assert_eq!(starts(&project), 5);
    assert!(project.read(".gitignore").contains("pending.json"));
    assert!(project.path("reports/latest/index.html").is_file());
    project.expect(0, &["compare"]);
    // A tool that nobody calls is pinned all the same.
    project.edit("hub.yaml", "\"reset\"", "\"purge\"");
    project.expect(1, &["compare"]).says("`reset`");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn where_nothing_is_marked_nothing_is_called_unless_somebody_wants_it() {
    let unmarked = json!([
        { "name": "create", "responses": [{ "content": "created {{args.name}}" }] },
        { "name": "drop", "input_schema": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] }, "responses": [{ "content": "dropped" }] },
    ]);
    let project = Project::new();
    let command = server(&project, &unmarked);
    let logged = format!("{command} --call-log calls.jsonl");
    let ran = project.expect(0, &["init", "--server", &logged, "--name", "quiet"]);
    ran.says("✓ quiet passed 1.00 0 calls, 2 tools pinned")
        .says("no tool of `quiet` is called (not marked as read-only: 2 tools)")
        .says("--allow-effects");
    assert_eq!(project.read("calls.jsonl"), "");
    // What is written is right with the comments in it, and without the `#` before them.
    let scenario = project.read("scenarios/quiet.yaml");
    project.file("scenarios/quiet.yaml", uncommented(&scenario));
    project
        .expect(0, &["validate"])
        .says("1 valid scenario, 0 errors, 0 warnings");

    let added = [
        "--call",
        "mcp__loud__drop={\"name\": \"x\"}",
        "--call",
        "create",
    ];
    let arguments = [&["init", "--server", &logged, "--name", "loud"], &added[..]].concat();
    project.expect(0, &arguments).says("2 calls to `loud`");
    let made = project.read("calls.jsonl");
    assert!(made.lines().next().unwrap().contains("drop"), "{made}");
    // Each start of the server begins a new log.
    assert_eq!(made.lines().count(), 2, "{made}");

    let arguments = [
        "init",
        "--server",
        &logged,
        "--name",
        "effects",
        "--allow-effects",
    ];
    project.expect(0, &arguments).says("1 call to `effects`");
    let scenario = project.read("scenarios/effects.yaml");
    assert!(scenario.contains("  - tool: create\n"), "{scenario}");
    assert!(
        scenario.contains("it needs a value for `name`"),
        "{scenario}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_call_that_cannot_be_made_is_refused_before_anything_is_written() {
    let project = Project::new();
    let command = server(&project, &tools());
    for (call, says) in [
        ("rad={\"path\": \"x\"}", "did you mean `read`?"),
        ("nothing-like-it", "no server lists such a tool"),
        ("read", "it needs a value for `path`"),
        ("read=[1]", "no JSON object"),
        ("read={\"path\": \"{{x}}\"}", "begins a variable"),
    ] {
        project
            .expect(2, &["init", "--server", &command, "--call", call])
            .says(says);
        assert!(!project.path("scenarios").exists(), "{call}");
    }
    project
        .expect(2, &["init", "--call", "read"])
        .says("none is given");
}

#[test]
fn guessed_calls_that_fail_when_recorded_become_comments() {
    let project = Project::new();
    let tools = json!([
        { "name": "fine", "responses": [{ "content": "fine" }] },
        { "name": "refuses", "responses": [{ "content": "not without a licence", "is_error": true }] },
        { "name": "fine_too", "responses": [{ "content": "fine, too" }] },
    ]);
    let command = server(&project, &tools);
    let guessed = ["init", "--server", &command, "--allow-effects"];
    project.expect(0, &guessed).says("2 calls to `hub`");
    let scenario = project.read("scenarios/hub.yaml");
    let line = "  # Not called: it failed: not without a licence\n  # - tool: refuses\n";
    assert!(scenario.contains(line), "{scenario}");
    assert!(scenario.contains("  - tool: fine_too\n"), "{scenario}");

    // What was asked for stays, for its author to correct.
    let wanted = [
        "init", "--server", &command, "--name", "own", "--call", "refuses",
    ];
    project
        .expect(1, &wanted)
        .says("not without a licence")
        .says("scenarios/own.yaml stays, without a baseline");
    assert!(!project.path("baselines/own").exists());
}

#[test]
fn what_is_there_is_never_overwritten() {
    let project = Project::new();
    let command = server(&project, &tools());
    project.file("scenarios/hub.yaml", "name: mine\n");
    project
        .expect(2, &["init", "--server", &command])
        .says("scenarios/hub.yaml is there already")
        .says("--name");
    project.file("baselines/other/baseline.json", "{}");
    project
        .expect(2, &["init", "--server", &command, "--name", "other"])
        .says("baselines/other/baseline.json is there already");
    assert_eq!(project.read("scenarios/hub.yaml"), "name: mine\n");
    assert_eq!(project.read("baselines/other/baseline.json"), "{}");
    assert!(!project.path(".gitignore").exists());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_that_does_not_start_is_reported_with_what_it_said() {
    let project = Project::new();
    for (command, says) in [
        (
            "sh -c 'echo the key is missing >&2; exit 4'",
            "the key is missing",
        ),
        ("no-such-program-anywhere", "no-such-program-anywhere"),
        ("http://127.0.0.1:9/mcp", "tried for 5s"),
        ("my-server ${NOT_SET_ANYWHERE}", "NOT_SET_ANYWHERE"),
    ] {
        let ran = project.expect(3, &["init", "--server", command]);
        // There is no scenario yet whose options could be changed.
        ran.says(says)
            .says("nothing was written")
            .says_not("connect_timeout");
        assert!(!project.path("scenarios").exists() && !project.path("baselines").exists());
    }
    for command in ["'open", "a && b", "", "A=b"] {
        project.expect(2, &["init", "--server", command]);
    }
    // A server without tools is none that could be compared.
    let command = server(&project, &json!([]));
    project
        .expect(3, &["init", "--server", &command])
        .says("lists no tools");
    assert_eq!(project.survivors(), Vec::<String>::new());
}

#[test]
fn a_workflow_lies_in_the_root_of_the_repository_and_names_the_folder() {
    // Where there is no repository yet, this folder may become one.
    let alone = Project::new();
    alone
        .expect(0, &["init", "--workflow", "github"])
        .says("wrote scenarios/first.yaml")
        .says("wrote .github/workflows/mcp-eval.yml")
        .says("not in a git repository: CI reads these files in the root of a repository")
        .says("run `git init` here");
    assert!(alone.path(".github/actions/mcp-eval/action.yml").is_file());
    assert!(
        alone
            .read(".github/workflows/mcp-eval.yml")
            .contains("working-directory: \".\"")
    );
    let project = Project::new();
    git2::Repository::init(project.path("")).unwrap();
    let read = |name: &str| -> Value { serde_yaml::from_str(&project.read(name)).unwrap() };
    let inside = |arguments: &[&str]| {
        fs::create_dir_all(project.path("tests/my agents")).unwrap();
        let mut command = project.command();
        crate::common::ran(
            command
                .args(arguments)
                .current_dir(project.path("tests/my agents")),
        )
    };

    let made = inside(&["init", "--workflow", "github"]);
    assert_eq!(made.code, 0, "{made:#?}");
    made.says("wrote ../../.github/workflows/mcp-eval.yml")
        .says("MCP_EVAL_SOURCE");
    let ours = |name: &str| fs::read_to_string(crate::common::root().join(name)).unwrap();
    for name in [
        ".github/actions/mcp-eval/action.yml",
        ".gitlab/mcp-eval.gitlab-ci.yml",
    ] {
        if name.starts_with(".gitlab") {
            inside(&["init", "--workflow", "gitlab"]).says("wrote ../../.gitlab-ci.yml");
        }
        assert_eq!(project.read(name), ours(name));
    }
    let steps = &read(".github/workflows/mcp-eval.yml")["jobs"]["mcp-eval"]["steps"];
    assert_eq!(steps[2]["uses"], "./.github/actions/mcp-eval");
    assert_eq!(steps[2]["with"]["working-directory"], "tests/my agents");
    let job = read(".gitlab-ci.yml");
    assert_eq!(
        job["mcp-eval"]["variables"]["MCP_EVAL_FOLDER"],
        "tests/my agents"
    );
    let included = job["include"]["local"].as_str().unwrap();
    assert!(
        read(included)
            .get(job["mcp-eval"]["extends"].as_str().unwrap())
            .is_some()
    );

    // What installs the program: it is there, nobody knows where from, or it is built.
    for script in [&steps[1]["run"], &job["mcp-eval"]["before_script"][0]] {
        let script = script.as_str().unwrap();
        for (program, source, code, built) in [
            ("mcp-eval", "", 0, false),
            ("cargo", "", 2, false),
            ("cargo", "https://x.example/y", 0, true),
        ] {
            let bin = project.path("bin");
            let _ = fs::remove_dir_all(&bin);
            project.file(&format!("bin/{program}"), "#!/bin/sh\n: > built\n");
            let path = bin.join(program);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            let mut shell = std::process::Command::new("/bin/bash");
            let shell = shell
                .args(["-e", "-c", script])
                .current_dir(project.path(""));
            let names = [("SOURCE", source), ("MCP_EVAL_SOURCE", source)];
            let ran = crate::common::ran(shell.env_clear().env("PATH", &bin).envs(names));
            assert_eq!(
                (ran.code, project.path("built").exists()),
                (code, built),
                "{ran:#?}"
            );
            let _ = fs::remove_file(project.path("built"));
        }
    }

    // What is there stays, and what is left to do is said.
    project.file(".gitlab-ci.yml", "test: { script: [make] }\n");
    inside(&["init", "--workflow", "gitlab"])
        .says("kept as it was: ../../.gitlab-ci.yml")
        .says("include: { local: .gitlab/mcp-eval.gitlab-ci.yml }");
    assert_eq!(project.read(".gitlab-ci.yml"), "test: { script: [make] }\n");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn somebody_at_a_terminal_is_asked_what_to_call() {
    let project = Project::new();
    let path = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    let command = server(
        &project,
        &json!([
            { "name": "now", "description": "Tells the time", "responses": [{ "content": "noon" }] },
            { "name": "reset", "responses": [{ "content": "all is gone" }] },
            { "name": "read", "input_schema": path, "responses": [{ "content": "of {{args.path}}" }] },
            { "name": "never", "responses": [{ "content": "not asked" }] },
        ]),
    );
    // Yes; Enter; what is no answer twice; arguments; no more.
    let answers = ["y\n", "\n", "y\n", "[1]\n", "{\"path\": \"/a\"}\n", "q\n"];
    let arguments = ["init", "--server", &command, "--name", "hub"];
    let Some(ran) = in_terminal(
        "the questions of `init`",
        &project,
        &arguments,
        "q] ",
        &answers,
    ) else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("now – Tells the time")
        .says("it needs values for arguments")
        .says("that is not a JSON object");
    let baseline = project.read("baselines/hub/baseline.json");
    for (text, is_called) in [
        ("noon", true),
        ("of /a", true),
        ("all is gone", false),
        ("not asked", false),
    ] {
        assert_eq!(baseline.contains(text), is_called, "{text}");
    }
    project.expect(0, &["compare"]);

    // Without a terminal nobody is asked, and nothing is called.
    let other = Project::new();
    let command = server(
        &other,
        &json!([{ "name": "now", "responses": [{ "content": "noon" }] }]),
    );
    other
        .expect(0, &["init", "--server", &command])
        .says_not("Which are to be called")
        .says("0 calls");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn who_wants_none_of_the_tools_gets_none_called() {
    let any = json!({ "type": "object" });
    for answer in ["n\n", "q\n"] {
        let project = Project::new();
        // Both only read, and neither can be called in time.
        let tools = json!([
            reading(
                "slow",
                &any,
                &json!({ "content": "at last", "delay": "30s" })
            ),
            reading(
                "broken",
                &any,
                &json!({ "content": "the disk is on fire", "is_error": true })
            ),
        ]);
        let command = server(&project, &tools);
        let arguments = ["init", "--server", &command];
        let what = "the questions of `init`";
        let Some(ran) = in_terminal(what, &project, &arguments, "q] ", &[answer, answer]) else {
            return;
        };
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran.says("too slow for a first verdict in seconds: 1 tool")
            .says("(tried once, no answer came within 1.5 s)")
            .says("0 calls, 2 tools pinned");
        let scenario = project.read("scenarios/hub.yaml");
        assert!(!scenario.contains("\n  - tool:"), "{scenario}");
        assert!(
            scenario.contains("it failed: the disk is on fire"),
            "{scenario}"
        );
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_slow_tool_holds_up_no_other_one() {
    let any = json!({ "type": "object" });
    let answered =
        |name: &str, delay: &str| reading(name, &any, &json!({ "content": name, "delay": delay }));
    for (tools, calls, slow) in [
        (
            json!([
                answered("a", "900ms"),
                answered("b", "900ms"),
                answered("c", "900ms")
            ]),
            "1 call",
            "`b`",
        ),
        (
            json!([
                answered("never", "30s"),
                answered("quick", "0s"),
                answered("soon", "300ms")
            ]),
            "2 calls",
            "`never`",
        ),
    ] {
        let project = Project::new();
        let command = server(&project, &tools);
        let ran = project.expect(0, &["init", "--server", &command]);
        ran.says(&format!("wrote scenarios/hub.yaml: {calls}"))
            .says(&format!("too slow for a first verdict in seconds: {slow}"));
        // Starts of the server do not count, and there are up to six.
        assert!(ran.took.as_secs() < 12, "{ran:#?}");
    }
    // That they are slow is said where nothing else can be called.
    let project = Project::new();
    let command = server(&project, &json!([answered("never", "30s")]));
    project
        .expect(0, &["init", "--server", &command])
        .says("no tool of `hub` is called (too slow for a first verdict in seconds: 1 tool)")
        .says("--call TOOL");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_effect_that_lasts_gets_no_verdict_from_a_comparison() {
    let project = Project::new();
    // What was created once is there: the second time there is nothing to create.
    let script = r#"import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "memory", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": it, "inputSchema": {"type": "object"}} for it in ["create", "say"]]}
    else:
        name = asked["params"]["name"]
        new = not os.path.exists("kept")
        if name == "create":
            open("kept", "a").write("x")
        text = json.dumps([{"name": "Ada"}] if new else []) if name == "create" else "said"
        result = {"content": [{"type": "text", "text": text}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"#;
    project.file("memory.py", script);
    let server = "python3 memory.py";
    let call = ["init", "--server", server, "--call", "create"];
    let ran = project.run(&call);
    if ran.stderr.contains("No such file") {
        crate::common::skipped("effects that last", "there is no python3");
        return;
    }
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("not marked as read-only, and called: `create`")
        .says("memory recorded")
        .says("what `create` of `memory` does may still be there in the next run")
        .says("next: let what the calls leave behind be reset before every run, as said above, and `mcp-eval record scenarios/")
        .says("mcp-eval compare scenarios/memory.yaml")
        .says_not("failed");
    // To record it, with a third take because two disagreed, and not once more only to compare.
    assert_eq!(project.read("kept"), "xxx");
    assert!(
        project
            .read("baselines/memory/baseline.json")
            .contains("Ada")
    );

    // One that does the same each time is compared.
    let call = [
        "init", "--server", server, "--name", "other", "--call", "say",
    ];
    project
        .expect(0, &call)
        .says("called: `say`")
        .says("Suite Results: 1/1 tests passed")
        .says_not("may still be there");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn every_tool_stands_in_the_scenario_however_many_and_odd_they_are() {
    let project = Project::new();
    let odd = json!({ "type": "object", "required": ["text"], "properties": { "text": { "default": "{{city}} ${HOME}" } } });
    let mut tools: Vec<Value> = (0..400)
        .map(|it| json!({ "name": format!("tool_{it}"), "responses": [{ "content": "x" }] }))
        .collect();
    tools.push(reading("greet", &odd, &json!({ "content": "hello" })));
    tools.push(json!({ "name": "{{odd}}", "responses": [{ "content": "x" }] }));
    let command = server(&project, &json!(tools));
    project
        .expect(0, &["init", "--server", &command])
        .says("401 tools are comments in it, each with the reason; of 1 tool there is the name");
    let scenario = project.read("scenarios/hub.yaml");
    assert_eq!(scenario.matches("\n  # - tool: ").count(), 401);
    assert!(scenario.contains("  # - tool: tool_399\n"), "{scenario}");
    assert!(
        scenario.contains("a scenario cannot say: `{{` begins a variable there\n  # - tool: greet\n  #   args: { text: \"...\" }\n"),
        "{scenario}"
    );
    assert!(scenario.contains("  # · {{odd}}\n"), "{scenario}");
}

#[test]
fn what_a_server_refuses_at_first_is_asked_otherwise() {
    let project = Project::new();
    let zone = json!({ "type": "object", "properties": { "zone": { "enum": ["none", "UTC"] } }, "required": ["zone"] });
    let whole = json!({ "type": "object", "properties": { "q": { "type": "string" } }, "required": ["q"], "examples": [{ "q": "whole" }] });
    let home = std::env::var("HOME").unwrap();
    let tools = json!([
        { "name": "time", "annotations": { "read_only_hint": true }, "input_schema": zone, "responses": [
            { "match": { "zone": "none" }, "content": "no such zone", "is_error": true },
            { "content": "noon" },
        ] },
        reading("find", &whole, &json!({ "content": "found {{args.q}}" })),
        reading("environment", &json!({ "type": "object" }), &json!({ "content": format!("HOME={home}/x") })),
    ]);
    let command = server(&project, &tools);
    let mut init = project.command();
    init.args(["init", "--server", &command]).env("HOME", &home);
    let ran = crate::common::ran(&mut init);
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("3 calls to `hub`");
    let scenario = project.read("scenarios/hub.yaml");
    for line in [
        "  - tool: time\n    args: { zone: UTC }\n",
        "  - tool: find\n    args: { q: whole }\n",
        "  # Its answer holds HOME of this machine: elsewhere it is different.\n  - tool: environment\n",
    ] {
        assert!(scenario.contains(line), "no {line:?} in {scenario}");
    }
}

#[test]
fn a_read_that_ends_its_server_is_left_out() {
    let project = Project::new();
    let tools = json!([
        reading(
            "bye",
            &json!({ "type": "object" }),
            &json!({ "fault": { "exit": 3 } })
        ),
        reading(
            "list",
            &json!({ "type": "object" }),
            &json!({ "content": "a list" })
        ),
    ]);
    let command = server(&project, &tools);
    project
        .expect(0, &["init", "--server", &command])
        .says("1 call to `hub`");
    let scenario = project.read("scenarios/hub.yaml");
    assert!(
        scenario.contains("tried once, it ended the server"),
        "{scenario}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn secrets_are_referred_to_and_never_written() {
    let project = Project::new();
    let command = server(&project, &tools());
    let secret = "s3cr3t-of-the-hub-81";
    let command = format!("HUB_TOKEN={secret} {command}");
    let ran = project.expect(0, &["init", "--server", &command]);
    ran.says("takes it from the environment variable HUB_TOKEN, set it before")
        .says_not(secret);
    let scenario = project.read("scenarios/hub.yaml");
    assert!(
        scenario.contains("env: { HUB_TOKEN: \"${HUB_TOKEN}\" }"),
        "{scenario}"
    );
    for path in [
        "scenarios/hub.yaml",
        "baselines/hub/baseline.json",
        "baselines/hub/trajectory.txt",
    ] {
        assert!(!project.read(path).contains(secret), "{path}");
    }
    project.expect(3, &["compare"]).says("HUB_TOKEN");
    let mut again = project.command();
    again.arg("compare").env("HUB_TOKEN", secret);
    let again = crate::common::ran(&mut again);
    assert_eq!(again.code, 0, "{again:#?}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn each_server_of_a_client_becomes_a_scenario_of_its_own() {
    let project = Project::new();
    server(&project, &tools());
    let config = json!({ "mcpServers": {
        "My Hub": { "command": "./bin/hub" },
        "gone": { "command": "./bin/no-such-server" },
        "wrong": { "type": "carrier-pigeon" },
        "off": { "command": "x", "disabled": true },
    } });
    project.file("mcp.json", config.to_string());
    let ran = project.expect(3, &["init", "--mcp-config", "mcp.json"]);
    ran.says("`wrong` is left out")
        .says("no scenario was written for `gone`")
        .says("wrote scenarios/my-hub.yaml")
        .says("Suite Results: 1/1 tests passed");
    assert!(!project.path("scenarios/gone.yaml").exists());
    let arguments = ["init", "--mcp-config", "mcp.json", "--server", "hub"];
    project
        .expect(2, &arguments)
        .says("has no server `hub`")
        .says("My Hub");
    let arguments = [
        "init",
        "--mcp-config",
        "mcp.json",
        "--server",
        "My Hub",
        "--name",
        "two",
    ];
    project.expect(0, &arguments);
    let two = ["init", "--mcp-config", "mcp.json", "--name", "three"];
    project.expect(2, &two).says("--name is for one scenario");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_over_http_becomes_one_too() {
    let project = Project::new();
    server(&project, &tools());
    let (_server, url) = served(&project, &["mock", "hub.yaml", "--transport", "http"]);
    let arguments = [
        "init",
        "--server",
        &url,
        "--header",
        "Authorization: Bearer abc-not-for-files",
    ];
    // It has no name in its address, and says its own.
    project
        .expect(0, &arguments)
        .says("wrote scenarios/hub.yaml");
    let scenario = project.read("scenarios/hub.yaml");
    assert!(scenario.contains("Bearer ${HUB_TOKEN}"), "{scenario}");
    assert!(!scenario.contains("abc-not-for-files"));
}

#[test]
fn ci_writes_no_baseline() {
    let project = Project::new();
    let command = server(&project, &tools());
    let mut ci = project.command();
    ci.args(["init", "--server", &command]).env("CI", "true");
    let ran: Ran = crate::common::ran(&mut ci);
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.says("development machine").says_not("--force");
    assert!(!project.path("scenarios").exists() && !project.path("starts.log").exists());
}

#[test]
fn tools_of_any_kind_give_a_scenario_that_is_right() {
    let project = Project::new();
    let hostile = json!([
        reading("a: b", &json!({ "type": "object" }), &json!({ "content": "1" })),
        reading("- x # y", &json!({ "type": "object" }), &json!({ "content": "2" })),
        reading("{{name}}", &json!({ "type": "object" }), &json!({ "content": "3" })),
        reading("mcp__other__tool", &json!({ "type": "object" }), &json!({ "content": "4" })),
        reading("\u{1b}[31mred\u{202e}", &json!({ "required": ["*a", "&b", "<<"], "properties": {
            "*a": { "const": "${HOME} |-\n  x: y" }, "&b": { "default": "\u{1}\u{85}\u{2028}\u{feff}" }, "<<": { "enum": ["yes"] },
        } }), &json!({ "content": "5" })),
        { "name": "write", "description": "- tool: reset\n# - tool: x\r\n\u{7} '\"", "responses": [{ "content": "6" }] },
    ]);
    let command = server(&project, &hostile);
    let ran = project.expect(0, &["init", "--server", &command]);
    ran.says("4 calls");
    project
        .expect(0, &["validate"])
        .says("0 errors, 0 warnings");
    let scenario = project.read("scenarios/hub.yaml");
    assert!(
        !scenario.contains('\u{1b}') && !scenario.contains('\u{202e}'),
        "{scenario}"
    );
    project.file("scenarios/hub.yaml", uncommented(&scenario));
    project
        .expect(0, &["validate"])
        .says("0 errors, 0 warnings");
}

#[test]
fn a_server_that_ends_in_between_takes_its_scenario_with_it() {
    let project = Project::new();
    // Whoever starts it for the second time finds it broken.
    let script = format!(
        "#!/bin/sh\n[ -e started ] && exit 9\ntouch started\nexec '{}' items=short\n",
        faulty_server()
    );
    project.file("bin/once", script);
    fs::set_permissions(project.path("bin/once"), fs::Permissions::from_mode(0o755)).unwrap();
    project
        .expect(3, &["init", "--server", "./bin/once"])
        .says("was taken back");
    assert!(!project.path("scenarios/once.yaml").exists());
    assert!(!project.path(".gitignore").exists());
}

/// The scenario with all its commented calls.
fn uncommented(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let call = line
            .strip_prefix("  # - tool: ")
            .map(|it| format!("  - tool: {it}"));
        let arguments = line
            .strip_prefix("  #   args: ")
            .map(|it| format!("    args: {it}"));
        call.or(arguments).unwrap_or_else(|| line.to_owned())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Texts of every kind, and more often than by chance of those that mean something in YAML.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,12}",
        "[a-z{}\\[\\]:#&*!|>'\"%@`$,?~ \\n\\t-]{0,12}",
        prop::sample::select(vec![
            "null",
            "~",
            "yes",
            "1e3",
            "0x1f",
            "-1",
            ".inf",
            "<<",
            "---",
            "...",
            "{{x}}",
            "${",
            "${A}",
            "mcp__a__b",
            "- tool: x",
            "# x",
            "\u{85}",
            "\u{feff}",
            "\u{fffe}",
            "\u{d7ff}",
            "\u{10ffff}",
            "=",
            "!",
            "%YAML",
        ])
        .prop_map(str::to_owned),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(texts(), inner, 0..4)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

fn calls() -> impl Strategy<Value = FirstCall> {
    let arguments = prop::collection::btree_map(texts(), values(), 0..4);
    let parts = (
        texts(),
        arguments,
        prop::option::of(texts()),
        prop::option::of(texts()),
    );
    parts.prop_map(|(tool, arguments, description, why_not)| FirstCall {
        tool,
        arguments: arguments.into_iter().collect(),
        description: description.clone(),
        caution: description,
        why_not,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn what_init_writes_is_valid_and_says_what_was_meant(
        calls in prop::collection::vec(calls(), 0..5),
        name in "[a-z]{1,8}",
        server in texts(),
        args in prop::collection::vec(texts().prop_map(|it| it.replace("${", "$ {")), 0..3),
    ) {
        // Double braces would be a variable in the full name of a tool.
        prop_assume!(!server.is_empty() && !server.contains("{{"));
        let scenario = FirstScenario {
            name,
            server: Server {
                name: server.clone(),
                transport: Transport::Stdio(Start { command: "program".to_owned(), args: args.clone(), ..Start::default() }),
                connect_timeout: None,
                tool_timeout: None,
                ready: None,
                protocol: None,
            },
            calls: calls.clone(),
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.yaml");
        let (text, only_named) = first_scenario(&scenario, folder.path());
        prop_assert_eq!(only_named, calls.iter().filter(|it| !it.can_be_written()).count());
        for (text, is_whole) in [(text.clone(), false), (uncommented(&text), true)] {
            fs::write(&path, &text).unwrap();
            let (found, _) = scenario_file::find(std::slice::from_ref(&path));
            let loaded = scenario_file::check(&found, &Options::default());
            prop_assert!(loaded.findings.is_empty(), "{:?}\n{}", loaded.findings, text);
            let read = &loaded.scenarios[0];
            let Transport::Stdio(Start { args: read_args, .. }) = &read.servers[0].transport else {
                panic!("another kind of server");
            };
            prop_assert_eq!(&read.servers[0].name, &server);
            prop_assert_eq!(read_args, &args);
            let (made, comments): (Vec<_>, Vec<_>) = calls
                .iter()
                .filter(|it| it.can_be_written())
                .partition(|it| it.why_not.is_none());
            let meant: Vec<_> = if is_whole { [made, comments].concat() } else { made };
            let read: Vec<_> = read.expected_trajectory.iter().collect();
            prop_assert_eq!(read.len(), meant.len(), "{}", text);
            for (read, meant) in read.iter().zip(meant) {
                let full = format!("mcp__{server}__{}", meant.tool);
                prop_assert!(read.tool == meant.tool || read.tool == full);
                prop_assert_eq!(&read.arguments, &meant.arguments);
            }
        }
    }
}
