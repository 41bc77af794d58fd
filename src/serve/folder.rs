//! The scenarios of the folder that is served.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::problem::Problem;
use crate::model::scenario::Scenario;
use crate::scenario_file::{self, Finding, Found, Loaded, Options};

/// What scenarios of a request are called that lie in no file.
const UNNAMED: &str = "request.yaml";

/// The scenarios of the folder that is served, as one request finds them.
#[derive(Debug)]
pub(super) struct Folder<'a> {
    root: &'a Path,
    listed: OnceLock<Listed>,
}

/// The scenario files that there are.
#[derive(Debug)]
struct Listed {
    found: Vec<Found>,
    findings: Vec<Finding>,
    /// Where each stands, by its id.
    by_id: HashMap<String, usize>,
}

impl<'a> Folder<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self {
            root,
            listed: OnceLock::new(),
        }
    }

    /// All scenario files.
    fn listed(&self) -> &Listed {
        self.listed.get_or_init(|| {
            let (found, findings) = scenario_file::find(&[self.root.to_owned()]);
            let by_id = found.iter().enumerate();
            let by_id = by_id.map(|(at, it)| (it.id.clone(), at)).collect();
            Listed {
                found,
                findings,
                by_id,
            }
        })
    }

    /// The file that somebody means by its id, or by its path.
    fn find(&self, name: &str) -> Option<&Found> {
        let listed = self.listed();
        if let Some(at) = listed.by_id.get(name) {
            return listed.found.get(*at);
        }
        listed.found.iter().find(|it| self.is_called(it, name))
    }

    /// All scenarios that are valid, and what is wrong with the others.
    pub(super) fn all(&self) -> (Vec<Scenario>, Vec<Finding>) {
        let listed = self.listed();
        let loaded = scenario_file::load(&listed.found, &Options::default());
        let mut findings = listed.findings.clone();
        findings.extend(loaded.findings);
        (loaded.scenarios, findings)
    }

    /// The path of a file below the folder.
    pub(super) fn below(&self, path: &Path) -> String {
        let below = path.strip_prefix(self.root).unwrap_or(path);
        below.to_string_lossy().into_owned()
    }

    /// Whether somebody means this file by a name: its id, its path below the folder, or the path that the command line would take.
    fn is_called(&self, found: &Found, name: &str) -> bool {
        let path = Path::new(name);
        found.id == name
            || Path::new(&self.below(&found.path)) == path
            || found.path == path
            || self.root.join(path) == found.path
    }

    /// The scenarios that a name means: those of a file, or one row of its data set.
    ///
    /// # Errors
    ///
    /// That there is none, or what is wrong with its file.
    pub(super) fn named(&self, name: &str, at: &str) -> Result<Vec<Scenario>, Problem> {
        let file = self.find(name).or_else(|| {
            // The id of a row begins with that of its file.
            let mut files = self.listed().found.iter();
            files.find(|it| {
                let rest = name.strip_prefix(it.id.as_str());
                rest.is_some_and(|it| it.starts_with('/'))
            })
        });
        let none = || Problem::unknown(format!("there is no scenario `{}`", shown(name)));
        let file = file.ok_or_else(none)?;
        let loaded = scenario_file::load(std::slice::from_ref(file), &Options::default());
        let mut scenarios = usable(loaded, at)?;
        if !self.is_called(file, name) {
            scenarios.retain(|it| it.id == name);
        }
        if scenarios.is_empty() {
            return Err(none());
        }
        Ok(scenarios)
    }

    /// The file that somebody means.
    pub(super) fn file(&self, name: &str) -> Result<Found, Problem> {
        let none = || Problem::unknown(format!("there is no case `{}`", shown(name)));
        self.find(name).cloned().ok_or_else(none)
    }

    /// The scenarios of a text that lies in no file. Files that it names are looked for in the folder.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn of_text(
        &self,
        text: &str,
        programs: bool,
        at: &str,
    ) -> Result<Vec<Scenario>, Problem> {
        let options = Options {
            within: (!programs).then(|| self.root.to_owned()),
            literally: true,
            ..Options::default()
        };
        self.read(UNNAMED, text, &options, at)
    }

    /// The scenarios that a text would be as this file of the folder.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn as_file(
        &self,
        file: &str,
        text: &str,
        programs: bool,
        at: &str,
    ) -> Result<Vec<Scenario>, Problem> {
        let options = Options {
            within: (!programs).then(|| self.root.to_owned()),
            ..Options::default()
        };
        self.read(file, text, &options, at)
    }

    fn read(
        &self,
        file: &str,
        text: &str,
        options: &Options,
        at: &str,
    ) -> Result<Vec<Scenario>, Problem> {
        let root = std::path::absolute(self.root).unwrap_or_else(|_| self.root.to_owned());
        let found = Found::below(root, self.root.join(file)).holding(text);
        let loaded = scenario_file::load(&[found], options);
        if loaded.names_others {
            return Err(Problem::forbidden(
                "the scenario names a file outside of the folder that is served, which a request may do only where the server was started with --allow-programs",
            ));
        }
        usable(loaded, at)
    }

    /// A scenario without expectations that the defaults of the folder reach; `None` where they cannot be used.
    pub(super) fn of_defaults(&self) -> Option<Scenario> {
        let text = r#"{"name": "defaults", "user_intent": "none", "expected_trajectory": []}"#;
        let root = std::path::absolute(self.root).unwrap_or_else(|_| self.root.to_owned());
        let found = Found::below(root, self.root.join(UNNAMED)).holding(text);
        let mut loaded = scenario_file::load(&[found], &Options::default());
        loaded.scenarios.pop()
    }

    /// Where a new file of this id would lie.
    pub(super) fn place(&self, id: &str) -> PathBuf {
        self.root.join(format!("{id}.yaml"))
    }
}

/// The scenarios of a file that is valid.
fn usable(loaded: Loaded, at: &str) -> Result<Vec<Scenario>, Problem> {
    if loaded.findings.iter().any(Finding::is_error) {
        return Err(Problem::of_findings(at, &loaded.findings));
    }
    Ok(loaded.scenarios)
}

/// A name as it may be shown.
pub(super) fn shown(name: &str) -> String {
    crate::text::shorten(name, 200).into_owned()
}
