//! Removing secrets from a JSON value: by its texts, and by the keys above them.

use serde_json::Value;

use super::hit::{Hit, Name};
use super::keys::{self, SecretKey};
use super::{Origin, Redactor, structure};
use model::texts;
use model::{Object, Redacted};

impl Redactor {
    /// A value from outside, without secrets at any depth, keys included.
    pub fn value(&self, mut value: Value) -> Redacted<Value> {
        self.any(&mut value, Origin::Outside, None);
        texts::each_mut(&mut value, &mut |it| self.shown_in(it));
        Redacted::vouch_for(value)
    }

    /// An object from outside, without secrets.
    pub fn object(&self, mut members: Object) -> Redacted<Object> {
        self.members(&mut members, Origin::Outside);
        members
            .values_mut()
            .for_each(|it| texts::each_mut(it, &mut |it| self.shown_in(it)));
        Redacted::vouch_for(members)
    }

    /// Takes secrets out of a value; `under` is the secret key above it, with the name of the member of it that this is.
    pub(super) fn any(&self, value: &mut Value, origin: Origin, under: Option<(SecretKey, &str)>) {
        match value {
            Value::String(text) => {
                let shown = under.and_then(|(key, member)| shown_by_key(key, member, text));
                if let Some(clean) = self.clean(text, shown, origin) {
                    *text = clean;
                }
            }
            Value::Array(items) => {
                let under = under.map(|(key, _)| (key, ""));
                let mut flag = None;
                for it in items {
                    let is_value = !it.as_str().is_some_and(|it| it.starts_with('-'));
                    let own = flag.take().filter(|_| is_value).map(|it| (it, ""));
                    flag = it.as_str().and_then(keys::secret_flag);
                    self.any(it, origin, own.or(under));
                }
            }
            Value::Object(members) => self.by_names(members, origin, under.map(|(key, _)| key)),
            Value::Number(number) => {
                let text = number.to_string();
                let is_shown = under.is_some_and(|(key, _)| key.is_sure && text.len() >= 4);
                let declared = self.finder.declared(&text);
                let kind = under
                    .filter(|_| is_shown)
                    .map(|(key, _)| Name::Context(key.kind));
                if let Some(name) = declared.or(kind) {
                    *value = Value::String(self.placeholder(name, &text));
                }
            }
            Value::Null | Value::Bool(_) => return,
        }
        // What was hidden already stays.
        for (at, key) in structure::places(value) {
            if let Some(place) = value.pointer_mut(&at) {
                self.any(place, Origin::Ours, Some((key, "")));
            }
        }
    }

    /// Takes secrets out of the members of an object.
    pub(super) fn members(&self, members: &mut Object, origin: Origin) {
        let mut value = Value::Object(std::mem::take(members));
        self.any(&mut value, origin, None);
        if let Value::Object(clean) = value {
            *members = clean;
        }
    }

    fn by_names(&self, members: &mut Object, origin: Origin, under: Option<SecretKey>) {
        let text_of = |key: &str| members.get(key).and_then(Value::as_str);
        // A description of values (JSON Schema) holds none.
        let is_schema = text_of("type").is_some_and(keys::is_schema_type);
        let under = under.filter(|_| !is_schema);
        let marked = keys::marked(
            members
                .iter()
                .map(|(key, value)| (key.as_str(), plain(value))),
        );
        for (key, value) in members.iter_mut() {
            let named = marked.filter(|(names, _)| keys::is_one_of(names, key));
            let named = named.map(|(_, key)| key);
            let own = Some(key)
                .filter(|_| !matches!(value, Value::Bool(_) | Value::Null))
                .filter(|it| self.finder.may_be_secret_key(it))
                .and_then(|it| keys::secret_key(it));
            let shown = own.or(named).map(|it| SecretKey {
                is_sure: it.is_sure || under.is_some_and(|it| it.is_sure),
                ..it
            });
            let shown = shown.map(|it| (it, ""));
            let under = under.map(|it| (it, key.as_str()));
            self.any(value, origin, shown.or(under));
        }
        self.rename(members, origin);
    }

    /// Takes secrets out of the keys of an object.
    fn rename(&self, members: &mut Object, origin: Origin) {
        if members.keys().any(|key| self.sure(key, origin).is_some()) {
            *members = std::mem::take(members)
                .into_iter()
                .map(|(key, value)| (self.sure(&key, origin).unwrap_or(key), value))
                .collect();
        }
    }

