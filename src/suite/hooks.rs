//! The commands before and after a run, which reset what outlives it, and those around a whole suite.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::settings::Settings;
use crate::mcp::OnProgress;
use crate::model::{Problem, Redacted, Redaction};
use crate::process::{ChildCommand, Logged};
use crate::redact::{Redactor, Secrets};
use crate::run::SetupError;
use crate::scenario_file;
use crate::scenario_file::servers::Hook;
use crate::suite::secrets::{options, pairs};
use crate::suite::stack::Running;

/// How long the commands after a run may still take once the program is asked to stop.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// The commands around one run, with every `${…}` filled in.
#[derive(Debug)]
pub(crate) struct Hooks {
    before: Vec<Hook>,
    after: Vec<Hook>,
    /// What the file calls the two.
    sections: (&'static str, &'static str),
    /// Supervises their processes.
    supervisor: Option<PathBuf>,
    interrupt: CancellationToken,
    /// Those before the run: what they have left running ends with the run.
    done: Mutex<Vec<Logged>>,
    has_begun: AtomicBool,
}

/// How a command came to its end.
enum End {
    Ended(Result<(), String>),
    TimedOut,
    /// The program was asked to stop.
    Cut,
}

impl Hooks {
    /// The commands of these sections of a file; the secrets that they are given are added to `secrets`.
    ///
    /// # Errors
    ///
    /// What the environment lacks.
    pub(crate) fn new(
        sections: (&'static str, &'static str),
        (before, after): (&[Hook], &[Hook]),
        secrets: &mut Secrets,
        supervisor: Option<PathBuf>,
        interrupt: CancellationToken,
    ) -> Result<Self, SetupError> {
        Ok(Self {
            before: filled(sections.0, before, secrets)?,
            after: filled(sections.1, after, secrets)?,
            sections,
            supervisor,
            interrupt,
            done: Mutex::default(),
            has_begun: AtomicBool::new(false),
        })
    }

    /// Runs the commands before a run, one after another. When the program is asked to stop meanwhile, the run notices it for itself.
    ///
    /// # Errors
    ///
    /// When one of them fails or does not end in time; none is run after that.
    pub(crate) async fn before(&self, tell: &(dyn Fn(&str) + Sync)) -> Result<(), SetupError> {
        if self.interrupt.is_cancelled() {
            return Ok(());
        }
        self.has_begun.store(true, Ordering::Relaxed);
        for (index, hook) in self.before.iter().enumerate() {
            let name = name(self.sections.0, index, &self.before);
            tell(&format!("running {}", name.trim_end_matches(',')));
            let (process, end) = self.run(hook, &name, self.interrupt.cancelled()).await?;
            match end {
                End::Ended(Ok(())) => self.done.lock().push(process),
                End::Cut => return Ok(()),
                end => return Err(failed(&name, hook, &process, end)),
            }
        }
        Ok(())
    }

    /// Runs the commands after a run that has begun, all of them, however the others ended. Returns what a reader should know of them.
    pub(crate) async fn after(&self, tell: &(dyn Fn(&str) + Sync)) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.has_begun.load(Ordering::Relaxed) {
            return notes;
        }
        let interrupt = self.interrupt.clone();
        let cut = async move {
            interrupt.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::pin!(cut);
        for (index, hook) in self.after.iter().enumerate() {
            let name = name(self.sections.1, index, &self.after);
            tell(&format!("running {}", name.trim_end_matches(',')));
            let problem = match self.run(hook, &name, &mut cut).await {
                Ok((_, End::Ended(Ok(())))) => continue,
                Ok((_, End::Cut)) => {
                    notes.push(format!("{name} was cut short by the interruption"));
                    break;
                }
                Ok((process, end)) => failed(&name, hook, &process, end),
                Err(problem) => problem,
            };
            let said = problem.details.join(" ");
            notes.push(format!("{}; {said}", problem.message));
        }
        notes
    }

    /// Runs one command until it ends, or its time is over, or it is `cut` short.
    async fn run(
        &self,
        hook: &Hook,
        name: &str,
        cut: impl Future<Output = ()>,
    ) -> Result<(Logged, End), SetupError> {
        let command = ChildCommand {
            env: hook.env.clone(),
            cwd: hook.cwd.clone(),
            ..ChildCommand::of(&hook.command, self.supervisor.as_deref())
        };
        let mut process = Logged::start(&command)
            .map_err(|error| SetupError::new(format!("{name} cannot be started: {error}")))?;
        process.close_stdin();
        let end = tokio::select! {
            biased;
            ended = process.wait() => End::Ended(ended),
            () = cut => End::Cut,
            () = tokio::time::sleep(hook.timeout) => End::TimedOut,
        };
        if !matches!(end, End::Ended(Ok(()))) {
            process.stop().await;
        }
        Ok((process, end))
    }
}

