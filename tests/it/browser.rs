//! The report in a real browser. Skipped, with one line that says so, where there is no Chromium.

use std::process::Command;

use serde_json::json;

use crate::common::{Project, Ran, ran, skipped};

/// The browser's name, or `None` where there is none.
fn chromium() -> Option<&'static str> {
    let found = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|it| {
            Command::new(it)
                .arg("--version")
                .output()
                .is_ok_and(|it| it.status.success())
        });
    if found.is_none() {
        skipped(
            "the report was not tried in a browser",
            "there is no Chromium",
        );
    }
    found
}

/// What a page has become once it was loaded, or a picture of it.
fn browse(browser: &str, project: &Project, page: &str, more: &[&str]) -> Ran {
    let profile = format!("--user-data-dir={}", project.path("profile").display());
    let address = format!(
        "file://{}",
        project.path(page).canonicalize().unwrap().display()
    );
    ran(Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .args([
            "--enable-logging=stderr",
            "--v=0",
            "--virtual-time-budget=2000",
            &profile,
        ])
        .args(more)
        .arg(address))
}

#[test]
fn a_browser_shows_the_report_and_runs_nothing_of_it() {
    let Some(browser) = chromium() else { return };
    let project = Project::new();
    let hostile = "text=<script>document.title='owned';console.error('owned')</script><img src=http://127.0.0.1:9/x onerror=alert(1)>";
    project.faulty(
        "s",
        &[hostile],
        &[(
            "echo",
            json!({ "q": "\"><svg onload=console.error('owned')>" }),
        )],
    );
    assert_eq!(project.run(&["record"]).code, 0);
    project.faulty(
        "s",
        &["text=harmless"],
        &[(
            "echo",
            json!({ "q": "\"><svg onload=console.error('owned')>" }),
        )],
    );
    assert_eq!(project.run(&["compare"]).code, 1);

    for (page, texts) in [
        (
            "reports/latest/index.html",
            &["0 of 1 scenarios passed", "href=\"s.html\""][..],
        ),
        (
            "reports/latest/s.html",
            &["&lt;script&gt;", "harmless", "expected", "<details"],
        ),
    ] {
        let seen = browse(browser, &project, page, &["--dump-dom"]);
        assert_eq!(seen.code, 0, "{seen:?}");
        for text in texts {
            assert!(
                seen.stdout.contains(text),
                "{page} does not show {text:?}: {}",
                seen.stdout
            );
        }
        assert!(
            !seen.stdout.contains("<title>owned"),
            "a script of a tool's answer has run"
        );
        for sign in ["owned", "CONSOLE", "ERR_CONNECTION"] {
            let lines: Vec<_> = seen.stderr.lines().filter(|it| it.contains(sign)).collect();
            assert!(lines.is_empty(), "{page}: {lines:?}");
        }
    }
    let picture = project.path("page.png");
    let shot = format!("--screenshot={}", picture.display());
    let seen = browse(
        browser,
        &project,
        "reports/latest/s.html",
        &[&shot, "--window-size=1280,900"],
    );
    let size = std::fs::metadata(&picture).map_or(0, |it| it.len());
    assert!(size > 10_000, "the picture has {size} bytes: {seen:?}");
}
