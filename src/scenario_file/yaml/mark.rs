//! Places in files.

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::scenario_file) struct Mark {
    /// Index into the files read so far.
    pub(in crate::scenario_file) source: usize,
    /// Counted from 1.
    pub(in crate::scenario_file) line: usize,
    /// In characters, counted from 1.
    pub(in crate::scenario_file) column: usize,
}
