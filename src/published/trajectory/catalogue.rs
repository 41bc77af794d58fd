//! What servers offered, as trajectories say it.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Object;
use crate::model::catalogue::{self, Client, Tool};

/// What one server offered.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct ServerCatalogue<'a> {
    server: Cow<'a, str>,
    /// `serverInfo` as served.
    info: Option<Cow<'a, Value>>,
    protocol_version: Option<String>,
    /// What the server says that it is able to, as served; absent where that was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    capabilities: Option<Cow<'a, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    /// The tools as served by `tools/list`.
    tools: Vec<Cow<'a, Object>>,
    /// The names of tools that it listed only later in the run; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    later_tools: Vec<String>,
    /// The client that made the calls, and what it answered when the server asked it something; absent where it could be asked nothing.
    #[serde(default, skip_serializing_if = "can_nothing")]
    client: Cow<'a, Client>,
}

#[expect(clippy::ptr_arg, reason = "serde asks for it so")]
fn can_nothing(client: &Cow<'_, Client>) -> bool {
    client.can_nothing()
}

/// A catalogue of these servers, and of an agent with these tools of its own.
pub(super) fn catalogue_of(
    servers: Vec<ServerCatalogue<'_>>,
    own: Vec<String>,
) -> catalogue::Catalogue {
    catalogue::Catalogue {
        servers: servers.into_iter().map(Into::into).collect(),
        own,
    }
}

impl<'a> From<&'a catalogue::ServerCatalogue> for ServerCatalogue<'a> {
    fn from(it: &'a catalogue::ServerCatalogue) -> Self {
        Self {
            server: (&it.server).into(),
            info: it.info.as_ref().map(Cow::Borrowed),
            protocol_version: it.protocol_version.clone(),
            capabilities: it.capabilities.as_ref().map(Cow::Borrowed),
            instructions: it.instructions.clone(),
            tools: it
                .tools
                .iter()
                .map(|it| Cow::Borrowed(&it.served))
                .collect(),
            later_tools: it.later.clone(),
            client: Cow::Borrowed(&it.client),
        }
    }
}

impl From<ServerCatalogue<'_>> for catalogue::ServerCatalogue {
    fn from(it: ServerCatalogue<'_>) -> Self {
        Self {
            server: it.server.into_owned(),
            info: it.info.map(Cow::into_owned),
            protocol_version: it.protocol_version,
            capabilities: it.capabilities.map(Cow::into_owned),
            instructions: it.instructions,
            tools: (it.tools.into_iter())
                .map(|it| Tool {
                    served: it.into_owned(),
                })
                .collect(),
            later: it.later_tools,
            client: it.client.into_owned(),
        }
    }
}
