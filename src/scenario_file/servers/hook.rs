//! The sections `before` and `after`.

use crate::model::hook::Hook;
use crate::scenario_file::decode::template::{
    Given, Template, command_line, given_pairs, marked_names,
};
use crate::scenario_file::decode::values::{Timeout, Word};
use crate::scenario_file::decode::{At, Named, section, shapes};
use crate::scenario_file::yaml::source::Findings;

shapes! {
    /// A command: the program and its arguments, or a map that says more.
    HookSection, "a list of a program and its arguments, or a map" {
        List => Command(At<Vec<Template>>),
        Map => Fields(Box<HookFields>),
    }
}

section! {
    /// A command that is run before or after each run. `${NAME}` is an environment variable.
    HookFields {
        /// The program and its arguments. A relative path with a `/` belongs to this file's folder.
        command: At<Vec<Template>>,
        /// The folder the command works in, relative to this file.
        cwd: Option<Template<Word>>,
        /// Environment variables for the command.
        env: Option<Named<Given>>,
        /// How long it may take; 60s unless given.
        timeout: Option<Timeout>,
    }
}

impl HookSection {
    /// The names of values that are marked as secret.
    pub(in crate::scenario_file) fn marked(&self) -> impl Iterator<Item = String> {
        let env = match self {
            Self::Command(_) => None,
            Self::Fields(it) => it.env.as_ref(),
        };
        marked_names(env)
    }

    /// The command; `None`, after saying so, where it names no program.
    pub(in crate::scenario_file) fn hook(&self, findings: &mut Findings) -> Option<Hook> {
        match self {
            Self::Command(command) => Some(Hook {
                command: command_line(command, findings)?,
                cwd: None,
                env: Vec::new(),
                timeout: Hook::TIMEOUT,
            }),
            Self::Fields(it) => {
                let cwd = it.cwd.as_ref();
                Some(Hook {
                    command: command_line(&it.command, findings)?,
                    cwd: cwd.map(|it| findings.folder(it.at).join(&it.0)),
                    env: given_pairs(it.env.as_ref()),
                    timeout: it.timeout.map_or(Hook::TIMEOUT, |it| it.0),
                })
            }
        }
    }
}
