//! Values from the environment in the place of `${NAME}`, and addresses of upstreams in the configuration of the system under test.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::scenario_file::agent::{CommandAgent, MODEL};
use crate::scenario_file::decode::{Part, Place, Templates, parts, upstream_url_name};
use crate::scenario_file::servers::Server;
use crate::scenario_file::yaml::quoted;
use crate::text::nearest::nearest;

/// What the environment does not give, of all servers together.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
pub struct MissingVariables {
    /// Environment variables that are not set and have no default, sorted.
    pub unset: Vec<String>,
    /// Names with a dot, such as `docker.url`, that nothing in the scenario provides, sorted.
    pub unprovided: Vec<String>,
    /// References that cannot be read, with the reason.
    pub malformed: Vec<String>,
}

impl fmt::Display for MissingVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |names: &[String]| {
            let names: Vec<_> = names.iter().map(|it| quoted(it)).collect();
            names.join(", ")
        };
        let mut parts = Vec::new();
        match self.unset.as_slice() {
            [] => {}
            [name] => parts.push(format!(
                "the environment variable {} is not set: set it, or give a default with `${{{name}:-…}}`",
                quoted(name)
            )),
            [first, ..] => parts.push(format!(
                "the environment variables {} are not set: set them, or give defaults with `${{{first}:-…}}`",
                names(&self.unset)
            )),
        }
        if !self.unprovided.is_empty() {
            let provided = names(&self.unprovided);
            parts.push(format!("nothing in the scenario provides {provided}"));
        }
        parts.extend(self.malformed.iter().cloned());
        f.write_str(&parts.join("; "))
    }
}

/// Fills in `${NAME}` and `${NAME:-default}` wherever they may stand; with it come the variables whose values went into it or will be sent,
/// sorted: their values may be secret.
///
/// `lookup` gives the value of an environment variable, and of the names with a dot that the scenario provides. As in a shell, the default also stands in for an empty value, and it
/// is plain text up to the next `}`. `$${` is a literal `${`. A bearer token's variable must be set, too.
///
/// # Errors
///
/// Everything that is missing.
pub fn expand<T: Templates + Clone>(
    thing: &T,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<(T, Vec<String>), MissingVariables> {
    let mut filling = Filling::new(&lookup);
    let mut filled = thing.clone();
    filled.templates(&mut |it| filling.fill(it));
    Ok((filled, filling.finish()?))
}

/// The same for servers, each with the variables that it alone uses. What `lookup` gives may depend on the server.
///
/// # Errors
///
/// Everything that any of them lacks.
pub fn expand_servers(
    servers: &[Server],
    lookup: impl Fn(&Server, &str) -> Option<String>,
) -> Result<Vec<(Server, Vec<String>)>, MissingVariables> {
    let current = Cell::new(None);
    let of_current = |name: &str| lookup(current.get()?, name);
    let mut filling = Filling::new(&of_current);
    let mut expanded = Vec::new();
    for server in servers {
        current.set(Some(server));
        let mut filled = server.clone();
        filled.templates(&mut |it| filling.fill(it));
        let used = std::mem::take(&mut filling.used);
        expanded.push((filled, used.into_iter().collect()));
    }
    filling.finish().map(|_| expanded)
}

/// The same for an agent that is a program. `lookup` also gives what the run gives the agent, such as [`PROMPT`]; the model is known from
/// the agent itself.
///
/// [`PROMPT`]: crate::scenario_file::agent::PROMPT
///
/// # Errors
///
/// Everything that is missing.
pub fn expand_command(
    agent: &CommandAgent,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<(CommandAgent, Vec<String>), MissingVariables> {
    let mut filling = Filling::new(&lookup);
    let model = agent.model.as_deref().map(|it| filling.text(it));
    let with_model = |name: &str| match name {
        MODEL => model.clone(),
        _ => lookup(name),
    };
    filling.lookup = &with_model;
    let mut filled = CommandAgent {
        model: model.clone(),
        ..agent.clone()
    };
    filled.templates(&mut |it| filling.fill(it));
    Ok((filled, filling.finish()?))
}

/// Puts a path in the place of one `${name}`, wherever it stands in what is described, and leaves all other references as they are.
pub fn fill_in(thing: &mut impl Templates, name: &str, value: &str) {
    let written = format!("${{{name}}}");
    // Nothing in it is a reference.
    let value = value.replace("${", "$${");
    let fill = |text: &str| text.replace(&written, &value);
    thing.templates(&mut |place| match place {
        Place::Text(text) => *text = fill(text),
        Place::Program(text) => {
            if let Some(rest) = from_reference(text, &written) {
                *text = fill(rest);
            }
        }
        Place::Path(path) => {
            if let Some(rest) = path.to_str().and_then(|it| from_reference(it, &written)) {
                *path = PathBuf::from(fill(rest));
            }
        }
        Place::Variable(_) => {}
    });
}

/// A path from where this reference begins a part of it: it stands for an absolute path, which replaces what the loader put before it.
fn from_reference<'a>(path: &'a str, reference: &str) -> Option<&'a str> {
    let at = path.find(reference)?;
    let begins = at == 0 || path[..at].ends_with('/');
    Some(if begins { &path[at..] } else { path })
}

