//! `mcp-eval record --listen`: makes a scenario and its baseline of a session that a person or a program has with the servers.

mod calls;
mod kept;
mod plan;
mod player;

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::io::AsyncBufReadExt;
use tokio_util::sync::CancellationToken;

use self::calls::{calls, leave_out_unanswered};
use self::plan::{Plan, load, plan};
use self::player::Player;
use crate::agent::{Listener, mcp_config};
use crate::cli::args::{OutputArgs, RecordArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::progress::{ScenarioProgress, SuiteProgress};
use crate::cli::runtime;
use crate::cli::scenario_name::SCENARIOS;
use crate::cli::suite::{program, takes_apart};
use crate::docker::{self, Guard};
use crate::json;
use crate::model::scenario::Scenario;
use crate::model::trajectory::Ending;
use crate::scenario_file::{self, Session};
use crate::score;
use crate::store::{STATE, write};
use crate::suite::containers::ContainerSlot;
use crate::suite::execute::{FinishedRun, Reads};
use crate::suite::record::USUAL_TAKES;
use crate::suite::suite_context::SuiteContext;
use crate::suite::{BASELINES, Judges, REPORTS};

pub(super) fn run(
    args: &RecordArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let plan = plan(args, console)?;
    let takes_apart = takes_apart()?;
    let containers = (!args.execute.no_docker).then(|| {
        let variable = |name: &str| std::env::var(name).ok();
        Arc::new(docker::Session::new(variable))
    });
    let _guard = containers.clone().map(Guard);
    let runtime = runtime::beside(2)?;
    let listened = runtime.block_on(async {
        let begun = CancellationToken::new();
        let endings = interrupt::endings(&begun);
        let mut ours: Vec<PathBuf> = [BASELINES, SCENARIOS, REPORTS, STATE]
            .map(PathBuf::from)
            .to_vec();
        ours.push(plan.baselines.root().to_owned());
        let servers = plan.servers.clone();
        let abort = endings.abort.clone();
        let mut context = SuiteContext::new(
            Some(program()),
            servers,
            ours,
            containers.clone(),
            (None, &Judges::default()),
            endings.abort,
        );
        context.takes_apart = takes_apart;
        let slot = ContainerSlot::default();
        // The user wants to see which calls are recorded.
        let output = OutputArgs {
            verbose: true,
            no_progress: true,
            ..output
        };
        let progress = SuiteProgress::new(("record", 1), output, console);
        let progress = ScenarioProgress::new(&progress, &plan.opened);
        let intent = plan.session.user_intent.clone();
        let done = endings.done.clone();
        let announce = Box::new(move |endpoints: &[_]| {
            begun.cancel();
            Console::document(&json::escaped(mcp_config(endpoints)));
            console
                .note("recording: point your MCP client at this config; Enter or Ctrl-C to finish");
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
            keep(plan, ran, &player, (args, console)).await
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
    (args, console): (&RecordArgs, Console),
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
        let redacted = redactor.scenario(&scenario);
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
    kept::keep(run, of, trajectory, plan.baselines.root(), (args, console)).await?;
    let target = target.display();
    console.note(&format!("kept as {target} and {}", path.display()));
    let mut compare = format!("mcp-eval compare {target}");
    if let Some(folder) = &args.output {
        compare = format!("{compare} --baseline {}", folder.display());
    }
    console.note(&format!("compare with it: `{compare}`"));
    Ok(Exit::Passed)
}
