//! Test cases: what is asked for, what comes of it, and what is wrong with it. For each right one there is a wrong one.

use serde_json::{Value, json};

use super::desk::{Desk, Server, places, with, without};
use crate::judge::desk::{Model, verdict};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_case_passes_by_the_tools_that_it_expects_and_a_wrong_expectation_fails() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &[]);
    let reply = server.run(&desk.case(&["get_price"])).await;
    assert_eq!(reply["success"], true, "{reply:#}");
    assert_eq!(reply["status"], "passed");
    let verdict = &reply["verdict"];
    assert_eq!(verdict["passed"], true);
    assert_eq!(verdict["confidence"], 1.0);
    assert_eq!(verdict["toolAccuracy"], 1.0);
    let reasoning = verdict["reasoning"].as_str().unwrap();
    assert!(reasoning.contains("without asking a model"), "{reasoning}");
    let [call] = &reply["toolCalls"].as_array().unwrap()[..] else {
        panic!("{reply:#}")
    };
    assert_eq!(call["toolName"], "get_price");
    assert_eq!(call["serverId"], "shop");
    assert_eq!(call["parameters"], json!({ "item": "tea" }));
    assert_eq!(call["response"]["content"][0]["text"], "4 euros for tea");
    assert_eq!(
        (&call["success"], &call["error"]),
        (&json!(true), &Value::Null)
    );
    assert!(call["executionTimeMs"].as_f64().unwrap() >= 0.0);
    for time in [&call["timestamp"], &reply["timestamp"]] {
        time.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    }
    assert!(reply["duration"].as_f64().unwrap() > 0.0);
    assert_eq!(reply["testCase"]["name"], "price of tea");
    assert_eq!(reply["testCase"]["expectedTools"], json!(["get_price"]));

    // In any order, with others besides; by the full name, too.
    for (expected, accuracy) in [
        (&["mcp__shop__get_price"][..], 1.0),
        (&[], 1.0),
        (&["get_price", "get_price"], 1.0),
    ] {
        let reply = server.run(&desk.case(expected)).await;
        assert_eq!(reply["success"], true, "{expected:?}: {reply:#}");
        assert_eq!(reply["verdict"]["toolAccuracy"], accuracy);
    }
    for (expected, accuracy, says) in [
        (&["buy"][..], 0.0, "`buy` is not called"),
        (&["get_price", "buy"], 0.5, "`buy` is not called"),
        (&["mcp__other__get_price"], 0.0, "is not called"),
        (&["no_such_tool"], 0.0, "no server offers it"),
        (&["GET_PRICE"], 0.0, "is not called"),
    ] {
        let reply = server.run(&desk.case(expected)).await;
        assert_eq!(reply["success"], false, "{expected:?}: {reply:#}");
        assert_eq!(reply["status"], "failed", "{expected:?}");
        assert_eq!(reply["verdict"]["passed"], false);
        assert_eq!(reply["verdict"]["toolAccuracy"], accuracy, "{expected:?}");
        let reasoning = reply["verdict"]["reasoning"].as_str().unwrap();
        assert!(reasoning.contains(says), "{reasoning}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_case_may_stand_within_test_case_and_a_scenario_may_be_named_or_brought() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &[]);
    let reply = server
        .run(&json!({ "testCase": desk.case(&["get_price"]) }))
        .await;
    assert_eq!(reply["success"], true, "{reply:#}");

    let scenario = |expected: &str| {
        format!(
            "name: Price\nuser_intent: What does tea cost?\nservers: {{ shop: {{ type: mock }} }}\n\
             expected_trajectory: [{{ tool: mcp__shop__get_price, args: {{ item: tea }} }}]\n\
             success_criteria: [{{ text: {expected} }}]\n{}",
            super::desk::SHOP
        )
    };
    desk.project
        .file("scenarios/shop/price.yaml", scenario("4 euros"))
        .file("scenarios/wrong.yaml", scenario("5 euros"));
    for name in ["shop/price", "shop/price.yaml", "scenarios/shop/price.yaml"] {
        let reply = server.run(&json!({ "scenario": name })).await;
        assert_eq!(reply["success"], true, "{name}: {reply:#}");
        assert_eq!(reply["scenario"], "shop/price");
        assert_eq!(reply["testCase"]["scenario"], "shop/price.yaml");
    }
    let reply = server.run(&json!({ "scenario": "wrong" })).await;
    assert_eq!(reply["success"], false, "{reply:#}");
    let reply = server.run(&json!({ "yaml": scenario("4 euros") })).await;
    assert_eq!(reply["success"], true, "{reply:#}");
    let reply = server.run(&json!({ "yaml": scenario("5 euros") })).await;
    assert_eq!(reply["success"], false, "{reply:#}");
    // The agent of a scenario may be another one.
    let asked = json!({ "scenario": "shop/price", "agentConfig": desk.agent() });
    let reply = server.run(&asked).await;
    assert_eq!(reply["success"], true, "{reply:#}");

    for unknown in [
        "nothing",
        "../shop",
        "shop",
        "/etc/passwd",
        "a\0b",
        "shop/price/row",
    ] {
        let (status, reply) = server.post("run", &json!({ "scenario": unknown })).await;
        assert_eq!(status, 404, "{unknown:?}: {reply:#}");
    }
    let (status, reply) = server
        .post("run", &json!({ "yaml": "name: x\nuser_intend: y\n" }))
        .await;
    assert_eq!(status, 400);
    assert_eq!(places(&reply)[0], "/yaml");
    let said = reply.to_string();
    assert!(
        said.contains("line 2") && said.contains("user_intent"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn files_beside_a_scenario_that_is_brought_are_those_of_the_folder_that_is_served() {
    let desk = Desk::new();
    desk.project
        .file("scenarios/picture.bin", b"\x00\x01\x02")
        .file("scenarios/rows.csv", "id,item\none,tea\ntwo,milk\n")
        .file("outside.bin", "secret");
    let server = Server::start(&desk.project, &[]);
    let scenario = |file: &str, more: &str| {
        format!(
            "name: Picture\nservers: {{ shop: {{ type: mock }} }}\nexpected_trajectory: [{{ tool: mcp__shop__look }}]\n{more}\
             mcp_interactions:\n  shop:\n    tools:\n      - name: look\n        responses:\n          - content: [{{ type: image, mime_type: image/png, data_file: {file} }}]\n"
        )
    };
    let reply = server
        .run(&json!({ "yaml": scenario("picture.bin", "") }))
        .await;
    assert_eq!(reply["success"], true, "{reply:#}");
    assert_eq!(
        reply["toolCalls"][0]["response"]["content"][0]["data"],
        "AAEC"
    );
    // Each row of a data set is a run of its own, which a batch takes.
    let rows = scenario("picture.bin", "dataset: rows.csv\nx-used: '{{row.item}}'\n");
    let (status, reply) = server.post("run", &json!({ "yaml": rows })).await;
    assert_eq!(status, 400, "{reply:#}");
    assert!(
        reply["error"].as_str().unwrap().contains("2 runs"),
        "{reply:#}"
    );
    for outside in [
        "../outside.bin",
        "/etc/hostname",
        "../scenarios/../outside.bin",
    ] {
        let (status, reply) = server
            .post("run", &json!({ "yaml": scenario(outside, "") }))
            .await;
        assert_eq!(status, 403, "{outside}: {reply:#}");
        assert!(!reply.to_string().contains("secret"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_nobody_has_is_no_tool_that_was_called() {
    let desk = Desk::with_model(
        "
llm_interactions:
  - tool_calls:
      - { name: mcp__shop__teleport, arguments: {} }
      - { name: mcp__shop__refuse, arguments: {} }
  - { text: I could not. }
",
    );
    let server = Server::start(&desk.project, &[]);
    let reply = server.run(&desk.case(&["teleport"])).await;
    assert_eq!(reply["success"], false, "{reply:#}");
    assert_eq!(reply["verdict"]["toolAccuracy"], 0.0);
    let calls = reply["toolCalls"].as_array().unwrap();
    assert_eq!(calls[0]["serverId"], "unknown");
    assert_eq!(
        calls[0]["error"],
        "Tool teleport not found in any connection"
    );
    assert_eq!(calls[0]["success"], false);
    assert_eq!(calls[1]["serverId"], "shop");
    assert_eq!(calls[1]["error"], "sold out");
    // A tool that was called and failed was called: whether that is right, evaluators and judges say.
    let reply = server.run(&desk.case(&["refuse"])).await;
    assert_eq!(reply["success"], true, "{reply:#}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_judge_decides_where_there_is_one() {
    let desk = Desk::new();
    let kind = Model::new(|_, _| verdict(0.9));
    let strict = Model::new(|_, _| verdict(0.2));
    let server = Server::start(&desk.project, &[]);
    let judged = |url: &str, more: &Value| {
        let judge = with(
            &json!({ "provider": "openai", "model": "j", "baseUrl": url }),
            more,
        );
        with(&desk.case(&["get_price"]), &json!({ "judgeConfig": judge }))
    };
    let reply = server.run(&judged(&kind.url, &json!({}))).await;
    assert_eq!(reply["success"], true, "{reply:#}");
    assert_eq!(reply["verdict"]["confidence"], 0.9);
    assert_eq!(reply["verdict"]["suggestions"], json!(["Say less."]));
    let reasoning = reply["verdict"]["reasoning"].as_str().unwrap();
    assert!(reasoning.contains("Call 2 says so."), "{reasoning}");
    let asked = kind.bodies()[0].to_string();
    assert!(
        asked.contains("The agent did what it was asked for: What does tea cost?"),
        "{asked}"
    );
    // It knows which tools were expected, and that more may be called.
    assert!(
        asked.contains("in any order; others may be called, too") && asked.contains("| get_price"),
        "{asked}"
    );
    let own = json!({ "criteria": ["The price is in euros."] });
    let _ = server.run(&judged(&kind.url, &own)).await;
    assert!(
        kind.bodies()[1]
            .to_string()
            .contains("The price is in euros.")
    );

    let reply = server.run(&judged(&strict.url, &json!({}))).await;
    assert_eq!(reply["success"], false, "{reply:#}");
    assert_eq!(reply["status"], "failed");
    let reply = server
        .run(&judged(&strict.url, &json!({ "threshold": 0.1 })))
        .await;
    // It says itself that the run has not passed, and its score is above what was asked for: that is no verdict.
    assert_eq!(reply["status"], "error", "{reply:#}");
    assert_eq!(reply["success"], false, "{reply:#}");
    // A judge that cannot be asked is no judge that agrees.
    let reply = server.run(&judged("http://127.0.0.1:9", &json!({}))).await;
    assert_eq!(reply["success"], false, "{reply:#}");
    assert!(
        reply["verdict"]["reasoning"]
            .as_str()
            .unwrap()
            .starts_with("Test execution failed: ")
    );
    // What the expected tools say stands beside it.
    let brief = Model::new(|_, _| with(&verdict(0.9), &json!({ "reasoning": "Fine" })));
    let wrong = with(
        &judged(&brief.url, &json!({})),
        &json!({ "expectedTools": ["buy"] }),
    );
    let reply = server.run(&wrong).await;
    assert_eq!(reply["success"], false, "{reply:#}");
    assert_eq!(
        reply["verdict"]["reasoning"], "Fine. `buy` is not called.",
        "{reply:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_run_that_cannot_be_made_is_a_failed_test_and_no_failed_request() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &[]);
    let nobody = json!([{ "type": "http", "url": "http://127.0.0.1:9/mcp" }]);
    let asked = with(
        &desk.case(&["get_price"]),
        &json!({ "serverConfigs": nobody }),
    );
    let reply = server.run(&asked).await;
    assert_eq!(reply["success"], false);
    assert_eq!(reply["status"], "error");
    let error = reply["error"].as_str().unwrap();
    assert!(error.contains("cannot be reached"), "{reply:#}");
    let id = reply["resultId"].as_str().unwrap();
    let (_, kept) = server.get(&format!("results/{id}")).await;
    assert_eq!(kept["error"], error, "{kept:#}");
    let verdict = &reply["verdict"];
    assert!(
        verdict["reasoning"]
            .as_str()
            .unwrap()
            .starts_with("Test execution failed: "),
        "{reply:#}"
    );
    assert_eq!(
        (
            &verdict["passed"],
            &verdict["confidence"],
            &verdict["toolAccuracy"]
        ),
        (&json!(false), &json!(0.0), &json!(0.0))
    );
    // Nor is one that nobody judges: it calls nothing, and nothing is expected of it.
    let silent = Desk::with_model("llm_interactions: [{ text: Hello. }]\n");
    let unjudged = Server::start(&silent.project, &[]);
    let said = unjudged.run(&silent.case(&[])).await;
    assert_eq!(said["status"], "inconclusive", "{said:#}");
    assert_eq!(said["success"], false);
    let parts = ["passed", "confidence"].map(|it| said["verdict"][it].clone());
    assert_eq!(parts, [json!(false), json!(0.0)]);

    // It is stored, too.
    let id = reply["resultId"].as_str().unwrap();
    let (status, stored) = server.get(&format!("results/{id}")).await;
    assert_eq!(status, 200, "{stored:#}");
    assert_eq!(stored["verdict"], reply["verdict"]);

    let slow = Desk::with_model("llm_interactions: [{ fault: hang }]\n");
    let asked = with(&slow.case(&[]), &json!({ "timeout": 1500 }));
    let reply = server.run(&asked).await;
    assert_eq!(reply["status"], "timeout", "{reply:#}");
    assert_eq!(reply["success"], false);
    let (_, runs) = server.get("runs?limit=1").await;
    assert_eq!(runs["runs"][0]["errors"], 1, "{runs:#}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_run_takes_no_longer_than_the_shortest_bound_allows() {
    let desk = Desk::with_model("llm_interactions: [{ fault: hang }]\n");
    let timed = |timeout: &str| {
        format!(
            "name: x\nuser_intent: y\nservers: {{ shop: {{ url: '{}' }} }}\nagent: {{ kind: openai, model: m, base_url: '{}' }}\ntimeout: {timeout}\n",
            desk.shop, desk.model
        )
    };
    // What a case, and what a scenario asks for is bounded by the server, and that by the scenario.
    let strict = Server::start(&desk.project, &["--timeout", "2"]);
    let patient = Server::start(&desk.project, &["--timeout", "100"]);
    let case = with(&desk.case(&[]), &json!({ "timeout": 100_000 }));
    let text = json!({ "yaml": timed("100s") });
    let asked = with(&text, &json!({ "timeout": 2000 }));
    let server_says = "the 2s passed that the test server's --timeout gives a run";
    let request_says = "the request's `timeout` of 2s passed";
    for (server, asked, why) in [
        (&strict, case, server_says),
        (&strict, desk.case(&[]), server_says),
        (&strict, text, server_says),
        (&patient, asked, request_says),
        (
            &patient,
            with(&desk.case(&[]), &json!({ "timeout": 2000 })),
            request_says,
        ),
        (
            &patient,
            json!({ "yaml": timed("2s") }),
            "the scenario's timeout of 2s passed",
        ),
    ] {
        let reply = server.run(&asked).await;
        assert_eq!(reply["status"], "timeout", "{reply:#}");
        assert!(reply["duration"].as_f64().unwrap() < 90_000.0, "{reply:#}");
        let said = reply["verdict"]["reasoning"].as_str().unwrap();
        assert!(said.contains(why), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_malformed_is_refused_with_its_place() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &[]);
    let case = desk.case(&["get_price"]);
    let server_of = |config: Value| with(&case, &json!({ "serverConfigs": [config] }));
    for (body, place) in [
        (json!(null), ""),
        (json!([]), ""),
        (json!("run"), ""),
        (json!({}), ""),
        (without(&case, "name"), ""),
        (without(&case, "prompt"), ""),
        (with(&case, &json!({ "name": 7 })), "/name"),
        (with(&case, &json!({ "name": "" })), "/name"),
        (with(&case, &json!({ "prompt": "" })), "/prompt"),
        (
            with(&case, &json!({ "expectedTools": "get_price" })),
            "/expectedTools",
        ),
        (
            with(&case, &json!({ "expectedTools": [1] })),
            "/expectedTools/0",
        ),
        (with(&case, &json!({ "expectedTool": ["x"] })), ""),
        (with(&case, &json!({ "timeout": 0 })), "/timeout"),
        (with(&case, &json!({ "timeout": 1.5 })), "/timeout"),
        (
            with(&case, &json!({ "serverConfigs": [] })),
            "/serverConfigs",
        ),
        (server_of(json!({})), "/serverConfigs/0"),
        (server_of(json!({ "type": "http" })), "/serverConfigs/0"),
        (
            server_of(json!({ "type": "http", "url": "file:///etc/passwd" })),
            "/serverConfigs/0",
        ),
        (server_of(json!({ "type": "stdio" })), "/serverConfigs/0"),
        (
            server_of(json!({ "type": "http", "url": "http://h/", "command": "x" })),
            "/serverConfigs/0",
        ),
        (
            server_of(json!({ "type": "carrier-pigeon" })),
            "/serverConfigs/0/type",
        ),
        (
            with(
                &case,
                &json!({ "agentConfig": { "provider": "nobody", "model": "m" } }),
            ),
            "/agentConfig/provider",
        ),
        (
            with(&case, &json!({ "agentConfig": { "provider": "openai" } })),
            "/agentConfig",
        ),
        (
            with(
                &case,
                &json!({ "judgeConfig": { "provider": "openai", "model": "m", "threshold": 2 } }),
            ),
            "/judgeConfig/threshold",
        ),
        (json!({ "testCase": without(&case, "name") }), "/testCase"),
        (json!({ "testCase": case, "yaml": "x" }), ""),
        (json!({ "scenario": "" }), "/scenario"),
    ] {
        let (status, reply) = server.post("run", &body).await;
        assert_eq!(status, 400, "{body}: {reply:#}");
        assert!(places(&reply).contains(&place), "{body}: {reply:#}");
        assert!(!reply["error"].as_str().unwrap().is_empty());
    }
    let (_, reply) = server
        .post("run", &server_of(json!({ "type": "carrier-pigeon" })))
        .await;
    assert_eq!(reply["error"], "Unsupported transport type: carrier-pigeon");
    // Without an agent, it is said who could be one.
    let (status, reply) = server.post("run", &without(&case, "agentConfig")).await;
    assert_eq!((status, places(&reply)), (400, vec!["/agentConfig"]));
    assert!(
        reply["error"].as_str().unwrap().contains("--agent"),
        "{reply:#}"
    );
    let (status, reply) = server.post("run", &without(&case, "serverConfigs")).await;
    assert_eq!((status, places(&reply)), (400, vec!["/serverConfigs"]));
    assert!(
        reply["error"].as_str().unwrap().contains("--mcp-config"),
        "{reply:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_agents_and_judges_are_those_of_the_start_where_a_case_names_none() {
    let desk = Desk::new();
    let judge = Model::new(|_, _| verdict(0.2));
    desk.project
        .file(
            "servers.json",
            json!({ "mcpServers": { "shop": { "url": desk.shop } } }).to_string(),
        )
        .file(
            "scenarios/_defaults.yaml",
            format!(
                "agent: {{ kind: openai, model: m, base_url: '{}' }}\n",
                desk.model
            ),
        )
        .file(
            "judge.yaml",
            format!("provider: openai\nmodel: j\nbase_url: {}\n", judge.url),
        );
    let bare = without(
        &without(&desk.case(&["get_price"]), "agentConfig"),
        "serverConfigs",
    );
    let server = Server::start(&desk.project, &["--mcp-config", "servers.json"]);
    let reply = server.run(&bare).await;
    assert_eq!(reply["success"], true, "{reply:#}");
    let (_, connections) = server.get("connections").await;
    assert_eq!(
        connections,
        json!({ "connections": [{ "serverId": "shop", "type": "http", "target": desk.shop }] })
    );
    let (_, health) = server.get("health").await;
    assert_eq!(
        (&health["testing"], &health["connections"]),
        (&json!(true), &json!(1))
    );

    let started = [
        "--mcp-config",
        "servers.json",
        "--judge",
        "judge.yaml",
        "--model",
        "another",
    ];
    let server = Server::start(&desk.project, &started);
    let reply = server.run(&bare).await;
    assert_eq!(reply["success"], false, "{reply:#}");
    assert_eq!(judge.bodies().len(), 1);
    let asked = desk.project.read("asked.jsonl");
    let last: Value = serde_json::from_str(asked.lines().last().unwrap()).unwrap();
    assert_eq!(last["body"]["model"], "another");
    let system = &last["body"]["messages"][0];
    assert_eq!(
        system["content"],
        "You are an AI assistant that can call tools."
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn the_shipped_file_server_works_over_http_and_a_wrong_expectation_of_it_fails() {
    let project = crate::common::Project::offline();
    let ran = project.expect(0, &["compare", "scenarios/files"]);
    ran.says("Suite Results: 3/3 tests passed");
    let server = Server::start(&project, &[]);
    let cases = ["files/write", "files/delete", "files/refused"];
    let cases = cases.map(|it| json!({ "scenario": it }));
    let (status, reply) = server
        .post(
            "run-batch",
            &json!({ "testCases": cases, "parallel": true }),
        )
        .await;
    assert_eq!(
        (status, &reply["summary"]["passed"]),
        (200, &json!(3)),
        "{reply:#}"
    );
    let calls = reply["results"][2]["toolCalls"].as_array().unwrap();
    assert_eq!(calls[0]["error"], "there is no file /nothing.txt");
    project
        .edit(
            "scenarios/files/write.yaml",
            "text: Tea costs 4 euros.\n  - /prices",
            "text: Tea costs 5 euros.\n  - /prices",
        )
        .edit(
            "scenarios/files/delete.yaml",
            "tool: delete_file",
            "tool: read_file",
        )
        .edit(
            "scenarios/files/refused.yaml",
            "path: /nothing.txt }",
            "path: /readme.txt }",
        );
    let (_, reply) = server
        .post("run-batch", &json!({ "testCases": cases }))
        .await;
    assert_eq!(reply["summary"]["failed"], 3, "{reply:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_scenarios_runs_what_requests_bring() {
    let desk = Desk::new();
    let mut server = Server::in_folder(&desk.project, &["--allow-write"], &[]);
    assert!(!desk.project.path("scenarios").exists());
    let yaml = format!(
        "name: Brought\nservers: {{ shop: {{ type: http, url: '{}' }} }}\nagent: {{ kind: scripted }}\n\
         expected_trajectory: [{{ tool: mcp__shop__get_price, args: {{ item: tea }} }}]\n",
        desk.shop
    );
    for asked in [desk.case(&["get_price"]), json!({ "yaml": yaml })] {
        let reply = server.run(&asked).await;
        assert_eq!(reply["success"], true, "{reply:#}");
        assert_eq!(reply.get("error"), None);
    }
    let (status, reply) = server.get("cases").await;
    assert_eq!(
        (status, reply),
        (200, json!({ "cases": [], "findings": [] }))
    );
    let case = json!({ "id": "new", "yaml": yaml });
    let (status, reply) = server.post("cases", &case).await;
    assert_eq!(status, 201, "{reply:#}");
    assert!(desk.project.path("scenarios/new.yaml").is_file());
    server.first_line_with("note: there is no folder scenarios");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_request_says_of_its_models_reaches_them() {
    let desk = Desk::new();
    let judge = Model::new(|_, _| verdict(0.9));
    let server = Server::start(&desk.project, &[]);
    let asked = |agent: &Value, judge: &Value| {
        let models = json!({ "agentConfig": with(&desk.agent(), agent), "judgeConfig": judge });
        with(&desk.case(&["get_price"]), &models)
    };
    let judged = json!({
        "provider": "custom", "model": "j", "baseUrl": judge.url, "temperature": 0.25, "maxTokens": 77, "system": "Be kind.",
    });
    let agent = json!({
        "provider": "custom", "temperature": 0.5, "maxTokens": 99, "system": "Be brief.",
        "toolChoice": { "tool": "mcp__shop__get_price" },
    });
    let reply = server.run(&asked(&agent, &judged)).await;
    assert_eq!(reply["success"], true, "{reply:#}");
    let bodies = |log: &str| -> Vec<Value> {
        let lines = log.lines();
        let lines = lines.map(|it| serde_json::from_str::<Value>(it).unwrap());
        lines.map(|it| it["body"].clone()).collect()
    };
    let of_agent = bodies(&desk.project.read("asked.jsonl"));
    assert_eq!(
        (&of_agent[0]["temperature"], &of_agent[0]["max_tokens"]),
        (&json!(0.5), &json!(99))
    );
    assert_eq!(of_agent[0]["messages"][0]["content"], "Be brief.");
    assert_eq!(
        of_agent[0]["tool_choice"],
        json!({ "type": "function", "function": { "name": "mcp__shop__get_price" } })
    );
    let of_judge = &judge.bodies()[0];
    assert_eq!(
        (&of_judge["temperature"], &of_judge["max_tokens"]),
        (&json!(0.25), &json!(77))
    );
    let prompt = of_judge["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.ends_with("Be kind."), "{prompt}");
    // What is not said is as it was, and `null` leaves it to the API.
    let plain = json!({ "provider": "openai", "model": "j", "baseUrl": judge.url });
    server
        .run(&asked(&json!({ "temperature": null }), &plain))
        .await;
    server.run(&asked(&json!({}), &plain)).await;
    let of_agent = bodies(&desk.project.read("asked.jsonl"));
    let chances: Vec<_> = of_agent.iter().map(|it| it.get("temperature")).collect();
    assert_eq!(chances[2..], [None, None, Some(&json!(0)), Some(&json!(0))]);
    assert_eq!(judge.bodies()[1].get("temperature"), None);
    for (agent, judge, place) in [
        (
            json!({ "temperature": 3 }),
            plain.clone(),
            "/agentConfig/temperature",
        ),
        (
            json!({ "toolChoice": "always" }),
            plain.clone(),
            "/agentConfig/toolChoice",
        ),
        (
            json!({ "provider": "ollama", "toolChoice": "required" }),
            plain.clone(),
            "/agentConfig/toolChoice",
        ),
        (json!({ "temprature": 0 }), plain.clone(), "/agentConfig"),
        (
            json!({}),
            with(&plain, &json!({ "maxTokens": 0 })),
            "/judgeConfig/maxTokens",
        ),
        (
            json!({}),
            with(&plain, &json!({ "temperature": "hot" })),
            "/judgeConfig/temperature",
        ),
        (
            json!({}),
            with(&plain, &json!({ "toolChoice": "auto" })),
            "/judgeConfig",
        ),
        (
            json!({}),
            json!({ "provider": "custom", "model": "j" }),
            "/judgeConfig",
        ),
    ] {
        let (status, reply) = server.post("run", &asked(&agent, &judge)).await;
        assert_eq!((status, places(&reply)), (400, vec![place]), "{reply:#}");
        let key = [
            "temperature",
            "toolChoice",
            "temprature",
            "maxTokens",
            "baseUrl",
        ];
        let said = reply["findings"].to_string();
        assert!(key.iter().any(|it| said.contains(it)), "{reply:#}");
    }
}
