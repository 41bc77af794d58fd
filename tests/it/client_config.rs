//! Servers of MCP clients' configuration files, and `${…}` in servers.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use mcp_eval::scenario_file::servers::{
    ClientConfigError, HttpStyle, Server, Start, Transport, client_config,
};
use mcp_eval::scenario_file::{self, Options, expand, expand_command};

/// A folder with one configuration file.
fn config(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn http(name: &str, url: &str) -> Server {
    let transport = Transport::http(HttpStyle::default(), url, Vec::new());
    Server::new(name.to_owned(), transport)
}

fn stdio(command: &str, args: &[&str], env: &[(&str, &str)], cwd: Option<&Path>) -> Server {
    let env = env.iter();
    let transport = Transport::Stdio(Start {
        command: command.to_owned(),
        args: args.iter().map(|it| (*it).to_owned()).collect(),
        env: env
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        cwd: cwd.map(Path::to_owned),
    });
    Server::new("local".to_owned(), transport)
}

#[test]
fn both_forms_give_servers_in_the_order_written() {
    for form in ["mcpServers", "servers"] {
        let (folder, path) = config(&format!(
            r#"{{
	"{form}": {{
		"z": {{"type": "streamable-http", "url": "http:\/\/z", "alwaysAllow": ["a"]}},
		"a": {{"url": "http://a", "timeout": 60}},
		"s": {{"type": "streamableHttp", "url": "http://s/\ud83d\ude00"}},
		"t": {{"transport": "http", "url": "http://t"}},
		"local": {{"command": "./serve", "args": ["--port", 80], "env": {{"A": 1, "B": true}}, "cwd": "sub"}},
		"off": {{"type": "sse", "disabled": true}},
		"out": {{"enabled": false}}
	}}
}}"#
        ));
        let at = |it: &str| folder.path().join(it);
        let command = at("./serve").display().to_string();
        assert_eq!(
            client_config(&path).unwrap(),
            [
                http("z", "http://z"),
                http("a", "http://a"),
                http("s", "http://s/😀"),
                http("t", "http://t"),
                stdio(
                    &command,
                    &["--port", "80"],
                    &[("A", "1"), ("B", "true")],
                    Some(&at("sub"))
                ),
            ]
        );
    }
}

#[test]
fn addresses_have_several_keys() {
    let (_folder, path) = config(
        r#"{"mcpServers": {
            "g": {"httpUrl": "http://g", "url": "http://old"},
            "h": {"type": "http", "httpUrl": "http://h"},
            "e": {"type": "sse", "url": "http://e/sse"}
        }}"#,
    );
    let mut old = http("e", "http://e/sse");
    if let Transport::Http { style, .. } = &mut old.transport {
        *style = HttpStyle::Sse;
    }
    let expected = [http("g", "http://g"), http("h", "http://h"), old];
    assert_eq!(client_config(&path).unwrap(), expected);
    let (_folder, path) = config(r#"{"servers": {"g": {"httpUrl": "http://g"}}}"#);
    assert_eq!(client_config(&path).unwrap(), [http("g", "http://g")]);
}

