//! News for clients beyond one exchange.

use serde_json::{Value, json};

use crate::mock::client::Client;
use crate::mock::wire;

/// Something that clients hear of whatever they asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Announcement {
    /// A list changed: `tools`, `resources` or `prompts`.
    ListChanged(&'static str),
    /// A resource changed; its subscribers hear of it.
    ResourceUpdated(String),
}

impl Announcement {
    /// The notification, as text.
    pub(super) fn message(&self) -> String {
        match self {
            Self::ListChanged(list) => {
                wire::notification(&format!("notifications/{list}/list_changed"), &Value::Null)
            }
            Self::ResourceUpdated(uri) => {
                wire::notification("notifications/resources/updated", &json!({ "uri": uri }))
            }
        }
    }

    /// Whether a client hears of it.
    pub(super) fn concerns(&self, client: &Client) -> bool {
        match self {
            Self::ListChanged(_) => true,
            Self::ResourceUpdated(uri) => client.is_subscribed(uri),
        }
    }
}
