//! The rules of a suite file on the results of its scenarios: who decides nothing, and what all together must come to; and the gate's sentence.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use jiff::civil::Date;

use super::{Exit, without_scenarios};
use crate::model::Status;
use crate::model::number::places_apart;
use crate::published::result::{
    Gate, GateKind, GateState, Quarantine, QuarantineOf, ResultDocument, Scenario, SuiteGate,
    SuiteOf, Summary,
};
use crate::redact;
use crate::report::duration;
use crate::scenario_file::suites::{Bounds, Quarantined, SuiteFile};
use crate::text::{plural, several};

/// Whether a scenario is quarantined by this: it, or the one whose row or cell it is.
fn is_of(it: &Quarantined, scenario: &Scenario) -> bool {
    let of_cell = scenario.cell.as_ref().map(|it| it.scenario.as_str());
    let ids = [
        Some(scenario.id.as_str()),
        of_cell,
        scenario.row_of.as_deref(),
    ];
    ids.contains(&Some(it.name.as_str()))
}

/// Says in a document which scenarios are quarantined, and what the gates of the suite are. `today` is the day in UTC. A part of a suite
/// leaves its gates open.
pub(super) fn follow(document: &mut ResultDocument, file: &SuiteFile, today: Date) {
    let clean = |text: &str| redact::environment().text(text).into_inner();
    for scenario in &mut document.scenarios {
        let quarantine = file.quarantine.iter();
        let of_this = quarantine.filter(|it| is_of(it, scenario));
        let Some(found) = of_this.max_by_key(|it| it.until) else {
            continue;
        };
        let quarantine = Quarantine {
            reason: clean(&found.reason),
            until: found.until.to_string(),
            is_over: found.until < today,
        };
        scenario.notes.insert(0, quarantine.words());
        scenario.quarantine = Some(quarantine);
    }
    let tags = file
        .gates
        .tags
        .iter()
        .map(|(tag, bounds)| (Some(tag), bounds));
    let all = std::iter::once((None, &file.gates.all)).chain(tags);
    document.suite = Some(SuiteOf {
        name: clean(&file.name),
        path: clean(&file.path.display().to_string()),
        quarantine: Some(quarantined(file, &clean)),
        gates: all
            .flat_map(|(tag, bounds)| gates(tag.map(String::as_str), *bounds))
            .collect(),
    });
    document.summary = Summary::of(&document.scenarios, document.summary.selected);
    decide(document);
}

/// What a suite file says of scenarios that decide nothing, in a stable order.
fn quarantined(file: &SuiteFile, clean: &dyn Fn(&str) -> String) -> Vec<QuarantineOf> {
    let quarantine = file.quarantine.iter().map(|it| QuarantineOf {
        scenario: clean(&it.name),
        until: it.until.to_string(),
    });
    let mut quarantine: Vec<QuarantineOf> = quarantine.collect();
    quarantine.sort();
    quarantine
}

/// The gates that these bounds are, before anything is known.
fn gates(tag: Option<&str>, bounds: Bounds) -> impl Iterator<Item = SuiteGate> {
    let tag = tag.map(str::to_owned);
    let took = bounds.max_duration.map(|it| it.as_secs_f64() * 1000.0);
    let all = [
        (GateKind::MinPassRate, bounds.min_pass_rate),
        (GateKind::MaxCost, bounds.max_cost),
        (GateKind::MaxDuration, took),
    ];
    all.into_iter().filter_map(move |(what, bound)| {
        Some(SuiteGate {
            what,
            tag: tag.clone(),
            bound: bound?,
            value: None,
            state: GateState::Open,
            sentence: String::new(),
        })
    })
}

/// Finds what became of the gates, by what the scenarios came to. Those of a part stay open.
pub(super) fn decide(document: &mut ResultDocument) {
    let is_part = document.shard.as_ref().is_some_and(|it| it.count > 1);
    let Some(mut suite) = document.suite.take() else {
        return;
    };
    for gate in &mut suite.gates {
        (gate.value, gate.state) = if is_part {
            (None, GateState::Open)
        } else {
            judged(gate, document)
        };
        gate.sentence = sentence(gate, document);
    }
    document.suite = Some(suite);
}

