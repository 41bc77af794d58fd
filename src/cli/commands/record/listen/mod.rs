//! `mcp-eval record --listen`: makes a scenario and its baseline of a session that a person or a program has with the servers.

mod plan;

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::io::AsyncBufReadExt;
use tokio_util::sync::CancellationToken;

use self::plan::{Plan, load, plan};
use crate::agent::{Answers, Listener, mcp_config};
use crate::cli::args::RecordArgs;
use crate::cli::finish::{self, ReportOptions};
use crate::cli::paths::SCENARIOS;
use crate::cli::progress::{ScenarioProgress, SuiteProgress};
use crate::cli::reports::Reports;
use crate::cli::suite::base;
use crate::cli::{Console, Exit, Failure, called, database, runtime};
use crate::docker::{self, Guard};
use crate::model::{
    Binding, Ending, FailureKind, Object, Outcome, Redacted, Source, Status, Step, SuiteResult,
    Trajectory,
};
use crate::redact::Redactor;
use crate::scenario_file::{self, Scenario, Session, SessionCall};
use crate::store::{Runs, STATE, write};
use crate::suite::containers::ContainerSlot;
use crate::suite::evaluating::Evaluating;
use crate::suite::execute::{FinishedRun, Reads};
use crate::suite::kept_results::keep_only;
use crate::suite::outcome::result;
use crate::suite::patience::Patience;
use crate::suite::record::{USUAL_TAKES, learned_notes, learned_places};
use crate::suite::suite_context::SuiteContext;
use crate::suite::{BASELINES, Finished, REPORTS, Settings};
use crate::{git, json, score};

pub(super) fn run(args: &RecordArgs, console: Console) -> Result<Exit, Failure> {
    let plan = plan(args, console)?;
    let settings = Settings {
        servers: plan.servers.clone(),
        ..base()?
    };
    let containers = (!args.execute.no_docker).then(|| {
        let variable = |name: &str| std::env::var(name).ok();
        Arc::new(docker::Session::new(variable))
    });
    let _guard = containers.clone().map(Guard);
    let runtime = runtime::beside(2)?;
    let listened = runtime.block_on(async {
        let begun = CancellationToken::new();
        let endings = runtime::endings(&begun);
        let mut ours: Vec<PathBuf> = [BASELINES, SCENARIOS, REPORTS, STATE]
            .map(PathBuf::from)
            .to_vec();
        ours.push(plan.baselines.root().to_owned());
        let abort = endings.abort.clone();
        let context = SuiteContext::new(&settings, ours, containers.clone(), endings.abort);
        let slot = Arc::<ContainerSlot>::default();
        // The user wants to see which calls are recorded.
        let progress = SuiteProgress::new(("record", 1), console.by_line());
        let progress = ScenarioProgress::new(&progress, &plan.opened);
        let intent = plan.session.user_intent.clone();
        let done = endings.done.clone();
        let announce = Box::new(move |endpoints: &[_]| {
            begun.cancel();
            Console::document(&json::escaped(mcp_config(endpoints)));
            console.note(
                "recording: point your MCP client at this config; Ctrl-C, or Enter on a terminal, to finish",
            );
            end_with_enter(done.clone());
        });
        let session = Listener::new(intent, announce, endings.done);
        let listened = if let Some(why) = context.why_not(&plan.opened, &progress).await {
            Err(Failure::incomplete(why))
        } else {
            let port = args.listen.port;
            let fresh = context.outliving_servers(&plan.opened).is_empty();
            let reads = if fresh || args.takes.is_some() {
                Reads::Once
            } else {
                Reads::Twice
            };
            let ran = context.listen(&plan.opened, (session, port), reads, &slot, &progress);
            let ran = Box::pin(ran).await;
            let player = Player {
                takes: args.takes.unwrap_or(if fresh { USUAL_TAKES } else { 1 }),
                context: &context,
                slot: &slot,
                progress: &progress,
                abort,
            };
            keep(plan, ran, &player, args, console).await
        };
        for note in slot.release(false).await {
            console.note(&note);
        }
        if let Some(containers) = &containers {
            containers.end().await;
        }
        listened
    });
    // A server that will not let go of its pipes must not hold us up.
    runtime.shutdown_background();
    listened
}

