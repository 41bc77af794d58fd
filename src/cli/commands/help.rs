//! Commands that explain the program: `mcp-eval help`, `completions`, `man` and `schema`.

use std::path::Path;
use std::sync::LazyLock;
use std::{fs, io};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use clap_complete::Shell;
use clap_mangen::Man;
use regex::{Captures, Regex};

use crate::cli::args::{Cli, CompletionsArgs, HelpArgs, ManArgs, SchemaArgs, SchemaKind};
use crate::cli::commands::{judge, scan};
use crate::cli::{Console, Exit, Failure};
use crate::discovery::verdicts;
use crate::published::{evaluator, history, result, trajectory};
use crate::{scenario_file, score, store};

/// The topics, in the order of the table in the README.
pub(super) const TOPICS: [(&str, &str); 24] = [
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
    ("protocol", include_str!("../help/protocol.md")),
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

const NAME: &str = "mcp-eval";

/// What the program is called while the script for bash is made. That takes a hyphen in a name for the border between two commands, and what
/// it calls `mcp-eval init` at one place it looks for under another name at the next.
const WITHOUT_HYPHEN: &str = "mcp_eval";

/// For bash: completes the names of scenarios that have results, which are data and never words of the shell.
const NAMES_IN_BASH: &str = r#"
_mcp_eval_with_names() {
    _mcp_eval "$@"
    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" name
    if [[ "${COMP_WORDS[1]}" == history && "$current" != -* && "$before" != -* && $COMP_CWORD -gt 1 ]]; then
        COMPREPLY=()
        while IFS= read -r name; do
            [[ "$name" == "$current"* ]] && COMPREPLY+=("$(printf '%q' "$name")")
        done < <("$1" history --names 2>/dev/null)
    fi
}
complete -F _mcp_eval_with_names -o nosort -o bashdefault -o default mcp-eval 2>/dev/null ||
    complete -F _mcp_eval_with_names -o bashdefault -o default mcp-eval
"#;

/// The same for fish.
const NAMES_IN_FISH: &str = r#"
complete -c mcp-eval -n "__fish_mcp_eval_using_subcommand history" -f -a "(mcp-eval history --names 2>/dev/null)"
"#;

/// The same for zsh: a function, which stands before the script's own.
const NAMES_IN_ZSH: &str = r#"
_mcp_eval_names() {
    local -a names=("${(@f)$(command mcp-eval history --names 2>/dev/null)}")
    compadd -a names
}
"#;

/// What the script for zsh says of the argument that takes such a name, and what it says in the place of that.
const NAME_IN_ZSH: (&str, &str) = ("'::name -- A scenario, by id or name", ":_mcp_eval_names'");

pub(in crate::cli) fn print_completions(args: &CompletionsArgs) {
    let script = match args.shell {
        Shell::Bash => for_our_name(&script(Shell::Bash, WITHOUT_HYPHEN)) + NAMES_IN_BASH,
        Shell::Fish => script(Shell::Fish, NAME) + NAMES_IN_FISH,
        Shell::Zsh => with_names(&script(Shell::Zsh, NAME)),
        shell => script(shell, NAME),
    };
    Console::document(&script);
}

/// The script for zsh with names that are completed. Its first line says what it is for, and stays the first.
fn with_names(script: &str) -> String {
    let (begins, ends) = NAME_IN_ZSH;
    let (first, rest) = script.split_once('\n').unwrap_or((script, ""));
    let lines = rest.lines().map(|line| {
        let named = line.strip_prefix(begins);
        match named.and_then(|it| it.strip_suffix(":_default' \\")) {
            Some(about) => format!("{begins}{about}{ends} \\\n"),
            None => format!("{line}\n"),
        }
    });
    format!("{first}\n{NAMES_IN_ZSH}{}", lines.collect::<String>())
}

fn script(shell: Shell, name: &str) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The script for bash, its function registered for what the program is called: the last word of `complete -F … NAME`.
fn for_our_name(script: &str) -> String {
    let lines = script.lines().map(|line| {
        let registers = line.trim_start().starts_with("complete ");
        match line.strip_suffix(WITHOUT_HYPHEN).filter(|_| registers) {
            Some(start) => format!("{start}{NAME}\n"),
            None => format!("{line}\n"),
        }
    });
    lines.collect()
}

pub(in crate::cli) fn write_pages(args: &ManArgs, console: Console) -> Result<Exit, Failure> {
    let failed = |error: io::Error| Failure::incomplete(format!("no manual page: {error}"));
    let Some(folder) = &args.output else {
        let mut page = Vec::new();
        Man::new(Cli::command()).render(&mut page).map_err(failed)?;
        Console::document(&as_written(&page));
        return Ok(Exit::Passed);
    };
    let made = tempfile::tempdir().map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), made.path()).map_err(failed)?;
    let mut names = Vec::new();
    for page in fs::read_dir(made.path()).map_err(failed)? {
        let page = page.map_err(failed)?;
        let content = as_written(&fs::read(page.path()).map_err(failed)?);
        let path = folder.join(page.file_name());
        store::write_following_links(&path, content.as_bytes())?;
        names.push(path);
    }
    for (topic, text) in TOPICS {
        let path = folder.join(format!("mcp-eval-{topic}.7"));
        store::write_following_links(&path, of_topic(topic, &printed(text)).as_bytes())?;
        names.push(path);
    }
    names.sort();
    console.result(&listed(&names));
    Ok(Exit::Passed)
}

