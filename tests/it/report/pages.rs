//! The HTML pages.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_eval::model::{Answer, Outcome, Row, Step, SuiteResult};
use mcp_eval::published::result::Link;
use mcp_eval::report::html;
use mcp_eval::text;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{expect_text, sample};

#[test]
fn the_pages_look_as_they_did() {
    let compared = pages(&sample::compared());
    let page = |id: &str| body(&compared.iter().find(|(name, _)| name == id).unwrap().1);
    expect_text("page_index", &page("index"));
    expect_text("page_failed", &page("servers/add"));
    expect_text("page_error", &page("servers/list"));
    expect_text("page_recorded", &body(&pages(&sample::recorded())[1].1));
    let repeated = pages(&sample::repeated());
    expect_text("page_repeated_index", &body(&repeated[0].1));
    expect_text("page_repeated", &body(&repeated[1].1));
    expect_text("page_ran", &body(&pages(&sample::ran())[1].1));
    let behind = pages(&sample::behind());
    expect_text("page_behind", &body(&behind[1].1));
    expect_text("page_behind_alike", &body(&behind[2].1));
    expect_text("page_direct", &body(&pages(&sample::direct())[1].1));
}

#[test]
fn nothing_from_outside_acts_on_a_page() {
    for (name, page) in all_pages() {
        let page = without_script(&page);
        let hidden = page
            .chars()
            .find(|it| text::is_hidden(*it) && !matches!(it, '\n' | '\t'));
        assert_eq!(hidden, None, "{name}");
        for tag in tags(&page) {
            let element = tag
                .trim_start_matches('/')
                .split([' ', '>'])
                .next()
                .unwrap();
            let is_script = tag == "script src=\"mcp-eval.js\"" || tag == "/script";
            assert!(element != "script" || is_script, "{name}: <{tag}>");
            assert!(
                !matches!(element, "svg" | "iframe" | "b"),
                "{name}: <{tag}>"
            );
            let is_style = tag == "link rel=\"stylesheet\" href=\"mcp-eval.css\"";
            assert!(element != "link" || is_style, "{name}: <{tag}>");
            let is_picture = tag.starts_with("img alt=\"") && tag.contains("\" src=\"data:image/");
            assert!(element != "img" || is_picture, "{name}: <{tag}>");
            assert!(!tag.contains(" on"), "{name}: <{tag}>");
        }
    }
    let odd = pages(&sample::compared()).swap_remove(3).1;
    assert!(odd.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(odd.contains(r"\u{1b}[31mred"));
    // The upstream calls are among it.
    assert!(odd.contains("&lt;img src=x onerror=alert(6)&gt;"));
    assert!(
        odd.contains("behind it: 2 calls, 1 changed, 1 missing, 1 extra"),
        "{odd}"
    );
}

#[test]
fn pages_ask_for_nothing_and_link_only_among_themselves() {
    let suite = sample::compared();
    let mut known: BTreeSet<String> = suite
        .scenarios
        .iter()
        .map(|it| html::page_name(&it.id))
        .collect();
    let index = html::index(&sample::document(&suite));
    let linked: BTreeSet<String> = attributes(&index, "href")
        .filter(|it| !it.starts_with('#') && !it.starts_with("https://"))
        .map(|it| it.split('#').next().unwrap().to_owned())
        .collect();
    assert_eq!(linked, known, "the index links to every page");

    let others = [
        "worse",
        "unsure",
        "short",
        "proxy.otherwise",
        "proxy.alike",
        "proxy.changing",
        "proxy.passing-on",
        "index",
    ];
    known.extend(others.map(|it| format!("{it}.html")));
    for (name, page) in all_pages() {
        assert!(page.contains("default-src 'none'"), "{name}");
        let sources = attributes(&page, "src");
        for source in sources {
            let is_ours = source == html::SCRIPT.0;
            assert!(
                is_ours || source.starts_with("data:image/"),
                "{name}: {source}"
            );
        }
        let style = page.split_once("</style>").map_or("", |it| it.0);
        for style in [style, html::STYLE.1] {
            assert!(
                !style.contains("url(") && !style.contains("@import"),
                "{name}"
            );
        }
        let ids: Vec<String> = attributes(&page, "id").collect();
        let unique: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(ids.len(), unique.len(), "{name}: {ids:?}");
        for link in attributes(&page, "href") {
            let found = match link.strip_prefix('#') {
                Some(id) => ids.iter().any(|it| it == id),
                None if link == html::STYLE.0 => true,
                // Elsewhere are the commits of the repository alone.
                None if link.starts_with("https://") => {
                    link.starts_with("https://github.com/example/proxy/commit/")
                        || link.starts_with("https://github.com/example/proxy/compare/")
                }
                None => known.contains(link.split('#').next().unwrap()),
            };
            assert!(found, "{name}: {link}");
        }
    }
}

#[test]
fn pages_close_what_they_open() {
    for (name, page) in all_pages() {
        let page = without_script(&page);
        let mut open = Vec::new();
        for tag in tags(&page) {
            let element = tag.split([' ', '\n']).next().unwrap();
            match element.strip_prefix('/') {
                Some(closed) => assert_eq!(open.pop(), Some(closed), "{name}: <{tag}>"),
                None if matches!(
                    element,
                    "!DOCTYPE" | "meta" | "link" | "br" | "input" | "img"
                ) => {}
                None => open.push(element),
            }
        }
        assert!(open.is_empty(), "{name}: {open:?}");
    }
}

#[test]
fn templates_never_switch_escaping_off() {
    let mut pending = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("templates")];
    let mut seen = 0;
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(path).unwrap().map(|it| it.unwrap().path()));
            continue;
        }
        seen += 1;
        let text: String = fs::read_to_string(&path).unwrap().replace(' ', "");
        let bare = text.replace("|json|safe", "");
        assert!(!bare.contains("|safe"), "{}", path.display());
        assert!(
            !bare.contains("{%filter") && !bare.contains("|escape("),
            "{}",
            path.display()
        );
    }
    assert!(seen > 5, "only {seen} templates found");
}

