//! The raw messages of a server: every JSON-RPC answer as text, before it is interpreted.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::LazyLock;

use parking_lot::Mutex;
use regex::Regex;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::mend::mended;
use crate::digits;
use crate::json::{self, VALUES};
use crate::model::ClientAnswer;
use crate::text::beginning;

/// What servers say when their list of tools changes.
const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// How many lines that are no MCP message are kept for error messages, and how much of each.
const NOISE_LINES: usize = 5;
const NOISE_LENGTH: usize = 300;

/// The answers of one session, by request id, as they arrived. Kept are those that were asked for, however many, until they are claimed.
#[derive(Debug, Default)]
pub(super) struct Wire {
    seen: Mutex<Seen>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Seen {
    /// What is awaited, by the ids as they compare, and what of it has come.
    awaited: HashMap<String, Option<Reply>>,
    /// Which of that was given to a transport that tells.
    sent: HashSet<String>,
    noise: VecDeque<String>,
    /// How much there was of that, kept or not.
    noises: usize,
    /// The server has said that its list of tools is another one now.
    has_other_tools: bool,
    /// What it has asked its client since somebody took that.
    asked: Vec<ClientAnswer>,
    /// What strict clients would not take of what it sent.
    remarks: BTreeSet<&'static str>,
    /// `initialize` is answered.
    has_begun: bool,
    /// The highest id of a request.
    last: i64,
    /// What came in the place of an answer, in words.
    instead: Option<String>,
}

/// What an answer carries, long integers as [`digits`] marks them.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    Result(Value),
    /// A JSON-RPC error object.
    Error(Value),
    /// A message with our id that is neither: it says what is wrong with it.
    Invalid(String),
}

/// The members by which the kind of a JSON-RPC message is known.
#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: Option<Value>,
    id: Option<Value>,
    method: Option<Value>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// What a text from the wire is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    /// A request, or, without an id, a notification.
    Request { method: String, id: Option<Value> },
    /// An answer to the request with this id.
    Reply { id: Value, reply: Reply },
    /// No message at all, or an answer to nothing.
    Noise,
}

/// Reads one message as it arrived.
pub(super) fn read(text: &str) -> Message {
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
        return Message::Noise;
    };
    let id = envelope.id.filter(|it| !it.is_null());
    let is_too_much = json::extent(text.as_bytes()).values > VALUES;
    if let Some(method) = envelope.method {
        if is_too_much {
            return Message::Noise;
        }
        let method = match method {
            Value::String(method) => method,
            other => other.to_string(),
        };
        return Message::Request { method, id };
    }
    let Some(id) = id else {
        return Message::Noise;
    };
    let reply = match (&envelope.jsonrpc, envelope.result, envelope.error) {
        _ if is_too_much => Reply::Invalid(
            "the answer holds more than 1,000,000 values, which is the limit: ask for less at once"
                .to_owned(),
        ),
        (Some(Value::String(version)), Some(result), None) if version == "2.0" => {
            parsed(result).map_or_else(Reply::Invalid, Reply::Result)
        }
        (Some(Value::String(version)), None, Some(error)) if version == "2.0" => {
            parsed(error).map_or_else(Reply::Invalid, Reply::Error)
        }
        (Some(Value::String(version)), result, _) if version == "2.0" => Reply::Invalid(
            match result {
                Some(_) => "the answer holds both a result and an error",
                None => "the answer holds neither a result nor an error",
            }
            .to_owned(),
        ),
        _ => Reply::Invalid("the answer is not JSON-RPC 2.0".to_owned()),
    };
    Message::Reply { id, reply }
}

/// What is wrong with a message that holds bytes which are no text.
pub(super) const NOT_UTF8: &str = "the answer is not valid UTF-8";

/// Reads one message as it arrived. Where it is no UTF-8, no more is known of it than which request it answers, if any: what it says is
/// not known.
pub(super) fn read_bytes(bytes: &[u8]) -> Message {
    match std::str::from_utf8(bytes) {
        Ok(text) => read(text),
        Err(_) => match read(&String::from_utf8_lossy(bytes)) {
            Message::Reply { id, .. } => Message::Reply {
                id,
                reply: Reply::Invalid(NOT_UTF8.to_owned()),
            },
            Message::Request { .. } | Message::Noise => Message::Noise,
        },
    }
}

/// How many bytes of an answer are read a second time, by those who do not keep it.
const LONG_ANSWER: usize = 1 << 16;

