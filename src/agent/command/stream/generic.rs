//! An agent of which nothing is known: what it prints is its answer.

use crate::agent::command::said::{Said, Stream};

/// How much of the answer is kept, in bytes.
const LONGEST_ANSWER: usize = 1024 * 1024;

/// Gathers what the agent prints.
#[derive(Default)]
pub(super) struct Generic {
    printed: String,
    is_cut: bool,
}

impl Stream for Generic {
    fn read(&mut self, line: &str) -> Vec<Said> {
        let mut left = LONGEST_ANSWER - self.printed.len();
        if line.len() > left {
            self.is_cut = true;
            while !line.is_char_boundary(left) {
                left -= 1;
            }
            self.printed.push_str(&line[..left]);
        } else if !self.is_cut {
            self.printed.push_str(line);
        }
        Vec::new()
    }

    fn end(&mut self) -> Vec<Said> {
        let answer = self.printed.trim();
        let mut said = Vec::new();
        if !answer.is_empty() {
            said.push(Said::Assistant(answer.to_owned()));
        }
        if self.is_cut {
            said.push(Said::Note(format!(
                "the agent printed more than {LONGEST_ANSWER} bytes; the rest is not kept"
            )));
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::{Generic, LONGEST_ANSWER, Said, Stream};

    #[test]
    fn the_answer_is_what_was_printed_and_bounded() {
        let mut nothing = Generic::default();
        nothing.read("\n");
        assert_eq!(nothing.end(), []);
        let mut some = Generic::default();
        some.read("a\n");
        some.read("b");
        assert_eq!(some.end(), [Said::Assistant("a\nb".to_owned())]);
        let mut much = Generic::default();
        for _ in 0..3 {
            much.read(&"ä".repeat(LONGEST_ANSWER / 3));
        }
        let [Said::Assistant(answer), Said::Note(_)] = &much.end()[..] else {
            panic!("an answer and a note");
        };
        assert!((LONGEST_ANSWER - 1..=LONGEST_ANSWER).contains(&answer.len()));
    }
}
