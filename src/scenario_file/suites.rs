//! Suite files: which scenarios run together, how, and what they must come to.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::civil::Date;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::model::{Place, Trouble};
use crate::scenario_file::decode::{
    Amount, At, Count, Decode, Field, Fraction, NO_HINT, Named, Plain as _, Timeout, Wait, Word,
    choose, held, schema, section,
};
use crate::scenario_file::file::document::{given, given_or_default};
use crate::scenario_file::servers::Hook;
use crate::scenario_file::servers::hook::HookSection;
use crate::scenario_file::yaml::{Content, Finding, Findings, Mark, Node, parse, quoted};

section! {
    /// A suite: which scenarios run together, in what order, what is run around them, and what all of them must come to.
    SuiteSection {
        /// What the suite is for.
        description: Option<Field<String>>,
        /// The scenarios that begin first, in this order: ids, or patterns such as `flows/*`. All others come behind them.
        order: Option<Field<Vec<At<IdPattern>>>>,
        /// Which scenarios belong to it, by their tags; all of them unless given.
        tags: Option<Field<TagsSection>>,
        /// How many scenarios run at once; what suits them unless given. `--jobs` goes before.
        jobs: Option<Field<At<Count>>>,
        /// Whether no further scenario is started once one has not passed.
        fail_fast: Option<Field<bool>>,
        /// What is run again that could not be run or judged. What failed is not.
        retries: Option<Field<RetriesSection>>,
        /// Commands that are run once, one after another, before the first scenario.
        setup: Option<Field<Vec<HookSection>>>,
        /// Commands that are run once after the last scenario, however the scenarios ended.
        teardown: Option<Field<Vec<HookSection>>>,
        /// Scenarios that run, are reported, and decide nothing until a day.
        quarantine: Option<Field<Vec<QuarantineSection>>>,
        /// What all scenarios together must come to.
        gates: Option<Field<GatesSection>>,
    }
}

section! {
    /// Which scenarios belong to a suite, by their tags.
    TagsSection {
        /// Of these, a scenario has one.
        r#in: Option<Vec<At<Word>>>,
        /// Of these, it has none.
        out: Option<Vec<At<Word>>>,
    }
}

section! {
    /// What is run again that could not be run or judged.
    RetriesSection => Retries(Eq) {
        /// What must have been the problem.
        on: At<Vec<TroubleWord>> as Vec<Trouble>,
        /// How often at most, after the first time; once unless given.
        times: Option<At<Count>>,
        /// How long to wait before the first of them; each further one waits twice as long as the one before. 1s unless given.
        backoff: Option<Wait> as Duration = BACKOFF,
    } and {
        /// How often at most, after the first time.
        times: u16 = 1,
    }
}

section! {
    /// A scenario that runs, is reported, and decides nothing until a day.
    QuarantineSection => Quarantined(Eq) {
        /// The id or the name of the scenario.
        name: At<Word> as String,
        /// Why it decides nothing, for those who read the report.
        reason: Word as String,
        /// The last day, such as 2026-12-31; from the next one on, in UTC, the scenario decides again.
        until: At<Day> as Date,
    } and {
        /// The line of the file that says so.
        line: usize = 0,
    }
}

section! {
    /// What all scenarios together must come to. A bound that is just reached is kept.
    GatesSection for Bounds {
        /// The lowest share of scenarios that passes, 0 to 1. Without it, all must.
        min_pass_rate: Option<Fraction> as Option<f64>,
        /// What all requests to models may cost together, in the currency of the scenarios' prices.
        max_cost: Option<Amount> as Option<f64>,
        /// How long all of it may take, from the first scenario to the last.
        max_duration: Option<Timeout> as Option<Duration>,
        /// The same for the scenarios with a tag.
        tags: Option<Named<BoundsSection>>,
    }
}

