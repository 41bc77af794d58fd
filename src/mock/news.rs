//! Notifications that belong to no request.

use serde_json::{Value, json};

use crate::mock::client::Client;
use crate::mock::wire;

/// A notification that belongs to no request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Announcement {
    /// A list changed: `tools`, `resources` or `prompts`.
    ListChanged(&'static str),
    /// A resource changed, for those that subscribed to it.
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

    /// Whether this client gets it.
    pub(super) fn concerns(&self, client: &Client) -> bool {
        match self {
            Self::ListChanged(_) => true,
            Self::ResourceUpdated(uri) => client.is_subscribed(uri),
        }
    }
}
