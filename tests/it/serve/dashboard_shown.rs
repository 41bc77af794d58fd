//! The dashboard in a real browser. Skipped, with one line that says so, where there is no Chromium, or no axe-core.

use serde_json::json;

use super::dashboard::{Visitor, price};
use super::desk::Server;
use crate::accessible::axe;
use crate::browser::chromium;
use crate::common::Project;
use crate::common::devtools::Browser;

/// How many calls the slow scenario makes: they go on for longer than it takes to look.
const CALLS: usize = 24;

/// A scenario that makes so many calls, each of which takes half a second.
fn slow(name: &str, calls: usize) -> String {
    let call = |number| json!({ "tool": "buy", "args": { "n": number } });
    json!({
        "name": name,
        "servers": { "shop": { "type": "mock" } },
        "agent": { "kind": "scripted", "calls": (1..=calls).map(call).collect::<Vec<_>>() },
        "mcp_interactions": { "shop": { "tools": [
            { "name": "buy", "responses": [{ "delay": "500ms", "content": "bought" }] },
        ] } },
    })
    .to_string()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn somebody_with_a_keyboard_runs_a_scenario_and_sees_it_go_on() {
    let Some(chromium) = chromium() else { return };
    let project = Project::new();
    let hostile = "<b id=injected>Slow</b> \u{202e}order";
    project
        .file("scenarios/price.yaml", price("4 euros"))
        .file("scenarios/slow.yaml", slow(hostile, CALLS));
    let server = Server::start(&project, &["--max-concurrent", "1"]);
    let mut browser = Browser::start(chromium, &project);
    browser.look(1280, false);
    browser.go(&server.url);
    browser.wait_for("document.activeElement.id === 'token'");
    browser.write(server.token.as_deref().unwrap());
    browser.enter();
    browser.wait_for("document.getElementById('running')");
    let run = format!("Run {}", hostile.replace('\u{202e}', "\\u{202e}"));
    let passed = browser.tab_to(&run);
    let unseen = passed.iter().filter(|it| it.starts_with("WITHOUT A RING"));
    assert_eq!(unseen.collect::<Vec<_>>(), Vec::<&String>::new());
    browser.enter();
    // It is shown at once, and so is what waits behind it.
    let running = "document.getElementById('running').children.length";
    browser.wait_for(&format!("{running} === 1"));
    browser.tab_to("Run Price");
    browser.enter();
    let waiting = "document.getElementById('waiting').textContent";
    browser.wait_for(&format!("{waiting} === '1 waits for its turn: Price'"));
    // What is shown from now on comes without loading the page again.
    browser.ask(
        "window.seen = '';
        new MutationObserver(() => { seen += document.title + ' ' + document.getElementById('running').textContent + ' '; })
            .observe(document, { subtree: true, childList: true, characterData: true }); 0",
    );
    browser.wait_for("document.querySelectorAll('#latest tr.new').length === 2");
    browser.wait_for(&format!("{running} === 0"));
    let seen = browser.ask("window.seen");
    let seen = seen.as_str().unwrap();
    let calls = (1..=CALLS).filter(|it| seen.contains(&format!("call {it}: buy")));
    assert!(calls.count() > 1, "{seen}");
    assert!(seen.contains("1 scenario runs, 1 waits"), "{seen}");
    assert_eq!(browser.ask("document.title"), "Idle · mcp-eval serve");
    let rows = browser.ask("document.getElementById('latest').textContent");
    let rows = rows.as_str().unwrap();
    assert!(
        rows.contains("\\u{202e}order") && rows.contains("✓ passed"),
        "{rows}"
    );
    let status = browser.ask("document.getElementById('heard').textContent");
    assert_eq!(status, "Price: passed");
    let tally = browser.ask("document.getElementById('tally').textContent");
    assert!(
        tally
            .as_str()
            .unwrap()
            .starts_with("2 of the scenarios below passed"),
        "{tally}"
    );
    assert_eq!(
        browser.ask("document.getElementById('injected')"),
        json!(null)
    );
    // The browser logs as an error that nobody had signed in.
    let others = browser.complaints.iter().filter(|it| !it.contains("401"));
    assert_eq!(others.collect::<Vec<_>>(), Vec::<&String>::new());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn every_page_of_the_dashboard_can_be_used_by_everybody() {
    let (Some(chromium), Some(axe)) = (chromium(), axe()) else {
        return;
    };
    let project = Project::new();
    project
        .file("scenarios/price.yaml", price("4 euros"))
        .file(
            "scenarios/other.yaml",
            price("x").replace("name: Price", "name: Other"),
        )
        .file("scenarios/broken.yaml", "name: Broken\nservrs: {}\n")
        .file("scenarios/slow.yaml", slow("Slow", 400));
    project.expect(
        0,
        &["record", "scenarios/price.yaml", "scenarios/other.yaml"],
    );
    project.run(&["run", "scenarios/price.yaml"]);
    project.file("scenarios/price.yaml", price("5 euros"));
    project.expect(1, &["compare", "scenarios/price.yaml"]);
    let server = Server::start(&project, &["--allow-write"]);
    let visitor = Visitor::signed_in(&server).await;
    let (_, kept) = server.get("results?scenario=price").await;
    let id = kept["results"][0]["resultId"].as_str().unwrap().to_owned();
    let other = server.get("results?scenario=other").await.1;
    let other = other["results"][0].clone();
    let gone = other["resultId"].as_str().unwrap().to_owned();
    let run = other["runId"].as_str().unwrap();
    std::fs::remove_dir_all(project.path(format!(".mcp-eval/runs/{run}"))).unwrap();
    let fields = [("scenario", "slow"), ("command", "run")];
    assert_eq!(visitor.send("/run", &fields).await.0, 303);
    let token = server.token.clone().unwrap();
    let url = server.url.clone();
    let mut complaints = Vec::new();
    let mut browser = Browser::start(chromium, &project);
    let mut check = |browser: &mut Browser, path: &str| {
        for (width, dark) in [(1280, false), (1280, true), (380, false), (380, true)] {
            browser.look(width, dark);
            browser.go(&format!("{url}{path}"));
            let found = browser.check(&axe).join("\n");
            if !found.is_empty() {
                complaints.push(format!("{path} at {width}, dark {dark}: {found}"));
            }
        }
    };
    check(&mut browser, "/sign-in/nonsense");
    browser.write(&token);
    browser.enter();
    browser.wait_for("document.getElementById('running').children.length > 0");
    for path in [
        "/",
        "/history",
        "/history/price",
        &format!("/results/{id}"),
        &format!("/results/{gone}"),
        "/pending/price.html",
        "/results/none",
    ] {
        check(&mut browser, path);
    }
    assert_eq!(
        browser.ask("document.querySelector('h1').textContent"),
        "Not found"
    );
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
    // The browser logs as an error that a page is not there, or nobody has signed in.
    let others = browser.complaints.iter();
    let others = others.filter(|it| !it.contains("404") && !it.contains("401"));
    assert_eq!(others.collect::<Vec<_>>(), Vec::<&String>::new());
}
