//! The tool calls clients made: the latest in memory, and all of them in a file where one is wanted.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::json;
use crate::mock::state::members_weight;
use crate::model::Object;
use crate::redact::Redactor;

/// The most calls kept in memory.
const MAX_CALLS: usize = 1000;
/// About how many bytes of arguments are kept in memory.
const MAX_WEIGHT: usize = 4 * 1024 * 1024;
/// The largest log file, in bytes; later calls are not written.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// One tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub time: Timestamp,
    /// The mock server's name in its declaration.
    pub server: String,
    pub tool: String,
    pub arguments: Object,
    /// The number of the response that answered, counted from 1; `None` when none of the tool's responses did.
    pub response: Option<usize>,
}

/// A call as it is written down.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Called {
    pub(super) tool: String,
    pub(super) arguments: Object,
    /// The number of the response that answers, counted from 1; `None` when none of the tool's responses does.
    pub(super) response: Option<usize>,
}

#[derive(Debug, Default)]
pub(super) struct CallLog {
    latest: VecDeque<(usize, Call)>,
    weight: usize,
    /// How many calls there were, forgotten ones included.
    total: u64,
    /// Takes secrets out of all that is shown.
    redactor: Arc<Redactor>,
    file: Option<LogFile>,
    /// Why the file is not complete.
    failure: Option<io::Error>,
}

#[derive(Debug)]
struct LogFile {
    file: File,
    written: u64,
}

impl Call {
    /// The call without secrets.
    fn redacted(&self, redactor: &Redactor) -> Value {
        let arguments = redactor.fresh().object(self.arguments.clone()).into_inner();
        json!({
            "time": self.time.to_string(),
            "server": self.server,
            "tool": self.tool,
            "arguments": arguments,
            "response": self.response,
        })
    }
}

impl CallLog {
    /// From now on, this takes secrets out of all that is shown or written.
    pub(super) fn redact_with(&mut self, redactor: Arc<Redactor>) {
        self.redactor = redactor;
    }

    /// From now on, calls are also written to this file, a line of JSON each.
    pub(super) fn write_to(&mut self, file: File) {
        self.file = Some(LogFile { file, written: 0 });
    }

    pub(super) fn record(&mut self, server: &str, called: Called) {
        let call = Call {
            time: Timestamp::now(),
            server: server.to_owned(),
            tool: called.tool,
            arguments: called.arguments,
            response: called.response,
        };
        self.total += 1;
        if let Some(log) = &mut self.file {
            let line = json::escaped(format!("{}\n", call.redacted(&self.redactor)));
            log.written += line.len() as u64;
            let written = if log.written > MAX_FILE {
                Err(io::Error::other(format!("it has reached {MAX_FILE} bytes")))
            } else {
                log.file.write_all(line.as_bytes())
            };
            if let Err(error) = written {
                self.failure = Some(error);
                self.file = None;
            }
        }
        let weight = members_weight(&call.arguments);
        self.weight += weight;
        self.latest.push_back((weight, call));
        while self.latest.len() > MAX_CALLS || self.weight > MAX_WEIGHT {
            let Some((weight, _)) = self.latest.pop_front() else {
                break;
            };
            self.weight -= weight;
        }
    }

    /// The latest calls, in the order they came.
    pub(super) fn latest(&self) -> impl Iterator<Item = &Call> {
        self.latest.iter().map(|(_, call)| call)
    }

    /// The same without secrets.
    pub(super) fn redacted(&self) -> Vec<Value> {
        let redacted = self.latest().map(|it| it.redacted(&self.redactor));
        redacted.collect()
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn clear(&mut self) {
        self.latest.clear();
        self.weight = 0;
        self.total = 0;
    }

    /// Why the file does not hold all calls, if it does not.
    pub(super) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{CallLog, Called, MAX_CALLS, MAX_WEIGHT};

    fn called(text: &str) -> Called {
        Called {
            tool: "t".to_owned(),
            arguments: json!({ "text": text }).as_object().unwrap().clone(),
            response: Some(1),
        }
    }

    #[test]
    fn only_the_latest_calls_are_kept() {
        let mut log = CallLog::default();
        for number in 0..MAX_CALLS + 5 {
            log.record("s", called(&number.to_string()));
        }
        assert_eq!(log.total(), MAX_CALLS as u64 + 5);
        assert_eq!(log.latest().count(), MAX_CALLS);
        assert_eq!(log.latest().next().unwrap().arguments["text"], "5");
        let text = "x".repeat(MAX_WEIGHT / 4);
        for _ in 0..10 {
            log.record("s", called(&text));
        }
        assert_eq!(log.latest().count(), 3);
        log.clear();
        assert_eq!((log.total(), log.latest().count()), (0, 0));
    }

    #[test]
    fn calls_are_shown_without_secrets() {
        let mut log = CallLog::default();
        log.record("s", called("Bearer abcdefghijklmnopqrstuvwxyz012345"));
        let logged = log.redacted()[0].to_string();
        assert!(!logged.contains("abcdefghijklmnop"), "{logged}");
    }
}
