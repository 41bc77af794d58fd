//! The servers of scenarios that name none: those of `mcp_servers.json` beside them, as the tool had it whose scenarios these were.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::model::scenario::Server;

use super::find::ROOT;
use crate::scenario_file::servers::client_config::{
    ClientConfigError, ClientServers, client_servers,
};
use crate::scenario_file::yaml::finding::{Finding, Severity};
use crate::scenario_file::yaml::source::Findings;

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
