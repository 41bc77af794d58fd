//! A cause while it is put together from what scenarios, calls and places have in common.
//!
//! What has one cause is merged into it as it is found.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

use crate::record;
use model::published::result::{Cause, CauseKind, CausePlace, Whose};
use model::starred;
use model::text::word_diff::around_difference;
use model::text::{masked, shorten};
use model::{CauseCall, How, RecordCommand, ToolChange, ToolDrift};

use super::key::Key;
use super::words::{self, Verb};

/// The longest value in the sentence of a cause.
const VALUE_CHARS: usize = 100;

/// The most sentences on what follows from one cause.
const FOLLOWS: usize = 20;

/// The most tools that the sentence of a cause names.
const TOOLS: usize = 3;

/// What stands before the values: of one place, and of the first of several.
pub(super) const COLON: &str = ": ";
pub(super) const SUCH_AS: &str = ", such as ";

/// What stands before what an evaluator found: in one scenario, and in the first of several.
pub(super) const FAILS: &str = "` fails: ";
const FAILS_SUCH_AS: &str = "` fails, such as: ";

/// A cause as it grows.
pub(super) struct Draft {
    /// Equal for what has one cause.
    pub(super) key: Key,
    pub(super) kind: CauseKind,
    pub(super) whose: Option<Whose>,
    pub(super) what: What,
    /// The tools' names for people.
    pub(super) tools: BTreeSet<String>,
    /// The first tool's full name, and what its call is for.
    pub(super) tool: Option<String>,
    pub(super) label: Option<String>,
    pub(super) path: Option<String>,
    pub(super) was: Option<String>,
    pub(super) now: Option<String>,
    /// The line of the scenario's file that asks for it.
    pub(super) line: Option<usize>,
    /// Not all of its calls failed with the same message.
    pub(super) messages_differ: bool,
    /// Not all of its places have the same values.
    pub(super) values_differ: bool,
    pub(super) fails: bool,
    /// What changed in a tool that others use is a cause of these alone.
    pub(super) tool_is: Use,
    pub(super) places: Vec<CausePlace>,
    /// The changes that it tells of in the scenario it was found in, by their places in the list.
    pub(super) changes: Vec<usize>,
    /// Of these, the changes at the place that it names.
    pub(super) named: Vec<usize>,
    /// How many places of one call are concerned, at most.
    pub(super) of_call: usize,
    /// What follows, in a sentence each, and how.
    pub(super) follows: Vec<(String, Option<How>)>,
    /// What would be a cause by itself, and is the same value in a later call, or computed from it.
    pub(super) same: HashMap<Key, Same>,
    pub(super) hint: Option<String>,
    /// The first line of each scenario's file that calls a tool by its old name.
    pub(super) called_at: Vec<String>,
    /// What records the baselines that are missing.
    pub(super) records: Vec<RecordCommand>,
    /// The ids of the causes of other scenarios that were put beneath it.
    pub(super) beneath: Vec<String>,
    /// The calls of the last scenario, and what follows, to keep each once.
    pub(super) known_calls: HashSet<CauseCall>,
    pub(super) known_follows: HashSet<String>,
}

/// Whether scenarios use a tool that changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Used,
    Unused,
}

/// A value that another one led to.
#[derive(PartialEq)]
pub(super) struct Same {
    pub(super) how: How,
    pub(super) was: Option<String>,
    pub(super) now: Option<String>,
}

/// What the sentence of a cause says.
pub(super) enum What {
    /// All of it; values are added behind it.
    Said(String),
    /// All of it, values included.
    Whole(String),
    /// The tools failed with this message.
    Failed(String),
    /// Something happened at a place of a call.
    Place(Box<Verb>),
    /// The catalogue changed, in the same way for all tools.
    Drift(ToolDrift),
    /// What the tools' annotations hint at changed, in several ways.
    Hints,
}

impl Draft {
    /// A cause without a call.
    pub(super) fn new(
        scenario: &str,
        kind: CauseKind,
        whose: impl Into<Option<Whose>>,
        said: String,
    ) -> Self {
        Self {
            key: Key::said(kind, &said),
            kind,
            whose: whose.into(),
            what: What::Said(said),
            tools: BTreeSet::new(),
            tool: None,
            label: None,
            path: None,
            was: None,
            now: None,
            line: None,
            messages_differ: false,
            values_differ: false,
            fails: false,
            tool_is: Use::Used,
            places: vec![CausePlace {
                scenario: scenario.to_owned(),
                calls: Vec::new(),
                fails: false,
            }],
            changes: Vec::new(),
            named: Vec::new(),
            of_call: 1,
            follows: Vec::new(),
            same: HashMap::new(),
            hint: None,
            called_at: Vec::new(),
            records: Vec::new(),
            beneath: Vec::new(),
            known_calls: HashSet::new(),
            known_follows: HashSet::new(),
        }
    }

