//! Calls to the servers behind the one under test, side by side, in the published result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ArgumentDifference, Row, RowKind, UpstreamHeader};
use crate::call::CallStatus;

/// What the servers behind the one under test heard on both sides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Upstream {
    /// The calls that arrived there, in order, paired where they match.
    pub rows: Vec<UpstreamRow>,
    /// Headers of the agent's side that arrived with no call, and on one side only or with another value; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<UpstreamHeader>,
}

/// Two calls behind the server under test, or one without a partner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UpstreamRow {
    pub kind: RowKind,
    /// The server behind; `null` when the trajectory was not at hand.
    pub server: Option<String>,
    /// The tool's name on that server; `null` when the trajectory was not at hand.
    pub tool: Option<String>,
    /// The call changes something, as opposed to only reading.
    pub effect: bool,
    /// The call of the baseline; `null` for an extra call.
    pub baseline: Option<UpstreamCall>,
    /// The call of the run; `null` for a missing call.
    pub current: Option<UpstreamCall>,
    /// What a call without a partner asked for; `null` for a pair.
    pub arguments: Option<Map<String, Value>>,
    /// Places in the arguments that differ; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<ArgumentDifference>,
    /// Headers that were passed on with it on one side only, or with another value; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<UpstreamHeader>,
    /// The server behind answered otherwise: what followed from that is not the doing of the one under test.
    pub answered_otherwise: bool,
    /// The run failed for it.
    pub fails: bool,
}

/// One call behind the server under test, as far as a report needs it without the trajectory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UpstreamCall {
    /// Counted from 1 among the calls that arrived behind on its side.
    pub number: usize,
    /// The call of the agent during or after which it arrived, counted from 1 among the scored calls of its side; `null` before the first.
    pub cause: Option<usize>,
    /// `null` when the trajectory was not at hand.
    pub outcome: Option<CallStatus>,
    /// What the failure said, shortened for reading; `null` for an answer.
    pub error: Option<String>,
    /// Milliseconds from request to outcome.
    pub duration_ms: Option<f64>,
}

impl UpstreamRow {
    /// Whether anything of it differs between the two sides.
    pub fn differs(&self) -> bool {
        self.kind != RowKind::Pair
            || self.answered_otherwise
            || self.fails
            || !self.differences.is_empty()
            || !self.headers.is_empty()
    }

    /// What became of it between the two sides, in words: `unchanged`, `is new`, `was made with something else`.
    pub fn words(&self) -> String {
        match self.kind {
            RowKind::Missing => "did not arrive any more".to_owned(),
            RowKind::Extra => "is new".to_owned(),
            RowKind::Pair => {
                let is_worded = self.differences.iter().all(|it| it.worded);
                let asked = match (self.differences.is_empty(), is_worded) {
                    (true, _) => None,
                    (false, true) => Some("was worded otherwise"),
                    (false, false) => Some("was made with something else"),
                };
                let headers = (!self.headers.is_empty()).then_some("came with other headers");
                let answered = self.answered_otherwise.then_some("was answered otherwise");
                let words: Vec<&str> = [asked, headers, answered].into_iter().flatten().collect();
                if words.is_empty() {
                    "unchanged".to_owned()
                } else {
                    words.join(", ")
                }
            }
        }
    }
}

/// Which of the rows of the agent's calls shows what one of them caused.
pub struct Causes {
    /// The numbers of the calls that have a row, sorted, each with the index of the row.
    rows: Vec<(usize, usize)>,
}

impl Causes {
    /// Of these rows; `number` tells the call that one has on the side that is meant.
    pub fn new(rows: &[Row], number: impl Fn(&Row) -> Option<usize>) -> Self {
        let numbered = rows.iter().enumerate();
        let numbered = numbered.filter_map(|(at, it)| Some((number(it)?, at)));
        let mut rows: Vec<(usize, usize)> = numbered.collect();
        rows.sort_unstable();
        Self { rows }
    }

    /// The index of the row that shows what this call caused: its own, or, of a try of a poll, that of the try that counts.
    pub fn row(&self, cause: usize) -> Option<usize> {
        let at = self.rows.partition_point(|(number, _)| *number < cause);
        let row = self.rows.get(at).or(self.rows.last());
        row.map(|(_, row)| *row)
    }
}

#[cfg(test)]
mod tests {
    use super::{ArgumentDifference, UpstreamHeader, UpstreamRow};
    use crate::published::result::RowKind;

    #[test]
    fn every_difference_is_reported() {
        let same = UpstreamRow {
            kind: RowKind::Pair,
            server: None,
            tool: None,
            effect: false,
            baseline: None,
            current: None,
            arguments: None,
            differences: Vec::new(),
            headers: Vec::new(),
            answered_otherwise: false,
            fails: false,
        };
        let place = |worded| ArgumentDifference {
            path: String::new(),
            was: None,
            now: None,
            worded,
        };
        let header = UpstreamHeader {
            server: String::new(),
            name: String::new(),
            was: None,
            now: None,
        };
        assert!(!same.differs());
        assert_eq!(same.words(), "unchanged");
        let cases: [(fn(&mut UpstreamRow), _); 3] = [
            (|it| it.kind = RowKind::Missing, "did not arrive any more"),
            (|it| it.kind = RowKind::Extra, "is new"),
            (|it| it.answered_otherwise = true, "was answered otherwise"),
        ];
        for (change, words) in cases {
            let mut changed = same.clone();
            change(&mut changed);
            assert!(changed.differs(), "{words}");
            assert_eq!(changed.words(), words);
        }
        for (differences, words) in [
            (
                vec![place(true)],
                "was worded otherwise, came with other headers",
            ),
            (
                vec![place(true), place(false)],
                "was made with something else, came with other headers",
            ),
        ] {
            let mut changed = same.clone();
            changed.differences = differences;
            assert!(changed.differs());
            changed.headers = vec![header.clone()];
            assert_eq!(changed.words(), words);
            changed.differences.clear();
            assert!(changed.differs());
        }
    }
}
