//! The `evaluators`: what a run should be.
//!
//! - `section`: an evaluator, with its types and the keys that all have.
//! - `kind`: what it becomes. Each type has a file, with its keys and what they become, and an arm of [`EvaluatorKind`].
//! - `text`: also the answers that are meant. `schema`: a JSON Schema, inline or in a file. `compared`: parts that several share.

mod compared;
mod exact_match;
mod file;
mod kind;
pub(in crate::scenario_file) mod llm_judge;
mod schema;
mod schema_validate;
mod section;
mod sql_validate;
mod text;
pub(in crate::scenario_file) mod tool_calls;
pub(in crate::scenario_file) mod within;

pub use self::compared::AnswerOf;
pub use self::exact_match::{ExactMatch, Likeness};
pub use self::file::{FileEvaluator, FilePlace, FileRoot};
pub use self::kind::{CommandEvaluator, Evaluator, EvaluatorKind, KINDS, KindWords};
pub use self::llm_judge::{Anchor, Dimension, LlmJudge, Rubric, Standard, THRESHOLD};
pub use self::schema_validate::{SchemaSource, SchemaValidate};
pub(in crate::scenario_file) use self::section::EvaluatorSection;
pub use self::sql_validate::{SqlQuestion, SqlValidate, WantedRow, WantedRows};
pub use self::text::{TextEvaluator, TextMatch, TextSource};
pub use self::tool_calls::{AnswerPattern, ArgumentsPattern, CallPattern, ToolCalls, WantedCall};
pub use self::within::{TraceNoErrors, Within};
