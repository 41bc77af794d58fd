//! Tool searches and scanners of tool descriptions, measured.
//!
//! A **corpus** lists tools. Of a search, a **golden set** of labelled queries says which of them each query should find; of a scanner, labels
//! say which are malicious. What was answered is scored, and what the numbers allow to say is said with them.
//!
//! | file | what is there |
//! |---|---|
//! | `places` | where the lines of a text begin; JSON with the line and column of every value |
//! | `fields` | members of objects, one by one |
//! | `golden`, `baseline` | the data sets, read |
//! | `check`, `golden` | what is wrong, or looks wrong, with data sets that can be read |
//! | `pool` | answered ids that nobody has graded |
//! | `questions` | questions that a model writes, and which of them are of use |
//! | `search` | how a search is asked, and how its answer is read |
//! | `ground` | what queries are held against, and answers that look as if the search was asked wrongly |
//! | `retrieval` | what a search answered, scored |
//! | `gates` | that, query by query, beside what was before or what another search answered |
//! | `gates` | what its figures have to reach, and how many queries it may lose |
//! | `verdicts` | what scanners said, in whatever form |
//! | `truth` | what is so of the tools they judge |
//! | `security`, `detector` | what they said, held against what is so; of one detector |
//! | `detector` | what its scores allow at every threshold; several detectors, joined and against each other |
//! | `measures` | how good rankings are |
//! | `detector` | how well a scanner tells malicious from benign |
//! | `measures` | how much the numbers say: intervals, tests, the least size of a corpus |

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
