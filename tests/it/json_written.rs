//! What acts on a terminal or an editor is escaped in every JSON document.

use serde_json::{Value, json};

use crate::common::Project;

#[test]
fn control_characters_and_marks_of_direction_are_escaped_in_documents() {
    let project = Project::new();
    let said = "a\u{85}b\u{9b}c\u{202e}d\u{2066}e\u{2028}f é –";
    let arguments = json!({ "text": said, "key\u{202e}": 1 });
    project.faulty("s", &[], &[("echo", arguments.clone())]);
    let acts = |it: char| matches!(it, '\u{80}'..='\u{9f}' | '\u{2028}'..='\u{202e}' | '\u{2066}');
    // YAML does not take all of them as they are.
    let escape = |it: char| {
        let code = u32::from(it);
        if acts(it) {
            format!("\\u{code:04x}")
        } else {
            it.to_string()
        }
    };
    let scenario = project.read("scenarios/s.yaml");
    project.file(
        "scenarios/s.yaml",
        scenario.chars().map(escape).collect::<String>(),
    );
    project.expect(0, &["record"]);
    let baseline = project.read("baselines/s/baseline.json");
    let printed = project.expect(0, &["compare", "--format", "json"]).stdout;
    let kept = project.read("reports/latest/result.json");
    for text in [&baseline, &printed, &kept] {
        assert!(!text.contains(acts), "{text:?}");
    }
    assert!(baseline.contains(r"key\u202e") && baseline.contains("é –"));
    let read: Value = serde_json::from_str(&baseline).unwrap();
    let steps = read["steps"].as_array().unwrap();
    let call = steps.iter().find(|it| it["kind"] == "tool_call").unwrap();
    assert_eq!(call["arguments"], arguments);
    // What is read again is what was recorded.
    project.expect(0, &["compare", "--run", "baselines/s/baseline.json"]);
}
