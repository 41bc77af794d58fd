//! Configuration files of MCP clients and of the system under test: those that a scenario names, and `mcp_servers.json` beside it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::find::ROOT;
use crate::input;
use crate::scenario_file::decode::{At, Word};
use crate::scenario_file::servers::Server;
use crate::scenario_file::servers::client_config::{
    ClientConfigError, ClientServers, client_config, client_servers,
};
use crate::scenario_file::yaml::{Finding, Findings, Severity, quoted};

/// The largest file in which something is filled in, in bytes.
const MAX_FILLED: u64 = 8 * 1024 * 1024;

/// The configuration file of a scenario.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct ConfigFile {
    pub(in crate::scenario_file) path: PathBuf,
    /// What it says as the configuration of an MCP client.
    pub(in crate::scenario_file) servers: Vec<Server>,
    /// Its text among the files read; `None` where it is no text, in which nothing can be filled in.
    pub(in crate::scenario_file) source: Option<usize>,
}

impl ConfigFile {
    /// Looks for the named file and reads it; `None`, after saying so, where it is not there. One that is passed on to the system under
    /// test gives no servers. `last` is the folder in which it is looked for last.
    pub(in crate::scenario_file) fn read(
        named: &At<Word>,
        passed_on: bool,
        last: &Path,
        findings: &mut Findings,
    ) -> Option<Self> {
        let folder = findings.folder(named.at);
        let folders = folder.ancestors().chain([last]);
        let mut places: Vec<PathBuf> = folders.map(|it| it.join(&named.0)).collect();
        if let Some(nearest) = places.first()
            && !findings.may_name(named.at, nearest)
        {
            return None;
        }
        if let Some(within) = &findings.within {
            places.retain(|it| input::is_within(it, within));
        }
        let path = places.iter().find(|it| {
            // One that comes to lie nearer is read in its place.
            findings.depends_on(it);
            it.is_file()
        });
        let Some(path) = path.cloned() else {
            let (message, hint) = if places.iter().any(|it| it.is_dir()) {
                (
                    format!("{} is a folder, and no file", quoted(&named.0)),
                    "name a file in it",
                )
            } else {
                (
                    format!("the file {} is found nowhere", quoted(&named.0)),
                    "looked beside this file, in the folders above it and in the working directory",
                )
            };
            // Who brings it over the network sees errors alone.
            if passed_on || findings.within.is_some() {
                findings.error(named.at, message, Some(hint));
            } else {
                findings.warning(named.at, message, Some(hint));
            }
            return None;
        };
        let servers = if passed_on {
            Vec::new()
        } else {
            servers_of_client(named, &path, findings)
        };
        let text = findings.read_bytes(&path, MAX_FILLED).ok();
        let text = text.and_then(|it| String::from_utf8(it).ok());
        Some(Self {
            source: text.map(|it| findings.add_text(&path, &it)),
            path,
            servers,
        })
    }
}

/// The servers in the configuration of an MCP client; none of a file that is about something else.
fn servers_of_client(named: &At<Word>, path: &Path, findings: &mut Findings) -> Vec<Server> {
    match client_config(path) {
        Ok(servers) => return servers,
        // A system under test may be configured by any kind of file.
        Err(ClientConfigError::NoClientServers { .. }) => {}
        Err(ClientConfigError::Unreadable(list)) => {
            for finding in list {
                let message = format!("no servers are taken from this file: {}", finding.message);
                findings.warning(named.at, message, None::<&str>);
            }
        }
        Err(ClientConfigError::Invalid(list)) => {
            for finding in list {
                findings.push(finding);
            }
        }
    }
    Vec::new()
}

/// The file that gives servers to scenarios which name none.
const NAME: &str = "mcp_servers.json";

/// What such a file gives.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Usual {
    pub(in crate::scenario_file) path: PathBuf,
    pub(in crate::scenario_file) servers: Vec<Server>,
}

/// The files read so far, by path; `None` for those that give no servers.
#[derive(Debug, Default)]
pub(in crate::scenario_file) struct UsualServers(HashMap<PathBuf, Option<Usual>>);

impl UsualServers {
    /// The servers beside the folder of scenarios that ends here, or in it. One that cannot be read gives none, after that was said: the
    /// command line may have named other servers.
    pub(in crate::scenario_file) fn of(
        &mut self,
        root: &Path,
        findings: &mut Findings,
    ) -> Option<Usual> {
        let path = places(root).find(|it| {
            findings.depends_on(it);
            it.is_file()
        })?;
        let known = self.0.get(&path).cloned();
        known.unwrap_or_else(|| {
            let usual = read(&path, findings);
            self.0.insert(path, usual.clone());
            usual
        })
    }
}

/// Where the file may lie.
fn places(root: &Path) -> impl Iterator<Item = PathBuf> {
    let is_home = root.file_name() == Some(OsStr::new(ROOT));
    let beside = root.parent().filter(|_| is_home);
    let folders = [beside, Some(root)].into_iter().flatten();
    folders
        .map(|it| it.join(NAME))
        .collect::<Vec<_>>()
        .into_iter()
}

fn read(path: &Path, findings: &mut Findings) -> Option<Usual> {
    const NONE: &str = "no servers are taken from this file";
    let ClientServers { servers, unread } = match client_servers(path) {
        Ok(read) => read,
        Err(ClientConfigError::Unreadable(wrong) | ClientConfigError::Invalid(wrong)) => {
            for mut finding in wrong {
                finding.severity = Severity::Warning;
                finding.message = format!("{NONE}: {}", finding.message);
                findings.push(finding);
            }
            return None;
        }
        Err(error @ ClientConfigError::NoClientServers { .. }) => {
            let message = format!("{NONE}: {error}");
            findings.push(Finding::about(path.display(), Severity::Warning, message));
            return None;
        }
    };
    for server in unread {
        for mut finding in server.findings {
            finding.severity = Severity::Warning;
            findings.push(finding);
        }
    }
    Some(Usual {
        path: path.to_owned(),
        servers,
    })
    .filter(|it| !it.servers.is_empty())
}
