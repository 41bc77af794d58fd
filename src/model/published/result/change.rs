//! Whatever differs between baseline and run, in the published result.

use std::fmt;

use crate::change::{Change, ChangeKind};
use crate::label::labelled;
use crate::text::shorten;
use crate::text::word_diff::around_difference;

/// The longest value in a line that tells of a change.
const VALUE_CHARS: usize = 100;

impl Change {
    /// The call in words: `call 3`, `call 3 → 2`; `None` where no call is concerned.
    pub fn call(&self) -> Option<String> {
        match (self.baseline, self.current) {
            (Some(before), Some(now)) if before != now => Some(format!("call {before} → {now}")),
            (_, Some(now)) => Some(format!("call {now}")),
            (Some(before), None) => Some(format!("call {before} of the baseline")),
            (None, None) => None,
        }
    }

    /// The tool's full name for people, with what the call is for.
    pub fn tool_name(&self) -> Option<String> {
        let tool = self.tool.as_ref()?;
        Some(labelled(tool, self.label.as_deref()))
    }

    /// What is concerned: call, tool and place, as far as there are such.
    fn subject(&self) -> String {
        if self.kind == ChangeKind::Drift {
            // What happened names tool and place already.
            return "catalogue:".to_owned();
        }
        let place = self.path.as_deref().filter(|it| !it.is_empty());
        let parts = [self.call(), self.tool_name(), place.map(ToOwned::to_owned)];
        let mut subject = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        if self.kind == ChangeKind::Upstream && !subject.is_empty() {
            // What happened is a sentence about others than the tool.
            subject.push(':');
        }
        subject
    }
}

impl fmt::Display for Change {
    /// `call 1 mcp__shop__get_price response/content/0/json/price changed: 19.99 → 21.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = self.subject();
        if !subject.is_empty() {
            write!(f, "{subject} ")?;
        }
        let what = self.what.to_string();
        f.write_str(&what)?;
        let (was, now) = (self.was.as_deref(), self.now.as_deref());
        if self.kind == ChangeKind::Drift && names_values(&what, was, now) {
            return Ok(());
        }
        let short = |text: &str| shorten(text, VALUE_CHARS).into_owned();
        match (&self.was, &self.now) {
            (Some(was), Some(now)) => {
                let [was, now] = around_difference(was, now, VALUE_CHARS);
                write!(f, ": {was} → {now}")
            }
            (Some(was), None) => write!(f, ": {}", short(was)),
            (None, Some(now)) => write!(f, ": {}", short(now)),
            (None, None) => Ok(()),
        }
    }
}

/// Whether a sentence about the catalogue has the values already that it would end with: as a name in back quotes, or as what it says
/// behind a colon or between `from` and `to`.
pub fn names_values(sentence: &str, was: Option<&str>, now: Option<&str>) -> bool {
    let is_named = |value: &str| {
        sentence.contains(&format!("`{value}`")) || sentence.ends_with(&format!(": {value}"))
    };
    match (was, now) {
        (Some(was), Some(now)) if sentence.ends_with(&format!(" from {was} to {now}")) => true,
        (None, None) => false,
        (was, now) => was.into_iter().chain(now).all(is_named),
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, ChangeKind, names_values};
    use crate::change::What;

    #[test]
    fn a_sentence_about_the_catalogue_does_not_say_its_values_twice() {
        for (sentence, was, now) in [
            ("tool `list_all` is new", None, Some("list_all")),
            ("tool `list` is gone; nearest: `all`", Some("list"), None),
            ("tool `a` was renamed to `b`", Some("a"), Some("b")),
            (
                "parameter `q` of `last` gained `maxLength`: 99",
                None,
                Some("99"),
            ),
            (
                "parameter `q` of `last` changed `maxLength` from 9 to 99",
                Some("9"),
                Some("99"),
            ),
        ] {
            assert!(names_values(sentence, was, now), "{sentence}");
            let change = Change {
                was: was.map(str::to_owned),
                now: now.map(str::to_owned),
                ..Change::new(ChangeKind::Drift, What::Described(sentence.to_owned()))
            };
            assert_eq!(change.to_string(), format!("catalogue: {sentence}"));
        }
        for (sentence, was, now) in [
            ("parameter `q` of `last` is new", None, Some("{}")),
            (
                "parameter `q` of `last` gained `maxLength`: 99",
                None,
                Some("9"),
            ),
            ("tool `a` has another description", Some("x"), Some("a")),
            ("tool `a` changed", None, None),
        ] {
            assert!(!names_values(sentence, was, now), "{sentence}");
        }
    }
}
