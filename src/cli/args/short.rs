//! The options of the large commands that `-h` shows, and the headings under which `--help` shows all of them.

use clap::Arg;

const RECORD: [&str; 9] = [
    "tags",
    "expression",
    "mcp_config",
    "output",
    "takes",
    "jobs",
    "allow_failing",
    "listen",
    "name",
];

const COMPARE: [&str; 9] = [
    "tags",
    "expression",
    "last_failed",
    "jobs",
    "threshold",
    "strict",
    "against",
    "watch",
    "reports",
];

const RUN: [&str; 9] = [
    "tags",
    "expression",
    "last_failed",
    "agent",
    "model",
    "jobs",
    "repeat",
    "watch",
    "reports",
];

/// The headings in their order, each with the options below it. Those of a session of one's own have theirs where they are declared.
const HEADINGS: [(&str, &[&str]); 8] = [
    (
        "Scenarios",
        &[
            "scenarios",
            "tags",
            "expression",
            "changed",
            "last_failed",
            "environment",
            "variables",
            "suite",
            "shuffle",
            "shard",
        ],
    ),
    (
        "Runs",
        &[
            "mcp_config",
            "protocol",
            "jobs",
            "repeat",
            "takes",
            "fail_fast",
            "no_docker",
            "dry_run",
            "allow_failing",
            "force",
        ],
    ),
    (
        "Agents and models",
        &[
            "agent",
            "agent_command",
            "agent_format",
            "model",
            "matrix",
            "budget",
            "judge",
            "judge_budget",
            "no_cache",
        ],
    ),
    (
        "Comparison",
        &["baseline", "against", "direct", "run", "servers", "pending"],
    ),
    (
        "Scoring",
        &[
            "threshold",
            "pass_threshold",
            "strict",
            "preset",
            "strict_statistics",
            "allow_changed",
        ],
    ),
    ("Watching", &["watch", "watch_paths"]),
    (
        "Results",
        &["format", "reports", "output", "keep", "no_report"],
    ),
    ("Results database", &["db", "no_db", "no_identity"]),
];

pub(super) fn record(option: Arg) -> Arg {
    sorted(option, &RECORD)
}

pub(super) fn compare(option: Arg) -> Arg {
    sorted(option, &COMPARE)
}

pub(super) fn run(option: Arg) -> Arg {
    sorted(option, &RUN)
}

/// An option under its heading, and in short help if it is one of those that most people use.
fn sorted(option: Arg, often: &[&str]) -> Arg {
    if option.is_positional() {
        return option;
    }
    let id = option.get_id().as_str();
    let is_often = often.contains(&id);
    let heading = HEADINGS.iter().find(|(_, below)| below.contains(&id));
    let option = match heading {
        Some((heading, _)) => option.help_heading(*heading),
        None => option,
    };
    option.hide_short_help(!is_often)
}
