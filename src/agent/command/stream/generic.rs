//! An agent of which nothing is known: what it prints is its answer.

use crate::agent::command::agent_event::{AgentEvent, Stream};

/// How much of the answer is kept, in bytes.
const LONGEST_ANSWER: usize = 1024 * 1024;

/// Gathers what the agent prints.
#[derive(Default)]
pub(super) struct Generic {
    printed: String,
    is_cut: bool,
}

impl Stream for Generic {
    fn read(&mut self, line: &str) -> Vec<AgentEvent> {
        let mut left = LONGEST_ANSWER - self.printed.len();
        if line.len() > left {
            self.is_cut = true;
            while !line.is_char_boundary(left) {
                left -= 1;
            }
            self.printed.push_str(&line[..left]);
        } else if !self.is_cut {
            self.printed.push_str(line);
            if line.len() < left {
                self.printed.push('\n');
            }
        }
        Vec::new()
    }

    fn end(&mut self) -> Vec<AgentEvent> {
        let answer = self.printed.trim();
        let mut events = Vec::new();
        if !answer.is_empty() {
            events.push(AgentEvent::Assistant(answer.to_owned()));
        }
        if self.is_cut {
            events.push(AgentEvent::Note(format!(
                "the agent printed more than {LONGEST_ANSWER} bytes; the rest is not kept"
            )));
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::{AgentEvent, Generic, LONGEST_ANSWER, Stream};

    #[test]
    fn the_answer_is_what_was_printed_and_bounded() {
        let mut nothing = Generic::default();
        nothing.read("");
        assert_eq!(nothing.end(), []);
        let mut some = Generic::default();
        some.read("a");
        some.read("b");
        assert_eq!(some.end(), [AgentEvent::Assistant("a\nb".to_owned())]);
        let mut much = Generic::default();
        for _ in 0..3 {
            much.read(&"ä".repeat(LONGEST_ANSWER / 3));
        }
        let [AgentEvent::Assistant(answer), AgentEvent::Note(_)] = &much.end()[..] else {
            panic!("an answer and a note");
        };
        assert!((LONGEST_ANSWER - 1..=LONGEST_ANSWER).contains(&answer.len()));
    }
}
