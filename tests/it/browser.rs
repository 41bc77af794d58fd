//! The report in a real browser. Skipped, with one line that says so, where there is no Chromium.

use std::io::Write;
use std::process::Command;

use serde_json::json;

use crate::common::{Project, Ran, ran, skipped};

/// The browser's name, or `None` where there is none.
pub(crate) fn chromium() -> Option<&'static str> {
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
#[ignore = "left to .ci/run, which has the time"]
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
            &["&lt;script&gt;", "harmless", "<details", "mcp-eval.css"],
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

/// A project with a report on scenarios of several states, tags and servers.
pub(crate) fn suite() -> Project {
    let project = Project::new();
    let write = |broken: &str, harmless: &str| {
        let call = [("echo", json!({}))];
        for (name, fault, tag) in [
            ("one", broken, "slow"),
            ("two", broken, "quick"),
            ("three", harmless, "slow"),
        ] {
            let more = json!({ "tags": [tag] });
            project.faulty_with(name, &[fault], &call, &more);
        }
        for (name, tags) in [("off", vec!["slow"]), ("away", vec![])] {
            let more = json!({ "enabled": false, "tags": tags });
            project.faulty_with(name, &[harmless], &call, &more);
        }
    };
    write("text=the price is 3", "text=fine");
    project.expect(0, &["record"]);
    write("text=the price is 4", "text=fine");
    project.expect(1, &["compare"]);
    project
}

/// What a page has become at this fragment of its address, in a window of 1400 × 900.
pub(crate) fn dom(browser: &str, project: &Project, page: &str, fragment: &str) -> String {
    let profile = format!("--user-data-dir={}", project.path("profile").display());
    let page = project.path(page).canonicalize().unwrap();
    let seen = ran(Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--dump-dom",
        ])
        .args([
            "--enable-logging=stderr",
            "--v=0",
            "--virtual-time-budget=3000",
            "--window-size=1400,900",
        ])
        .arg(profile)
        .arg(format!("file://{}{fragment}", page.display())));
    assert_eq!(seen.code, 0, "{seen:?}");
    let complaints = seen.stderr.lines().filter(|it| it.contains("CONSOLE"));
    assert_eq!(complaints.collect::<Vec<_>>(), Vec::<&str>::new());
    seen.stdout
}

