//! Other versions of a system under test than the one that stands there: its source at a commit, another image, configuration or address.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rustix::process::{Pid, test_kill_process};
use sha2::{Digest, Sha256};

use crate::git;
use crate::input::real;
use crate::model::STATELESS;
use crate::model::published::result::Commit;
use crate::scenario_file::servers::{Image, Protocol, Transport, Version};
use crate::scenario_file::{self, Place, Scenario, Templates};
use crate::store::{STATE, own};
use crate::suite::{RUNS, source};

/// Where versions of sources are laid out, each run of the program in a folder of its own.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| own("sources"));

/// What a system under test is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Against {
    /// A commit of the repository of `source.repo`.
    Git(String),
    /// Another image for the container.
    Image(String),
    /// Other servers, or another configuration of what runs in the container.
    Config(PathBuf),
    /// The server at another address.
    Url(String),
    /// The same servers in these revisions of MCP, and in the other ones on this side.
    Protocol(Protocol),
    /// The folder of a stored run.
    Run(PathBuf),
}

impl fmt::Display for Against {
    /// As the command line takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Git(name) => write!(f, "git:{name}"),
            Self::Image(name) => write!(f, "image:{name}"),
            Self::Config(path) => write!(f, "config:{}", path.display()),
            Self::Protocol(Protocol::Stateless) => write!(f, "protocol:{STATELESS}"),
            Self::Protocol(_) => f.write_str("protocol:legacy"),
            // Without its parameters, which may hold a key.
            Self::Url(url) => write!(f, "url:{}", url.split('?').next().unwrap_or_default()),
            Self::Run(path) => {
                let ours = path.strip_prefix(&*RUNS).unwrap_or(path);
                write!(f, "run:{}", ours.display())
            }
        }
    }
}

/// Versions of sources in folders of their own, which are removed in the end.
#[derive(Debug)]
pub(crate) struct Versions {
    folder: PathBuf,
}

impl Versions {
    /// Removes what runs that were killed have left.
    pub(crate) fn new() -> Self {
        let root = std::path::absolute(&*FOLDER).unwrap_or_else(|_| FOLDER.clone());
        for left in std::fs::read_dir(&root).into_iter().flatten().flatten() {
            let name = left.file_name();
            let owner = name
                .to_str()
                .and_then(|it| it.split('-').next()?.parse().ok());
            let lives = owner
                .and_then(Pid::from_raw)
                .is_some_and(|it| test_kill_process(it).is_ok());
            if !lives {
                let _ = std::fs::remove_dir_all(left.path());
            }
        }
        let random = uuid::Uuid::new_v4().simple().to_string();
        Self {
            folder: root.join(format!("{}-{}", std::process::id(), &random[..8])),
        }
    }

    /// The scenario as it is run against this version of its system under test, and what the version is called.
    ///
    /// # Errors
    ///
    /// Why there is no such version of it, in words.
    pub(crate) fn of(
        &self,
        scenario: &Scenario,
        against: &Against,
        laid_out: &mut LaidOut,
    ) -> Result<(Scenario, String), String> {
        let mut other = scenario.clone();
        let mut name = against.to_string();
        match against {
            Against::Git(reference) => {
                let (commit, pointers) = self.check_out(&mut other, reference, laid_out)?;
                name = format!(
                    "{name} ({} {}{})",
                    commit.short,
                    commit.subject,
                    without_content(&pointers)
                );
            }
            Against::Image(image) => match &mut other.containers[..] {
                [container] => container.image = Image::Named(image.clone()),
                [] => {
                    return Err(
                        "it has no container (`docker`), so there is no image to replace"
                            .to_owned(),
                    );
                }
                _ => {
                    return Err(
                        "it has several containers (`containers`), and the image may be of any"
                            .to_owned(),
                    );
                }
            },
            Against::Config(path) => configured(&mut other, path)?,
            Against::Url(url) => at_address(&mut other, url)?,
            Against::Protocol(protocol) => {
                if scenario.agent.command().is_some() {
                    return Err(
                        "its agent is a program, which speaks to servers as it likes".to_owned(),
                    );
                }
                for server in &mut other.servers {
                    server.protocol = Some(*protocol);
                }
            }
            Against::Run(_) => {}
        }
        if other == *scenario {
            return Err(
                "that is what it is run with anyway, so there is nothing to compare".to_owned(),
            );
        }
        Ok((other, name))
    }

    /// Lays out a commit of the repository around a folder.
    fn lay_out(&self, folder: &Path, reference: &str) -> Result<(Commit, git::Checkout), String> {
        let commit = git::resolve(folder, reference)
            .map_err(|why| format!("{}: {why}", folder.display()))?;
        let name = hex::encode(Sha256::digest(folder.to_string_lossy().as_bytes()));
        let checkout = git::check_out(folder, &commit.commit, &self.folder.join(&name[..12]))?;
        Ok((commit, checkout))
    }