/// Ends the session when Enter is pressed; does nothing without a terminal.
fn end_with_enter(done: CancellationToken) {
    if std::io::stdin().is_terminal() {
        tokio::spawn(async move {
            let mut line = String::new();
            let mut stdin = tokio::io::BufReader::new(tokio::io::stdin());
            if stdin.read_line(&mut line).await.is_ok() {
                done.cancel();
            }
        });
    }
}

/// Makes a scenario and its baseline of the recorded session.
async fn keep(
    plan: Plan,
    ran: FinishedRun,
    player: &Player<'_>,
    args: &RecordArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let FinishedRun {
        mut trajectory,
        redactor,
        notes,
        log: _,
        evaluations: _,
    } = ran;
    for note in notes {
        console.note(&redactor.text(&note));
    }
    player.check()?;
    if let Ending::Error {
        message, details, ..
    } = &trajectory.ending
    {
        let failure = Failure::incomplete(message.clone());
        return Err(details.iter().fold(failure, Failure::hint));
    }
    trajectory.refine(score::mark_breaches);
    for left_out in leave_out_unanswered(&mut trajectory) {
        console.note(&left_out);
    }
    if trajectory.calls().next().is_none() {
        return Err(Failure::incomplete(
            "no tool was called and answered, so nothing was written",
        ));
    }
    let (target, mut session) = (plan.target, plan.session);
    let runs = Arc::new(plan.runs);
    let folder = target.parent().unwrap_or(Path::new(""));
    let clean = |text: &str| redactor.text(text).into_inner();
    let write_scenario = |session: &Session| {
        let text = scenario_file::session_scenario(plan.base.as_ref(), session, folder, &clean);
        write(
            &target,
            text.map_err(|it| Failure::invalid(&it))?.as_bytes(),
        )?;
        load(&target, &[])
    };
    let before = fs::read(&target).ok();
    let kept = async {
        // First without its calls: they are written with what is learned by playing it.
        let scenario = write_scenario(&session)?;
        let redacted = redactor.shown(&scenario);
        trajectory.refine(|it| {
            it.scenario.clone_from(&redacted.id);
            it.name.clone_from(&redacted.name);
            it.scenario_hash = Some(redacted.hash.clone());
            "listen".clone_into(&mut it.stamp.agent);
            it.stamp.agent_hash = None;
        });
        for note in player.learn(&scenario, &mut trajectory).await? {
            console.note(&note);
        }
        player.check()?;
        session.calls = calls(&trajectory);
        write_scenario(&session)?;
        runs.save(&scenario.id, &trajectory)?;
        let path = plan.baselines.save(&scenario.id, &trajectory)?;
        plan.baselines.settle();
        Ok((scenario, path))
    };
    let kept: Result<(Scenario, PathBuf), Failure> = kept.await;
    let (scenario, path) = match kept {
        Ok(kept) => kept,
        Err(failure) => {
            // Both or none.
            let _ = match before {
                Some(before) => write(&target, &before).is_ok(),
                None => fs::remove_file(&target).is_ok(),
            };
            return Err(failure);
        }
    };
    let run = (plan.started_at, runs);
    let of = (&scenario, &redactor);
    keep_result(run, of, trajectory, plan.baselines.root(), (args, console)).await?;
    let target = target.display();
    console.note(&format!("kept as {target} and {}", path.display()));
    let mut compare = format!("mcp-eval compare {target}");
    if let Some(folder) = &args.output {
        compare = format!("{compare} --baseline {}", folder.display());
    }
    console.note(&format!("compare with it: `{compare}`"));
    Ok(Exit::Passed)
}