/// What the scenarios that a gate is about came to, and whether that keeps its bound.
fn judged(gate: &SuiteGate, document: &ResultDocument) -> (Option<f64>, GateState) {
    let of_gate = document.scenarios.iter().filter(|it| is_about(gate, it));
    match gate.what {
        GateKind::MinPassRate => {
            let deciding = of_gate.filter(|it| decides(it));
            let (mut passed, mut open, mut all) = (0_u32, 0_u32, 0_u32);
            for it in deciding {
                all += 1;
                match it.status {
                    Status::Passed | Status::Recorded => passed += 1,
                    Status::Failed => {}
                    _ => open += 1,
                }
            }
            if all == 0 {
                let mut of_gate = document.scenarios.iter().filter(|it| is_about(gate, it));
                // What is quarantined leaves no gate open as long as anything else decides.
                let is_left_to_others =
                    of_gate.any(Scenario::is_quarantined) && document.scenarios.iter().any(decides);
                let state = if is_left_to_others {
                    GateState::Kept
                } else {
                    GateState::Unknown
                };
                return (None, state);
            }
            let share = |count: u32| f64::from(count) / f64::from(all);
            let state = if share(passed) >= gate.bound {
                GateState::Kept
            } else if share(passed + open) < gate.bound {
                GateState::Broken
            } else {
                GateState::Unknown
            };
            (Some(share(passed)), state)
        }
        GateKind::MaxCost => {
            let of_gate: Vec<&Scenario> = of_gate.collect();
            let used = of_gate.iter().flat_map(|it| it.all_usage());
            let used: Vec<Option<f64>> = used.map(|it| it.cost).collect();
            // The sum of nothing is written as -0.
            let known = 0.0 + used.iter().flatten().sum::<f64>();
            let is_whole =
                used.iter().all(Option::is_some) && !of_gate.into_iter().any(is_usage_unknown);
            let state = if known > gate.bound {
                GateState::Broken
            } else if is_whole {
                GateState::Kept
            } else {
                GateState::Unknown
            };
            (is_whole.then_some(known), state)
        }
        GateKind::MaxDuration => {
            let took = match gate.tag {
                None => document.duration_ms,
                Some(_) => Some(of_gate.filter_map(|it| it.duration_ms).sum()),
            };
            let state = match took {
                None => GateState::Unknown,
                Some(took) if took > gate.bound => GateState::Broken,
                Some(_) => GateState::Kept,
            };
            (took, state)
        }
    }
}

/// Whether a scenario was run by a program that does not report what it uses.
fn is_usage_unknown(scenario: &Scenario) -> bool {
    let run = scenario.current.as_ref();
    run.is_some_and(|it| it.stamp.agent == "command") && scenario.usage().is_none()
}

fn is_about(gate: &SuiteGate, scenario: &Scenario) -> bool {
    let tag = gate.tag.as_ref();
    tag.is_none_or(|tag| scenario.tags.contains(tag))
}

/// Whether a scenario counts: it was to run, and is not quarantined.
fn decides(scenario: &Scenario) -> bool {
    scenario.was_to_run() && !scenario.is_quarantined()
}

fn sentence(gate: &SuiteGate, document: &ResultDocument) -> String {
    let digits = digits(gate);
    let written = |value: f64| match gate.what {
        GateKind::MinPassRate => format!("{:.digits$} %", value * 100.0),
        GateKind::MaxCost => format!("{value}"),
        GateKind::MaxDuration if digits > FEW_DIGITS => format!("{value:.digits$} ms"),
        GateKind::MaxDuration => duration::words(value),
    };
    let of = gate.tag.as_ref();
    let of = of.map_or_else(String::new, |it| format!(" of `{it}`"));
    let name = gate.what.name();
    let bound = written(gate.bound);
    match (gate.state, gate.value.map(written)) {
        (GateState::Open, _) => format!("{name}{of}: {bound}, which `mcp-eval merge` decides"),
        (GateState::Kept, Some(value)) => format!("{name}{of}: {value}, within {bound}"),
        (GateState::Kept, None) => {
            format!(
                "{name}{of}: within {bound}{}",
                nothing_counts(gate, document)
            )
        }
        (GateState::Broken, Some(value)) => {
            format!("{name}{of}: {value}, and the bound is {bound}")
        }
        (GateState::Broken, None) => format!("{name}{of}: above {bound} already"),
        (_, Some(value)) => format!("{name}{of}: {value} so far, and the bound is {bound}"),
        (_, None) => {
            let why = nothing_counts(gate, document);
            format!("{name}{of}: not known{why}, and the bound is {bound}")
        }
    }
}

