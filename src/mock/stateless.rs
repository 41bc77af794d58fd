//! Requests of the revision 2026-07-28, each of which says what there is to know of its client, and their results.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2026-07-28/basic>

use serde_json::{Value, json};

use crate::mock::core::Core;
use crate::mock::playing::Request;
use crate::mock::state::{Client, LOG_LEVELS};
use crate::mock::subscription::LISTEN;
use crate::mock::wire::{self, INVALID_PARAMS};
use crate::protocol::{
    Era, LEGACY, META_CAPABILITIES, META_LOG_LEVEL, META_SERVER, META_VERSION, STATELESS,
    UNSUPPORTED_VERSION, revision,
};

/// Methods that earlier revisions have and this one has not.
pub(super) const REMOVED: [&str; 5] = [
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// Methods that only this revision has.
const ADDED: [&str; 2] = ["server/discover", LISTEN];

/// Methods whose results say for how long they hold.
const CACHED: [&str; 6] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

impl Core {
    /// Whether it speaks the revisions of an era.
    pub(super) fn speaks(&self, era: Era) -> bool {
        self.declared.supports.contains(&era) && self.decided.is_none_or(|it| it == era)
    }

    /// Makes the era of the first request the only one, where that is declared.
    pub(super) fn decide(&mut self, request: &Request) {
        if self.declared.first_message_decides && self.decided.is_none() {
            self.decided = Some(if request.stateless {
                Era::Stateless
            } else {
                Era::Legacy
            });
        }
    }

    /// The revisions that it speaks, the latest first.
    pub(super) fn versions(&self) -> Vec<&'static str> {
        let all = [STATELESS].into_iter().chain(LEGACY.into_iter().rev());
        let era = |it: &str| match it {
            STATELESS => Era::Stateless,
            _ => Era::Legacy,
        };
        all.filter(|it| self.speaks(era(it))).collect()
    }

    /// The error for a revision that it does not speak.
    fn unsupported(&self, requested: &Value) -> Value {
        let mut error = wire::error(UNSUPPORTED_VERSION, "Unsupported protocol version");
        error["data"] = json!({ "supported": self.versions(), "requested": requested });
        error
    }

    /// Whether a request is answered by this revision. `is_marked` where its headers say that it is one of it.
    pub(super) fn is_stateless(&self, method: &str, params: &Value, is_marked: bool) -> bool {
        let describes_itself = params
            .get("_meta")
            .is_some_and(|it| it.get(META_VERSION).or(it.get(META_CAPABILITIES)).is_some());
        self.speaks(Era::Stateless)
            && (describes_itself
                || ADDED.contains(&method)
                || is_marked && method != "initialize"
                || !self.speaks(Era::Legacy))
    }

    /// The client of a stateless request, by what the request says.
    ///
    /// # Errors
    ///
    /// The error to reply with.
    pub(super) fn client_of(&self, method: &str, params: &Value) -> Result<Client, Value> {
        let invalid = |what: String| Err(wire::error(INVALID_PARAMS, &what));
        let version = match revision(params) {
            // Who opens a session knows nothing newer, and may show people which revisions are spoken here.
            None if method == "initialize" => params.get("protocolVersion"),
            version => version.filter(|it| it.is_string()),
        };
        let Some(version) = version else {
            return invalid(format!("`_meta` needs the text `{META_VERSION}`"));
        };
        if version != STATELESS {
            return Err(self.unsupported(version));
        }
        let member = |key| params.pointer("/_meta").and_then(|it| it.get(key));
        let Some(capabilities @ Value::Object(_)) = member(META_CAPABILITIES) else {
            return invalid(format!("`_meta` needs the object `{META_CAPABILITIES}`"));
        };
        let log_level = match member(META_LOG_LEVEL) {
            None => LOG_LEVELS.len(),
            Some(level) => match LOG_LEVELS.iter().position(|it| level == it) {
                Some(severity) => severity,
                None => {
                    return invalid(format!(
                        "`{META_LOG_LEVEL}` is none of {}",
                        LOG_LEVELS.join(", ")
                    ));
                }
            },
        };
        Ok(Client::of_one_request(capabilities.clone(), log_level))
    }

    /// The answer to `server/discover`.
    pub(super) fn discover(&self) -> Value {
        let mut result = json!({
            "supportedVersions": self.versions(),
            "capabilities": self.capabilities,
        });
        if let Some(instructions) = &self.declared.instructions {
            result["instructions"] = json!(instructions);
        }
        result
    }

    /// A result as this revision wants it: it says that it is complete, who gives it, and for how long it holds.
    pub(super) fn marked_complete(&self, method: &str, result: Value) -> Value {
        let Value::Object(mut members) = result else {
            return result;
        };
        let mut add = |key: &str, value| members.entry(key).or_insert(value).clone();
        let is_complete = add("resultType", json!("complete")) == "complete";
        if is_complete && CACHED.contains(&method) {
            let cache = &self.declared.cache;
            add(
                "ttlMs",
                json!(u64::try_from(cache.ttl.as_millis()).unwrap_or(u64::MAX)),
            );
            add("cacheScope", json!(cache.scope));
        }
        add("_meta", json!({}));
        if let Some(Value::Object(meta)) = members.get_mut("_meta") {
            meta.entry(META_SERVER).or_insert_with(|| self.info());
        }
        Value::Object(members)
    }
}
