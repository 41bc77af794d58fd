//! Whether two runs are the same experiment.

/// A way in which two runs are not the same experiment: it says something of the servers only while all else stays as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExperimentChange {
    /// Another model was asked, by name; `None` where there was none.
    Model {
        baseline: Option<String>,
        current: Option<String>,
    },
    /// Another kind of agent asked.
    Agent { baseline: String, current: String },
    /// The scenario asks something else, or gives its agent something else to ask it with.
    Scenario {
        /// What is another one, in words; `None` where nobody knows.
        part: Option<String>,
        /// Which call of the script it is, where it is one.
        script: Option<ScriptPlace>,
        /// What it was and what it is, shortened to where they differ; `None` where there was nothing, or only hashes are known.
        baseline: Option<String>,
        current: Option<String>,
    },
}

/// A call of a script, counted from 1; `None` on the side whose script has no such call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptPlace {
    pub baseline: Option<usize>,
    pub current: Option<usize>,
}
