//! The labels of a corpus: which of the tools that scanners judge are malicious.

use std::collections::{HashMap, HashSet};

use super::fields::{Fields, read_whole};
use super::places::Document;
use super::verdicts::{Run, is_malicious};
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
        read_whole(document, Self::of)
    }

    fn of(top: &Fields<'_>) -> Option<Self> {
        let version = ["corpus_version", "version"].iter();
        let mut version = version.filter_map(|key| top.get(key)?.as_str());
        let mut truth = Self {
            version: version.next().map(str::to_owned),
            entries: Vec::new(),
        };
        let entries = if top.value.is_array() {
            top.clone()
        } else {
            top.list("entries")?
        };
        let mut seen = HashSet::new();
        for entry in entries.items() {
            let Some(id) = entry.text("id") else {
                continue;
            };
            if !seen.insert(id) {
                entry.error("id", format!("the entry `{id}` is here twice"));
            }
            let Some(label) = entry.text("label") else {
                continue;
            };
            let Some(malicious) = is_malicious(&entry, label) else {
                continue;
            };
            let text = |key: &str| entry.optional_text(key).map(str::to_owned);
            truth.entries.push(Labelled {
                id: id.to_owned(),
                malicious,
                category: text("category").unwrap_or_default(),
                pair: text("pair"),
            });
        }
        if top.wrong_so_far() == 0 && truth.entries.is_empty() {
            entries.refuse("there are no entries");
        }
        Some(truth)
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