    /// Whether it is about a call of the last scenario's run.
    pub(super) fn is_of_call(&self, current: usize) -> bool {
        let place = self.places.last().into_iter();
        place
            .flat_map(|it| &it.calls)
            .any(|it| it.current == Some(current))
    }

    /// The cause as one of its scenario alone: whether that fails for it is its own, whatever the cause comes to elsewhere.
    pub(super) fn of_one_scenario(mut self) -> Self {
        for it in &mut self.places {
            it.fails = self.fails;
        }
        self
    }

    /// Names calls of the last scenario that are concerned; returns whether any of them is new.
    pub(super) fn add_calls(&mut self, calls: impl IntoIterator<Item = CauseCall>) -> bool {
        let Some(place) = self.places.last_mut() else {
            return false;
        };
        let before = place.calls.len();
        let is_call = |it: &CauseCall| it.baseline.or(it.current).is_some();
        let calls = calls.into_iter().filter(is_call);
        place
            .calls
            .extend(calls.filter(|it| self.known_calls.insert(*it)));
        place.calls.len() > before
    }

    /// Names what follows, each once.
    pub(super) fn add_follows(&mut self, follows: impl IntoIterator<Item = String>) {
        self.add_linked(follows.into_iter().map(|it| (it, None)));
    }

    /// The same, with how it follows.
    pub(super) fn add_linked(&mut self, follows: impl IntoIterator<Item = (String, Option<How>)>) {
        let new = follows.into_iter();
        self.follows
            .extend(new.filter(|(said, _)| self.known_follows.insert(masked(said))));
    }

    /// Adds what has the same cause: of the same scenario, or of the next.
    pub(super) fn merge(&mut self, other: Self) {
        self.fails |= other.fails;
        self.line = self.line.filter(|it| other.line == Some(*it));
        self.say_of_several(&other);
        self.say_of_hints(&other);
        if let (What::Failed(own), What::Failed(others)) = (&self.what, &other.what) {
            self.messages_differ |= own != others || other.messages_differ;
        }
        self.values_differ |=
            other.values_differ || (&self.was, &self.now) != (&other.was, &other.now);
        self.tools.extend(other.tools);
        if self.path != other.path
            && let Some(path) = &self.path
        {
            self.path = Some(starred(path));
        }
        if self.tool_is == Use::Unused && other.tool_is == Use::Used {
            self.tool_is = Use::Used;
            self.places.clear();
        }
        let is_counted = other.tool_is == self.tool_is;
        for place in other.places.into_iter().filter(|_| is_counted) {
            if self.places.last().map(|it| &it.scenario) == Some(&place.scenario) {
                if !self.add_calls(place.calls) {
                    self.of_call += 1;
                }
            } else {
                self.of_call = self.of_call.max(other.of_call);
                self.known_calls = place.calls.iter().copied().collect();
                self.places.push(place);
            }
        }
        self.add_linked(other.follows);
        self.same.extend(other.same);
        self.hint = self.hint.take().or(other.hint);
        let known = other.called_at.into_iter();
        let known = known.filter(|it| !self.called_at.contains(it));
        self.called_at.extend(known.collect::<Vec<_>>());
        self.records.extend(other.records);
    }

    /// How another cause, of scenarios that do not come to this one, follows from it elsewhere with the same values.
    pub(super) fn same_elsewhere(&self, other: &Self) -> Option<How> {
        let known = self.same.get(&other.key)?;
        let are_one = !self.values_differ && !other.values_differ;
        let is_same = are_one && (&known.was, &known.now) == (&other.was, &other.now);
        is_same.then_some(known.how)
    }

    /// Puts a cause of other scenarios beneath.
    pub(super) fn take_in(&mut self, other: Self, how: How) {
        self.fails |= other.fails;
        self.beneath.push(other.key.id());
        self.add_linked([(other.text(), Some(how))]);
        self.add_linked(other.follows);
        for place in other.places {
            match self
                .places
                .iter_mut()
                .find(|it| it.scenario == place.scenario)
            {
                Some(known) => {
                    let new = place.calls.into_iter();
                    let new: Vec<CauseCall> = new.filter(|it| !known.calls.contains(it)).collect();
                    known.calls.extend(new);
                }
                None => self.places.push(place),
            }
        }
        self.places.sort_by(|a, b| a.scenario.cmp(&b.scenario));
    }

