//! From the arguments of a command that runs scenarios to a suite: settings, a runtime, progress and signals.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::cli::args::{
    AgentChoice, AxisName, ExecuteArgs, FormatChoice, JudgeBudget, Preset, ProtocolChoice,
    ScoreArgs,
};
use crate::cli::progress::{SuiteObserver, SuiteProgress};
use crate::cli::round::Round;
use crate::cli::{Console, Failure, database, matrix, runtime};
use crate::model::rules;
use crate::scenario_file::agent::CommandFormat;
use crate::scenario_file::servers::{ClientServers, Protocol, Server};
use crate::scenario_file::{self, Scenario};
use crate::suite::{
    self, BASELINES, CACHE, Choice, Finished, Judges, Recording, ScoreSettings, Settings, Suite,
};

/// What the arguments say of how scenarios are run.
///
/// # Errors
///
/// When the servers given on the command line cannot be read.
pub(super) fn settings(
    args: &ExecuteArgs,
    scenarios: &[Scenario],
    console: Console,
) -> Result<Settings, Failure> {
    let servers = match &args.mcp_config {
        None => Vec::new(),
        Some(path) => servers(path, scenarios, console)?,
    };
    Ok(Settings {
        judges: judges(args, scenarios)?,
        servers,
        protocol: args.protocol.map(Into::into),
        jobs: args.jobs,
        times: args.repeat.unwrap_or(1),
        fail_fast: args.fail_fast,
        containers: !args.no_docker,
        budget: args.budget,
        database: database::of(&args.database)?,
        ..base()?
    })
}

/// How far apart takes begin, whatever scenarios say.
const TAKES_APART: &str = "MCP_EVAL_TAKES_APART";

/// The settings of a command without options.
///
/// # Errors
///
/// When the environment says what nothing can be made of.
pub(super) fn base() -> Result<Settings, Failure> {
    let takes_apart = takes_apart()?;
    Ok(Settings {
        program: Some(program()),
        recording: Recording {
            takes_apart,
            ..Recording::default()
        },
        ..Settings::default()
    })
}

/// How far apart takes begin, where the environment says it.
///
/// # Errors
///
/// When it says what is no length of time.
pub(super) fn takes_apart() -> Result<Option<Duration>, Failure> {
    let Some(given) = std::env::var(TAKES_APART).ok().filter(|it| !it.is_empty()) else {
        return Ok(None);
    };
    let read: Option<jiff::SignedDuration> = given.parse().ok();
    let apart = read.and_then(|it| Duration::try_from(it).ok());
    let why = || Failure::usage(format!("{TAKES_APART} is not a duration: write 0s or 1.1s"));
    apart.map(Some).ok_or_else(why)
}

/// What judges may spend at most, where the arguments say it.
///
/// # Errors
///
/// When they say it of a whole that they do not say, or more than that.
pub(super) fn judge_budget(args: &ExecuteArgs) -> Result<Option<f64>, Failure> {
    match (&args.judging.judge_budget, args.budget) {
        (None, _) => Ok(None),
        (Some(JudgeBudget::Share(share)), Some(whole)) => Ok(Some(share * whole)),
        (Some(JudgeBudget::Share(_)), None) => {
            let failure =
                Failure::usage("--judge-budget is a share of --budget, which is not given");
            Err(failure.hint("add --budget AMOUNT, or write an amount"))
        }
        (Some(JudgeBudget::Amount(amount)), Some(whole)) if *amount > whole => {
            let message =
                format!("--judge-budget {amount} is more than --budget {whole}, which counts it");
            Err(Failure::usage(message))
        }
        (Some(JudgeBudget::Amount(amount)), _) => Ok(Some(*amount)),
    }
}

/// What judges may spend, and where their answers are kept.
fn judges(args: &ExecuteArgs, scenarios: &[Scenario]) -> Result<Judges, Failure> {
    let budget = judge_budget(args)?;
    let option = match (&args.judging.judge_budget, args.budget) {
        (Some(_), _) => Some("--judge-budget"),
        (None, Some(_)) => Some("--budget"),
        (None, None) => None,
    };
    if let Some(option) = option {
        suite::check_budget(scenarios, option)?;
    }
    Ok(Judges {
        budget,
        cache: (!args.judging.no_cache).then(|| CACHE.clone()),
    })
}

/// The servers of a client's configuration. Those that cannot be read must be ones that no scenario needs.
fn servers(path: &Path, scenarios: &[Scenario], console: Console) -> Result<Vec<Server>, Failure> {
    let read = scenario_file::servers::client_servers(path);
    let ClientServers { servers, unread } =
        read.map_err(|problem| Failure::usage(problem.to_string()))?;
    let is_needed = |name: &str| {
        let mut run = scenarios.iter().filter(|it| it.enabled);
        run.any(|it| scenario_file::may_need(it, name))
    };
    let (needed, other): (Vec<_>, Vec<_>) = unread.into_iter().partition(|it| is_needed(&it.name));
    if !needed.is_empty() {
        let findings: Vec<_> = needed.into_iter().flat_map(|it| it.findings).collect();
        return Err(Failure::invalid(&findings));
    }
    for it in other {
        let why: Vec<_> = it.findings.into_iter().map(|it| it.message).collect();
        console.note(&format!(
            "note: the server `{}` of {} is left out, because no scenario names it and it cannot be used: {}",
            it.name,
            path.display(),
            why.join("; ")
        ));
    }
    Ok(servers)
}

