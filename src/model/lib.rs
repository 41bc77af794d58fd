//! The words of the project as plain types, and the forms in which they are [`published`]; with them, what all rooms do with [`json`],
//! [`text`]s and [`digits`]. No I/O, no behaviour beyond small views.

mod binding;
mod call;
mod called;
mod catalogue;
mod cell;
mod change;
mod check;
mod comparison;
pub mod digits;
mod direct;
mod drift;
mod evaluation;
mod expected;
mod experiment;
mod interval;
pub mod json;
pub mod json_path;
mod label;
mod learned;
pub mod number;
mod pending;
pub mod placeholder;
mod places;
pub mod points;
mod problem;
pub mod published;
pub mod reason;
mod redacted;
mod redaction;
mod reference;
pub mod repeated;
mod response;
pub mod rules;
pub mod ruling;
mod sentence;
mod stamp;
mod status;
mod suite;
pub mod text;
pub mod texts;
mod trajectory;
mod trouble;
mod unsteady;
mod upstream;
pub mod usage;

pub use binding::{Binding, BindingRule, Source};
pub use call::{ASKED, Answer, CallStatus, Failure, FailureKind, Outcome, ToolCall, full_name};
pub use called::{Called, CalledOption, Selection};
pub use catalogue::{
    Catalogue, Client, ClientAnswer, STATELESS, ServerCatalogue, Tool, has_no_sessions,
};
pub use cell::{Cell, Setting};
pub use change::{Change, ChangeKind, Follows, How, What, When, starred, unescaped};
pub use check::{Asked, Check, CheckState};
pub use comparison::{
    ArgumentDifference, Band, Bound, Comparison, ExecutionStatus, Loss, LossOf, Pair,
    ParameterScore, Polled, RequestScore, Row, RowKind, Scores, SlowerCall, Upstream,
    UpstreamHeader, UpstreamRow, Verdict,
};
pub use direct::{Cost, Direct, DirectCall, DirectTool, DirectTotals};
pub use drift::{Drift, SchemaChange, ToolChange, ToolDrift};
pub use evaluation::{Evaluation, EvaluationStatus, Gate, Overall, Role};
pub use expected::{Expectation, Expected};
pub use experiment::{CauseCall, ExperimentChange, ExperimentPart};
pub use interval::Interval;
pub use label::{Labels, labelled};
pub use learned::{
    Learned, Odd, Repeat, TokenKind, Variation, Varying, VaryingToken, VolatilePlaces,
};
pub use pending::{Found, Origin, PendingRun};
pub use places::{Place, Places};
pub use problem::{Problem, RecordCommand, Retried};
pub use redacted::{Redacted, ShownText};
pub use redaction::{Redaction, RedactionPattern, SecretVariable};
pub use reference::{Flaw, NoReference, Part, Reference};
pub use response::{Difference, Edit, Grade, Piece, ResponseScore, Steady};
pub use sentence::Text;
pub use stamp::{DIRTY, Git, GitCommit, ImageStamp, Servers, Stamp};
pub use status::{NotRun, Status};
pub use suite::{ScenarioResult, SuiteResult};
pub use trajectory::{AsSaid, Ending, Step, Trajectory, Unsendable};
pub use trouble::{Trouble, Unanswered};
pub use unsteady::{TwoAnswers, Unsteady};
pub use upstream::{Header, IrregularTool, PassedOn, UpstreamCall, UpstreamLane, VaryingArgument};

/// A JSON object, keys in the order they came.
pub type Object = serde_json::Map<String, serde_json::Value>;

/// The digits of numbers that 64 bits cannot hold, by where they stand (JSON pointers).
pub type Digits = std::collections::BTreeMap<String, String>;
