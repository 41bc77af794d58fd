//! The words that users see: none of those that made sentences sound translated comes back.

use std::fs;
use std::path::Path;

use regex::{Captures, Regex};
use walkdir::WalkDir;

use crate::common::root;

const OLD: &str = r"(?i)\b(told|heard|stands|lies|anew|by now|let pass|way back|surroundings|so much as|stood in the way|speaks against|what is to be said|made otherwise)\b";

/// Words that no user reads, or that must stay.
const EXCEPTIONS: [(&str, &str); 7] = [
    // What results of earlier programs say, and how sentences about places are put together.
    ("src/model/response.rs", "stands"),
    ("src/score/verdict/generalise.rs", "stands"),
    // What models are asked: other words would be another question.
    ("src/discovery/questions.rs", "heard stands"),
    ("src/evaluate/judge/ask.rs", "stands"),
    ("src/evaluate/judge/prompt.rs", "told stands"),
    // The name of an element, and tests.
    ("templates/dashboard/live.js", "heard"),
    ("src/agent/command/stream/tests.rs", "told"),
];

/// Modules of tests, the parts of a program, what a text has filled in, and the code of a template.
const PATTERNS: [&str; 4] = [
    r"(?ms)^#\[cfg\(test\)\]\nmod \w+ \{.*?^\}",
    r##"(?s)(?<help>///[^\n]*)|//[^\n]*|'(?:\\.[^'\n]{0,8}|[^\\'\n])'|r#".*?"#|"(?:\\.|[^"\\])*"|(?<code>[^"'/r]+|.)"##,
    r"\{[a-z_]+(:[^{}]*)?\}",
    r#"(?s)\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|(class|id)="[^"]*"|/\*.*?\*/|(?m:^)\s*//[^\n]*"#,
];

/// As many lines as were found.
fn blank(found: &Captures<'_>) -> String {
    "\n".repeat(found[0].matches('\n').count())
}

/// What users see of a file: of a program its texts, and of its options what their help says.
fn seen(path: &str, text: &str, [tests, part, filled, code]: &[Regex; 4]) -> String {
    if Path::new(path).extension().is_none_or(|it| it != "rs") {
        return code.replace_all(text, blank).into_owned();
    }
    let text = tests.replace_all(text, blank);
    let kept = part.replace_all(&text, |it: &Captures<'_>| {
        let is_help = it.name("help").is_some() && path.starts_with("src/cli/args/");
        let is_text = it[0].starts_with(['"', 'r']) && it.name("code").is_none();
        let kept = (is_help || is_text).then(|| it[0].to_owned());
        kept.unwrap_or_else(|| blank(it))
    });
    filled.replace_all(&kept, blank).into_owned()
}

#[test]
fn no_sentence_has_an_old_word() {
    let old = Regex::new(OLD).unwrap();
    let patterns = PATTERNS.map(|it| Regex::new(it).unwrap());
    let mut found = Vec::new();
    let places = ["src", "templates", "README.md"].map(|it| WalkDir::new(root().join(it)));
    for entry in places.into_iter().flatten().map(Result::unwrap) {
        let path = entry.path().strip_prefix(root()).unwrap();
        let path = path.to_str().unwrap().replace('\\', "/");
        let kinds = [".rs", ".html", ".js", ".md"];
        if !kinds.iter().any(|it| path.ends_with(it)) {
            continue;
        }
        let known = EXCEPTIONS.iter().find(|it| it.0 == path);
        let known = known.map_or("", |it| it.1);
        let text = seen(&path, &fs::read_to_string(entry.path()).unwrap(), &patterns);
        for (at, line) in text.lines().enumerate() {
            let words = old.find_iter(line).map(|it| it.as_str());
            let words = words.filter(|it| known.split(' ').all(|known| known != *it));
            found.extend(words.map(|it| format!("{path}:{}: {it}", at + 1)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
