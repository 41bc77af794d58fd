//! `mcp-eval schema`: the JSON Schema of a kind of file.

use crate::cli::args::{SchemaArgs, SchemaKind};
use crate::cli::commands::{judge_document, scan_document};
use crate::cli::console::Console;
use crate::discovery::verdicts;
use crate::published::{evaluator, history, result, trajectory};
use crate::scenario_file;

pub(in crate::cli) fn run(args: &SchemaArgs) {
    let schema = match args.kind {
        SchemaKind::Scenario => scenario_file::json_schema(),
        SchemaKind::Suite => scenario_file::suite_json_schema(),
        SchemaKind::Mock => scenario_file::mock_json_schema(),
        SchemaKind::Trajectory => trajectory::json_schema(),
        SchemaKind::Result => result::json_schema(),
        SchemaKind::EvaluatorInput => evaluator::input_schema(),
        SchemaKind::EvaluatorVerdict => evaluator::verdict_schema(),
        SchemaKind::Judge => judge_document::json_schema(),
        SchemaKind::Verdicts => verdicts::json_schema(),
        SchemaKind::History => history::json_schema(),
        SchemaKind::Scan => scan_document::json_schema(),
    };
    Console::document(&format!("{schema:#}"));
}