/// This program. Where its file was removed or replaced while it runs, the system still has it.
pub(super) fn program() -> PathBuf {
    let there = std::env::current_exe().ok().filter(|it| it.exists());
    there.unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
}

/// Where baselines lie.
pub(super) fn baselines(given: Option<&PathBuf>) -> PathBuf {
    given.cloned().unwrap_or_else(|| PathBuf::from(BASELINES))
}

/// What the arguments say of scoring.
pub(super) fn scoring(args: &ScoreArgs) -> ScoreSettings {
    ScoreSettings {
        threshold: args.threshold,
        pass_threshold: args.pass_threshold,
        strict: args.strict,
        preset: args.preset.map(|it| match it {
            Preset::Standard => rules::Preset::Standard,
            Preset::Classic => rules::Preset::Classic,
        }),
    }
}

/// Gives the scenarios the agent, the model and the judge that the arguments name, in the cells of a matrix those of each cell.
///
/// # Errors
///
/// When a scenario lacks what its agent needs, or nothing can be made of an option.
pub(super) fn choose(scenarios: &mut [Scenario], args: &ExecuteArgs) -> Result<(), Failure> {
    let tells_program = args.agent_command.is_some() || args.agent_format.is_some();
    if tells_program && !matches!(args.agent, None | Some(AgentChoice::Command)) {
        let message = "--agent-command and --agent-format go with --agent command";
        return Err(Failure::usage(message));
    }
    // Where a matrix varies the agent, the program is that of its cells with `command`.
    let varies = args.matrix.iter().any(|it| it.name == AxisName::Agent);
    let command = (tells_program && !varies).then_some(AgentChoice::Command);
    let choice = Choice {
        agent: args.agent.or(command).map(Into::into),
        program: args.agent_command.as_ref().map(|it| it.words.clone()),
        format: args.agent_format.map(|it| match it {
            FormatChoice::Generic => CommandFormat::Generic,
            FormatChoice::Claude => CommandFormat::Claude,
            FormatChoice::Codex => CommandFormat::Codex,
            FormatChoice::Gemini => CommandFormat::Gemini,
        }),
        model: args.model.clone(),
        budget: args.budget,
    };
    if args.matrix.is_empty() {
        suite::choose(scenarios, &choice)?;
    } else {
        matrix::settle(scenarios, &choice)?;
    }
    if let Some(path) = &args.judging.judge {
        let judge = scenario_file::judge::judge_file(path).map_err(|it| Failure::invalid(&it))?;
        suite::appoint(scenarios, &judge);
    }
    Ok(())
}

impl From<ProtocolChoice> for Protocol {
    fn from(it: ProtocolChoice) -> Self {
        match it {
            ProtocolChoice::Legacy => Self::Legacy,
            ProtocolChoice::Auto => Self::Auto,
            ProtocolChoice::Stateless => Self::Stateless,
        }
    }
}

impl From<AgentChoice> for suite::AgentChoice {
    fn from(it: AgentChoice) -> Self {
        match it {
            AgentChoice::Scripted => Self::Scripted,
            AgentChoice::Replay => Self::Replay,
            AgentChoice::Anthropic => Self::Anthropic,
            AgentChoice::Openai => Self::OpenAi,
            AgentChoice::Ollama => Self::Ollama,
            AgentChoice::Command => Self::Command,
        }
    }
}

/// Runs scenarios as `work` does, with progress and until a signal. `command` is the one that the result names.
///
/// # Errors
///
/// Why they could not be run at all.
pub(super) fn play<F>(
    suite: (&'static str, Vec<Scenario>),
    settings: &Settings,
    console: Console,
    work: impl FnOnce(Suite) -> F,
) -> Result<Finished, Failure>
where
    F: Future<Output = Result<Finished, suite::Error>>,
{
    play_round(&Round::default(), suite, settings, console, work)
}

/// The same until the end of a round, which gets to know what came of it.
///
/// # Errors
///
/// Why they could not be run at all.
pub(super) fn play_round<F>(
    round: &Round,
    (command, scenarios): (&'static str, Vec<Scenario>),
    settings: &Settings,
    console: Console,
    work: impl FnOnce(Suite) -> F,
) -> Result<Finished, Failure>
where
    F: Future<Output = Result<Finished, suite::Error>>,
{
    let runtime = runtime::running(settings.jobs, scenarios.len())?;
    let finished = runtime.block_on(async {
        let progress = SuiteProgress::new((command, scenarios.len()), console);
        let suite = Suite {
            scenarios,
            observer: Arc::new(SuiteObserver(progress)),
            interrupt: round.interrupt(),
        };
        work(suite).await
    });
    // Does not wait for a server that keeps its pipes open.
    runtime.shutdown_background();
    let finished = finished?;
    round.note(&finished.suite);
    Ok(finished)
}
