//! What is done before a system under test can be started: commands that make it, run again when what they depend on has changed.
//!
//! What they depended on is kept below `.mcp-eval/prepared/`, with a log of what they said.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;
use tokio::sync::OnceCell;

use crate::lines::{Line, Lines};
use crate::model::source::Prepare;
use crate::process::{self, Child, ChildCommand};
use crate::redact::Redactor;
use crate::run::SetupError;

/// Where it is kept what was prepared.
const FOLDER: &str = ".mcp-eval/prepared";

/// How many of the last lines of a command that failed are quoted.
const LAST_LINES: usize = 20;

/// The longest line that is kept of what a command says.
const LONGEST_LINE: usize = 64 * 1024;

/// The exit code of a shell that found no such program (POSIX, "Exit Status for Commands").
const NOT_FOUND: i32 = 127;

/// What was prepared by one run of the program: each only once.
#[derive(Debug, Default)]
pub(crate) struct Prepared(Mutex<HashMap<String, Done>>);

/// What came of preparing something, once that is known.
type Done = Arc<OnceCell<Result<(), SetupError>>>;

/// Something that is to be prepared, its `${…}` filled in.
pub(crate) struct Wanted<'a> {
    pub(crate) prepare: &'a Prepare,
    /// Where its commands run unless it says so itself.
    pub(crate) folder: &'a Path,
    /// What it depends on holds this now; `None` when that is not known, and it is always prepared anew.
    pub(crate) state: &'a (dyn Fn() -> Option<String> + Sync),
    /// Whether it is kept for later runs of the program what was prepared. A version that is laid out anew for each is not.
    pub(crate) lasts: bool,
    pub(crate) supervisor: Option<&'a Path>,
    pub(crate) redactor: &'a Redactor,
}

impl Prepared {
    /// Does what is wanted, unless nothing it depends on has changed since it was done last. `tell` is called with the step under way.
    ///
    /// # Errors
    ///
    /// When a command cannot be started, fails or takes too long, with the last lines it said.
    pub(crate) async fn prepare(
        &self,
        wanted: &Wanted<'_>,
        tell: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<(), SetupError> {
        if wanted.prepare.commands.is_empty() {
            return Ok(());
        }
        let folder = wanted.prepare.cwd.as_deref().unwrap_or(wanted.folder);
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let mut identity = format!("{:?} {}", wanted.prepare, folder.display());
        if !wanted.lasts {
            // Wherever it lies, its log takes the place of the last one's.
            identity = identity.replace(&*wanted.folder.to_string_lossy(), "");
        }
        let name = hex::encode(Sha256::digest(identity.as_bytes()))[..16].to_owned();
        let before = (wanted.state)();
        let cell = {
            let key = format!("{name} {before:?}");
            Arc::clone(self.0.lock().entry(key).or_default())
        };
        let record = Path::new(FOLDER).join(format!("{name}.state"));
        let done = cell.get_or_init(|| async {
            let last = std::fs::read_to_string(&record).ok();
            if wanted.lasts && before.is_some() && last == before {
                return Ok(());
            }
            if wanted.lasts {
                // Until all is done, nothing is.
                let _ = std::fs::remove_file(&record);
            }
            let log = Path::new(FOLDER).join(format!("{name}.log"));
            let mut log = Log::create(log, wanted.redactor).await;
            for command in &wanted.prepare.commands {
                run(command, &folder, wanted, &mut log, tell).await?;
            }
            // What the commands made counts, too, where git does not ignore it.
            if let Some(after) = (wanted.state)().filter(|_| wanted.lasts) {
                // A state that is not kept only means that it is done again.
                let _ = crate::store::write(&record, after.as_bytes());
            }
            Ok(())
        });
        done.await.clone()
    }
}

/// Runs one command to its end.
async fn run(
    command: &[String],
    folder: &Path,
    wanted: &Wanted<'_>,
    log: &mut Log<'_>,
    tell: &(dyn Fn(&str) + Send + Sync),
) -> Result<(), SetupError> {
    let (prepare, redactor) = (wanted.prepare, wanted.redactor);
    let said = redactor.text(&command.join(" ")).into_inner();
    let program = command.first().map(String::as_str).unwrap_or_default();
    let program = redactor.text(program).into_inner();
    tell(&format!("preparing: {said}"));
    log.line(format!("$ {said}").as_bytes()).await;
    let inherited =
        std::env::vars().filter(|(name, _)| !prepare.env.iter().any(|it| it.0 == *name));
    // The shell joins what is said on both streams in the order it is said.
    let joined = ["-c", "exec \"$@\" 2>&1 </dev/null", "sh"].map(Into::into);
    let child = ChildCommand {
        program: "/bin/sh".into(),
        args: joined
            .into_iter()
            .chain(command.iter().map(Into::into))
            .collect(),
        env: inherited.chain(prepare.env.iter().cloned()).collect(),
        cwd: Some(folder.to_owned()),
        supervisor: wanted.supervisor.map(Path::to_owned),
    };
    let failed = |log: &Log<'_>, why: String| SetupError {
        message: format!("`{said}` {why}"),
        details: log.last(),
    };
    let started = Child::start(&child);
    let (mut child, stdin, stdout) =
        started.map_err(|error| failed(log, format!("cannot be started: {error}")))?;
    drop(stdin);
    let mut lines = Lines::new(stdout, LONGEST_LINE);
    let work = async {
        while let Ok(Some(line)) = lines.next().await {
            match line {
                Line::Whole(line) => log.line(&line).await,
                Line::TooLong => log.line(b"(a line that is too long)").await,
            }
        }
        child.wait().await
    };
    let ended = tokio::time::timeout(prepare.timeout, work).await;
    match ended {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) if status.code() == Some(NOT_FOUND) => Err(failed(
            log,
            format!(
                "did not run: there is no program `{program}`, or it starts one that is not there"
            ),
        )),
        Ok(Ok(status)) => Err(failed(log, process::describe(status))),
        Ok(Err(error)) => Err(failed(log, format!("cannot be waited for: {error}"))),
        Err(_) => Err(failed(
            log,
            format!(
                "did not end within {:?} (`timeout` changes that)",
                prepare.timeout
            ),
        )),
    }
}

/// What commands say: all of it in a file, without secrets, and the last lines at hand.
struct Log<'a> {
    path: PathBuf,
    file: Option<tokio::fs::File>,
    redactor: &'a Redactor,
    last: std::collections::VecDeque<String>,
}

impl<'a> Log<'a> {
    /// Where no file can be made, only the last lines are kept.
    async fn create(path: PathBuf, redactor: &'a Redactor) -> Self {
        let folder = path.parent().unwrap_or(Path::new("."));
        let _ = tokio::fs::create_dir_all(folder).await;
        Self {
            file: tokio::fs::File::create(&path).await.ok(),
            path,
            redactor,
            last: std::collections::VecDeque::new(),
        }
    }

    async fn line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = self.redactor.text(text.trim_end()).into_inner();
        if let Some(file) = &mut self.file {
            let _ = file.write_all(format!("{text}\n").as_bytes()).await;
        }
        if !text.is_empty() {
            self.last.push_back(text);
        }
        while self.last.len() > LAST_LINES {
            self.last.pop_front();
        }
    }

    fn last(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.last.iter().cloned().collect();
        if self.file.is_some() {
            let mut whole = String::new();
            let _ = write!(whole, "all it said: {}", self.path.display());
            lines.push(whole);
        }
        lines
    }
}
