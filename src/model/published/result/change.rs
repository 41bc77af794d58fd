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
        self.what.fmt(f)?;
        if self.what.has_values() {
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