/// Where a text that is no JSON says which request it answers.
static ID: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#""id"\s*:\s*(-?\d+|"[^"\\]*")"#).ok());

impl Wire {
    /// Looks at one message as it arrived, and returns it as it is meant, where it is one that can be used.
    pub(super) fn observe<'m>(&self, bytes: &'m [u8]) -> Option<Cow<'m, [u8]>> {
        self.observe_of(bytes, &|| only(self.open()))
    }

    /// The same for a message that answers the request whose id `only` returns, where it names none.
    pub(super) fn observe_of<'m>(
        &self,
        bytes: &'m [u8],
        only: &dyn Fn() -> Option<Value>,
    ) -> Option<Cow<'m, [u8]>> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return self.look(Cow::Borrowed(bytes));
        };
        let meant = mended(text, only);
        self.seen.lock().remarks.extend(meant.remarks);
        self.look(match meant.text {
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        })
    }

    /// What it returns of a long answer is only that it came: the answer itself is kept here.
    fn look<'m>(&self, bytes: Cow<'m, [u8]>) -> Option<Cow<'m, [u8]>> {
        let lossy = || String::from_utf8_lossy(&bytes);
        match read_bytes(&bytes) {
            Message::Request { method, id } => {
                let mut seen = self.seen.lock();
                seen.has_other_tools |= method == TOOLS_CHANGED;
                if id.is_some() {
                    let message: Value = serde_json::from_slice(&bytes).unwrap_or_default();
                    seen.asked
                        .extend(ClientAnswer::awaited(&method, message["params"].clone()));
                }
                Some(bytes)
            }
            Message::Noise => {
                let text = lossy();
                self.noise(&text);
                if let Some((id, why)) = lost(&text, &self.open()) {
                    self.spoil(&id, &why);
                }
                None
            }
            Message::Reply { id, reply } => {
                let usable = !matches!(reply, Reply::Invalid(_));
                if std::str::from_utf8(&bytes).is_err() {
                    self.noise(&lossy());
                }
                let mut seen = self.seen.lock();
                // rmcp has to see which arguments of a tool are sent as headers.
                let is_read = || memchr::memmem::find(&bytes, b"\"x-mcp-header\"").is_some();
                let is_long = seen.has_begun && bytes.len() > LONG_ANSWER && !is_read();
                if let Some(place) = seen.awaited.get_mut(&key(&id)) {
                    // Of several answers to one request the first counts.
                    place.get_or_insert(reply);
                    self.arrived.notify_waiters();
                    if usable && is_long {
                        let came = json!({ "jsonrpc": "2.0", "id": id, "result": {} });
                        return Some(Cow::Owned(came.to_string().into_bytes()));
                    }
                } else if id.as_i64().is_none_or(|it| it > seen.last) {
                    seen.instead = Some(format!("it answered request {id}, which was not made"));
                }
                usable.then_some(bytes)
            }
        }
    }

    /// The ids of the requests whose answers have not come.
    fn open(&self) -> Vec<Value> {
        let seen = self.seen.lock();
        let open = seen.awaited.iter().filter(|it| it.1.is_none());
        // Ours are numbers.
        let id = |it: &String| it.parse::<i64>().map_or(it.as_str().into(), Value::from);
        open.map(|it| id(it.0)).collect()
    }

    /// What strict clients would not take of what the server sent.
    pub(super) fn remarks(&self) -> Vec<&'static str> {
        self.seen.lock().remarks.iter().copied().collect()
    }

    /// The server wants to know something from its client before it answers.
    pub(super) fn ask_client(&self, method: &str, params: Value) {
        let asked = ClientAnswer::awaited(method, params);
        self.seen.lock().asked.extend(asked);
    }

    /// Strict clients would not take this of what the server sent.
    pub(super) fn remark(&self, what: &'static str) {
        self.seen.lock().remarks.insert(what);
    }

    /// What the server has asked its client since this was called last.
    pub(super) fn take_asked(&self) -> Vec<ClientAnswer> {
        std::mem::take(&mut self.seen.lock().asked)
    }

    /// Whether the server has said that its list of tools is another one now.
    pub(super) fn has_other_tools(&self) -> bool {
        self.seen.lock().has_other_tools
    }

    /// The answer to this request is lost, for this reason.
    pub(super) fn spoil(&self, id: &Value, why: &str) {
        if let Some(place) = self.seen.lock().awaited.get_mut(&key(id)) {
            place.get_or_insert(Reply::Invalid(why.to_owned()));
            self.arrived.notify_waiters();
        }
    }

    /// Something came that is too long to be read, and can only be the answer to the one request that is open.
    pub(super) fn too_long(&self, why: &str) {
        self.noise(why);
        if let Some(id) = only(self.open()) {
            self.spoil(&id, &format!("the answer is {why}"));
        }
    }

    /// A request with this id is about to be sent: its answer is kept.
    pub(super) fn expect(&self, id: &Value) {
        let mut seen = self.seen.lock();
        seen.last = seen.last.max(id.as_i64().unwrap_or_default());
        seen.awaited.entry(key(id)).or_default();
    }

    /// Something came in the place of an answer.
    pub(super) fn came_instead(&self, what: String) {
        self.seen.lock().instead = Some(what);
    }

    /// What came last in the place of an answer, in words.
    pub(super) fn instead(&self) -> Option<String> {
        self.seen.lock().instead.clone()
    }

    /// The request with this id is given to the transport now: from here on, the server may have executed it.
    pub(super) fn sent(&self, id: &Value) {
        self.seen.lock().sent.insert(key(id));
    }

    /// Whether an answer to something that was sent is expected and has not come.
    pub(super) fn is_waiting(&self) -> bool {
        let seen = self.seen.lock();
        (seen.awaited.iter()).any(|(key, it)| it.is_none() && seen.sent.contains(key))
    }

    /// Waits for the answer to a request. Never returns when none comes: bound it. When it is dropped, the answer is not kept.
    pub(super) async fn answer(&self, id: &Value) -> Reply {
        let key = key(id);
        self.expect(id);
        let _claim = Claim {
            wire: self,
            key: &key,
        };
        let taken = |seen: &mut Seen| seen.awaited.get_mut(&key).and_then(Option::take);
        self.found(taken).await
    }

    /// Waits until an answer has come that cannot be read, and says why. Never returns when none comes.
    pub(super) async fn spoiled(&self) -> String {
        let why = |it: &Option<Reply>| match it {
            Some(Reply::Invalid(why)) => Some(why.clone()),
            _ => None,
        };
        self.found(|seen| seen.awaited.values().find_map(why)).await
    }

    async fn found<T>(&self, mut find: impl FnMut(&mut Seen) -> Option<T>) -> T {
        loop {
            let arrived = self.arrived.notified();
            tokio::pin!(arrived);
            arrived.as_mut().enable();
            let found = find(&mut self.seen.lock());
            if let Some(found) = found {
                return found;
            }
            arrived.await;
        }
    }

    /// Takes the last answer that was expected and has come: after `initialize` or `server/discover`, whose id only rmcp knows, what the server
    /// says of itself.
    pub(super) fn take_any(&self) -> Option<Reply> {
        let mut seen = self.seen.lock();
        seen.sent.clear();
        seen.has_begun = true;
        let last = |it: &(String, Option<Reply>)| it.0.parse::<i64>().ok();
        let came = seen.awaited.drain().filter(|it| it.1.is_some());
        came.max_by_key(last)?.1
    }

    /// Keeps the beginning of something that is no message.
    pub(super) fn noise(&self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let short = beginning(text, NOISE_LENGTH).into_owned();
        let mut seen = self.seen.lock();
        seen.noises += 1;
        if seen.noise.len() == NOISE_LINES {
            seen.noise.pop_front();
        }
        seen.noise.push_back(short);
    }

    /// How many things the server sent that are no messages, and the last of them.
    pub(super) fn noise_so_far(&self) -> Option<(usize, String)> {
        let seen = self.seen.lock();
        Some((seen.noises, seen.noise.back()?.clone()))
    }

    /// The last things the server sent that are no messages.
    pub(super) fn noise_lines(&self) -> Vec<String> {
        self.seen.lock().noise.iter().cloned().collect()
    }
}