/// The calls that a run is expected to make: what was taken from an earlier answer is taken from there again.
fn calls(trajectory: &Trajectory) -> Vec<SessionCall> {
    let answers = Answers::of(trajectory, None);
    let mut bindings = trajectory.bindings.as_slice();
    let calls = trajectory.calls().enumerate();
    let calls = calls.map(|(index, call)| {
        let later = bindings.partition_point(|it| it.call <= index + 1);
        let of_call = &bindings[..later];
        bindings = &bindings[later..];
        SessionCall {
            tool: call.full_name(),
            arguments: (of_call.iter()).fold(call.arguments.clone(), |arguments, binding| {
                with_reference(&arguments, binding, &answers).unwrap_or(arguments)
            }),
            is_error: call.outcome.is_failure(),
        }
    });
    calls.collect()
}

/// The arguments with a reference in place of what is bound; `None` where a reference cannot say that.
fn with_reference(arguments: &Object, binding: &Binding, answers: &Answers<'_>) -> Option<Object> {
    let Source { call, path } = &binding.from;
    let reference = format!("{{{{calls.{}.json:{path}}}}}", call - 1);
    let mut referring = Value::Object(arguments.clone());
    let argument = referring.pointer_mut(&binding.path)?;
    *argument = match (&*argument, &binding.value) {
        (it, bound) if it == bound => json!(reference),
        (Value::String(text), Value::String(part)) => json!(text.replacen(part, &reference, 1)),
        _ => return None,
    };
    let Value::Object(referring) = referring else {
        return None;
    };
    let filled = |arguments: &Object| {
        let mut filled = arguments.clone();
        answers.fill_references(&mut filled, &[]);
        filled
    };
    (filled(&referring) == filled(arguments)).then_some(referring)
}

/// Takes out calls that the server did not answer, and what they caused behind it: asked again, they would hold up everybody. Says which.
fn leave_out_unanswered(trajectory: &mut Redacted<Trajectory>) -> Vec<String> {
    let mut left_out = Vec::new();
    trajectory.refine(|it| {
        // How many scored calls there are so far, among those that stay.
        let mut stayed = 0;
        let upstream = &mut it.upstream;
        it.steps.retain(|step| {
            let Step::ToolCall(call) = step else {
                return true;
            };
            let is_scored = call.server.is_some();
            let failure = match &call.outcome {
                Outcome::Failure(failure) if failure.kind != FailureKind::Rpc => failure,
                Outcome::Failure(_) | Outcome::Answer(_) => {
                    stayed += usize::from(is_scored);
                    return true;
                }
            };
            left_out.push(format!(
                "left out, because it was not answered: `{}`: {}",
                call.full_name(),
                failure.message
            ));
            if let Some(lane) = upstream.as_mut().filter(|_| is_scored) {
                lane.leave_out(stayed + 1);
            }
            false
        });
    });
    left_out
}

/// Keeps the result of a session that has become this scenario, and writes it to the results database. What goes wrong there is reported, and
/// spoils no recording.
///
/// # Errors
///
/// When the address of the database cannot be read.
async fn keep_result(
    (started_at, runs): (Timestamp, Arc<Runs>),
    (scenario, redactor): (&Scenario, &Redactor),
    trajectory: Redacted<Trajectory>,
    baselines: &Path,
    (args, console): (&RecordArgs, Console),
) -> Result<(), Failure> {
    let database = database::of(&args.execute.database)?;
    let recorded = result(&redactor.shown(scenario), Status::Recorded).with(|it| {
        it.duration_ms = trajectory.duration_ms;
        it.current = Some(Arc::new(trajectory));
    });
    let took = Timestamp::now().duration_since(started_at);
    let suite = redactor.suite(SuiteResult {
        run_id: runs.id().to_owned(),
        duration_ms: took.as_secs_f64() * 1000.0,
        called: Some(called::record(args)),
        selected: 1,
        scenarios: vec![recorded],
        ..SuiteResult::new("record", started_at, git::stamp(Path::new("."), &[]))
    });
    let finished = Finished::at_hand(suite, runs, database);
    let reports = Reports::none();
    let options = ReportOptions::of(&reports, args.execute.kept.keep.0, baselines);
    let document = finish::keep(&finished, &options, console);
    if let Some(database) = &finished.database {
        let notes = keep_only(database, &finished, &document, scenario, redactor).await;
        database::tell(&notes, console);
    }
    Ok(())
}

