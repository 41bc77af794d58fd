//! The results of scenarios over time, format version 1: what `mcp-eval history --format json` prints.
//!
//! Within the version members may be added; a member never changes its meaning and never goes away. Numbers that are not known are `null`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Status;
use crate::repeated::percent;
use crate::usage::Tokens;

/// The version this program writes.
pub const FORMAT_VERSION: u32 = 1;

/// What stands for servers in whose place what was recorded of them answered.
pub const RECORDED: &str = "recorded";

/// Scenarios with their latest results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "mcp-eval history")]
pub struct HistoryDocument {
    /// The version of this format.
    #[schemars(extend("const" = 1))]
    pub format_version: u32,
    /// The version of mcp-eval that wrote the document.
    pub mcp_eval: String,
    /// The database, without what gives access to it.
    pub database: String,
    /// How many of the latest results of each scenario were looked at.
    pub last: usize,
    /// In the order of their ids; one that was run with several agents or models, or against its servers and against what was recorded of them,
    /// is there once for each.
    pub scenarios: Vec<History>,
    /// The scenarios whose median is the longest, those whose verdicts flip most, and those that cost most, at most ten each.
    pub slowest: Vec<Ranked>,
    pub flakiest: Vec<Ranked>,
    pub most_expensive: Vec<Ranked>,
    /// What was wanted of durations, with `--max-slowdown`; `null` without.
    pub gate: Option<SlowdownGate>,
}

/// The results of one scenario with one agent and model, of the servers or of what was recorded of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// The scenario's id.
    pub id: String,
    pub name: String,
    /// The scenario file, as the user named it.
    pub path: String,
    pub tags: Vec<String>,
    /// The kind of agent; `null` where nothing ran.
    pub agent: Option<String>,
    pub model: Option<String>,
    /// Who answered: `live` for the servers, `recorded` for what was recorded of them; `null` where nothing ran.
    #[serde(default)]
    pub servers: Option<String>,
    /// The oldest first.
    pub results: Vec<HistoryResult>,
    /// Why it was not run when it was to be run last, after all these results; `null` where it was.
    #[serde(default)]
    pub skipped: Option<Skipped>,
    /// How many have a verdict, and how many of these passed.
    pub judged: usize,
    pub passed: usize,
    /// `passed / judged`; `null` without a verdict.
    pub pass_rate: Option<f64>,
    /// How many have no verdict because something was in the way, and how many because it took too long.
    pub errors: usize,
    pub timeouts: usize,
    /// How many were stopped by somebody.
    #[serde(default)]
    pub interrupted: usize,
    /// How often the verdict of one and the same state of the code flipped, by the pairs of neighbouring verdicts of one, a result whose own
    /// runs disagreed counting as a flip; `null` where there is no pair.
    pub flakiness: Option<f64>,
    /// Of the results that have one.
    pub median_duration_ms: Option<f64>,
    pub median_score: Option<f64>,
    /// What the results cost whose cost is known, in sum; `null` where none is.
    pub known_cost: Option<f64>,
    /// Since when it does not pass, be it by a verdict, an error or a timeout; `null` where it did so at last.
    pub first_bad: Option<FirstBad>,
    /// What became of its duration; `null` where too little is known.
    pub slowdown: Option<Slowdown>,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryResult {
    /// The id of the result in the database.
    pub id: String,
    /// The id of the run.
    pub run: String,
    pub command: String,
    /// When the result was there (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub at: String,
    pub status: Status,
    /// The first thing that speaks against it; `null` when it passed.
    pub reason: Option<String>,
    /// 0 to 1; `null` where nothing was compared.
    pub score: Option<f64>,
    /// Wall time in milliseconds; `null` when nothing ran.
    pub duration_ms: Option<f64>,
    /// How many things differ from the baseline.
    pub changes: u64,
    /// How many runs it is made of, and how many of those with a verdict passed.
    pub attempts: u64,
    pub attempts_judged: u64,
    pub attempts_passed: u64,
    /// It passed on a later try, or its runs did not agree.
    pub flaky: bool,
    /// Whether the servers answered, or what was recorded of them: `live` or `recorded`.
    pub servers: Option<String>,
    pub tokens: Tokens,
    pub cost: Option<f64>,
    /// The system under test, where the scenario names its source.
    pub source: Option<Commit>,
    /// The repository of the scenario's file.
    pub scenarios: Option<Commit>,
}

