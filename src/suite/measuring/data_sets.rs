//! The data sets of a measurement, read from their files.

use std::path::Path;

use serde_json::Value;

use crate::discovery::baseline::Baseline;
use crate::discovery::check::{Source, unfit, versions};
use crate::discovery::gates::Demands;
use crate::discovery::golden::{Corpus, Golden};
use crate::discovery::places::Document;
use crate::discovery::search::{Search, preset};
use crate::discovery::truth::Truth;
use crate::discovery::verdicts::{self, Run};
use crate::input;
use crate::scenario_file::measured::{Measurement, Retrieval, Security};
use crate::scenario_file::{self, Finding, Scenario, Severity};

/// What a search is measured with.
#[derive(Debug)]
pub(super) struct SearchSets {
    pub(super) corpus: Corpus,
    pub(super) golden: Golden,
    pub(super) search: Search,
    /// The figures of the file that the scenario names.
    pub(super) baseline: Option<Baseline>,
}

/// What scanners are measured with.
#[derive(Debug)]
pub(super) struct ScannerSets {
    pub(super) runs: Vec<Run>,
    pub(super) truth: Option<Truth>,
}

/// A path as it is shown: from the folder that the command was started in, where it lies below that.
pub(super) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let below = path.strip_prefix(&here).unwrap_or(path);
    below.display().to_string()
}

/// Reads a file of JSON.
///
/// # Errors
///
/// Why it cannot be read, or where it is no JSON.
pub(crate) fn document(path: &Path) -> Result<Document, Vec<Finding>> {
    let shown = shown(path);
    let text = input::read_to_string(path).map_err(|error| {
        let why = format!("cannot be read: {error}");
        vec![Finding::about(&shown, Severity::Error, why)]
    })?;
    Document::parse(&shown, text)
}

/// Reads a file with `read`; what is wrong with it goes to the findings.
fn read<T>(
    path: &Path,
    read: impl FnOnce(&Document) -> Result<T, Vec<Finding>>,
    findings: &mut Vec<Finding>,
) -> Option<(Document, T)> {
    let read = document(path).and_then(|document| {
        let read = read(&document)?;
        Ok((document, read))
    });
    read.map_err(|found| findings.extend(found)).ok()
}

/// The search as it is declared.
///
/// # Errors
///
/// What is wrong with its declaration.
pub(super) fn search(retrieval: &Retrieval) -> Result<Search, String> {
    let declared = match &retrieval.search {
        Value::String(name) => {
            preset(name).ok_or_else(|| format!("no search is called `{name}`"))?
        }
        declared => declared.clone(),
    };
    let mut search = Search::read(&declared)?;
    if search.name.trim().is_empty() || declared.get("name").is_none() {
        search.name.clone_from(&retrieval.search_name);
    }
    Ok(search)
}

impl SearchSets {
    /// Reads all of them.
    ///
    /// # Errors
    ///
    /// Everything that keeps anything from being measured with them.
    pub(super) fn read(retrieval: &Retrieval) -> Result<Self, Vec<Finding>> {
        let mut findings = Vec::new();
        let corpus = read(&retrieval.corpus, Corpus::read, &mut findings);
        let golden = read(&retrieval.golden, Golden::read, &mut findings);
        if let (Some(corpus), Some(golden)) = (&corpus, &golden) {
            let (corpus, golden) = (Source::from(corpus), Source::from(golden));
            versions(corpus, golden, &mut findings);
            unfit(golden, &mut findings);
        }
        let baseline = retrieval.baseline.as_ref();
        let baseline = baseline.and_then(|it| {
            if !it.exists() {
                let problem = "there is no such file: an earlier `report.json` is a baseline, and so is what `mcp-eval record` has kept of a scenario";
                findings.push(Finding::about(shown(it), Severity::Error, problem));
                return None;
            }
            read(it, Baseline::read, &mut findings)
        });
        if let (Some((document, baseline)), Some((_, golden))) = (&baseline, &golden) {
            findings.extend(of_other_corpus(baseline, golden, document));
        }
        if let Some((_, golden)) = &golden {
            let demands = Demands::of(&retrieval.gates);
            let baseline = baseline.as_ref().map(|it| &it.1);
            if let Some(why) = demands.idle(baseline, golden.queries.len()) {
                let name = retrieval.baseline.as_deref().unwrap_or(&retrieval.golden);
                findings.push(Finding::about(shown(name), Severity::Error, why));
            }
        }
        let search = search(retrieval);
        if let Err(why) = &search {
            let name = &retrieval.search_name;
            findings.push(Finding::about(
                name,
                Severity::Error,
                format!("no search can be asked so: {why}"),
            ));
        }
        if let Ok(search) = &search
            && search.catalogue.is_none()
            && retrieval.wait.is_some()
        {
            let problem = "the catalogue cannot be waited for (`--wait`, `wait`): the search does not say how it is listed (`catalogue`)";
            findings.push(Finding::about(&search.name, Severity::Error, problem));
        }
        let (Some((_, corpus)), Some((_, golden)), Ok(mut search), true) =
            (corpus, golden, search, findings.is_empty())
        else {
            return Err(findings);
        };
        search.knows(&corpus);
        Ok(Self {
            corpus,
            golden,
            search,
            baseline: baseline.map(|it| it.1),
        })
    }
}

/// That figures were measured on another corpus than the queries are of.
pub(super) fn of_other_corpus(
    baseline: &Baseline,
    golden: &Golden,
    document: &Document,
) -> Option<Finding> {
    match (&baseline.corpus_version, &golden.corpus_version) {
        (Some(then), Some(now)) if then != now => {
            let problem = format!("this was measured on `{then}`, and the queries are of `{now}`");
            Some(document.error("/corpus_version", problem))
        }
        _ => None,
    }
}

impl ScannerSets {
    /// Reads all of them.
    ///
    /// # Errors
    ///
    /// Everything that keeps anything from being measured with them.
    pub(super) fn read(security: &Security) -> Result<Self, Vec<Finding>> {
        let mut findings = Vec::new();
        if let Some(why) = security.demands.idle() {
            let name = security.verdicts.first().map(|it| shown(it));
            let name = name.unwrap_or_default();
            findings.push(Finding::about(&name, Severity::Error, why));
        }
        let runs = security.verdicts.iter();
        let runs: Vec<_> = runs
            .filter_map(|it| {
                read(
                    it,
                    |document| verdicts::read(document, security.form),
                    &mut findings,
                )
            })
            .map(|(_, it)| it)
            .collect();
        let truth = security.corpus.as_ref();
        let truth = truth.and_then(|it| read(it, Truth::read, &mut findings));
        if findings.is_empty() {
            let truth = truth.map(|it| it.1);
            Ok(Self { runs, truth })
        } else {
            Err(findings)
        }
    }
}

/// Everything that keeps a scenario from being measured, as far as its files show it, sorted by place; nothing where it is none that
/// measures.
pub fn check_measurement(scenario: &Scenario) -> Vec<Finding> {
    let found = match &scenario.measurement {
        None => return Vec::new(),
        Some(Measurement::Retrieval(retrieval)) => SearchSets::read(retrieval).map(drop),
        // What scanners say may be made by the commands that are run before.
        Some(Measurement::Security(security)) if scenario.before.is_empty() => {
            ScannerSets::read(security).map(drop)
        }
        Some(Measurement::Security(_)) => Ok(()),
    };
    let mut findings = found.err().unwrap_or_default();
    scenario_file::sort(&mut findings);
    findings
}
