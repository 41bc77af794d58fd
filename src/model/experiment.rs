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
        /// What it was and what it is, shortened to where they differ; `None` where there was nothing, or only hashes are known.
        baseline: Option<String>,
        current: Option<String>,
    },
}
