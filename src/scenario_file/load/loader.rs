//! From files to scenarios.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::config::{ConfigFile, UsualServers};
use super::dataset::{self, Row, folded};
use super::dialogue::{self, Dialogue};
use super::find::{DEFAULTS, Found, absolute, find, may_be_of_others};
use super::variables;
use super::would_read::{WouldRead, would_read};
use crate::scenario_file::Scenario;
use crate::scenario_file::decode::{Decode, Section};
use crate::scenario_file::file::document::{Document, drop_foreign_defaults};
use crate::scenario_file::measured::{self, Kind};
use crate::scenario_file::mock::server;
use crate::scenario_file::yaml::{
    Content, FilledRow, Finding, Findings, Mark, Node, Severity, parse, parse_some, quoted,
};
use crate::text::nearest::did_you_mean;

/// What the caller knows beside the files.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Values for variables (`--var name=value`); they win over those of the files, and a later one over an earlier.
    pub variables: Vec<(String, String)>,
    /// Whose values of variables are taken (`--environment NAME`), which go before those of `variables`.
    pub environment: Option<String>,
    /// Another agent than a script is chosen for all scenarios (`--agent`), or none of them is run: they need not tell who asks.
    pub agent_given: bool,
    /// Where a `config_file` is looked for last.
    pub working_dir: PathBuf,
    /// The folder that all files must lie in which a scenario names: it comes from somebody who may see no others, nor our environment.
    /// `None` for any.
    pub within: Option<PathBuf>,
    /// The folder that no link to a file leads out of, where somebody else may see what is read; `None` where links may lead anywhere.
    pub links_within: Option<PathBuf>,
    /// Whether `${…}` stands for itself in texts that lie in no file ([`Found::holding`]).
    pub literally: bool,
}

/// What became of the files.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The scenarios of the files without errors, in the order found.
    pub scenarios: Vec<Scenario>,
    /// Everything that is wrong, sorted by path, line and column.
    pub findings: Vec<Finding>,
    /// Whether a file was named that does not lie where it must ([`Options::within`]). It was not looked at.
    pub names_others: bool,
    /// The first text by which a scenario would have a value of ours that its author may not see ([`Options::within`]).
    pub would_read: Option<WouldRead>,
}

/// Reads scenario files with their defaults, variables and configuration files.
///
/// All files are read and everything wrong with them is found in one go, but for what lies behind broken YAML syntax, and for files that
/// may be no scenarios where one is broken that may name them.
pub fn load(found: &[Found], options: &Options) -> Loaded {
    loaded(found, Loader::new(options))
}

/// The same where the files themselves are what is asked about: one is wrong then that names tools which its own mocks lack, and doubtful
/// that expects nothing. To whoever runs them, the runs tell.
pub fn check(found: &[Found], options: &Options) -> Loaded {
    let mut loader = Loader::new(options);
    loader.findings.thorough = true;
    loaded(found, loader)
}

fn loaded(found: &[Found], mut loader: Loader<'_>) -> Loaded {
    let (others, own): (Vec<&Found>, Vec<&Found>) =
        found.iter().partition(|it| may_be_of_others(&it.path));
    let mut scenarios: Vec<Scenario> = own.iter().flat_map(|it| loader.scenarios(it)).collect();
    loader.note_read();
    // What a scenario reads as its data set or its rubric is no scenario. What one would read that is broken is not known.
    let all_sound = loader.findings.errors() == 0;
    for found in others {
        if all_sound && !loader.read.contains(&absolute(&found.path)) {
            scenarios.extend(loader.scenarios(found));
        }
    }
    loader.check_rows(&scenarios);
    if loader.all_parsed && !found.is_empty() {
        loader.check_overrides();
        loader.check_environments();
    }
    Loaded {
        scenarios,
        names_others: loader.findings.names_others,
        would_read: loader.would_read,
        findings: loader.findings.into_list(),
    }
}