impl Running for Hooks {
    fn name(&self) -> &'static str {
        "the commands after the run"
    }

    /// Each command has its own.
    fn limit(&self) -> Option<Duration> {
        None
    }

    /// What outlives a run must be reset even when the program is asked to stop.
    fn ends_in_order(&self) -> bool {
        true
    }

    fn tear_down<'a>(&'a self, tell: OnProgress<'a>) -> BoxFuture<'a, Vec<String>> {
        self.after(tell).boxed()
    }
}

/// What is wrong with a command that did not succeed.
fn failed(name: &str, hook: &Hook, process: &Logged, end: End) -> SetupError {
    let how = match end {
        End::Ended(Err(how)) => how,
        End::TimedOut => format!(
            "did not end within {:?} (its `timeout` changes that)",
            hook.timeout
        ),
        End::Ended(Ok(())) | End::Cut => "was cut short".to_owned(),
    };
    SetupError {
        message: format!("{name} {how}"),
        details: process.last_words(),
        trouble: None,
    }
}

/// What a command is called: its program, and which one of several it is.
fn name(section: &str, index: usize, all: &[Hook]) -> String {
    let program = all.get(index).and_then(|it| it.command.first());
    let program = program.map_or("", String::as_str);
    match all.len() {
        1 => format!("the command `{program}` of `{section}`"),
        _ => format!("command {} of `{section}`, `{program}`,", index + 1),
    }
}

fn filled(section: &str, hooks: &[Hook], secrets: &mut Secrets) -> Result<Vec<Hook>, SetupError> {
    let lookup = |name: &str| std::env::var(name).ok();
    let (hooks, variables) = scenario_file::expand(&hooks.to_vec(), lookup)
        .map_err(|missing| SetupError::new(format!("`{section}`: {missing}")))?;
    secrets.environment(section, &variables);
    for hook in &hooks {
        secrets.named("env", section, pairs(&hook.env));
        secrets.named("args", section, options(&hook.command));
    }
    Ok(hooks)
}

/// The commands around all scenarios, the first of which have been run.
pub(super) struct SetUp {
    hooks: Option<Hooks>,
    /// Why no scenario can be run.
    problem: Option<Problem>,
    /// Knows what the commands were given.
    redactor: Redactor,
}

impl SetUp {
    /// Runs what comes before all scenarios.
    pub(super) async fn run(settings: &Settings, interrupt: &CancellationToken) -> Self {
        let mut secrets = Secrets::default();
        let program = settings.program.clone();
        let sections = ("setup", "teardown");
        let hooks = (&settings.around.setup[..], &settings.around.teardown[..]);
        let hooks = Hooks::new(sections, hooks, &mut secrets, program, interrupt.clone());
        let redactor = Redactor::new(&secrets, &Redaction::default());
        let tell = |_: &str| {};
        let (hooks, failed) = match hooks {
            Ok(hooks) => {
                let failed = hooks.before(&tell).await.err();
                (Some(hooks), failed)
            }
            Err(problem) => (None, Some(problem)),
        };
        Self {
            problem: failed.map(|it| redacted_problem(&it, &redactor)),
            hooks,
            redactor,
        }
    }

    pub(super) fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    /// Runs what comes after them, also where what came before has failed. Returns what went wrong.
    pub(super) async fn tear_down(&mut self) -> Vec<Redacted<String>> {
        let Some(hooks) = self.hooks.take() else {
            return Vec::new();
        };
        let notes = hooks.after(&|_| {}).await;
        notes.iter().map(|it| self.redactor.text(it)).collect()
    }
}

/// The problem without secrets.
fn redacted_problem(problem: &SetupError, redactor: &Redactor) -> Problem {
    let clean = |text: &String| redactor.text(text).into_inner();
    let message = clean(&problem.message);
    Problem {
        details: problem.details.iter().map(clean).collect(),
        ..Problem::new(format!("the suite cannot begin: {message}"))
    }
}
