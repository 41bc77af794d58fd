//! The report for everybody: every kind of page is checked by axe, light and wide, dark and as narrow as a phone. Skipped, with one line
//! that says so, where there is no Chromium, or where `MCP_EVAL_AXE` names no file of axe-core.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::browser::{chromium, suite};
use crate::common::{Project, ran, skipped, small_proxy};

/// The accessibility checker axe, as one script; a developer names its file.
pub(crate) fn axe() -> Option<String> {
    let named = std::env::var_os("MCP_EVAL_AXE");
    let script = named.and_then(|it| std::fs::read_to_string(it).ok());
    if script.is_none() {
        skipped(
            "the accessibility of the report was not checked",
            "MCP_EVAL_AXE names no file of axe-core",
        );
    }
    script
}

/// Scenarios of all states, and of all that a page may show: pictures, equal calls, a changed catalogue, servers behind a proxy.
fn everything() -> Project {
    let project = suite();
    write(&project, false);
    project.expect(0, &["record"]);
    write(&project, true);
    project
}

fn write(project: &Project, later: bool) {
    let call = |tool: &str, args: Value| json!({ "tool": tool, "args": args });
    let price = if later { 4 } else { 3 };
    let one = format!("text=the price is {price}\n<script>alert(1)</script><img src=x>");
    project.faulty("one", &[&one], &[("echo", json!({}))]);
    let gone: &[&str] = if later { &["exit"] } else { &["text=here"] };
    project.faulty("gone", gone, &[("echo", json!({}))]);
    let pixel = if later {
        "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGP4z8DA8J8BAAf+Af8wPvGgAAAAAElFTkSuQmCC"
    } else {
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
    };
    let find = if later { "find" } else { "look" };
    let picture = json!({
        "name": "Pictures and a changed catalogue",
        "user_intent": "Show me the picture",
        "servers": { "s": { "type": "mock" } },
        "mcp_interactions": { "s": { "tools": [
            { "name": "draw", "annotations": { "read_only_hint": true },
              "description": if later { "Draws it, in colours" } else { "Draws it" },
              "responses": [{ "content": [{ "type": "image", "mime_type": "image/png", "data": pixel }] }] },
            { "name": find, "annotations": { "read_only_hint": true }, "responses": [{ "content": "found" }] },
            { "name": "rows", "annotations": { "read_only_hint": true }, "responses": [{ "content": [{ "type": "text",
              "json": { "rows": (0..40).map(|it| json!({ "id": it, "price": if it == 20 { price } else { it } })).collect::<Vec<_>>() } }] }] },
        ] } },
        "agent": { "kind": "scripted", "calls": [
            call("draw", json!({})), call("look", json!({})), call("rows", json!({ "from": 1 })),
            call("draw", json!({ "n": 1 })), call("draw", json!({ "n": 2 })), call("draw", json!({ "n": 3 })),
        ] },
    });
    project.file("scenarios/picture.yaml", picture.to_string());
    let proxy = json!({
        "name": "Behind a proxy",
        "config_file": "proxy.json",
        "servers": { "proxy": { "type": "http", "url": "http://127.0.0.1:${port}/mcp",
            "headers": { "Authorization": "Bearer tok-77aa31c9e05b42" },
            "start": { "command": small_proxy(), "args": ["${port}", "${config_file}"] } } },
        "upstreams": { "files": { "type": "mock" } },
        "mcp_interactions": { "files": { "tools": [
            { "name": "read", "annotations": { "read_only_hint": true },
              "input_schema": { "type": "object", "properties": { "path": { "type": "string" }, "limit": { "type": "integer" } } },
              "responses": [{ "content": "twelve bottles of red wine" }] } ] } },
        "agent": { "kind": "scripted", "calls": [call("files__read", json!({ "path": "/a", "limit": 5 }))] },
    });
    project.file("scenarios/proxy.yaml", proxy.to_string());
    let faults: &[&str] = if later {
        &["drop=limit", "forward=Authorization"]
    } else {
        &[]
    };
    let config = json!({ "upstreams": { "files": "{{upstream.files.url}}" }, "faults": faults });
    project.file("scenarios/proxy.json", config.to_string());
}

