//! The first commit of a system under test at which a scenario fails.
//!
//! The good version is run once, as by `compare --against`, and takes the part of the baseline for all others. Each further commit halves
//! what is left. What is known is kept in a file after each, so that a search that was interrupted can go on.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::against::{compare_against_at, compare_held};
use super::versions::{LaidOut, Versions};
use super::{Against, Error, Finished, Settings, Suite, evaluating, source};
use crate::git;
use crate::model::published::result::{Bisected, Commit, SkippedCommit};
use crate::model::reason::Reason;
use crate::model::{Redacted, ScenarioResult, Status, Trajectory};
use crate::scenario_file::Scenario;
use crate::store;

/// Where a search is kept until it has come to its end.
pub static STATE: LazyLock<PathBuf> = LazyLock::new(|| store::own("bisect.json"));

/// How often a commit at which a scenario fails is asked again before that decides.
const AGAIN: usize = 2;

/// Which commits are searched.
#[derive(Debug, Clone)]
pub struct Range {
    /// A commit at which the scenarios pass.
    pub good: String,
    /// A later one at which one fails.
    pub bad: String,
    /// Whether to go on with a search that was interrupted.
    pub resume: bool,
}

/// What was found of one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    Good,
    Bad,
    /// It cannot be built, or run.
    Skipped,
}

/// Called with what is under way, and with what was found.
type OnProgress<'a> = &'a dyn Fn(&str);

/// What is kept of a search.
#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    good: String,
    bad: String,
    /// Names all that decides what a commit is besides its source: the scenarios, and how they are judged.
    experiment: String,
    found: BTreeMap<String, Found>,
    /// Why a commit is bad, or was skipped.
    #[serde(default)]
    why: BTreeMap<String, String>,
}

