//! All pages in one file, to attach to a ticket: each page is a part of it, and the part that an address names is shown.
//!
//! It is put together from pages that are complete, by their tags alone: whatever came from outside is text in them, with every `<` escaped, and
//! every quote in a tag.

use std::collections::HashMap;
use std::fmt::Write as _;

use model::published::result::ResultDocument;

use super::link::page_name;
use super::render::{self, IndexScript, ScenarioScript};
use super::state::State;

/// The most bytes that the pages of scenarios take together.
const MOST: usize = 25_000_000;

/// What stands behind the text of a link to something that is not part of the file.
const NOT_HERE: &str =
    "</span> <span class=\"quiet\">(in the report folder, not part of this file)</span>";

/// Attributes that name elements of their own page.
const NAMES: [&str; 5] = [
    "id",
    "for",
    "aria-labelledby",
    "aria-describedby",
    "aria-controls",
];

/// One file with the index and the pages of all scenarios, as far as there is room.
#[derive(Debug)]
pub struct Single {
    pub html: String,
    /// How many scenarios have no page in it.
    pub left_out: usize,
}

/// Puts the pages of the scenarios, in the order of the document, behind the index. What needs a look comes first, where there is no room
/// for all.
pub fn single(result: &ResultDocument, index: &str, pages: &[String]) -> Single {
    single_within(result, index, pages, MOST)
}

fn single_within(result: &ResultDocument, index: &str, pages: &[String], most: usize) -> Single {
    let mut order: Vec<usize> = (0..pages.len().min(result.scenarios.len())).collect();
    order.sort_by_key(|at| State::of(&result.scenarios[*at]));
    let mut room = most;
    let mut kept: Vec<usize> = Vec::new();
    for at in order {
        let size = content(&pages[at]).len();
        if size <= room {
            room -= size;
            kept.push(at);
        }
    }
    kept.sort_unstable();
    let left_out = pages.len() - kept.len();
    let mut parts: HashMap<String, String> =
        HashMap::from([("index.html".to_owned(), String::new())]);
    for at in &kept {
        parts.insert(page_name(&result.scenarios[*at].id), format!("p{at}-"));
    }
    let (head, _) = index.split_once("<body>").unwrap_or((index, ""));
    let [own, others] = [render::hash(&IndexScript), render::hash(&ScenarioScript)];
    let policy = format!("'{own}' '{others}'; img-src data:");
    // The address in a page is escaped.
    let mut html = head.replacen(&format!("'{own}'"), &policy, 1);
    html.push_str("<body>\n<div class=\"single-index\" id=\"index-page\">\n");
    if left_out > 0 {
        let remark = format!(
            "<p class=\"banner\">The pages of {left_out} of {} scenarios are not part of this file, which they would make too large; \
             <code>mcp-eval report --format html --output DIR</code> writes all of them.</p>\n",
            pages.len()
        );
        html.push_str(&remark);
    }
    html.push_str(&rewritten(content(index), "", &parts));
    html.push_str("</div>\n");
    for at in &kept {
        let name = format!("p{at}-");
        let _ = writeln!(html, "<div class=\"single-page\" data-page id=\"p{at}\">");
        html.push_str(&rewritten(content(&pages[*at]), &name, &parts));
        html.push_str("</div>\n");
    }
    for script in [
        script_of(index),
        pages.first().map_or("", |it| script_of(it)),
    ] {
        if !script.is_empty() {
            html.push_str("<script>");
            html.push_str(script);
            html.push_str("</script>\n");
        }
    }
    html.push_str("</body>\n</html>\n");
    Single { html, left_out }
}

/// What a page shows, without its scripts.
fn content(page: &str) -> &str {
    let (_, body) = page.split_once("<body>").unwrap_or(("", page));
    let end = body.find("<script>").or_else(|| body.find("</body>"));
    &body[..end.unwrap_or(body.len())]
}

fn script_of(page: &str) -> &str {
    let script = page.split_once("<script>").map_or("", |it| it.1);
    script.split_once("</script>").map_or("", |it| it.0)
}

