//! A program of the author's as an evaluator.

use super::compared::quoted;
use crate::scenario_file::Hook;

/// A program of the author's that is given the run and says whether it is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEvaluator {
    pub run: Hook,
}

impl CommandEvaluator {
    /// The program's name, without its folder.
    pub fn program(&self) -> &str {
        let program = self.run.command.first().map_or("", String::as_str);
        program.rsplit('/').next().unwrap_or(program)
    }

    pub(super) fn words(&self) -> String {
        format!("the command {}", quoted(self.program()))
    }
}
