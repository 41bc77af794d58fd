//! The results that are put together: where they lie, what lies beside them, whether each says one thing, and whether they agree: the parts of
//! one and the same plan, and what is missing of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use memchr::memmem;
use walkdir::{DirEntry, WalkDir};

use crate::cli::{Console, Failure, runs};
use crate::input;
use crate::model::{CalledOption, Git, Status};
use crate::published::result::{
    self, Gate, PlannedScenario, ResultDocument, Scenario, Shard, Summary,
};
use crate::published::trajectory::check_id;
use crate::store::{RESULT, Runs};
use crate::suite::RUNS;
use crate::text::{few, several};

/// The result of one part.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) result: ResultDocument,
    pub(super) shard: Shard,
    /// The file it was read from.
    pub(super) file: PathBuf,
    /// The folders in which runs of it may lie, each laid out as that of a run.
    pub(super) folders: Vec<PathBuf>,
}

/// Folders that hold what a result speaks of, and no results.
const OF_A_RUN: [&str; 5] = ["current", "baseline", "attempts", "logs", "trajectories"];

/// The results of parts among these files and folders, each once, however many copies of it there are, by their numbers.
///
/// # Errors
///
/// When a file cannot be read or is no such result, and when there is none at all.
pub(super) fn find(named: &[PathBuf], console: Console) -> Result<Vec<Part>, Failure> {
    let mut parts: Vec<Part> = Vec::new();
    for path in named {
        let path = runs::folder(&path.to_string_lossy()).map_err(Failure::usage)?;
        if !path.exists() {
            let why = format!("there is no {}", path.display());
            return Err(Failure::usage(why)
                .hint("name the results of `--shard K/N`, or folders that hold them"));
        }
        if !path.is_dir() {
            let part = read(&path)?.ok_or_else(|| {
                let why = format!("{} is not the result of a part", path.display());
                Failure::usage(why).hint("`mcp-eval compare --shard K/N` makes one")
            })?;
            add(&mut parts, part);
            continue;
        }
        for file in files(&path) {
            match read(&file) {
                Ok(Some(part)) => add(&mut parts, part),
                Ok(None) => {}
                Err(failure) => console.note(&format!("note: left out: {}", failure.message)),
            }
        }
    }
    if parts.is_empty() {
        let named: Vec<String> = named.iter().map(|it| it.display().to_string()).collect();
        let why = format!("there is no result of a part in {}", named.join(", "));
        return Err(Failure::incomplete(why).hint("`mcp-eval compare --shard K/N` makes one"));
    }
    parts.sort_by(|a, b| {
        let key = |it: &Part| (it.shard.index, Runs::order(&it.result.run_id));
        key(a).cmp(&key(b))
    });
    Ok(parts)
}

/// The files in a folder that may be results, in a stable order. Links are not followed.
fn files(folder: &Path) -> Vec<PathBuf> {
    let is_of_a_run = |it: &DirEntry| {
        it.depth() > 0
            && it.file_type().is_dir()
            && OF_A_RUN.iter().any(|name| it.file_name() == *name)
    };
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    let entries = entries.filter_entry(|it| !is_of_a_run(it)).flatten();
    let files = entries
        .filter(|it| it.file_type().is_file())
        .map(DirEntry::into_path);
    files
        .filter(|it| it.extension() == Some("json".as_ref()))
        .collect()
}

/// Reads a file; `None` where it is not the result of a part.
fn read(file: &Path) -> Result<Option<Part>, Failure> {
    let unreadable = |why: String| Failure::incomplete(format!("{}: {why}", file.display()));
    let text = input::read_to_string(file).map_err(|error| unreadable(error.to_string()));
    let is_called_so = file.file_name() == Some(RESULT.as_ref());
    let text = match text {
        Err(_) if !is_called_so => return Ok(None),
        text => text?,
    };
    // Most files beside a result are no results, and some are large.
    if !is_called_so && memmem::find(text.as_bytes(), b"\"shard\"").is_none() {
        return Ok(None);
    }
    let mut result = match result::parse(&text) {
        Err(_) if !is_called_so => return Ok(None),
        parsed => parsed.map_err(|error| unreadable(error.to_string()))?,
    };
    let Some(shard) = result.shard.take() else {
        return Ok(None);
    };
    check(&result, &shard).map_err(unreadable)?;
    check_sound(&result, &shard).map_err(unreadable)?;
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    let own = RUNS.join(&result.run_id);
    let folders = [
        folder.join("trajectories"),
        folder.join("../..").join(&own),
        folder,
        own,
    ];
    Ok(Some(Part {
        result,
        shard,
        file: file.to_owned(),
        folders: folders.into(),
    }))
}