/// What axe finds on a page in a frame so wide, and whether the page is wider than that.
pub(crate) fn found(
    browser: &str,
    project: &Project,
    axe: &str,
    page: &str,
    (width, dark): (u32, bool),
) -> String {
    let text = project.read(page);
    // The policy of the page would stop the checker.
    let (before, policy) = text.split_once("<meta http-equiv=").unwrap();
    let (_, after) = policy.split_once('>').unwrap();
    let check = "<script>addEventListener('load', () => setTimeout(async () => {
        const found = (await axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })).violations;
        const told = found.map((it) => it.id + ': ' + it.nodes.map((of) => of.html).join(' | '));
        const root = document.documentElement;
        if (root.scrollWidth > root.clientWidth) told.push('wider than its window: ' + root.scrollWidth);
        parent.postMessage(told.join('\\n') || 'clean', '*');
    }))</script>";
    let checked = format!("{before}{after}");
    let checked = checked.replace("</body>", &format!("<script>{axe}</script>{check}</body>"));
    let style = Path::new(page).with_file_name("mcp-eval.css");
    if project.path(&style).exists() {
        project.file("mcp-eval.css", project.read(&style));
    }
    project.file("checked.html", checked);
    // A window of Chromium is 500 pixels wide at least; a frame may be as narrow as a phone.
    let host = format!(
        "<!DOCTYPE html><html lang=\"en\"><body><pre id=\"axe\"></pre><script>addEventListener('message', (it) => {{
        document.getElementById('axe').textContent = it.data;
        }});</script><iframe title=\"page\" width=\"{width}\" height=\"900\" src=\"checked.html\"></iframe></body></html>"
    );
    project.file("host.html", host);
    let profile = format!("--user-data-dir={}", project.path("profile").display());
    let seen = ran(Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu"])
        .args(["--dump-dom", "--virtual-time-budget=20000", &profile])
        .arg("--window-size=1400,1000")
        .args(dark.then_some("--blink-settings=preferredColorScheme=0"))
        .arg(format!("file://{}", project.path("host.html").display())));
    let found = seen.stdout.split_once("<pre id=\"axe\">");
    let (_, found) = found.unwrap_or_else(|| panic!("{page}: {seen:?}"));
    found.split_once("</pre>").unwrap().0.to_owned()
}

/// A scenario whose evaluators come out in every way.
fn judged(project: &Project) {
    let scenario = json!({
        "name": "Judged by more than its baseline",
        "servers": { "s": { "type": "mock" } },
        "mcp_interactions": { "s": { "tools": [{ "name": "pay", "responses": [{ "content": "paid <b>7</b>" }] }] } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "pay", "args": {} }] },
        "evaluators": [
            { "type": "text", "in": "answers", "contains": "paid" },
            { "type": "text", "in": "answers", "contains": "refused" },
            { "type": "text", "in": "final_text", "contains": "done", "role": "advisory" },
            { "type": "command", "command": ["./gone"], "role": "advisory", "name": "ours" },
            { "type": "any_of", "of": [{ "type": "within", "steps": 0 }, { "type": "tool-calls", "required": ["refund"] }] },
        ],
    });
    project.file("judged.yaml", scenario.to_string());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn every_kind_of_page_can_be_used_by_everybody() {
    let (Some(browser), Some(axe)) = (chromium(), axe()) else {
        return;
    };
    let project = everything();
    project.expect(1, &["compare", "--output", "compared"]);
    project.expect(0, &["report", "--single-file", "single/all.html"]);
    project.run(&["run", "--output", "ran"]);
    let one = "scenarios/one.yaml";
    project.expect(
        1,
        &["compare", one, "--repeat", "2", "--output", "repeated"],
    );
    project.run(&["record", "--output", "again"]);
    project.expect(0, &["report", "--format", "html", "--output", "recorded"]);
    let matrix = ["--matrix", "agent=scripted,replay", "--output", "cells"];
    project.run(&[&["run", one, "scenarios/picture.yaml"], &matrix[..]].concat());
    judged(&project);
    project.expect(1, &["run", "judged.yaml", "--output", "judged"]);
    project.run(&["history", "--format", "html", "--output", "over/time.html"]);
    let mut complaints = Vec::new();
    for page in [
        "compared/index.html",
        "compared/one.html",
        "compared/three.html",
        "compared/away.html",
        "compared/gone.html",
        "compared/picture.html",
        "compared/proxy.html",
        "single/all.html",
        "ran/index.html",
        "ran/picture.html",
        "repeated/one.html",
        "recorded/index.html",
        "recorded/picture.html",
        "cells/index.html",
        "judged/index.html",
        "judged/judged.html",
        "over/time.html",
    ] {
        for (width, dark) in [(1280, false), (380, true)] {
            let found = found(browser, &project, &axe, page, (width, dark));
            if found != "clean" {
                complaints.push(format!("{page} at {width}: {found}"));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}