/// What is the same for all scenarios of a file.
struct Reading<'a> {
    found: &'a Found,
    start: Mark,
    /// Its configuration file, where there is one, once that was looked for.
    config: OnceCell<Option<ConfigFile>>,
}

impl<'a> Reading<'a> {
    fn new(found: &'a Found, start: Mark) -> Self {
        Self {
            found,
            start,
            config: OnceCell::new(),
        }
    }
}

pub(in crate::scenario_file) struct Loader<'a> {
    options: &'a Options,
    findings: Findings,
    /// The defaults of each folder that has some; `Err` for those with errors.
    defaults: HashMap<PathBuf, Result<Option<Node>, ()>>,
    usual_servers: UsualServers,
    /// The variables that any scenario declares.
    variables: BTreeSet<String>,
    /// The environments that any scenario has values for.
    environments: BTreeSet<String>,
    /// What the environments that reach any scenario have values for.
    given: variables::Given,
    /// Whether the variables of all scenarios are known.
    all_parsed: bool,
    /// The files that scenarios were read from so far, whatever these found in them.
    read: HashSet<PathBuf>,
    would_read: Option<WouldRead>,
}

impl<'a> Loader<'a> {
    pub(in crate::scenario_file) fn new(options: &'a Options) -> Self {
        let mut loader = Self {
            options,
            findings: Findings::within(options.within.clone()),
            defaults: HashMap::new(),
            usual_servers: UsualServers::default(),
            variables: BTreeSet::new(),
            environments: BTreeSet::new(),
            given: variables::Given::default(),
            all_parsed: true,
            read: HashSet::new(),
            would_read: None,
        };
        loader.findings.agent_given = options.agent_given;
        loader
            .findings
            .links_within
            .clone_from(&options.links_within);
        loader
    }

    pub(in crate::scenario_file) fn into_findings(self) -> Findings {
        self.findings
    }

    /// A file's document over its defaults; `None` after saying why there is none.
    pub(in crate::scenario_file) fn merged(&mut self, found: &Found) -> Option<Node> {
        let own = self.document(found)?;
        let (merged, are_right) = self.over_defaults(own, found);
        are_right.then_some(merged)
    }

    /// The scenarios of a file: one, or one for each row of its data set; none after saying why there are none.
    fn scenarios(&mut self, found: &Found) -> Vec<Scenario> {
        let errors = self.findings.errors();
        self.note_read();
        let Some(own) = self.document(found) else {
            self.all_parsed = false;
            return Vec::new();
        };
        let start = own.at;
        let (mut document, are_right) = self.over_defaults(own, found);
        let environment = self.options.environment.as_deref();
        self.environments.extend(variables::names(&document));
        self.given.note(&document);
        if let Some(name) = environment {
            variables::choose(&mut document, name);
        }
        let mut scenarios = match dataset::take(&mut document, &mut self.findings) {
            None => {
                let read = Reading::new(found, start);
                self.findings.begin_filling(None);
                Vec::from_iter(self.scenario(document, None, &read))
            }
            Some(rows) => self.of_rows(&document, rows, found, start),
        };
        self.findings.begin_filling(None);
        if !(are_right && self.findings.errors() == errors) {
            return Vec::new();
        }
        // Files of defaults are read once for all scenarios that they reach.
        for folder in folders(found) {
            for name in DEFAULTS {
                self.findings.depends_on(&folder.join(name));
            }
        }
        let looked_at = self.findings.take_looked_at();
        let mut read_from: Vec<PathBuf> = looked_at.iter().map(|it| absolute(it)).collect();
        read_from.sort();
        read_from.dedup();
        self.read.extend(read_from.iter().cloned());
        for scenario in &mut scenarios {
            scenario.read_from.clone_from(&read_from);
        }
        scenarios
    }

    /// Notes the files that were read since this was last asked for.
    fn note_read(&mut self) {
        let read = self.findings.take_looked_at();
        self.read.extend(read.iter().map(|it| absolute(it)));
    }

