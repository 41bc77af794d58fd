//! `${NAME}` in servers and agents: values from the environment.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::model::agent::{CommandAgent, MODEL, ModelAgent};
use crate::model::container::{Build, Container, Image, Mount, MountSource};
use crate::model::ready::{HealthPage, PageAddress};
use crate::model::scenario::{Server, Transport};

use super::finding::quoted;

/// The name that stands for the address of the scenario's container, without a path: `http://127.0.0.1:49153`.
pub const CONTAINER_URL: &str = "docker.url";
/// The name that stands for the port the container is published on.
pub const CONTAINER_PORT: &str = "docker.port";
/// All names a container gives.
pub(super) const CONTAINER_NAMES: [&str; 2] = [CONTAINER_URL, CONTAINER_PORT];

/// Servers with every `${…}` filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Expanded {
    pub servers: Vec<Server>,
    /// The variables whose values went into the servers or will be sent to them, sorted: their values may be secret.
    pub variables: Vec<String>,
}

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

/// Fills in `${NAME}` and `${NAME:-default}` in addresses, headers, commands, arguments, environments and folders.
///
/// `lookup` gives the value of an environment variable, and of the names with a dot that the scenario provides. As in a shell, the default also stands in for an empty value, and it
/// is plain text up to the next `}`. `$${` is a literal `${`. A bearer token's variable must be set, too.
///
/// # Errors
///
/// Everything that is missing, of all servers.
pub fn expand(
    servers: &[Server],
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<Expanded, MissingVariables> {
    let mut filling = Filling::new(&lookup);
    let servers = servers.iter().map(|it| filling.server(it)).collect();
    let variables = filling.finish()?;
    Ok(Expanded { servers, variables })
}

/// Fills in `${…}` in the description of a container, as [`expand`] does in servers; with it come the variables whose values went into
/// it, sorted.
///
/// # Errors
///
/// Everything that is missing.
pub fn expand_container(
    container: &Container,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<(Container, Vec<String>), MissingVariables> {
    let mut filling = Filling::new(&lookup);
    let container = filling.container(container);
    Ok((container, filling.finish()?))
}

/// Fills in `${…}` in the pages that tell whether servers are ready, as [`expand`] does in servers; with them come the variables whose
/// values went into them, sorted.
///
/// # Errors
///
/// Everything that is missing.
pub fn expand_pages(
    pages: &[HealthPage],
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<(Vec<HealthPage>, Vec<String>), MissingVariables> {
    let mut filling = Filling::new(&lookup);
    let pages = pages.iter().map(|page| HealthPage {
        at: match &page.at {
            PageAddress::Url(url) => PageAddress::Url(filling.text(url)),
            PageAddress::Path { server, path } => PageAddress::Path {
                server: server.clone(),
                path: filling.text(path),
            },
        },
        headers: filling.pairs(&page.headers),
        ..page.clone()
    });
    let pages = pages.collect();
    Ok((pages, filling.finish()?))
}

/// Fills in `${…}` in an agent's model, address and headers, as [`expand`] does in servers; with it come the variables whose values went
/// into it, sorted.
///
/// # Errors
///
/// Everything that is missing.
pub fn expand_agent(
    agent: &ModelAgent,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<(ModelAgent, Vec<String>), MissingVariables> {
    let mut filling = Filling::new(&lookup);
    let agent = ModelAgent {
        model: filling.text(&agent.model),
        base_url: agent.base_url.as_ref().map(|it| filling.text(it)),
        extra_headers: filling.pairs(&agent.extra_headers),
        ..agent.clone()
    };
    Ok((agent, filling.finish()?))
}

/// Fills in `${…}` in the command line, the folder and the environment of an agent that is a program, as [`expand`] does in servers; with
/// it come the variables whose values went into it, sorted. `lookup` also gives what the run gives the agent, such as [`PROMPT`]; the
/// model is known from the agent itself.
///
/// [`PROMPT`]: crate::model::agent::PROMPT
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
    let words = agent.command.iter().enumerate();
    let command = words.map(|(place, word)| {
        if place == 0 && word.contains('/') {
            let program = filling.folder(Path::new(word));
            program.to_string_lossy().into_owned()
        } else {
            filling.text(word)
        }
    });
    let agent = CommandAgent {
        command: command.collect(),
        cwd: agent.cwd.as_deref().map(|it| filling.folder(it)),
        env: filling.pairs(&agent.env),
        model: model.clone(),
        ..agent.clone()
    };
    Ok((agent, filling.finish()?))
}

/// Fills in `${…}` in one text.
pub(super) fn text(
    text: &str,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<String, MissingVariables> {
    let mut filling = Filling::new(&lookup);
    let filled = filling.text(text);
    filling.finish()?;
    Ok(filled)
}

/// Whether a text refers to the scenario's container.
pub fn mentions_container(text: &str) -> bool {
    names(text).any(|it| CONTAINER_NAMES.contains(&it))
}

/// Whether a text refers to this name without a default.
pub(super) fn needs(text: &str, wanted: &str) -> bool {
    parts(text)
        .any(|it| matches!(it, Ok(Part::Reference { name, default: None }) if name == wanted))
}

/// Whether a text refers to this name.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    names(text).any(|it| it == name)
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

    fn container(&mut self, container: &Container) -> Container {
        let image = match &container.image {
            Image::Named(name) => Image::Named(self.text(name)),
            Image::Built(build) => Image::Built(Build {
                context: self.folder(&build.context),
                dockerfile: self.text(&build.dockerfile),
                args: self.pairs(&build.args),
            }),
        };
        let mounts = container.mounts.iter().map(|it| Mount {
            source: match &it.source {
                MountSource::Path(path) => MountSource::Path(self.folder(path)),
                MountSource::Volume(name) => MountSource::Volume(self.text(name)),
                MountSource::Memory => MountSource::Memory,
            },
            target: self.text(&it.target),
            read_only: it.read_only,
        });
        let mounts = mounts.collect();
        let mut text = |it: &Option<String>| it.as_deref().map(|it| self.text(it));
        Container {
            image,
            mounts,
            config_target: text(&container.config_target),
            network: text(&container.network),
            user: text(&container.user),
            command: container
                .command
                .as_ref()
                .map(|it| it.iter().map(|it| self.text(it)).collect()),
            env: self.pairs(&container.env),
            ..container.clone()
        }
    }

    fn server(&mut self, server: &Server) -> Server {
        let transport = match &server.transport {
            Transport::Stdio {
                command,
                args,
                env,
                cwd,
            } => Transport::Stdio {
                command: self.text(command),
                args: args.iter().map(|it| self.text(it)).collect(),
                env: self.pairs(env),
                cwd: cwd.as_deref().map(|it| self.folder(it)),
            },
            Transport::Http {
                url,
                headers,
                bearer_token_env,
            } => {
                if let Some(name) = bearer_token_env {
                    self.environment(name, None);
                }
                Transport::Http {
                    url: self.text(url),
                    headers: self.pairs(headers),
                    bearer_token_env: bearer_token_env.clone(),
                }
            }
            other @ (Transport::Mock | Transport::Recorded { .. }) => other.clone(),
        };
        Server {
            transport,
            ..server.clone()
        }
    }

    fn pairs(&mut self, pairs: &[(String, String)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), self.text(value)))
            .collect()
    }

    /// A reference at the start of a folder's name may hold an absolute path. It then replaces what stands before it, as
    /// when paths are joined: the loader has put the scenario file's folder there.
    fn folder(&mut self, path: &Path) -> PathBuf {
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

/// A reference that cannot be read.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) hint: Option<&'static str>,
}

/// Whether every `${…}` of a text can be read.
pub(super) fn check(text: &str) -> Result<(), Problem> {
    parts(text).try_for_each(|it| it.map(drop))
}

/// The names a text refers to.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    parts(text).filter_map(|it| match it {
        Ok(Part::Reference { name, .. }) => Some(name),
        _ => None,
    })
}

