//! Which scenarios.

use std::path::PathBuf;

use clap::Args;

use crate::cli::select::expression::Expression;

/// Which scenarios.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct SelectArgs {
    /// Scenario files, folders (with all below) or globs [default: scenarios/]
    #[arg(value_name = "PATHS")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// A scenario file; may be given several times
    #[arg(long = "scenario", value_name = "FILE")]
    pub(in crate::cli) scenarios: Vec<PathBuf>,
    /// Only scenarios with this tag; with several, any of them
    #[arg(long = "tag", value_name = "TAG")]
    pub(in crate::cli) tags: Vec<String>,
    /// Only scenarios that match: words with `and`, `or`, `not` and parentheses. A word matches a part of a name or path, or a whole tag,
    /// whatever its case; quotes hold several together
    #[arg(short = 'k', value_name = "EXPRESSION", value_parser = Expression::parse)]
    pub(in crate::cli) expression: Option<Expression>,
    /// Only scenarios that have changed, or files that they depend on, since the last commit, or since the last commit in common with REF
    #[arg(long, value_name = "REF", num_args = 0..=1, require_equals = true, value_parser = parse_reference)]
    #[expect(
        clippy::option_option,
        reason = "the option may be given without a value"
    )]
    pub(in crate::cli) changed: Option<Option<String>>,
    /// Only scenarios that did not pass when this command ran them last; all where there are none
    #[arg(long, visible_alias = "lf")]
    pub(in crate::cli) last_failed: bool,
    /// Take the values that the scenarios, or their `_defaults.yaml`, have for variables in this one of their `environments`; `--var` goes before
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) environment: Option<String>,
    /// Set a {{variable}} of the scenarios
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = parse_variable)]
    pub(in crate::cli) variables: Vec<(String, String)>,
}

impl SelectArgs {
    /// All paths the user gave, or the default folder.
    pub(in crate::cli) fn all_paths(&self) -> Vec<PathBuf> {
        if self.are_default() {
            vec![PathBuf::from("scenarios")]
        } else {
            self.paths.iter().chain(&self.scenarios).cloned().collect()
        }
    }

    /// Whether scenarios are picked from those that the paths name.
    pub(in crate::cli) fn picks(&self) -> bool {
        !self.tags.is_empty()
            || self.expression.is_some()
            || self.changed.is_some()
            || self.last_failed
    }

    /// The same, with what has changed or failed and what has not.
    pub(in crate::cli) fn whatever_came_of_them(&self) -> Self {
        Self {
            changed: None,
            last_failed: false,
            ..self.clone()
        }
    }

    /// Whether the user left the choice of scenarios to us.
    pub(in crate::cli) fn are_default(&self) -> bool {
        self.paths.is_empty() && self.scenarios.is_empty()
    }
}

fn parse_reference(text: &str) -> Result<String, String> {
    // A variable of CI that is not set would make it mean something else.
    if text.is_empty() {
        return Err("names no commit: write `--changed=main`, or `--changed` alone for what is not committed".to_owned());
    }
    Ok(text.to_owned())
}

fn parse_variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