/// What is not escaped is a template: one function makes it, which takes nothing else.
#[test]
fn only_a_template_gets_into_a_page_unescaped() {
    let mut unescaped = Vec::new();
    let mut pending = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(path).unwrap().map(|it| it.unwrap().path()));
        } else if fs::read_to_string(&path).is_ok_and(|it| makes_safe(&it) > 0) {
            unescaped.push(path);
        }
    }
    let [path] = unescaped.as_slice() else {
        panic!("{unescaped:?}");
    };
    assert!(
        path.ends_with("report/html/render.rs"),
        "{}",
        path.display()
    );
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains("fn embedded<T: Template>(part: T) -> Safe<T> {\n    Safe(part)\n}"));
    assert_eq!(makes_safe(&text), 1);
}

/// How often a text is declared not to need escaping.
fn makes_safe(code: &str) -> usize {
    code.matches("Safe(").count() - code.matches("UnwindSafe(").count()
}

#[test]
fn a_page_without_trajectories_still_says_what_failed() {
    let document = sample::document(&sample::compared());
    let page = html::scenario(
        &document,
        document.scenario("servers/add").unwrap(),
        None,
        None,
    )
    .html;
    assert!(page.contains("Invalid params: unknown parameter `verbose`"));
    assert!(page.contains("became an error"));
}

