//! Requests that nobody would send by mistake, each with exactly the answer it gets.

use reqwest::Method;
use serde_json::{Value, json};

use super::desk::{Desk, Server, answer, with};
use crate::common::takes_its_time;

#[tokio::test(flavor = "multi_thread")]
async fn bodies_are_json_of_a_bounded_size_and_depth() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &["--allow-write"]);
    for route in ["run", "run-batch", "cases", "record", "compare", "review"] {
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/json-patch+json",
            "",
        ] {
            let request = server.request(Method::POST, route).body("{}");
            let request = match kind {
                "" => request,
                kind => request.header("content-type", kind),
            };
            let (status, reply) = answer(request).await;
            assert_eq!(status, 415, "{route} {kind}: {reply}");
        }
        for body in [
            "",
            "{",
            "nonsense",
            "{\"a\":1}{}",
            "\u{feff}",
            "{\"name\":\"a\",\"name\":\"b\"}",
        ] {
            let (status, reply) = server.post_raw(route, body).await;
            assert_eq!(status, 400, "{route} {body:?}: {reply}");
            assert!(
                reply["error"]
                    .as_str()
                    .unwrap()
                    .starts_with("the body is not JSON: "),
                "{reply}"
            );
        }
        for depth in [200, 100_000] {
            let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let (status, reply) = server.post_raw(route, deep).await;
            assert_eq!(status, 400, "{route} {depth}: {reply}");
            let deep = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
            let (status, _) = server.post_raw(route, deep).await;
            assert_eq!(status, 400, "{route} {depth}");
        }
        let long = json!({ "name": "x".repeat(5 * 1024 * 1024) }).to_string();
        let (status, reply) = server.post_raw(route, long).await;
        assert_eq!(status, 413, "{route}: {reply}");
    }
    // It is as before.
    assert_eq!(
        server.run(&desk.case(&["get_price"])).await["success"],
        true
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn odd_names_are_names() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &[]);
    let names = [
        "a/b",
        "../../etc/passwd",
        "..",
        ".",
        "/",
        "\\",
        "a\0b",
        "a\nb\u{1b}[2J",
        "<script>alert(1)</script>",
        "C:\\x",
        "~",
        " ",
        "ä 🦀 \u{202e}",
        &"long ".repeat(100),
    ];
    let mut ids = std::collections::HashSet::new();
    for name in names {
        let case = with(&desk.case(&["get_price"]), &json!({ "name": name }));
        let reply = server.run(&case).await;
        assert_eq!(reply["success"], true, "{name:?}: {reply:#}");
        assert_eq!(reply["testCase"]["name"], name);
        let id = reply["resultId"].as_str().unwrap();
        let (status, stored) = server.get(&format!("results/{id}")).await;
        assert_eq!(status, 200, "{name:?}: {stored:#}");
        assert_eq!(stored["toolCalls"], reply["toolCalls"], "{name:?}");
        ids.insert(reply["scenario"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), names.len());
    assert!(!desk.project.path("etc").exists());
    let runs = desk.project.path(".mcp-eval/runs").canonicalize().unwrap();
    for entry in walkdir::WalkDir::new(&runs) {
        assert!(entry.unwrap().path().starts_with(&runs));
    }
    let case = with(&desk.case(&[]), &json!({ "name": "x".repeat(501) }));
    assert_eq!(server.post("run", &case).await.0, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_addresses_and_parameters_are_refused() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &["--allow-write"]);
    for (method, path, wanted) in [
        (Method::GET, "nothing", 404),
        (Method::GET, "../../etc/passwd", 404),
        (Method::GET, "results/nothing", 404),
        (Method::GET, "results/%00", 404),
        (Method::GET, "results/..%2f..%2fetc%2fpasswd", 404),
        (Method::GET, "results/%ff", 400),
        (Method::GET, "runs/nothing", 404),
        (Method::GET, "cases/nothing", 404),
        (Method::GET, "cases/..%2F..%2Fetc%2Fpasswd", 404),
        (Method::DELETE, "cases/..%2Fshop.yaml", 404),
        (Method::DELETE, "cases/%ff", 400),
        (Method::GET, "results?nmae=x", 400),
        (Method::GET, "results?limit=0", 400),
        (Method::GET, "results?limit=1001", 400),
        (Method::GET, "results?limit=many", 400),
        (Method::GET, "results?limit=1&limit=2", 400),
        (Method::GET, "results?offset=-1", 400),
        (Method::GET, "results?status=fine", 400),
        (Method::GET, "results?since=yesterday", 400),
        (Method::GET, "runs?name=x", 400),
        (Method::PATCH, "run", 405),
        (Method::GET, "run", 405),
        (Method::PUT, "results", 405),
        (Method::TRACE, "health", 405),
    ] {
        let (status, reply) = answer(server.request(method.clone(), path)).await;
        assert_eq!(status, wanted, "{method} {path}: {reply}");
        assert!(
            !reply["error"].as_str().unwrap().is_empty(),
            "{method} {path}"
        );
    }
    let (_, reply) = server.get("results?nmae=x").await;
    assert!(reply["error"].as_str().unwrap().contains("nmae"), "{reply}");
    let request = server
        .request(Method::GET, "events")
        .header("accept", "application/json");
    assert_eq!(answer(request).await.0, 406);
    assert_eq!(desk.project.read("shop.yaml"), super::desk::SHOP);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn ten_thousand_cheap_requests_are_all_answered() {
    if !takes_its_time("10,000 cheap requests were not made of the test server") {
        return;
    }
    let desk = Desk::new();
    let server = std::sync::Arc::new(Server::start(&desk.project, &[]));
    let reply = server.run(&desk.case(&["get_price"])).await;
    let id = reply["resultId"].as_str().unwrap().to_owned();
    let began = std::time::Instant::now();
    let askers = (0..20).map(|_| {
        let (server, id) = (std::sync::Arc::clone(&server), id.clone());
        tokio::spawn(async move {
            for number in 0..500 {
                let path = match number % 5 {
                    0 => "health".to_owned(),
                    1 => "status".to_owned(),
                    2 => format!("results/{id}"),
                    3 => "results?limit=5".to_owned(),
                    _ => "cases".to_owned(),
                };
                let (status, reply): (u16, Value) = server.get(&path).await;
                assert_eq!(status, 200, "{path}: {reply}");
            }
        })
    });
    for asker in askers.collect::<Vec<_>>() {
        asker.await.unwrap();
    }
    println!("10,000 cheap requests in {:?}", began.elapsed());
}
