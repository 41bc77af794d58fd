//! One scenario in the published result.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::published::measured::Measured;
use crate::text::plural;
use crate::{
    Asked, Band, Cell, Change, Check, Direct, Evaluation, ExperimentChange, ExperimentPart, NotRun,
    Problem, Retried, Servers, Status, Unsteady,
};

use super::{Comparison, EvaluationSummary, GateKind, Quarantine, Side};
use crate::repeated::Repeated;
use crate::usage::TotalUse;

/// The outcome of one scenario.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scenario {
    /// Path below the scenarios folder, without extension.
    pub id: String,
    pub name: String,
    /// The scenario file, as the user named it.
    pub path: String,
    /// The line of that file that says its name, counted from 1; absent where no file of its own does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column in that line where the name begins, in characters, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    pub tags: Vec<String>,
    pub description: Option<String>,
    /// What the user wanted.
    pub user_intent: Option<String>,
    /// The scenario file of whose data set it is a row, by the id that begins its own; absent where it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_of: Option<String>,
    /// With `--matrix`, the settings it was run with; absent without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<Box<Cell>>,
    /// How the two runs that are compared are not the same experiment; empty where they are, or nothing is compared. They gate only with
    /// `--allow-changed` then.
    #[serde(default)]
    pub experiment_changes: Vec<ExperimentChange>,
    pub status: Status,
    /// Wall time in milliseconds, of all runs together with `--repeat`; `null` when nothing ran.
    pub duration_ms: Option<f64>,
    /// Why it was not run; absent where it was, or could not be, and in results of earlier programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<NotRun>,
    /// Why there is no verdict, or why the scenario was not run.
    pub problem: Option<Problem>,
    /// The other version or run that takes the part of the baseline, such as `git:HEAD~1 (3f2c1ab Say seven)`; absent where a baseline does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<String>,
    /// What a reader should know although it changes no status.
    pub notes: Vec<String>,
    /// What recording learned, and where it is kept, a sentence each; absent for other commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// What of the calls failed, whatever the run was compared with; where the scenario passed, it failed as it did when the baseline was
    /// accepted. Absent where nothing did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<String>,
    /// The scenario's rules that can have no effect, as far as the run shows it, a sentence each; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle_rules: Vec<String>,
    /// A stored run of it was scored, and no file of the scenario is here: nothing but the comparison counts; absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_rules: bool,
    /// Where the log of the scenario's container, and of servers that were started for it, is kept, relative to this document; `null` where
    /// there are none.
    #[serde(default)]
    pub container_log: Option<String>,
    /// Expectations of the scenario itself, met or not.
    pub checks: Vec<Check>,
    /// What the scenario's evaluators found, in their order; absent where it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evaluators: Vec<Evaluation>,
    /// What the gating ones come to together; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<EvaluationSummary>,
    /// Nothing differs between the two sides; absent where something does, or nothing was compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// One sentence on who changed: the agent, the server or the tool catalogue; `null` where nothing was compared.
    pub in_words: Option<String>,
    /// The accepted run; for the command `run`, what the scenario expects.
    pub baseline: Option<Side>,
    /// The run this result is about.
    pub current: Option<Side>,
    pub comparison: Option<Comparison>,
    /// What all runs of the scenario came to, with `--repeat`; absent without. `current`, `comparison`, `checks` and `in_words` are then
    /// about one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Box<Repeated>>,
    /// It passed, and not on its first try, or its servers are unsteady; absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flaky: bool,
    /// The earlier tries, which could not be run or judged; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retried: Vec<Retried>,
    /// What was answered in two ways, where that is why there is no verdict (`inconclusive`); absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsteady: Option<Box<Unsteady>>,
    /// What asking judges took, in all its runs; absent where none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<TotalUse>,
    /// Why it decides nothing, and until when; absent where it decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<Quarantine>,
    /// It failed, and the share of scenarios that the suite wants to pass is reached all the same: the gates that say so; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_gate: Option<String>,
    /// It failed, and this is a part of a suite: whether enough scenarios pass is what `merge` decides for all parts, by the gates that say
    /// so; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_to_merge: Option<String>,
    /// What the servers do to the answers of those behind them, with `compare --direct`; absent without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<Box<Direct>>,
    /// What was measured, for a scenario of a tool search or of scanners: what `mcp-eval retrieval` and `mcp-eval security` write as
    /// `report.json`; absent for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
}

