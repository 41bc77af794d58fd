//! The files and programs that a scenario depends on, so that it is known whether a change concerns it.

use std::path::{Path, PathBuf};

use super::source;
use crate::scenario_file::Scenario;
use crate::scenario_file::evaluators::{Evaluator, EvaluatorKind, FilePlace, FileRoot};
use crate::scenario_file::servers::{Hook, Image, MountSource, Prepare, Transport};

/// What a scenario depends on; all paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Depends {
    /// The files that it was read from, or would be if they were there.
    pub read: Vec<PathBuf>,
    /// Files that its servers, its agent, its hooks and its evaluators are started with, what is mounted into its containers, and files that
    /// must be the same after its runs.
    pub used: Vec<PathBuf>,
    /// What is started of those, a program or a script, with what it may read beside it.
    pub commands: Vec<Command>,
    /// Files and folders that its servers are made from: its source, or the `inputs` of that, and what its images are built from. They may
    /// be folders around the scenario itself.
    pub made_from: Vec<PathBuf>,
    /// Commands make something of that before its servers start.
    pub is_prepared: bool,
}

/// A command that is started.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Command {
    /// As the scenario has it.
    pub text: String,
    /// The folders that it names, or in which files lie that it names: a script reads others beside it.
    pub folders: Vec<PathBuf>,
}

/// What a scenario depends on, as far as its file tells.
pub fn depends(scenario: &Scenario) -> Depends {
    let resolved = source::resolved(scenario);
    let mut depends = Depends {
        read: scenario.read_from.clone(),
        ..Depends::default()
    };
    for server in resolved.servers.iter().chain(&resolved.upstreams) {
        match &server.transport {
            Transport::Stdio(it)
            | Transport::Http {
                start: Some(it), ..
            } => {
                let words = std::iter::once(&it.command).chain(&it.args);
                depends.started(words, it.cwd.as_deref());
            }
            Transport::Http {
                headers_command, ..
            } => depends.started(headers_command, None),
            Transport::Mock | Transport::Recorded { .. } => {}
        }
    }
    for Hook { command, cwd, .. } in resolved.before.iter().chain(&resolved.after) {
        depends.started(command, cwd.as_deref());
    }
    for evaluator in Evaluator::with_inner(&resolved.evaluators) {
        match &evaluator.kind {
            EvaluatorKind::Command(it) => {
                depends.started(&it.run.command, it.run.cwd.as_deref());
            }
            // What else evaluators look at, runs leave.
            EvaluatorKind::File(it) if it.unchanged == Some(true) => depends.looked_at(&it.file),
            _ => {}
        }
    }
    if let Some(agent) = resolved.agent.command() {
        depends.started(&agent.command, agent.cwd.as_deref());
    }
    for container in &resolved.containers {
        for mount in &container.mounts {
            if let MountSource::Path(path) = &mount.source {
                depends.used.push(absolute(path));
            }
        }
        if let Image::Built(build) | Image::BuiltOrNamed(build, _) = &container.image {
            depends.made_from.push(absolute(&build.context));
            depends.inputs(build.prepare.as_ref());
        }
    }
    // Who says what the source is made from says that nothing else of it matters.
    let has_inputs = depends.inputs(resolved.source.prepare.as_ref());
    if !has_inputs && resolved.source.repo.is_some() {
        depends.made_from.extend(source::folder(scenario));
    }
    depends
}

/// Whether a program runs the code that its arguments name.
fn is_interpreter(program: &str) -> bool {
    const NAMES: [&str; 9] = [
        "python", "pypy", "node", "deno", "bun", "ruby", "java", "bash", "sh",
    ];
    let name = Path::new(program).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let name = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    NAMES.contains(&name)
}

/// The files among the words of commands: programs and scripts.
pub fn started_by<'a>(hooks: impl IntoIterator<Item = &'a Hook>) -> Vec<PathBuf> {
    let mut depends = Depends::default();
    for Hook { command, cwd, .. } in hooks {
        depends.started(command, cwd.as_deref());
    }
    depends.used
}

impl Depends {
    /// Adds the files among the words of a command line: programs and scripts, and what is behind the `=` of an option.
    fn started<'a>(&mut self, words: impl IntoIterator<Item = &'a String>, cwd: Option<&Path>) {
        let mut folders: Vec<PathBuf> = cwd.map(absolute).into_iter().collect();
        let cwd = cwd.unwrap_or(Path::new(""));
        let words: Vec<&String> = words.into_iter().collect();
        for (at, word) in words.iter().enumerate() {
            // An interpreter is no code, wherever it is installed.
            if at == 0 && is_interpreter(word) {
                continue;
            }
            let value = word.split_once('=').map(|it| it.1);
            for name in [Some(word.as_str()), value].into_iter().flatten() {
                let path = absolute(&cwd.join(name));
                if path.is_file() {
                    folders.extend(path.parent().map(Path::to_owned));
                    self.used.push(path);
                } else if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        if !words.is_empty() {
            let text: Vec<&str> = words.iter().map(|it| it.as_str()).collect();
            let text = text.join(" ");
            self.commands.push(Command { text, folders });
        }
    }

    /// Adds a file that an evaluator looks at, where it is known without starting anything.
    fn looked_at(&mut self, file: &FilePlace) {
        if let FileRoot::Folder(folder) = &file.begins {
            self.used
                .extend(Some(absolute(&folder.join(&file.written))).filter(|it| it.is_file()));
        }
    }

    /// Adds what is prepared from; whether that is said. Of a pattern it is the folder in which all lies that it can match.
    fn inputs(&mut self, prepare: Option<&Prepare>) -> bool {
        self.is_prepared |= prepare.is_some();
        let inputs = prepare.map_or(&[][..], |it| &it.inputs);
        for input in inputs {
            let is_plain = |it: &std::path::Component<'_>| {
                !it.as_os_str().to_string_lossy().contains(['*', '?', '['])
            };
            let folder: PathBuf = input.components().take_while(is_plain).collect();
            self.made_from.push(absolute(&folder));
        }
        !inputs.is_empty()
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
