//! `mcp-eval help`: the options of a command, or the reference of a topic.

use std::sync::LazyLock;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use regex::{Captures, Regex};

use crate::cli::args::{Cli, HelpArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::score;

/// The topics, in the order of the table in the README.
pub(super) const TOPICS: [(&str, &str); 23] = [
    ("start", include_str!("../help/start.md")),
    ("scenario", include_str!("../help/scenario.md")),
    ("baselines", include_str!("../help/baselines.md")),
    ("comparison", include_str!("../help/comparison.md")),
    ("changes", include_str!("../help/changes.md")),
    ("versions", include_str!("../help/versions.md")),
    ("agents", include_str!("../help/agents.md")),
    ("scoring", include_str!("../help/scoring.md")),
    ("repeat", include_str!("../help/repeat.md")),
    ("evaluators", include_str!("../help/evaluators.md")),
    ("judge", include_str!("../help/judge.md")),
    ("datasets", include_str!("../help/datasets.md")),
    ("mock", include_str!("../help/mock.md")),
    ("containers", include_str!("../help/containers.md")),
    ("upstreams", include_str!("../help/upstreams.md")),
    ("ci", include_str!("../help/ci.md")),
    ("suites", include_str!("../help/suites.md")),
    ("pull-requests", include_str!("../help/pull-requests.md")),
    ("results", include_str!("../help/results.md")),
    ("secrets", include_str!("../help/secrets.md")),
    ("measure", include_str!("../help/measure.md")),
    ("serve", include_str!("../help/serve.md")),
    ("migrate", include_str!("../help/migrate.md")),
];

pub(in crate::cli) fn run(args: &HelpArgs, console: Console) -> Result<Exit, Failure> {
    let about = args.about.as_deref();
    // `mock` is a command, too: its topic has more, and names `mcp-eval mock --help`.
    let topic = TOPICS.iter().find(|(name, _)| Some(*name) == about);
    if let Some((_, text)) = topic {
        Console::document(&printed(text));
        return Ok(Exit::Passed);
    }
    let words = ["mcp-eval"].into_iter().chain(about).chain(["--help"]);
    match Cli::try_parse_from(words) {
        Err(help) if help.kind() == ErrorKind::DisplayHelp => {
            console.result(&help.render().ansi().to_string());
            Ok(Exit::Passed)
        }
        _ => Err(unknown(about.unwrap_or_default())),
    }
}

/// A topic as it is read without following links: where one leads is named.
pub(super) fn printed(text: &str) -> String {
    static LINK: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\[([^\]]+)\]\(([^)]+)\)").expect("a pattern of ours"));
    let written = LINK.replace_all(text, |link: &Captures<'_>| {
        let (words, to) = (&link[1], &link[2]);
        let topic = to.split('#').next().unwrap_or_default().strip_suffix(".md");
        match topic.filter(|topic| TOPICS.iter().any(|(name, _)| name == topic)) {
            Some(topic) => format!("{words} (`mcp-eval help {topic}`)"),
            None if to.starts_with("https:") => format!("{words} ({to})"),
            None => words.to_owned(),
        }
    });
    // What only those who write the manual need is left out, and its line stays.
    let lines = written.split('\n');
    let lines = lines.map(|it| if it.starts_with("<!--") { "" } else { it });
    lines.collect::<Vec<_>>().join("\n")
}

/// Neither a command nor a topic.
fn unknown(about: &str) -> Failure {
    let cli = Cli::command();
    let topics = TOPICS.map(|(name, _)| name);
    let commands = cli.get_subcommands().map(clap::Command::get_name);
    let near = score::nearest_name(about, commands.chain(topics));
    let failure = Failure::usage(format!("there is no command or topic `{about}`"));
    let failure = near.into_iter().fold(failure, |failure, near| {
        failure.hint(format!("did you mean `mcp-eval help {near}`?"))
    });
    failure
        .hint(format!("topics: {}", topics.join(", ")))
        .hint("`mcp-eval --help` lists the commands")
}
