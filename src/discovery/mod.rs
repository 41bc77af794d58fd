//! Tool searches and scanners of tool descriptions, measured.
//!
//! A **corpus** lists tools. Of a search, a **golden set** of labelled queries says which of them each query should find; of a scanner, labels
//! say which are malicious. What was answered is scored, and what the numbers allow to say is said with them.
//!
//! | file | what is there |
//! |---|---|
//! | `places` | where the lines of a text begin; JSON with the line and column of every value |
//! | `fields` | members of objects, one by one |
//! | `golden` | corpora and golden sets, read, and the words in both |
//! | `baseline` | earlier figures, read |
//! | `check` | what is wrong, or looks wrong, with data sets that can be read |
//! | `pool` | answered ids that nobody has graded |
//! | `questions` | questions that a model writes, and which of them are of use |
//! | `search` | how a search is asked, and how its answer is read |
//! | `ground` | what queries are held against, and answers that look as if the search was asked wrongly |
//! | `retrieval` | what a search answered, scored |
//! | `gates` | that, query by query, beside what was before or what another search answered; what its figures have to reach, and how many queries it may lose |
//! | `verdicts` | what scanners said, in whatever form |
//! | `truth` | what is so of the tools they judge |
//! | `security` | what they said, held against what is so |
//! | `detector` | how well one of them tells malicious from benign, and at every threshold; several, joined and against each other |
//! | `measures` | how good rankings are, and how much the numbers say: intervals, tests, the least size of a corpus |

pub mod baseline;
pub mod check;
pub mod detector;
mod fields;
pub mod gates;
pub mod golden;
pub mod ground;
pub mod measures;
pub mod places;
pub mod pool;
pub mod questions;
pub mod retrieval;
pub mod search;
pub mod security;
pub mod truth;
pub mod verdicts;