/// An answer is awaited as long as this lives.
struct Claim<'a> {
    wire: &'a Wire,
    key: &'a str,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut seen = self.wire.seen.lock();
        seen.awaited.remove(self.key);
        seen.sent.remove(self.key);
    }
}

/// The only one of several.
pub(super) fn only(open: Vec<Value>) -> Option<Value> {
    let [only] = <[Value; 1]>::try_from(open).ok()?;
    Some(only)
}

/// Which of the open requests is answered by something that is no message, and why that answer is lost.
pub(super) fn lost(text: &str, open: &[Value]) -> Option<(Value, String)> {
    let is_open = |id: &str| open.iter().find(|it| key(it) == id);
    let (id, what) = match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => {
            let is_few = json::extent(text.as_bytes()).values <= VALUES;
            let value: Value = serde_json::from_str(text).ok().filter(|_| is_few)?;
            let parts = match &value {
                Value::Array(parts) => parts.as_slice(),
                one => std::slice::from_ref(one),
            };
            let mut answers = parts.iter().filter(|it| it.get("method").is_none());
            let id = answers.find_map(|it| is_open(&key(it.get("id")?)))?;
            (id, "no JSON-RPC message".to_owned())
        }
        Err(error) => {
            let ids = ID.as_ref().map(|it| it.captures_iter(text));
            let mut ids = ids.into_iter().flatten();
            let named = ids.find_map(|it| is_open(it[1].trim_matches('"')));
            // Whatever was to become a message, and names neither a request nor a method, can only be the answer that is awaited.
            let is_one = text.contains("\"jsonrpc\"") && !text.contains("\"method\"");
            let only = || open.first().filter(|_| is_one && open.len() == 1);
            let place = json::place(&error);
            (named.or_else(only)?, format!("not valid JSON ({place})"))
        }
    };
    let quoted = beginning(text.trim(), NOISE_LENGTH);
    Some((id.clone(), format!("the answer is {what}: `{quoted}`")))
}