/// What it takes to play a session again.
struct Player<'a> {
    context: &'a SuiteContext,
    slot: &'a Arc<ContainerSlot>,
    progress: &'a ScenarioProgress,
    /// How often the session is played in all, the user's own session included.
    takes: u16,
    abort: CancellationToken,
}

impl Player<'_> {
    /// Says so when everything is to stop.
    fn check(&self) -> Result<(), Failure> {
        if !self.abort.is_cancelled() {
            return Ok(());
        }
        Err(interrupted())
    }

    /// Plays the session again as often as it is to be, and learns what varies and what is bound. Returns what a reader should know of
    /// it.
    ///
    /// # Errors
    ///
    /// When everything is to stop.
    async fn learn(
        &self,
        scenario: &Scenario,
        trajectory: &mut Redacted<Trajectory>,
    ) -> Result<Vec<String>, Failure> {
        let rules = &scenario.scoring;
        let patience = Patience::until(&self.abort);
        let learn = |takes: &[Redacted<Trajectory>]| {
            let learned =
                patience.spend_on(|is_unwanted| score::learn_until(takes, rules, is_unwanted));
            learned.map_err(|_| interrupted())
        };
        let mut takes = vec![trajectory.clone()];
        let mut notes = Vec::new();
        if self.takes > 1 {
            let bindings = learn(&takes)?.bindings;
            trajectory.refine(|it| it.bindings = bindings);
        }
        for _ in 1..self.takes {
            let pause = tokio::time::sleep(self.context.takes_apart(scenario));
            let _ = self.abort.run_until_cancelled(pause).await;
            let played = Arc::new(trajectory.clone());
            let (slot, progress) = (self.slot, self.progress);
            let again = self.context.execute(
                scenario,
                Some(&played),
                Reads::Once,
                Evaluating::Not,
                slot,
                progress,
            );
            let mut again = Box::pin(again).await.trajectory;
            tokio::task::block_in_place(|| again.refine(score::mark_breaches));
            if again.ending == Ending::Completed {
                takes.push(again);
            } else {
                takes.truncate(1);
                let why = again.ending.reason().unwrap_or("it was stopped");
                notes.push(format!(
                    "it could not be played again, so nothing was learned of what varies: {why}"
                ));
                if let Ending::Error { details, .. } = &again.ending {
                    notes.extend_from_slice(details);
                }
                break;
            }
        }
        let learned = learn(&takes)?;
        trajectory.refine(|it| learned.keep_in(it));
        let compare = |again: &Redacted<Trajectory>| {
            let compared = patience.spend_on(|is_unwanted| {
                score::compare_until(trajectory, again, rules, is_unwanted)
            });
            compared.map_err(|_| interrupted())
        };
        let compared = takes.get(1).map(compare).transpose()?;
        if compared.is_some_and(|it| !it.verdict.passed) {
            notes.push("played again, in one session, it was answered differently: a comparison will say how".to_owned());
        }
        let all_reset = self.context.is_all_reset(scenario);
        notes.extend(learned_notes(trajectory, &learned, all_reset));
        notes.extend(learned_places(trajectory));
        Ok(notes)
    }
}

fn interrupted() -> Failure {
    Failure {
        exit: Exit::Interrupted,
        ..Failure::incomplete("interrupted: nothing was kept")
    }
}