/// What is wrong with a document from elsewhere, before any name in it becomes the name of a file.
fn check(result: &ResultDocument, shard: &Shard) -> Result<(), String> {
    shard.check()?;
    let mut steps = Path::new(&result.run_id).components();
    if !matches!(
        (steps.next(), steps.next()),
        (Some(Component::Normal(_)), None)
    ) {
        return Err(format!("`{}` is not the name of a run", result.run_id));
    }
    let planned = shard.plan.iter().flat_map(|it| &it.scenarios);
    let ids = planned.map(|it| &it.id);
    for id in ids.chain(result.scenarios.iter().map(|it| &it.id)) {
        check_id(id)?;
    }
    let own = shard.own().map_or(&[][..], |it| &it.scenarios);
    for scenario in &result.scenarios {
        if own.iter().all(|it| it.id != scenario.id) {
            return Err(format!(
                "`{}` is not a scenario of part {} of its plan",
                scenario.id,
                shard.words()
            ));
        }
    }
    Ok(())
}

/// Adds a part, or where it is another copy of one that was found, what lies beside the copy.
fn add(parts: &mut Vec<Part>, part: Part) {
    let is_it = |it: &&mut Part| {
        it.result.run_id == part.result.run_id
            && it.result.started_at == part.result.started_at
            && it.shard.index == part.shard.index
    };
    match parts.iter_mut().find(is_it) {
        Some(known) => known.folders.extend(part.folders),
        None => parts.push(part),
    }
}

/// What a result says in two ways that cannot both be so, as far as the one follows from the other.
///
/// # Errors
///
/// A fragment of a sentence, with the document as its subject.
pub(super) fn check_sound(result: &ResultDocument, shard: &Shard) -> Result<(), String> {
    let wrong = |what: String| Err(format!("contradicts itself: {what}"));
    for it in &result.scenarios {
        if let Some(reason) = speaks_against(it, &result.command) {
            return wrong(format!("`{}` passed, and yet {reason}", it.id));
        }
    }
    // What is not there cannot be counted: that is a hole, and is reported as one.
    let own = shard.own().map_or(&[][..], |it| &it.scenarios);
    if own.iter().any(|it| result.scenario(&it.id).is_none()) {
        return Ok(());
    }
    let counted = counts(Summary::of(&result.scenarios, result.summary.selected));
    let differing = counts(result.summary).into_iter().zip(counted);
    for ((name, said), (_, counted)) in differing {
        if said != counted {
            return wrong(format!(
                "its summary counts {said} {name}, and there are {counted}"
            ));
        }
    }
    match &result.gate {
        Some(gate) if gate.exit_code == 1 && !can_fail(result, gate) => {
            wrong("its exit code is 1, and nothing in it has failed".to_owned())
        }
        _ => Ok(()),
    }
}

/// What speaks against a scenario that passed. Of several runs, one of which is shown, some may fail.
fn speaks_against(scenario: &Scenario, command: &str) -> Option<String> {
    if scenario.status != Status::Passed || scenario.repeated.is_some() {
        return None;
    }
    let reasons = if command == "compare" {
        scenario.reasons()
    } else {
        scenario.unmet()
    };
    reasons.into_iter().next()
}

fn counts(summary: Summary) -> [(&'static str, usize); 7] {
    [
        ("passed", summary.passed),
        ("failed", summary.failed),
        ("inconclusive", summary.inconclusive),
        ("error", summary.error),
        ("timeout", summary.timeout),
        ("interrupted", summary.interrupted),
        ("skipped", summary.skipped),
    ]
}

/// Whether there is anything that exit code 1 may be for.
fn can_fail(result: &ResultDocument, gate: &Gate) -> bool {
    let is_flaky = gate.strict && result.scenarios.iter().any(|it| it.flaky);
    is_flaky
        || result
            .scenarios
            .iter()
            .any(|it| it.status == Status::Failed)
}

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
pub(super) fn check_agreement(parts: &[Part], allow_different: bool) -> Result<(), Failure> {
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
