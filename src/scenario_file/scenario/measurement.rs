//! The measurement that the keys of a document become.

use std::path::PathBuf;

use serde_json::Value;

use crate::scenario_file::decode::{At, Decode, Field, Fraction, NO_HINT, Plain as _, Word};
use crate::scenario_file::file::document::{Document, given, is_wrong};
use crate::scenario_file::measured::{
    Allowance, AllowedLoss, AllowedSection, Demands, FPR_CEILING, GatesSection, Kind, Measurement,
    RECALL_FLOOR, Retrieval, SEARCHES, SearchGates, SearchValue, Security,
};
use crate::scenario_file::yaml::{Findings, Mark, parse, quoted};
use crate::text::nearest::did_you_mean;

/// How often queries may be asked.
const MOST_RUNS: u32 = 100;

impl Document {
    /// What is measured; `None` for a scenario of a conversation, and after saying what is missing.
    pub(in crate::scenario_file) fn measurement(
        &self,
        start: Mark,
        findings: &mut Findings,
    ) -> Option<Measurement> {
        let kind = self.kind();
        if let Some(gates) = given(self.gates.as_ref()) {
            gates.refuse_foreign(kind, findings);
        }
        match kind {
            Kind::Trajectory => None,
            Kind::Retrieval => self
                .retrieval(start, findings)
                .map(|it| Measurement::Retrieval(Box::new(it))),
            Kind::Security => self
                .security(start, findings)
                .map(|it| Measurement::Security(Box::new(it))),
        }
    }

    /// What the scenario is about.
    pub(in crate::scenario_file) fn kind(&self) -> Kind {
        given(self.kind.as_ref()).map_or(Kind::Trajectory, |it| it.0)
    }

    fn retrieval(&self, start: Mark, findings: &mut Findings) -> Option<Retrieval> {
        let needed = "a scenario of `kind: retrieval` needs";
        let corpus = needs(self.corpus.as_ref(), "corpus", needed, start, findings);
        let golden = needs(self.golden.as_ref(), "golden", needed, start, findings);
        let corpus = corpus.and_then(|it| file(it, findings));
        let golden = golden.and_then(|it| file(it, findings));
        let search = self.search(findings);
        let baseline = match given(self.baseline.as_ref()) {
            Some(it) => Some(file(it, findings)?),
            None => None,
        };
        let gates = given(self.gates.as_ref());
        let gates = gates.map_or_else(SearchGates::default, |it| it.of_search(findings));
        let runs = match given(self.runs.as_ref()) {
            None => 1,
            Some(it) if it.0 <= MOST_RUNS => u16::try_from(it.0).unwrap_or(1),
            Some(it) => {
                let message = format!("queries are asked {MOST_RUNS} times at most");
                return findings.refuse(it.at, message, NO_HINT);
            }
        };
        let (search, search_name) = search?;
        Some(Retrieval {
            corpus: corpus?,
            golden: golden?,
            search,
            search_name,
            base_url: given(self.base_url.as_ref()).map(|it| it.0.clone()),
            api_key: given(self.api_key.as_ref()).map(|it| it.0.clone()),
            runs,
            wait: given(self.wait.as_ref()).map(|it| it.0),
            gates,
            baseline,
        })
    }

    /// How the search is declared, and what it is called without a name of its own.
    fn search(&self, findings: &mut Findings) -> Option<(Value, String)> {
        if is_wrong(self.search.as_ref()) {
            return None;
        }
        let Some(search) = given(self.search.as_ref()) else {
            let usual = SEARCHES[0];
            return Some((Value::String(usual.to_owned()), usual.to_owned()));
        };
        match &search.value {
            SearchValue::Declared(declared) => Some((declared.clone(), "search".to_owned())),
            SearchValue::Named(name) if SEARCHES.contains(&name.0.as_str()) => {
                Some((Value::String(name.0.clone()), name.0.clone()))
            }
            SearchValue::Named(name) => {
                let path = findings.folder(search.at).join(&name.0);
                if !findings.may_name(search.at, &path) {
                    return None;
                }
                if !path.exists() {
                    findings.depends_on(&path);
                    let message = format!(
                        "no search is called {}, and there is no such file",
                        quoted(&name.0)
                    );
                    let known = SEARCHES.join(", ");
                    let hint = did_you_mean(&name.0, SEARCHES)
                        .unwrap_or_else(|| format!("known are {known}"));
                    return findings.refuse(search.at, message, Some(hint));
                }
                let source = findings.read(&path)?;
                let declared = parse(source, findings)?.to_json();
                let stem = path.file_stem().unwrap_or_default();
                Some((declared, stem.to_string_lossy().into_owned()))
            }
        }
    }

