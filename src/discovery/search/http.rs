//! A search behind an address.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;

use super::answer::{Answer, Said, Unanswered, read_answer};
use super::catalogue::{LiveTool, read_catalogue};
use super::spec::{HttpAsk, Listing, Search};
use crate::http_client::{Call, Caller, Reply};
use crate::model::Trouble;
use crate::text;

/// How much of an answer that is none is shown.
const SHOWN: usize = 120;

/// Where a search is, and who asks.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// Without a `/` at its end.
    pub base_url: String,
    pub api_key: Option<String>,
    /// The headers of a search that name variables, as they are declared and with these filled in.
    pub headers: HashMap<String, String>,
}

impl Place {
    /// The address as it is shown: without a name and password before the host.
    pub fn shown(&self) -> Cow<'_, str> {
        shown_address(&self.base_url)
    }
}

/// An address without a name and password before the host.
fn shown_address(address: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = address.split_once("://") else {
        return Cow::Borrowed(address);
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        None => Cow::Borrowed(address),
        Some(at) => Cow::Owned(format!("{scheme}://{}", &rest[at + 1..])),
    }
}

/// A search that is asked over HTTP.
#[derive(Debug)]
pub struct Rest<'a> {
    search: &'a Search,
    place: Place,
    /// Longest time for one answer.
    limit: Duration,
    caller: Option<Caller>,
}

impl<'a> Rest<'a> {
    /// Asks `search` at a place, each time for at most `limit`.
    pub fn new(search: &'a Search, place: Place, limit: Duration) -> Self {
        Self {
            search,
            place,
            limit,
            caller: None,
        }
    }

    /// Asks for what fits a query.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    pub async fn ask(
        &mut self,
        ask: &HttpAsk,
        query: &str,
        limit: usize,
    ) -> Result<Answer, Unanswered> {
        let reply = self.reply(ask, query, limit).await?;
        let document = document(&reply)?;
        Ok(Answer {
            found: read_answer(self.search, &Said::in_one(document))?,
            bytes: reply.body.len(),
            took: reply.took,
            trouble: None,
        })
    }

    /// Lists the live catalogue; `None` where the server has no such list.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    pub async fn catalogue(
        &mut self,
        listing: &Listing,
        ask: &HttpAsk,
    ) -> Result<Option<Vec<LiveTool>>, Unanswered> {
        let reply = self.reply(ask, "", 0).await?;
        if matches!(reply.status, 404 | 405 | 501) {
            return Ok(None);
        }
        let document = document(&reply)?;
        let live = read_catalogue(listing, self.search, &Said::in_one(document))?;
        Ok(Some(live))
    }

    async fn reply(
        &mut self,
        ask: &HttpAsk,
        query: &str,
        limit: usize,
    ) -> Result<Reply, Unanswered> {
        let fill = |text: &str| self.filled(text, query, limit);
        let call = Call {
            method: ask.method.clone(),
            url: fill(&ask.url),
            query: ask
                .query
                .iter()
                .map(|(key, it)| (key.clone(), fill(it)))
                .collect(),
            body: ask.body.as_ref().map(|it| filled_value(it, &fill)),
        };
        let headers = ask.headers.iter().filter_map(|(name, value)| {
            let value = self.place.headers.get(value).unwrap_or(value);
            // Without a key, nothing is sent in its place.
            let lacks_key = value.contains("{{api_key}}") && self.place.api_key.is_none();
            (!lacks_key).then(|| (name.clone(), fill(value)))
        });
        let headers: Vec<(String, String)> = headers.collect();
        let caller = match self.caller.take() {
            Some(caller) => caller,
            None => Caller::new(&call.url, &headers, self.limit)?,
        };
        let caller = self.caller.insert(caller);
        Ok(caller.ask(&call).await?)
    }

    fn filled(&self, text: &str, query: &str, limit: usize) -> String {
        // The query comes last: what somebody asks may look like a name of ours.
        text.replace("{{base_url}}", &self.place.base_url)
            .replace(
                "{{api_key}}",
                self.place.api_key.as_deref().unwrap_or_default(),
            )
            .replace("{{limit}}", &limit.to_string())
            .replace("{{query}}", query)
    }
}

/// A value with its texts filled in. A text that is `{{limit}}` and nothing else becomes a number.
pub(super) fn filled_value(value: &Value, fill: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) if text == "{{limit}}" => {
            let number: Option<u64> = fill(text).parse().ok();
            number.map_or(Value::Null, Value::from)
        }
        Value::String(text) => Value::String(fill(text)),
        Value::Array(items) => items.iter().map(|it| filled_value(it, fill)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, it)| (key.clone(), filled_value(it, fill)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

/// The JSON of an answer.
///
/// # Errors
///
/// What was answered instead.
fn document(reply: &Reply) -> Result<Value, Unanswered> {
    let body = String::from_utf8_lossy(&reply.body);
    let shown = text::shorten(&text::line(body.trim()), SHOWN).into_owned();
    // Others of this hundred say that it is not all, or not yet.
    if !matches!(reply.status, 200 | 201 | 203 | 204) {
        let status = reply.status;
        let json: Option<Value> = serde_json::from_str(&body).ok();
        let message = json.as_ref().and_then(|it| it.get("error")?.as_str());
        let message = message.map_or(shown, |it| text::line(it).into_owned());
        let why = if message.is_empty() {
            format!("it answered HTTP {status}")
        } else {
            format!("it answered HTTP {status}: {message}")
        };
        let trouble = match status {
            429 => Some(Trouble::RateLimit),
            // What stands before the server says that it is not there.
            502..=504 => Some(Trouble::Transport),
            _ => None,
        };
        return Err(Unanswered { why, trouble });
    }
    if body.trim().is_empty() {
        return Err("it answered nothing".to_owned().into());
    }
    serde_json::from_str(&body).map_err(|_| {
        let kind = if body.trim_start().starts_with('<') {
            "a page in place of JSON"
        } else {
            "no JSON"
        };
        format!("it answered {kind}: {shown}").into()
    })
}
