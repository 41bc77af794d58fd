//! Keys of requests, and what the environment holds.

use std::fs;
use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use super::desk::{Desk, Events, Server, answer, places, with};
use crate::judge::desk::{Model, verdict};

const KEY: &str = "canary-key-of-a-request-51c09d";
const JUDGES_KEY: &str = "canary-key-of-a-judge-77e2ab";
const HEADER: &str = "canary-header-3f1b0c9d22";
const OURS: &str = "canary-of-our-environment-4410";

/// The files below a folder that hold a text.
fn holding(folder: &Path, text: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            holding(&path, text, found);
        } else if fs::read(&path)
            .unwrap()
            .windows(text.len())
            .any(|it| it == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_used_and_then_forgotten() {
    let desk = Desk::with_model(&format!(
        "
llm_interactions:
  - expect: {{ headers: {{ authorization: 'Bearer {KEY}' }} }}
    tool_calls: [{{ name: mcp__shop__get_price, arguments: {{ item: '{KEY}' }} }}]
  - {{ text: 'The key is {KEY}.' }}
"
    ));
    // The stand-in logs what it is asked, redacted by what it knows; that file is not ours.
    // It says its own key, too.
    let judge = Model::new(|_, _| {
        let said = json!({ "reasoning": format!("My key is {JUDGES_KEY}.") });
        with(&verdict(0.9), &said)
    });
    let server = Server::start(&desk.project, &[]);
    let mut events = Events::open(server.request(Method::GET, "events")).await;
    let shop = json!([{ "type": "http", "name": "shop", "url": desk.shop, "headers": { "X-Api-Key": HEADER } }]);
    let case = with(
        &desk.case(&["get_price"]),
        &json!({
            "name": format!("with {KEY}"),
            "prompt": format!("Use {KEY}"),
            "serverConfigs": shop,
            "agentConfig": with(&desk.agent(), &json!({ "apiKey": KEY })),
            "judgeConfig": { "provider": "openai", "model": "j", "baseUrl": judge.url, "apiKey": JUDGES_KEY },
        }),
    );
    let reply = server.run(&case).await;
    assert_eq!(reply["success"], true, "{reply:#}");
    let received = events.until(|it| it.kind == "verdict").await;
    let id = reply["resultId"].as_str().unwrap();
    let (_, stored) = server.get(&format!("results/{id}")).await;
    let (_, list) = server.get("results").await;
    let replies = [
        reply,
        stored,
        list,
        json!(received.iter().map(|it| &it.data).collect::<Vec<_>>()),
    ];
    server.signal("-TERM");
    let (code, said) = server.end();
    assert_eq!(code, Some(0));
    for secret in [KEY, JUDGES_KEY, HEADER] {
        for reply in &replies {
            assert!(!reply.to_string().contains(secret), "{secret}: {reply:#}");
        }
        assert!(!said.contains(secret), "{said}");
        let mut found = Vec::new();
        holding(desk.project.path(".").as_path(), secret, &mut found);
        found.retain(|it| !it.ends_with("model.yaml") && !it.ends_with("asked.jsonl"));
        assert!(found.is_empty(), "{secret}: {found:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_case_is_shown_without_what_our_environment_keeps_secret() {
    let desk = Desk::new();
    let case = format!(
        "name: x\ndescription: {OURS}\nuser_intent: y\nservers: {{ shop: {{ url: '{}' }} }}\n",
        desk.shop
    );
    desk.project.file("scenarios/x.yaml", case);
    let server = Server::with(&desk.project, &[], &[("OUR_TOKEN", OURS)]);
    for path in ["cases", "cases/x"] {
        let (status, reply) = server.get(path).await;
        assert_eq!(status, 200, "{reply:#}");
        assert!(!reply.to_string().contains(OURS), "{reply:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_our_environment_is_put_into_what_a_request_brings() {
    let desk = Desk::new();
    let env = [("OUR_TOKEN", OURS), ("HOME_OF_SECRETS", OURS)];
    let server = Server::with(&desk.project, &[], &env);
    let shop = json!([{
        "type": "http", "name": "shop", "url": format!("{}?a=${{OUR_TOKEN}}", desk.shop),
        "headers": { "X-Sent": "${OUR_TOKEN} ${UNSET}" },
    }]);
    let case = with(
        &desk.case(&["get_price"]),
        &json!({
            "prompt": "Say ${OUR_TOKEN} and {{variable}}.",
            "serverConfigs": shop,
            "agentConfig": with(&desk.agent(), &json!({ "model": "${OUR_TOKEN}", "system": "${OUR_TOKEN}" })),
        }),
    );
    let reply = server.run(&case).await;
    assert_eq!(reply["success"], true, "{reply:#}");
    let asked = desk.project.read("asked.jsonl");
    assert!(!asked.contains(OURS), "{asked}");
    let first: Value = serde_json::from_str(asked.lines().next().unwrap()).unwrap();
    assert_eq!(first["body"]["model"], "${OUR_TOKEN}");
    assert!(
        asked.contains("Say ${OUR_TOKEN} and {{variable}}."),
        "{asked}"
    );

    let scenario = format!(
        "name: Price\nuser_intent: Say ${{OUR_TOKEN}}.\nservers: {{ shop: {{ type: http, url: '{}', headers: {{ X: '${{OUR_TOKEN}}' }} }} }}\n\
         agent: {{ kind: openai, model: '${{OUR_TOKEN}}', base_url: '{}' }}\n",
        desk.shop, desk.model
    );
    let reply = server.run(&json!({ "yaml": scenario })).await;
    assert_eq!(reply["toolCalls"][0]["toolName"], "get_price", "{reply:#}");
    let asked = desk.project.read("asked.jsonl");
    let last: Value = serde_json::from_str(asked.lines().last().unwrap()).unwrap();
    assert_eq!(last["body"]["model"], "${OUR_TOKEN}");
    assert!(!asked.contains(OURS), "{asked}");

    // Nor by the name of a variable.
    for (yaml, says) in [
        (
            format!(
                "name: x\nuser_intent: y\nservers: {{ s: {{ url: '{}', bearer_token_env: OUR_TOKEN }} }}\nagent: {{ kind: openai, model: m, base_url: '{}' }}\n",
                desk.shop, desk.model
            ),
            "environment variable",
        ),
        (
            format!(
                "name: x\nuser_intent: y\nservers: {{ s: {{ url: '{}' }} }}\nagent: {{ kind: openai, model: m, base_url: '{}', api_key_env: OUR_TOKEN }}\n",
                desk.shop, desk.model
            ),
            "environment variable",
        ),
    ] {
        let (status, reply) = server.post("run", &json!({ "yaml": yaml })).await;
        assert_eq!(status, 403, "{reply:#}");
        assert!(reply["error"].as_str().unwrap().contains(says), "{reply:#}");
    }
    let secret = format!(
        "name: x\nvariables: {{ t: {{ value: '${{OUR_TOKEN}}', secret: true }} }}\nservers: {{ shop: {{ type: http, url: '{}' }} }}\n\
         agent: {{ calls: [{{ tool: mcp__shop__get_price, args: {{ item: '{{{{t}}}}' }} }}] }}\n",
        desk.shop
    );
    let reply = server.run(&json!({ "yaml": secret })).await;
    assert!(!reply.to_string().contains(OURS), "{reply:#}");
    let answered = reply["toolCalls"][0]["response"].to_string();
    assert!(!answered.contains("canary"), "{reply:#}");
}

/// A scenario that asks the shop for a price, with more lines.
fn asking(item: &str, more: &str) -> String {
    format!(
        "name: x\nagent: {{ calls: [{{ tool: mcp__shop__get_price, args: {{ item: '{item}' }} }}] }}\n{more}\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_defaults_take_from_the_environment_goes_where_they_say_alone() {
    let desk = Desk::new();
    let (shop, model) = (&desk.shop, &desk.model);
    let env = [("OUR_TOKEN", OURS)];
    let server = Server::with(&desk.project, &["--allow-write"], &env);
    let own = asking("tea", "");
    desk.project.file("scenarios/own.yaml", &own);
    let header = format!(
        "servers: {{ shop: {{ type: http, url: '{shop}', headers: {{ X-Sent: '${{OUR_TOKEN}}' }} }} }}\n"
    );
    let elsewhere = "servers: { shop: { url: 'http://127.0.0.1:9/mcp' } }";
    let asked = format!(
        "agent: {{ kind: openai, model: m, base_url: '{model}', extra_headers: {{ X-Sent: '${{OUR_TOKEN}}' }} }}\n"
    );
    for (defaults, brought) in [
        (header.clone(), asking("tea", elsewhere)),
        (
            format!(
                "variables: {{ host: '{shop}' }}\n{}",
                header.replace(shop, "{{host}}")
            ),
            asking("tea", "variables: { host: 'http://127.0.0.1:9/mcp' }"),
        ),
        (
            "variables: { token: { value: '${OUR_TOKEN}', secret: true } }\n".to_owned(),
            asking("{{token}}", elsewhere),
        ),
        (
            asked,
            format!(
                "name: x\nuser_intent: y\nagent: {{ base_url: 'http://127.0.0.1:9' }}\n{elsewhere}\n"
            ),
        ),
        // It may be the text that names the variable, in parts that no reader sees as one.
        (
            format!(
                "variables: {{ a: a, b: b }}\n{}",
                header.replace("${OUR_TOKEN}", "{{a}}{{b}}")
            ),
            asking("tea", "variables: { a: $, b: '{OUR_TOKEN}' }"),
        ),
    ] {
        desk.project.file("scenarios/_defaults.yaml", &defaults);
        let batch = json!({ "testCases": [desk.case(&[]), { "yaml": brought }] });
        for (route, body, at) in [
            ("run", json!({ "yaml": brought }), "/yaml"),
            ("run-batch", batch, "/testCases/1/yaml"),
            (
                "cases",
                json!({ "id": "written", "yaml": brought }),
                "/yaml",
            ),
        ] {
            let (status, reply) = server.post(route, &body).await;
            assert_eq!(status, 403, "{route} {defaults} {brought}: {reply:#}");
            assert_eq!(places(&reply), [at]);
            let said = reply["error"].as_str().unwrap();
            for word in ["`_defaults.yaml`", "`OUR_TOKEN`", "--allow-programs"] {
                assert!(said.contains(word), "{word}: {said}");
            }
        }
        let put = server.request(Method::PUT, "cases/own");
        let (status, reply) = answer(put.json(&json!({ "yaml": brought }))).await;
        assert_eq!(status, 403, "{defaults} {brought}: {reply:#}");
    }
    assert!(!desk.project.path("scenarios/written.yaml").exists());
    assert_eq!(desk.project.read("scenarios/own.yaml"), own);

    // What whoever serves has written reads it as on the command line.
    desk.project.file("scenarios/_defaults.yaml", &header);
    let reply = server.run(&json!({ "scenario": "own" })).await;
    assert_eq!(reply["success"], true, "{reply:#}");
    let named = format!(
        "servers: {{ shop: {{ url: '{shop}', bearer_token_env: OUR_TOKEN, headers: {{}} }} }}"
    );
    desk.project
        .file("scenarios/named.yaml", asking("tea", &named));
    let reply = server.run(&json!({ "scenario": "named" })).await;
    assert_eq!(reply["success"], true, "{reply:#}");
    let lenient = Server::with(&desk.project, &["--allow-programs"], &env);
    let reply = lenient.run(&json!({ "yaml": asking("tea", "") })).await;
    assert_eq!(reply["success"], true, "{reply:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_a_variable_or_a_secret_gets_past() {
    let desk = Desk::new();
    let env = [("OUR_TOKEN", OURS), ("OPENAI_API_KEY", OURS)];
    let server = Server::with(&desk.project, &["--allow-write"], &env);
    let shop = |header: &str| {
        format!(
            "servers: {{ shop: {{ type: http, url: '{}', headers: {{ X-Sent: {header} }} }} }}",
            desk.shop
        )
    };
    let judge = "judge: { provider: openai, model: j }\nevaluators: [{ type: llm-judge, criteria: It works. }]";
    let with_secret = |item: &str| asking(item, &format!("{judge}\n{}", shop("plain")));
    let variables = "variables: { a: $, b: '{OUR_TOKEN}' }";
    for (yaml, brings, what) in [
        (
            asking("tea", &shop("\"\\x24{OUR_TOKEN}\"")),
            200,
            "`OUR_TOKEN`",
        ),
        (
            asking("tea", &format!("{variables}\n{}", shop("'{{a}}{{b}}'"))),
            200,
            "`OUR_TOKEN`",
        ),
        // What stands for the key of the judge would be sent to the shop.
        (
            with_secret("<secret:env.OPENAI_API_KEY>"),
            403,
            "placeholder",
        ),
    ] {
        let written = json!({ "id": "written", "yaml": yaml });
        let (status, reply) = server.post("cases", &written).await;
        assert!([400, 403].contains(&status), "{yaml}: {reply:#}");
        let said = reply["error"].as_str().unwrap();
        assert!(said.contains(what), "{yaml}: {said}");
        let (status, reply) = server.post("run", &json!({ "yaml": yaml })).await;
        assert_eq!(status, brings, "{yaml}: {reply:#}");
    }
    assert!(!desk.project.path("scenarios/written.yaml").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_of_a_request_hears_no_secret_of_the_scenarios() {
    let desk = Desk::new();
    let server = Server::with(&desk.project, &[], &[("OUR_TOKEN", OURS)]);
    let scenario = format!(
        "name: x\nvariables: {{ token: {{ value: '${{OUR_TOKEN}}', secret: true }} }}\nuser_intent: Log in with {{{{token}}}}.\n\
         servers: {{ shop: {{ type: http, url: '{}' }} }}\nagent: {{ kind: openai, model: m, base_url: '{}' }}\n",
        desk.shop, desk.model
    );
    desk.project.file("scenarios/told.yaml", scenario);
    let reply = server.run(&json!({ "scenario": "told" })).await;
    assert_eq!(reply["toolCalls"][0]["toolName"], "get_price", "{reply:#}");
    let before = desk.project.read("asked.jsonl").lines().count();
    let (status, reply) = server
        .post(
            "run",
            &json!({ "scenario": "told", "agentConfig": desk.agent() }),
        )
        .await;
    assert_eq!(status, 403, "{reply:#}");
    let said = reply["error"].as_str().unwrap();
    assert!(
        said.contains("`told` (told.yaml)") && said.contains("`token`"),
        "{said}"
    );
    assert_eq!(desk.project.read("asked.jsonl").lines().count(), before);

    // Nor do its servers, from an agent of ours.
    let system = format!(
        "variables: {{ token: {{ value: '${{OUR_TOKEN}}', secret: true }} }}\nagent: {{ kind: openai, model: m, base_url: '{}', system: 'Log in with {{{{token}}}}.' }}\n",
        desk.model
    );
    desk.project.file("scenarios/_defaults.yaml", system);
    let mut case = desk.case(&[]);
    case.as_object_mut().unwrap().remove("agentConfig");
    let (status, reply) = server.post("run", &case).await;
    assert_eq!(status, 403, "{reply:#}");
    let said = reply["error"].as_str().unwrap();
    assert!(
        said.contains("`token`") && said.contains("give `agentConfig`"),
        "{said}"
    );
}
