//! The pages of measurements, for everybody: axe, dark and light, wide and as narrow as a phone.

use serde_json::{Value, json};

use super::proxy::Proxy;
use crate::accessible::{axe, found};
use crate::browser::chromium;
use crate::common::Project;

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn nobody_is_kept_out_of_the_pages_of_measurements() {
    let (Some(browser), Some(axe)) = (chromium(), axe()) else {
        return;
    };
    let project = Project::measured();
    let shipped = |name: &str| {
        project
            .path("scenarios/discovery")
            .join(name)
            .display()
            .to_string()
    };
    let search = [
        "retrieval",
        "--corpus",
        &shipped("corpus.json"),
        "--golden",
        &shipped("golden.json"),
        "--search",
        "mcpproxy",
        "--scenario",
        &shipped("tool_search.yaml"),
        "--baseline",
        &project
            .path("baselines/discovery/tool_search/baseline.json")
            .display()
            .to_string(),
        "--max-lost",
        "0",
    ];
    project.expect(0, &search);
    let scanned = [
        "security",
        "--verdicts",
        &shipped("verdicts.json"),
        "--corpus",
        &shipped("suspects.json"),
    ];
    project.expect(1, &scanned);
    // One that could not be measured.
    let broken = Proxy::new(|_, _| (500, "<b>no</b>".to_owned()));
    let tools: Value =
        serde_json::from_str(&project.read("scenarios/discovery/corpus.json")).unwrap();
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(40));
    project.expect(
        3,
        &[
            "retrieval",
            "--corpus",
            &shipped("corpus.json"),
            "--golden",
            &shipped("golden.json"),
            "--base-url",
            &broken.url,
            "--out-dir",
            "reports/broken",
        ],
    );
    let whole = json!(project.read("reports/broken/report.json"));
    assert!(whole.to_string().contains("incomplete"));
    for page in ["retrieval", "security", "broken"] {
        let page = format!("reports/{page}/report.html");
        // Details are open, so that all of them is looked at.
        let text = project.read(&page).replace("<details>", "<details open>");
        project.file(&page, text);
        for (width, dark) in [(1200, false), (360, true)] {
            let result = found(browser, &project, &axe, &page, (width, dark));
            assert_eq!(result, "clean", "{page}, {width} wide");
        }
    }
}