#[test]
fn the_whole_of_a_long_answer_lies_beside_the_page() {
    let mut suite = sample::recorded();
    let mut trajectory = sample::searching("environment variables", "4a1f");
    let long = format!("{{ no JSON {}", "långt ".repeat(800_000));
    if let Some(Step::ToolCall(call)) = trajectory.steps.get_mut(1) {
        call.outcome = sample::text_answer(&long);
    }
    suite.scenarios[0].current = Some(sample::kept(trajectory));
    let document = sample::document(&suite);
    let current = suite.scenarios[0].current.as_deref();
    let page = html::scenario(&document, &document.scenarios[0], None, current);
    assert!(page.html.len() < 120_000, "{} bytes", page.html.len());
    assert!(page.html.contains("5.6 MB"), "{}", page.html);
    let name = "answers/tools.search/call-1.1.current.txt";
    assert!(page.html.contains(&format!("href=\"{name}\"")));
    let [file] = page.files.as_slice() else {
        panic!("one file: {:?}", page.files.len());
    };
    assert_eq!(file.path, name);
    assert!(file.content == long.into_bytes());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_is_new_finds_room_however_much_is_the_same() {
    let mut suite = sample::compared();
    // Lines take room, too.
    let lines = format!("{}\n", "words ".repeat(8)).repeat(290);
    let text = |at: usize| json!({"type": "text", "text": format!("{at} {lines}")});
    let answering = |content: Vec<Value>| {
        let mut trajectory = sample::searching("environment variables", "4a1f");
        if let Some(Step::ToolCall(call)) = trajectory.steps.get_mut(1) {
            call.outcome = Outcome::Answer(Answer {
                content,
                ..Answer::default()
            });
        }
        Some(sample::kept(trajectory))
    };
    let equal: Vec<Value> = (0..99).map(text).collect();
    // Longer than what the equal ones leave of theirs.
    let fresh = format!("never said before {}", "words ".repeat(2_660));
    let fresh = json!({"type": "text", "text": fresh});
    let scenario = &mut suite.scenarios[0];
    scenario.baseline = answering(equal.clone());
    scenario.current = answering([equal, vec![fresh]].concat());
    let rows = &mut scenario.comparison.as_mut().unwrap().rows;
    if let Some(Row::Pair(pair)) = rows.first_mut() {
        pair.response.similarity = 0.9;
    }
    let page = pages(&suite).swap_remove(1).1;
    let room = "not shown, because this page is long";
    assert!(page.contains(room), "what is the same fills its room");
    let parts = page.split("<details class=\"part extra\"").skip(1);
    let [part] = &parts.collect::<Vec<_>>()[..] else {
        panic!("not one part is new");
    };
    let (part, _) = part.split_once("</details>").unwrap();
    assert!(part.contains("never said before"), "{part}");
}

#[test]
fn a_page_that_stands_alone_says_where_the_whole_of_an_answer_is() {
    let mut suite = sample::recorded();
    let mut trajectory = sample::searching("environment variables", "4a1f");
    if let Some(Step::ToolCall(call)) = trajectory.steps.get_mut(1) {
        call.outcome = sample::text_answer(&"long ".repeat(100_000));
    }
    suite.scenarios[0].current = Some(sample::kept(trajectory));
    let document = sample::document(&suite);
    let current = suite.scenarios[0].current.as_deref();
    let page = html::scenario(&document, &document.scenarios[0], None, current);
    assert_eq!(page.files.len(), 1);
    let alone = html::scenario_alone(&document, &document.scenarios[0], None, current);
    let path = &page.files[0].path;
    assert!(page.html.contains(&format!("<a href=\"{path}\">")));
    assert!(!alone.contains(&format!("href=\"{path}\"")));
    let said = format!("not in this file: <code>{path}</code>");
    assert!(alone.contains(&said), "{alone}");
}

#[test]
fn what_differs_is_marked_and_nothing_else() {
    let page = pages(&sample::compared()).swap_remove(2).1;
    let marked: Vec<&str> = page
        .split("<mark>")
        .skip(1)
        .map(|it| it.split_once("</mark>").unwrap().0)
        .collect();
    assert!(
        marked.iter().any(|it| it.contains("server_id")),
        "{marked:?}"
    );
    assert!(!marked.iter().any(|it| it.contains("added")), "{marked:?}");
    assert!(!marked.iter().any(|it| it.contains("tags")), "{marked:?}");
    // The failure of call 2 has nothing in common with the answer before it.
    assert!(!marked.iter().any(|it| it.contains("-32602")), "{marked:?}");
    assert!(page.contains("<ins>-32602: Invalid params"), "{page}");
}

#[test]
fn the_only_script_is_the_one_that_the_policy_names() {
    for (name, page) in all_pages() {
        let parts: Vec<&str> = page.split("<script").collect();
        let [before, script] = parts.as_slice() else {
            assert_eq!(name, "index", "{name}: {} scripts", parts.len() - 1);
            continue;
        };
        let (tag, script) = script.split_once('>').unwrap();
        let (script, _) = script.split_once("</script>").unwrap();
        let named = if script.is_empty() {
            assert_eq!(tag, format!(" src=\"{}\"", html::SCRIPT.0), "{name}");
            "'self' file:".to_owned()
        } else {
            assert_eq!(tag, "", "{name}");
            format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script)))
        };
        let (_, policy) = before
            .split_once("Content-Security-Policy\" content=\"")
            .unwrap();
        let (policy, _) = policy.split_once("\">").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        let allowed = policy.replace("&#39;", "'");
        assert!(
            allowed.contains(&format!("script-src {named};")),
            "{name}: {policy}"
        );
    }
}