#[test]
fn what_editors_write_is_understood() {
    let project = tempfile::tempdir().unwrap();
    let path = project.path().join(".vscode/mcp.json");
    fs::create_dir(project.path().join(".vscode")).unwrap();
    let write = |servers: &str| fs::write(&path, format!(r#"{{"servers": {{{servers}}}}}"#));
    write(
        r#""local": {"type": "stdio", "command": "./serve", "args": ["--root", "${workspaceFolder}/data"], "cwd": "sub",
            "env": {"TOKEN": "${env:TOKEN}", "AT": "${userHome}/at"}},
        "far": {"type": "http", "url": "http://far/${env:TEAM:-all}"}"#,
    )
    .unwrap();
    let at = |it: &str| project.path().join(it);
    let (serve, data) = (at("./serve").display().to_string(), at("data"));
    let local = stdio(
        &serve,
        &["--root", data.to_str().unwrap()],
        &[("TOKEN", "${TOKEN}"), ("AT", "${HOME}/at")],
        Some(&at("sub")),
    );
    let far = http("far", "http://far/${TEAM:-all}");
    assert_eq!(client_config(&path).unwrap(), [local, far]);
    write(r#""far": {"url": "http://far", "headers": {"X-Key": "Key ${input:key}"}}"#).unwrap();
    let refused = client_config(&path).unwrap_err().to_string();
    assert!(refused.contains("mcp.json:1:"), "{refused}");
    assert!(refused.contains("`${input:key}`"), "{refused}");
    assert!(refused.contains("write `${NAME}`"), "{refused}");
}

#[test]
fn comments_of_editors_are_no_part_of_it() {
    let (_folder, path) = config(
        "// of the editor\n{\n  /* all\n of them */\n  \"servers\": {\n    \"a\": { \"url\": \"http://x/mcp\", }, // the first\n  },\n}\n",
    );
    assert_eq!(client_config(&path).unwrap(), [http("a", "http://x/mcp")]);
    // What is wrong keeps its place.
    let (_folder, path) = config("{ // one\n \"mcpServers\": { \"a\": { \"url\": [] } }\n}");
    let wrong = client_config(&path).unwrap_err().to_string();
    assert!(wrong.contains(":2:32: error: expected text"), "{wrong}");
}

#[test]
fn what_is_kept_for_this_folder_comes_before_what_is_for_all() {
    let here = std::env::current_dir().unwrap();
    let projects = |folder: &Path| {
        let own = json!({ "a": { "command": "./own" }, "b": { "command": "b" } });
        json!({
            "mcpServers": { "a": { "command": "all" }, "c": { "command": "c" } },
            "projects": { "/nowhere/else": { "mcpServers": { "z": { "command": "z" } } }, folder.to_str().unwrap(): { "mcpServers": own, "history": [] } },
        })
    };
    let (_folder, path) = config(&projects(&here).to_string());
    let own = here.join("./own").display().to_string();
    let named = |name: &str, command: &str| Server {
        name: name.to_owned(),
        ..stdio(command, &[], &[], None)
    };
    assert_eq!(
        client_config(&path).unwrap(),
        [named("a", &own), named("b", "b"), named("c", "c")]
    );
    let mut elsewhere = projects(&here.join("no-such-folder"));
    elsewhere.as_object_mut().unwrap().remove("mcpServers");
    let (_folder, path) = config(&elsewhere.to_string());
    let wrong = client_config(&path).unwrap_err().to_string();
    assert!(wrong.contains("but none for this folder"), "{wrong}");
}

#[test]
fn what_no_scenario_names_need_not_be_right() {
    let project = crate::common::Project::new();
    let wrong = r#""bad": {"type": "websocket", "url": "ws://b"}, "odd": {}"#;
    let faulty = crate::common::faulty_server();
    project.file(
        "mcp.json",
        format!(r#"{{"mcpServers": {{{wrong}, "good": {{"command": "{faulty}"}}}}}}"#),
    );
    let command = ["run", "--mcp-config", "mcp.json"];
    let call = |tool: &str| {
        let text = format!("name: S\nagent: {{ kind: scripted, calls: [{{ tool: {tool} }}] }}\n");
        project.file("scenarios/s.yaml", text);
    };
    call("mcp__good__echo");
    project
        .expect(0, &command)
        .says("note: the server `bad` of mcp.json is left out, because no scenario names it and it cannot be used: unknown type of server `websocket`")
        .says("the server `odd` of mcp.json is left out");
    for needed in ["mcp__bad__echo", "echo"] {
        call(needed);
        project
            .expect(2, &command)
            .says("error: unknown type of server `websocket`");
    }
    // What is expected of a server names it, too.
    let named = "name: S\nexpected_trajectory: [{ tool: mcp__good__echo, args: {} }]\nsuccess_criteria: [{ tool_never_called: mcp__odd__x }]\n";
    project.file("scenarios/s.yaml", named);
    project
        .expect(2, &command)
        .says("the server `odd` has neither `url` nor `command`")
        .says_not("websocket`");
    let declared = format!(
        "name: S\nservers: {{ good: {{ command: {faulty} }} }}\nagent: {{ kind: scripted, calls: [{{ tool: echo }}] }}\n"
    );
    project.file("scenarios/s.yaml", &declared);
    project
        .expect(0, &command)
        .says("`bad` of mcp.json is left out");
    // One that replaces a server of the scenario is needed.
    project.file("scenarios/s.yaml", declared.replace("good:", "bad:"));
    project.expect(2, &command).says("unknown type of server");
}

#[test]
fn yaml_is_read_as_well() {
    let (_folder, path) =
        config("mcpServers:\n  a: { url: http://a, headers: { X-Key: '${KEY}' } }\n");
    let servers = client_config(&path).unwrap();
    let Transport::Http { headers, .. } = &servers[0].transport else {
        panic!("{servers:?}");
    };
    assert_eq!(headers, &[("X-Key".to_owned(), "${KEY}".to_owned())]);
}

#[test]
fn each_client_writes_it_in_a_way_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    // Codex takes texts as they are.
    let codex = write(
        "config.toml",
        r#"model = "gpt-5"
[mcp_servers.local]
command = "python3"
args = ["server.py", "${HOME}"]
env = { A = "1" }
env_vars = ["B"]
startup_timeout_sec = 20
tool_timeout_sec = 1.5
[mcp_servers.off]
command = "x"
enabled = false
[mcp_servers.far]
url = "http://far"
bearer_token_env_var = "FAR_TOKEN"
http_headers = { "X-Team" = "blue" }
env_http_headers = { "X-Key" = "FAR_KEY" }
"#,
    );
    let local = Server {
        connect_timeout: Some(Duration::from_secs(20)),
        tool_timeout: Some(Duration::from_millis(1500)),
        ..stdio(
            "python3",
            &["server.py", "$${HOME}"],
            &[("B", "${B:-}"), ("A", "1")],
            None,
        )
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut far = http("far", "http://far");
    if let Transport::Http {
        headers,
        bearer_token_env,
        ..
    } = &mut far.transport
    {
        *headers = vec![pair("X-Team", "blue"), pair("X-Key", "${FAR_KEY}")];
        *bearer_token_env = Some("FAR_TOKEN".to_owned());
    }
    assert_eq!(client_config(&codex).unwrap(), [local, far]);
    let broken = write("broken.toml", "[mcp_servers.local]\ncommand = \n");
    let refused = client_config(&broken).unwrap_err().to_string();
    assert!(refused.contains("broken.toml:2:"), "{refused}");
    let wrong = write(
        "wrong.toml",
        "[mcp_servers.local]\ncommand = \"x\"\ntool_timeout_sec = \"1\"\n",
    );
    let refused = client_config(&wrong).unwrap_err().to_string();
    assert!(refused.contains("wrong.toml:3:"), "{refused}");

    // Gemini CLI has variables without braces.
    let gemini = write(
        ".gemini/settings.json",
        r#"{"mcpServers": {"local": {"command": "x", "args": ["$A-1", "$$5", "${B}"], "env": {"T": "Bearer $T_TOKEN"}}}}"#,
    );
    let local = stdio(
        "x",
        &["${A}-1", "$$5", "${B}"],
        &[("T", "Bearer ${T_TOKEN}")],
        None,
    );
    assert_eq!(client_config(&gemini).unwrap(), [local]);

    // Windsurf and Copilot have words of their own.
    let windsurf = write(
        "mcp_config.json",
        r#"{"mcpServers": {"r": {"serverUrl": "http://r"}}}"#,
    );
    assert_eq!(client_config(&windsurf).unwrap(), [http("r", "http://r")]);
    let copilot = write(
        "copilot.json",
        r#"{"mcpServers": {"local": {"type": "local", "command": "x", "tools": ["*"]}}}"#,
    );
    assert_eq!(
        client_config(&copilot).unwrap(),
        [stdio("x", &[], &[], None)]
    );

    // Editors know their folder, and files of variables.
    write("project/.env", "A=from file\nB='${HOME}'\n");
    let editor = write(
        "project/.vscode/mcp.json",
        r#"{"servers": {"local": {"command": "x", "args": ["${workspaceFolderBasename}${/}a", "$${file}"],
            "envFile": "${workspaceFolder}/.env", "env": {"A": "own"}}}}"#,
    );
    let local = stdio(
        "x",
        &["project/a", "$${file}"],
        &[("B", "$${HOME}"), ("A", "own")],
        None,
    );
    assert_eq!(client_config(&editor).unwrap(), [local]);
    for named in [
        "file",
        "config:a.b",
        "command:pick",
        "workspaceFolder:other",
    ] {
        let text = format!(r#"{{"servers": {{"local": {{"command": "${{{named}}}"}}}}}}"#);
        let path = write("project/.vscode/mcp.json", &text);
        let refused = client_config(&path).unwrap_err().to_string();
        assert!(refused.contains("only a running editor knows"), "{refused}");
        assert!(refused.contains(&format!("`${{{named}}}`")), "{refused}");
    }
    let path = write(
        "project/.vscode/mcp.json",
        r#"{"servers": {"local": {"command": "x", "envFile": "${env:WHERE}/.env"}}}"#,
    );
    let refused = client_config(&path).unwrap_err().to_string();
    assert!(
        refused.contains("by a variable that is not known yet"),
        "{refused}"
    );
    let settings = write(
        "settings.json",
        r#"{"mcp": {"servers": {"r": {"url": "http://r"}}}}"#,
    );
    assert_eq!(client_config(&settings).unwrap(), [http("r", "http://r")]);

    // Others are named for what they are.
    for (text, client) in [
        (
            r#"{"context_servers": {"a": {"command": {"path": "x"}}}}"#,
            "Zed",
        ),
        (
            r#"{"mcp": {"a": {"type": "local", "command": ["x"]}}}"#,
            "opencode",
        ),
        ("extensions:\n  a: {type: stdio, cmd: x}\n", "Goose"),
    ] {
        let path = write("other.json", text);
        let refused = client_config(&path).unwrap_err().to_string();
        assert!(refused.contains(client), "{refused}");
    }
}

#[test]
fn files_about_something_else_are_distinguished_from_wrong_ones() {
    let reasons = [
        (
            r#"{"mcpServers": [{"name": "a", "url": "http://a"}]}"#,
            "its `mcpServers` is a list, as in the configuration of a proxy",
        ),
        (r#"{"mcpServers": 5}"#, "its `mcpServers` is not a map"),
        (
            r#"{"servers": {"web": {"port": 80}}}"#,
            "nothing under its `servers` has a `url` or a `command`",
        ),
        (
            r#"{"listen": ":8080"}"#,
            "it has none of `mcpServers`, `servers` and, as Codex writes it, `mcp_servers`",
        ),
        ("", "it is empty"),
    ];
    for (text, expected) in reasons {
        let (_folder, path) = config(text);
        match client_config(&path) {
            Err(ClientConfigError::NoClientServers { reason, .. }) => assert_eq!(reason, expected),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn wrong_servers_and_broken_files_are_errors_with_places() {
    let (_folder, path) = config(
        "{\"mcpServers\": {\n\"a\": {\"type\": \"websocket\", \"url\": \"http://a\"},\n\"b\": {\"command\": \"x\", \"cwd\": \"${in:d}\"}}}",
    );
    let error = client_config(&path).unwrap_err();
    assert!(
        matches!(&error, ClientConfigError::Invalid(it) if it.len() == 2),
        "{error:?}"
    );
    let text = error.to_string();
    assert!(
        text.contains("mcp.json:2:15: error: unknown type of server `websocket`"),
        "{text}"
    );
    assert!(
        text.contains("mcp.json:3:30: error: `${in:d}` names no environment variable"),
        "{text}"
    );
    for broken in [
        r#"{"mcpServers": {"a": "#,
        r#"{"mcpServers": {"a": {}, "a": {}}}"#,
    ] {
        let (_folder, path) = config(broken);
        let error = client_config(&path).unwrap_err();
        assert!(
            matches!(error, ClientConfigError::Unreadable(_)),
            "{error:?}"
        );
    }
    let error = client_config(Path::new("/nowhere/mcp.json")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "/nowhere/mcp.json: error: cannot be read: No such file or directory (os error 2)"
    );
}

#[test]
fn references_are_filled_in_everywhere() {
    let lookup = |name: &str| match name {
        "HOST" => Some("example.org".to_owned()),
        "EMPTY" => Some(String::new()),
        "DIR" => Some("/srv".to_owned()),
        _ => None,
    };
    let mut web = http(
        "web",
        "http://${HOST}:${PORT:-80}/$${HOST}/$5/${EMPTY:-e}${EMPTY}",
    );
    if let Transport::Http {
        headers,
        bearer_token_env,
        ..
    } = &mut web.transport
    {
        headers.push(("X-Key".to_owned(), "k ${HOST}".to_owned()));
        *bearer_token_env = Some("EMPTY".to_owned());
    }
    let local = stdio(
        "${DIR}/run",
        &["-h", "${HOST}"],
        &[("A", "${NOT:-a:-b}")],
        Some(Path::new("/base/${DIR}/sub")),
    );
    let relative = stdio("run", &[], &[], Some(Path::new("/base/${NOT:-here}/sub")));
    let (servers, variables) = expand(&vec![web, local, relative], lookup).unwrap();
    let mut web = http("web", "http://example.org:80/${HOST}/$5/e");
    if let Transport::Http {
        headers,
        bearer_token_env,
        ..
    } = &mut web.transport
    {
        headers.push(("X-Key".to_owned(), "k example.org".to_owned()));
        *bearer_token_env = Some("EMPTY".to_owned());
    }
    assert_eq!(
        servers,
        [
            web,
            stdio(
                "/srv/run",
                &["-h", "example.org"],
                &[("A", "a:-b")],
                Some(Path::new("/srv/sub"))
            ),
            stdio("run", &[], &[], Some(Path::new("/base/here/sub"))),
        ]
    );
    assert_eq!(variables, ["DIR", "EMPTY", "HOST"]);
}

#[test]
fn whatever_a_scenario_describes_is_filled_in_throughout() {
    let folder = TempDir::new().unwrap();
    let text = r#"
name: x
user_intent: x
servers:
  web: { url: "http://${A}/mcp", headers: { H: "${A}" } }
  local: { command: "${A}", args: ["${A}"], env: { E: "${A}" }, cwd: "${A}" }
docker:
  build: { context: "./${A}", dockerfile: "${A}", args: { B: "${A}" } }
  port: 1
  host_port: 1
  env: { E: "${A}" }
  command: ["${A}"]
  mounts: ["./${A}:/t/${A}", { volume: "${A}", target: "/v/${A}" }, { tmpfs: true, target: "/m/${A}" }]
  config_target: "${A}"
  network: "${A}"
  user: "${A}"
ready: { http: [{ url: "http://${A}", headers: { H: "${A}" } }, { path: "/${A}", server: web }] }
"#;
    let model = "agent: { kind: openai, model: \"${A}\", base_url: \"${A}\", extra_headers: { H: \"${A}\" } }";
    let command = "agent: { kind: command, command: [\"./${A}/run\", \"${A}\"], cwd: \"${A}\", env: { E: \"${A}\" }, model: \"${A}\" }";
    let loaded = [model, command].map(|agent| {
        let path = folder.path().join("x.yaml");
        fs::write(path, format!("{text}{agent}\n")).unwrap();
        let (found, _) = scenario_file::find(&[folder.path().to_owned()]);
        let loaded = scenario_file::load(&found, &Options::default());
        assert!(
            loaded.findings.iter().all(|it| !it.is_error()),
            "{loaded:?}"
        );
        loaded.scenarios.into_iter().next().unwrap()
    });
    let lookup = |name: &str| (name == "A").then(|| "a".to_owned());
    let [asking, starting] = &loaded;
    let (servers, _) = expand(&asking.servers, lookup).unwrap();
    let (container, _) = expand(&asking.containers[0], lookup).unwrap();
    let (pages, _) = expand(&asking.ready.as_ref().unwrap().http, lookup).unwrap();
    let (model, _) = expand(asking.agent.model().unwrap(), lookup).unwrap();
    let (command, named) = expand_command(starting.agent.command().unwrap(), lookup).unwrap();
    assert_eq!(named, ["A"]);
    let filled = format!("{servers:?} {container:?} {pages:?} {model:?} {command:?}");
    assert!(!filled.contains("${"), "{filled}");
}

#[test]
fn a_dollar_that_begins_no_reference_is_plain_text() {
    let cases = [
        ("$", "$"),
        ("^a$", "^a$"),
        ("kill $$", "kill $$"),
        ("$$$", "$$$"),
        ("$x $1 $(ls)", "$x $1 $(ls)"),
        ("$$${A}$", "$${A}$"),
    ];
    for (text, expected) in cases {
        let (server, _) = expand(&stdio("sh", &[text], &[], None), |_| None).unwrap();
        assert_eq!(server, stdio("sh", &[expected], &[], None));
    }
}

#[test]
fn everything_missing_is_in_one_message() {
    let mut web = http("web", "http://${HOST}/${docker.url}");
    if let Transport::Http {
        bearer_token_env, ..
    } = &mut web.transport
    {
        *bearer_token_env = Some("TOKEN".to_owned());
    }
    let local = stdio("${RUN}", &["${HOST}", "${open"], &[], None);
    let error = expand(&vec![web, local], |_| None).unwrap_err();
    assert_eq!(error.unset, ["HOST", "RUN", "TOKEN"]);
    assert_eq!(
        error.to_string(),
        "the environment variables `HOST`, `RUN`, `TOKEN` are not set: set them, or give defaults with `${HOST:-…}`; \
         nothing in the scenario provides `docker.url`; `${open` has no closing `}`"
    );
    let error = expand(&http("a", "${HOST}"), |_| None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the environment variable `HOST` is not set: set it, or give a default with `${HOST:-…}`"
    );
}