/// How many digits stand behind the point of what is rounded.
const FEW_DIGITS: usize = 1;

/// So many digits that a value which misses its bound does not look as if it were reached.
fn digits(gate: &SuiteGate) -> usize {
    let (value, bound) = (gate.value.unwrap_or(gate.bound), gate.bound);
    match gate.what {
        GateKind::MinPassRate => places_apart(value * 100.0, bound * 100.0, FEW_DIGITS),
        GateKind::MaxDuration if value.to_bits() == bound.to_bits() => FEW_DIGITS,
        GateKind::MaxDuration if duration::words(value) == duration::words(bound) => {
            places_apart(value, bound, FEW_DIGITS + 1)
        }
        GateKind::MaxDuration | GateKind::MaxCost => FEW_DIGITS,
    }
}

/// Why a share of scenarios is not known, where none of them counts.
fn nothing_counts(gate: &SuiteGate, document: &ResultDocument) -> &'static str {
    let mut of_gate = document.scenarios.iter().filter(|it| is_about(gate, it));
    if gate.what != GateKind::MinPassRate || of_gate.clone().any(decides) {
        ""
    } else if of_gate.any(Scenario::is_quarantined) {
        " (all its scenarios are quarantined)"
    } else {
        " (it is about no scenario that was to run)"
    }
}

/// How many scenarios that decide were not begun, because an earlier one had not passed.
pub(super) fn not_begun(document: &ResultDocument) -> usize {
    let left_out = document.scenarios.iter();
    let left_out = left_out.filter(|it| it.status == Status::Skipped && decides(it));
    left_out.count()
}

/// How many scenarios failed that a gate asks a share of: they need not pass one by one, here or in the other parts.
fn tolerated(document: &ResultDocument) -> usize {
    let gates = document.suite.iter().flat_map(|it| &it.gates);
    let shares = gates.filter(|it| it.what == GateKind::MinPassRate);
    let shares: Vec<&SuiteGate> = shares.collect();
    let failed = document.scenarios.iter();
    let failed = failed.filter(|it| it.status == Status::Failed && decides(it));
    let of_share = failed.filter(|it| shares.iter().any(|gate| is_about(gate, it)));
    of_share.count()
}

/// What passed on a later try alone, which `--strict` takes for a failure.
fn flaky(document: &ResultDocument) -> usize {
    let flaky = document.scenarios.iter();
    flaky.filter(|it| it.flaky && !it.is_quarantined()).count()
}

/// The code of a result, with the gates of its suite where it has some. With `strict`, what passed on a later try alone has failed.
pub(super) fn exit(document: &ResultDocument, strict_statistics: bool, strict: bool) -> Exit {
    let gates = document.suite.iter().flat_map(|it| &it.gates);
    let gates: Vec<&SuiteGate> = gates.collect();
    let mut summary = document.summary;
    let tolerated = tolerated(document);
    summary.failed = summary.failed.saturating_sub(tolerated);
    summary.passed += tolerated;
    let mut exit = Exit::of(summary, strict_statistics);
    let mut to_run = document.scenarios.iter().filter(|it| it.was_to_run());
    let is_decided = gates
        .iter()
        .any(|it| matches!(it.state, GateState::Kept | GateState::Broken));
    if exit == Exit::Passed && !is_decided && to_run.all(Scenario::is_quarantined) {
        exit = Exit::Undecided;
    }
    // A share may be reached without them, and yet nobody knows what they come to.
    if not_begun(document) > 0 {
        exit = exit.and(Exit::Incomplete);
    }
    for gate in gates {
        exit = exit.and(match gate.state {
            GateState::Kept | GateState::Open => Exit::Passed,
            GateState::Broken => Exit::Failed,
            GateState::Unknown => Exit::Incomplete,
        });
    }
    let mut undecided = document.scenarios.iter().filter(|it| it.is_undecided());
    if undecided.any(|it| !it.is_tolerated()) {
        exit = exit.and(Exit::Incomplete);
    }
    if strict && flaky(document) > 0 {
        exit = exit.and(Exit::Failed);
    }
    exit
}

