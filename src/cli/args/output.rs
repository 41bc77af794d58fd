//! Options for everything that is printed or kept.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Options about what is printed.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(in crate::cli) struct OutputArgs {
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, help_heading = "Output", hide_short_help = true)]
    pub(in crate::cli) color: Color,
    /// Show nothing while it goes on: no bar, no lines, no failures before the result
    #[arg(long, global = true, help_heading = "Output", hide_short_help = true)]
    pub(in crate::cli) no_progress: bool,
    /// Say more: every call as it happens, and every scenario with its scores, changes and notes, passed or not
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "quiet",
        help_heading = "Output"
    )]
    pub(in crate::cli) verbose: bool,
    /// Say less: no progress and no notes, and of the result only what did not pass and the line with the counts
    #[arg(
        short,
        long,
        global = true,
        help_heading = "Output",
        hide_short_help = true
    )]
    pub(in crate::cli) quiet: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// Options about a result that is a list.
#[derive(Debug, Clone, Copy, Args)]
pub(in crate::cli) struct FormatArgs {
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ResultFormat::Terminal)]
    pub(in crate::cli) format: ResultFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ResultFormat {
    /// A table for people
    Terminal,
    /// The result document, version 1
    Json,
}

/// Options about the result of a suite: the one form that is printed, and the forms that are written.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct ReportingArgs {
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = Format::Terminal)]
    pub(in crate::cli) format: Format,
    /// Write the result in this form, too; may be given several times. FORMAT is one of those of --format, or `html`, whose FILE is a folder
    /// [default FILE: beside the report's pages]
    #[arg(long = "report", value_name = "FORMAT[=FILE]", value_parser = parse_report)]
    pub(in crate::cli) reports: Vec<ReportChoice>,
}

/// What stays of earlier runs.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct KeepArgs {
    /// How many of the newest runs stay in .mcp-eval/runs/, and their reports in reports/, or `all`; those that a baseline or something
    /// pending names stay, too
    #[arg(long, value_name = "N", env = "MCP_EVAL_KEEP", default_value = "50", allow_negative_numbers = true, value_parser = parse_keep)]
    pub(in crate::cli) keep: Keep,
}

/// How many runs stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Keep(pub(in crate::cli) usize);

fn parse_keep(text: &str) -> Result<Keep, String> {
    match text.parse() {
        _ if text == "all" => Ok(Keep(usize::MAX)),
        Ok(number @ 1..) => Ok(Keep(number)),
        _ => Err("write a number from 1, or all".to_owned()),
    }
}

/// Where the result of a suite is asked for.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Asked {
    pub(in crate::cli) reporting: ReportingArgs,
    pub(in crate::cli) no_report: bool,
    /// The folder of the pages, where the user names one.
    pub(in crate::cli) output: Option<PathBuf>,
}

impl Asked {
    /// The files that a wrong command line asks for, as far as its words tell.
    pub(in crate::cli) fn of_words(words: &[String]) -> Self {
        let behind = words.iter().zip(words.iter().skip(1));
        let behind = behind.filter(|(option, _)| *option == "--report");
        let joined = words.iter().filter_map(|it| it.strip_prefix("--report="));
        let reports = behind.map(|(_, it)| it.as_str()).chain(joined);
        Self {
            reporting: ReportingArgs {
                format: Format::Terminal,
                reports: reports.filter_map(|it| parse_report(it).ok()).collect(),
            },
            no_report: false,
            output: None,
        }
    }
}

/// The forms that the result of a suite has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Format {
    /// A table for people
    Terminal,
    /// The result document: all there is to know, for scripts
    Json,
    /// Pages, which `--report html=DIR` writes to a folder
    #[value(hide = true)]
    Html,
    /// JUnit XML, which Jenkins, GitLab and others show as the tests of a build
    Junit,
    /// A comment on a pull request: verdict, causes, a table, folded details, and what to do
    Markdown,
    /// Annotations at the lines of scenario files, for GitHub
    Github,
    /// The Common Test Report Format
    Ctrf,
    /// The lines that end-to-end tests look for: `Test PASSED` or `Test FAILED`, and `Verdict: …`; `No verdict` where nothing gates
    E2e,
}

/// A form that is written, and the file it goes to, where the user names one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct ReportChoice {
    pub(in crate::cli) format: Format,
    pub(in crate::cli) file: Option<PathBuf>,
}

impl Format {
    /// The format as the command line spells it.
    pub(in crate::cli) fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Json => "json",
            Self::Html => "html",
            Self::Junit => "junit",
            Self::Markdown => "markdown",
            Self::Github => "github",
            Self::Ctrf => "ctrf",
            Self::E2e => "e2e",
        }
    }
}

impl fmt::Display for ReportChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--report {}", self.format.name())?;
        match &self.file {
            Some(file) => write!(f, "={}", file.display()),
            None => Ok(()),
        }
    }
}

fn parse_report(text: &str) -> Result<ReportChoice, String> {
    let (name, file) = match text.split_once('=') {
        Some((name, file)) => (name, Some(file)),
        None => (text, None),
    };
    let known = Format::value_variants();
    let format = known.iter().copied().find(|it| it.name() == name);
    let format = format.ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|it| it.name()).collect();
        let near = names.iter().map(|it| (strsim::osa_distance(name, it), *it));
        let nearest = near
            .min()
            .filter(|(distance, it)| *distance <= it.len() / 2);
        let hint = nearest.map_or_else(String::new, |(_, it)| format!("; did you mean `{it}`?"));
        format!("`{name}` is none of {}{hint}", names.join(", "))
    })?;
    match file {
        Some("") => Err(format!("name a file behind `=`, or write `{name}` alone")),
        Some("-") => Err(format!(
            "stdout has one form: write `--format {name}` for that"
        )),
        _ => Ok(ReportChoice {
            format,
            file: file.map(PathBuf::from),
        }),
    }
}
