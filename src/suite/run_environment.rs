//! The environment of a run, for evaluators: files that it left, databases that it wrote to, and programs that judge it.

use std::path::PathBuf;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::evaluate::judge::{Case, Judge};
use crate::evaluate::{Left, LeftFile, RunEnvironment, Unasked};
use crate::model::ruling::Ruling;
use crate::model::{Redacted, Trajectory};
use crate::process::{ChildCommand, printed};
use crate::published::evaluator::{self, EvaluatedScenario, Verdict};
use crate::redact::{Redactor, Secrets};
use crate::run::SetupError;
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::scenario_file::evaluators::{
    CommandEvaluator, Evaluator, EvaluatorKind, FilePlace, LlmJudge, SqlQuestion, TextSource,
};
use crate::scenario_file::servers::{Hook, Server};
use crate::sql::{self, Database, Query, Rows};
use crate::suite::containers::ContainerSlot;
use crate::suite::left_files::LeftFiles;
use crate::suite::llm_judge::{NO_JUDGE, without_secrets};
use crate::suite::secrets::{options, pairs};

/// What evaluators of a scenario may ask besides its run.
#[derive(Debug, Default)]
pub(crate) struct Around {
    files: LeftFiles,
    /// The commands with every `${…}` filled in, by what the scenario says.
    commands: Vec<(Hook, Hook)>,
    /// What databases are asked with every `${…}` filled in, by what the scenario says; or why they cannot be.
    queries: Vec<(SqlQuestion, Result<Query, Unasked>)>,
    supervisor: Option<PathBuf>,
    /// Whether an evaluator looks at what the servers have written.
    pub(crate) wants_logs: bool,
    /// What each server has written whose log is at hand.
    pub(crate) logs: Vec<Left<String>>,
    /// The model that judges, or why there is none; `None` where no evaluator asks one.
    judge: Option<Result<Judge, SetupError>>,
    interrupt: CancellationToken,
}

impl Around {
    /// What a scenario's evaluators ask, before its run; the secrets that programs are given are added to `secrets`.
    ///
    /// # Errors
    ///
    /// What the environment lacks.
    pub(crate) fn new(
        scenario: &Scenario,
        servers: &[Server],
        secrets: &mut Secrets,
        supervisor: Option<PathBuf>,
        interrupt: CancellationToken,
    ) -> Result<Self, SetupError> {
        let mut around = Self {
            supervisor,
            interrupt,
            ..Self::default()
        };
        for evaluator in Evaluator::with_inner(&scenario.evaluators) {
            match &evaluator.kind {
                EvaluatorKind::Command(it) => {
                    let filled = filled(it, secrets)?;
                    around.commands.push((it.run.clone(), filled));
                }
                EvaluatorKind::SqlValidate(it) => {
                    let query = query(&it.asked, secrets)?;
                    around.queries.push((it.asked.clone(), query));
                }
                EvaluatorKind::Text(it) => around.wants_logs |= it.within == TextSource::Log,
                _ => {}
            }
            if let Some(file) = evaluator.kind.file() {
                around.files.add(file, servers);
            }
        }
        Ok(around)
    }

    /// What evaluators may ask of a run that was stored: a judge alone, which is added.
    pub(crate) fn of_stored(interrupt: CancellationToken) -> Self {
        Self {
            interrupt,
            ..Self::default()
        }
    }

    /// The same with the model that judges, where an evaluator asks one.
    #[must_use]
    pub(crate) fn with_judge(
        mut self,
        scenario: &Scenario,
        judge: impl FnOnce() -> Result<Judge, SetupError>,
    ) -> Self {
        let asks = |it: &&Evaluator| matches!(it.kind, EvaluatorKind::LlmJudge(_));
        let all = Evaluator::with_inner(&scenario.evaluators);
        self.judge = all.iter().any(asks).then(judge);
        self
    }

    /// The files that evaluators look at.
    pub(crate) fn files(&mut self) -> &mut LeftFiles {
        &mut self.files
    }

    /// The same for a run that has been made, in these containers.
    pub(crate) fn of_run<'a>(
        &'a self,
        scenario: &'a Redacted<Scenario>,
        trajectory: &'a Redacted<Trajectory>,
        containers: &'a ContainerSlot,
        redactor: &'a Redactor,
    ) -> AroundRun<'a> {
        AroundRun {
            around: self,
            scenario,
            trajectory,
            containers,
            redactor,
        }
    }
}

fn filled(command: &CommandEvaluator, secrets: &mut Secrets) -> Result<Hook, SetupError> {
    let lookup = |name: &str| std::env::var(name).ok();
    let (mut hooks, variables) = scenario_file::expand(&vec![command.run.clone()], lookup)
        .map_err(|missing| SetupError::new(format!("`evaluators`: {missing}")))?;
    secrets.environment("evaluators", &variables);
    let hook = hooks.pop().unwrap_or_else(|| command.run.clone());
    secrets.named("env", "evaluators", pairs(&hook.env));
    secrets.named("args", "evaluators", options(&hook.command));
    Ok(hook)
}

