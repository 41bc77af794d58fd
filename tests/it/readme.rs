//! Every command of the README and of the manual does what it says.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use git2::Repository;

use crate::browser::chromium;
use crate::common::{
    Project, at_a_desk, commit_all, copy, manual, ran, root, small_agent, stand_in, topics,
};
use crate::docker::kit as docker;
use crate::judge::desk::{answer, verdict};

/// The fenced blocks of a language, without their fences.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    for part in text.split("\n```").collect::<Vec<_>>() {
        if let Some(block) = part.strip_prefix(&format!("{language}\n")) {
            blocks.push(block.to_owned());
        }
    }
    blocks
}

/// The scenario with a model.
fn umbrella(readme: &str) -> String {
    let mut blocks = blocks(readme, "yaml").into_iter();
    blocks.find(|it| it.starts_with("name: Umbrella")).unwrap()
}

#[test]
fn the_stand_in_plays_the_model_of_the_readme() {
    let readme = manual();
    let project = Project::new();
    project.file("umbrella.yaml", umbrella(&readme));
    let (_stand_in, url) = stand_in(&project, "umbrella.yaml");
    let ran = ran(project
        .command()
        .args(["run", "umbrella.yaml"])
        .env("LLM_URL", url));
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("Models: 2 requests, 290 tokens in, 40 out, cost 0.0015");
}

/// A folder with a stand-in for `npx`, so that no test needs the network. The server is the one of the README where it is installed, else
/// a mock; the client is the small agent.
fn npx(project: &Project) -> PathBuf {
    let installed = std::env::var("MCP_EVAL_EVERYTHING").ok();
    let server = if let Some(path) = installed.filter(|it| Path::new(it).exists()) {
        let node = std::env::var("MCP_EVAL_NODE").unwrap_or_else(|_| "node".to_owned());
        format!("'{node}' '{path}' stdio")
    } else {
        project.file("everything.yaml", EVERYTHING);
        let program = env!("CARGO_BIN_EXE_mcp-eval");
        let path = project.path("everything.yaml");
        format!("'{program}' mock '{}'", path.display())
    };
    let client = small_agent();
    let script = format!(
        r#"#!/bin/sh
case "$2" in
*/server-everything@*) exec {server} ;;
*/inspector) MCP_EVAL_MCP_CONFIG=client.json exec '{client}' 'call everything get-sum {{"a": 2, "b": 40}}' ;;
*) exit 1 ;;
esac
"#
    );
    project.file("bin/npx", script);
    let path = project.path("bin/npx");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    project.path("bin")
}

/// The server of the reader: its second commit answers otherwise than the first, `v1.0`; the third changes nothing that matters. What
/// builds it is no more than a script, called as `make` is.
fn with_history(project: &Project) {
    let make = "#!/bin/sh\nprintf '#!/bin/sh\\nexec mcp-eval mock \"$(dirname \"$0\")/mock.yaml\"\\n' > server && chmod +x server\n";
    project.file("bin/make", make);
    fs::set_permissions(project.path("bin/make"), fs::Permissions::from_mode(0o755)).unwrap();
    project.file("my-server/.gitignore", "server\n");
    for (message, answer) in [
        ("Answer", "one result"),
        ("Answer otherwise", "two results"),
        ("Say more", "two results"),
    ] {
        project.file("my-server/README", message);
        project.file(
            "my-server/mock.yaml",
            EVERYTHING
                .replace("get-sum", "search")
                .replace("The sum of 2 and 40 is 42.", answer),
        );
        let commit = commit_all(&project.path("my-server"), message);
        if message == "Answer" {
            let repository = Repository::open(project.path("my-server")).unwrap();
            let object = repository.revparse_single(&commit).unwrap();
            repository.tag_lightweight("v1.0", &object, false).unwrap();
        }
    }
}

/// What the README uses of `server-everything`.
const EVERYTHING: &str = r"
mcp_interactions:
  everything:
    tools:
      - name: get-sum
        annotations: { read_only_hint: true }
        responses:
          - content: The sum of 2 and 40 is 42.
";

