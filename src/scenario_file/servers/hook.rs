//! Commands around each run, which reset what outlives it: the sections `before` and `after`.

use std::path::PathBuf;
use std::time::Duration;

use crate::scenario_file::decode::{
    CommandLine, Given, Named, Plain, Template, Timeout, Word, section, shapes,
};
use crate::scenario_file::yaml::Findings;

shapes! {
    /// A command: the program and its arguments, or a map that says more.
    HookSection, "a list of a program and its arguments, or a map" {
        List => Command(CommandLine),
        Map => Fields(Box<HookFields>),
    }
}

section! {
    /// A command that is run before or after each run. `${NAME}` is an environment variable.
    HookFields => Hook(Eq), with default {
        /// The program and its arguments. A relative path with a `/` belongs to this file's folder.
        command: CommandLine as Vec<String>,
        /// The folder the command works in, relative to this file.
        cwd: Option<Template<Word>> as Option<PathBuf>,
        /// Environment variables for the command.
        env: Option<Named<Given>> as Vec<(String, String)> = Vec::new(),
        /// How long it may take; 60s unless given.
        timeout: Option<Timeout> as Duration = Hook::TIMEOUT,
    }
}

impl Hook {
    /// How long a command may take unless the scenario says otherwise.
    pub const TIMEOUT: Duration = Duration::from_secs(60);
}

impl Plain<Hook> for HookSection {
    fn plain(&self, findings: &Findings) -> Hook {
        match self {
            Self::Command(command) => Hook {
                command: command.plain(findings),
                ..Hook::default()
            },
            Self::Fields(fields) => fields.plain(findings),
        }
    }
}
