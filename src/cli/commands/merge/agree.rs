//! Agreement of results: the parts of one and the same plan, and what is missing of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::parts::Part;
use crate::cli::exit::Failure;
use crate::model::stamp::Git;
use crate::published::result::{CalledOption, PlannedScenario};
use crate::text::{few, several};

/// How many scenarios one line names.
pub(super) const NAMED: usize = 20;

/// Where each scenario is taken from: the part, by its place among the results, and the scenario's place in that.
pub(super) type Taken = BTreeMap<String, (usize, usize)>;

/// Scenarios of one part of the plan that no result has.
#[derive(Debug)]
pub(super) struct Hole {
    /// The part, such as `3/7`.
    pub(super) shard: String,
    /// Whether any result of that part is there.
    has_result: bool,
    pub(super) scenarios: Vec<PlannedScenario>,
}

impl Hole {
    /// What is missing, up to the names.
    pub(super) fn words(&self) -> String {
        let shard = &self.shard;
        let count = several(self.scenarios.len(), "scenario is", "scenarios are");
        if self.has_result {
            format!("the result of part {shard} is not whole, and {count} missing")
        } else {
            format!("part {shard} has left no result, and {count} missing")
        }
    }
}

/// Whether all results are of one command, and unless that is allowed, of one plan, commit, threshold and version, with the same options, and
/// of the same scenarios.
///
/// # Errors
///
/// What differs.
pub(super) fn check(parts: &[Part], allow_different: bool) -> Result<(), Failure> {
    let Some((first, others)) = parts.split_first() else {
        return Ok(());
    };
    for other in others {
        let apart = |why: String| {
            Failure::usage(format!(
                "{} and {} are not parts of one run: {why}",
                first.file.display(),
                other.file.display()
            ))
        };
        let differ =
            |what: &str, (now, was): (String, String)| apart(format!("{what} {was} and {now}"));
        let both = |of: &dyn Fn(&Part) -> String| (of(other), of(first));
        let (now, was) = both(&|it| format!("`{}`", it.result.command));
        if now != was {
            let failure = differ("the commands are", (now, was));
            return Err(failure.hint("results of different commands do not fit into one report"));
        }
        let threshold = |it: &Part| {
            let gate = it.result.gate.as_ref();
            let threshold = gate.and_then(|it| it.threshold);
            threshold.map_or_else(|| "that of the scenarios".to_owned(), |it| it.to_string())
        };
        let quarantine = (quarantine(other), quarantine(first));
        let looked_at: [(&str, (String, String)); 6] = [
            (
                "they were made by the versions",
                both(&|it| it.result.mcp_eval.clone()),
            ),
            ("the commits are", both(&|it| commit(&it.result.git))),
            ("the thresholds are", both(&threshold)),
            ("the suites are", both(&suite)),
            (
                "quarantined are",
                (quarantine.0.zip(quarantine.1)).unwrap_or_default(),
            ),
            (
                "they are of plans for so many parts:",
                both(&|it| it.shard.count.to_string()),
            ),
        ];
        let mut different = looked_at.into_iter().filter(|(_, (now, was))| now != was);
        let plans = "their plans split the scenarios differently: the selection, the scenarios or the durations in the baselines differ";
        let failure = match different.next() {
            Some((what, values)) => differ(what, values),
            None if !first.shard.is_of_the_plan_of(&other.shard) => apart(plans.to_owned()),
            None => match different_options(first, other) {
                Some((was, now)) => differ("their options are", (now, was)),
                None => match first.shard.differing(&other.shard)[..] {
                    [] => continue,
                    [id] => apart(format!("the scenario `{id}` is not the same in both")),
                    [id, ..] => apart(format!(
                        "several scenarios are not the same in both, the first of them `{id}`"
                    )),
                },
            },
        };
        if !allow_different {
            return Err(failure.hint(
                "name the results of one run only, or merge them anyway: `--allow-different`",
            ));
        }
    }
    Ok(())
}

/// The suite that a command followed, and its gates.
fn suite(part: &Part) -> String {
    let Some(suite) = &part.result.suite else {
        return "none".to_owned();
    };
    let gates = suite.gates.iter();
    let gates = gates.map(|it| {
        let of = it
            .tag
            .as_ref()
            .map_or_else(String::new, |it| format!(" of {it}"));
        format!("{}{of} {}", it.what.name(), it.bound)
    });
    let gates: Vec<String> = gates.collect();
    format!("`{}` ({})", suite.name, gates.join(", "))
}