    /// Says of what evaluators of one name found in several scenarios that it is an example, where it is not the same in all.
    fn say_of_several(&mut self, other: &Self) {
        let (What::Said(own), What::Said(others)) = (&mut self.what, &other.what) else {
            return;
        };
        if matches!(self.key, Key::Expectation { .. }) && own != others {
            *own = own.replacen(FAILS, FAILS_SUCH_AS, 1);
        }
    }

    /// Hints that changed in several ways are named beneath, each once.
    fn say_of_hints(&mut self, other: &Self) {
        let own = match &self.what {
            What::Hints => None,
            What::Drift(drift) => Some(drift.change.clone()),
            _ => return,
        };
        if matches!(self.key, Key::Drift { what: None, .. }) {
            let is_same =
                matches!((&own, &other.what), (Some(own), What::Drift(it)) if it.change == *own);
            if is_same && (&self.was, &self.now) == (&other.was, &other.now) {
                return;
            }
            let own = own.and_then(|_| self.annotation());
            self.add_follows(own.into_iter().chain(other.annotation()));
            self.what = What::Hints;
        }
    }

    /// The annotation that changed, and how: ``` `destructiveHint`: true → false ```.
    fn annotation(&self) -> Option<String> {
        let name = self.path.as_deref()?.rsplit('/').next()?;
        let values = values(self.was.as_deref(), self.now.as_deref());
        Some(format!("`{name}`: {}", values.unwrap_or_default()))
    }

    /// Where it is; empty for a tool as a whole.
    pub(super) fn path(&self) -> &str {
        self.path.as_deref().unwrap_or_default()
    }

    pub(super) fn finish(mut self) -> Cause {
        // Those that fail first.
        self.places.sort_by_key(|it| !it.fails);
        for place in &mut self.places {
            place.calls.sort_by_key(|it| it.baseline.or(it.current));
        }
        let left = self.follows.len().saturating_sub(FOLLOWS);
        let follows = self.follows.iter().take(FOLLOWS);
        let mut follows: Vec<String> = follows
            .map(|(said, how)| match how {
                Some(how) => format!("{said} ({how})"),
                None => said.clone(),
            })
            .collect();
        follows.extend((left > 0).then(|| format!("and {left} more")));
        if self.records.len() > 1 {
            self.hint = Some(record::hint(&self.records));
        }
        self.hint = self.hint.take().or_else(|| self.says_new_name());
        Cause {
            id: self.key.id(),
            kind: Some(self.kind),
            text: self.text(),
            tool: self.tool,
            label: self.label,
            path: self.path,
            was: self.was,
            now: self.now,
            line: self.line,
            whose: self.whose,
            fails: self.fails,
            scenarios: self.places.iter().map(|it| it.scenario.clone()).collect(),
            calls: self.places.iter().map(|it| it.calls.len()).sum(),
            places: self.places,
            follows,
            hint: self.hint,
        }
    }

    /// The sentence, with the values it was and is.
    pub(super) fn text(&self) -> String {
        let mut text = match &self.what {
            What::Said(said) if matches!(self.key, Key::NoBaseline) => {
                match self.places.len() - 1 {
                    0 => said.clone(),
                    1 => format!("{said}, nor does that of 1 other scenario"),
                    more => format!("{said}, nor do those of {more} other scenarios"),
                }
            }
            What::Said(said) => said.clone(),
            What::Whole(said) => return said.clone(),
            What::Failed(message) => {
                let lead = if self.messages_differ { SUCH_AS } else { COLON };
                return format!("{} failed{lead}{message}", self.tool_names());
            }
            What::Place(verb) => verb.said(&self.tool_names(), self.path.as_deref()),
            What::Drift(drift) => drift.change.said(&drift.server, &self.tool_names()),
            What::Hints => return format!("the annotations of {} changed", self.tool_names()),
        };
        let is_several = self.path.as_deref().is_some_and(|it| it.contains('*'));
        if is_several && self.of_call > 1 && matches!(self.what, What::Place(_)) {
            let _ = write!(text, " in {} places", self.of_call);
        }
        let lead = if self.values_differ { SUCH_AS } else { COLON };
        if self.path.as_deref().is_some_and(words::is_medium) {
            return text;
        }
        let (was, now) = (self.was.as_deref(), self.now.as_deref());
        if let (What::Place(_), false, Some(gone)) =
            (&self.what, self.values_differ, gone(was, now))
        {
            return text + &gone;
        }
        let is_said = matches!(&self.what, What::Drift(drift) if drift.change.has_values());
        match values(was, now).filter(|_| !is_said) {
            Some(values) => text + lead + &values,
            None => text,
        }
    }

