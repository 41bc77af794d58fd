//! The `dataset` section: where the rows are.

use crate::model::Object;
use crate::scenario_file::decode::values::Word;
use crate::scenario_file::decode::{At, section, shapes};

shapes! {
    /// Rows of which each makes a scenario: a file (`.csv`, `.jsonl` or `.yaml`), the rows themselves, or a map that says more.
    DatasetSection, "the name of a file, a list of rows, or a map" {
        Text => File(At<Word>),
        List => Rows(Vec<At<Object>>),
        Map => Fields(Box<DatasetFields>),
    }
}

section! {
    /// Rows of which each makes a scenario, and where their ids come from.
    DatasetFields {
        /// A file of rows, relative to this one: `.csv` with names of columns in the first line, `.jsonl` with an object per line, or `.yaml` with a list of maps.
        file: Option<At<Word>>,
        /// The rows themselves, instead of a file.
        rows: Option<Vec<At<Object>>>,
        /// The column whose values name the rows; `id` where there is such a column, and their numbers, from 1, where there is none.
        id: Option<At<Word>>,
    }
}
