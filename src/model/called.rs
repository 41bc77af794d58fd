//! How a command was called, as far as that decides what its result says.

/// How a command was called: enough to call it again, and to know what it was not asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Called {
    /// The folder that it was called in, as seen from the root of its repository, and empty there; `None` outside of any repository.
    pub folder: Option<String>,
    /// The paths of scenarios that it was given; empty for the usual folder.
    pub paths: Vec<String>,
    /// The options that decide what is run, and how it is judged.
    pub options: Vec<CalledOption>,
    /// The folder of baselines, where it is not the usual one.
    pub baselines: Option<String>,
    /// Whether what failed or changed waits for review beside its baseline.
    pub keeps_pending: bool,
    /// What part of the scenarios it was about; `None` for all.
    pub selection: Option<Selection>,
}

/// An option of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalledOption {
    /// `--threshold`.
    pub name: String,
    pub value: Option<String>,
}

/// A part of the scenarios.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// How many were chosen, without disabled ones.
    pub chosen: usize,
    /// How many there are.
    pub of: usize,
    /// How many of those that were not chosen did not pass when this command ran them last.
    pub not_passed: usize,
}
