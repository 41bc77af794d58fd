//! The labels of a corpus: which of the tools that scanners judge are malicious.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::fields::Fields;
use super::places::{Document, part};
use super::verdicts::Run;
use crate::scenario_file::Finding;

/// What is so: the entries of a corpus with their labels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Truth {
    pub version: Option<String>,
    pub entries: Vec<Labelled>,
}

/// One tool, and whether it is malicious.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Labelled {
    pub id: String,
    pub malicious: bool,
    pub category: String,
    /// The name that a vulnerable tool and its safe twin share.
    pub pair: Option<String>,
}

impl Truth {
    /// Reads a corpus `{version?, entries: [{id, label, category, pair?}]}`, or the list alone.
    ///
    /// # Errors
    ///
    /// Everything that keeps it from being used.
    pub fn read(document: &Document) -> Result<Self, Vec<Finding>> {
        let mut findings = document.doubled_keys();
        let mut truth = Self::default();
        let (pointer, items) = match &document.value {
            Value::Array(items) => ("", items.as_slice()),
            whole => {
                let top = Fields::new(document, whole);
                for key in ["corpus_version", "version"] {
                    if truth.version.is_none() {
                        let version = top.get(key).and_then(Value::as_str);
                        truth.version = version.map(str::to_owned);
                    }
                }
                let items = top.list("", "entries", &mut findings);
                ("/entries", items.map_or(&[][..], |it| it.items))
            }
        };
        let mut seen = HashSet::new();
        for (index, value) in items.iter().enumerate() {
            let here = format!("{pointer}{}", part(index));
            let fields = Fields::new(document, value);
            let Some(id) = fields.text(&here, "id", &mut findings) else {
                continue;
            };
            if !seen.insert(id) {
                let problem = format!("the entry `{id}` is here twice");
                findings.push(document.error(&format!("{here}/id"), problem));
            }
            let malicious = match fields.text(&here, "label", &mut findings) {
                Some("malicious") => true,
                Some("benign") => false,
                Some(other) => {
                    let problem = format!("`label` must be `malicious` or `benign`, not `{other}`");
                    findings.push(document.error(&format!("{here}/label"), problem));
                    continue;
                }
                None => continue,
            };
            let mut text = |key: &str| fields.optional_text(&here, key, &mut findings);
            truth.entries.push(Labelled {
                id: id.to_owned(),
                malicious,
                category: text("category").unwrap_or_default().to_owned(),
                pair: text("pair").map(str::to_owned),
            });
        }
        if findings.is_empty() && truth.entries.is_empty() {
            findings.push(document.error(pointer, "there are no entries"));
        }
        if findings.is_empty() {
            Ok(truth)
        } else {
            Err(findings)
        }
    }

    /// The labels that verdicts carry themselves, where there is no corpus.
    pub(super) fn of_verdicts(runs: &[Run], problems: &mut Vec<String>) -> Self {
        let mut truth = Self::default();
        let mut seen: HashMap<&str, bool> = HashMap::new();
        let mut unlabelled: Vec<&str> = Vec::new();
        truth.version = runs.iter().find_map(|it| it.corpus_version.clone());
        for entry in runs.iter().flat_map(|it| &it.entries) {
            let Some(malicious) = entry.malicious else {
                if !seen.contains_key(entry.id.as_str()) {
                    unlabelled.push(&entry.id);
                    seen.insert(&entry.id, false);
                }
                continue;
            };
            match seen.insert(&entry.id, malicious) {
                Some(before) if before != malicious => {
                    problems.push(format!(
                        "`{}` is malicious in one file and benign in another",
                        entry.id
                    ));
                }
                Some(_) => {}
                None => truth.entries.push(Labelled {
                    id: entry.id.clone(),
                    malicious,
                    category: entry.category.clone().unwrap_or_default(),
                    pair: None,
                }),
            }
        }
        match unlabelled[..] {
            [] => {}
            [only] => problems.push(format!(
                "nothing says whether `{only}` is malicious: name the corpus with `--corpus`"
            )),
            [first, ..] => problems.push(format!(
                "nothing says of {} entries whether they are malicious, such as `{first}`: name the corpus with `--corpus`",
                unlabelled.len()
            )),
        }
        truth
    }
}
