//! Keys of requests, and what the environment holds.

use std::fs;
use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use super::desk::{Desk, Events, Server, with};
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
    let judge = Model::new(|_, _| verdict(0.9));
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
    let told = events.until(|it| it.kind == "verdict").await;
    let id = reply["resultId"].as_str().unwrap();
    let (_, stored) = server.get(&format!("results/{id}")).await;
    let (_, list) = server.get("results").await;
    let replies = [
        reply,
        stored,
        list,
        json!(told.iter().map(|it| &it.data).collect::<Vec<_>>()),
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
