//! The head of the text: the verdict, the command, and links to more.

use std::fmt::Write as _;

use crate::{advice, attention, counts, duration};
use model::published::result::{Gate, ResultDocument};
use model::text::plural;

use super::escape::{
    DETAIL_CHARS, LINKS, NAME_CHARS, NAMES, PATH_CHARS, PROBLEM_LINES, Place, SENTENCE_CHARS,
    URL_CHARS, clipped, code, fence, theirs,
};

/// The verdict, and what was run.
pub(super) fn head(result: &ResultDocument) -> String {
    let gate = result.gate.as_ref();
    let sign = match gate.map(|it| it.exit_code) {
        Some(0) if result.is_undecided() => "-",
        Some(0) if result.summary.changed > 0 => "~",
        Some(0) => "✓",
        _ => "✗",
    };
    let name = match result.command.as_str() {
        "record" | "compare" | "run" | "bisect" => attention::command(result),
        _ => theirs(&attention::command(result), NAME_CHARS, Place::Text),
    };
    let mut text = format!("## {sign} {name}: {}\n\n", verdict(gate));
    if let Some(problem) = &result.problem {
        let lines = std::iter::once(&problem.message).chain(&problem.hint);
        let lines: Vec<&str> = lines.flat_map(|it| it.lines()).collect();
        let more = lines.len().saturating_sub(PROBLEM_LINES);
        let mut lines: Vec<String> = (lines.iter().take(PROBLEM_LINES))
            .map(|it| clipped(it))
            .collect();
        if more > 0 {
            lines.push(format!("and {more} more lines"));
        }
        text.push_str(&fence("text", &lines));
        text.push_str(&links(result));
        return text;
    }
    let mut facts = vec![counts_words(result)];
    facts.extend(result.duration_ms.map(duration::words));
    facts.extend(result.datasets.iter().take(NAMES).map(|it| {
        let of = code(&it.scenario, Place::Text);
        format!("{of}: {}", it.words(counts::verb(&result.command)))
    }));
    if let Some(known) = result.git.commit() {
        let mut commit = format!("commit {}", code(&known.short, Place::Text));
        if let Some(branch) = &known.branch {
            let _ = write!(commit, " on {}", code(branch, Place::Text));
        }
        if known.dirty == Some(true) {
            commit.push_str(", with uncommitted changes");
        }
        facts.push(commit);
    }
    if let Some(gate) = gate.filter(|it| it.exit_code != 0) {
        facts.push(format!("exit code {}", gate.exit_code));
    }
    let _ = writeln!(text, "{}\n", facts.join(" · "));
    if result.interrupted {
        let _ = writeln!(text, "{}\n", result.interrupted_words());
    }
    if let Some(advice) = advice::sentence(result, None) {
        let _ = writeln!(text, "**{advice}**\n");
    }
    text.push_str(&links(result));
    if let Some(bisected) = &result.bisected {
        for commit in bisected.first_bad.iter().take(NAMES) {
            let subject = theirs(&commit.subject, SENTENCE_CHARS, Place::Text);
            let _ = writeln!(
                text,
                "- first bad: {} {subject}",
                code(&commit.short, Place::Text)
            );
        }
        let reason = theirs(&bisected.reason, DETAIL_CHARS, Place::Text);
        let _ = writeln!(text, "\n{reason}\n");
    }
    text
}

/// The exit code of the command, in words. All of these sentences are ours, but the one that names what nothing has changed since.
fn verdict(gate: Option<&Gate>) -> String {
    match gate {
        None => "no verdict".to_owned(),
        Some(gate) if gate.name == "unchanged" => {
            theirs(&gate.sentence, SENTENCE_CHARS, Place::Text)
        }
        Some(gate) => gate.sentence.clone(),
    }
}

/// The pages elsewhere that belong to the run, in a line; what is no plain address is shown as it is.
fn links(result: &ResultDocument) -> String {
    let links = result.links.iter().take(LINKS).map(|it| {
        let name = theirs(&it.name, NAME_CHARS, Place::Text);
        if it.is_plain_https() && it.url.len() <= URL_CHARS {
            format!("[{name}](<{}>)", it.url)
        } else {
            format!("{name} {}", theirs(&it.url, PATH_CHARS, Place::Text))
        }
    });
    let links: Vec<String> = links.collect();
    if links.is_empty() {
        return String::new();
    }
    let more = match result.links.len() - links.len() {
        0 => String::new(),
        more => format!(" · and {more} more"),
    };
    format!("{}{more}\n\n", links.join(" · "))
}

/// `**7 of 9 scenarios passed** (1 with changes), 1 failed, 1 error`.
fn counts_words(result: &ResultDocument) -> String {
    let summary = result.summary;
    format!(
        "**{} of {} {}**{}{}",
        summary.succeeded(),
        plural(summary.selected, "scenario"),
        counts::verb(&result.command),
        counts::remarks(result),
        counts::others(summary)
    )
}
