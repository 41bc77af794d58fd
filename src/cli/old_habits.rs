//! Commands and options of the original tool, `smart-mcp-proxy/mcp-eval`: answered with what to type here.

use std::path::Path;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::cli::args::Cli;
use crate::cli::exit::Failure;
use crate::cli::paths::SCENARIOS;
use crate::cli::select::expression::Expression;
use crate::report::command::quoted;

/// What its commands are called here.
const COMMANDS: [(&str, &str, &str); 4] = [
    ("test", "compare", "`test` is `compare` here"),
    (
        "batch",
        "compare",
        "`batch` is `compare` here, which takes whole folders",
    ),
    (
        "record-multi-turn",
        "record",
        "`record-multi-turn` is `record` here, of a scenario that lists `turns`",
    ),
    (
        "compare-multi-turn",
        "compare",
        "`compare-multi-turn` is `compare` here, of a scenario that lists `turns`",
    ),
];

/// What its options are here.
const OPTIONS: [(&str, Here, &str); 6] = [
    (
        "-s",
        Here::Option("scenario", "FILE"),
        "`-s` is `--scenario` here",
    ),
    ("-t", Here::Option("tag", "TAG"), "`-t` is `--tag` here"),
    ("--scenarios-dir", Here::Path, PATHS),
    ("--scenarios", Here::Path, PATHS),
    ("--parallel", Here::Nothing, PARALLEL),
    ("-p", Here::Nothing, PARALLEL),
];
const PATHS: &str = "folders of scenarios are named without an option here";
const PARALLEL: &str =
    "scenarios run in parallel without an option where they can; `--jobs N` limits them";

/// What an option of the original tool is here.
#[derive(Clone, Copy)]
enum Here {
    /// An option of this name, with what stands for its value.
    Option(&'static str, &'static str),
    /// One of the paths that a command takes.
    Path,
    /// What is done anyway.
    Nothing,
}

impl Here {
    /// Whether a command has that.
    fn is_known(self, command: &clap::Command) -> bool {
        match self {
            Self::Option(long, _) => {
                (command.get_arguments()).any(|it| it.get_long() == Some(long))
            }
            Self::Path => command
                .get_positionals()
                .any(|it| it.get_id().as_str() == "paths"),
            Self::Nothing => (command.get_arguments()).any(|it| it.get_long() == Some("jobs")),
        }
    }
}

/// The answer to arguments (without the program's name) that cannot be read; `None` where they are not those of the original tool.
pub(super) fn answer(arguments: &[String]) -> Option<Failure> {
    let ours = Cli::command();
    let mut words = vec!["mcp-eval".to_owned()];
    let mut differences: Vec<&str> = Vec::new();
    let mut command: Option<&clap::Command> = None;
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        if command.is_none() && !argument.starts_with('-') {
            let known = COMMANDS.iter().find(|(old, ..)| old == argument);
            differences.extend(known.map(|(.., said)| said));
            let name = known.map_or(argument.as_str(), |(_, new, _)| *new);
            // With a command that nobody knows, nobody knows its options.
            command = Some(ours.find_subcommand(name)?);
            words.push(name.to_owned());
            continue;
        }
        let known = command.and_then(|command| old_option(argument, command));
        let Some((here, said, value)) = known else {
            words.push(argument.clone());
            continue;
        };
        if !differences.contains(&said) {
            differences.push(said);
        }
        let name = Some(value).filter(|it| !it.is_empty());
        let name = name.or_else(|| rest.peek().map(|it| it.as_str()));
        if let Here::Option("scenario", _) = here
            && let Some([option, named]) = name.and_then(by_name)
        {
            words.extend([option, named]);
            if value.is_empty() {
                rest.next();
            }
            continue;
        }
        if let Here::Option(long, stand_in) = here {
            words.push(format!("--{long}"));
            if value.is_empty() && rest.peek().is_none() {
                words.push(stand_in.to_owned());
            }
        }
        if !value.is_empty() {
            words.push(value.to_owned());
        }
    }
    if differences.is_empty() {
        return None;
    }
    let failure = Failure::usage(differences.join("; "));
    Some(failure.hint(if is_accepted(&words) {
        let words: Vec<String> = words.iter().map(|it| quoted(it)).collect();
        format!("type: {}", words.join(" "))
    } else {
        let name = command.map_or("", clap::Command::get_name);
        format!("`mcp-eval {name} --help` lists what else `{name}` takes")
    }))
}

