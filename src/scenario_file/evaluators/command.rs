//! `type: command`.

use crate::model::evaluator::CommandEvaluator;
use crate::model::hook::Hook;
use crate::scenario_file::decode::template::{
    Given, Template, command_line, given_pairs, marked_names,
};
use crate::scenario_file::decode::values::{Timeout, Word};
use crate::scenario_file::decode::{At, Named, section};
use crate::scenario_file::yaml::source::{Findings, Mark};

section! {
    /// A program that judges a run. It gets the run as JSON on its stdin, and writes `{"passed", "score", "message", "details"}` to its stdout; `mcp-eval schema` has the schemas of both. `${NAME}` is an environment variable.
    CommandKeys {
        /// The program and its arguments. A relative path with a `/` belongs to this file's folder.
        command: At<Vec<Template>>,
        /// The folder the program works in, relative to this file.
        cwd: Option<Template<Word>>,
        /// Environment variables for the program.
        env: Option<Named<Given>>,
        /// How long it may take; 60s unless given.
        timeout: Option<Timeout>,
    }
}

impl CommandKeys {
    /// The names of values that are marked as secret.
    pub(super) fn marked(&self) -> impl Iterator<Item = String> {
        marked_names(self.env.as_ref())
    }

    pub(super) fn command(&self, at: Mark, findings: &mut Findings) -> Option<CommandEvaluator> {
        let cwd = self.cwd.as_ref();
        Some(CommandEvaluator {
            run: Hook {
                command: command_line(&self.command, findings)?,
                cwd: cwd.map(|it| findings.folder(at).join(&it.0)),
                env: given_pairs(self.env.as_ref()),
                timeout: self.timeout.map_or(Hook::TIMEOUT, |it| it.0),
            },
        })
    }
}
