//! Drift of the tools that servers offer, and the recorded calls that would be refused for it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use crate::text::excerpt;
use crate::values::same::{View, hash};
use model::{
    Catalogue, Drift, Object, SchemaChange, ServerCatalogue, Text, Tool, ToolCall, ToolChange,
};

use super::likeness::{nearest_name, nearest_tool};
use super::refusal::{Blame, Refusals};
use super::renamed::{CANDIDATES, Renamed};
use super::schema;

/// How many further tools of one name are looked at.
const LISTED: usize = 3;

/// The recorded calls of each tool, by server and name, with their numbers.
pub(super) type Recorded<'a> = HashMap<(&'a str, &'a str), Vec<(usize, &'a ToolCall)>>;

/// One change in the catalogue.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) drift: Drift,
    /// Some requests that were valid before may be refused now, whether the baseline made them or not.
    pub(crate) narrows: bool,
    /// The renamed tools: the name before, and the name now.
    pub(crate) renamed: Vec<(String, String)>,
}

/// The scored calls of a recording by the tools they call.
pub(crate) fn recorded<'a>(calls: impl Iterator<Item = &'a ToolCall>) -> Recorded<'a> {
    let mut by_tool = Recorded::new();
    for (index, call) in calls.enumerate() {
        let server = call.server.as_deref().unwrap_or_default();
        let of_tool = by_tool.entry((server, call.tool.as_str())).or_default();
        of_tool.push((index + 1, call));
    }
    by_tool
}

/// Every change between two catalogues, in the order of the baseline's.
///
/// A side without any server was recorded without its catalogue, so no change is reported.
pub(crate) fn findings(b: &Catalogue, c: &Catalogue, calls: &Recorded<'_>) -> Vec<Finding> {
    if b.servers.is_empty() || c.servers.is_empty() || b == c {
        return Vec::new();
    }
    let mut found = Vec::new();
    for old in &b.servers {
        let new = c.servers.iter().find(|it| it.server == old.server);
        let mut server = Server {
            name: &old.server,
            calls,
            found: Vec::new(),
        };
        if let Some(new) = new {
            server.says_of_itself(old, new);
        }
        match new {
            Some(new) if old.tools.len() < 2 || !new.tools.is_empty() => {
                server.compare(&old.tools, &new.tools);
            }
            None if old.tools.len() < 2 => server.compare(&old.tools, &[]),
            _ => server.is_gone(&old.tools, new.is_some()),
        }
        found.append(&mut server.found);
    }
    for new in &c.servers {
        if b.servers.iter().all(|it| it.server != new.server) {
            let mut server = Server {
                name: &new.server,
                calls,
                found: Vec::new(),
            };
            server.compare(&[], &new.tools);
            found.append(&mut server.found);
        }
    }
    found
}

/// Whether a tool of the one catalogue, by its bare or full name, is in the other under another name.
pub fn is_renamed(tool: &str, before: &Catalogue, now: &Catalogue) -> bool {
    let found = findings(before, now, &Recorded::new());
    found.iter().any(|it| {
        let prefix = format!("mcp__{}__", it.drift.server);
        let bare = tool.strip_prefix(&prefix).unwrap_or(tool);
        it.renamed.iter().any(|(was, _)| was == bare)
    })
}

/// The change that explains why a call of the baseline, by its number, has another outcome: one that would refuse the call.
pub(crate) fn cause(findings: &[Finding], baseline: usize) -> Option<String> {
    let mut refusing = findings
        .iter()
        .filter(|it| it.drift.refused.contains(&baseline));
    refusing.next().map(|it| it.drift.of_tool().to_string())
}

/// One server's tools, as they are compared.
struct Server<'a> {
    name: &'a str,
    calls: &'a Recorded<'a>,
    found: Vec<Finding>,
}