struct Filling<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    used: BTreeSet<String>,
    unset: BTreeSet<String>,
    unprovided: BTreeSet<String>,
    malformed: BTreeSet<String>,
}

impl<'a> Filling<'a> {
    fn new(lookup: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            lookup,
            used: BTreeSet::new(),
            unset: BTreeSet::new(),
            unprovided: BTreeSet::new(),
            malformed: BTreeSet::new(),
        }
    }

    /// The environment variables used, or all that is missing.
    fn finish(self) -> Result<Vec<String>, MissingVariables> {
        let Self {
            lookup: _,
            used,
            unset,
            unprovided,
            malformed,
        } = self;
        if unset.is_empty() && unprovided.is_empty() && malformed.is_empty() {
            return Ok(used.into_iter().collect());
        }
        Err(MissingVariables {
            unset: unset.into_iter().collect(),
            unprovided: unprovided.into_iter().collect(),
            malformed: malformed.into_iter().collect(),
        })
    }

    fn fill(&mut self, place: Place<'_>) {
        match place {
            Place::Text(text) => *text = self.text(text),
            Place::Path(path) => *path = self.path(path),
            Place::Program(program) if program.contains('/') => {
                *program = self.path(Path::new(program)).to_string_lossy().into_owned();
            }
            Place::Program(program) => *program = self.text(program),
            Place::Variable(name) => drop(self.environment(name, None)),
        }
    }

    /// A reference at the start of a part of a path may hold an absolute path. It then replaces what stands before it, as
    /// when paths are joined: the loader has put the scenario file's folder there.
    fn path(&mut self, path: &Path) -> PathBuf {
        let Some(text) = path.to_str() else {
            return path.to_owned();
        };
        match text.find("/${") {
            Some(slash) => {
                let rest = self.text(&text[slash + 1..]);
                Path::new(&text[..=slash]).join(rest)
            }
            None => PathBuf::from(self.text(text)),
        }
    }

    fn text(&mut self, text: &str) -> String {
        let mut filled = String::new();
        for part in parts(text) {
            match part {
                Ok(Part::Text(text)) => filled.push_str(text),
                Ok(Part::Reference { name, default }) => {
                    if !name.contains('.') {
                        filled.push_str(&self.environment(name, default));
                    } else if let Some(value) = (self.lookup)(name) {
                        filled.push_str(&value);
                    } else {
                        self.unprovided.insert(name.to_owned());
                    }
                }
                Err(problem) => {
                    self.malformed.insert(problem.message);
                }
            }
        }
        filled
    }

    fn environment(&mut self, name: &str, default: Option<&str>) -> String {
        let value = (self.lookup)(name);
        if value.is_some() {
            self.used.insert(name.to_owned());
        }
        match (value, default) {
            (Some(value), None) => value,
            (Some(value), Some(_)) if !value.is_empty() => value,
            (_, Some(default)) => default.to_owned(),
            (None, None) => {
                self.unset.insert(name.to_owned());
                String::new()
            }
        }
    }
}

