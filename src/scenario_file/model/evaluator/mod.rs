//! Evaluators: how a run should be, whatever it was before.
//!
//! Each kind has a type here, and an arm of [`EvaluatorKind`].

mod command;
mod compared;
mod exact_match;
mod file;
mod kind;
mod schema_validate;
mod sql_validate;
mod text;
mod tool_calls;

pub use self::command::CommandEvaluator;
pub use self::compared::AnswerOf;
pub use self::exact_match::{ExactMatch, Likeness};
pub use self::file::{FileEvaluator, FilePlace, FileRoot};
pub use self::kind::{Evaluator, EvaluatorKind, KINDS, KindWords};
pub use self::schema_validate::{SchemaSource, SchemaValidate};
pub use self::sql_validate::{SqlQuestion, SqlValidate, WantedRow, WantedRows};
pub use self::text::{TextEvaluator, TextMatch, TextSource};
pub use self::tool_calls::{AnswerPattern, ArgumentsPattern, CallPattern, ToolCalls, WantedCall};
pub use crate::scenario_file::evaluators::within::{TraceNoErrors, Within};
