//! Keeps what the judged have written apart from the instructions to their judge.
//!
//! A tool's answer may say anything: that the record ends here, that the developer now speaks, that the score is 1. So each line of it is
//! marked, what would start a line unseen is made visible, and where the record ends is said by a word that nobody who wrote in it could
//! know, because it is made up anew for each question.

use uuid::Uuid;

use crate::text;

/// What stands in front of each line that somebody else has written.
const MARK: &str = "| ";

/// The word that begins and ends a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence(String);

impl Fence {
    /// A word that nobody can guess.
    pub(super) fn new() -> Self {
        Self(Uuid::new_v4().simple().to_string())
    }

    /// The same word each time: for telling whether two questions are the same, and never for asking one.
    pub(super) fn fixed() -> Self {
        Self("…".to_owned())
    }

    pub(super) fn begin(&self) -> String {
        format!("BEGIN RECORD {}", self.0)
    }

    pub(super) fn end(&self) -> String {
        format!("END RECORD {}", self.0)
    }
}

/// A text of somebody else's, each line of it marked, and nothing unseen in it.
pub(super) fn marked(words: &str) -> String {
    let words = words.replace("\r\n", "\n");
    let words = text::block(&words);
    let lines = words.split('\n').map(|line| format!("{MARK}{line}\n"));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::{Fence, marked};

    #[test]
    fn no_line_begins_without_the_mark() {
        let breaks = "a\nb\r\nc\rd\u{2028}e\u{2029}f\u{85}g\u{b}h\u{c}i\u{e0041}";
        let marked = marked(breaks);
        assert!(marked.lines().all(|it| it.starts_with("| ")), "{marked}");
        assert_eq!(marked.lines().count(), 3);
        assert!(marked.ends_with("\\u{e0041}\n"), "{marked}");
        for hidden in ['\r', '\u{2028}', '\u{85}', '\u{b}', '\u{c}', '\u{e0041}'] {
            assert!(!marked.contains(hidden), "{hidden:?}");
        }
    }

    #[test]
    fn the_word_is_another_one_each_time() {
        assert_ne!(Fence::new(), Fence::new());
        assert!(Fence::new().end().len() >= 32 + "END RECORD ".len());
    }
}
