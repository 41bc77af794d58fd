//! From the scenarios that are selected to those that a command runs here: given their agent, and parted.

use std::path::Path;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::cli::args::{ExecuteArgs, PlanArgs, ScoreArgs, SelectArgs};
use crate::cli::finish::ShardOf;
use crate::cli::round::Round;
use crate::cli::select::{Chosen, Purpose, Selected};
use crate::cli::suite::choose;
use crate::cli::{Console, Exit, Failure, shuffle, suite_file};
use crate::model::Selection;
use crate::published::result::Shard;
use crate::redact;
use crate::report::duration;
use crate::scenario_file::Scenario;
use crate::scenario_file::suites::{Around, SuiteFile};
use crate::suite::{self, BASELINES, Jobs, Part, Settings};
use crate::text::plural;

/// What a command runs, or why it need not.
pub(super) enum Planned {
    ToRun(Box<ToRun>),
    /// Nothing has changed, which is said in this sentence.
    Unchanged(String),
}

/// What a command runs.
pub(super) struct ToRun {
    pub(super) scenarios: Vec<Scenario>,
    /// The ids of all that were selected, whoever runs them.
    pub(super) selected: Vec<String>,
    /// What part of all scenarios these are, whoever runs them; `None` for all.
    pub(super) selection: Option<Selection>,
    /// The suite file that is followed.
    suite: Option<SuiteFile>,
    /// When the command began, in UTC.
    today: Date,
    /// The ids of the scenarios in the order in which they begin; empty for the order given.
    order: Vec<String>,
    /// The number that made that order, where it is a random one.
    pub(super) shuffle_seed: Option<u32>,
    shard: Option<Shard>,
    /// What there is to tell where a part has nothing to do.
    idle: Option<Exit>,
}

impl ToRun {
    /// The scenarios in the order in which they begin.
    pub(super) fn in_order(&self) -> Vec<&Scenario> {
        let mut scenarios: Vec<&Scenario> = self.scenarios.iter().collect();
        let place = |id: &str| self.order.iter().position(|it| it == id);
        scenarios.sort_by_key(|it| place(&it.id).unwrap_or(usize::MAX));
        scenarios
    }

    /// The part that this is of all that was selected, where it is one.
    pub(super) fn shard(&self) -> Option<ShardOf<'_>> {
        let idle = self.idle;
        self.shard.as_ref().map(|shard| ShardOf { shard, idle })
    }

    /// The suite file that is followed, and the day by which its quarantine ends or goes on.
    pub(super) fn suite_of(&self) -> Option<(&SuiteFile, Date)> {
        self.suite.as_ref().map(|it| (it, self.today))
    }

    /// Says which options mean nothing to searches and scanners that are measured.
    pub(super) fn tell_idle(&self, execute: &ExecuteArgs, score: &ScoreArgs, console: Console) {
        let mut measured = self.scenarios.iter().filter(|it| it.measurement.is_some());
        let Some(first) = measured.next() else {
            return;
        };
        let options = [
            ("--threshold", score.threshold.is_some()),
            ("--preset", score.preset.is_some()),
            ("--agent", execute.agent.is_some()),
            ("--agent-command", execute.agent_command.is_some()),
            ("--model", execute.model.is_some()),
            ("--matrix", !execute.matrix.is_empty()),
        ];
        let given = options.iter().filter(|it| it.1);
        let given: Vec<String> = given.map(|it| format!("`{}`", it.0)).collect();
        if !given.is_empty() {
            console.note(&format!(
                "warning: of no matter to searches and scanners, such as `{}`, which have gates of their own: {}",
                first.id,
                given.join(", ")
            ));
        }
    }

    /// The settings of the command line with what the suite file says beside them. What the command line says goes before.
    pub(super) fn settle(&self, settings: Settings) -> Settings {
        let order = self.order.clone();
        let Some(suite) = &self.suite else {
            return Settings { order, ..settings };
        };
        let jobs = suite.jobs.filter(|_| settings.jobs == Jobs::Auto);
        Settings {
            jobs: jobs.map_or(settings.jobs, Jobs::AtMost),
            fail_fast: settings.fail_fast || suite.fail_fast,
            order,
            retries: suite.retries.clone(),
            // A part that has nothing to do needs nothing around it.
            around: if self.scenarios.iter().any(|it| it.enabled) {
                suite.around.clone()
            } else {
                Around::default()
            },
            quarantined: suite_file::quarantined(suite, &self.scenarios, self.today),
            ..settings
        }
    }
}