/// A page with names of its own, whose links lead to the parts of the file. `parts` has the prefix of each page that is one.
fn rewritten(page: &str, prefix: &str, parts: &HashMap<String, String>) -> String {
    let mut out = String::with_capacity(page.len() + page.len() / 20);
    let mut rest = page;
    let mut leads_out = false;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let end = rest[at..].find('>').map_or(rest.len(), |it| at + it + 1);
        match &rest[at..end] {
            link if is_outside(link, parts) => {
                leads_out = true;
                out.push_str("<span>");
            }
            "</a>" if leads_out => {
                leads_out = false;
                out.push_str(NOT_HERE);
            }
            other => tag(other, prefix, parts, &mut out),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Whether a tag is a link to what lies beside the pages, which is not part of the file: the text stays, and says so.
fn is_outside(tag: &str, parts: &HashMap<String, String>) -> bool {
    let address = tag
        .strip_prefix("<a ")
        .and_then(|it| it.split_once("href=\""))
        .and_then(|(_, it)| it.split_once('"'));
    address.is_some_and(|(it, _)| {
        let page = it.split('#').next().unwrap_or_default();
        !page.is_empty() && !page.contains("://") && !parts.contains_key(page)
    })
}

fn tag(tag: &str, prefix: &str, parts: &HashMap<String, String>, out: &mut String) {
    let mut rest = tag;
    while let Some((before, after)) = rest.split_once("=\"") {
        let Some((value, behind)) = after.split_once('"') else {
            break;
        };
        let name_at = before.rfind([' ', '\n']).map_or(0, |it| it + 1);
        let (lead, name) = before.split_at(name_at);
        out.push_str(lead);
        let (name, value) = attribute(name, value, prefix, parts);
        out.push_str(name);
        out.push_str("=\"");
        out.push_str(&value);
        out.push('"');
        rest = behind;
    }
    out.push_str(rest);
}

fn attribute<'n>(
    name: &'n str,
    value: &str,
    prefix: &str,
    parts: &HashMap<String, String>,
) -> (&'n str, String) {
    // The style sheet knows the switch between two views by these.
    let is_shared = |it: &str| it.starts_with("view-");
    if NAMES.contains(&name) {
        let named = value.split(' ').map(|it| {
            if is_shared(it) {
                it.to_owned()
            } else {
                format!("{prefix}{it}")
            }
        });
        return (name, named.collect::<Vec<_>>().join(" "));
    }
    if name != "href" || value.starts_with("https://") {
        return (name, value.to_owned());
    }
    if let Some(anchor) = value.strip_prefix('#') {
        return (name, format!("#{prefix}{anchor}"));
    }
    let (page, anchor) = value.split_once('#').unwrap_or((value, ""));
    match parts.get(page).map(String::as_str) {
        Some("") if anchor.is_empty() => (name, "#index-page".to_owned()),
        Some(part) if anchor.is_empty() => (name, format!("#{}", part.trim_end_matches('-'))),
        Some(part) => (name, format!("#{part}{anchor}")),
        None => (name, value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::rewritten;

    #[test]
    fn names_and_links_are_those_of_the_part() {
        let parts = HashMap::from([
            ("index.html".to_owned(), String::new()),
            ("a.html".to_owned(), "p0-".to_owned()),
        ]);
        for (page, expected) in [
            (
                "<a href=\"index.html\">x</a>",
                "<a href=\"#index-page\">x</a>",
            ),
            (
                "<a href=\"index.html#cause-1\">x</a>",
                "<a href=\"#cause-1\">x</a>",
            ),
            ("<a href=\"a.html\">x</a>", "<a href=\"#p0\">x</a>"),
            (
                "<a href=\"a.html#call-3\">x</a>",
                "<a href=\"#p0-call-3\">x</a>",
            ),
            (
                "<h2 id=\"all\">id=\"all\" &lt;a href=\"b.html\"",
                "<h2 id=\"p7-all\">id=\"all\" &lt;a href=\"b.html\"",
            ),
            (
                "<p aria-labelledby=\"a b\">",
                "<p aria-labelledby=\"p7-a p7-b\">",
            ),
            ("<input id=\"view-inline\">", "<input id=\"view-inline\">"),
            (
                "<a class=\"c\" href=\"answers/1.txt\">x</a>, <a href=\"a.html\">y</a>",
                "<span>x</span> <span class=\"quiet\">(in the report folder, not part of this file)</span>, <a href=\"#p0\">y</a>",
            ),
            (
                "<a href=\"#top\" rel=\"n\">",
                "<a href=\"#p7-top\" rel=\"n\">",
            ),
            (
                "<a href=\"https://github.com/a/b\">",
                "<a href=\"https://github.com/a/b\">",
            ),
        ] {
            assert_eq!(rewritten(page, "p7-", &parts), expected);
        }
    }
}
