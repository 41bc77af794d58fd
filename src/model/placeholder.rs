//! Placeholders for secrets: `<secret:NAME>`, `<secret:NAME:SPELLING>`, and in files of version 1 `<redacted:KIND:NUMBER>`.
//!
//! A declared secret has its name there, which holds a dot (`var.token`, `env.API_KEY`); one that was recognised has its kind, which
//! holds none (`github-token`, `password`). `#2` behind it marks the second secret of that name within one run. Text from outside that
//! begins like a placeholder is stored with a second colon, `<secret::…`, so that none can be forged.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use regex::Regex;
use serde_json::Value;

use crate::{Object, texts};

/// How placeholders begin, now and in files of version 1.
const OPENINGS: [&str; 2] = ["<secret:", "<redacted:"];

/// What a placeholder of version 1 and whatever it is compared with are taken for.
const ANY: &str = "<redacted:any:0>";

static SECRET: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(OPENINGS[0]));
static VERSION_1: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(OPENINGS[1]));

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"<secret:(?<name>[A-Za-z0-9_.-]+)(?::(?<spelling>[a-z0-9-]+))?(?<number>#[0-9]+)?>|<redacted:[a-z-]+:[0-9]+>")
        .expect("a valid pattern")
});

/// A placeholder in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder<'t> {
    /// Where it stands, in bytes.
    pub at: Range<usize>,
    /// The name or the kind of the secret; `None` in files of version 1, which numbered them.
    pub name: Option<&'t str>,
    /// How the secret was written there; `None` for plainly.
    pub spelling: Option<&'t str>,
}

/// The placeholder of a secret.
pub fn placeholder(name: &str, spelling: Option<&str>, number: usize) -> String {
    let spelling = spelling.map(|it| format!(":{it}")).unwrap_or_default();
    let number = if number > 1 {
        format!("#{number}")
    } else {
        String::new()
    };
    format!("<secret:{name}{spelling}{number}>")
}

/// The name of a secret as a placeholder may hold it.
pub fn name(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_.-".contains(it);
    text.replace(|it| !is_plain(it), "_")
}

/// Whether a text may hold a placeholder, of any version: a quick look.
pub fn may_hold(text: &str) -> bool {
    // Most texts have no such sign, and are short.
    let Some(from) = memchr::memchr(b'<', text.as_bytes()) else {
        return false;
    };
    let rest = &text.as_bytes()[from..];
    SECRET.find(rest).is_some() || VERSION_1.find(rest).is_some()
}

/// The placeholders in a text.
pub fn placeholders(text: &str) -> impl Iterator<Item = Placeholder<'_>> {
    let found = may_hold(text).then(|| PLACEHOLDER.captures_iter(text));
    found.into_iter().flatten().filter_map(|it| {
        Some(Placeholder {
            at: it.get(0)?.range(),
            name: it.name("name").map(|it| it.as_str()),
            spelling: it.name("spelling").map(|it| it.as_str()),
        })
    })
}

/// Whether a text holds a placeholder.
pub fn holds(text: &str) -> bool {
    placeholders(text).next().is_some()
}

/// Whether a value holds a placeholder at any depth, in keys or texts.
pub fn holds_any(value: &Value) -> bool {
    let mut found = false;
    texts::each(value, &mut |text| found = found || holds(text));
    found
}

/// Whether a value holds a placeholder of version 1, at any depth.
pub fn holds_nameless(value: &Value) -> bool {
    let mut found = false;
    texts::each(value, &mut |text| {
        found = found || placeholders(text).any(|it| it.name.is_none());
    });
    found
}

/// Whether a text is nothing but one placeholder.
pub fn is_placeholder(text: &str) -> bool {
    placeholders(text)
        .next()
        .is_some_and(|it| it.at == (0..text.len()))
}

/// Text from outside, so written that nothing in it is taken for a placeholder.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !may_hold(text) {
        return Cow::Borrowed(text);
    }
    let mut escaped = text.to_owned();
    for opening in OPENINGS {
        escaped = escaped.replace(opening, &format!("{opening}:"));
    }
    Cow::Owned(escaped)
}

