//! Evaluators: how a run should be, whatever it was before.
//!
//! Each kind has a type here, and an arm of [`EvaluatorKind`].

mod compared;
mod file;
mod kind;
mod sql_validate;
mod text;
mod tool_calls;

pub use self::compared::{AnswerOf, CommandEvaluator, EvaluatorText, ExactMatch, Likeness};
pub use self::file::{FileEvaluator, FilePlace, FileRoot, SchemaSource, SchemaValidate};
pub use self::kind::{Evaluator, EvaluatorKind, KINDS, KindWords, Role};
pub use self::sql_validate::{SqlQuestion, SqlValidate, WantedRow, WantedRows};
pub use self::text::{TextEvaluator, TextMatch, TextSource};
pub use self::tool_calls::{
    AnswerPattern, ArgumentsPattern, CallPattern, ToolCalls, TraceNoErrors, WantedCall, Within,
};