/// Ids compare as they are written, except that rmcp also accepts its number back as a text, and that 2.0 is 2.
pub(super) fn key(id: &Value) -> String {
    match id {
        Value::String(text) => text.clone(),
        Value::Number(it) => {
            let text = it.to_string();
            text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
        }
        other => other.to_string(),
    }
}

fn parsed(raw: &RawValue) -> Result<Value, String> {
    digits::parse(raw.get()).map_err(|error| {
        let place = json::place(&error);
        format!("the answer is nested too deeply, or holds a number that is too large ({place})")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use futures_util::FutureExt;

    use super::{Reply, Wire};

    fn observe(wire: &Wire, id: &str, result: usize) {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        assert!(wire.observe(message.as_bytes()).is_some());
    }

    #[test]
    fn answers_are_kept_for_those_who_wait_and_for_nobody_else() {
        let wire = Wire::default();
        for id in 0..1000 {
            wire.expect(&json!(id));
            observe(&wire, &format!("{}", 5000 + id), 0);
            // As text, as a decimal, and twice.
            observe(&wire, &format!("\"{id}\""), id);
            observe(&wire, &format!("{id}.0"), 0);
            observe(&wire, &id.to_string(), 0);
        }
        for id in (0..1000).rev() {
            let answer = wire.answer(&json!(id)).now_or_never();
            assert_eq!(answer, Some(Reply::Result(json!(id))));
        }
        assert_eq!(wire.answer(&json!(1)).now_or_never(), None);
        observe(&wire, "1", 1);
        assert!(wire.seen.lock().awaited.is_empty());
    }

    #[test]
    fn messages_are_distinguished_from_noise() {
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"x":1}}"#,
                true,
                Some(Reply::Result(json!({ "x": 1 }))),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#,
                true,
                Some(Reply::Error(json!({ "code": 1 }))),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1}"#,
                false,
                Some(Reply::Invalid(
                    "the answer holds neither a result nor an error".into(),
                )),
            ),
            (
                r#"{"jsonrpc":"1.0","id":1,"result":1}"#,
                false,
                Some(Reply::Invalid("the answer is not JSON-RPC 2.0".into())),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/x"}"#,
                true,
                None,
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":3}}"#,
                true,
                Some(Reply::Error(json!({ "code": 3 }))),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#,
                true,
                Some(Reply::Result(json!({}))),
            ),
            ("Listening on port 3000", false, None),
            ("[]", false, None),
        ];
        for (text, is_message, reply) in cases {
            let wire = Wire::default();
            wire.expect(&json!(1));
            assert_eq!(
                wire.observe(text.as_bytes()).is_some(),
                is_message,
                "{text}"
            );
            if let Some(reply) = reply {
                assert_eq!(wire.take_any(), Some(reply), "{text}");
            }
        }
    }
}
