//! What starts programs, or looks elsewhere, waits for `--allow-programs`.

use serde_json::{Value, json};

use super::desk::{Desk, Server, with};
use crate::common::faulty_server;

/// Scenarios that do what a request may not, each with a word of why.
fn reaching_out(desk: &Desk) -> Vec<(&'static str, String)> {
    let shop = &desk.shop;
    let with = |more: &str| {
        format!(
            "name: x\nuser_intent: y\nservers: {{ shop: {{ url: '{shop}' }} }}\nagent: {{ calls: [{{ tool: mcp__shop__buy }}] }}\n{more}\n"
        )
    };
    let asking = |database: &str| {
        with(&format!(
            "evaluators: [{{ type: sql-validate, database: '{database}', query: SELECT 1, equals: 1 }}]"
        ))
    };
    vec![
        ("is a program", "name: x\nservers: { s: { command: touch, args: [touched] } }\nagent: { calls: [{ tool: mcp__s__x }] }\n".to_owned()),
        ("is started", "name: x\nservers: { s: { url: 'http://127.0.0.1:9/mcp', start: { command: touch, args: [touched] } } }\nagent: { calls: [{ tool: mcp__s__x }] }\n".to_owned()),
        ("has its headers from a program", format!("name: x\nservers: {{ s: {{ url: '{shop}', headers_command: [touch, touched] }} }}\nagent: {{ calls: [{{ tool: mcp__s__x }}] }}\n")),
        ("before or after", with("before: [[touch, touched]]")),
        ("before or after", with("after: [{ command: [touch, touched] }]")),
        ("the agent is a program", format!("name: x\nuser_intent: y\nservers: {{ shop: {{ url: '{shop}' }} }}\nagent: {{ kind: command, command: [touch, touched] }}\n")),
        ("an evaluator is a program", with("evaluators: [{ type: command, command: [touch, touched] }]")),
        ("an evaluator is a program", with("evaluators: [{ type: any_of, of: [{ type: command, command: [touch, touched] }] }]")),
        ("looks at a file outside", with("evaluators: [{ type: file, path: ../shop.yaml }]")),
        ("looks at a file outside", with("evaluators: [{ type: file, path: /etc/hostname }]")),
        ("looks at a file outside", with("evaluators: [{ type: file, path: link/shop.yaml }]")),
        ("looks at a database outside", with("evaluators: [{ type: sql-validate, database: ../other.db, query: SELECT 1, equals: 1 }]")),
        ("a socket or a file", asking("postgres://root@%2ftmp%2fsock/x")),
        ("a socket or a file", asking("postgres://root@db.example/x?host=/tmp/sock")),
        ("a socket or a file", asking("postgres://root@db.example/x?sslrootcert=/etc/hostname")),
        ("a socket or a file", asking("postgres://root@db.example/x?passfile=/etc/hostname")),
        ("a socket or a file", asking("postgres://root@db.example/x?service=here")),
        ("a socket or a file", asking("mysql://root@db.example/x?socket=/tmp/sock")),
        ("the server `behind` is a program", format!("name: x\nservers: {{ shop: {{ url: '{shop}', headers: {{ X-Behind: '{{{{upstream.behind.url}}}}' }} }} }}\nupstreams: {{ behind: {{ command: touch, args: [touched], tap: true }} }}\nagent: {{ calls: [{{ tool: mcp__shop__buy }}] }}\n")),
        ("prepare its source", with("source: { repo: ., prepare: [[touch, touched]] }")),
        ("`source.repo` is outside the served folder", with("source: { repo: .. }")),
    ]
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn without_it_nothing_is_started_and_nothing_is_looked_at() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &["--allow-write"]);
    std::os::unix::fs::symlink(desk.project.path("."), desk.project.path("scenarios/link"))
        .unwrap();
    let stdio = json!([{ "type": "stdio", "command": "touch", "args": ["touched"] }]);
    let case = with(&desk.case(&[]), &json!({ "serverConfigs": stdio }));
    let (status, reply) = server.post("run", &case).await;
    assert_eq!(status, 403, "{reply:#}");
    assert!(
        reply["error"]
            .as_str()
            .unwrap()
            .contains("--allow-programs"),
        "{reply:#}"
    );
    let batch = json!({ "testCases": [desk.case(&[]), case] });
    assert_eq!(server.post("run-batch", &batch).await.0, 403);
    for (number, (why, yaml)) in reaching_out(&desk).into_iter().enumerate() {
        let (status, reply) = server.post("run", &json!({ "yaml": yaml })).await;
        assert_eq!(status, 403, "{yaml}: {reply:#}");
        let said = reply["error"].as_str().unwrap();
        assert!(
            said.contains(why) && said.contains("--allow-programs"),
            "{yaml}: {said}"
        );
        // Neither written nor run from the folder that is served, by whatever route.
        let id = format!("reaching-{number}");
        let (status, reply) = server
            .post("cases", &json!({ "id": id, "yaml": yaml }))
            .await;
        assert_eq!(status, 403, "{yaml}: {reply:#}");
        desk.project.file(&format!("scenarios/{id}.yaml"), &yaml);
        for (route, body) in [
            ("run", json!({ "scenario": id })),
            ("run-batch", json!({ "testCases": [{ "scenario": id }] })),
            ("record", json!({ "scenarios": [id] })),
            ("compare", json!({ "scenarios": [id] })),
        ] {
            let (status, reply) = server.post(route, &body).await;
            assert_eq!(status, 403, "{route} {yaml}: {reply:#}");
            let said = reply["error"].as_str().unwrap();
            assert!(
                said.contains(&format!("`{id}` ({id}.yaml): ")),
                "{route}: {said}"
            );
        }
    }
    // A database server answers whatever it is asked, and so nobody from elsewhere asks it.
    let elsewhere = "postgres://nobody:s3cret@127.0.0.1:9/x";
    let yaml = format!(
        "name: x\nuser_intent: y\nservers: {{ shop: {{ url: '{}' }} }}\nagent: {{ calls: [{{ tool: mcp__shop__buy }}] }}\n\
         evaluators: [{{ type: sql-validate, database: '{elsewhere}', query: SELECT 1, equals: 1 }}]\n",
        desk.shop
    );
    for (route, body) in [
        ("run", json!({ "yaml": yaml })),
        ("cases", json!({ "id": "asking", "yaml": yaml })),
    ] {
        let (status, reply) = server.post(route, &body).await;
        assert_eq!(status, 403, "{reply:#}");
        let said = reply["error"].as_str().unwrap();
        assert!(said.contains("asks a database server"), "{said}");
        assert!(!said.contains("s3cret"), "{said}");
    }
    // A file that is not there is no reason to run without it.
    for (file, code) in [
        ("none.json", 400),
        ("../none.json", 403),
        ("/etc/hostname", 403),
    ] {
        let yaml = format!(
            "name: x\nconfig_file: {file}\nuser_intent: y\nservers: {{ shop: {{ url: '{}' }} }}\nagent: {{ calls: [{{ tool: mcp__shop__buy }}] }}\n",
            desk.shop
        );
        let (status, reply) = server.post("run", &json!({ "yaml": yaml })).await;
        assert_eq!(status, code, "{file}: {reply:#}");
    }
    let docker = "name: x\ndocker: { image: scratch, port: 1 }\nservers: { s: { url: '${docker.url}/mcp' } }\nagent: { calls: [{ tool: mcp__s__x }] }\n";
    desk.project.file("scenarios/docker.yaml", docker);
    let (status, reply) = server.post("run", &json!({ "scenario": "docker" })).await;
    assert_eq!(status, 403, "{reply:#}");
    assert!(
        reply["error"]
            .as_str()
            .unwrap()
            .contains("starts containers"),
        "{reply:#}"
    );
    // A judge that a request brings has no key of ours either.
    let judged = format!(
        "name: x\nuser_intent: y\nservers: {{ shop: {{ url: '{}' }} }}\nagent: {{ calls: [{{ tool: mcp__shop__buy }}] }}\n\
         judge: {{ provider: custom, model: j, base_url: 'http://127.0.0.1:9', api_key_env: HOME }}\n\
         evaluators: [{{ type: llm-judge, criteria: It is bought. }}]\n",
        desk.shop
    );
    let (status, reply) = server.post("run", &json!({ "yaml": judged })).await;
    assert_eq!(status, 403, "{reply:#}");
    let written = json!({ "id": "judged", "yaml": judged });
    assert_eq!(server.post("cases", &written).await.0, 403);
    // Nobody knows where a variable leads to.
    let home = format!(
        "name: x\nuser_intent: y\nservers: {{ shop: {{ url: '{}' }} }}\nagent: {{ calls: [{{ tool: mcp__shop__buy }}] }}\n\
         evaluators: [{{ type: file, path: '${{HOME}}/shop.yaml' }}]\n",
        desk.shop
    );
    desk.project.file("scenarios/home.yaml", home);
    let (status, reply) = server.post("run", &json!({ "scenario": "home" })).await;
    assert_eq!(status, 403, "{reply:#}");
    assert!(!desk.project.path("touched").exists());
    assert_eq!(server.get("results").await.1["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn with_it_programs_run_and_are_gone_when_the_request_ends() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &["--allow-programs"]);
    let before = desk.project.survivors().len();
    let stdio = json!([{ "type": "stdio", "name": "shop", "command": faulty_server(), "env": { "A": "${B}" } }]);
    let case = with(&desk.case(&[]), &json!({ "serverConfigs": stdio }));
    let reply = server.run(&case).await;
    assert_eq!(reply["success"], true, "{reply:#}");
    assert!(
        desk.project.survivors().len() <= before,
        "{:?}",
        desk.project.survivors()
    );
    let missing = json!([{ "type": "stdio", "command": "no-such-program" }]);
    let case = with(&desk.case(&[]), &json!({ "serverConfigs": missing }));
    let reply = server.run(&case).await;
    assert_eq!(reply["success"], false, "{reply:#}");
    let why = reply["verdict"]["reasoning"].as_str().unwrap();
    assert!(
        why.starts_with("Test execution failed: ") && why.contains("no-such-program"),
        "{why}"
    );
    // Files of anywhere may be named, too.
    desk.project.file("beside.bin", b"\x00");
    let yaml = "name: x\nservers: { s: { type: mock } }\nagent: { calls: [{ tool: mcp__s__look }] }\nevaluators: [{ type: file, path: ../beside.bin }]\n\
        mcp_interactions:\n  s:\n    tools: [{ name: look, responses: [{ content: [{ type: image, mime_type: image/png, data_file: ../beside.bin }] }] }]\n";
    let reply = server.run(&json!({ "yaml": yaml })).await;
    assert_eq!(reply["success"], true, "{reply:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_that_whoever_started_the_server_has_named_need_no_more() {
    let desk = Desk::new();
    let servers = json!({ "mcpServers": { "shop": { "command": faulty_server() } } });
    desk.project.file("servers.json", servers.to_string());
    let server = Server::start(&desk.project, &["--mcp-config", "servers.json"]);
    let mut case: Value = desk.case(&[]);
    case.as_object_mut().unwrap().remove("serverConfigs");
    let reply = server.run(&case).await;
    assert_eq!(reply["success"], true, "{reply:#}");
    // They win over a scenario's own of the same name.
    let yaml = "name: x\nservers: { shop: { command: touch, args: [touched] } }\nagent: { calls: [{ tool: mcp__shop__echo, args: { q: a } }] }\n";
    let reply = server.run(&json!({ "yaml": yaml })).await;
    assert_eq!(reply["success"], true, "{reply:#}");
    assert!(!desk.project.path("touched").exists());
    // Nobody else gets them.
    let yaml = "name: y\nservers: { own: { type: mock } }\nmcp_interactions: { own: { tools: [{ name: look, responses: [{ content: ok }] }] } }\n\
        agent: { calls: [{ tool: mcp__shop__echo, args: { q: a } }] }\n";
    let reply = server.run(&json!({ "yaml": yaml })).await;
    assert_eq!(reply["success"], false, "{reply:#}");
}
