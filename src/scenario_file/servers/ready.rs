//! The `ready` sections: what proves that servers can be asked.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde_json::Value;

use crate::model::Object;
use crate::model::json_path::JsonPath;
use crate::model::rules::Rules;
use crate::scenario_file::decode::{
    At, Count, Decode, Given, NO_HINT, Named, PathText, Place, Plain, Status, Template, Timeout,
    Wait, Word, schema, section, shapes,
};
use crate::scenario_file::yaml::{Content, Findings, Mark, Node};

section! {
    /// What proves that servers can be asked, before a run begins. All of it must hold at the same time. Servers over HTTP are asked in sessions of their own; a `stdio` or `mock` server is started for each run, so it is asked in the session that the run uses, before the agent begins. What is asked is no part of the trajectory, but the server sees it: it should only read, and answers of a mock that count calls count it, too. Servers made from a recording are ready.
    ReadySection => Ready, with default, checked by check {
        /// Names of tools that must be listed.
        tools: Option<Vec<Word>> as Vec<String> = Vec::new(),
        /// How many tools must be listed at least.
        min_tools: Option<Count> as usize = 0,
        /// Calls that must be answered as expected, asked in order until all are. They must change nothing.
        calls: Option<Vec<ReadyCallSection>> as Vec<ReadyCall> = Vec::new(),
        /// A page, or several, that must answer as expected.
        http: Option<HealthPages> as Vec<HealthPage> = Vec::new(),
        /// How long the tools, with their descriptions and schemas, and the answers to `calls` must have stayed the same; not at all unless given. Times, ids and the like, and what `scoring.ignore` names, may vary.
        settle: Option<At<Wait>> as Duration = Duration::ZERO,
        /// How long to wait before asking again; up to 200ms unless given, and shorter at first.
        interval: Option<Timeout> as Option<Duration>,
        /// How long it may take in all, from the container's start where there is one; 60s unless given.
        timeout: Option<Timeout> as Duration = Ready::TIMEOUT,
    }
}

section! {
    /// A tool call that asks whether a server is ready.
    ReadyCallSection => ReadyCall {
        /// `mcp__<server>__<tool>`, or the tool's bare name where only one server has it.
        tool: At<Word> as String,
        /// The arguments.
        args: Option<Object> as Object = Object::new(),
        /// The server that is asked, where the tool's name does not tell.
        server: Option<At<Word>> as Option<String>,
        /// What the answer must hold; that it is no error unless given.
        expect: Option<ExpectSection> as Expected = Expected::default(),
    }
}

section! {
    /// What an answer must hold. It must be no error, unless `is_error` says so.
    ExpectSection, checked by check_expect {
        /// A text that is somewhere in the answer.
        text: Option<At<Word>>,
        /// A place in the answer's structured content, or in its text read as JSON: a JSON pointer such as `/tools/0/name`, or a JSON path such as `$.tools[*].name`. With it goes one of `equals`, `exists` and `min_items`.
        path: Option<At<PathText>>,
        /// The value at `path`, or at one of several places it leads to.
        equals: Option<At<Wanted>>,
        /// Whether there is anything but `null` at `path`.
        exists: Option<At<bool>>,
        /// How many items the list at `path` has at least; for a path that ends with `*`, how many places there are.
        min_items: Option<At<Count>>,
        /// Whether the answer must be an error.
        is_error: Option<At<bool>>,
    }
}

/// What the answer to a read must hold before a script goes on: the keys of `expect`, and `timeout`.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct UntilSection {
    pub(in crate::scenario_file) expect: ExpectSection,
    timeout: Option<Timeout>,
}

/// For how long a read is repeated.
const PATIENCE: Duration = Duration::from_secs(30);

impl Plain<Until> for UntilSection {
    fn plain(&self, findings: &Findings) -> Until {
        Until {
            expect: self.expect.plain(findings),
            timeout: self.timeout.plain(findings).unwrap_or(PATIENCE),
        }
    }
}

