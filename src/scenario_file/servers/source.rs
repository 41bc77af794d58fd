//! The section `source`: where the system under test comes from, and the commands that make of it what is started.

use std::path::PathBuf;
use std::time::Duration;

use super::server::command_from;
use crate::scenario_file::decode::{
    At, CommandLine, Given, NO_HINT, Named, Place, Plain, Template, Templates, Timeout, Word,
    section,
};
use crate::scenario_file::yaml::{Findings, Mark, quoted};

section! {
    /// The system under test.
    SourceSection => Source(Default, Eq), checked by check {
        /// The folder of its source, most often a git repository, relative to this file. `${source.dir}` is this folder in servers, in `docker.build` and in `prepare`.
        repo: Option<Template<Word>> as Option<PathBuf>,
        /// Commands that make what is started, each a program with its arguments; run in order, and again when `inputs` have changed.
        prepare: Option<Vec<At<Vec<Template>>>>,
        /// The folder these commands run in, relative to this file; that of `repo` unless given.
        cwd: Option<Template<Word>>,
        /// Environment variables for these commands, besides all of ours.
        env: Option<Named<Given>>,
        /// How long each of these commands may take; 10m unless given.
        timeout: Option<Timeout>,
        /// Files, folders and patterns of what the commands depend on, relative to this file; the state of the repository unless given.
        inputs: Option<Vec<Template<Word>>>,
    } and {
        /// The version of it that is wanted; `None` for the folder as it stands.
        version: Option<Version> = None,
        /// What is done before its servers are started.
        prepare: Option<Prepare>,
    }
}

impl Plain<Option<Prepare>> for SourceSection {
    fn plain(&self, findings: &Findings) -> Option<Prepare> {
        let prepare = Prepare {
            commands: commands(self.prepare.as_deref(), findings),
            cwd: self.cwd.plain(findings),
            env: self.env.plain(findings).unwrap_or_default(),
            timeout: self.timeout.plain(findings).unwrap_or(PREPARE_TIMEOUT),
            inputs: self.inputs.plain(findings).unwrap_or_default(),
        };
        prepare.unless_idle(self.prepare.is_some())
    }

    fn places(value: &mut Option<Prepare>, visit: &mut dyn FnMut(Place<'_>)) {
        value.templates(visit);
    }
}

/// Commands that prepare something, as they are run.
pub(super) fn commands(
    listed: Option<&[At<Vec<Template>>]>,
    findings: &Findings,
) -> Vec<Vec<String>> {
    let listed = listed.into_iter().flatten();
    let commands = listed.map(|command| {
        let mut words: Vec<String> = command.plain(findings);
        if let (Some(named), Some(program)) = (command.first(), words.first_mut()) {
            *program = command_from(program, &findings.folder(named.at));
        }
        words
    });
    commands.collect()
}

/// Warns those who check files of a folder that is not there, as far as its path is known here. What is served says nothing of folders.
pub(super) fn check_folder(folder: &Template<Word>, findings: &mut Findings) {
    let path = findings.folder(folder.at).join(&folder.0);
    let is_known = findings.thorough && findings.within.is_none() && !folder.0.contains("${");
    if is_known && !path.is_dir() {
        let message = format!("there is no folder {}", quoted(&path.to_string_lossy()));
        findings.warning(folder.at, message, Some("a run needs it"));
    }
}

fn check(source: &SourceSection, at: Mark, findings: &mut Findings) {
    if let Some(repo) = &source.repo {
        check_folder(repo, findings);
    }
    let is_given = [
        ("cwd", source.cwd.is_some()),
        ("env", source.env.is_some()),
        ("timeout", source.timeout.is_some()),
        ("inputs", source.inputs.is_some()),
    ];
    check_prepare(source.prepare.as_deref(), &is_given, at, findings);
}

/// Says what is wrong with commands, and which keys mean nothing without them.
pub(super) fn check_prepare(
    commands: Option<&[At<Vec<Template>>]>,
    is_given: &[(&str, bool)],
    at: Mark,
    findings: &mut Findings,
) {
    for command in commands.iter().copied().flatten() {
        if command.first().is_none_or(|it| it.value.is_empty()) {
            findings.error(command.at, "names no program", NO_HINT);
        }
    }
    let idle = is_given
        .iter()
        .find(|(_, given)| *given && commands.is_none());
    if let Some((key, _)) = idle {
        let message = format!("`{key}` means nothing without `prepare`");
        let hint = "list the commands: `prepare: [[cargo, build]]`";
        findings.error(at, message, Some(hint));
    }
}

/// How long each command may take that prepares something, unless the scenario says otherwise.
pub const PREPARE_TIMEOUT: Duration = Duration::from_secs(600);

/// A commit of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version {
    /// As the user named it.
    pub name: String,
    /// Its identity, in hexadecimal.
    pub commit: String,
}

/// Commands that make what is started later: a binary, a folder of packages. They run again when what they depend on has changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Prepare {
    /// Each a program with its arguments, run in order; `${…}` not yet filled in.
    pub commands: Vec<Vec<String>>,
    /// The folder they run in; that of the source, or of the image's build, unless given.
    pub cwd: Option<PathBuf>,
    /// Set besides the variables of our own environment, which they inherit.
    pub env: Vec<(String, String)>,
    /// How long each may take.
    pub timeout: Duration,
    /// Files, folders and patterns of them that they depend on; empty for the state of the source's repository.
    pub inputs: Vec<PathBuf>,
}

impl Prepare {
    /// The same; `None` where neither commands are listed nor files that something depends on.
    pub(super) fn unless_idle(self, has_commands: bool) -> Option<Self> {
        let is_needed = has_commands || !self.inputs.is_empty();
        is_needed.then_some(self)
    }
}

impl Templates for Prepare {
    fn templates(&mut self, visit: &mut dyn FnMut(Place<'_>)) {
        for command in &mut self.commands {
            CommandLine::places(command, visit);
        }
        self.cwd.templates(visit);
        self.env.templates(visit);
        self.inputs.templates(visit);
    }
}
