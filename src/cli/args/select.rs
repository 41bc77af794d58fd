//! Which scenarios.

use std::path::PathBuf;

use clap::Args;

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

    /// Whether the user left the choice of scenarios to us.
    pub(in crate::cli) fn are_default(&self) -> bool {
        self.paths.is_empty() && self.scenarios.is_empty()
    }
}

fn parse_variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