impl Decode for UntilSection {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let mut rest = node.clone();
        let mut timeout = None;
        if let Content::Map(entries) = &mut rest.content {
            let own = entries.extract_if(.., |it| it.key == "timeout");
            for it in own {
                timeout = Some(Timeout::decode(&it.value, findings)?);
            }
        }
        let expect = ExpectSection::decode(&rest, findings)?;
        Some(Self { expect, timeout })
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        self.expect.templates(visit);
    }
}

schema!(UntilSection, |generator| {
    let mut schema = ExpectSection::json_schema(generator);
    let mut timeout = generator.subschema_for::<Timeout>();
    let about = "For how long the read is repeated; 30s unless given.";
    timeout.insert("description".to_owned(), about.into());
    if let Some(Value::Object(keys)) = schema.get_mut("properties") {
        keys.insert("timeout".to_owned(), timeout.to_value());
    }
    schema
});

section! {
    /// A page that must answer as expected. `${NAME}` is an environment variable.
    HealthSection => HealthPage, checked by check_health {
        /// The page's path on the server, from the root of its address: `/healthz`. In a container, the server is the container.
        path: Option<Template<Word>>,
        /// Instead of `path`: the whole address.
        url: Option<Template<Word>>,
        /// Which server `path` belongs to, where several have an address.
        server: Option<At<Word>>,
        /// Headers that are sent along.
        headers: Option<Named<Given>> as Vec<(String, String)> = Vec::new(),
        /// The HTTP status of the answer; 200 unless given.
        status: Option<Status> as u16 = 200,
        /// What the body must hold.
        expect: Option<ExpectSection> as Expected = Expected::default(),
    } and {
        /// Where it is.
        at: PageAddress,
    }
}

shapes! {
    /// A page, or several.
    HealthPages, "a map, or a list of them" {
        Map => One(Box<HealthSection>),
        List => Several(Vec<HealthSection>),
    }
}

/// Any value, also `null`.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(transparent)]
pub(in crate::scenario_file) struct Wanted(pub(in crate::scenario_file) Value);

impl Decode for Wanted {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        Value::decode(node, findings).map(Self)
    }

    fn of_null() -> Option<Self> {
        Some(Self(Value::Null))
    }
}

impl Plain<Value> for Wanted {
    fn plain(&self, _: &Findings) -> Value {
        self.0.clone()
    }
}

impl HealthPages {
    fn all(&self) -> &[HealthSection] {
        match self {
            Self::One(page) => std::slice::from_ref(page),
            Self::Several(pages) => pages,
        }
    }
}

impl ReadySection {
    pub(in crate::scenario_file) fn calls(&self) -> impl Iterator<Item = &ReadyCallSection> {
        self.calls.iter().flatten()
    }

    pub(in crate::scenario_file) fn pages(&self) -> impl Iterator<Item = &HealthSection> {
        self.http.iter().flat_map(HealthPages::all)
    }
}

/// All of them.
impl Plain<Vec<HealthPage>> for HealthPages {
    fn plain(&self, findings: &Findings) -> Vec<HealthPage> {
        let pages = self.all().iter();
        pages.map(|it| it.plain(findings)).collect()
    }

    fn places(value: &mut Vec<HealthPage>, visit: &mut dyn FnMut(Place<'_>)) {
        Vec::<HealthSection>::places(value, visit);
    }
}

impl Plain<PageAddress> for HealthSection {
    fn plain(&self, findings: &Findings) -> PageAddress {
        match (&self.url, &self.path) {
            (Some(url), _) => PageAddress::Url(url.plain(findings)),
            (None, path) => PageAddress::Path {
                server: self.server.plain(findings),
                path: path.plain(findings).unwrap_or_else(|| "/".to_owned()),
            },
        }
    }