    /// Takes secrets out of all keys in a value from outside.
    pub(super) fn keys(&self, value: &mut Value) {
        match value {
            Value::Array(items) => {
                for it in items {
                    self.keys(it);
                }
            }
            Value::Object(members) => {
                for it in members.values_mut() {
                    self.keys(it);
                }
                self.rename(members, Origin::Outside);
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// What a value says by itself: a text, and whether it is so.
fn plain(value: &Value) -> &str {
    match value {
        Value::Bool(true) => "true",
        value => value.as_str().unwrap_or_default(),
    }
}

/// What a key above a text has shown of it to be secret.
fn shown_by_key(key: SecretKey, member: &str, text: &str) -> Option<Hit<'static>> {
    let scheme = keys::scheme(text);
    let is_secret = keys::is_secret_within(key, member, &text[scheme..]);
    is_secret.then_some(Hit::context(scheme..text.len(), key.kind))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Redactor;

    #[test]
    fn keys_that_name_secrets_hide_their_values() {
        let value = json!({
            "api_key": "v-1", "apiKey": "v-1", "Authorization": "Basic dTpw", "set-cookie": "id=1",
            "input_tokens": 12, "token": 12, "tokens": "x", "secret": true, "tokenizer": "bpe",
            "next": { "clientSecret": "v-2" }, "password": { "value": "v-3", "type": "plain" }, "passwd": 123_456,
            "tokens_seen": ["a"], "credentials": ["v-4", { "user": "me", "pass": "v-5" }],
            "env": [{ "name": "DB_PASSWORD", "value": "v-6" }, { "name": "MODE", "value": "test" }],
            "properties": { "password": { "type": "string", "description": "of the account" } },
        });
        let expected = json!({
            "api_key": "<secret:api-key>", "apiKey": "<secret:api-key>", "Authorization": "Basic <secret:token>",
            "set-cookie": "<secret:cookie>", "input_tokens": 12, "token": 12, "tokens": "x", "secret": true, "tokenizer": "bpe",
            "next": { "clientSecret": "<secret:secret>" }, "password": { "value": "<secret:password>", "type": "plain" },
            "passwd": "<secret:password#2>", "tokens_seen": ["a"],
            "credentials": ["<secret:credentials>", { "user": "me", "pass": "<secret:password#3>" }],
            "env": [{ "name": "DB_PASSWORD", "value": "<secret:password#4>" }, { "name": "MODE", "value": "test" }],
            "properties": { "password": { "type": "string", "description": "of the account" } },
        });
        assert_eq!(*Redactor::default().value(value.clone()), expected);
        // As text, however deeply quoted, the same is hidden.
        let mut text = value.to_string();
        for _ in 0..3 {
            let clean = Redactor::default().text(&text);
            for secret in ["v-1", "v-2", "v-3", "v-4", "v-5", "v-6", "dTpw", "id=1"] {
                assert!(!clean.contains(secret), "{secret} in {}", *clean);
            }
            for stays in ["bpe", "of the account", "plain", "MODE"] {
                assert!(clean.contains(stays), "{stays} in {}", *clean);
            }
            text = Value::String(text).to_string();
        }
    }

    #[test]
    fn what_an_object_marks_is_hidden_whatever_it_is_called() {
        let value = json!([
            { "kind": "Secret", "data": { "user": "YWRtaW4=" }, "metadata": { "name": "db" } },
            { "kind": "ConfigMap", "data": { "user": "YWRtaW4=" } },
            { "sensitive": true, "value": { "a": ["swordfish"] } },
            { "Name": "DB_PASSWORD", "Value": "hunter2" },
        ]);
        let expected = json!([
            { "kind": "Secret", "data": { "user": "<secret:marked>" }, "metadata": { "name": "db" } },
            { "kind": "ConfigMap", "data": { "user": "YWRtaW4=" } },
            { "sensitive": true, "value": { "a": ["<secret:marked#2>"] } },
            { "Name": "DB_PASSWORD", "Value": "<secret:password>" },
        ]);
        assert_eq!(*Redactor::default().value(value.clone()), expected);
        let text = Redactor::default().text(&value.to_string());
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    }

    #[test]
    fn random_values_that_a_key_has_shown_are_hidden_everywhere_and_words_are_not() {
        let value = json!({
            "a": { "session_token": "x9K2m4Pq7L" }, "echo": "you sent x9K2m4Pq7L",
            "b": { "secret": "production-database" }, "path": "/data/production-database",
        });
        let expected = json!({
            "a": { "session_token": "<secret:token>" }, "echo": "you sent <secret:token>",
            "b": { "secret": "<secret:secret>" }, "path": "/data/production-database",
        });
        assert_eq!(*Redactor::default().value(value), expected);
    }
}