impl Check {
    /// The full name of the tool whose call failed, where it is about that.
    pub fn failed_tool(&self) -> Option<&str> {
        match &self.asked {
            Some(Asked::Success(tool)) => Some(tool),
            _ => None,
        }
    }
}

impl fmt::Display for ExperimentChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.what {
            ExperimentPart::Model => "model",
            ExperimentPart::Agent => "agent",
            ExperimentPart::Scenario => match &self.part {
                None => return f.write_str("the scenario has changed"),
                Some(part) if self.baseline.is_none() && self.current.is_none() => {
                    return write!(f, "{part} has changed");
                }
                Some(part) => &format!("{part}:"),
            },
        };
        let or_none = |it: &'_ Option<String>| it.clone().unwrap_or_else(|| "none".to_owned());
        let (was, is) = (or_none(&self.baseline), or_none(&self.current));
        write!(f, "{name} {was} → {is}")
    }
}

impl Scenario {
    /// Whether it was to run: all but what is disabled, or cannot run where it was.
    pub fn was_to_run(&self) -> bool {
        let not_run = self.not_run;
        self.status != Status::Skipped || not_run.is_some_and(NotRun::is_not_started)
    }

    /// `not the same experiment: model a → b`; `None` where it is the same.
    pub fn not_the_same_experiment(&self) -> Option<String> {
        let changes = self.experiment_changes.iter().map(ToString::to_string);
        let changes = changes.collect::<Vec<_>>().join(", ");
        (!changes.is_empty()).then(|| format!("not the same experiment: {changes}"))
    }

    /// Whether what was recorded of the servers has answered in their name.
    pub fn has_recorded_servers(&self) -> bool {
        let current = self.current.as_ref();
        current.is_some_and(|it| it.stamp.servers == Servers::Recorded)
    }

    /// The left side where it was recorded; for the command `run` it is what the scenario expects, which has neither stamp nor servers.
    pub fn recorded_baseline(&self, command: &str) -> Option<&Side> {
        self.baseline.as_ref().filter(|_| command != "run")
    }

    /// Nothing is known of it but why it was left out. What was interrupted may have a run to look at.
    pub fn is_left_out(&self) -> bool {
        self.status.is_left_out() && self.current.is_none()
    }

    /// Whatever differs between baseline and run, whether it fails the gate or not.
    pub fn changes(&self) -> &[Change] {
        self.comparison.as_ref().map_or(&[], |it| &it.changes)
    }

    /// It came out well, and yet not everything is as it was.
    pub fn is_changed(&self) -> bool {
        let moved = self.measured.as_ref().map_or(0, Measured::moved);
        self.status.is_fine()
            && (!self.changes().is_empty() || self.changed_attempts() > 0 || moved > 0)
    }

    /// It decides nothing, however it came out.
    pub fn is_quarantined(&self) -> bool {
        self.quarantine.as_ref().is_some_and(|it| !it.is_over)
    }

    /// Nothing judged it, or its servers are unsteady, so that it decides as what could not be judged does.
    pub fn is_undecided(&self) -> bool {
        let is_asked = match &self.unsteady {
            Some(unsteady) => unsteady.gates,
            None => self.problem.is_some() && self.measured.is_none(),
        };
        self.status == Status::Inconclusive && is_asked
    }

    /// It did not come out well, and decides nothing.
    pub fn is_tolerated(&self) -> bool {
        self.is_quarantined() && !self.status.is_fine() && self.status != Status::Skipped
    }

    /// It did not come out well, and no exit code says so: it is quarantined, or the suite wants only a share of its scenarios to pass, and
    /// that is reached, or not decided here.
    pub fn is_let_pass(&self) -> bool {
        self.is_tolerated() || self.share().is_some()
    }