    /// A scenario for each row, up to the first with which something is wrong: the others would repeat it.
    fn of_rows(
        &mut self,
        document: &Node,
        rows: Vec<Row>,
        found: &Found,
        start: Mark,
    ) -> Vec<Scenario> {
        let read = Reading::new(found, start);
        let mut scenarios: Vec<Scenario> = Vec::with_capacity(rows.len());
        for row in rows {
            self.findings.begin_filling(Some(FilledRow {
                words: format!("row {}, {}", quoted(&row.id), self.findings.place(row.at)),
                is_to_blame: !scenarios.is_empty(),
            }));
            match self.scenario(document.clone(), Some(&row), &read) {
                Some(mut scenario) => {
                    // They are most of what is kept of a row.
                    if let Some(before) = scenarios.last()
                        && before.interactions == scenario.interactions
                    {
                        scenario.interactions = Arc::clone(&before.interactions);
                    }
                    scenarios.push(scenario);
                }
                None => return Vec::new(),
            }
        }
        scenarios
    }

    /// One scenario; `None` after saying why there is none.
    fn scenario(
        &mut self,
        mut document: Node,
        row: Option<&Row>,
        read: &Reading<'_>,
    ) -> Option<Scenario> {
        let errors = self.findings.errors();
        let overrides = &self.options.variables;
        let (declared, secrets) =
            variables::fill(&mut document, overrides, row, &mut self.findings);
        self.variables.extend(declared);
        if self.options.within.is_some() && self.would_read.is_none() {
            // What variables put together counts as what is written.
            self.would_read = would_read(&document, &self.findings);
        }
        // A name that no column has is said already, wherever it stands.
        if row.is_some_and(|it| it.is_first) && self.findings.errors() == errors {
            variables::refuse_unfilled_rows(&document, &mut self.findings);
        }
        if let Some(mocks) = document.get("mcp_interactions") {
            server::check(mocks, &mut self.findings);
        }
        let skipped = match dialogue::of_original(&mut document, &mut self.findings) {
            Dialogue::No => None,
            Dialogue::Skipped(why) => Some(why),
            Dialogue::Mixed => return None,
        };
        measured::refuse_foreign(&document, &Document::keys(), &mut self.findings);
        let decoded = Document::decode(&document, &mut self.findings)?;
        let passed_on = decoded.config_is_passed_on();
        let config = read.config.get_or_init(|| {
            let last = self.options.working_dir.as_path();
            let named = decoded.config_file()?;
            ConfigFile::read(named, passed_on, last, &mut self.findings)
        });
        let config = config.clone();
        let has_servers = config.as_ref().is_some_and(|it| !it.servers.is_empty());
        let usual = if decoded.declares_servers()
            || has_servers
            || passed_on
            || Kind::of(&document) != Kind::Trajectory
        {
            None
        } else {
            self.usual_servers.of(&read.found.root, &mut self.findings)
        };
        let from = (secrets, config, usual);
        let mut scenario = decoded.scenario(read.found, from, read.start, &mut self.findings)?;
        if self.findings.errors() != errors {
            return None;
        }
        if let Some(why) = skipped {
            scenario.enabled = false;
            scenario.left_out = Some(why);
        }
        if let Some(row) = row {
            let dataset = std::mem::take(&mut scenario.id);
            scenario.id = format!("{dataset}/{}", row.id);
            scenario.name = format!("{} [{}]", scenario.name, row.id);
            scenario.row_of = Some(dataset);
        }
        Some(scenario)
    }