/// What picks a scenario that is called by its name, where `--scenario` wants its file: that file, where it is in its usual place, else what
/// looks for the name. `None` for what is a file already.
fn by_name(name: &str) -> Option<[String; 2]> {
    let path = Path::new(name);
    let is_yaml = path
        .extension()
        .is_some_and(|it| it == "yaml" || it == "yml");
    let is_file = is_yaml || path.exists();
    if is_file || name.starts_with('-') {
        return None;
    }
    let usual = ["yaml", "yml"].map(|it| format!("{SCENARIOS}/{name}.{it}"));
    if let Some(file) = usual.into_iter().find(|it| Path::new(it).is_file()) {
        return Some(["--scenario".to_owned(), file]);
    }
    // Several words stand in quotes there.
    let is_one = Expression::parse(name).is_ok();
    let word = if is_one {
        name.to_owned()
    } else {
        format!("\"{name}\"")
    };
    Some(["-k".to_owned(), word])
}

/// What an argument is here, if the original tool has it and the command something for it; with the value that is joined to it.
fn old_option<'a>(
    argument: &'a str,
    command: &clap::Command,
) -> Option<(Here, &'static str, &'a str)> {
    OPTIONS.iter().find_map(|(old, here, said)| {
        let value = argument.strip_prefix(old)?;
        let takes_value = !matches!(here, Here::Nothing);
        // `--scenarios-directory` is nobody's option, and `-sX` is `-s X`.
        let is_joined = takes_value && (!old.starts_with("--") || value.starts_with('='));
        let is_it = value.is_empty() || is_joined;
        let value = value.strip_prefix('=').unwrap_or(value);
        (is_it && here.is_known(command)).then_some((*here, *said, value))
    })
}

/// Whether the command line takes this, so that nothing else is wrong with it.
fn is_accepted(words: &[String]) -> bool {
    Cli::try_parse_from(words).err().is_none_or(|it| {
        matches!(
            it.kind(),
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{answer, is_accepted};

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn arguments_of_the_original_tool_are_answered_with_what_ours_accepts() {
        for (written, ours) in [
            (
                "test -s scenarios/a.yaml",
                "compare --scenario scenarios/a.yaml",
            ),
            (
                "test -s a.yaml -t x -t y -v -x --mcp-config m.json",
                "compare --scenario a.yaml --tag x --tag y -v -x --mcp-config m.json",
            ),
            (
                "batch --scenarios-dir scenarios -t search",
                "compare scenarios --tag search",
            ),
            ("batch --scenarios-dir=other", "compare other"),
            (
                "batch --scenarios scenarios/ --output reports/b",
                "compare scenarios/ --output reports/b",
            ),
            (
                "batch --scenarios=scenarios --output b --parallel",
                "compare scenarios --output b",
            ),
            (
                "batch -p --scenarios s --mcp-config m.json --output b",
                "compare s --mcp-config m.json --output b",
            ),
            ("batch --help", "compare --help"),
            (
                "record -sa.yaml --output b",
                "record --scenario a.yaml --output b",
            ),
            ("record -s nobody", "record -k nobody"),
            ("record -snobody -t x", "record -k nobody --tag x"),
            ("compare -s", "compare --scenario FILE"),
            ("test -t", "compare --tag TAG"),
            ("validate -s a.yaml", "validate --scenario a.yaml"),
            ("list -t x", "list --tag x"),
            (
                "record-multi-turn --scenario a.yaml --output b",
                "record --scenario a.yaml --output b",
            ),
            (
                "compare-multi-turn --scenario a.yaml --baseline b --output c",
                "compare --scenario a.yaml --baseline b --output c",
            ),
        ] {
            let failure = answer(&words(written)).unwrap();
            assert_eq!(
                failure.hints,
                [format!("type: mcp-eval {ours}")],
                "{written}"
            );
            assert!(is_accepted(&words(&format!("mcp-eval {ours}"))), "{ours}");
        }
        let named = ["test".to_owned(), "-s".to_owned(), "no body".to_owned()];
        let failure = answer(&named).unwrap();
        assert_eq!(failure.hints, [r#"type: mcp-eval compare -k '"no body"'"#]);
        let spaced = ["test".to_owned(), "my file.yaml".to_owned()];
        let failure = answer(&spaced).unwrap();
        assert_eq!(failure.hints, ["type: mcp-eval compare 'my file.yaml'"]);
    }

    #[test]
    fn nothing_is_offered_that_the_command_does_not_know() {
        for other in [
            "compare --nonsense",
            "--scenarios-directory x",
            "tset",
            "",
            "import -s x",
            "mock -s x",
            "scan -s x",
            "report -t x",
            "schema --scenarios x",
            "list -p",
            "tset -s x",
        ] {
            assert!(answer(&words(other)).is_none(), "{other}");
        }
        let failure = answer(&words("batch --scenarios s --no-such-option")).unwrap();
        assert!(failure.hints[0].contains("mcp-eval compare --help"));
    }
}