#[test]
fn page_names_are_safe_and_differ() {
    let long = "x".repeat(300);
    let ids = [
        "search",
        "Search",
        "a/b",
        "a.b",
        "a-b",
        "a~b",
        "a b",
        "a\\b",
        "index",
        "con",
        "con/x",
        "com1",
        "..",
        "../../etc/passwd",
        "",
        "/",
        "a//b",
        "a/",
        "é",
        "e\u{301}",
        "工具",
        "<b>",
        "a?b",
        "a#b",
        "a%2fb",
        &long,
    ];
    let names: BTreeSet<String> = ids
        .iter()
        .map(|it| html::page_name(it).to_lowercase())
        .collect();
    assert_eq!(names.len(), ids.len(), "{names:#?}");
    for name in &names {
        assert!(name.len() < 120 && name != "index.html", "{name}");
        assert!(!name.starts_with('.'), "{name}");
        assert!(
            name.chars()
                .all(|it| it.is_ascii_alphanumeric() || "-_.~".contains(it)),
            "{name}"
        );
        let device = name.split('.').next().unwrap();
        assert!(!["con", "com1"].contains(&device), "{name}");
    }
    assert_eq!(html::page_name("servers/add_one"), "servers.add_one.html");
}

#[test]
fn upstream_calls_are_shown_beneath_the_call_that_caused_them() {
    let page = |suite: &SuiteResult, at: usize| pages(suite).swap_remove(at).1;
    let summaries = |page: &str| -> Vec<String> {
        let blocks = page.split("<details class=\"behind\"").skip(1);
        let summary = |block: &str| {
            let (_, rest) = block.split_once("<summary>").unwrap();
            let open = if block.starts_with(" open") {
                "open: "
            } else {
                ""
            };
            format!("{open}{}", rest.split_once("</summary>").unwrap().0)
        };
        blocks.map(summary).collect()
    };
    let otherwise = page(&sample::behind(), 1);
    assert_eq!(
        summaries(&otherwise),
        [
            "open: 1 call; 2 headers passed on without a call, 1 changed",
            "open: behind it: 1 → 2 calls, 1 changed, 1 extra",
            "open: behind it: 2 → 1 call, 1 changed, 1 missing",
        ]
    );
    for mark in ["one lamp", "two lamps", "Shopping list"] {
        assert!(otherwise.contains(mark), "{mark}");
    }
    assert!(otherwise.contains("<mark>one lamp</mark>"), "{otherwise}");
    assert_eq!(otherwise.matches("× 1 → × 2").count(), 2);
    let alike = page(&sample::behind(), 2);
    assert_eq!(
        summaries(&alike),
        [
            "1 call; 2 headers passed on without a call, unchanged",
            "behind it: 2 calls, unchanged",
        ]
    );
    assert_eq!(alike.matches("× 2").count(), 1, "one line for both");
    // Without a baseline there is one side, and nothing is said to be as it was.
    for suite in [sample::recorded(), sample::ran()] {
        let page = page(&suite, 1);
        assert_eq!(
            summaries(&page),
            [
                "1 call; 1 header passed on without a call",
                "behind it: 3 calls",
                "behind it: 1 call",
            ]
        );
        assert_eq!(page.matches("× 3").count(), 2, "once failed, then answered");
        assert!(page.contains("x-trace: t-1") && page.contains("no answer after 2 s"));
        assert!(!page.contains("not received"), "{page}");
    }
}

#[test]
fn upstream_calls_are_shown_without_the_trajectories() {
    let document = sample::document(&sample::behind());
    let page = html::scenario(&document, &document.scenarios[0], None, None).html;
    assert!(page.contains("behind it: 1 → 2 calls, 1 changed, 1 extra"));
    assert!(page.contains("\"path\""), "{page}");
    assert!(page.contains("<mark>one lamp</mark>"), "{page}");
}