    /// The document of a file, which must be a map.
    pub(in crate::scenario_file) fn document(&mut self, found: &Found) -> Option<Node> {
        let source = match &found.text {
            None => self.findings.read(&found.path)?,
            Some(text) => {
                let source = self.findings.take_text(&found.path, text.as_bytes())?;
                if self.options.literally {
                    self.findings.take_literally(source);
                }
                source
            }
        };
        let hint = "a scenario needs at least `name` and `expected_trajectory`";
        match parse_some(source, &mut self.findings, hint)? {
            document if matches!(document.content, Content::Map(_)) => Some(document),
            other => {
                let message = format!("expected a map of keys, found {}", other.kind());
                let hint = matches!(other.content, Content::List(_))
                    .then_some("where it holds rows, a scenario names the file: `dataset: FILE`");
                self.findings.error(other.at, message, hint);
                None
            }
        }
    }

    /// A document over the defaults that reach its file, and whether all of those are right.
    fn over_defaults(&mut self, own: Node, found: &Found) -> (Node, bool) {
        let (defaults, are_right) = self.defaults_of(found);
        let Some(defaults) = defaults else {
            return (own, are_right);
        };
        let mut merged = over(own, defaults);
        drop_foreign_defaults(&mut merged);
        (merged, are_right)
    }

    /// The defaults that reach a file, merged, and whether all of them are right.
    fn defaults_of(&mut self, found: &Found) -> (Option<Node>, bool) {
        let mut merged: Option<Node> = None;
        let mut are_right = true;
        for folder in folders(found) {
            if !self.defaults.contains_key(&folder) {
                let read = self.read_defaults(&folder);
                self.defaults.insert(folder.clone(), read);
            }
            match self.defaults.get(&folder).cloned().unwrap_or(Ok(None)) {
                Ok(Some(defaults)) => {
                    merged = Some(match merged {
                        Some(nearer) => over(nearer, defaults),
                        None => defaults,
                    });
                }
                Ok(None) => {}
                Err(()) => are_right = false,
            }
        }
        (merged, are_right)
    }

    fn read_defaults(&mut self, folder: &Path) -> Result<Option<Node>, ()> {
        let errors = self.findings.errors();
        let mut files = DEFAULTS
            .iter()
            .map(|it| folder.join(it))
            .filter(|it| it.symlink_metadata().is_ok());
        let Some(path) = files.next() else {
            return Ok(None);
        };
        if let Some(other) = files.next() {
            let message = format!(
                "is in the same folder as `{}`; a folder has one file of defaults",
                path.display()
            );
            let finding = Finding::about(other.display(), Severity::Error, message);
            self.findings.push(finding);
        }
        let source = self.findings.read(&path).ok_or(())?;
        let document = parse(source, &mut self.findings);
        if let Some(document) = &document {
            if let Some(name) = document.entries().iter().find(|it| it.key == "name") {
                let message = "`name` has no place among defaults";
                let hint = "give each scenario its own `name`";
                self.findings.error(name.key_at, message, Some(hint));
            }
            if !matches!(document.content, Content::Null) {
                self.findings.partial = true;
                let _ = Document::decode(&without_unfilled(document), &mut self.findings);
                self.findings.partial = false;
            }
        }
        if self.findings.errors() == errors {
            Ok(document.filter(|it| matches!(it.content, Content::Map(_))))
        } else {
            Err(())
        }
    }

    /// No row has the id of another scenario.
    fn check_rows(&mut self, scenarios: &[Scenario]) {
        let own = scenarios.iter().filter(|it| it.row_of.is_none());
        let files: HashMap<String, &Path> =
            own.map(|it| (folded(&it.id), it.path.as_path())).collect();
        for row in scenarios.iter().filter(|it| it.row_of.is_some()) {
            if let Some(other) = files.get(&folded(&row.id)) {
                let message = format!(
                    "a row of its data set has the id {}, which is that of {}",
                    quoted(&row.id),
                    other.display()
                );
                let finding = Finding::about(row.path.display(), Severity::Error, message)
                    .with_hint(Some("give the row another id, or the file another name"));
                self.findings.push(finding);
            }
        }
    }