    /// The gates for a share of scenarios that let it fail, in words; `None` where none does.
    pub fn share(&self) -> Option<&String> {
        self.within_gate.as_ref().or(self.left_to_merge.as_ref())
    }

    /// It passed, and nothing is known to differ from the baseline. What an older program did not look for is not said to be so.
    pub fn is_unchanged(&self) -> bool {
        self.status == Status::Passed && !self.is_changed() && self.unchanged
    }

    /// What of the calls failed as it did when the baseline was accepted, where the scenario passed all the same.
    pub fn fails_as_before(&self) -> &[String] {
        // Of several runs, the one that is shown may be one that failed.
        let passed = self.comparison.as_ref().is_some_and(|it| it.passed);
        match self.status {
            Status::Passed if passed => &self.failing,
            _ => &[],
        }
    }

    /// Only `--allow-failing` accepts it: calls failed, an expectation is not met, or an evaluator speaks against it.
    pub fn fails_by_itself(&self) -> bool {
        let evaluation = self.evaluation.as_ref();
        !self.failing.is_empty()
            || self.checks.iter().any(Check::fails)
            || self.evaluators.iter().any(Evaluation::fails)
            || evaluation.is_some_and(EvaluationSummary::is_below)
    }

    /// It was kept although something speaks against it.
    pub fn is_failing(&self) -> bool {
        self.status == Status::Recorded && self.problem.is_some()
    }

    /// How many of several runs differ from the baseline. Those that a baseline was just chosen from are measured by it, which is no change.
    pub fn changed_attempts(&self) -> usize {
        let attempts = self.repeated.iter().flat_map(|it| &it.attempts);
        let changed = attempts.filter(|it| it.changes > 0 && self.status != Status::Recorded);
        changed.count()
    }

    /// What changed, counted: `2 changes`; empty where nothing did. What differs from an expectation is no change, but a deviation.
    pub fn changes_words(&self, command: &str) -> String {
        if let Some(measured) = &self.measured {
            return measured.moved_words();
        }
        let (one, many) = if command == "run" {
            ("1 deviation", "deviations")
        } else {
            ("1 change", "changes")
        };
        let counted = |count: usize| match count {
            0 => String::new(),
            1 => one.to_owned(),
            more => format!("{more} {many}"),
        };
        let words = counted(self.changes().len());
        match (&self.repeated, self.changed_attempts()) {
            (Some(repeated), attempts @ 1..) => {
                format!("{many} in {attempts} of {} runs", repeated.runs)
            }
            _ => words,
        }
    }

    /// The status for people: `passed`, `passed, 2 changes`, `recorded, failing`, `failed`.
    pub fn status_words(&self, command: &str) -> String {
        let mut words = self.status.name().to_owned();
        if self.is_failing() {
            words.push_str(", failing");
        }
        if self.flaky {
            words.push_str(", flaky");
        }
        if self.is_tolerated() {
            words.push_str(", quarantined");
        }
        if self.within_gate.is_some() {
            words.push_str(", within ");
            words.push_str(GateKind::MinPassRate.name());
        }
        if self.left_to_merge.is_some() {
            words.push_str(", left to merge");
        }
        if self.is_changed() {
            words.push_str(", ");
            words.push_str(&self.changes_words(command));
        }
        words
    }

