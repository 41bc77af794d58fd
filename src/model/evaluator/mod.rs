//! Evaluators: how a run should be, whatever it was before.
//!
//! Each kind has a file of its own here, and an arm of [`EvaluatorKind`].

mod command;
mod compared;
mod definition;
mod exact_match;
mod file;
mod kind;
mod schema_validate;
mod source;
mod sql_validate;
mod text;
mod tool_calls;
mod trace_no_errors;
mod within;
mod words;

pub use self::command::CommandEvaluator;
pub use self::compared::EvaluatorText;
pub use self::exact_match::{ExactMatch, Likeness};
pub use self::file::{FileEvaluator, FilePlace, FileRoot};
pub use self::kind::{Evaluator, EvaluatorKind, KINDS, KindWords, Role};
pub use self::schema_validate::{SchemaSource, SchemaValidate};
pub use self::source::AnswerOf;
pub use self::sql_validate::{SqlQuestion, SqlValidate, WantedRow, WantedRows};
pub use self::text::{TextEvaluator, TextMatch, TextSource};
pub use self::tool_calls::{AnswerPattern, ArgumentsPattern, CallPattern, ToolCalls, WantedCall};
pub use self::trace_no_errors::TraceNoErrors;
pub use self::within::Within;