    /// No environment has a value for a variable that no scenario has. What stands in defaults may be meant for scenarios that nobody has
    /// named here, so that these are looked at, too.
    fn check_environments(&mut self) {
        let folders = self.given.in_vain().map(|at| {
            let file = self.findings.path(at.source);
            let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
            folder.unwrap_or(Path::new(".")).to_owned()
        });
        let folders: Vec<PathBuf> = folders.collect::<BTreeSet<_>>().into_iter().collect();
        if folders.is_empty() {
            return;
        }
        let (others, _) = find(&folders);
        // What is wrong with files that nobody has named is not reported.
        let findings = self.findings.clone();
        let mut are_known = true;
        for found in others.iter().filter(|it| !may_be_of_others(&it.path)) {
            match self.merged(found) {
                Some(document) => self.given.note_other(&document, &self.findings),
                None => are_known = false,
            }
        }
        self.findings = findings;
        if are_known {
            self.given.refuse_those_in_vain(&mut self.findings);
        }
    }

    fn check_overrides(&mut self) {
        let environment = self.options.environment.as_ref();
        if let Some(name) = environment.filter(|it| !self.environments.contains(*it)) {
            let message = format!("no scenario has an environment {}", quoted(name));
            let known = self.environments.iter().map(String::as_str);
            let hint = did_you_mean(name, known).unwrap_or_else(|| {
                "declare it under `environments` in `_defaults.yaml`".to_owned()
            });
            let finding = Finding::about("--environment", Severity::Error, message);
            self.findings.push(finding.with_hint(Some(hint)));
        }
        for (name, _) in &self.options.variables {
            if !self.variables.contains(name) {
                let message = format!("no scenario declares the variable {}", quoted(name));
                let hint = did_you_mean(name, self.variables.iter().map(String::as_str));
                let finding = Finding::about("--var", Severity::Error, message).with_hint(hint);
                self.findings.push(finding);
            }
        }
    }
}

/// Defaults without the criteria and evaluators in which a variable is still to be filled in: what they say is known in each scenario alone.
fn without_unfilled(defaults: &Node) -> Node {
    let mut known = defaults.clone();
    for section in ["success_criteria", "evaluators"] {
        if let Some(Node {
            content: Content::List(items),
            ..
        }) = known.get_mut(section)
        {
            items.retain(|it| {
                let mut is_filled = true;
                it.visit_texts(&mut |_, text| is_filled &= !text.contains("{{"));
                is_filled
            });
        }
    }
    known
}

/// A document over its defaults. Their evaluators come before its own, also those among the criteria, unless it says that it takes none.
fn over(own: Node, defaults: Node) -> Node {
    let beneath = ["evaluators", "success_criteria"].map(|key| {
        let mut evaluators = items(&defaults, key)?.to_vec();
        if key == "success_criteria" {
            evaluators.retain(|it| it.get("type").is_some());
        }
        items(&own, key).map(|_| (key, evaluators))
    });
    let mut merged = own.over(defaults);
    for (key, evaluators) in beneath.into_iter().flatten() {
        if let Some(Node {
            content: Content::List(items),
            ..
        }) = merged.get_mut(key)
        {
            items.splice(0..0, evaluators);
        }
    }
    merged
}

/// The items of a list in a document.
fn items<'a>(of: &'a Node, key: &str) -> Option<&'a [Node]> {
    match of.get(key).map(|it| &it.content) {
        Some(Content::List(items)) => Some(items),
        _ => None,
    }
}

/// The folders whose defaults reach a file, the nearest first, named as the user named the file where that is possible.
fn folders(found: &Found) -> Vec<PathBuf> {
    let full = absolute(&found.path);
    let named = found.path.ancestors().skip(1).map(Path::to_owned);
    let named = named.chain(std::iter::repeat(PathBuf::from("/")));
    full.ancestors()
        .skip(1)
        .take_while(|it| it.starts_with(&found.root))
        .zip(named)
        .map(|(full, named)| {
            let same = named.as_os_str().is_empty() && absolute(Path::new(".")) == full
                || absolute(&named) == full;
            if same { named } else { full.to_owned() }
        })
        .collect()
}
