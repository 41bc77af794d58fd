//! Values that are known to be secret, the names they are called by, and those that were met so far.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::parts::parts;
use super::spelling::{Known, Part, Role};
use super::{keys, random, shapes};
use aho_corasick::{AhoCorasick, MatchKind};
use model::Redaction;
use model::placeholder;

/// The shortest declared value that is looked for inside of texts: a shorter one stands everywhere by chance.
const SHORTEST: usize = 4;

/// Values that are known to be secret: a scenario says so, or the name they are given under.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    entries: Vec<Entry>,
    /// Names whose values are secret although the names do not say so.
    marked: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    /// With a dot: `var.token`, `env.API_KEY`, `header.Authorization`.
    name: String,
    /// Who is given it, and empty where anybody may be: of two values of one name, each is called by its owner, too.
    owner: String,
    value: String,
    is_declared: bool,
}

impl Secrets {
    /// None yet, of what a scenario is given: it may have marked some names.
    pub fn given_to(redaction: &Redaction) -> Self {
        Self {
            marked: redaction.marked.iter().cloned().collect(),
            ..Self::default()
        }
    }

    /// A value that somebody has declared to be secret.
    pub fn declare(&mut self, name: &str, owner: &str, value: &str) {
        self.add(name, owner, value, true);
    }

    /// A line of a list of arguments, of which the line before may be an option that says its value is secret.
    pub fn element(&mut self, before: &str, line: &str) {
        let inner = |it: &str| {
            let it = it.trim().trim_start_matches("- ");
            it.trim_matches(['"', '\'', ',']).to_owned()
        };
        let value = inner(line);
        if keys::secret_flag(&inner(before)).is_some() && !value.starts_with('-') {
            self.declare("args", "", &value);
        }
    }

    /// Values given by name, in `env`, headers or an address: those whose names say that they are secret, and passwords in addresses. Of a
    /// value in two parts, such as `Bearer abc`, the second is the secret.
    pub fn named<'a>(
        &mut self,
        place: &str,
        owner: &str,
        named: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        for (name, value) in named {
            let is_marked = self.marked.contains(name);
            let secret = &value[keys::scheme(value)..];
            let is_key = keys::is_key_name(name) && random::is_random(secret);
            if is_marked || is_key || keys::is_secret_name(name) {
                self.add(&format!("{place}.{name}"), owner, secret.trim(), is_marked);
                continue;
            }
            // An address of a database, whatever it is called.
            let colon = value.find("://");
            if let Some((_, at)) = colon.and_then(|it| shapes::in_address(value, it)) {
                self.add(&format!("{place}.{name}"), owner, &value[at], false);
            }
        }
    }

    /// Headers that are sent with every question: those whose names say that they are secret, and values that nobody would write by chance.
    pub fn headers<'a>(
        &mut self,
        place: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        for (name, value) in headers {
            let secret = value[keys::scheme(value)..].trim();
            if random::is_random(secret) {
                self.add(&format!("{place}.{name}"), "", secret, false);
            } else {
                self.named(place, "", [(name, value)]);
            }
        }
    }

    /// Values given by name that are all declared to be secret, whatever their names say. Of a value in two parts, such as `Bearer abc`, the
    /// second is the secret.
    pub fn all_named<'a>(
        &mut self,
        place: &str,
        owner: &str,
        named: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        for (name, value) in named {
            let secret = value[keys::scheme(value)..].trim();
            self.declare(&format!("{place}.{name}"), owner, secret);
        }
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What the environment of this program holds under names that say it is secret.
    pub fn of_environment() -> Self {
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let mut secrets = Self::default();
        secrets.environment("", &names.collect::<Vec<_>>());
        secrets
    }

    /// The environment variables of these names whose names say that they are secret, and who is given them. Whoever keeps a `…_KEY` out
    /// of the scenario means a secret, unless it reads like a name.
    pub fn environment<N: AsRef<str>>(&mut self, owner: &str, variables: &[N]) {
        for name in variables.iter().map(AsRef::as_ref) {
            if let Ok(value) = std::env::var(name) {
                if keys::is_key_name(name) && keys::may_be_key(&value) {
                    self.add(&format!("env.{name}"), owner, &value, false);
                    continue;
                }
                self.named("env", owner, [(name, value.as_str())]);
            }
        }
    }

    /// The secret variables of a scenario.
    pub fn of_scenario(&mut self, redaction: &Redaction) {
        for it in &redaction.secrets {
            self.declare(&format!("var.{}", it.name), "", &it.value);
        }
    }

    /// All that others know, too.
    pub fn extend(&mut self, others: &Self) {
        self.marked.extend(others.marked.iter().cloned());
        for it in &others.entries {
            if !self.entries.contains(it) {
                self.entries.push(it.clone());
            }
        }
    }

    /// The same for what may be sent to a server: nothing that only others are given.
    ///
    /// # Errors
    ///
    /// Who is given it instead.
    pub(super) fn value_for(&self, name: &str, server: &str) -> Result<Option<&str>, String> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let server = placeholder::name(server);
        let mut owners = self.entries.iter().filter(|it| it.value == value);
        let is_given = |it: &Entry| it.owner.is_empty() || it.owner == server;
        if owners.clone().any(is_given) {
            return Ok(Some(value));
        }
        let owner = owners.next().map(|it| it.owner.clone());
        Err(owner.unwrap_or_default())
    }

    /// The value that a placeholder's name stands for.
    pub fn value(&self, name: &str) -> Option<&str> {
        let named = self.by_name().into_iter();
        let mut found = named
            .filter(|(it, _)| it == name)
            .map(|(_, entry)| entry.value.as_str());
        found.next()
    }

    fn add(&mut self, name: &str, owner: &str, value: &str, is_declared: bool) {
        if !value.is_empty() {
            self.entries.push(Entry {
                name: placeholder::name(name),
                owner: placeholder::name(owner),
                value: value.to_owned(),
                is_declared,
            });
        }
    }

    /// Every value under its name, with the owner's before it where a name has several values.
    fn by_name(&self) -> Vec<(String, &Entry)> {
        let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for it in &self.entries {
            values.entry(&it.name).or_default().insert(&it.value);
        }
        let named = self.entries.iter().map(|it| {
            let is_shared = values.get(it.name.as_str()).is_some_and(|it| it.len() > 1);
            let name = match it.owner.as_str() {
                owner if is_shared && !owner.is_empty() => format!("{owner}.{}", it.name),
                _ => it.name.clone(),
            };
            (name, it)
        });
        named.collect()
    }

    /// Each value once, by the first of its names, and what of it is secret by itself.
    pub(super) fn known(&self) -> Vec<Known> {
        let mut first: BTreeMap<String, (Role, String, bool)> = BTreeMap::new();
        for (name, entry) in self.by_name() {
            for Part { role, text } in parts(&entry.value) {
                let is_meant = entry.is_declared && role == Role::Whole;
                let mut everywhere = is_meant || !random::is_word(&text);
                let mut named = (role, name.clone());
                if let Some((role, name, too)) = first.remove(&text) {
                    named = named.min((role, name));
                    everywhere |= too;
                }
                first.insert(text, (named.0, named.1, everywhere));
            }
        }
        let known = first
            .into_iter()
            .map(|(text, (role, name, is_everywhere))| Known {
                is_everywhere: is_everywhere && text.len() >= SHORTEST,
                name,
                part: Part { role, text },
            });
        known.collect()
    }
}