/// The day, in UTC.
pub(super) fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// The scenarios that the command line picks for this command, with the agent that it names, and of those the part that is run here.
///
/// # Errors
///
/// As [`select`](crate::cli::select::select), and when a scenario lacks what its agent needs.
pub(super) fn to_run(
    round: &Round,
    (select, plan, execute): (&SelectArgs, &PlanArgs, &ExecuteArgs),
    (purpose, command): (Purpose<'_>, &str),
    console: Console,
) -> Result<Planned, Failure> {
    let mut chosen = match round.select(select, purpose, console)? {
        Selected::Scenarios(chosen) => chosen,
        // Others wait for a result of this part, too.
        Selected::Unchanged(sentence) if plan.shard.is_some() => {
            console.note(&sentence);
            Chosen::default()
        }
        Selected::Unchanged(sentence) => return Ok(Planned::Unchanged(sentence)),
    };
    let suite = plan.suite.as_deref();
    let suite = suite.map(|it| suite_file::load(it, select, today(), console));
    let mut suite = suite.transpose()?;
    if let Some(suite) = &mut suite {
        suite_file::pick(suite, &mut chosen.scenarios)?;
    }
    let selection = chosen.selection(command);
    let mut scenarios = chosen.scenarios;
    if !scenarios.is_empty() {
        choose(&mut scenarios, execute)?;
    }
    let order = suite.as_ref();
    let order = order.map_or_else(Vec::new, |it| suite_file::order(it, &scenarios));
    let shuffle_seed = plan
        .shuffle
        .map(|given| given.unwrap_or_else(shuffle::seed));
    let order = match shuffle_seed {
        None => order,
        Some(seed) => {
            console.note(&shuffle::words(seed));
            shuffle::shuffled(scenarios.iter().map(|it| it.id.clone()).collect(), seed)
        }
    };
    let selected = scenarios.iter().map(|it| it.id.clone()).collect();
    let whole = ToRun {
        scenarios,
        selected,
        selection,
        suite,
        today: today(),
        order,
        shuffle_seed,
        shard: None,
        idle: None,
    };
    let Some(choice) = plan.shard else {
        return Ok(Planned::ToRun(Box::new(whole)));
    };
    let scenarios = whole.scenarios;
    let all = scenarios.len();
    let is_any_enabled = scenarios.iter().any(|it| it.enabled);
    let baselines = purpose.baselines.unwrap_or(Path::new(BASELINES));
    let mut part = suite::part(scenarios, choice.index, choice.count, baselines);
    let planned = part.shard.plan.iter_mut().flat_map(|it| &mut it.scenarios);
    for it in planned {
        it.path = redact::environment().text(&it.path).into_inner();
    }
    console.note(&summary(&part, all));
    let idle = match part.scenarios.iter().any(|it| it.enabled) {
        true => None,
        false if all == 0 => Some(Exit::Unchanged),
        // Where all are disabled, nothing runs anywhere, which is never green.
        false => is_any_enabled.then_some(Exit::EmptyShard),
    };
    Ok(Planned::ToRun(Box::new(ToRun {
        scenarios: part.scenarios,
        shard: Some(part.shard),
        idle,
        ..whole
    })))
}

/// `Part 2/7: 3 of 20 scenarios, about 12 s of 84 s`.
fn summary(Part { scenarios, shard }: &Part, all: usize) -> String {
    let here = format!(
        "Part {}: {} of {}",
        shard.words(),
        scenarios.len(),
        plural(all, "scenario")
    );
    let expected: Option<Vec<f64>> = shard.plan.iter().map(|it| it.expected_ms).collect();
    let own = shard.own().and_then(|it| it.expected_ms);
    match own.zip(expected) {
        Some((own, expected)) => {
            let all = duration::words(expected.iter().sum());
            format!("{here}, about {} of {all}", duration::words(own))
        }
        None => here,
    }
}
