//! What is done before a system under test can be started: commands that make it, run again when what they depend on has changed.
//!
//! What they depended on is kept below `.mcp-eval/prepared/`, with a log of what they said.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;

use crate::model::source::Prepare;
use crate::process::{ChildCommand, Logged};
use crate::redact::Redactor;
use crate::run::SetupError;
use crate::store;

/// Where it is kept what was prepared.
const FOLDER: &str = ".mcp-eval/prepared";

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
            let _ = std::fs::remove_file(&log);
            for command in &wanted.prepare.commands {
                run(command, &folder, wanted, &log, tell).await?;
            }
            // What the commands made counts, too, where git does not ignore it.
            if let Some(after) = (wanted.state)().filter(|_| wanted.lasts) {
                // A state that is not kept only means that it is done again.
                let _ = store::write(&record, after.as_bytes());
            }
            Ok(())
        });
        done.await.clone()
    }
}

/// Runs one command to its end; what it says goes to the log.
async fn run(
    command: &[String],
    folder: &Path,
    wanted: &Wanted<'_>,
    log: &Path,
    tell: &(dyn Fn(&str) + Send + Sync),
) -> Result<(), SetupError> {
    let (prepare, redactor) = (wanted.prepare, wanted.redactor);
    let name = redactor.text(&command.join(" ")).into_inner();
    let (program, args) = command.split_first().unzip();
    tell(&format!("preparing: {name}"));
    let is_set = |name: &str| prepare.env.iter().any(|it| it.0 == *name);
    // Compilers and package managers need what the user's own shell gives them.
    let inherited = std::env::vars().filter(|(name, _)| !is_set(name));
    let child = ChildCommand {
        program: program.map_or_else(Default::default, Into::into),
        args: args.unwrap_or_default().iter().map(Into::into).collect(),
        env: inherited.chain(prepare.env.iter().cloned()).collect(),
        cwd: Some(folder.to_owned()),
        supervisor: wanted.supervisor.map(Path::to_owned),
    };
    let started = Logged::start(&child);
    let mut process =
        started.map_err(|error| SetupError::new(format!("`{name}` cannot be started: {error}")))?;
    process.close_stdin();
    let ended = process.wait_for(prepare.timeout).await;
    process.stop().await;
    let said = redactor.text(&process.output()).into_inner();
    let before = std::fs::read_to_string(log).unwrap_or_default();
    // A log that cannot be written is no reason not to go on.
    let _ = store::write(log, format!("{before}$ {name}\n{said}").as_bytes());
    let why = match ended {
        Some(Ok(())) => return Ok(()),
        Some(Err(how)) => how,
        None => format!(
            "did not end within {:?} (`timeout` changes that)",
            prepare.timeout
        ),
    };
    let mut details = process.last_words();
    details.push(format!("all it said: {}", log.display()));
    Err(SetupError {
        message: format!("`{name}` {why}"),
        details,
    })
}