section! {
    /// What the scenarios with a tag must come to together.
    BoundsSection => Bounds(Copy, Default) {
        /// The lowest share of them that passes, 0 to 1.
        min_pass_rate: Option<Fraction> as Option<f64>,
        /// What their requests to models may cost together.
        max_cost: Option<Amount> as Option<f64>,
        /// How long they may take, one after another.
        max_duration: Option<Timeout> as Option<Duration>,
    }
}

/// What may stand in the way of a run, and not the next time.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct TroubleWord(Trouble);

const TROUBLES: [&str; 3] = ["transport", "rate_limit", "timeout"];

impl Decode for TroubleWord {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if matches!(&node.content, Content::Text(text) if text == "failed") {
            let message = "`failed` cannot be retried: that would hide what is broken now and then";
            let hint = "what could not be run or judged can: transport, rate_limit, timeout";
            return findings.refuse(node.at, message, Some(hint));
        }
        Some(Self(match choose(node, &TROUBLES, findings)? {
            "transport" => Trouble::Transport,
            "rate_limit" => Trouble::RateLimit,
            _ => Trouble::Timeout,
        }))
    }
}

held!(TroubleWord as Trouble);

schema!(TroubleWord, {"type": "string", "enum": TROUBLES});

/// A day, such as 2026-12-31.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct Day(Date);

impl Decode for Day {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let written = node.as_written();
        // `Date` would also read the day of a moment, whose time nobody would look at.
        let day = written.parse::<Date>().ok();
        let day = day.filter(|_| written.len() == "2026-12-31".len());
        if day.is_none() {
            let message = format!("{} is not a date", quoted(&written));
            findings.error(node.at, message, Some("write it like 2026-12-31"));
        }
        day.map(Self)
    }
}

held!(Day as Date);

schema!(Day, {"type": "string", "format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}$"});

/// The id of a scenario, or a pattern of ids.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct IdPattern(String);

impl Decode for IdPattern {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let Word(text) = Word::decode(node, findings)?;
        if let Err(error) = glob::Pattern::new(&text) {
            let message = format!("{} is not a valid pattern: {}", quoted(&text), error.msg);
            return findings.refuse(node.at, message, NO_HINT);
        }
        Some(Self(text))
    }
}

held!(IdPattern as String);

schema!(IdPattern, {"type": "string", "pattern": r"\S"});

/// A number that fits into the few bits it has; says so where it does not.
fn up_to(count: &At<Count>, most: u16, findings: &mut Findings) -> Option<u16> {
    let at: Mark = count.mark();
    let number = u16::try_from(count.0).ok().filter(|it| *it <= most);
    if number.is_none() {
        findings.error(at, format!("expected a number from 1 to {most}"), NO_HINT);
    }
    number
}

/// The folder of suite files, in a folder of scenarios.
pub const FOLDER: &str = "_suites";

/// The folder whose scenarios a suite is of, when it lies below one of this name.
const ROOT: &str = "scenarios";

/// How many scenarios may run at once, and how often one may be run again.
const MOST_JOBS: u16 = 256;
const MOST_RETRIES: u16 = 20;

/// How long to wait before something is run again, unless the file says otherwise.
const BACKOFF: Duration = Duration::from_secs(1);

/// A suite file, not yet read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteFound {
    pub name: String,
    pub path: PathBuf,
}

/// What became of a suite file.
#[derive(Debug, Clone)]
pub struct LoadedSuite {
    /// `None` when anything is wrong.
    pub suite: Option<SuiteFile>,
    /// What could be read of it, whatever is wrong with the rest.
    pub readable: Option<SuiteFile>,
    /// Everything that is wrong, sorted by line and column.
    pub findings: Vec<Finding>,
}

