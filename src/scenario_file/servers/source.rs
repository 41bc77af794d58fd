//! The section `source`: where the system under test comes from, and the commands that make of it what is started.

use std::path::PathBuf;
use std::time::Duration;

use super::server::command_from;
use crate::scenario_file::decode::template::{Given, Template};
use crate::scenario_file::decode::values::{Timeout, Word};
use crate::scenario_file::decode::{At, NO_HINT, Named, Plain, section};
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::source::{Findings, Mark};

section! {
    /// The system under test.
    SourceSection, checked by check {
        /// The folder of its source, most often a git repository, relative to this file. `${source.dir}` is this folder in servers, in `docker.build` and in `prepare`.
        repo: Option<Template<Word>>,
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
    }
}

/// The keys that say how something is prepared, whatever they stand beside.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrepareKeys<'a> {
    pub(super) commands: Option<&'a [At<Vec<Template>>]>,
    pub(super) cwd: Option<&'a Template<Word>>,
    pub(super) env: Option<&'a Named<Given>>,
    pub(super) timeout: Option<Timeout>,
    pub(super) inputs: Option<&'a [Template<Word>]>,
}

impl SourceSection {
    pub(in crate::scenario_file) fn source(&self, findings: &Findings) -> Source {
        let keys = PrepareKeys {
            commands: self.prepare.as_deref(),
            cwd: self.cwd.as_ref(),
            env: self.env.as_ref(),
            timeout: self.timeout,
            inputs: self.inputs.as_deref(),
        };
        Source {
            repo: self.repo.plain(findings),
            version: None,
            prepare: keys.prepare(findings),
        }
    }
}

impl PrepareKeys<'_> {
    /// What is done before something is started; `None` where nothing is.
    pub(super) fn prepare(&self, findings: &Findings) -> Option<Prepare> {
        let inputs: Vec<PathBuf> = (self.inputs.iter().copied().flatten())
            .map(|it| it.plain(findings))
            .collect();
        if self.commands.is_none() && inputs.is_empty() {
            return None;
        }
        let commands = self.commands.iter().copied().flatten().map(|command| {
            let mut words = command.iter();
            let program = words.next();
            let program = program.map(|it| command_from(&it.value, &findings.folder(it.at)));
            let rest = words.map(|it| it.value.clone());
            program.into_iter().chain(rest).collect()
        });
        Some(Prepare {
            commands: commands.collect(),
            cwd: self.cwd.map(|it| it.plain(findings)),
            env: self.env.map_or_else(Vec::new, |it| it.plain(findings)),
            timeout: self.timeout.map_or(PREPARE_TIMEOUT, |it| it.0),
            inputs,
        })
    }
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

/// The source of the system under test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// The folder that `${source.dir}` stands for, in a git repository or not.
    pub repo: Option<PathBuf>,
    /// The version of it that is wanted; `None` for the folder as it stands.
    pub version: Option<Version>,
    /// What is done before its servers are started.
    pub prepare: Option<Prepare>,
}

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