    fn places(value: &mut PageAddress, visit: &mut dyn FnMut(Place<'_>)) {
        let (PageAddress::Url(address) | PageAddress::Path { path: address, .. }) = value;
        visit(Place::Text(address));
    }
}

impl ExpectSection {
    /// Whether the answer must be an error, where that is said.
    pub(in crate::scenario_file) fn is_error(&self) -> Option<bool> {
        self.is_error.as_ref().map(|it| it.value)
    }
}

impl Plain<Expected> for ExpectSection {
    fn plain(&self, findings: &Findings) -> Expected {
        let equals = self
            .equals
            .as_ref()
            .map(|it| AtPath::Equals(it.value.0.clone()));
        let exists = self.exists.as_ref().map(|it| AtPath::Exists(it.value));
        let min_items = self.min_items.plain(findings).map(AtPath::MinItems);
        Expected {
            is_error: self.is_error() == Some(true),
            text: self.text.plain(findings),
            at: self
                .path
                .plain(findings)
                .zip(equals.or(exists).or(min_items)),
        }
    }
}

fn check(section: &ReadySection, at: Mark, findings: &mut Findings) {
    let usual = Ready::TIMEOUT;
    let timeout = section.timeout.map_or(usual, |it| it.0);
    if let Some(settle) = section.settle.as_ref().filter(|it| it.value.0 >= timeout) {
        let message = "must be shorter than `timeout`";
        let hint = format!("give `timeout` more than {timeout:?}, or `settle` less");
        findings.error(settle.at, message, Some(hint));
    }
    if let Some(interval) = section.interval.filter(|it| it.0 >= timeout) {
        let message = format!(
            "`interval` is {:?}, so within {timeout:?} everything is asked only once",
            interval.0
        );
        findings.warning(at, message, NO_HINT);
    }
}

fn check_expect(section: &ExpectSection, at: Mark, findings: &mut Findings) {
    let conditions = [
        ("equals", section.equals.as_ref().map(At::mark)),
        ("exists", section.exists.as_ref().map(At::mark)),
        ("min_items", section.min_items.as_ref().map(At::mark)),
    ];
    let given: Vec<(&str, Mark)> = (conditions.iter())
        .filter_map(|(key, at)| Some((*key, (*at)?)))
        .collect();
    match (&section.path, given.as_slice()) {
        (Some(path), []) => {
            let hint = "add `exists: true`, `equals: …` or `min_items: 1`";
            findings.error(
                path.at,
                "`path` does not say what must be there",
                Some(hint),
            );
        }
        (None, [(key, at), ..]) => {
            let message = format!("`{key}` needs a `path` to say where");
            findings.error(*at, message, Some("`path: $` is the whole answer"));
        }
        (Some(_), [(first, _), (second, at), ..]) => {
            let message = format!("`{first}` and `{second}` exclude each other");
            findings.error(*at, message, Some("keep one of the two"));
        }
        (None, []) if section.text.is_none() && section.is_error.is_none() => {
            let hint = "give `text`, `path` with `equals`, `exists` or `min_items`, or `is_error`";
            findings.error(at, "expects nothing", Some(hint));
        }
        (Some(_), [_]) | (None, []) => {}
    }
}

fn check_health(section: &HealthSection, at: Mark, findings: &mut Findings) {
    match (&section.path, &section.url) {
        (None, None) => {
            let hint = "give `path`, such as `/healthz`, or `url`";
            findings.error(at, "does not say which page", Some(hint));
        }
        (Some(_), Some(url)) => {
            let message = "`path` and `url` exclude each other";
            findings.error(url.at, message, Some("keep one of the two"));
        }
        (None, Some(url)) => {
            let is_http = ["http://", "https://", "${"];
            if !is_http.iter().any(|it| url.0.starts_with(it)) {
                let hint = "write it with `http://` or `https://`, or use `path`";
                findings.error(url.at, "is not the address of a page", Some(hint));
            }
        }
        (Some(_), None) => {}
    }
    if let (Some(server), Some(_)) = (&section.server, &section.url) {
        let message = "`server` means nothing beside `url`";
        findings.error(server.at, message, NO_HINT);
    }
    let is_error = section.expect.as_ref().and_then(|it| it.is_error.as_ref());
    if let Some(is_error) = is_error {
        let message = "`is_error` means nothing for a page";
        findings.error(is_error.at, message, Some("say which `status` is expected"));
    }
}

impl Ready {
    /// How long it may take unless the scenario says otherwise.
    pub const TIMEOUT: Duration = Duration::from_secs(60);
}

/// First words of names of tools that only read, and of tools that do not.
const READING: [&str; 20] = [
    "check", "count", "describe", "echo", "fetch", "find", "get", "has", "health", "is", "list",
    "look", "ping", "poll", "query", "read", "retrieve", "search", "show", "status",
];
const CHANGING: [&str; 26] = [
    "add", "append", "approve", "cancel", "clear", "close", "create", "delete", "disable", "drop",
    "edit", "enable", "insert", "move", "patch", "post", "put", "remove", "rename", "reset",
    "restart", "send", "set", "update", "upload", "write",
];

impl ReadyCall {
    /// Whether asking changes something, where that is known: by what the scenario says of the tool, by what the server does (its
    /// `readOnlyHint`), else by the operation, which is the `operation` argument or the tool's name.
    pub fn changes(&self, read_only_hint: Option<bool>, rules: &Rules) -> Option<bool> {
        let is_read = rules.reads.iter().any(|rule| {
            let tail = self.tool.strip_suffix(rule.tool.as_str());
            let is_tool = tail.is_some_and(|it| it.is_empty() || it.ends_with("__"));
            let mut given = rule.arguments.iter();
            is_tool && given.all(|(name, value)| self.args.get(name) == Some(value))
        });
        if is_read {
            return Some(false);
        }
        if let Some(reads) = read_only_hint {
            return Some(!reads);
        }
        let tool = self.tool.rsplit("__").next().unwrap_or(&self.tool);
        let operation = self.args.get("operation").and_then(Value::as_str);
        let operation = operation.unwrap_or(tool).to_lowercase();
        let word = operation.split(['_', '-', '.', ' ', '/']).next();
        let word = word.unwrap_or_default();
        match (READING.contains(&word), CHANGING.contains(&word)) {
            (true, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        }
    }
}

/// Where a page is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageAddress {
    /// Below the origin of a server; `None` where there is only one with an origin.
    Path {
        server: Option<String>,
        path: String,
    },
    /// Somewhere else.
    Url(String),
}

/// What an answer must hold. With nothing said, an answer that is no error is enough.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    /// The answer must be an error.
    pub is_error: bool,
    /// This text is somewhere in the answer.
    pub text: Option<String>,
    /// What must be found at a place in its JSON.
    pub at: Option<(JsonPath, AtPath)>,
}

impl fmt::Display for Expected {
    /// `is_error, text "a", /n: 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_error = self.is_error.then(|| "is_error".to_owned());
        let text = self.text.as_ref().map(|it| format!("text {it:?}"));
        let at = self.at.as_ref().map(|(path, at)| match at {
            AtPath::Equals(value) => format!("{path}: {value}"),
            AtPath::Exists(true) => format!("{path} exists"),
            AtPath::Exists(false) => format!("{path} does not exist"),
            AtPath::MinItems(count) => format!("{path}: {count} or more"),
        });
        let parts: Vec<String> = [is_error, text, at].into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

/// What the answer to a read must hold before a script goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Until {
    pub expect: Expected,
    /// How long the read is repeated for that.
    pub timeout: Duration,
}

/// What must be found at a place.
#[derive(Debug, Clone, PartialEq)]
pub enum AtPath {
    /// This value.
    Equals(Value),
    /// Anything but `null`, or nothing at all.
    Exists(bool),
    /// A list of so many items; for a path with `*`, so many places.
    MinItems(usize),
}