/// Starts recording a session, and waits until its address for clients is known.
fn listen(command: &mut Command, config: &Path) -> Child {
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while !fs::read_to_string(config).is_ok_and(|it| it.ends_with("\n}\n")) {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        assert!(started.elapsed() < Duration::from_secs(50), "no address");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn every_command_of_the_readme_runs() {
    let readme = manual();
    let project = Project::measured();
    let written = blocks(&readme, "yaml");
    let saved = |start: &str| {
        let mut found = written.iter().filter(|it| it.starts_with(start));
        found.next().unwrap_or_else(|| panic!("no {start}"))
    };
    project.file("scenarios/weather.yaml", saved("name: Weather"));
    project.file("notes.yaml", saved("mcp_interactions:\n  notes:"));
    project.file("umbrella.yaml", umbrella(&readme));
    let nightly = blocks(&readme, "yml").into_iter();
    let mut nightly = nightly.filter(|it| it.starts_with("description:"));
    project.file("scenarios/_suites/nightly.yaml", nightly.next().unwrap());
    let mut rows = blocks(&readme, "yml").into_iter();
    let rows = rows.find(|it| it.starts_with("name: Umbrellas")).unwrap();
    project.file("assistant.yaml", saved("name: Umbrella, asked"));
    project.file("examples.yaml", saved("judge:\n  provider: custom"));
    project.file(
        "llm.yaml",
        format!("llm_interactions:\n{}", answer("chat", &verdict(0.9))),
    );
    let (_judge, judge_url) = stand_in(&project, "llm.yaml");
    project.file("servers.json", blocks(&readme, "json").remove(0));
    let demo = saved("name: Demo");
    let alone = [
        ("scenarios/search.yaml", saved("name: Search")),
        ("scenarios/orders.yaml", saved("name: Orders")),
        ("scenarios/ledger.yaml", saved("name: The ledger")),
        ("scenarios/umbrellas.yaml", &rows),
    ];
    with_history(&project);
    let engine = docker::engine("the README's commands with containers");
    if engine {
        copy(&root().join("docker"), &project.path("docker"));
    }

    let bin = Path::new(env!("CARGO_BIN_EXE_mcp-eval")).parent().unwrap();
    let path = std::env::join_paths(
        [npx(&project), bin.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let bash = |command: &str, folder: &Path| {
        let mut bash = Command::new("bash");
        bash.args(["-c", command])
            .current_dir(project.path(folder))
            .env("PATH", &path)
            .env("JUDGE_URL", &judge_url);
        at_a_desk(&mut bash);
        bash
    };
    crate::moved::old_suite(&project, "old-checkout");
    let mut commands = 0;
    let mut session: Option<Child> = None;
    // The block that a command stands in, and the folder that it is run in.
    let mut place = (0, PathBuf::new());
    let written = blocks(&readme, "console");
    let written = written.iter().enumerate().flat_map(|(number, block)| {
        let lines = block.lines().filter_map(|it| it.strip_prefix("$ "));
        lines.map(move |it| (number, it))
    });
    for (number, command) in written {
        commands += 1;
        if place.0 != number {
            place = (number, PathBuf::new());
        }
        if let Some(folder) = command.strip_prefix("cd ") {
            place.1 = folder.into();
            continue;
        }
        let bash = |command: &str| bash(command, &place.1);
        // Building again inside the tests would take minutes; this is what they come to. The second is what runs this test.
        let command = command.replace("cargo run -- ", "mcp-eval ");
        if command == "cargo test" {
            continue;
        }
        // A port of its own would be taken on a busy machine.
        if command.ends_with("> client.json") {
            let command = command.replace(" --port 8800", "");
            let command = format!("exec {command} 2> listen.log");
            session = Some(listen(&mut bash(&command), &project.path("client.json")));
            continue;
        }
        if command.starts_with("mcp-eval")
            && let Some(mut child) = session.take()
        {
            let id = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
            let kept = child.wait().unwrap().success();
            assert!(kept, "{}", project.read("listen.log"));
        }
        // A server would go on for ever; and a port of its own would be taken on a busy machine.
        let command = match command.strip_suffix(" --port 3030") {
            Some(server) => {
                format!("timeout --preserve-status --signal=INT 2 {server} --port 0")
            }
            None => command,
        };
        // Nobody has a session here, so nothing comes of it.
        let command = if command.contains("--listen") {
            format!("timeout --preserve-status --signal=INT 2 {command}; test $? = 3")
        } else {
            command
        };
        if command == "mcp-eval compare" && commands == 1 {
            // The first command of a newcomer knows nothing of the scenario written further down.
            fs::rename(
                project.path("scenarios/weather.yaml"),
                project.path("weather.yaml"),
            )
            .unwrap();
        }
        if ["docker", "demo", "clean"]
            .iter()
            .any(|it| command.contains(it))
        {
            if !engine {
                continue;
            }
            project.file("scenarios/demo.yaml", demo);
        }
        // They have no baseline.
        let own = alone.iter().find(|(path, _)| command.contains(path));
        if let Some((path, scenario)) = own {
            project.file(path, scenario);
        }
        if command.contains("--changed") {
            Repository::init(project.path("")).unwrap();
        }
        let _alone = command.contains("clean").then(docker::alone);
        let ran = ran(&mut bash(&command));
        assert_eq!(ran.code, 0, "{command}: {ran:#?}");
        if let Some((path, _)) = own {
            fs::remove_file(project.path(path)).unwrap();
        }
        if command.contains(" bisect ") {
            ran.says("Answer otherwise").says("first bad commit: ");
        }
        if commands == 1 {
            ran.says("Suite Results: 11/11 tests passed");
            fs::rename(
                project.path("weather.yaml"),
                project.path("scenarios/weather.yaml"),
            )
            .unwrap();
        }
        if command.starts_with("npx") {
            ran.says("The sum of 2 and 40 is 42.");
        }
        if command == "mcp-eval compare scenarios/first.yaml" {
            ran.says("Suite Results: 1/1 tests passed");
        }
    }
    assert!(commands > 10, "only {commands} commands found");
    assert!(project.path("scenarios/first.yaml").exists());
}

#[test]
fn every_yaml_block_of_the_readme_is_valid() {
    let readme = manual();
    let project = Project::new();
    project.file("scenarios/s.json", "{}");
    // The configurations of the two proxies that read one.
    let mut configs = blocks(&readme, "json").into_iter();
    let config = configs.find(|it| it.contains("{{upstream.")).unwrap();
    project.file("scenarios/proxy.json", config);
    // The data sets of a search that is measured.
    for name in ["corpus.json", "golden.json"] {
        let shipped = root().join("scenarios/discovery").join(name);
        project.file(&format!("scenarios/{name}"), fs::read(shipped).unwrap());
    }
    let mut valid = 0;
    for (number, block) in blocks(&readme, "yaml").into_iter().enumerate() {
        if block.starts_with("mcp_interactions:") {
            continue; // no scenario, but a file for `mcp-eval mock`, which a command of the README serves
        }
        if block
            .lines()
            .any(|it| it == "examples:" || it == "dimensions:")
        {
            continue; // no scenario, but examples for a judge, which a command of the README reads, and a rubric
        }
        valid += 1;
        let is_container = block.starts_with("docker:");
        let (url, config) = if is_container {
            ("${docker.url}/mcp", "s.json")
        } else {
            ("http://localhost/", "null")
        };
        // What a part of a scenario leaves out.
        let rest = [
            "name: s".to_owned(),
            "user_intent: something".to_owned(),
            format!("config_file: {config}"),
            format!("servers: {{ s: {{ command: x }}, proxy: {{ url: \"{url}\" }} }}"),
            "expected_trajectory: [{ tool: mcp__proxy__t }]".to_owned(),
        ];
        let mut scenario = vec![block.as_str()];
        // What measures something is whole, and is about no conversation.
        let is_measured = block.lines().any(|it| it.starts_with("kind: "));
        let rest = if is_measured { &rest[..0] } else { &rest[..] };
        scenario.extend(rest.iter().map(String::as_str).filter(|it| {
            let key = it.split(' ').next().unwrap();
            !block.lines().any(|line| line.starts_with(key))
        }));
        let scenario = scenario.join("\n");
        project.file(&format!("scenarios/{number}.yaml"), scenario);
    }
    let ran = ran(project
        .command()
        .args(["validate"])
        .envs(["PORT", "API_TOKEN", "PROXY_TOKEN"].map(|it| (it, "1"))));
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says(&format!("{valid} valid scenarios, 0 errors"));
    assert!(valid > 10, "only {valid} blocks found");
}

#[test]
fn every_link_of_the_readme_and_the_manual_leads_somewhere() {
    let headings = |text: &str| -> BTreeSet<String> {
        let titles = text.lines().filter(|it| it.starts_with('#'));
        let titles = titles.map(|it| it.trim_start_matches('#').trim().to_lowercase());
        titles
            .map(|it| it.replace(' ', "-").replace(['\'', ',', '`', '?'], ""))
            .collect()
    };
    let topics = topics();
    let topics = topics.iter().map(|it| format!("src/cli/help/{it}.md"));
    let mut links = 0;
    for file in std::iter::once("README.md".to_owned()).chain(topics) {
        let file = root().join(file);
        let text = fs::read_to_string(&file).unwrap();
        for link in text.split("](").skip(1) {
            let link = link.split(')').next().unwrap().replace('\n', "");
            if link.starts_with("https:") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => file.clone(),
                path => file.parent().unwrap().join(path),
            };
            let has_anchor = || headings(&fs::read_to_string(&target).unwrap()).contains(anchor);
            assert!(
                target.exists() && (anchor.is_empty() || has_anchor()),
                "{link} in {}",
                file.display()
            );
            links += 1;
        }
    }
    assert!(links > 40, "only {links} links found");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn every_option_of_the_readme_exists() {
    let readme = manual();
    let project = Project::new();
    let all = project.expect(0, &["help"]).stdout;
    let commands = all.lines().skip_while(|it| *it != "Commands:").skip(1);
    let commands = commands.map_while(|it| it.split_whitespace().next());
    let mut known: BTreeSet<String> = options(&all).collect();
    for command in commands {
        let help = project.expect(0, &[command, "--help"]).stdout;
        known.extend(options(&help));
    }
    let database = ["info", "path", "rebuild", "prune"].map(|it| ["db", it]);
    let others = [
        ["judge", "check"],
        ["datasets", "snapshot"],
        ["datasets", "gen-queries"],
    ];
    for [command, below] in others.into_iter().chain(database) {
        let help = project.expect(0, &[command, below, "--help"]).stdout;
        known.extend(options(&help));
    }
    // What is written to other programs, on lines of their own or in these words.
    let others = ["npx ", "docker ", "cargo install", "git r"];
    let theirs = ["--ask", "--max-turns", "--help"];
    let mut text = readme.clone();
    for block in blocks(&readme, "text") {
        text = text.replace(&block, "");
    }
    for line in text.lines() {
        if others.iter().any(|it| line.contains(it)) {
            continue;
        }
        for option in options(line) {
            assert!(
                known.contains(&option) || theirs.contains(&option.as_str()),
                "{option} in {line}"
            );
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_pictures_of_the_readme_can_be_made() {
    if chromium().is_none_or(|it| it != "chromium") {
        return;
    }
    let project = Project::new();
    let made = ran(Command::new(root().join(".github/pictures/make"))
        .arg(env!("CARGO_BIN_EXE_mcp-eval"))
        .arg(project.path("")));
    assert_eq!(made.code, 0, "{made:#?}");
    let drawn = fs::read(project.path("report.png")).unwrap();
    assert!(drawn.starts_with(b"\x89PNG"));
    let [made, shown] = [project.path(""), root().join(".github/pictures")]
        .map(|it| fs::read_to_string(it.join("terminal.svg")).unwrap());
    let cause = |svg: &str| {
        let line = svg.lines().find(|it| it.contains("under a different name"));
        line.unwrap().to_owned()
    };
    assert_eq!(cause(&made), cause(&shown), "make the pictures anew");
}

/// The options that a text names.
fn options(text: &str) -> impl Iterator<Item = String> {
    let is_letter = |it: char| it.is_ascii_lowercase() || it == '-';
    let words = text.split(move |it: char| !is_letter(it));
    let options = words.filter(|it| it.starts_with("--") && it.len() > 3);
    options.map(str::to_owned)
}

#[test]
fn the_gate_runs_the_test_command_of_the_readme() {
    let gate = fs::read_to_string(root().join(".ci/run")).unwrap();
    let readme = manual();
    assert!(readme.contains("\n$ cargo test\n") && gate.contains("\ncargo test"));
    // What takes long is left out of that, and nowhere else.
    assert!(gate.contains("\ncargo test --locked --test it -- --ignored\n"));
}
