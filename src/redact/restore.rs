//! Puts secrets back in the place of their placeholders, where what was recorded is sent again.

use serde_json::Value;

use super::Secrets;
use super::known::ONE_OF_SEVERAL;
use super::parts::spelled;
use super::spelling::WITHIN_BASE64;
use crate::model::Object;
use crate::model::placeholder::{Placeholder, may_hold, placeholders, unescaped};

/// A placeholder whose value nobody knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// As it was recorded.
    pub placeholder: String,
    /// How its value can be given.
    pub hint: String,
}

impl Secrets {
    /// Arguments as they were when they were recorded, or as they would be with the secrets of today.
    ///
    /// # Errors
    ///
    /// The first [`Unknown`] placeholder: what is recorded of a secret must not be sent in its place.
    pub fn restore(&self, arguments: &mut Object) -> Result<(), Unknown> {
        for value in arguments.values_mut() {
            self.restore_in(value)?;
        }
        if arguments.keys().any(|it| may_hold(it)) {
            let members = std::mem::take(arguments).into_iter();
            let members = members.map(|(key, value)| Ok((self.restore_text(&key)?, value)));
            *arguments = members.collect::<Result<_, Unknown>>()?;
        }
        Ok(())
    }

    /// Whether the secrets of all placeholders in a value are known.
    pub fn can_restore(&self, value: &Value) -> bool {
        self.restore_in(&mut value.clone()).is_ok()
    }

    fn restore_in(&self, value: &mut Value) -> Result<(), Unknown> {
        match value {
            Value::String(text) => {
                *text = self.restore_text(text)?;
                Ok(())
            }
            Value::Array(items) => items.iter_mut().try_for_each(|it| self.restore_in(it)),
            Value::Object(members) => self.restore(members),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    /// The same for one text.
    ///
    /// # Errors
    ///
    /// As [`Self::restore`].
    pub fn restore_text(&self, text: &str) -> Result<String, Unknown> {
        let mut restored = String::new();
        let mut from = 0;
        for it in placeholders(text) {
            restored.push_str(&unescaped(&text[from..it.at.start]));
            let secret = self.behind(&it).ok_or_else(|| {
                let is_known = it.name.and_then(|it| self.value(it)).is_some();
                unknown(&text[it.at.clone()], &it, is_known)
            })?;
            restored.push_str(&secret);
            from = it.at.end;
        }
        restored.push_str(&unescaped(&text[from..]));
        Ok(restored)
    }

    /// The value that a placeholder stands for, spelled as it was.
    fn behind(&self, placeholder: &Placeholder<'_>) -> Option<String> {
        let value = self.value(placeholder.name?)?;
        spelled(value, placeholder.spelling.unwrap_or_default())
    }
}

/// What to tell of a placeholder; `is_known` says that its name has a value, which cannot be spelled so.
fn unknown(text: &str, placeholder: &Placeholder<'_>, is_known: bool) -> Unknown {
    let name = placeholder.name.unwrap_or_default();
    let place = name
        .rsplit_once('.')
        .map(|(place, name)| (place.rsplit('.').next().unwrap_or_default(), name));
    let hint = match place {
        _ if placeholder.spelling == Some(ONE_OF_SEVERAL) => {
            format!("it was a part of `{name}` that nobody can tell from others: let a script make the call")
        }
        _ if placeholder.spelling == Some(WITHIN_BASE64) => {
            "only a part of what is encoded there was the secret, so nobody can put it together again: let a script make the call".to_owned()
        }
        _ if is_known => {
            format!("`{name}` has no such part now: give it in the form in which it was recorded, or let a script make the call")
        }
        Some(("env", name)) => format!("set the environment variable `{name}`, as when it was recorded"),
        Some(("var", name)) => format!("declare it again: `variables: {{ {name}: {{ value: \"${{{}}}\", secret: true }} }}`", name.to_uppercase()),
        Some((_, name)) => format!("give `{name}` as when it was recorded"),
        None => "declare it, so that it has a name: `variables: { password: { value: \"${PASSWORD}\", secret: true } }`, use `{{password}}` in the scenario, and record again".to_owned(),
    };
    Unknown {
        placeholder: text.to_owned(),
        hint,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Secrets;
    use crate::model::redaction::Redaction;
    use crate::redact::Redactor;

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        secrets.declare("var.token", "", "s3cret \"of\" mine");
        secrets
    }

    #[test]
    fn what_was_taken_out_is_put_back_as_it_was_spelled() {
        let secrets = secrets();
        let redactor = Redactor::new(&secrets, &Redaction::default());
        let arguments = json!({
            "plain": "x s3cret \"of\" mine y",
            "json": { "text": "{\"a\": \"s3cret \\\"of\\\" mine\"}" },
            "encoded": ["czNjcmV0ICJvZiIgbWluZQ==", "s3cret%20%22of%22%20mine"],
            "forged": "<secret:var.token> <secret::x>",
        });
        let Value::Object(raw) = arguments else {
            unreachable!()
        };
        let mut stored = redactor.object(raw.clone()).into_inner();
        assert_ne!(stored, raw);
        assert!(!Value::from(stored.clone()).to_string().contains("mine"));
        secrets.restore(&mut stored).unwrap();
        assert_eq!(stored, raw);
    }

    #[test]
    fn what_nobody_knows_is_told() {
        for (text, hint) in [
            ("<secret:password>", "declare it"),
            ("<secret:var.other>", "`variables: { other:"),
            ("<secret:env.API_KEY>", "`API_KEY`"),
            (
                "<secret:var.token:within-base64>",
                "nobody can put it together",
            ),
            ("<secret:var.token:one-of-several>", "nobody can tell"),
            ("<secret:var.token:part>", "no such part now"),
            ("<redacted:value:1>", "declare it"),
        ] {
            let Value::Object(mut arguments) = json!({ "a": { "b": format!("x {text}") } }) else {
                unreachable!()
            };
            let unknown = secrets().restore(&mut arguments).unwrap_err();
            assert_eq!(unknown.placeholder, text);
            assert!(unknown.hint.contains(hint), "{}", unknown.hint);
        }
    }
}