/// Finds the first commit at which a scenario fails, and its run, compared with the good version. Needs a runtime with several threads.
///
/// # Errors
///
/// When the range is none, the scenarios do not pass at the good commit and fail at the bad one, or the search was interrupted.
pub async fn bisect(
    suite: Suite,
    settings: &Settings,
    range: &Range,
    tell: OnProgress<'_>,
) -> Result<(Bisected, Option<Finished>), Error> {
    if let Some(it) = suite
        .scenarios
        .iter()
        .find(|it| it.enabled && it.measurement.is_some())
    {
        return Err(Error::invalid(format!(
            "`{}` measures something, and only what servers answer to a scenario's calls tells one commit from another here",
            it.id
        ))
        .hint("compare it with one commit after the other: `mcp-eval compare FILE --against git:COMMIT`"));
    }
    let folder = one_source(&suite.scenarios)?;
    let resolve = |name: &str| {
        git::resolve(&folder, name)
            .map_err(|why| Error::invalid(format!("{}: {why}", folder.display())))
    };
    let (good, bad) = (resolve(&range.good)?, resolve(&range.bad)?);
    let leading = git::between(&folder, &good.commit, &bad.commit)
        .map_err(|why| Error::invalid(format!("{}..{}: {why}", good.short, bad.short)))?;
    let mut state = State {
        good: good.commit.clone(),
        bad: bad.commit.clone(),
        experiment: experiment(&suite.scenarios, settings),
        ..State::default()
    };
    if range.resume {
        let earlier = earlier(&state)?;
        (state.found, state.why) = (earlier.found, earlier.why);
        let (known, all) = (state.found.len(), leading.len() - 1);
        tell(&format!("going on: {known} of {all} commits are known"));
    }
    let versions = Versions::new();
    let at = |commit: &Commit, scenarios: &[Scenario]| -> Result<Vec<Scenario>, Error> {
        let against = Against::Git(commit.commit.clone());
        let mut laid_out = LaidOut::default();
        let mut of = |it: &Scenario| {
            let version = versions.of(it, &against, &mut laid_out);
            version.map(|(scenario, _)| scenario)
        };
        let scenarios: Result<Vec<_>, String> = scenarios.iter().map(&mut of).collect();
        scenarios.map_err(Error::invalid)
    };
    tell(&format!(
        "{} commits between {} and {}",
        leading.len() - 1,
        good.short,
        bad.short
    ));
    let ends = Suite {
        scenarios: at(&bad, &suite.scenarios)?,
        ..suite.clone()
    };
    tell(&format!(
        "running {} {} (good) and {} {} (bad)",
        good.short, good.subject, bad.short, bad.subject
    ));
    let first = compare_against_at(ends, settings, &suite.scenarios, &good.commit).await?;
    let first = first.taken_up();
    let held = held(&first)?;
    let failing: Vec<Scenario> = (suite.scenarios.iter())
        .filter(|it| held.contains_key(&it.id))
        .cloned()
        .collect();
    // What it answers by chance would make others bad.
    let again = at(&good, &failing)?;
    if let (Found::Bad, why, _) = test(&suite, again, settings, &held).await? {
        return Err(Error::incomplete(format!(
            "the good commit {} does not answer the same each time, so nothing can be compared with it: {why}",
            good.short
        )));
    }
    let mut shown = Some(first);
    // The places of the last good commit, before all, and of the first bad one.
    let (mut low, mut high) = (0, leading.len() - 1);
    loop {
        let known = |it: &Commit| state.found.get(&it.commit).copied();
        while low < high && known(&leading[low]) == Some(Found::Good) {
            low += 1;
        }
        if let Some(at) = (low..high).find(|it| known(&leading[*it]) == Some(Found::Bad)) {
            high = at;
            continue;
        }
        if let Some(at) = (low..high)
            .rev()
            .find(|it| known(&leading[*it]) == Some(Found::Good))
        {
            low = at + 1;
            continue;
        }
        let open: Vec<usize> = (low..high)
            .filter(|it| known(&leading[*it]).is_none())
            .collect();
        let Some(next) = middle(&open, low, high) else {
            break;
        };
        let commit = &leading[next];
        let left = open.len();
        tell(&format!(
            "{} {} ({left} commit{} left)",
            commit.short,
            commit.subject,
            if left == 1 { "" } else { "s" }
        ));
        let (found, why, finished) = match at(commit, &failing) {
            Ok(scenarios) => test(&suite, scenarios, settings, &held).await?,
            // The ends could be laid out, so this is one of the commits that cannot be built.
            Err(error) => (Found::Skipped, error.to_string(), None),
        };
        tell(&format!("  {}", words(found, &why)));
        match found {
            Found::Bad => shown = finished,
            Found::Skipped | Found::Good => {}
        }
        if found != Found::Good {
            state.why.insert(commit.commit.clone(), why);
        }
        state.found.insert(commit.commit.clone(), found);
        let text = serde_json::to_string_pretty(&state).unwrap_or_default();
        store::write(&STATE, text.as_bytes())?;
    }
    let _ = std::fs::remove_file(&*STATE);
    let skipped = leading
        .iter()
        .filter(|it| state.found.get(&it.commit) == Some(&Found::Skipped));
    let skipped = skipped.map(|it| SkippedCommit {
        commit: it.clone(),
        why: state.why.get(&it.commit).cloned().unwrap_or_default(),
    });
    let reason = state.why.get(&leading[high].commit).cloned();
    let of_run = || {
        let mut results = shown.as_ref()?.suite.scenarios.iter();
        results
            .find(|it| it.status == Status::Failed)
            .map(self::reason)
    };
    let bisected = Bisected {
        first_bad: leading[low..=high].to_vec(),
        reason: reason.or_else(of_run).unwrap_or_default(),
        skipped: skipped.collect(),
    };
    Ok((bisected, shown))
}

/// The commit to look at next: the middle of those that are open, or the nearest to the middle of what is left.
fn middle(open: &[usize], low: usize, high: usize) -> Option<usize> {
    let middle = low + (high - low) / 2;
    open.iter().copied().min_by_key(|it| it.abs_diff(middle))
}

fn words(found: Found, why: &str) -> String {
    match found {
        Found::Good => "good".to_owned(),
        Found::Bad => format!("bad: {why}"),
        Found::Skipped => format!("skipped: {why}"),
    }
}

/// The folder that all scenarios have their source in.
fn one_source(scenarios: &[Scenario]) -> Result<PathBuf, Error> {
    let mut folders = scenarios.iter().map(|it| (it, source::folder(it)));
    let missing =
        "does not say where the source of its system under test is: `source: { repo: FOLDER }`";
    let Some((first, folder)) = folders.next() else {
        return Err(Error::invalid("there are no scenarios"));
    };
    let folder = folder.ok_or_else(|| Error::invalid(format!("`{}` {missing}", first.id)))?;
    for (scenario, other) in folders {
        if other.as_ref() != Some(&folder) {
            let why = format!(
                "`{}` and `{}` have their sources in different folders: name one of them",
                first.id, scenario.id
            );
            return Err(Error::invalid(why));
        }
    }
    source::folder_that_is_there(first).map_err(|why| Error::invalid(why.message))?;
    Ok(folder)
}

