//! Puts secrets back in the place of their placeholders, where what was recorded is sent again.

use serde_json::Value;

use super::Secrets;
use super::escaped::ESCAPED;
use super::parts::spelled;
use super::spelling::{ONE_OF_SEVERAL, WITHIN_BASE64};

use model::Object;
use model::placeholder::{Placeholder, may_hold, placeholders, unescaped};

/// A placeholder whose value nobody knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// As it was recorded.
    pub placeholder: String,
    /// How its value can be given.
    pub hint: String,
}

impl Secrets {
    /// Arguments of a call on a server as they were when they were recorded, or as they would be with the secrets of today. What only
    /// others are given is not sent to it, whoever has written its placeholder.
    ///
    /// # Errors
    ///
    /// The first [`Unknown`] placeholder: what is recorded of a secret must not be sent in its place.
    pub fn restore(&self, arguments: &mut Object, server: &str) -> Result<(), Unknown> {
        for value in arguments.values_mut() {
            self.restore_in(value, server)?;
        }
        if arguments.keys().any(|it| may_hold(it)) {
            let members = std::mem::take(arguments).into_iter();
            let members = members.map(|(key, value)| Ok((self.restore_text(&key, server)?, value)));
            *arguments = members.collect::<Result<_, Unknown>>()?;
        }
        Ok(())
    }

    /// Whether the secrets of all placeholders in a value are known.
    pub fn can_restore(&self, value: &Value, server: &str) -> bool {
        self.restore_in(&mut value.clone(), server).is_ok()
    }

    fn restore_in(&self, value: &mut Value, server: &str) -> Result<(), Unknown> {
        match value {
            Value::String(text) => {
                *text = self.restore_text(text, server)?;
                Ok(())
            }
            Value::Array(items) => items
                .iter_mut()
                .try_for_each(|it| self.restore_in(it, server)),
            Value::Object(members) => self.restore(members, server),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    /// The same for one text.
    ///
    /// # Errors
    ///
    /// As [`Self::restore`].
    pub fn restore_text(&self, text: &str, server: &str) -> Result<String, Unknown> {
        let mut restored = String::new();
        let mut from = 0;
        for it in placeholders(text) {
            restored.push_str(&unescaped(&text[from..it.at.start]));
            let recorded = &text[it.at.clone()];
            let known = it.name.map(|name| self.value_for(name, server));
            let known = known.transpose();
            let known = known.map_err(|owner| of_another(recorded, &owner, server))?;
            let value = known.flatten();
            let spelling = it.spelling.unwrap_or_default();
            let secret = value.and_then(|value| spelled(value, spelling));
            restored.push_str(&secret.ok_or_else(|| unknown(recorded, &it, value.is_some()))?);
            from = it.at.end;
        }
        restored.push_str(&unescaped(&text[from..]));
        Ok(restored)
    }
}

fn of_another(text: &str, owner: &str, server: &str) -> Unknown {
    Unknown {
        placeholder: text.to_owned(),
        hint: format!(
            "it is given to `{owner}`, so it is not sent to `{server}`: declare a variable with `secret: true` for what both receive"
        ),
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
            format!("it was one of several possible parts of `{name}`: let a script make the call")
        }
        _ if placeholder.spelling == Some(WITHIN_BASE64) => {
            "only a part of what is encoded there was the secret, so it cannot be put together again: let a script make the call".to_owned()
        }
        _ if placeholder.spelling == Some(ESCAPED) => {
            "it was escaped there in an unknown way, so it cannot be written again: let a script make the call".to_owned()
        }
        _ if is_known => {
            format!("`{name}` has no such part now: give it in the form in which it was recorded, or let a script make the call")
        }
        Some(("env", name)) => format!("set the environment variable `{name}`, as when it was recorded"),
        Some(("var", name)) => format!("declare it again: `variables: {{ {name}: {{ value: \"${{{}}}\", secret: true }} }}`", name.to_uppercase()),
        Some((_, name)) => format!("give `{name}` as when it was recorded"),
        None => {
            let variable = name.replace(['-', '.'], "_");
            let (variable, environment) = match variable.as_str() {
                "" => ("password", "PASSWORD".to_owned()),
                it => (it, it.to_uppercase()),
            };
            format!(
                "declare it, so that it has a name: `variables: {{ {variable}: {{ value: \"${{{environment}}}\", secret: true }} }}`. Then record again, with `{{{{{variable}}}}}` in its place, or a session with `record --listen` and that scenario"
            )
        }
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
    use crate::Redactor;
    use model::Redaction;

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
        secrets.restore(&mut stored, "s").unwrap();
        assert_eq!(stored, raw);
    }

    #[test]
    fn an_unknown_placeholder_is_reported() {
        for (text, hint) in [
            ("<secret:password>", "declare it"),
            (
                "<secret:github-token>",
                "`variables: { github_token: { value: \"${GITHUB_TOKEN}\"",
            ),
            ("<secret:var.other>", "`variables: { other:"),
            ("<secret:env.API_KEY>", "`API_KEY`"),
            (
                "<secret:var.token:within-base64>",
                "it cannot be put together",
            ),
            (
                "<secret:var.token:one-of-several>",
                "one of several possible parts",
            ),
            ("<secret:var.token:part>", "no such part now"),
            ("<redacted:value:1>", "declare it"),
        ] {
            let Value::Object(mut arguments) = json!({ "a": { "b": format!("x {text}") } }) else {
                unreachable!()
            };
            let unknown = secrets().restore(&mut arguments, "s").unwrap_err();
            assert_eq!(unknown.placeholder, text);
            assert!(unknown.hint.contains(hint), "{}", unknown.hint);
        }
    }

    #[test]
    fn what_a_server_is_given_is_sent_to_no_other() {
        let mut secrets = secrets();
        let env = [
            ("API_TOKEN", "t0ken-of-files"),
            ("SAME_TOKEN", "s3cret \"of\" mine"),
        ];
        secrets.named("env", "files", env);
        let sent = |text: &str, server: &str| secrets.restore_text(text, server);
        assert_eq!(
            sent("<secret:env.API_TOKEN>", "files").unwrap(),
            "t0ken-of-files"
        );
        let refused = sent("x <secret:env.API_TOKEN:base64>", "web").unwrap_err();
        assert!(
            refused.hint.contains("given to `files`"),
            "{}",
            refused.hint
        );
        // Where it is a variable's value, too, any server may get it.
        for name in ["env.SAME_TOKEN", "var.token"] {
            assert!(sent(&format!("<secret:{name}>"), "web").is_ok());
        }
    }
}