    fn security(&self, start: Mark, findings: &mut Findings) -> Option<Security> {
        let needed = "a scenario of `kind: security` needs";
        let verdicts = needs(self.verdicts.as_ref(), "verdicts", needed, start, findings);
        let corpus = match given(self.corpus.as_ref()) {
            Some(it) => Some(file(it, findings)?),
            None => None,
        };
        // What is run before may make them.
        let is_made = self.before.is_some();
        let files = verdicts?.0.iter().map(|it| {
            if is_made {
                let path = findings.folder(it.at).join(&it.0);
                Some(path).filter(|path| findings.may_name(it.at, path))
            } else {
                file(it, findings)
            }
        });
        let files: Vec<Option<PathBuf>> = files.collect();
        let gates = given(self.gates.as_ref()).map(|it| &it.value);
        let share = |of: fn(&GatesSection) -> &Option<At<Fraction>>| {
            gates.and_then(|it| of(it).as_ref()).map(|it| it.0)
        };
        let errors = gates.and_then(|it| it.allow_errors.as_ref());
        Some(Security {
            verdicts: files.into_iter().collect::<Option<_>>()?,
            form: given(self.format.as_ref()).map(|it| it.0),
            corpus,
            demands: Demands {
                fpr_ceiling: share(|it| &it.fpr_ceiling).unwrap_or(FPR_CEILING),
                recall_floor: share(|it| &it.recall_floor).unwrap_or(RECALL_FLOOR),
                allow_errors: errors.map_or(0, |it| it.0 as usize),
                prevalence: share(|it| &it.prevalence),
            },
        })
    }
}

impl GatesSection {
    /// Says which of them mean nothing for a kind.
    fn refuse_foreign(&self, kind: Kind, findings: &mut Findings) {
        let of_searches = [
            ("tolerance", self.tolerance.as_ref().map(At::mark)),
            ("max_lost", self.max_lost.as_ref().map(At::mark)),
            ("allow_lost", self.allow_lost.as_ref().map(At::mark)),
            ("allow_drift", self.allow_drift.as_ref().map(At::mark)),
        ];
        let of_scanners = [
            ("fpr_ceiling", self.fpr_ceiling.as_ref().map(At::mark)),
            ("allow_errors", self.allow_errors.as_ref().map(At::mark)),
            ("prevalence", self.prevalence.as_ref().map(At::mark)),
        ];
        let (foreign, whose): (&[_], _) = match kind {
            Kind::Trajectory => return,
            Kind::Retrieval => (&of_scanners, "scanners"),
            Kind::Security => (&of_searches, "searches"),
        };
        for (key, at) in foreign {
            if let Some(at) = at {
                findings.error(*at, format!("`{key}` is a gate of {whose}"), NO_HINT);
            }
        }
    }

    fn of_search(&self, findings: &mut Findings) -> SearchGates {
        if let (Some(allowed), None) = (&self.allow_lost, &self.max_lost) {
            let message = "`allow_lost` means nothing without `max_lost`";
            findings.error(allowed.at, message, Some("add `max_lost: 0`"));
        }
        SearchGates {
            allow_lost: self
                .allow_lost
                .as_ref()
                .map_or_else(Vec::new, |it| allowed(it, findings)),
            ..self.plain(findings)
        }
    }
}

/// The queries that may be lost, whatever day it is.
fn allowed(allowance: &At<Allowance>, findings: &mut Findings) -> Vec<AllowedLoss> {
    let own;
    let listed = match &allowance.value {
        Allowance::Listed(listed) => listed,
        Allowance::File(word) => {
            let path = findings.folder(allowance.at).join(&word.0);
            if !findings.may_name(allowance.at, &path) {
                return Vec::new();
            }
            let read = findings.read(&path).and_then(|it| parse(it, findings));
            let decoded: Option<Vec<AllowedSection>> =
                read.and_then(|it| Decode::decode(&it, findings));
            own = decoded.unwrap_or_default();
            &own
        }
    };
    listed.plain(findings)
}

/// The value of a key that this kind needs; `None` after saying that it is missing.
fn needs<'a, T>(
    field: Option<&'a Field<T>>,
    key: &str,
    needed: &str,
    start: Mark,
    findings: &mut Findings,
) -> Option<&'a T> {
    if field.is_none() {
        findings.error(start, format!("{needed} `{key}`"), NO_HINT);
    }
    given(field)
}

/// A file that must be there; what it holds is of matter to whoever measures with it.
fn file(named: &At<Word>, findings: &mut Findings) -> Option<PathBuf> {
    let path = findings.folder(named.at).join(&named.0);
    if !findings.may_name(named.at, &path) {
        return None;
    }
    findings.depends_on(&path);
    let is_there = path.is_file();
    if !is_there {
        let message = format!("there is no file {}", quoted(&named.0));
        let hint = "files are looked for beside the file that names them";
        findings.error(named.at, message, Some(hint));
    }
    is_there.then_some(path)
}
