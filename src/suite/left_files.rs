//! The files that a run leaves, for evaluators: beside the scenario, in the folders of servers, and in containers.

use std::collections::HashMap;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::evaluate::{Left, LeftFile, Unasked};
use crate::redact::Redactor;
use crate::scenario_file::evaluators::{FilePlace, FileRoot};
use crate::scenario_file::servers::{Server, Transport};
use crate::scenario_file::{self, MissingVariables};
use crate::suite::containers::ContainerSlot;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;

/// The files that evaluators look at, with what they were before the run.
#[derive(Debug, Default)]
pub(crate) struct LeftFiles {
    /// Where each is, or why that is not known.
    places: HashMap<FilePlace, Result<Place, Unasked>>,
    before: HashMap<FilePlace, State>,
}

#[derive(Debug, Clone)]
enum Place {
    Here(PathBuf),
    /// At this path in this container.
    InContainer(PathBuf, String),
}

/// What a file is, without keeping it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Missing,
    Is([u8; 32]),
    Unknown,
}

impl LeftFiles {
    pub(crate) fn add(&mut self, file: &FilePlace, servers: &[Server]) {
        self.places.insert(file.clone(), place(file, servers));
    }

    /// Looks at the files before the run, but for those in containers.
    pub(crate) fn look(&mut self) {
        for (file, place) in &self.places {
            if let Ok(Place::Here(path)) = place {
                self.before.insert(file.clone(), state(read(path)));
            }
        }
    }

    /// Looks at those in containers once these stand, before the run.
    pub(crate) async fn look_inside(&mut self, containers: &ContainerSlot) {
        for (file, place) in &self.places {
            if let Ok(Place::InContainer(path, name)) = place {
                let now = containers.file(name, path, LARGEST).await;
                self.before.insert(file.clone(), state(now));
            }
        }
    }

    /// What has become of a file.
    pub(crate) async fn left(
        &self,
        file: &FilePlace,
        containers: &ContainerSlot,
        redactor: &Redactor,
    ) -> Result<Left<LeftFile>, Unasked> {
        let unknown = || Err(Unasked::broken("its place is unknown"));
        let place = self.places.get(file).cloned();
        let bytes = match place.unwrap_or_else(unknown)? {
            Place::Here(path) => tokio::task::block_in_place(|| read(&path)),
            Place::InContainer(..) if !containers.has_any() => {
                let why = "no container was started that could hold the file";
                return Err(Unasked::Absent(why.to_owned()));
            }
            Place::InContainer(path, name) => containers.file(&name, &path, LARGEST).await,
        };
        let bytes = bytes.map_err(|why| Unasked::broken(format!("`{}` {why}", file.written)))?;
        let before = self.before.get(file);
        let before = before.filter(|it| **it != State::Unknown);
        let unchanged = before.map(|it| *it == known(bytes.as_deref()));
        let text = bytes.map(|it| String::from_utf8_lossy(&it).into_owned());
        let shown = text.as_ref().map(|it| redactor.text(it).into_inner());
        Ok(Left {
            said: LeftFile { text, unchanged },
            shown: LeftFile {
                text: shown,
                unchanged,
            },
        })
    }
}

/// Where a file is.
fn place(file: &FilePlace, servers: &[Server]) -> Result<Place, Unasked> {
    let lookup = |name: &str| std::env::var(name).ok();
    let missing = |it: MissingVariables| Unasked::broken(format!("`{}`: {it}", file.written));
    let (path, _) = scenario_file::expand(&file.written, lookup).map_err(missing)?;
    let name = match &file.begins {
        FileRoot::Folder(folder) => return Ok(Place::Here(folder.join(path))),
        FileRoot::Container(_) if !path.starts_with('/') => {
            let why = format!("`{}` is not an absolute path in a container", file.written);
            return Err(Unasked::broken(why));
        }
        FileRoot::Container(name) => return Ok(Place::InContainer(path.into(), name.clone())),
        FileRoot::Server(name) => name,
    };
    let Some(server) = servers.iter().find(|it| it.name == *name) else {
        return Err(Unasked::broken(format!("there is no server `{name}`")));
    };
    let cwd = match &server.transport {
        Transport::Stdio(it)
        | Transport::Http {
            start: Some(it), ..
        } => &it.cwd,
        Transport::Recorded { .. } => {
            let why = "the answers are recorded ones: no server was there to leave a file";
            return Err(Unasked::Absent(why.to_owned()));
        }
        Transport::Http { start: None, .. } | Transport::Mock => {
            let why = format!(
                "the server `{name}` is not started here, so it has no folder; `container` names the container of a file"
            );
            return Err(Unasked::broken(why));
        }
    };
    let (cwd, _) = scenario_file::expand(cwd, lookup).map_err(missing)?;
    Ok(Place::Here(cwd.unwrap_or_default().join(path)))
}

/// The bytes of a file; `None` where there is none.
fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let kind = match fs::metadata(path) {
        Ok(kind) => kind,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    if kind.is_dir() {
        return Err("is a folder".to_owned());
    }
    if !kind.is_file() {
        // Opening a named pipe could wait for ever.
        return Err("is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|it| it.take(LARGEST + 1).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("is larger than {} MiB", LARGEST / 1024 / 1024));
    }
    Ok(Some(bytes))
}

fn state(read: Result<Option<Vec<u8>>, String>) -> State {
    read.map_or(State::Unknown, |it| known(it.as_deref()))
}

fn known(bytes: Option<&[u8]>) -> State {
    bytes.map_or(State::Missing, |it| State::Is(Sha256::digest(it).into()))
}
