//! Tool searches and scanners of tool descriptions, measured.
//!
//! A **corpus** lists tools. Of a search, a **golden set** of labelled queries says which of them each query should find; of a scanner, labels
//! say which are malicious. What was answered is scored, and what the numbers allow to say is said with them.
//!
//! | file | what is there |
//! |---|---|
//! | `places`, `finding` | JSON with the line and column of every value, and what is wrong at one of them |
//! | `corpus`, `golden`, `baseline` | the data sets, read |
//! | `check` | what is wrong, or looks wrong, with data sets that can be read |
//! | `measures` | how good rankings are |
//! | `detection` | how well a scanner tells malicious from benign |
//! | `statistics` | how much the numbers say: intervals, tests, the least size of a corpus |

pub mod detection;
pub mod measures;
pub mod statistics;
