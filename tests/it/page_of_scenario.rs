//! What the page of a scenario shows of its calls, in which order, and how much room it takes.

use serde_json::{Value, json};

use crate::browser::{chromium, dom};
use crate::causes::{reads, shop};
use crate::common::Project;

fn page(project: &Project, name: &str) -> String {
    project.read(format!("reports/latest/{name}.html"))
}

/// What stands between two texts, each time.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Vec<&'t str> {
    let parts = text.split(before).skip(1);
    parts.map(|it| it.split_once(after).unwrap().0).collect()
}

/// A page of forty calls, of which one is answered otherwise.
fn forty() -> Project {
    let project = Project::new();
    let calls: Vec<(&str, Value)> = (0..40)
        .map(|it| ("get_customer", json!({ "id": 1000 + it, "verbose": true })))
        .collect();
    let write = |city: &str| {
        let mut tool = reads(
            "get_customer",
            "customer",
            &json!({ "name": "Bob", "city": "Ulm" }),
        );
        let mut twentieth = tool["responses"][0].clone();
        twentieth["match"] = json!({ "id": 1020 });
        twentieth["content"][0]["json"]["city"] = json!(city);
        tool["responses"]
            .as_array_mut()
            .unwrap()
            .insert(0, twentieth);
        shop(&project, "s", &json!([tool]), &calls, &json!({}));
    };
    write("Bonn");
    project.expect(0, &["record"]);
    write("Kyoto");
    project.expect(1, &["compare"]);
    project
}

#[test]
fn what_did_not_change_is_folded_and_what_did_stands_once() {
    let page = page(&forty(), "s");
    assert_eq!(page.matches("<article class=\"call ").count(), 1);
    assert!(page.contains("<article class=\"call changed fails\" id=\"call-21\""));
    let folds = between(
        &page,
        "<details class=\"equal-calls\">\n<summary>",
        "</summary>",
    );
    assert_eq!(
        folds,
        ["20 unchanged calls: 1–20", "19 unchanged calls: 22–40"]
    );
    let lines = between(&page, "<details class=\"call same\" id=\"", "\"");
    assert_eq!(
        (lines.len(), lines[0], lines[38]),
        (39, "call-1", "call-40")
    );
    assert!(page.contains("get_customer<span class=\"asked\">(1002, true)</span>"));
    // What a fold holds is in the page, so that a search finds it.
    assert_eq!(page.matches("{\"id\":1039,\"verbose\":true}").count(), 1);
    assert!(!page.contains("<summary>arguments "), "equal arguments");

    let squares = between(
        &page,
        "<nav class=\"squares\" aria-label=\"Calls\">",
        "</nav>",
    );
    let squares = between(squares[0], "<a ", "</a>");
    assert_eq!(squares.len(), 40);
    let changed = "call 21, get_customer: fails";
    assert_eq!(
        squares[20],
        format!(
            "class=\"fails\" href=\"#call-21\" title=\"{changed}\" aria-label=\"{changed}\">21"
        )
    );
    assert!(squares[21].starts_with("class=\"equal\" href=\"#call-22\""));

    // The cause says it, and the difference shows it.
    assert_eq!(page.matches("Kyoto").count(), 2, "{page}");
    let details = between(
        &page,
        "<details class=\"details\" id=\"details\">\n<summary>Details</summary>",
        "</main>",
    );
    for heading in ["numbers", "stamps"] {
        assert!(
            details[0].contains(&format!("<h2 id=\"{heading}\">")),
            "{heading}"
        );
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn forty_calls_with_one_change_take_four_screens() {
    let Some(browser) = chromium() else { return };
    let project = forty();
    let page = page(&project, "s");
    let (before, policy) = page.split_once("<meta http-equiv=").unwrap();
    let (_, after) = policy.split_once('>').unwrap();
    let measured = "<script>addEventListener('load', () => {
        const root = document.documentElement;
        const open = (id) => document.getElementById(id).open + ',' + document.getElementById(id).parentElement.closest('details').open;
        root.dataset.header = Math.round(document.querySelector('header').getBoundingClientRect().bottom);
        root.dataset.height = root.scrollHeight;
        document.querySelector('.squares a[href=\"#call-3\"]').click();
        setTimeout(() => { root.dataset.folds = open('call-3') + ' ' + open('call-30'); }, 100);
    });</script></body>";
    project.file(
        "reports/latest/measured.html",
        format!("{before}{after}").replace("</body>", measured),
    );
    let seen = dom(browser, &project, "reports/latest/measured.html", "");
    let data = |name: &str| between(&seen, &format!("data-{name}=\""), "\"")[0];
    let [header, height] = ["header", "height"].map(|it| data(it).parse::<u32>().unwrap());
    assert!(header <= 900 / 4, "the header ends at {header}");
    assert!(height <= 4 * 900, "the page is {height} high");
    assert_eq!(
        data("folds"),
        "true,true false,false",
        "a square leads into what is folded"
    );
}