/// All pages of a result: the index, then one per scenario under its id.
fn pages(suite: &SuiteResult) -> Vec<(String, String)> {
    let document = sample::document(suite);
    let mut pages = vec![("index".to_owned(), html::index(&document))];
    for (scenario, result) in document.scenarios.iter().zip(&suite.scenarios) {
        let page = html::scenario(
            &document,
            scenario,
            result.baseline.as_deref(),
            result.current.as_deref(),
        );
        pages.push((scenario.id.clone(), page.html));
    }
    pages
}

/// Every page of every kind of command.
fn all_pages() -> Vec<(String, String)> {
    sample::all().iter().flat_map(pages).collect()
}

/// A page without our own script, which the policy names by its hash.
fn without_script(page: &str) -> String {
    match page.split_once("<script>") {
        Some((before, rest)) => format!("{before}{}", rest.split_once("</script>").unwrap().1),
        None => page.to_owned(),
    }
}

/// What stands before and behind the style sheet of a page; the pages of a report share one, which lies beside them.
fn without_style(page: &str) -> [&str; 2] {
    match page.split_once("<style>") {
        Some((head, rest)) => [head, rest.split_once("</style>").unwrap().1],
        None => [page, ""],
    }
}

/// A page without its style sheet, its script and empty lines, which would drown the rest.
fn body(page: &str) -> String {
    let page = without_script(page);
    let [head, rest] = without_style(&page);
    let lines: Vec<&str> = head.lines().chain(rest.lines()).collect();
    let lines = lines.into_iter().filter(|it| !it.trim().is_empty());
    lines
        .map(|it| [it, "\n"])
        .collect::<Vec<_>>()
        .as_flattened()
        .concat()
}

/// What stands between `<` and `>`, the style sheet left out. Only our own tags can: all else is escaped.
fn tags(page: &str) -> Vec<&str> {
    let page = page
        .split_once("<script>")
        .map_or(page, |(before, _)| before);
    without_style(page)
        .into_iter()
        .flat_map(|part| part.split('<').skip(1))
        .map(|it| it.split_once('>').unwrap().0)
        .collect()
}

/// The values of an attribute, wherever it stands.
fn attributes(page: &str, name: &str) -> impl Iterator<Item = String> {
    let start = format!(" {name}=\"");
    tags(page)
        .into_iter()
        .filter_map(move |tag| {
            let (_, value) = tag.split_once(&start)?;
            Some(value.split_once('"')?.0.to_owned())
        })
        .collect::<Vec<_>>()
        .into_iter()
}

#[test]
fn the_versions_of_both_sides_stand_at_the_top() {
    let page = pages(&sample::compared()).swap_remove(2).1;
    let (top, _) = page.split_once("<main").unwrap();
    let (_, header) = top.split_once("<header class=\"top\">").unwrap();
    let text = without_tags(header);
    assert!(
        text.contains(
            "System under test baseline a1b2c3d (main, 31 Oct) → this run 51c0ffe (rework-ids, 31 Oct, dirty) changes between the two"
        ),
        "{text}"
    );
    let between = "https://github.com/example/proxy/compare/a1b2c3d000000000000000000000000000000000...51c0ffe";
    assert!(top.contains(between), "{top}");
    let index = pages(&sample::compared()).swap_remove(0).1;
    assert!(index.contains(between), "{index}");
}

#[test]
fn links_elsewhere_are_links_only_where_they_are_plain_addresses() {
    let mut document = sample::document(&sample::recorded());
    let link = |name: &str, url: &str| Link {
        name: name.to_owned(),
        url: url.to_owned(),
    };
    document.links = vec![
        link("CI job", "https://ci.example.org/7"),
        link("<b>odd", "javascript:alert(1)"),
    ];
    let index = html::index(&document);
    assert!(index.contains("<a href=\"https://ci.example.org/7\" rel=\"noreferrer\">CI job</a>"));
    assert!(
        index.contains("&lt;b&gt;odd: javascript:alert(1)"),
        "{index}"
    );
    assert!(!index.contains("href=\"javascript"));
}

/// What a reader sees of a piece of a page, on one line.
fn without_tags(page: &str) -> String {
    let mut text = String::new();
    for part in page.split('<') {
        text.push(' ');
        text.push_str(part.split_once('>').map_or(part, |it| it.1));
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
