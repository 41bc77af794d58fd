//! The catalogue of a server by the name of the file that holds it, as baselines have it, which share it. A trajectory that stands alone
//! holds it itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::shorten;
use crate::{Catalogue, Client, ServerCatalogue};

/// The folder of catalogues, in that of the baselines.
pub const CATALOGUES: &str = "_catalogues";

/// The longest name of a catalogue, in characters.
pub const LONGEST_NAME: usize = 100;

/// A server whose catalogue has a file of its own, with what is of this run alone.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct NamedServer {
    server: String,
    /// What it offered: the file `_catalogues/NAME.json` in the folder of the baselines.
    catalogue: String,
    /// The names of tools that it listed only later in the run; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    later_tools: Vec<String>,
    /// The client that made the calls, and what it answered when the server asked it something; absent where it could be asked nothing and
    /// wanted no revision of MCP without sessions.
    #[serde(default, skip_serializing_if = "Client::is_plain")]
    client: Client,
}

/// Either form, for who reads both.
#[derive(Debug, Clone, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
#[expect(dead_code, reason = "it is published, and neither made nor read")]
pub(super) enum AnyServer {
    /// In a run.
    Whole(ServerCatalogue),
    /// In a baseline.
    Named(NamedServer),
}

/// Names the catalogue of each server; the name is asked for with what runs share of it.
pub(super) fn name<E>(
    catalogue: &Catalogue,
    name: &mut impl FnMut(&ServerCatalogue) -> Result<String, E>,
) -> Result<Catalogue<NamedServer>, E> {
    let servers = catalogue.servers.iter().map(|it| {
        let mut shared = it.clone();
        let (later_tools, client) = (
            std::mem::take(&mut shared.later),
            std::mem::take(&mut shared.client),
        );
        Ok(NamedServer {
            server: it.server.clone(),
            catalogue: name(&shared)?,
            later_tools,
            client,
        })
    });
    Ok(Catalogue {
        servers: servers.collect::<Result<_, E>>()?,
        own: catalogue.own.clone(),
    })
}

impl NamedServer {
    /// The name of its catalogue.
    ///
    /// # Errors
    ///
    /// Why it is none.
    pub(super) fn named(&self) -> Result<&str, String> {
        check_name(&self.catalogue).map(|()| self.catalogue.as_str())
    }

    /// All that it offered, by the file of that name.
    pub(super) fn with(self, shared: ServerCatalogue) -> ServerCatalogue {
        ServerCatalogue {
            server: self.server,
            later: self.later_tools,
            client: self.client,
            ..shared
        }
    }
}

/// The names become files of ours, so one from a file must not lead anywhere else.
fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.');
    let is_name = !name.is_empty()
        && name.chars().count() <= LONGEST_NAME
        && name.chars().all(is_plain)
        && !name.starts_with('.');
    is_name.then_some(()).ok_or_else(|| {
        format!(
            "its catalogue `{}` is not the name of one: letters, digits, `-`, `_` and `.`, as in `_catalogues/NAME.json`",
            shorten(name, 80)
        )
    })
}
