//! The scenarios that are served, as cases.

use reqwest::Method;
use serde_json::json;

use super::desk::{Desk, Server, answer, places};

const PRICE: &str = "name: Price\ntags: [shop]\nuser_intent: What does tea cost?\nservers: { shop: { type: mock } }\n\
    expected_trajectory: [{ tool: mcp__shop__get_price, args: { item: tea } }]\n";

fn price() -> String {
    format!("{PRICE}{}", super::desk::SHOP)
}

#[tokio::test(flavor = "multi_thread")]
async fn they_are_listed_and_read() {
    let desk = Desk::new();
    desk.project
        .file("scenarios/shop/price.yaml", price())
        .file("scenarios/_defaults.yaml", "description: Of the shop\n")
        .file("scenarios/broken.yaml", "name: x\nnmae: y\n");
    let server = Server::start(&desk.project, &[]);
    let (status, list) = server.get("cases").await;
    assert_eq!(status, 200);
    assert_eq!(
        list["cases"],
        json!([{
            "id": "shop/price", "name": "Price", "path": "shop/price.yaml", "description": "Of the shop", "tags": ["shop"],
            "prompt": "What does tea cost?", "enabled": true, "rowOf": null,
        }])
    );
    assert_eq!(list["findings"][0]["path"], "broken.yaml");
    for id in ["shop%2Fprice", "shop%2Fprice.yaml"] {
        let (status, case) = server.get(&format!("cases/{id}")).await;
        assert_eq!(status, 200, "{case}");
        assert_eq!(
            (&case["id"], &case["yaml"]),
            (&json!("shop/price"), &json!(price()))
        );
    }
    for (method, path, body) in [
        (Method::POST, "cases", json!({ "id": "a", "yaml": price() })),
        (
            Method::PUT,
            "cases/shop%2Fprice",
            json!({ "yaml": price() }),
        ),
        (Method::DELETE, "cases/shop%2Fprice", json!({})),
    ] {
        let (status, reply) = answer(server.request(method, path).json(&body)).await;
        assert_eq!(status, 403, "{reply}");
        assert!(reply["error"].as_str().unwrap().contains("--allow-write"));
    }
    assert_eq!(desk.project.read("scenarios/shop/price.yaml"), price());
    // What is wrong elsewhere than in the text is reported with its file.
    desk.project
        .file("scenarios/_defaults.yaml", "tags: [shop]\nnmae: y\n");
    let (status, reply) = server.post("run", &json!({ "yaml": price() })).await;
    assert_eq!((status, places(&reply)[0]), (400, "/yaml"));
    let said = reply["findings"][0]["message"].as_str().unwrap();
    assert!(
        said.starts_with("_defaults.yaml, line 2, column 1: "),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn they_are_written_as_files_where_that_is_allowed() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &["--allow-write"]);
    let (status, made) = server
        .post("cases", &json!({ "id": "shop/price", "yaml": price() }))
        .await;
    assert_eq!(status, 201, "{made}");
    assert_eq!(desk.project.read("scenarios/shop/price.yaml"), price());
    assert_eq!(
        server.run(&json!({ "scenario": "shop/price" })).await["success"],
        true
    );
    let (status, reply) = server
        .post("cases", &json!({ "id": "shop/price", "yaml": price() }))
        .await;
    assert_eq!(status, 409, "{reply}");
    let other = price().replace("item: tea }", "item: milk }");
    let put = |yaml: String| {
        let request = server.request(Method::PUT, "cases/shop%2Fprice");
        answer(request.json(&json!({ "yaml": yaml })))
    };
    assert_eq!(put(other.clone()).await.0, 200);
    assert_eq!(desk.project.read("scenarios/shop/price.yaml"), other);
    // What is not valid, or would not be found again, is not written.
    let (status, reply) = put("name: x\nnmae: y\n".to_owned()).await;
    assert_eq!((status, places(&reply)[0]), (400, "/yaml"));
    let (status, reply) = put(format!("{other}description: <secret:token>\n")).await;
    assert_eq!(status, 400, "{reply}");
    let (status, reply) = put(format!("{other}description: ${{HOME}}\n")).await;
    assert_eq!(status, 403, "{reply}");
    assert_eq!(desk.project.read("scenarios/shop/price.yaml"), other);
    for id in [
        "",
        "../x",
        "/x",
        "a/../b",
        "_defaults",
        "a/_defaults",
        ".hidden",
        "a//b",
        "a/",
        "a\0",
        "_suites/x",
        &"x".repeat(300),
    ] {
        let (status, reply) = server
            .post("cases", &json!({ "id": id, "yaml": price() }))
            .await;
        assert_eq!(status, 400, "{id:?}: {reply}");
        assert_eq!(places(&reply), ["/id"], "{id:?}");
    }
    // A file of either ending has the id.
    desk.project.file("scenarios/old.yml", price());
    let (status, reply) = server
        .post("cases", &json!({ "id": "old", "yaml": price() }))
        .await;
    assert_eq!(status, 409, "{reply}");
    std::fs::remove_file(desk.project.path("scenarios/old.yml")).unwrap();
    // A link in the folder leads nobody out of it.
    std::fs::create_dir(desk.project.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", desk.project.path("scenarios/out")).unwrap();
    let (status, reply) = server
        .post("cases", &json!({ "id": "out/x", "yaml": price() }))
        .await;
    assert_eq!(status, 403, "{reply}");
    assert!(
        std::fs::read_dir(desk.project.path("elsewhere"))
            .unwrap()
            .next()
            .is_none()
    );
    // Nor is anything read through it, or through a link that is a file.
    desk.project.file("elsewhere/x.yaml", price());
    std::os::unix::fs::symlink("../elsewhere/x.yaml", desk.project.path("scenarios/y.yaml"))
        .unwrap();
    for id in ["out%2Fx", "y"] {
        let (status, reply) = server.get(&format!("cases/{id}")).await;
        assert_eq!(status, 404, "{reply}");
    }
    let (_, listed) = server.get("cases").await;
    let text = listed.to_string();
    assert!(
        text.contains("y.yaml is a link out of its folder"),
        "{text}"
    );
    assert!(
        !text.contains("\"id\":\"y\"") && !text.contains("out/x\","),
        "{text}"
    );
    std::fs::remove_file(desk.project.path("scenarios/y.yaml")).unwrap();
    assert_eq!(
        answer(server.request(Method::DELETE, "cases/shop%2Fprice"))
            .await
            .0,
        204
    );
    // The folder goes with the last case in it.
    assert!(!desk.project.path("scenarios/shop").exists());
    assert!(desk.project.path("scenarios").is_dir());
    assert_eq!(
        answer(server.request(Method::DELETE, "cases/shop%2Fprice"))
            .await
            .0,
        404
    );
}
