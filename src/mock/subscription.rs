//! `subscriptions/listen`: a request that is answered by news until its client or the server ends it.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>

use serde_json::{Value, json};

use crate::mock::core::Core;
use crate::mock::playing::Request;
use crate::mock::state::{Announcement, MAX_SUBSCRIPTIONS};
use crate::mock::wire::{self, INVALID_PARAMS, Id};
use crate::model::Object;
use crate::protocol::META_SUBSCRIPTION;

/// The method that begins a subscription.
pub(super) const LISTEN: &str = "subscriptions/listen";

/// The lists whose changes can be subscribed to, by the member that asks for it.
const LISTS: [(&str, &str); 3] = [
    ("toolsListChanged", "tools"),
    ("promptsListChanged", "prompts"),
    ("resourcesListChanged", "resources"),
];
const RESOURCES: &str = "resourceSubscriptions";

/// What a client has subscribed to.
#[derive(Debug, PartialEq)]
pub(super) struct Subscription {
    id: Id,
    /// What of its wishes is granted, as it wrote them.
    granted: Object,
}

impl Core {
    /// What is granted of a request to subscribe.
    ///
    /// # Errors
    ///
    /// The error to reply with.
    pub(super) fn subscription(&self, request: &Request) -> Result<Subscription, Value> {
        let wanted = request.params.get("notifications");
        let Some(Value::Object(wanted)) = wanted else {
            let message = "the request needs the object `notifications`";
            return Err(wire::error(INVALID_PARAMS, message));
        };
        let mut granted = Object::new();
        for (member, list) in LISTS {
            let changes = &self.capabilities[list]["listChanged"];
            if wanted.get(member) == Some(&json!(true)) && changes == true {
                granted.insert(member.to_owned(), json!(true));
            }
        }
        if let Some(Value::Array(uris)) = wanted.get(RESOURCES) {
            let known = uris
                .iter()
                .filter(|it| it.as_str().is_some_and(|it| self.has(it)));
            let known: Vec<&Value> = known.take(MAX_SUBSCRIPTIONS).collect();
            granted.insert(RESOURCES.to_owned(), json!(known));
        }
        Ok(Subscription {
            id: request.id.clone(),
            granted,
        })
    }
}

impl Subscription {
    /// The first message.
    pub(super) fn acknowledged(&self) -> String {
        let params = json!({ "_meta": self.meta(), "notifications": self.granted });
        wire::notification("notifications/subscriptions/acknowledged", &params)
    }

    /// News as this client gets them, if they are for it.
    pub(super) fn message(&self, news: &Announcement) -> Option<String> {
        let is_granted = match news {
            Announcement::ListChanged(list) => {
                let mut granted = LISTS.iter().filter(|it| self.granted.contains_key(it.0));
                granted.any(|it| it.1 == *list)
            }
            Announcement::ResourceUpdated(uri) => {
                let uris = self.granted.get(RESOURCES).and_then(Value::as_array);
                uris.is_some_and(|it| it.iter().any(|it| it == uri))
            }
        };
        is_granted.then(|| news.message(Some(&self.meta())))
    }

    /// The messages by which the server ends it. The specification demands the first in one place, and the last in another.
    pub(super) fn ended(&self) -> Vec<String> {
        let result = json!({ "resultType": "complete", "_meta": self.meta() });
        vec![
            wire::notification(
                "notifications/cancelled",
                &json!({ "requestId": self.id() }),
            ),
            wire::result_reply(&self.id, &result),
        ]
    }

    fn meta(&self) -> Value {
        json!({ META_SUBSCRIPTION: self.id() })
    }

    fn id(&self) -> Value {
        serde_json::from_str(self.id.as_json()).unwrap_or_default()
    }
}
