//! The `ready` sections: what proves that servers can be asked.

use std::time::Duration;

use schemars::JsonSchema;
use serde_json::Value;

use crate::model::Object;
use crate::model::ready::{AtPath, Expected, HealthPage, PageAddress, Ready, ReadyCall, Until};

use crate::scenario_file::decode::template::{Given, Template, given_pairs, marked_names};
use crate::scenario_file::decode::values::{Count, PathText, Status, Timeout, Wait, Word};
use crate::scenario_file::decode::{At, Decode, NO_HINT, Named, schema, section, shapes};
use crate::scenario_file::yaml::node::{Content, Node};
use crate::scenario_file::yaml::source::{Findings, Mark};

section! {
    /// What proves that servers can be asked, before a run begins. All of it must hold at the same time. Servers over HTTP are asked in sessions of their own; a `stdio` or `mock` server is started for each run, so it is asked in the session that the run uses, before the agent begins. What is asked is no part of the trajectory, but the server sees it: it should only read, and answers of a mock that count calls count it, too. Servers made from a recording are ready.
    ReadySection, checked by check {
        /// Names of tools that must be listed.
        tools: Option<Vec<Word>>,
        /// How many tools must be listed at least.
        min_tools: Option<Count>,
        /// Calls that must be answered as expected, asked in order until all are. They must change nothing.
        calls: Option<Vec<ReadyCallSection>>,
        /// A page, or several, that must answer as expected.
        http: Option<HealthPages>,
        /// How long the tools, with their descriptions and schemas, and the answers to `calls` must have stayed the same; not at all unless given. Times, ids and the like, and what `scoring.ignore` names, may vary.
        settle: Option<At<Wait>>,
        /// How long to wait before asking again; up to 200ms unless given, and shorter at first.
        interval: Option<Timeout>,
        /// How long it may take in all, from the container's start where there is one; 60s unless given.
        timeout: Option<Timeout>,
    }
}

section! {
    /// A tool call that asks whether a server is ready.
    ReadyCallSection {
        /// `mcp__<server>__<tool>`, or the tool's bare name where only one server has it.
        tool: At<Word>,
        /// The arguments.
        args: Option<Object>,
        /// The server that is asked, where the tool's name does not tell.
        server: Option<At<Word>>,
        /// What the answer must hold; that it is no error unless given.
        expect: Option<ExpectSection>,
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

impl UntilSection {
    pub(in crate::scenario_file) fn until(&self) -> Until {
        Until {
            expect: self.expect.expected(),
            timeout: self.timeout.map_or(PATIENCE, |it| it.0),
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
    HealthSection, checked by check_health {
        /// The page's path on the server, from the root of its address: `/healthz`. In a container, the server is the container.
        path: Option<Template<Word>>,
        /// Instead of `path`: the whole address.
        url: Option<Template<Word>>,
        /// Which server `path` belongs to, where several have an address.
        server: Option<At<Word>>,
        /// Headers that are sent along.
        headers: Option<Named<Given>>,
        /// The HTTP status of the answer; 200 unless given.
        status: Option<Status>,
        /// What the body must hold.
        expect: Option<ExpectSection>,
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

impl HealthPages {
    fn all(&self) -> &[HealthSection] {
        match self {
            Self::One(page) => std::slice::from_ref(page),
            Self::Several(pages) => pages,
        }
    }
}

impl ReadySection {
    /// The names of values that are marked as secret.
    pub(in crate::scenario_file) fn marked(&self) -> impl Iterator<Item = String> {
        let pages = self.http.iter().flat_map(HealthPages::all);
        pages.flat_map(|it| marked_names(it.headers.as_ref()))
    }

    pub(in crate::scenario_file) fn ready(&self) -> Ready {
        let usual = Ready::default();
        Ready {
            tools: self.tools.iter().flatten().map(|it| it.0.clone()).collect(),
            min_tools: self.min_tools.map_or(usual.min_tools, |it| it.0 as usize),
            calls: self.calls().map(ReadyCallSection::call).collect(),
            http: self.pages().map(HealthSection::page).collect(),
            settle: self.settle.as_ref().map_or(usual.settle, |it| it.value.0),
            interval: self.interval.map(|it| it.0),
            timeout: self.timeout.map_or(usual.timeout, |it| it.0),
        }
    }

    pub(in crate::scenario_file) fn calls(&self) -> impl Iterator<Item = &ReadyCallSection> {
        self.calls.iter().flatten()
    }

    pub(in crate::scenario_file) fn pages(&self) -> impl Iterator<Item = &HealthSection> {
        self.http.iter().flat_map(HealthPages::all)
    }
}

impl ReadyCallSection {
    pub(in crate::scenario_file) fn call(&self) -> ReadyCall {
        ReadyCall {
            server: self.server.as_ref().map(|it| it.0.clone()),
            tool: self.tool.0.clone(),
            arguments: self.args.clone().unwrap_or_default(),
            expect: expected(self.expect.as_ref()),
        }
    }
}

impl HealthSection {
    fn page(&self) -> HealthPage {
        HealthPage {
            at: match (&self.url, &self.path) {
                (Some(url), _) => PageAddress::Url(url.0.clone()),
                (None, path) => PageAddress::Path {
                    server: self.server.as_ref().map(|it| it.0.clone()),
                    path: path
                        .as_ref()
                        .map_or_else(|| "/".to_owned(), |it| it.0.clone()),
                },
            },
            headers: given_pairs(self.headers.as_ref()),
            status: self.status.map_or(200, |it| it.0),
            expect: expected(self.expect.as_ref()),
        }
    }
}

fn expected(section: Option<&ExpectSection>) -> Expected {
    section.map(ExpectSection::expected).unwrap_or_default()
}

impl ExpectSection {
    /// Whether the answer must be an error, where that is said.
    pub(in crate::scenario_file) fn is_error(&self) -> Option<bool> {
        self.is_error.as_ref().map(|it| it.value)
    }

    pub(in crate::scenario_file) fn expected(&self) -> Expected {
        let section = self;
        let wanted = match (&section.equals, &section.exists, &section.min_items) {
            (Some(value), _, _) => Some(AtPath::Equals(value.value.0.clone())),
            (_, Some(exists), _) => Some(AtPath::Exists(exists.value)),
            (_, _, Some(least)) => Some(AtPath::MinItems(least.value.0 as usize)),
            (None, None, None) => None,
        };
        let path = section.path.as_ref().map(|it| it.value.0.clone());
        Expected {
            is_error: section.is_error.as_ref().is_some_and(|it| it.value),
            text: section.text.as_ref().map(|it| it.0.clone()),
            at: path.zip(wanted),
        }
    }
}

fn check(section: &ReadySection, at: Mark, findings: &mut Findings) {
    let usual = Ready::default().timeout;
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