/// What a database is asked, once its address is known. The passwords in that are secrets.
fn query(asked: &SqlQuestion, secrets: &mut Secrets) -> Result<Result<Query, Unasked>, SetupError> {
    let lookup = |name: &str| std::env::var(name).ok();
    let (asked, variables) = scenario_file::expand(asked, lookup)
        .map_err(|missing| SetupError::new(format!("`evaluators`: {missing}")))?;
    secrets.environment("evaluators", &variables);
    secrets.named("database", "evaluators", sql::named(&asked.database));
    let database = match Database::parse(&asked.database) {
        Ok(Database::Sqlite(path)) => Database::Sqlite(asked.folder.join(path)),
        Ok(database) => database,
        Err(why) => return Ok(Err(Unasked::broken(why))),
    };
    Ok(Ok(Query {
        database,
        text: asked.query,
        parameters: asked.parameters,
        timeout: asked.timeout,
    }))
}

/// What lies around a run that has been made and still stands.
pub(crate) struct AroundRun<'a> {
    around: &'a Around,
    scenario: &'a Redacted<Scenario>,
    trajectory: &'a Redacted<Trajectory>,
    containers: &'a ContainerSlot,
    redactor: &'a Redactor,
}

impl RunEnvironment for AroundRun<'_> {
    fn logs(&self) -> &[Left<String>] {
        &self.around.logs
    }

    fn file<'a>(&'a self, file: &'a FilePlace) -> BoxFuture<'a, Result<Left<LeftFile>, Unasked>> {
        let files = &self.around.files;
        files.left(file, self.containers, self.redactor).boxed()
    }

    fn rows<'a>(&'a self, asked: &'a SqlQuestion) -> BoxFuture<'a, Result<Left<Rows>, Unasked>> {
        self.queried(asked).boxed()
    }

    fn command<'a>(
        &'a self,
        command: &'a CommandEvaluator,
    ) -> BoxFuture<'a, Result<Verdict, Unasked>> {
        self.asked(command).boxed()
    }

    fn judge<'a>(
        &'a self,
        asked: &'a LlmJudge,
        case: Case,
    ) -> BoxFuture<'a, Result<Ruling, Unasked>> {
        self.ruled(asked, case).boxed()
    }
}

impl AroundRun<'_> {
    async fn queried(&self, asked: &SqlQuestion) -> Result<Left<Rows>, Unasked> {
        let mut queries = self.around.queries.iter();
        let query = match queries.find(|(it, _)| it == asked) {
            Some((_, query)) => query.as_ref().map_err(Clone::clone)?,
            None => return Err(Unasked::broken("what is asked is not known")),
        };
        let answered = self.around.interrupt.run_until_cancelled(sql::ask(query));
        let cut = || Err("the query was cut short by the interruption".to_owned());
        let answered = answered.await.unwrap_or_else(cut);
        let clean = |text: &str| self.redactor.text(text).into_inner();
        let said = answered.map_err(|why| Unasked::broken(clean(&why)))?;
        let mut shown = said.clone();
        for value in shown.rows.iter_mut().flatten() {
            *value = self.redactor.value(value.take()).into_inner();
        }
        Ok(Left { said, shown })
    }

    async fn ruled(&self, asked: &LlmJudge, case: Case) -> Result<Ruling, Unasked> {
        let judge = match &self.around.judge {
            Some(Ok(judge)) => judge,
            Some(Err(problem)) => {
                let clean = |text: &String| self.redactor.text(text).into_inner();
                return Err(Unasked::Broken {
                    why: clean(&problem.message),
                    said: problem.details.iter().map(clean).collect(),
                });
            }
            None => return Err(Unasked::broken(NO_JUDGE)),
        };
        let ruling = judge.rule(asked, &case);
        match self.around.interrupt.run_until_cancelled(ruling).await {
            Some(ruling) => Ok(without_secrets(ruling, self.redactor)),
            None => Err(Unasked::broken(
                "the judge was cut short by the interruption",
            )),
        }
    }

    async fn asked(&self, command: &CommandEvaluator) -> Result<Verdict, Unasked> {
        let mut commands = self.around.commands.iter();
        let Some((_, hook)) = commands.find(|(it, _)| *it == command.run) else {
            return Err(Unasked::broken("its command is not known"));
        };
        let scenario = EvaluatedScenario {
            id: self.scenario.id.clone(),
            name: self.scenario.name.clone(),
            path: self.scenario.path.display().to_string(),
            tags: self.scenario.tags.clone(),
            messages: self.scenario.messages(),
        };
        let input = evaluator::input(scenario, self.trajectory);
        let child = ChildCommand {
            env: hook.env.clone(),
            cwd: hook.cwd.clone(),
            ..ChildCommand::of(&hook.command, self.around.supervisor.as_deref())
        };
        let late = " (its `timeout` changes that)";
        let cut = self.around.interrupt.cancelled();
        let (ran, stderr) = printed(&child, &input, (hook.timeout, late), cut).await;
        let clean = |text: &str| self.redactor.text(text).into_inner();
        let stderr: Vec<String> = stderr.iter().map(|it| clean(it)).collect();
        let verdict = match ran {
            Err(why) => Err(format!("the command {why}")),
            Ok(output) => evaluator::verdict(&output).map_err(|why| clean(&why)),
        };
        match verdict {
            Err(why) => Err(Unasked::Broken { why, said: stderr }),
            Ok(verdict) => {
                let details = verdict.details.iter().map(|it| clean(it));
                let stderr = stderr.iter().map(|it| format!("stderr: {it}"));
                Ok(Verdict {
                    message: verdict.message.as_deref().map(clean),
                    details: details.chain(stderr).collect(),
                    ..verdict
                })
            }
        }
    }
}
