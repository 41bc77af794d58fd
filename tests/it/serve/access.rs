//! Access to the server: hosts, origins and the token.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use reqwest::Method;
use serde_json::{Value, json};

use super::desk::{Desk, Server, answer};
use crate::browser::chromium;
use crate::common::{Project, ran};

const TOKEN: &str = "a-token-that-somebody-chose";

#[tokio::test(flavor = "multi_thread")]
async fn only_health_is_answered_without_the_token() {
    let project = Project::new();
    let server = Server::start(&project, &[]);
    let (status, health) = answer(server.bare(Method::GET, "health")).await;
    assert_eq!((status, &health["testing"]), (200, &json!(true)));
    assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
    for (method, path) in [
        (Method::GET, "status"),
        (Method::GET, "results"),
        (Method::GET, "cases"),
        (Method::GET, "events"),
        (Method::GET, "openapi.json"),
        (Method::GET, "nothing"),
        (Method::POST, "run"),
        (Method::POST, "health"),
        (Method::DELETE, "cases/x"),
    ] {
        let (status, reply) = answer(server.bare(method.clone(), path)).await;
        assert_eq!(status, 401, "{method} {path}: {reply}");
        let wrong = server.bare(method.clone(), path).bearer_auth("wrong");
        assert_eq!(answer(wrong).await.0, 401, "{method} {path}");
    }
    // Neither in the address nor in another scheme.
    let token = server.token.clone().unwrap();
    let in_address = server.bare(Method::GET, &format!("status?token={token}"));
    assert_eq!(answer(in_address).await.0, 401);
    let basic = server
        .bare(Method::GET, "status")
        .basic_auth("x", Some(&token));
    assert_eq!(answer(basic).await.0, 401);
    assert_eq!(server.get("status").await.0, 200);

    let open = Server::start(&project, &["--no-token"]);
    assert_eq!(open.token, None);
    assert_eq!(answer(open.bare(Method::GET, "status")).await.0, 200);
    let chosen = Server::with(&project, &[], &[("MCP_EVAL_TOKEN", TOKEN)]);
    assert_eq!(chosen.get("status").await.0, 200);
    assert_eq!(answer(chosen.bare(Method::GET, "status")).await.0, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_that_tells_clients_is_for_its_owner_alone_and_goes_with_the_server() {
    let project = Project::new();
    let server = Server::start(&project, &[]);
    let file = project.path(".mcp-eval/serve.json");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let announced: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(announced["url"], server.url);
    assert_eq!(announced["token"].as_str(), server.token.as_deref());
    // Another server in the same folder leaves it alone, as long as the first one answers.
    let other = Server::start(&project, &[]);
    other.signal("-TERM");
    let (code, said) = other.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains(".mcp-eval/serve.json leads to the server at") && said.contains(&server.url),
        "{said}"
    );
    let still: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(still, announced);
    // It is taken over from one that was killed.
    server.signal("-KILL");
    let _ = server.end();
    let heir = Server::start(&project, &[]);
    let announced: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(announced["url"], heir.url);
    heir.signal("-INT");
    let (code, said) = heir.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(!file.exists());
    assert!(
        said.contains("mcp-eval test server running on port ") && !said.contains("leads to"),
        "{said}"
    );
}

#[test]
fn an_agent_that_could_never_run_is_refused_at_once() {
    let project = Project::new();
    project.file("scenarios/_defaults.yaml", "tags: [shop]\n");
    project
        .expect(2, &["serve", "--port", "0", "--agent", "openai"])
        .says("--model");
    assert!(!project.path(".mcp-eval/serve.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_sites_and_other_names_of_this_machine_are_refused() {
    let project = Project::new();
    let server = Server::start(&project, &["--allow-origin", "http://localhost:5173"]);
    let own = server.url.clone();
    for (name, value, status) in [
        ("host", "evil.example", 403),
        ("host", "localhost.evil.example", 403),
        ("origin", "http://evil.example", 403),
        ("origin", "http://localhost:1", 403),
        ("origin", "http://127.0.0.1", 403),
        ("origin", "null", 403),
        ("origin", "http://localhost:5174", 403),
        ("origin", "http://localhost:5173.evil.example", 403),
        ("sec-fetch-site", "cross-site", 403),
        ("sec-fetch-site", "same-site", 403),
        ("sec-fetch-site", "none", 200),
        ("origin", own.as_str(), 200),
        ("origin", "http://localhost:5173", 200),
    ] {
        for path in ["health", "status"] {
            let request = server.request(Method::GET, path).header(name, value);
            let (got, reply) = answer(request).await;
            assert_eq!(got, status, "{name}: {value}: {reply}");
        }
    }
    let allowed = server
        .request(Method::OPTIONS, "run")
        .header("origin", "http://localhost:5173")
        .header("access-control-request-method", "POST");
    let response = allowed.send().await.unwrap();
    assert_eq!(response.status(), 204);
    let headers = response.headers();
    assert_eq!(
        headers["access-control-allow-origin"],
        "http://localhost:5173"
    );
    assert_eq!(headers["vary"], "origin");
    assert!(
        headers["access-control-allow-headers"]
            .to_str()
            .unwrap()
            .contains("authorization")
    );
    let other = server
        .request(Method::OPTIONS, "run")
        .header("origin", "http://evil.example");
    let response = other.send().await.unwrap();
    assert_eq!(response.status(), 403);
    assert!(
        !response
            .headers()
            .contains_key("access-control-allow-origin")
    );
}

#[test]
fn other_machines_reach_it_only_where_that_is_said_and_with_a_token() {
    let project = Project::new();
    project.file("scenarios/x.yaml", "name: x\nexpected_trajectory: []\n");
    project
        .expect(2, &["serve", "--host", "0.0.0.0"])
        .says("add --allow-remote");
    project
        .expect(
            2,
            &["serve", "--host", "0.0.0.0", "--allow-remote", "--no-token"],
        )
        .says("leave --no-token out");
    project
        .expect(2, &["serve", "--root", "nowhere"])
        .says("there is no folder nowhere");
    project
        .expect(2, &["serve", "--allow-origin", "*"])
        .says("--allow-origin");
    let mut short = project.command();
    short.args(["serve"]).env("MCP_EVAL_TOKEN", "short");
    let ran = ran(&mut short);
    assert_eq!(ran.code, 2, "{ran:?}");
    ran.says("MCP_EVAL_TOKEN is shorter");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_page_in_a_browser_on_another_port_gets_nothing() {
    let Some(browser) = chromium() else { return };
    let desk = Desk::new();
    let server = Server::start(&desk.project, &["--no-token"]);
    let case = desk.case(&["get_price"]).to_string();
    // All the ways in which a page may ask: with and without a preflight, by a form, for a script.
    let page = format!(
        r#"<!doctype html><title>page</title><body><pre id=said></pre><script src="{url}/api/test/stats"></script>
<script>
const said = [];
async function ask(name, path, options) {{
  try {{
    const answer = await fetch('{url}/api/test/' + path, options);
    said.push(name + ' ' + answer.type + ' ' + answer.status);
  }} catch (error) {{ said.push(name + ' refused'); }}
}}
const body = {case:?};
(async () => {{
  await ask('health', 'health', {{}});
  await ask('plain', 'run', {{ method: 'POST', body, headers: {{ 'content-type': 'text/plain' }}, mode: 'no-cors' }});
  await ask('json', 'run', {{ method: 'POST', body, headers: {{ 'content-type': 'application/json' }} }});
  await ask('events', 'events', {{}});
  document.getElementById('said').textContent = said.join('\n');
}})();
</script>"#,
        url = server.url
    );
    let address = crate::http::serve_app(move || {
        let page = page.clone();
        axum::Router::new().route(
            "/",
            axum::routing::get(move || async move { axum::response::Html(page) }),
        )
    });
    let profile = format!("--user-data-dir={}", desk.project.path("profile").display());
    let shown = tokio::task::spawn_blocking(move || {
        ran(std::process::Command::new(browser).args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--virtual-time-budget=5000",
            &profile,
            "--dump-dom",
            &format!("http://{address}/"),
        ]))
    });
    let shown = shown.await.unwrap();
    for said in [
        "health refused",
        "plain opaque 0",
        "json refused",
        "events refused",
    ] {
        assert!(shown.stdout.contains(said), "{said}: {shown:#?}");
    }
    // Nothing has run.
    let (_, results) = server.get("results").await;
    assert_eq!(results["total"], 0, "{results}");
    assert!(
        !desk.project.path("asked.jsonl").exists() || desk.project.read("asked.jsonl").is_empty()
    );
}
