//! Places in scenario files.

/// Where in its own file a scenario says what; `None` of what it gets from defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// Its name.
    pub name: Option<Place>,
    /// Each of its success criteria.
    pub criteria: Vec<Option<Place>>,
    /// Each call of `expected_trajectory`.
    pub expected: Vec<Option<Place>>,
    /// Each call that a scripted agent plays, or would where another one is asked.
    pub script: Vec<Option<Place>>,
    /// How a search that is measured is asked.
    pub search: Option<Place>,
}

/// A place in a file, counted from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl Places {
    /// The line of what has this index in one of the lists.
    pub fn line_of(list: &[Option<Place>], index: usize) -> Option<usize> {
        let place = list.get(index)?;
        place.map(|it| it.line)
    }
}
