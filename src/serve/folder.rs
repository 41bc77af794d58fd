//! The scenarios of the folder that is served.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::problem::Problem;
use super::wire::reply::Misfit;
use crate::input;
use crate::report::command;
use crate::scenario_file::{
    self, Finding, Found, Loaded, Options, Scenario, Severity, Wanted, WouldRead,
};

/// What scenarios of a request are called that lie in no file.
const UNNAMED: &str = command::REQUEST;

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

    pub(super) fn root(&self) -> &Path {
        self.root
    }

    /// What is read in the folder lies in it, whatever links there are.
    fn options(&self) -> Options {
        Options {
            links_within: Some(self.root.to_owned()),
            ..Options::default()
        }
    }

    /// All scenario files.
    fn listed(&self) -> &Listed {
        self.listed.get_or_init(|| {
            // Of a folder that is not there, nothing is served.
            let roots = self.root.exists().then(|| self.root.to_owned());
            let (mut found, mut findings) = scenario_file::find(roots.as_slice());
            // What a link leads out to is nobody's here, whatever its id.
            found.retain(|it| {
                let finding = |why: &str| Finding::about(it.path.display(), Severity::Error, why);
                let links = input::check_links(&it.path, self.root);
                let links = links.inspect_err(|it| findings.push(finding(&it.to_string())));
                links.is_ok()
            });
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
        let loaded = scenario_file::load(&listed.found, &self.options());
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
        let loaded = scenario_file::load(std::slice::from_ref(file), &self.options());
        let mut scenarios = self.usable(loaded, None, at)?;
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

    /// The scenarios that a text would be as this file of the folder; without one it lies in no file, and is taken as it is. Files that it
    /// names are looked for in the folder.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn of_text(
        &self,
        file: Option<&str>,
        text: &str,
        programs: bool,
        at: &str,
    ) -> Result<Vec<Scenario>, Problem> {
        let options = Options {
            within: (!programs).then(|| self.root.to_owned()),
            literally: file.is_none(),
            ..self.options()
        };
        let own = self.root.join(file.unwrap_or(UNNAMED));
        let found = self.holding(own.clone(), text);
        let loaded = scenario_file::load(&[found], &options);
        if loaded.names_others {
            return Err(Problem::forbidden_at(
                at,
                "the scenario names a file outside the served folder, which a request may do only if the server was started with --allow-programs",
            ));
        }
        if let Some(would_read) = &loaded.would_read {
            return Err(Problem::forbidden_at(at, self.why_not(would_read, &own)));
        }
        self.usable(loaded, Some(&own), at)
    }

    /// Why a text that a request brings is not read: it would have something that only whoever started the server may see.
    fn why_not(&self, WouldRead { path, line, wanted }: &WouldRead, own: &Path) -> String {
        let what = match wanted {
            Wanted::Variable(Some(name)) => format!("the environment variable `{name}`"),
            Wanted::Variable(None) => "an environment variable".to_owned(),
            Wanted::Secret => "a secret, in the place of its placeholder".to_owned(),
        };
        if path == own {
            return format!(
                "line {line} refers to {what}, which a request may bring or write only if the server was started with --allow-programs"
            );
        }
        format!(
            "line {line} of `{}` refers to {what}, which scenarios of a request would inherit and could send anywhere: start the server with --allow-programs, or move it from the defaults to scenarios of the folder",
            self.below(path)
        )
    }

    /// The scenarios of a file that is valid. Of what is wrong in another than `own`, it is said where.
    fn usable(
        &self,
        loaded: Loaded,
        own: Option<&Path>,
        at: &str,
    ) -> Result<Vec<Scenario>, Problem> {
        if loaded.findings.iter().any(Finding::is_error) {
            return Err(self.invalid(at, own, &loaded.findings));
        }
        Ok(loaded.scenarios)
    }

    /// What is wrong with the scenarios that a request means at this place in it; `own` is the file that stands for its own text.
    pub(super) fn invalid(&self, at: &str, own: Option<&Path>, findings: &[Finding]) -> Problem {
        let errors = findings.iter().filter(|it| it.is_error());
        let misfits = errors.map(|it| {
            let file = Path::new(&it.path);
            let file = (Some(file) != own).then(|| self.below(file));
            let line = it
                .line
                .map(|line| format!("line {line}, column {}", it.column.unwrap_or(1)));
            let place: Vec<String> = file.into_iter().chain(line).collect();
            let place = match place.as_slice() {
                [] => String::new(),
                parts => format!("{}: ", parts.join(", ")),
            };
            let hint = it.hint.as_ref();
            let hint = hint.map_or_else(String::new, |it| format!(" ({it})"));
            Misfit {
                path: at.to_owned(),
                message: format!("{place}{}{hint}", it.message),
            }
        });
        Problem::malformed(misfits.collect())
    }

    /// A scenario without expectations that the defaults of the folder reach; `None` where they cannot be used.
    pub(super) fn of_defaults(&self) -> Option<Scenario> {
        let text = r#"{"name": "defaults", "user_intent": "none", "expected_trajectory": []}"#;
        let found = self.holding(self.root.join(UNNAMED), text);
        let mut loaded = scenario_file::load(&[found], &self.options());
        loaded.scenarios.pop()
    }

    /// A file of the folder that would hold this text.
    fn holding(&self, path: PathBuf, text: &str) -> Found {
        let root = std::path::absolute(self.root).unwrap_or_else(|_| self.root.to_owned());
        Found::below(root, path).holding(text)
    }

    /// Where a new file of this id would lie.
    pub(super) fn place(&self, id: &str) -> PathBuf {
        self.root.join(format!("{id}.yaml"))
    }
}

/// A name as it may be shown.
pub(super) fn shown(name: &str) -> String {
    crate::text::shorten(name, 200).into_owned()
}