/// The names of the rows that are to be seen, in order.
fn rows(dom: &str) -> Vec<String> {
    let rows = dom.split("<tr data-s=").skip(1);
    let seen = rows.filter(|it| !it.split_once('>').unwrap().0.contains("hidden"));
    let name = |row: &str| -> Option<String> {
        // Of several in a row, the first that is to be seen.
        let several = row.split("<span class=\"of\"").skip(1);
        let mut several = several.filter(|it| !it.split_once('>').unwrap().0.contains("hidden"));
        let (_, name) = several.next().unwrap_or(row).split_once("<a href=\"")?;
        Some(name.split_once(".html")?.0.to_owned())
    };
    seen.filter_map(name).collect()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_scenarios_are_filtered_and_sorted_in_a_browser() {
    let Some(browser) = chromium() else { return };
    let project = suite();
    let index = "reports/latest/index.html";
    for (fragment, expected, said) in [
        (
            "",
            &["one", "two", "three", "away"][..],
            "All 5 scenarios are shown.",
        ),
        (
            "#?state=failed",
            &["one", "two"],
            "2 of 5 scenarios are shown.",
        ),
        (
            "#?tag=slow",
            &["one", "three", "off"],
            "3 of 5 scenarios are shown.",
        ),
        (
            "#?find=disabled+off",
            &["off"],
            "1 of 5 scenarios are shown.",
        ),
        (
            "#?find=scenarios/away",
            &["away"],
            "1 of 5 scenarios are shown.",
        ),
        (
            "#?state=failed&tag=slow",
            &["one"],
            "1 of 5 scenarios are shown.",
        ),
        (
            "#?find=PRICE+is",
            &["one", "two"],
            "2 of 5 scenarios are shown.",
        ),
        ("#?state=skipped", &["away"], "2 of 5 scenarios are shown."),
        ("#?find=nowhere", &[], "No scenario fits."),
        (
            "#?sort=name&state=failed,passed",
            &["one", "three", "two"],
            "3 of 5 scenarios are shown.",
        ),
    ] {
        let seen = dom(browser, &project, index, fragment);
        assert_eq!(rows(&seen), expected, "{fragment}");
        assert!(seen.contains(said), "{fragment}: no {said:?}");
    }
    // The numbers on the buttons tell what each would show.
    let seen = dom(browser, &project, index, "#?tag=quick");
    let failed = seen.split("data-state=\"failed\"").nth(1).unwrap();
    let failed = failed.split_once("</button>").unwrap().0;
    assert!(failed.contains("<span class=\"n\">1</span>"), "{failed}");
    // Of those that were left out for one reason, each counts for itself.
    let seen = dom(browser, &project, index, "#?tag=slow");
    let skipped = seen.split("data-state=\"skipped\"").nth(1).unwrap();
    let skipped = skipped.split_once("</button>").unwrap().0;
    assert!(skipped.contains("<span class=\"n\">1</span>"), "{skipped}");
    assert!(
        seen.contains("<span class=\"n\">1 scenario</span>: "),
        "{seen}"
    );
    // Without a script, all of it stands there, in sections.
    let plain = project.read(index);
    assert_eq!(rows(&plain), ["one", "two", "three", "away"]);
    assert!(
        plain.contains("2 scenarios</span>: the scenario is disabled"),
        "{plain}"
    );
    assert!(plain.contains("id=\"toolbar\"") && plain.contains("hidden>"));
}

#[test]
fn tools_are_a_filter_where_nothing_was_compared() {
    let project = Project::new();
    let call = [("echo", json!({}))];
    project.faulty("one", &[], &call);
    project.faulty("two", &[], &[("count", json!({}))]);
    for command in ["record", "run"] {
        let _ = std::fs::remove_dir_all(project.path("baselines"));
        project.expect(0, &[command]);
        let index = project.read("reports/latest/index.html");
        let tools = index.split_once("<select id=\"tool\">").map(|it| it.1);
        let (tools, _) = tools.unwrap().split_once("</select>").unwrap();
        assert!(
            tools.contains(">count<") && tools.contains(">echo<"),
            "{command}: {tools}"
        );
        assert_eq!(index.matches(" data-o=\"").count(), 2, "{command}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn one_file_has_all_pages_and_shows_the_one_that_the_address_names() {
    let project = suite();
    let said = project.expect(0, &["report", "--single-file", "all.html"]);
    assert_eq!(said.stdout.trim(), "all.html");
    let file = project.read("all.html");
    for own in ["href=\"one.html", "href=\"index.html", "src=\"http"] {
        assert!(!file.contains(own), "{own}");
    }
    let named: Vec<&str> = file.split(" href=\"#").skip(1).collect();
    for link in named {
        let id = link.split_once('"').unwrap().0;
        assert!(
            file.contains(&format!(" id=\"{id}\"")),
            "#{id} leads nowhere"
        );
    }
    let Some(browser) = chromium() else { return };
    let shows = |fragment: &str| {
        // Print what is to be seen: a page that is not shown has no text there.
        let seen = dom(browser, &project, "all.html", fragment);
        assert!(
            seen.contains("All 5 scenarios are shown."),
            "the index has no filters"
        );
        seen
    };
    shows("");
    let profile = format!("--user-data-dir={}", project.path("profile").display());
    let pdf = |fragment: &str, name: &str| {
        let page = project.path("all.html");
        let out = project.path(name);
        let seen = ran(Command::new(browser)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--virtual-time-budget=2000",
            ])
            .arg(&profile)
            .arg(format!("--screenshot={}", out.display()))
            .args(["--window-size=900,700"])
            .arg(format!("file://{}{fragment}", page.display())));
        assert_eq!(seen.code, 0, "{seen:?}");
        std::fs::read(out).unwrap()
    };
    assert_ne!(
        pdf("", "index.png"),
        pdf("#p1", "page.png"),
        "the page is not shown"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_thousand_scenarios_stay_small() {
    let project = Project::new();
    let call = [("echo", json!({}))];
    project.faulty("s", &["text=the price is 3"], &call);
    project.expect(0, &["record"]);
    project.faulty("s", &["text=the price is 4"], &call);
    project.expect(1, &["compare"]);
    let result = project.read("reports/latest/result.json");
    let mut result: serde_json::Value = serde_json::from_str(&result).unwrap();
    let one = result["scenarios"][0].clone();
    let many: Vec<serde_json::Value> = (0..1000)
        .map(|number| {
            let mut it = one.clone();
            it["id"] = json!(format!("group-{}/scenario-{number}", number % 17));
            it["name"] = json!(format!("Scenario {number} of a large suite"));
            it["path"] = json!(format!(
                "scenarios/group-{}/scenario-{number}.yaml",
                number % 17
            ));
            it["tags"] = json!([format!("tag-{}", number % 9)]);
            // Each with a cause of its own.
            let changes = it["comparison"]["changes"].as_array_mut().unwrap();
            for change in changes {
                change["tool"] = json!(format!("mcp__s__tool_{}", name(number)));
            }
            let rows = it["comparison"]["rows"].as_array_mut().unwrap();
            for row in rows {
                row["tool"] = json!(format!("tool_{}", name(number)));
            }
            it
        })
        .collect();
    result["scenarios"] = json!(many);
    result["summary"]["selected"] = json!(1000);
    result["summary"]["failed"] = json!(1000);
    result["causes"] = json!([{ "text": "found again", "scenarios": [] }]);
    project.file("many/result.json", result.to_string());
    project.expect(
        0,
        &["report", "many", "--format", "html", "--output", "pages"],
    );
    let index = project.read("pages/index.html");
    assert!(index.len() < 1_000_000, "{} bytes", index.len());
    assert_eq!(index.matches("<tr data-s=").count(), 1000);
    let Some(browser) = chromium() else { return };
    let seen = dom(
        browser,
        &project,
        "pages/index.html",
        "#?find=scenario-77&sort=duration",
    );
    assert!(seen.contains("11 of 1000 scenarios are shown."));
    let _ = writeln!(
        std::io::stderr(),
        "1,000 scenarios: {} bytes, usable after {} ms",
        index.len(),
        usable_after(browser, &project, &index)
    );
}

/// After how many milliseconds a page has been read, laid out and its filters work, by the browser's own clock.
fn usable_after(browser: &str, project: &Project, page: &str) -> String {
    let (before, policy) = page.split_once("<meta http-equiv=").unwrap();
    let (_, after) = policy.split_once('>').unwrap();
    let script =
        "<script>addEventListener('load', () => requestAnimationFrame(() => setTimeout(() => {
        document.documentElement.dataset.usable = Math.round(performance.now());
    })))</script></body>";
    project.file(
        "timed.html",
        format!("{before}{after}").replace("</body>", script),
    );
    let profile = format!("--user-data-dir={}", project.path("profile").display());
    let seen = ran(Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu"])
        .args(["--dump-dom", "--timeout=5000"])
        .arg(profile)
        .arg(format!("file://{}", project.path("timed.html").display())));
    let usable = seen.stdout.split_once("data-usable=\"").map(|it| it.1);
    let usable = usable.and_then(|it| it.split_once('"')).map(|it| it.0);
    usable.unwrap_or("unknown").to_owned()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn keys_lead_from_change_to_change() {
    let Some(browser) = chromium() else { return };
    let project = Project::new();
    let calls = [1, 2, 3].map(|it| ("echo", json!({ "n": it })));
    project.faulty("s", &["text=the price is 3"], &calls);
    project.expect(0, &["record"]);
    project.faulty("s", &["text=the price is 4"], &calls);
    project.expect(1, &["compare"]);
    let page = project.read("reports/latest/s.html");
    let (before, policy) = page.split_once("<meta http-equiv=").unwrap();
    let (_, after) = policy.split_once('>').unwrap();
    let typed = "<script>addEventListener('load', () => {
        const been = [];
        for (const key of ['n', 'n', 'n', 'p']) {
            document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
            been.push(location.hash.slice(1) + '=' + document.activeElement.id);
        }
        document.documentElement.dataset.been = been.join(' ');
    });</script></body>";
    project.file(
        "reports/latest/typed.html",
        format!("{before}{after}").replace("</body>", typed),
    );
    let seen = dom(browser, &project, "reports/latest/typed.html", "");
    let been = seen.split_once("data-been=\"").unwrap().1;
    let been = been.split_once('"').unwrap().0;
    assert_eq!(
        been,
        "call-1=call-1 call-2=call-2 call-3=call-3 call-2=call-2"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_page_of_many_long_answers_stays_small_and_says_where_the_rest_is() {
    const CALLS: usize = 80;
    let project = Project::new();
    let calls: Vec<_> = (0..CALLS).map(|it| ("echo", json!({ "n": it }))).collect();
    let lines = |word: &str| -> String {
        let lines = (0..500).map(|it| format!("{word} of {it} {}\n", word.repeat(20)));
        lines.collect()
    };
    for (word, command, code) in [("old", "record", 0), ("new", "compare", 1)] {
        project.faulty("s", &[&format!("text={}", lines(word))], &calls);
        project.expect(code, &[command]);
    }
    let page = project.read("reports/latest/s.html");
    assert!(page.len() < 12_000_000, "{} bytes", page.len());
    assert!(page.contains(" of 7 "), "no answer is shown");
    assert!(page.contains("not shown, because this page is long"));
    let whole = format!("answers/s/call-{CALLS}.1.current.txt");
    assert!(page.contains(&format!("href=\"{whole}\"")), "{whole}");
    assert_eq!(
        project.read(format!("reports/latest/{whole}")),
        lines("new")
    );
}

/// A number in letters, because names that differ in numbers have one cause.
fn name(number: usize) -> String {
    let letters = number.to_string();
    letters
        .bytes()
        .map(|it| char::from(it - b'0' + b'a'))
        .collect()
}