/// A page that is shown without hyphens in the middle of words and without wide gaps, and whose examples stay on their lines: what stands
/// there is typed.
fn as_written(page: &[u8]) -> String {
    let mut written = String::new();
    let mut is_extra = false;
    for line in String::from_utf8_lossy(page).lines() {
        if line.starts_with(".SH") && is_extra {
            written.push_str(".fi\n");
            is_extra = false;
        }
        written.push_str(line);
        written.push('\n');
        if line.starts_with(".TH") {
            // No hyphenation, and the right edge as it comes.
            written.push_str(".nh\n.ad l\n");
        } else if line == ".SH EXTRA" {
            written.push_str(".nf\n");
            is_extra = true;
        }
    }
    if is_extra {
        written.push_str(".fi\n");
    }
    written
}

/// A topic of the manual, its lines as they are written.
fn of_topic(topic: &str, text: &str) -> String {
    let lines = text.replace('\\', "\\e").replace('-', "\\-");
    let lines = lines.lines().map(|line| match line.as_bytes().first() {
        Some(b'.' | b'\'') => format!("\\&{line}\n"),
        _ => format!("{line}\n"),
    });
    let lines: String = lines.collect();
    format!(".TH mcp-eval-{topic} 7\n.nh\n.nf\n{lines}.fi\n")
}

fn listed(paths: &[impl AsRef<Path>]) -> String {
    let lines = paths.iter();
    let lines = lines.map(|it| format!("{}\n", it.as_ref().display()));
    lines.collect()
}

pub(in crate::cli) fn print_schema(args: &SchemaArgs) {
    let schema = match args.kind {
        SchemaKind::Scenario => scenario_file::json_schema(),
        SchemaKind::Suite => scenario_file::suites::suite_json_schema(),
        SchemaKind::Mock => scenario_file::mock_json_schema(),
        SchemaKind::Trajectory => trajectory::json_schema(),
        SchemaKind::Result => result::json_schema(),
        SchemaKind::EvaluatorInput => evaluator::input_schema(),
        SchemaKind::EvaluatorVerdict => evaluator::verdict_schema(),
        SchemaKind::Judge => judge::json_schema(),
        SchemaKind::Verdicts => verdicts::json_schema(),
        SchemaKind::History => history::json_schema(),
        SchemaKind::Scan => scan::json_schema(),
    };
    Console::document(&format!("{schema:#}"));
}