    /// A sign that tells the status without colour, and whether something changed.
    pub fn symbol(&self) -> &'static str {
        if self.is_failing() {
            "!"
        } else if self.is_changed() {
            "~"
        } else {
            self.status.symbol()
        }
    }

    /// The band of the score; `None` without one. What failed is never good, whatever its score.
    pub fn band(&self) -> Option<Band> {
        let band = self.comparison.as_ref()?.band;
        let failed = self.status == Status::Failed;
        Some(if failed {
            band.min(Band::Acceptable)
        } else {
            band
        })
    }

    /// What to do about it; nobody should read `deploy` beside a failed verdict.
    pub fn advice(&self) -> Option<&str> {
        let comparison = self.comparison.as_ref()?;
        let failed = self.status == Status::Failed && comparison.band >= Band::Acceptable;
        Some(if failed { "review" } else { &comparison.advice })
    }

    /// Everything that speaks against passing, one sentence each: the verdict's reasons without what follows from them, then the unmet
    /// expectations.
    pub fn reasons(&self) -> Vec<String> {
        let verdict = self.comparison.iter().flat_map(Comparison::grouped);
        verdict
            .map(|it| it.headline())
            .chain(self.unmet())
            .collect()
    }

    /// The unmet expectations, one sentence each.
    pub fn unmet_checks(&self) -> impl Iterator<Item = String> {
        let unmet = self.checks.iter().filter(|it| it.fails());
        unmet.map(|it| format!("{}: {}", it.name, it.message))
    }

    /// The same, and the gating evaluators that fail.
    pub fn unmet(&self) -> Vec<String> {
        let failed = self.evaluators.iter().filter(|it| it.fails());
        let summary = self.evaluation.iter();
        self.unmet_checks()
            .chain(failed.map(ToString::to_string))
            .chain(summary.filter_map(EvaluationSummary::shortfall))
            .collect()
    }

    /// The evaluators of which there is more to say than that they passed, but for those that the run fails for.
    pub fn evaluators_to_look_at(&self) -> impl Iterator<Item = &Evaluation> {
        let evaluators = self.evaluators.iter();
        evaluators.filter(|it| it.is_worth_a_look() && !it.fails())
    }

    /// The expectations that were not checked.
    pub fn unchecked(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|it| it.unchecked)
    }

    /// The score that stands for the scenario: the overall one, or the mean of several runs, or the main figure of what was measured; `None`
    /// where there is none.
    pub fn score(&self) -> Option<f64> {
        if let Some(repeated) = &self.repeated {
            return repeated.score.map(|it| it.mean);
        }
        let compared = self.comparison.as_ref().map(|it| it.scores.overall);
        compared.or_else(|| Some(self.measured.as_ref()?.main()?.1))
    }

    /// What the model used, in all runs of the scenario; `None` without one.
    pub fn usage(&self) -> Option<TotalUse> {
        match &self.repeated {
            Some(repeated) => repeated.usage,
            None => self.current.as_ref()?.usage.as_ref().map(Into::into),
        }
    }

    /// What all models took: that of its agent and its judges, earlier tries included.
    pub fn all_usage(&self) -> impl Iterator<Item = TotalUse> {
        let tries = self.retried.iter().filter_map(|it| it.usage);
        self.usage().into_iter().chain(self.judging).chain(tries)
    }

    /// The numbers of scored calls, for people: `3`, or `3 → 2` where the two sides differ.
    pub fn calls(&self) -> Option<String> {
        let before = self.baseline.as_ref().map(|it| it.calls);
        let now = self.current.as_ref().map(|it| it.calls);
        match (before, now) {
            (Some(before), Some(now)) if before != now && self.comparison.is_some() => {
                Some(format!("{before} → {now}"))
            }
            (_, Some(now)) => Some(now.to_string()),
            (_, None) => None,
        }
    }

    /// The same with its noun: `3 calls`. Where nothing is called, the tools that are listed are what is compared: `0 calls, 13 tools
    /// pinned`.
    pub fn calls_in_words(&self, command: &str) -> Option<String> {
        let calls = self.calls()?;
        let noun = if calls == "1" { "call" } else { "calls" };
        let words = format!("{calls} {noun}");
        if calls != "0" {
            return Some(words);
        }
        let baseline = self.recorded_baseline(command);
        let servers = &baseline.or(self.current.as_ref())?.servers;
        let verb = if command == "run" { "listed" } else { "pinned" };
        Some(match servers.iter().map(|it| it.tools).sum::<usize>() {
            0 => words,
            tools => format!("{words}, {} {verb}", plural(tools, "tool")),
        })
    }
}