#[derive(Debug)]
enum Part<'a> {
    Text(&'a str),
    Reference {
        name: &'a str,
        default: Option<&'a str>,
    },
}

/// A text in its parts; the reading goes on behind a reference that cannot be read.
fn parts(text: &str) -> impl Iterator<Item = Result<Part<'_>, Problem>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(behind) = rest.strip_prefix("$${") {
            let literal = &rest[1..3];
            rest = behind;
            return Some(Ok(Part::Text(literal)));
        }
        let Some(behind) = rest.strip_prefix("${") else {
            let next = match rest.find("${") {
                // `$${` begins one character before the `${` in it.
                Some(next) if rest[..next].ends_with('$') => next - 1,
                Some(next) => next,
                None => rest.len(),
            };
            let (text, behind) = rest.split_at(next);
            rest = behind;
            return Some(Ok(Part::Text(text)));
        };
        let Some(end) = behind.find('}') else {
            let message = format!("{} has no closing `}}`", quoted(rest));
            rest = "";
            return Some(Err(Problem {
                message,
                hint: Some("write `$${` for a literal `${`"),
            }));
        };
        let inner = &behind[..end];
        let whole = &rest[..end + 3];
        rest = &behind[end + 1..];
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        Some(if is_name(name) {
            Ok(Part::Reference { name, default })
        } else {
            Err(Problem {
                message: format!("{} names no environment variable", quoted(whole)),
                hint: Some("write `${NAME}` or `${NAME:-default}`, and `$${` for a literal `${`"),
            })
        })
    })
}

/// Letters, digits and underscores, not starting with a digit; dots between such names.
fn is_name(name: &str) -> bool {
    name.split('.').all(|part| {
        !part.is_empty()
            && !part.starts_with(|it: char| it.is_ascii_digit())
            && part
                .chars()
                .all(|it| it.is_ascii_alphanumeric() || it == '_')
    })
}