#[test]
fn a_page_and_a_row_have_the_values_of_their_own_scenario() {
    let project = Project::new();
    let write = |factor: i64, third: i64| {
        for (name, price) in [("one", 7), ("two", 300), ("three", 4)] {
            let price = price * factor;
            let tools = json!([
                reads("get", "g", &json!({ "price": price })),
                reads(
                    "late",
                    "l",
                    &json!({ "only": if name == "three" { third } else { 0 } })
                ),
            ]);
            let calls = [("get", json!({})), ("late", json!({}))];
            shop(&project, name, &tools, &calls, &json!({}));
        }
    };
    write(1, 5);
    project.expect(0, &["record"]);
    write(11, 6);
    project.expect(1, &["compare"]);
    for (name, was, now) in [("one", "7", "77"), ("two", "300", "3300")] {
        let page = page(&project, name);
        let values = between(&page, "<dd>", "</dd>");
        assert!(
            values.contains(&was) && values.contains(&now),
            "{name}: {values:?}"
        );
        assert!(page.contains("also in 2 other scenarios"), "{name}");
    }
    assert!(!page(&project, "two").contains(">77<"));
    let index = page(&project, "index");
    let rows = between(&index, "<span class=\"why\">", "</span>");
    assert_eq!(rows.len(), 3);
    let row = |text: &str| rows.iter().filter(|it| it.contains(text)).count();
    assert_eq!((row("7 → 77"), row("300 → 3300")), (1, 1), "{rows:?}");
    // What sets a scenario apart says more of it than what all have.
    assert_eq!(row("<code>only</code>: 5 → 6"), 1, "{rows:?}");
}

#[test]
fn a_rename_comes_before_what_more_scenarios_have() {
    let project = Project::new();
    let write = |tool: &str, answer: i64| {
        for name in ["one", "two", "renamed"] {
            let list = if name == "renamed" { tool } else { "list" };
            let tools = json!([
                reads("get", "g", &json!({ "n": answer })),
                reads(list, "l", &json!({ "all": [1, 2] })),
            ]);
            let calls = [("get", json!({})), ("list", json!({}))];
            shop(&project, name, &tools, &calls, &json!({}));
        }
    };
    write("list", 1);
    project.expect(0, &["record"]);
    write("list_all", 2);
    project.expect(1, &["compare"]);
    let index = page(&project, "index");
    let cards = between(&index, "<h3>", "</h3>");
    assert!(
        cards[0].contains("renamed to <code>list_all</code>"),
        "{cards:?}"
    );
    assert!(cards[1].contains("<code>n</code>"), "{cards:?}");
}

#[test]
fn what_is_handed_on_is_not_marked_and_an_error_is_red_on_its_side() {
    let project = Project::new();
    let write = |owner: &str, refuses: bool| {
        let ticket = json!({ "ticket": { "id": "{{args.id}}", "owner": owner } });
        let mut create = reads("create", "c", &json!({ "id": "ticket-{{uuid}}" }));
        create["annotations"] = json!({});
        let mut pay = reads("pay", "p", &json!({}));
        pay["responses"] = json!([{ "content": "refused", "is_error": refuses }]);
        let calls = [
            ("create", json!({})),
            ("get", json!({ "id": "{{calls.0.json:/id}}" })),
            (
                "pay",
                json!({ "of": { "id": "{{calls.0.json:/id}}", "owner": owner } }),
            ),
        ];
        let tools = json!([create, reads("get", "g", &ticket), pay]);
        shop(&project, "s", &tools, &calls, &json!({}));
    };
    write("Ann", true);
    project.run(&["record", "--takes", "1", "--allow-failing"]);
    write("Bob", false);
    project.run(&["compare", "--allow-changed"]);
    let page = page(&project, "s");
    let marked = between(&page, "<mark>", "</mark>");
    assert!(
        marked.contains(&"Ann") && marked.contains(&"Bob"),
        "{marked:?}"
    );
    assert!(page.contains("class=\"answers was-error\""), "{page}");
    let asked = between(&page, "<summary>arguments ", "</details>")[0];
    assert!(
        asked.contains("1 place differs, and 1 more known to vary"),
        "{asked}"
    );
    assert!(
        asked.contains("ticket-") && asked.contains("<mark>Bob</mark>"),
        "{asked}"
    );
    assert!(!asked.contains("-<mark>"), "{asked}");
    for side in between(&page, "\"ticket\": {", "}") {
        assert!(
            side.contains("ticket-") && !side.contains("-<mark>"),
            "{side}"
        );
    }
}