/// The suite files of the folders that scenarios are looked for in: those in `_suites` of each of them, and of each folder above up to the one
/// called `scenarios`. Sorted by name; of two with one name, the one that lies nearer comes first.
pub fn find_suites(paths: &[PathBuf]) -> Vec<SuiteFound> {
    let mut found: Vec<SuiteFound> = Vec::new();
    for path in paths {
        let full = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let below_root = full.ancestors().any(|it| it.ends_with(ROOT));
        let mut above = path.ancestors().zip(full.ancestors());
        let mut is_last = false;
        let folders = std::iter::from_fn(|| {
            let (named, full) = above.next().filter(|_| !is_last)?;
            is_last = !below_root || full.ends_with(ROOT);
            Some(named.join(FOLDER))
        });
        for folder in folders.collect::<Vec<_>>() {
            for file in files(&folder) {
                if found.iter().all(|it| it.path != file.path) {
                    found.push(file);
                }
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn files(folder: &Path) -> Vec<SuiteFound> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<SuiteFound> = entries
        .filter_map(|it| {
            let path = it.path();
            let extension = path.extension()?.to_str()?.to_lowercase();
            let name = path.file_stem()?.to_str()?.to_owned();
            let is_suite = ["yaml", "yml"].contains(&extension.as_str());
            (is_suite && !name.starts_with('.')).then_some(SuiteFound { name, path })
        })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Reads a suite file.
pub fn suite(found: &SuiteFound) -> LoadedSuite {
    let mut findings = Findings::default();
    let read = findings.read(&found.path);
    let document = read.and_then(|source| parse(source, &mut findings));
    // A suite of all scenarios, with nothing else to say, is one.
    let section = match &document {
        Some(Node {
            content: Content::Null,
            ..
        })
        | None => None,
        Some(document) => SuiteSection::decode(document, &mut findings),
    };
    let is_empty = document.is_none_or(|it| matches!(it.content, Content::Null));
    let suite = section.map(|it| of_section(&it, found, &mut findings));
    let suite = suite.or_else(|| is_empty.then(|| empty(found)));
    let is_right = findings.errors() == 0;
    LoadedSuite {
        suite: suite.clone().filter(|_| is_right),
        readable: suite,
        findings: findings.into_list(),
    }
}

fn empty(found: &SuiteFound) -> SuiteFile {
    SuiteFile {
        name: found.name.clone(),
        path: found.path.clone(),
        ..SuiteFile::default()
    }
}

fn of_section(section: &SuiteSection, found: &SuiteFound, findings: &mut Findings) -> SuiteFile {
    let tags = given(section.tags.as_ref());
    let retries = given(section.retries.as_ref());
    if let Some(retries) = retries.filter(|it| it.on.value.is_empty()) {
        let message = "names nothing that is run again";
        let hint = "name some of transport, rate_limit and timeout, or leave `retries` out";
        findings.error(retries.on.mark(), message, Some(hint));
    }
    let retries = retries.map(|it| Retries {
        times: it
            .times
            .as_ref()
            .and_then(|it| up_to(it, MOST_RETRIES, findings))
            .unwrap_or(1),
        ..it.plain(findings)
    });
    let jobs = given(section.jobs.as_ref());
    let quarantine = given(section.quarantine.as_ref()).into_iter().flatten();
    let gates = given(section.gates.as_ref());
    SuiteFile {
        description: given(section.description.as_ref()).plain(findings),
        order: given_or_default(section.order.as_ref(), findings),
        tags_in: tags
            .and_then(|it| it.r#in.plain(findings))
            .unwrap_or_default(),
        tags_out: tags
            .and_then(|it| it.out.plain(findings))
            .unwrap_or_default(),
        jobs: jobs.and_then(|it| up_to(it, MOST_JOBS, findings)),
        fail_fast: given(section.fail_fast.as_ref()).copied().unwrap_or(false),
        retries,
        around: Around {
            setup: given_or_default(section.setup.as_ref(), findings),
            teardown: given_or_default(section.teardown.as_ref(), findings),
        },
        quarantine: quarantine
            .map(|it| Quarantined {
                line: it.name.mark().line,
                ..it.plain(findings)
            })
            .collect(),
        gates: Gates {
            all: gates.plain(findings).unwrap_or_default(),
            tags: gates
                .and_then(|it| it.tags.plain(findings))
                .unwrap_or_default(),
        },
        said: said(section),
        ..empty(found)
    }
}

/// The words of a suite file that name scenarios and tags, and days, in their order.
fn said(section: &SuiteSection) -> Vec<Said> {
    let mut said = Vec::new();
    let mut add = |below: SaidBelow, word: &str, at: Mark| {
        said.push(Said {
            below,
            word: word.to_owned(),
            place: Place {
                line: at.line,
                column: at.column,
            },
        });
    };
    let tags = given(section.tags.as_ref());
    let lists = tags.into_iter().flat_map(|it| [&it.r#in, &it.out]);
    for it in lists.flatten().flatten() {
        add(SaidBelow::Tags, &it.value.0, it.at);
    }
    let gates = given(section.gates.as_ref());
    for (tag, _) in gates
        .iter()
        .filter_map(|it| it.tags.as_ref())
        .flat_map(|it| &it.0)
    {
        add(SaidBelow::Tags, &tag.value, tag.at);
    }
    for it in given(section.order.as_ref()).into_iter().flatten() {
        add(SaidBelow::Order, &it.value.0, it.at);
    }
    for it in given(section.quarantine.as_ref()).into_iter().flatten() {
        add(SaidBelow::Quarantine, &it.name.value.0, it.name.at);
        add(SaidBelow::Until, &it.until.value.0.to_string(), it.until.at);
    }
    said
}

/// The JSON Schema (draft 2020-12) of a suite file, made from the types it is read into.
pub fn suite_json_schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<SuiteSection>();
    schema.insert("title".to_owned(), "mcp-eval suite".into());
    schema.to_value()
}

/// What a suite file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SuiteFile {
    /// What `--suite` calls it.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    pub description: Option<String>,
    /// The scenarios that begin first, in this order: ids, or patterns of ids. All others come behind them.
    pub order: Vec<String>,
    /// Of these tags, a scenario must have one; empty where it need not.
    pub tags_in: Vec<String>,
    /// Of these, it must have none.
    pub tags_out: Vec<String>,
    /// How many scenarios run at once; `None` for what suits them.
    pub jobs: Option<u16>,
    /// Whether no further scenario is started once one has not passed.
    pub fail_fast: bool,
    pub retries: Option<Retries>,
    pub around: Around,
    pub quarantine: Vec<Quarantined>,
    pub gates: Gates,
    /// Where it says what of scenarios and tags that it is not known whether there are any.
    pub said: Vec<Said>,
}

/// A word of a suite file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub below: SaidBelow,
    pub word: String,
    pub place: Place,
}

/// The key that a word stands below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidBelow {
    /// `tags`, of the suite or of its gates.
    Tags,
    Order,
    /// The name of a scenario that is quarantined.
    Quarantine,
    /// The day until which one is.
    Until,
}

/// What is run once before all scenarios, and once after them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    pub setup: Vec<Hook>,
    pub teardown: Vec<Hook>,
}

/// What all scenarios together must come to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gates {
    pub all: Bounds,
    /// The same for the scenarios with a tag.
    pub tags: Vec<(String, Bounds)>,
}

impl Retries {
    /// The longest time that is waited before a retry.
    pub const LONGEST_PAUSE: Duration = Duration::from_secs(300);

    /// How long to wait before the retry of this number, counted from 1.
    pub fn pause(&self, number: u16) -> Duration {
        let doubled = 2_u32.saturating_pow(u32::from(number.saturating_sub(1)));
        self.backoff
            .saturating_mul(doubled)
            .min(Self::LONGEST_PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Retries;

    #[test]
    fn each_retry_waits_twice_as_long_as_the_one_before_and_none_for_ever() {
        let retries = Retries {
            on: Vec::new(),
            times: u16::MAX,
            backoff: Duration::from_secs(2),
        };
        let pauses = [1, 2, 3, 4, 9, u16::MAX].map(|it| retries.pause(it).as_secs());
        assert_eq!(pauses, [2, 4, 8, 16, 300, 300]);
    }
}