/// A run that left a scenario out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    pub run: String,
    /// RFC 3339.
    #[schemars(extend("format" = "date-time"))]
    pub at: String,
    /// Somebody has chosen that: `enabled: false`.
    pub disabled: bool,
    pub reason: Option<String>,
}

/// A commit that a result is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    pub commit: String,
    pub short: String,
    pub branch: Option<String>,
    /// The first line of its message.
    pub subject: String,
    /// Whether files differed from it; `null` where nobody knows.
    pub dirty: Option<bool>,
}

/// Since when a scenario does not pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FirstBad {
    /// The first run that failed, broke or took too long since the last good one, of those that were looked at.
    pub run: String,
    pub at: String,
    pub reason: Option<String>,
    /// The last run that passed; `null` where none did.
    pub last_good: Option<String>,
    /// What lies between the two in the source of the system under test, or else in the repository of the scenario's file; `null` where that is
    /// not known, or nothing does.
    pub range: Option<CommitRange>,
    /// What finds the commit between them; `null` where the scenario names no source.
    pub bisect: Option<String>,
}

/// From one commit to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitRange {
    pub good: Commit,
    pub bad: Commit,
    /// It is that of the source of the system under test.
    pub of_source: bool,
}

/// The latest duration by those before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slowdown {
    pub latest_ms: f64,
    /// The median of the results before that passed.
    pub median_ms: f64,
    /// How many these are.
    pub of: usize,
    /// `latest_ms / median_ms`.
    pub factor: f64,
}

/// What durations were held to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowdownGate {
    /// The largest factor that passes.
    pub max_factor: f64,
    /// Whether nothing that was measured is too slow; `null` where nothing is, and nothing was measured, or the latest run of something that
    /// could have been took no time that anybody knows.
    pub passed: Option<bool>,
    /// How many scenarios were measured; the others have too few results.
    pub measured: usize,
    /// How many results that passed it takes before the latest, and how many the scenario with most of them has.
    pub needed: usize,
    pub most: usize,
    /// Those that are too slow.
    pub too_slow: Vec<TooSlow>,
    /// Those with results enough before their latest one, which did not run, or not to its end.
    #[serde(default)]
    pub unmeasured: Vec<Unmeasured>,
    /// The ids of those with results enough that are disabled by now, and hold nothing up.
    #[serde(default)]
    pub disabled: Vec<String>,
}

/// Whose history something is said of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    pub id: String,
    pub agent: Option<String>,
    pub model: Option<String>,
    /// As of its history.
    #[serde(default)]
    pub servers: Option<String>,
}

/// A scenario that has become too slow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TooSlow {
    #[serde(flatten)]
    pub of: Subject,
    pub slowdown: Slowdown,
}

/// A scenario of whose latest result nobody knows how long it would have taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unmeasured {
    #[serde(flatten)]
    pub of: Subject,
    /// What came of it.
    pub status: Status,
}

/// A scenario with what it is ranked by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranked {
    #[serde(flatten)]
    pub of: Subject,
    /// Milliseconds, a share, or an amount.
    pub value: f64,
}

/// The JSON Schema (draft 2020-12) of the document, made from the types.
pub fn json_schema() -> Value {
    schemars::schema_for!(HistoryDocument).to_value()
}

impl History {
    /// What it is the history of.
    pub fn subject(&self) -> Subject {
        Subject {
            id: self.id.clone(),
            agent: self.agent.clone(),
            model: self.model.clone(),
            servers: self.servers.clone(),
        }
    }

    /// The latest result.
    pub fn latest(&self) -> Option<&HistoryResult> {
        self.results.last()
    }