    /// Where scenarios call a tool that has another name now: ``scenarios/a.yaml:12 calls `find`; the tool is now `search` ``.
    fn says_new_name(&self) -> Option<String> {
        let What::Drift(drift) = &self.what else {
            return None;
        };
        let (ToolChange::Renamed(now), was) = (&drift.change, &drift.tool) else {
            return None;
        };
        let named = &self.called_at[..self.called_at.len().min(TOOLS)];
        let who = match self.called_at.len() - named.len() {
            0 => and(named),
            more => format!("{} and {more} more", named.join(", ")),
        };
        let call = match named.len() {
            0 => return None,
            1 => "calls",
            _ => "call",
        };
        Some(format!("{who} {call} `{was}`; the tool is now `{now}`"))
    }

    fn tool_names(&self) -> String {
        let named: Vec<String> = (self.tools.iter().take(TOOLS))
            .map(|it| format!("`{it}`"))
            .collect();
        match self.tools.len().saturating_sub(TOOLS) {
            0 => and(&named),
            more => format!("{} and {more} other tools", named.join(", ")),
        }
    }
}

/// How a sentence ends on what is gone: ` (was "free")`. `None` where there is something now, or was nothing.
pub(super) fn gone(was: Option<&str>, now: Option<&str>) -> Option<String> {
    let was = was.filter(|_| now.is_none())?;
    Some(format!(" (was {})", shorten(was, VALUE_CHARS)))
}

/// What it was and what it is, as the sentence ends; `None` where there is nothing.
pub(super) fn values(was: Option<&str>, now: Option<&str>) -> Option<String> {
    let short = |text: &str| shorten(text, VALUE_CHARS).into_owned();
    match (was, now) {
        (Some(was), Some(now)) => {
            // Values that are cut already have their dots.
            let [was, now] =
                around_difference(was, now, VALUE_CHARS).map(|it| it.replace("……", "…"));
            Some(format!("{was} → {now}"))
        }
        (Some(was), None) => Some(format!("{} → nothing", short(was))),
        (None, Some(now)) => Some(short(now)),
        (None, None) => None,
    }
}

fn and(names: &[String]) -> String {
    match names {
        [] => "a call".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The causes that are known so far, in the order of the first sight of each.
#[derive(Default)]
pub(super) struct Found {
    pub(super) drafts: Vec<Draft>,
    /// Where in `drafts` the cause of a key is.
    by_key: HashMap<Key, usize>,
}

impl Found {
    /// Adds a cause, or merges it with the one of the same key; returns where that is.
    pub(super) fn add(&mut self, draft: Draft) -> usize {
        if let Some(at) = self.by_key.get(&draft.key) {
            self.drafts[*at].merge(draft);
            return *at;
        }
        let at = self.drafts.len();
        self.by_key.insert(draft.key.clone(), at);
        self.drafts.push(draft);
        at
    }

    /// The causes of several scenarios: one that elsewhere follows from another is put beneath that.
    pub(super) fn into_causes(self) -> Vec<Draft> {
        let mut roots: Vec<Draft> = Vec::new();
        let mut rest: Vec<Option<Draft>> = self.drafts.into_iter().map(Some).collect();
        let same: HashSet<Key> = rest
            .iter()
            .flatten()
            .flat_map(|it| it.same.keys().cloned())
            .collect();
        let beneath: Vec<Draft> = (rest.iter_mut())
            .filter_map(|it| it.take_if(|it| same.contains(&it.key)))
            .collect();
        roots.extend(rest.into_iter().flatten());
        for draft in beneath {
            let mut linked = roots.iter_mut();
            match linked.find_map(|it| Some((it.same_elsewhere(&draft)?, it))) {
                Some((how, root)) => root.take_in(draft, how),
                None => roots.push(draft),
            }
        }
        roots
    }
}

#[cfg(test)]
mod tests {
    use super::{Draft, Found};
    use model::published::result::CauseKind;

    #[test]
    fn what_has_one_cause_is_found_where_that_is() {
        let mut found = Found::default();
        let said = ["`a` fails", "`b` is gone", "`a` fails"];
        let at = said.map(|it| found.add(Draft::new("s", CauseKind::Error, None, it.to_owned())));
        assert_eq!(at, [0, 1, 0]);
        assert_eq!(found.drafts.len(), 2);
    }
}