/// What [`escaped`] was made of.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    if !may_hold(text) {
        return Cow::Borrowed(text);
    }
    let mut unescaped = text.to_owned();
    for opening in OPENINGS {
        unescaped = unescaped.replace(&format!("{opening}:"), opening);
    }
    Cow::Owned(unescaped)
}

/// A text as it was before it was redacted, but for the placeholders in it: nothing else in it is escaped any more.
pub fn unescaped_around(text: &str) -> String {
    let mut written = String::new();
    let mut from = 0;
    for it in placeholders(text) {
        written.push_str(&unescaped(&text[from..it.at.start]));
        written.push_str(&text[it.at.clone()]);
        from = it.at.end;
    }
    written.push_str(&unescaped(&text[from..]));
    written
}

/// Which placeholders two texts may differ in and still say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alike {
    /// Those of one name, whatever their number and the spelling of the secret.
    Names,
    /// All: one side was recorded when placeholders had no names.
    All,
}

impl Alike {
    /// A text in which placeholders that are alike read the same; `None` where it reads so already.
    pub fn text(self, text: &str) -> Option<String> {
        let mut written = String::new();
        let mut from = 0;
        for it in placeholders(text) {
            written.push_str(&text[from..it.at.start]);
            match (self, it.name) {
                (Self::Names, Some(name)) => written.push_str(&placeholder(name, None, 1)),
                (Self::Names, None) => written.push_str(&text[it.at.clone()]),
                (Self::All, _) => written.push_str(ANY),
            }
            from = it.at.end;
        }
        written.push_str(&text[from..]);
        (from > 0 && written != text).then_some(written)
    }

    /// Makes the placeholders in a value read the same that are alike.
    pub fn value(self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(alike) = self.text(text) {
                    *text = alike;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|it| self.value(it)),
            Value::Object(members) => self.object(members),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The same for an object. Its keys stay where two of them would become one.
    pub fn object(self, members: &mut Object) {
        members.values_mut().for_each(|it| self.value(it));
        let renamed = members.keys().map(|key| self.text(key));
        let renamed: Vec<Option<String>> = renamed.collect();
        if renamed.iter().all(Option::is_none) {
            return;
        }
        let keys = members.keys().zip(&renamed);
        let keys: HashSet<&String> = keys.map(|(key, new)| new.as_ref().unwrap_or(key)).collect();
        if keys.len() == members.len() {
            *members = std::mem::take(members)
                .into_iter()
                .zip(renamed)
                .map(|((key, value), new)| (new.unwrap_or(key), value))
                .collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Alike, escaped, holds, is_placeholder, placeholder, placeholders, unescaped};

    #[test]
    fn placeholders_are_read_as_they_are_written() {
        let text = format!(
            "a {} b {} <secret:> <secret:a b> <redacted:value:1>",
            placeholder("var.token", Some("base64"), 1),
            placeholder("github-token", None, 2)
        );
        let found: Vec<_> = placeholders(&text)
            .map(|it| (it.name, it.spelling))
            .collect();
        assert_eq!(
            found,
            [
                (Some("var.token"), Some("base64")),
                (Some("github-token"), None),
                (None, None)
            ]
        );
        assert!(is_placeholder("<secret:a#2>") && !is_placeholder("<secret:a> "));
    }

    #[test]
    fn what_only_looks_like_one_is_escaped_and_put_back() {
        for text in [
            "<secret:env.A>",
            "<secret::env.A>",
            "x <redacted:value:1> y",
            "plain <secret>",
        ] {
            assert!(!holds(&escaped(text)), "{text}");
            assert_eq!(unescaped(&escaped(text)), text);
        }
    }

    #[test]
    fn numbers_and_versions_are_no_difference() {
        assert_eq!(
            Alike::Names.text("a <secret:x#2> <secret:y>").as_deref(),
            Some("a <secret:x> <secret:y>")
        );
        assert_eq!(Alike::Names.text("<secret:x>, <redacted:value:1>"), None);
        let (old, new) = ("b <redacted:value:3>", "b <secret:password>");
        assert_eq!(Alike::All.text(old), Alike::All.text(new));
    }
}
