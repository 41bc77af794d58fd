//! `type: trace-no-errors`.

use crate::model::evaluator::TraceNoErrors;
use crate::scenario_file::decode::section;
use crate::scenario_file::decode::values::Times;

section! {
    /// Nothing goes wrong on the way: no call fails, none breaks the protocol, and no answer that is marked as fine says that it is an error. Calls that are expected to fail (`is_error`) may.
    TraceKeys {
        /// How many failed calls are forgiven because a later one of the same tool is fine; 0 unless given.
        max_retries: Option<Times>,
        /// Whether a run that calls nothing passes; unless given, it does where `expected_trajectory` is an empty list.
        allow_empty: Option<bool>,
    }
}

impl TraceKeys {
    pub(super) fn trace_no_errors(&self) -> TraceNoErrors {
        TraceNoErrors {
            max_retries: self.max_retries.map_or(0, |it| it.0),
            allow_empty: self.allow_empty,
        }
    }
}