/// The secrets that were met so far.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The secrets of each kind with their numbers, in the order they were met: the second one is distinguished from the first.
    by_kind: HashMap<&'static str, HashMap<String, usize>>,
    /// Random values that a key, or the word `Bearer`, has shown to be secret, with the first kind of each: they are secret wherever
    /// they stand.
    shown: BTreeMap<String, &'static str>,
    /// Finds those; `None` until it is wanted, and when there are more than it knows.
    finder: Option<AhoCorasick>,
}

impl Seen {
    /// The number of a secret among those of its kind, from 1.
    pub(crate) fn number(&mut self, kind: &'static str, secret: &str) -> usize {
        let of_kind = self.by_kind.entry(kind).or_default();
        let next = of_kind.len() + 1;
        match of_kind.get(secret) {
            Some(number) => *number,
            None => *of_kind.entry(secret.to_owned()).or_insert(next),
        }
    }

    /// Notes that a value is a secret wherever it stands.
    pub(crate) fn show(&mut self, kind: &'static str, secret: &str) {
        if let Some(shown) = self.shown.get_mut(secret) {
            *shown = kind.min(*shown);
        } else {
            self.shown.insert(secret.to_owned(), kind);
            self.finder = None;
        }
    }

    /// Whether nothing is known to be a secret wherever it stands.
    pub(crate) fn has_shown_nothing(&self) -> bool {
        self.shown.is_empty()
    }

    /// Where in a text such values stand, in order, with their kinds.
    pub(crate) fn shown_in(&mut self, text: &str) -> Vec<(Range<usize>, &'static str)> {
        if self.shown.is_empty() {
            return Vec::new();
        }
        if self.finder.is_none() {
            let longest_first = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(self.shown.keys());
            self.finder = longest_first.ok();
        }
        let found = self.finder.iter().flat_map(|it| it.find_iter(text));
        let found = found.filter_map(|it| Some((it.range(), *self.shown.get(&text[it.range()])?)));
        found.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Secrets;

    fn known(secrets: &Secrets) -> Vec<(String, String, bool)> {
        let known = secrets.known().into_iter();
        known
            .map(|it| (it.part.text, it.name, it.is_everywhere))
            .collect()
    }

    #[test]
    fn values_are_called_by_the_first_of_their_names() {
        let mut secrets = Secrets::default();
        secrets.declare("var.token", "", "abc-1234");
        secrets.named("env", "files", [("TOKEN", "abc-1234"), ("MODE", "test")]);
        let expected = [("abc-1234".to_owned(), "env.TOKEN".to_owned(), true)];
        assert_eq!(known(&secrets), expected);
        assert_eq!(secrets.value("env.TOKEN"), Some("abc-1234"));
        assert_eq!(secrets.value("var.token"), Some("abc-1234"));
        assert_eq!(secrets.value("var.other"), None);
    }

    #[test]
    fn servers_that_differ_are_distinguished() {
        let mut secrets = Secrets::default();
        secrets.named("env", "files", [("TOKEN", "first-1")]);
        secrets.named(
            "env",
            "web",
            [("TOKEN", "second-2"), ("PGPASSWORD", "postgres")],
        );
        secrets.named("header", "web", [("Authorization", "Bearer third-3")]);
        secrets.named(
            "env",
            "db",
            [("DATABASE_URL", "postgres://me:fourth-4@h/x")],
        );
        let names: Vec<_> = known(&secrets);
        let expected = [
            ("first-1", "files.env.TOKEN", true),
            ("fourth-4", "env.DATABASE_URL", true),
            ("postgres", "env.PGPASSWORD", false),
            ("second-2", "web.env.TOKEN", true),
            ("third-3", "header.Authorization", true),
        ];
        let expected = expected.map(|(value, name, is)| (value.to_owned(), name.to_owned(), is));
        assert_eq!(names, expected);
    }
}