/// What the good version answered, for each scenario that fails at the bad one.
fn held(first: &Finished) -> Result<HashMap<String, Arc<Redacted<Trajectory>>>, Error> {
    let scenarios = &first.suite.scenarios;
    if first.suite.interrupted {
        return Err(Error::incomplete("interrupted before anything was known"));
    }
    let is_lost = |it: &&ScenarioResult| {
        !matches!(it.status, Status::Passed | Status::Failed | Status::Skipped)
    };
    if let Some(lost) = scenarios.iter().find(is_lost) {
        let why = lost.problem.as_ref().map(|it| it.message.clone());
        let details = lost.problem.iter().flat_map(|it| &it.details).cloned();
        let message = format!(
            "`{}` cannot be compared: {}",
            lost.id,
            why.unwrap_or_default()
        );
        let failed = Error::incomplete(message);
        return Err(details.fold(failed, |it, detail| it.hint(&detail)));
    }
    let failed = scenarios.iter().filter(|it| it.status == Status::Failed);
    let held: HashMap<_, _> = failed
        .filter_map(|it| Some((it.id.clone(), it.baseline.clone()?)))
        .collect();
    if held.is_empty() {
        return Err(Error::incomplete(
            "no scenario fails at the bad commit, so there is nothing to look for",
        ));
    }
    Ok(held)
}

/// What a commit is. One at which a scenario fails is asked again, because an answer may be wrong only now and then.
async fn test(
    suite: &Suite,
    scenarios: Vec<Scenario>,
    settings: &Settings,
    held: &HashMap<String, Arc<Redacted<Trajectory>>>,
) -> Result<(Found, String, Option<Finished>), Error> {
    let mut failed: Option<(String, Finished)> = None;
    let (mut bad, mut good) = (0, 0);
    while bad.max(good) < AGAIN {
        let again = Suite {
            scenarios: scenarios.clone(),
            ..suite.clone()
        };
        let finished = compare_held(again, settings, held).await?.taken_up();
        if finished.suite.interrupted {
            return Err(Error::incomplete("interrupted").hint(if STATE.exists() {
                "the results so far are kept: run the same command with `--resume` to continue"
            } else {
                "nothing is known yet"
            }));
        }
        let results = &finished.suite.scenarios;
        let lost = results
            .iter()
            .find(|it| !matches!(it.status, Status::Passed | Status::Failed));
        if let Some(lost) = lost {
            let why = lost.problem.as_ref().map(|it| {
                // Of what failed to build, the last line names the whole log.
                let log = it.details.last();
                let log = log.map_or_else(String::new, |line| format!("; {line}"));
                format!("{}{log}", it.message)
            });
            return Ok((Found::Skipped, why.unwrap_or_default(), None));
        }
        match results.iter().find(|it| it.status == Status::Failed) {
            None if failed.is_none() => return Ok((Found::Good, String::new(), None)),
            None => good += 1,
            Some(result) => {
                bad += 1;
                failed = Some((reason(result), finished));
            }
        }
    }
    Ok(match failed {
        Some((why, finished)) if bad > good => (Found::Bad, why, Some(finished)),
        _ => (Found::Good, String::new(), None),
    })
}

/// All that decides what a commit is besides its source, as a hash.
fn experiment(scenarios: &[Scenario], settings: &Settings) -> String {
    let all = format!("{scenarios:?} {:?}", settings.judging);
    hex::encode(Sha256::digest(all.as_bytes()))
}

/// The first thing that speaks against a result.
fn reason(result: &ScenarioResult) -> String {
    let verdict = result.comparison.iter().flat_map(|it| &it.verdict.reasons);
    let unmet = result.checks.iter().filter(|it| it.fails());
    let mut reasons = verdict
        .map(Reason::whole)
        .chain(unmet.map(|it| format!("{}: {}", it.name, it.message)))
        .chain(evaluating::reasons(&result.evaluators, result.overall));
    reasons.next().unwrap_or_default()
}

/// What an interrupted search of the same kind has found.
fn earlier(state: &State) -> Result<State, Error> {
    let place = STATE.display();
    let none = || Error::invalid(format!("there is no search to continue in {place}"));
    let text = std::fs::read_to_string(&*STATE).map_err(|_| none())?;
    let earlier: State =
        serde_json::from_str(&text).map_err(|error| Error::invalid(format!("{place}: {error}")))?;
    let is_same = (&earlier.good, &earlier.bad, &earlier.experiment)
        == (&state.good, &state.bad, &state.experiment);
    if is_same {
        Ok(earlier)
    } else {
        Err(Error::invalid(format!(
            "the search in {place} is one of other commits, scenarios or options: without `--resume`, a new one begins"
        )))
    }
}