    /// Lays out a commit of the scenario's source, and has the scenario use it; returns the files that are there without their content,
    /// too.
    fn check_out(
        &self,
        scenario: &mut Scenario,
        reference: &str,
        laid_out: &mut LaidOut,
    ) -> Result<(Commit, Vec<PathBuf>), String> {
        let folder = source::folder_that_is_there(scenario).map_err(|why| why.message)?;
        let folder = folder.ok_or(
            "it does not say where the source of its system under test is: `source: { repo: FOLDER }`",
        )?;
        let place = (folder.clone(), reference.to_owned());
        let (commit, checkout) = match laid_out.0.entry(place) {
            Entry::Occupied(there) => there.get().clone(),
            Entry::Vacant(place) => place.insert(self.lay_out(&folder, reference)?).clone(),
        };
        let before = source::resolved(scenario).into_owned();
        let moved = |path: &mut PathBuf| move_below(path, &folder, &checkout.folder);
        let mut visit = |place: Place<'_>| match place {
            Place::Path(path) => moved(path),
            Place::Program(program) if program.contains('/') => {
                let mut path = PathBuf::from(&*program);
                moved(&mut path);
                *program = path.to_string_lossy().into_owned();
            }
            Place::Program(_) | Place::Text(_) | Place::Variable(_) => {}
        };
        scenario.servers.templates(&mut visit);
        scenario.containers.templates(&mut visit);
        scenario.source.prepare.templates(&mut visit);
        scenario.before.templates(&mut visit);
        scenario.after.templates(&mut visit);
        scenario.source.repo = Some(checkout.folder);
        scenario.source.version = Some(Version {
            name: reference.to_owned(),
            commit: commit.commit.clone(),
        });
        let after = source::resolved(scenario);
        if before.servers == after.servers
            && before.containers == after.containers
            && before.agent == after.agent
        {
            return Err(
                "nothing that it starts comes from its source: put `${source.dir}` in a server's `command`, `args` or `cwd`, or in `docker.build`"
                    .to_owned(),
            );
        }
        Ok((commit, checkout.pointers))
    }
}

/// The versions that one source has for several scenarios: each is laid out once, and lies there unchanged until something is run.
#[derive(Debug, Default)]
pub(crate) struct LaidOut(HashMap<(PathBuf, String), (Commit, git::Checkout)>);

/// What a reader should know of files of a version that are only pointers to their content.
fn without_content(pointers: &[PathBuf]) -> String {
    let Some(first) = pointers.first() else {
        return String::new();
    };
    let first = first.display();
    let which = match pointers.len() {
        1 => format!("{first} is a Git LFS pointer"),
        several => format!("{several} files, as {first}, are Git LFS pointers"),
    };
    format!("; {which}, and the content is not there: `git lfs fetch --all` gets it")
}

/// A path below one folder, as the same below another.
fn move_below(path: &mut PathBuf, from: &Path, to: &Path) {
    if path.to_string_lossy().contains("${") {
        return;
    }
    if let Ok(within) = real(path).strip_prefix(real(from)) {
        *path = if within == Path::new("") {
            to.to_owned()
        } else {
            to.join(within)
        };
    }
}

impl Drop for Versions {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        // Only where nobody else uses it.
        let _ = std::fs::remove_dir(&*FOLDER);
    }
}

/// Whether the source of a scenario, as it stands, holds what the version of it does that another one uses. `states` are those of sources
/// that are known already.
pub(crate) fn is_what_stands_there(
    scenario: &Scenario,
    other: &Scenario,
    states: &mut States,
) -> bool {
    let mut state = |it: &Scenario| {
        let folder = source::folder(it)?;
        let known = states
            .0
            .entry(folder)
            .or_insert_with_key(|folder| git::state_around(folder, &[Path::new(STATE)]).ok());
        known.clone()
    };
    other.source.version.is_some() && state(scenario).is_some_and(|it| state(other) == Some(it))
}

/// What the folders of sources hold; `None` where that is not known.
#[derive(Debug, Default)]
pub(crate) struct States(HashMap<PathBuf, Option<git::State>>);

/// The file is a configuration for the container or a server, where one takes it, or of a client: then its servers replace those of the same name.
fn configured(scenario: &mut Scenario, path: &Path) -> Result<(), String> {
    if !path.is_file() {
        return Err(format!("there is no file {}", path.display()));
    }
    let mut is_named = false;
    for server in &mut scenario.servers.clone() {
        server.templates(&mut |it| {
            if let Place::Text(text) | Place::Program(text) = it {
                is_named |= scenario_file::mentions(text, scenario_file::CONFIG_FILE);
            }
        });
    }
    let mut containers = scenario.containers.iter();
    if is_named || containers.any(|it| it.config_target.is_some()) {
        scenario.config_file = Some(path.to_owned());
        return Ok(());
    }
    let servers =
        scenario_file::servers::client_config(path).map_err(|problem| problem.to_string())?;
    let mut replaced = false;
    for server in servers {
        if let Some(own) = scenario
            .servers
            .iter_mut()
            .find(|it| it.name == server.name)
        {
            own.transport = server.transport;
            replaced = true;
        }
    }
    if replaced {
        Ok(())
    } else {
        Err(format!(
            "{} has no server of a name that the scenario knows",
            path.display()
        ))
    }
}

/// Its one server over HTTP is at this address.
fn at_address(scenario: &mut Scenario, url: &str) -> Result<(), String> {
    let mut over_http: Vec<_> = (scenario.servers.iter_mut())
        .filter_map(|it| match &mut it.transport {
            Transport::Http { url, start, .. } => Some((url, start)),
            _ => None,
        })
        .collect();
    match &mut over_http[..] {
        [(own, start)] => {
            url.clone_into(own);
            // Whoever serves that address is there already.
            **start = None;
        }
        [] => {
            return Err("it has no server over HTTP, so there is no address to replace".to_owned());
        }
        _ => {
            return Err(
                "it has several servers over HTTP: `config:FILE` says where each of them is"
                    .to_owned(),
            );
        }
    }
    scenario.containers.clear();
    Ok(())
}
