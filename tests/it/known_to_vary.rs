//! What is known to vary in an answer is marked so on its page, whatever else in the answer has changed.

use serde_json::json;

use crate::common::Project;

#[track_caller]
fn page_of(now: &str, was: &str) -> String {
    let project = Project::new();
    let scenario = json!({
        "name": "Now",
        "servers": { "w": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "f" }],
        "mcp_interactions": { "w": { "tools": [
            { "name": "f", "annotations": { "read_only_hint": true }, "responses": [{ "content": [{ "json": {
                "a": 1, "x": "{{now}}", "id": "{{uuid}}", "said": "job {{uuid}} is fine",
            } }] }] },
        ] } },
    });
    project.file("scenarios/now.yaml", scenario.to_string());
    project.expect(0, &["record"]);
    project.edit("scenarios/now.yaml", was, now);
    project.expect(1, &["compare"]);
    project.read("reports/latest/now.html")
}

#[test]
fn what_varies_is_no_news_beside_a_real_change() {
    let page = page_of("\"a\":2", "\"a\":1");
    assert!(
        page.contains("1 place differs, and 3 more known to vary"),
        "{page}"
    );
}

#[test]
fn another_word_in_a_text_that_varies_is_news() {
    let page = page_of("is lost", "is fine");
    assert!(
        page.contains("1 place differs, and 2 more known to vary"),
        "{page}"
    );
}