    /// How many passed: `11 of 12 passed (92 %), 1 error`.
    pub fn passed_words(&self) -> String {
        let passed = match self.pass_rate {
            Some(rate) => format!(
                "{} of {} passed ({})",
                self.passed,
                self.judged,
                percent(rate)
            ),
            None => "no verdict".to_owned(),
        };
        [passed]
            .into_iter()
            .chain(self.broken_words())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// `2 errors, 1 timeout, 1 interrupted`; `None` where there is none of them.
    pub fn broken_words(&self) -> Option<String> {
        let interrupted = match self.interrupted {
            0 => None,
            some => Some(format!("{some} interrupted")),
        };
        let counted = [(self.errors, "error"), (self.timeouts, "timeout")];
        let words = counted.into_iter().filter_map(|(count, what)| match count {
            0 => None,
            1 => Some(format!("1 {what}")),
            several => Some(format!("{several} {what}s")),
        });
        let words: Vec<String> = words.chain(interrupted).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Who drove it, and that nobody real answered: `openai gpt-5, recorded servers`; empty where nothing ran.
    pub fn driver(&self) -> String {
        self.subject().driver()
    }

    /// Whether what was recorded of the servers answered in their place.
    pub fn is_recorded(&self) -> bool {
        self.servers.as_deref() == Some(RECORDED)
    }

    /// Whether somebody has disabled it since its latest result.
    pub fn is_disabled(&self) -> bool {
        self.skipped.as_ref().is_some_and(|it| it.disabled)
    }

    /// That it was left out since: `not run in 2026-11-22T10-00-00.000Z: the scenario is disabled`.
    pub fn skipped_words(&self) -> Option<String> {
        let skipped = self.skipped.as_ref()?;
        let why = skipped.reason.iter().map(|it| format!(": {it}"));
        Some(format!(
            "not run in {}{}",
            skipped.run,
            why.collect::<String>()
        ))
    }
}

impl Subject {
    /// As [`History::driver`].
    pub fn driver(&self) -> String {
        let who = self.agent.iter().chain(&self.model);
        let who: Vec<&str> = who.map(String::as_str).collect();
        let recorded = self.servers.as_deref() == Some(RECORDED);
        let recorded = recorded.then_some("recorded servers");
        let who = Some(who.join(" ")).filter(|it| !it.is_empty());
        let parts: Vec<&str> = who.as_deref().into_iter().chain(recorded).collect();
        parts.join(", ")
    }
}

impl SlowdownGate {
    /// What came of it.
    pub fn words(&self) -> String {
        let unmeasured = match self.unmeasured.len() {
            0 => String::new(),
            1 => "; the latest run of 1 more tells no duration".to_owned(),
            several => format!("; the latest runs of {several} more tell no duration"),
        };
        let disabled = match self.disabled.len() {
            0 => String::new(),
            1 => "; 1 is disabled, and was not measured".to_owned(),
            several => format!("; {several} are disabled, and were not measured"),
        };
        if self.measured > 0 || !unmeasured.is_empty() {
            return format!(
                "{} of {} measured scenarios took more than {} × as long as usual{unmeasured}{disabled}",
                self.too_slow.len(),
                self.measured,
                self.max_factor
            );
        }
        if !disabled.is_empty() {
            return format!("nothing could be measured{disabled}");
        }
        let there = match self.most {
            0 => "none".to_owned(),
            most => format!("{most} at most"),
        };
        format!(
            "nothing could be measured: it takes {} results of one scenario that passed before its latest, with the same agent and model, and there are {there}",
            self.needed
        )
    }
}

impl HistoryResult {
    /// The commit that tells most of what it is of: that of the source, or else that of the scenario's file.
    pub fn commit(&self) -> Option<&Commit> {
        self.source.as_ref().or(self.scenarios.as_ref())
    }

    /// Whether what was recorded of the servers answered in their place, or would have.
    pub fn is_recorded(&self) -> bool {
        self.servers.as_deref() == Some(RECORDED)
    }

    /// How long it takes in milliseconds; `None` where it did not run, or not as long as it would have.
    pub fn took(&self) -> Option<f64> {
        self.duration_ms
            .filter(|it| *it > 0.0 && self.status != Status::Interrupted)
    }

    /// Whether it passed; `None` where there is no verdict.
    pub fn verdict(&self) -> Option<bool> {
        match self.status {
            Status::Passed => Some(true),
            Status::Failed => Some(false),
            _ => None,
        }
    }

    /// Whether it went well: an error and a timeout, which have no verdict, did not. `None` where it decides nothing.
    pub fn went_well(&self) -> Option<bool> {
        match self.status {
            Status::Error | Status::Timeout => Some(false),
            _ => self.verdict(),
        }
    }
}

impl Commit {
    /// `3f2c1ab`, or `3f2c1ab+` where files differed from it.
    pub fn words(&self) -> String {
        let changed = if self.dirty == Some(true) { "+" } else { "" };
        format!("{}{changed}", self.short)
    }
}