impl<'a> Server<'a> {
    fn compare(&mut self, old: &'a [Tool], new: &'a [Tool]) {
        let by_name = |tools: &'a [Tool]| -> HashMap<&'a str, &'a Tool> {
            tools.iter().rev().map(|it| (it.name(), it)).collect()
        };
        let (old_names, new_names) = (by_name(old), by_name(new));
        let gone: Vec<&Tool> = old
            .iter()
            .filter(|it| !new_names.contains_key(it.name()))
            .collect();
        let added: Vec<&Tool> = new
            .iter()
            .filter(|it| !old_names.contains_key(it.name()))
            .collect();
        let (before, now) = (of_each_name(old), of_each_name(new));
        for (name, tools) in &now {
            let known = before.get(name).map_or(&[][..], |it| it);
            if tools.len() < 2 || tools.len() <= known.len() {
                continue;
            }
            self.note(name, "name", ToolChange::Listed(tools.len()), [None, None]);
            // Some clients take the first one of a name, and others the last.
            let others = tools[1..].iter().take(LISTED);
            for other in others.filter(|it| !known.contains(it)) {
                if let Some(old) = known.first() {
                    self.tool(old, other, true);
                }
            }
        }
        let renamed = Renamed::of(&gone, &added);
        let mut names: HashMap<&str, &Tool> = HashMap::new();
        if let Some((rule, tools)) = &renamed.by_rule {
            let all = tools.len() == old.len();
            let (what, was, now) = rule.describe(tools, all);
            let refused = tools
                .iter()
                .flat_map(|(it, _)| self.made(it.name()))
                .collect();
            let mut finding = self.gone(&was, ToolChange::RenamedAlike(what), refused);
            (finding.drift.was, finding.drift.now) = (Some(was), Some(now));
            let names =
                |(old, new): &(&Tool, &Tool)| (old.name().to_owned(), new.name().to_owned());
            finding.renamed = tools.iter().map(names).collect();
            self.found.push(finding);
        }
        for (old, new) in renamed
            .by_rule
            .iter()
            .flat_map(|it| &it.1)
            .chain(&renamed.one_by_one)
        {
            names.insert(old.name(), new);
        }
        let targets: BTreeSet<&str> = names.values().map(|it| it.name()).collect();
        for tool in old {
            let name = tool.name();
            if let Some(now) = new_names.get(name) {
                self.tool(tool, now, true);
            } else if let Some(now) = names.get(name) {
                if !self
                    .found
                    .iter()
                    .any(|it| it.renamed.iter().any(|(was, _)| was == name))
                {
                    self.renamed(name, now.name());
                }
                // Calls are not checked against its schema, because the missing name makes all of them fail.
                self.tool(tool, now, false);
            } else {
                self.missing(tool, &added, new);
            }
        }
        for tool in added.iter().filter(|it| !targets.contains(it.name())) {
            let name = tool.name();
            self.note(name, "name", ToolChange::New, [None, Some(name.to_owned())]);
        }
    }

    /// Changes of what a server says about itself: its instructions, its name, the version of the protocol. Another version of the server is
    /// no change, because comparing versions is the purpose.
    fn says_of_itself(&mut self, old: &ServerCatalogue, new: &ServerCatalogue) {
        fn name(it: &ServerCatalogue) -> Option<&str> {
            it.info.as_ref()?.get("name")?.as_str()
        }
        // Imported recordings do not hold what a server says about itself.
        if old.info.is_none() || new.info.is_none() {
            return;
        }
        let before = self.found.len();
        if let (Some(was), Some(now)) = (&old.capabilities, &new.capabilities) {
            for lost in lost(was, now) {
                let path = format!("capabilities/{lost}");
                let what = ToolChange::LostCapability(lost.clone());
                self.note("*", &path, what, [Some(lost), None]);
            }
        }
        let instructions = [old, new].map(|it| it.instructions.as_deref());
        self.text("*", "instructions", ToolChange::Instructions, instructions);
        let names = [old, new].map(name);
        self.text("*", "serverInfo/name", ToolChange::ServerName, names);
        let versions = [old, new].map(ServerCatalogue::revision);
        match versions[0] {
            Some(was) if new.has_no_legacy && versions[0] != versions[1] => {
                let what = ToolChange::ProtocolGone(was.to_owned());
                let mut finding = self.finding("*", "protocolVersion", what);
                [finding.drift.was, finding.drift.now] = versions.map(|it| it.map(str::to_owned));
                // Clients that speak nothing newer are refused whatever they call.
                finding.narrows = true;
                finding.drift.breaking = true;
                self.found.push(finding);
            }
            _ => self.text("*", "protocolVersion", ToolChange::Protocol, versions),
        }
        for it in &mut self.found[before..] {
            it.drift.used = true;
        }
    }

    /// Adds a change with what it was and is.
    fn note(&mut self, tool: &str, path: &str, what: ToolChange, values: [Option<String>; 2]) {
        let mut finding = self.finding(tool, path, what);
        [finding.drift.was, finding.drift.now] = values;
        self.found.push(finding);
    }

    /// Adds a change of a text, where it is another one.
    fn text(&mut self, tool: &str, path: &str, what: ToolChange, texts: [Option<&str>; 2]) {
        let values = match texts {
            [was, now] if was == now => return,
            [Some(was), Some(now)] => {
                let (was, now) = excerpt::of_texts(was, now);
                [Some(was), Some(now)]
            }
            one => one.map(|it| it.map(excerpt::of_text)),
        };
        self.note(tool, path, what, values);
    }

    fn is_gone(&mut self, tools: &[Tool], lists_nothing: bool) {
        let count = tools.len();
        let what = if lists_nothing {
            ToolChange::ListsNothing(count)
        } else {
            ToolChange::ServerGone(count)
        };
        let refused = tools.iter().flat_map(|it| self.made(it.name())).collect();
        let mut finding = self.gone("*", what, refused);
        finding.drift.was = Some(format!("{count} tools"));
        self.found.push(finding);
    }

    /// Whether the recording uses a tool; one without calls uses all.
    fn uses(&self, tool: &str) -> bool {
        self.calls.is_empty() || self.calls.contains_key(&(self.name, tool))
    }

    /// The numbers of the recorded calls of a tool.
    fn made(&self, tool: &str) -> Vec<usize> {
        let calls = self.calls.get(&(self.name, tool));
        calls
            .into_iter()
            .flatten()
            .map(|(number, _)| *number)
            .collect()
    }

    fn finding(&self, tool: &str, path: &str, what: ToolChange) -> Finding {
        Finding {
            drift: Drift {
                server: self.name.to_owned(),
                tool: tool.to_owned(),
                what,
                text: Text::default(),
                breaking: false,
                used: self.uses(tool),
                refused: Vec::new(),
                path: path.to_owned(),
                was: None,
                now: None,
            },
            narrows: false,
            renamed: Vec::new(),
        }
    }

    /// A name that is not listed any more, with the recorded calls that would fail for it.
    fn gone(&self, tool: &str, what: ToolChange, mut refused: Vec<usize>) -> Finding {
        refused.sort_unstable();
        let mut finding = self.finding(tool, "name", what);
        finding.narrows = true;
        finding.drift.used = !refused.is_empty() || self.calls.is_empty();
        finding.drift.breaking = !refused.is_empty();
        finding.drift.refused = refused;
        finding
    }

    fn renamed(&mut self, name: &str, now: &str) {
        let what = ToolChange::Renamed(now.to_owned());
        let mut finding = self.gone(name, what, self.made(name));
        (finding.drift.was, finding.drift.now) = (Some(name.to_owned()), Some(now.to_owned()));
        finding.renamed = vec![(name.to_owned(), now.to_owned())];
        self.found.push(finding);
    }

    /// A tool that is not listed any more, with the nearest one, among the new tools first.
    fn missing(&mut self, tool: &Tool, added: &[&Tool], tools: &[Tool]) {
        let name = tool.name();
        let refused = self.made(name);
        let near = || {
            let near = nearest_tool(tool, added.iter().copied());
            let near = near.or_else(|| nearest_tool(tool, tools));
            (near.map(Tool::name)).or_else(|| nearest_name(name, tools.iter().map(Tool::name)))
        };
        // Of very many tools, a scenario has a use for those that it calls.
        let is_looked_for = !refused.is_empty() || tools.len() <= CANDIDATES;
        let near = is_looked_for.then(near).flatten();
        let nearest = near.map(str::to_owned);
        let mut finding = self.gone(name, ToolChange::Gone { nearest }, refused);
        finding.drift.was = Some(name.to_owned());
        self.found.push(finding);
    }

    /// What changed in one tool. If the name is the same, calls that it would refuse are looked for.
    fn tool(&mut self, old: &Tool, new: &Tool, same_name: bool) {
        if old == new {
            return;
        }
        let before = self.found.len();
        self.arguments(old, new, same_name);
        let tool = old.name();
        let descriptions = [old, new].map(Tool::description);
        self.text(tool, "description", ToolChange::Description, descriptions);
        self.output(old, new);
        self.hints(old, new);
        self.meta(old, new);
        let used = self.uses(tool);
        for it in &mut self.found[before..] {
            it.drift.used = used;
        }
    }

    fn arguments(&mut self, old: &Tool, new: &Tool, same_name: bool) {
        let tool = old.name();
        let empty = Value::Object(Object::new());
        let (b, c) = (
            old.input_schema().unwrap_or(&empty),
            new.input_schema().unwrap_or(&empty),
        );
        let mut changes = schema::changes(b, c);
        if changes.is_empty() {
            return;
        }
        let mut refused: Vec<Vec<usize>> = vec![Vec::new(); changes.len()];
        let calls = self.calls.get(&(self.name, tool)).filter(|_| same_name);
        if let Some(calls) = calls {
            let refusals = Refusals::new(b, c);
            for (number, call) in calls {
                for blame in refusals.of(&call.arguments) {
                    let at = guilty(&changes, &blame).unwrap_or_else(|| {
                        changes.push(by_blame(&blame));
                        refused.push(Vec::new());
                        changes.len() - 1
                    });
                    changes[at].narrows = true;
                    if !refused[at].contains(number) {
                        refused[at].push(*number);
                    }
                }
            }
        }
        for (change, refused) in changes.into_iter().zip(refused) {
            let finding = self.of_change(tool, change, refused);
            self.found.push(finding);
        }
    }

    fn of_change(&self, tool: &str, change: schema::Change, refused: Vec<usize>) -> Finding {
        let path = format!("inputSchema{}", change.path);
        let mut finding = self.finding(tool, &path, ToolChange::Input(said(&change)));
        finding.narrows = change.narrows;
        finding.drift.breaking = !refused.is_empty();
        finding.drift.refused = refused;
        (finding.drift.was, finding.drift.now) = (change.was, change.now);
        finding
    }

    /// What changed in the schema of the answers, as one.
    fn output(&mut self, old: &Tool, new: &Tool) {
        let tool = old.name();
        match (old.output_schema(), new.output_schema()) {
            (Some(b), Some(c)) => {
                // Changes of what is accepted count before those of titles and descriptions.
                let mut all = schema::changes(b, c);
                all.sort_by_key(|it| it.is_note);
                let Some(first) = all.first() else { return };
                let what = ToolChange::Output {
                    first: said(first),
                    more: all.len() - 1,
                };
                let path = format!("outputSchema{}", first.path);
                self.note(tool, &path, what, [first.was.clone(), first.now.clone()]);
            }
            (None, None) => {}
            (was, now) => {
                let what = match now {
                    Some(_) => ToolChange::NewOutput,
                    None => ToolChange::NoOutput,
                };
                let values = [was, now].map(|it| it.map(excerpt::of));
                self.note(tool, "outputSchema", what, values);
            }
        }
    }

    /// What is said about the tool to clients that know more of it. What varies by nature counts as the same.
    fn meta(&mut self, old: &Tool, new: &Tool) {
        let meta = |it: &'_ Tool| it.served.get("_meta").cloned().unwrap_or(Value::Null);
        let (was, now) = (meta(old), meta(new));
        if hash(&was, View::Masked) == hash(&now, View::Masked) {
            return;
        }
        let shown = |it: &Value| (!it.is_null()).then(|| excerpt::of(it));
        let (was, now) = match (&was, &now) {
            (Value::Null, _) | (_, Value::Null) => (shown(&was), shown(&now)),
            _ => excerpt::of_both(Some(&was), Some(&now)),
        };
        self.note(old.name(), "_meta", ToolChange::Meta, [was, now]);
    }

    /// What the annotations say: hints on how to use the tool.
    fn hints(&mut self, old: &Tool, new: &Tool) {
        let tool = old.name();
        let none = Object::new();
        let [b, c] = [old, new].map(|it| {
            let annotations = it.served.get("annotations");
            annotations.and_then(Value::as_object).unwrap_or(&none)
        });
        let names: BTreeSet<&String> = b.keys().chain(c.keys()).collect();
        for name in names {
            let (was, now) = (b.get(name), c.get(name));
            if was == now {
                continue;
            }
            let what = match (name.as_str(), now) {
                ("readOnlyHint", now) => ToolChange::OnlyReads(now.and_then(Value::as_bool)),
                _ => ToolChange::Annotation(name.clone()),
            };
            let values = [was, now].map(|it| it.map(excerpt::of));
            self.note(tool, &format!("annotations/{name}"), what, values);
        }
        let (was, now) = (old.served.get("title"), new.served.get("title"));
        if was != now {
            let values = [was, now].map(|it| it.map(excerpt::of));
            self.note(tool, "title", ToolChange::Title, values);
        }
    }
}