/// Lets every `${…}` stand for itself.
pub fn literal(thing: &mut impl Templates) {
    thing.templates(&mut |place| match place {
        Place::Text(text) | Place::Program(text) => *text = escaped(text),
        Place::Path(path) => *path = PathBuf::from(escaped(&path.to_string_lossy())),
        Place::Variable(_) => {}
    });
}

fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}

/// How the name of such a reference begins.
const FIRST: &str = "upstream";

static REFERENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{\{\s*(upstream\.[^{}]*?)\s*\}\}").expect("it is a pattern"));

static THREE_PARTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\{\{\s*(([^{}.\s]+)\.([^{}.\s]+)\.([^{}.\s]+))\s*\}\}").expect("it is a pattern")
});

/// The references to servers behind the ones under test in the text of a configuration file: where the name stands, and the name.
pub(in crate::scenario_file) fn upstream_references(
    text: &str,
) -> impl Iterator<Item = (Range<usize>, &str)> {
    let names = REFERENCE.captures_iter(text).filter_map(|it| it.get(1));
    names.map(|it| (it.range(), it.as_str()))
}

/// Names in the text of a configuration file that were meant as such references, to judge by their first word, and are none: where each
/// stands, the name, and what was meant.
///
/// Whatever else stands in double braces is the file's own, which is why they need all three parts.
pub(in crate::scenario_file) fn misspelt_references(
    text: &str,
) -> impl Iterator<Item = (Range<usize>, &str, String)> {
    THREE_PARTS.captures_iter(text).filter_map(|it| {
        let name = it.get(1)?;
        let [first, upstream] = [it.get(2)?.as_str(), it.get(3)?.as_str()];
        let is_misspelt = first != FIRST && nearest(first, [FIRST]).is_some();
        is_misspelt.then(|| (name.range(), name.as_str(), upstream_url_name(upstream)))
    })
}

/// The text of a configuration file with `{{upstream.NAME.url}}` filled in. `lookup` gives the value of such a name, as
/// [`upstream_url_name`] makes it.
///
/// Whatever else stands in double braces is the file's own, and stays; so does what `lookup` does not know.
///
/// [`upstream_url_name`]: crate::scenario_file::upstream_url_name
pub fn fill_in_config(text: &str, lookup: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    REFERENCE.replace_all(text, |found: &Captures<'_>| {
        lookup(&found[1]).unwrap_or_else(|| found[0].to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::{fill_in_config, misspelt_references};

    #[test]
    fn misspelt_references_are_distinguished_from_other_templates() {
        for (text, meant) in [
            ("{{upstreams.a.url}}", Some("upstream.a.url")),
            ("{{ upstrem.a-1.url }}", Some("upstream.a-1.url")),
            ("{{Upstream.a.uri}}", Some("upstream.a.url")),
            ("{{upstream.a.url}}", None),
            ("{{upstreams}} {{upstreams.a}} {{ .upstreams.a.url }}", None),
            ("{{service.a.url}} {{upstreams.a b.url}}", None),
        ] {
            let found = misspelt_references(text).map(|it| it.2);
            assert_eq!(found.collect::<Vec<_>>(), Vec::from_iter(meant), "{text}");
        }
    }

    #[test]
    fn only_known_upstreams_are_filled_in() {
        let lookup = |it: &str| (it == "upstream.a-1.url").then(|| "http://h:1/$0".to_owned());
        for (text, filled) in [
            ("{{upstream.a-1.url}}/mcp", "http://h:1/$0/mcp"),
            ("{{ upstream.a-1.url\t}}", "http://h:1/$0"),
            ("{{{upstream.a-1.url}}}", "{http://h:1/$0}"),
            (
                "{{ .Values }} {{x {{upstream.a-1.url}}",
                "{{ .Values }} {{x http://h:1/$0",
            ),
            ("{{upstream.b.url}}", "{{upstream.b.url}}"),
            ("{{upstream.a-1}}", "{{upstream.a-1}}"),
            ("{{{}}} {{", "{{{}}} {{"),
        ] {
            assert_eq!(fill_in_config(text, lookup), filled);
        }
    }
}
