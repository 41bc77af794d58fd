//! The `OpenAPI` document against the routes.

use std::collections::BTreeSet;

use mcp_eval::json_schema::JsonSchema;
use reqwest::Method;
use serde_json::{Value, json};

use super::desk::{Desk, Server, answer, with};

/// The schema of something in the document, with all that it refers to.
fn schema(document: &Value, of: &Value) -> JsonSchema {
    let text = of.to_string().replace("#/components/schemas/", "#/$defs/");
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    let definitions = document["components"]["schemas"].to_string();
    let definitions = definitions.replace("#/components/schemas/", "#/$defs/");
    schema["$defs"] = serde_json::from_str(&definitions).unwrap();
    JsonSchema::new(&schema).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn every_route_of_the_document_is_there_and_answers_as_it_says() {
    let desk = Desk::new();
    desk.project.file(
        "scenarios/price.yaml",
        "name: Price\nservers: { shop: { type: mock } }\n\
        expected_trajectory: [{ tool: mcp__shop__get_price, args: { item: tea } }]\n"
            .to_owned()
            + super::desk::SHOP,
    );
    let server = Server::start(&desk.project, &["--allow-write"]);
    let (status, document) = server.get("openapi.json").await;
    assert_eq!(status, 200);
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document, mcp_eval::serve::open_api());
    assert!(!document.to_string().contains("\"description\":null"));
    let run = server.run(&desk.case(&["get_price"])).await;
    let ids: BTreeSet<&str> = document["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|it| it.as_object().unwrap().values())
        .map(|it| it["operationId"].as_str().unwrap())
        .collect();
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(
            document["components"]["schemas"][name].is_object(),
            "{name}"
        );
    }
    let mut tried = BTreeSet::new();
    let case = json!({ "id": "new", "yaml": desk.project.read("scenarios/price.yaml") });
    for (id, path, body) in [
        ("health", "health", None),
        ("status", "status", None),
        ("connections", "connections", None),
        ("run", "run", Some(desk.case(&[]))),
        ("run", "run", Some(json!({ "scenario": "price" }))),
        (
            "runBatch",
            "run-batch",
            Some(json!({ "testCases": [{ "testCase": desk.case(&[]) }] })),
        ),
        ("listResults", "results?limit=1", None),
        (
            "getResult",
            &format!("results/{}", run["resultId"].as_str().unwrap()),
            None,
        ),
        ("listRuns", "runs", None),
        (
            "getRun",
            &format!("runs/{}", run["runId"].as_str().unwrap()),
            None,
        ),
        (
            "getDocument",
            &format!("runs/{}/document", run["runId"].as_str().unwrap()),
            None,
        ),
        ("stats", "stats", None),
        ("createCase", "cases", Some(case.clone())),
        ("listCases", "cases", None),
        ("getCase", "cases/new", None),
        (
            "updateCase",
            "cases/new",
            Some(json!({ "yaml": case["yaml"] })),
        ),
        ("deleteCase", "cases/new", None),
        ("record", "record", Some(json!({}))),
        (
            "compare",
            "compare",
            Some(json!({ "scenarios": ["price"] })),
        ),
        ("review", "review", Some(json!({}))),
        ("openApi", "openapi.json", None),
    ] {
        let (method, operation) = operation(&document, id);
        let request = server.request(method, path);
        let request = match &body {
            Some(body) => {
                let of = &operation["requestBody"]["content"]["application/json"]["schema"];
                let wrong: Vec<String> = schema(&document, of)
                    .violations(body)
                    .map(|it| it.what)
                    .collect();
                assert!(wrong.is_empty(), "{id}: {wrong:?}");
                request.json(body)
            }
            None => request,
        };
        let (status, reply) = answer(request).await;
        let promised = &operation["responses"][status.to_string()];
        assert!(
            (200..300).contains(&status) && promised.is_object(),
            "{id}: {status} {reply:#}"
        );
        let content = &promised["content"]["application/json"]["schema"];
        if !content.is_null() {
            let schema = schema(&document, content);
            let wrong: Vec<String> = schema
                .violations(&reply)
                .map(|it| format!("{} {}", it.path, it.what))
                .collect();
            assert!(wrong.is_empty(), "{id}: {wrong:?}");
        }
        tried.insert(id);
    }
    tried.insert("events");
    assert_eq!(tried, ids, "every operation is tried");

    // What a schema does not allow, the route does not take, and says so as the document says.
    for (id, path, body) in [
        (
            "run",
            "run",
            with(&desk.case(&[]), &json!({ "timeout": -1 })),
        ),
        ("runBatch", "run-batch", json!({ "testCases": [] })),
        ("createCase", "cases", json!({ "id": "../x", "yaml": "x" })),
        ("record", "record", json!({ "takes": 0 })),
        ("compare", "compare", json!({ "threshold": 2 })),
        ("review", "review", json!({ "accept": "price" })),
    ] {
        let (_, operation) = operation(&document, id);
        let of = &operation["requestBody"]["content"]["application/json"]["schema"];
        assert!(
            schema(&document, of).violations(&body).next().is_some(),
            "{id}"
        );
        let (status, reply) = server.post(path, &body).await;
        assert_eq!(status, 400, "{id}: {reply}");
        let promised = &operation["responses"]["400"]["content"]["application/json"]["schema"];
        assert_eq!(
            schema(&document, promised).violations(&reply).count(),
            0,
            "{id}: {reply}"
        );
    }
}

/// The method and the description of an operation.
fn operation<'a>(document: &'a Value, id: &str) -> (Method, &'a Value) {
    let paths = document["paths"].as_object().unwrap().values();
    let mut operations = paths.flat_map(|it| it.as_object().unwrap());
    let (method, operation) = operations.find(|(_, it)| it["operationId"] == id).unwrap();
    (method.to_uppercase().parse().unwrap(), operation)
}
