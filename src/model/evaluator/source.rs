//! Which answers an evaluator looks at.

/// Answers of a run: by tool, by number, or all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerOf {
    /// Of this tool alone: its full name, or the bare one.
    pub tool: Option<String>,
    /// Of this call alone, counted from 1 among those of the tool, or among all where none is named.
    pub call: Option<usize>,
}

impl AnswerOf {
    /// The tool, where one is named.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// In words that follow `the answer`.
    pub fn words(&self) -> String {
        match (&self.tool, self.call) {
            (None, None) => String::new(),
            (None, Some(call)) => format!(" to call {call}"),
            (Some(tool), None) => format!(" of \"{tool}\""),
            (Some(tool), Some(call)) => format!(" to call {call} of \"{tool}\""),
        }
    }
}