/// The tools of each name, in their order.
fn of_each_name(tools: &[Tool]) -> BTreeMap<&str, Vec<&Tool>> {
    let mut named: BTreeMap<&str, Vec<&Tool>> = BTreeMap::new();
    for tool in tools {
        named.entry(tool.name()).or_default().push(tool);
    }
    named
}

/// The capabilities that one side has and the other has not: `resources`, or of one that both have, a part: `resources/subscribe`.
fn lost(was: &Value, now: &Value) -> Vec<String> {
    let has =
        |it: Option<&Value>| it.is_some_and(|it| !matches!(it, Value::Null | Value::Bool(false)));
    let members = |it: &Value| it.as_object().cloned().unwrap_or_default();
    let mut found = Vec::new();
    for (name, was) in members(was) {
        let Some(now) = now.get(&name).filter(|it| has(Some(it))) else {
            found.extend(has(Some(&was)).then_some(name));
            continue;
        };
        for (part, was) in members(&was) {
            if has(Some(&was)) && !has(now.get(&part)) {
                found.push(format!("{name}/{part}"));
            }
        }
    }
    found
}

/// The change for which a call is refused: of those that concern the parameter, the one of the keyword that does not hold, else one that
/// accepts less.
fn guilty(changes: &[schema::Change], blame: &Blame) -> Option<usize> {
    let wanted = blame.parameter.as_str();
    let within = |inner: &str, outer: &str| {
        !outer.is_empty()
            && inner
                .strip_prefix(outer)
                .is_some_and(|it| it.starts_with(['.', '[']))
    };
    let leaf = |name: &str| name.rsplit('.').next().map(str::to_owned);
    let rank = |it: &schema::Change| {
        let names = [Some(it.parameter.as_str()), it.renamed.as_deref()];
        let is = |of: &dyn Fn(&str) -> bool| names.into_iter().flatten().any(of);
        if it.is_note {
            None
        } else if is(&|name| name == wanted) {
            Some((4, it.keyword == blame.keyword, it.narrows))
        } else if is(&|name| within(name, wanted) || within(wanted, name)) {
            Some((3, it.keyword == blame.keyword, it.narrows))
        } else if it.keyword == blame.keyword && is(&|name| leaf(name) == leaf(wanted)) {
            // A recursive schema is compared only once, at its outermost place.
            Some((2, true, it.narrows))
        } else {
            // The keyword that refuses unlisted parameters, or the arguments as a whole.
            (it.parameter.is_empty() && it.keyword == blame.keyword)
                .then_some((1, true, it.narrows))
        }
    };
    let ranked = changes.iter().enumerate().rev();
    let ranked = ranked.filter_map(|(at, it)| Some((rank(it)?, at)));
    ranked.max_by_key(|(rank, _)| *rank).map(|(_, at)| at)
}

/// A change described by the message of the validator, for refusals that no other change explains.
fn by_blame(blame: &Blame) -> schema::Change {
    schema::Change {
        parameter: blame.parameter.clone(),
        what: format!(
            "refuses what it accepted: {}",
            excerpt::shorten(&blame.what)
        ),
        keyword: blame.keyword.clone(),
        now: Some(excerpt::shorten(&blame.what)),
        narrows: true,
        ..schema::Change::default()
    }
}

/// What happened at a place of a schema, as it is published.
fn said(change: &schema::Change) -> SchemaChange {
    SchemaChange {
        parameter: change.parameter.clone(),
        detail: change.what.clone(),
        has_values: change.has_values,
    }
}