/// Says in a document that is otherwise complete what its gate says. That everything passed is not all there is to say where something
/// changed, or is missing.
pub(super) fn set(
    result: &mut ResultDocument,
    exit: Exit,
    threshold: Option<f64>,
    (strict_statistics, strict): (bool, bool),
) {
    let mut gate = Gate {
        strict_statistics,
        strict,
        ..without_scenarios::gate(exit, threshold)
    };
    let summary = result.summary;
    if exit == Exit::Passed && result.command == "record" {
        "everything was recorded".clone_into(&mut gate.sentence);
    }
    if matches!(exit, Exit::Failed | Exit::Incomplete) {
        let failed = summary.failed.saturating_sub(tolerated(result));
        let flaky = if strict { flaky(result) } else { 0 };
        let stuck = summary.error + summary.timeout;
        let failed = (failed > 0).then(|| several(failed, "scenario failed", "scenarios failed"));
        let flaky = (flaky > 0).then(|| format!("{flaky} flaky (`--strict`)"));
        let stuck = (stuck > 0).then(|| {
            let stuck = several(stuck, "scenario", "scenarios");
            format!("{stuck} could not be run or judged")
        });
        let all: Vec<String> = [failed, flaky, stuck].into_iter().flatten().collect();
        if !all.is_empty() {
            gate.sentence = all.join(", ");
        }
    }
    if let Some(bisected) = &result.bisected {
        gate.sentence = match bisected.first_bad.len() {
            1 => "the first bad commit was found".to_owned(),
            several => format!("the first bad commit is one of {several}"),
        };
    }
    let within = result.scenarios.iter().filter_map(Scenario::share);
    let within: BTreeSet<&String> = within.collect();
    if exit == Exit::Undecided {
        let _ = write!(
            gate.sentence,
            "; {} of {} passed",
            summary.succeeded(),
            summary.selected
        );
    }
    if exit == Exit::Passed && (!within.is_empty() || summary.quarantined > 0) {
        gate.sentence = format!("{} of {} passed", summary.succeeded(), summary.selected);
        if summary.quarantined > 0 {
            let _ = write!(gate.sentence, ", {} quarantined", summary.quarantined);
        }
    }
    if exit == Exit::Passed && summary.recorded_failing > 0 {
        let _ = write!(
            gate.sentence,
            ", {} of it failing",
            summary.recorded_failing
        );
    }
    if exit == Exit::Passed && summary.changed > 0 {
        let noun = if result.command == "run" {
            "deviations"
        } else {
            "changes"
        };
        let _ = write!(gate.sentence, ", {} with {noun}", summary.changed);
    }
    let ruleless = result.scenarios.iter().filter(|it| it.without_rules);
    if let (Exit::Passed, ruleless @ 1..) = (exit, ruleless.count()) {
        let _ = write!(
            gate.sentence,
            ", {ruleless} without the rules of scenario files"
        );
    }
    for kept in within.iter().filter(|_| exit == Exit::Passed) {
        let _ = write!(gate.sentence, "; {kept}");
    }
    if let (Exit::Incomplete, left @ 1..) = (exit, not_begun(result)) {
        let left = plural(left, "scenario");
        let _ = write!(gate.sentence, "; {left} not begun (`--fail-fast`)");
    }
    let suite = result.suite.iter().flat_map(|it| &it.gates);
    let broken = suite.filter(|it| matches!(it.state, GateState::Broken | GateState::Unknown));
    for it in broken {
        let _ = write!(gate.sentence, "; {}", it.sentence);
    }
    if let Some(missing @ 1..) = result.merged.as_ref().map(|it| it.missing.len()) {
        let missing = several(missing, "scenario is", "scenarios are");
        let _ = write!(gate.sentence, ", and {missing} missing");
    }
    result.gate = Some(gate);
}
