//! Texts without what differs from run to run, and from machine to machine.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

use crate::common::{Project, root};

/// What is replaced, in this order.
static RULES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let rules = [
        // Times, and the ids of runs, which are made of them; Markdown escapes both.
        (
            r"\d{4}(-|&#45;)\d\d(-|&#45;)\d\dT\d\d(:|-|&#45;)\d\d(:|-|&#45;)\d\d((\.|&#46;)\d+)?(Z|\+00:00)",
            "TIME",
        ),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "TIME"),
        (
            r"\b\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b( \d{4})?",
            "DATE",
        ),
        (
            r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "UUID",
        ),
        (r"\b([0-9a-f]{64}|[0-9a-f]{40})\b", "HASH"),
        (r"'sha256-[^']+'", "'sha256-HASH'"),
        (r"(127\.0\.0\.1|localhost):\d+", "$1:PORT"),
        // The table on the terminal sets them flush right.
        (r" *\b\d+(\.\d+)? (ms|s|min)\b", " DURATION"),
        (r#"("[a-z_]*(duration|start)_ms": )[0-9.e-]+"#, "${1}0.0"),
        (r#"( time=")[0-9.]+""#, "${1}0.0\""),
    ];
    let rules = rules.map(|(pattern, with)| (Regex::new(pattern).unwrap(), with));
    rules.into_iter().collect()
});

/// The text without them.
pub(super) fn normal(text: &str, project: &Project) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = text.replace(version, "VERSION");
    text = text.replace(&version.replace('.', "&#46;"), "VERSION");
    for (path, name) in [(project.path(""), "/project/"), (root(), "/mcp-eval")] {
        text = text.replace(path.to_str().unwrap(), name);
    }
    for (at, commit) in commits(project).iter().enumerate() {
        let name = format!("COMMIT{}", at + 1);
        text = text.replace(commit, &name).replace(&commit[..7], &name);
    }
    for (pattern, with) in RULES.iter() {
        text = pattern.replace_all(&text, *with).into_owned();
    }
    text
}

/// The commits of the repository of a server, the latest first.
fn commits(project: &Project) -> Vec<String> {
    let Ok(repository) = git2::Repository::open(project.path("server")) else {
        return Vec::new();
    };
    let mut walk = repository.revwalk().unwrap();
    walk.push_head().unwrap();
    walk.map(|it| it.unwrap().to_string()).collect()
}

/// A page without style sheet, script and empty lines, which are the same on all of them.
pub(super) fn page(html: &str) -> String {
    let mut page = html.to_owned();
    for (begin, end) in [("<style>", "</style>"), ("<script>", "</script>")] {
        // The pages of a report share one style sheet.
        let Some(from) = page.find(begin) else {
            continue;
        };
        let to = page.find(end).unwrap() + end.len();
        page.replace_range(from..to, "");
    }
    let mut lines = String::new();
    for line in page.lines().filter(|it| !it.trim().is_empty()) {
        let _ = writeln!(lines, "{line}");
    }
    lines
}