/// The scenarios that the suite lets decide nothing; `None` where that is not known.
fn quarantine(part: &Part) -> Option<String> {
    let quarantine = part.result.suite.as_ref()?.quarantine.as_ref()?;
    let named = quarantine.iter();
    let named: Vec<String> = named
        .map(|it| format!("`{}` until {}", it.scenario, it.until))
        .collect();
    Some(if named.is_empty() {
        "none".to_owned()
    } else {
        named.join(", ")
    })
}

/// Options that name files, which may lie elsewhere on each machine.
const NAME_FILES: [&str; 3] = ["--mcp-config", "--judge", "--baseline"];

/// What may differ between the parts of one run: it decides nothing about a scenario.
const FREE: [&str; 2] = ["--budget", "--suite"];

/// The options that either part was called with and the other one was not; `None` where there are none, or where that is not known.
fn different_options(first: &Part, other: &Part) -> Option<(String, String)> {
    let options = |it: &Part| -> Option<BTreeSet<String>> {
        let called = it.result.called.as_ref()?;
        let options = called.options.iter();
        let options = options.filter(|it| !FREE.contains(&it.name.as_str()));
        Some(options.map(option).collect())
    };
    let (first, other) = (options(first)?, options(other)?);
    let alone = |of: &BTreeSet<String>, beside: &BTreeSet<String>| {
        let alone: Vec<String> = of.difference(beside).map(|it| format!("`{it}`")).collect();
        if alone.is_empty() {
            "none".to_owned()
        } else {
            alone.join(", ")
        }
    };
    (first != other).then(|| (alone(&first, &other), alone(&other, &first)))
}

/// An option as it was written, but for the folder of a file that lies where one machine alone has it.
fn option(option: &CalledOption) -> String {
    let CalledOption { name, value } = option;
    let Some(value) = value else {
        return name.clone();
    };
    let path = Path::new(value);
    let file = path.file_name().filter(|_| path.is_absolute());
    match file.filter(|_| NAME_FILES.contains(&name.as_str())) {
        Some(file) => format!("{name} …/{}", file.to_string_lossy()),
        None => format!("{name} {value}"),
    }
}

/// The commit that a command was started at, as far as that is known.
fn commit(git: &Git) -> String {
    let commit = git.commit().map(|it| it.commit.clone());
    commit.unwrap_or_else(|| "unknown".to_owned())
}

/// Which result each scenario is taken from: of several that have it, the one that began last, where that is allowed.
///
/// # Errors
///
/// When several have one and that is not allowed.
pub(super) fn take(parts: &[Part], allow_overlap: bool) -> Result<Taken, Failure> {
    let mut taken = Taken::new();
    let mut twice: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (number, part) in parts.iter().enumerate() {
        for (place, scenario) in part.result.scenarios.iter().enumerate() {
            let id = scenario.id.as_str();
            if let Some((other, _)) = taken.get(id).copied() {
                twice.entry(id).or_default().extend([other, number]);
                let began = |at: usize| &parts[at].result.started_at;
                if began(other) > began(number) {
                    continue;
                }
            }
            taken.insert(id.to_owned(), (number, place));
        }
    }
    if twice.is_empty() || allow_overlap {
        return Ok(taken);
    }
    let ids = few(twice.keys(), NAMED);
    let files = twice.into_values().flatten().collect::<BTreeSet<usize>>();
    let files = files
        .into_iter()
        .map(|it| parts[it].file.display().to_string());
    let files: Vec<String> = files.collect();
    let failure = Failure::usage(format!("several results have the same scenario: {ids}"));
    Err(failure
        .hint(format!("they are in {}", files.join(", ")))
        .hint("leave all but one out, or take each from the result that began last: `--allow-overlap`"))
}

/// What the plans name and no result has, by part.
pub(super) fn holes(parts: &[Part], taken: &Taken) -> Vec<Hole> {
    let mut holes: Vec<Hole> = Vec::new();
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for part in parts {
        for planned in &part.shard.plan {
            let missing = planned.scenarios.iter();
            let missing = missing.filter(|it| !taken.contains_key(&it.id) && named.insert(&it.id));
            let scenarios: Vec<PlannedScenario> = missing.cloned().collect();
            if scenarios.is_empty() {
                continue;
            }
            let of = (planned.shard, part.shard.count);
            let mut results = parts.iter().map(|it| (it.shard.index, it.shard.count));
            holes.push(Hole {
                shard: format!("{}/{}", of.0, of.1),
                has_result: results.any(|it| it == of),
                scenarios,
            });
        }
    }
    holes
}
