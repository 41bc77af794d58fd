//! `mcp-eval datasets validate`: all that is wrong with a corpus and the queries labelled on it.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use crate::cli::args::{DatasetsValidateArgs, ResultFormat};
use crate::cli::commands::validate::FindingsDocument;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::discovery::check::check;
use crate::discovery::golden::{Corpus, Golden};
use crate::discovery::places::Document;
use crate::input;
use crate::json;
use crate::redact;
use crate::scenario_file::{Finding, sort};

pub(super) fn run(args: &DatasetsValidateArgs, console: Console) -> Result<Exit, Failure> {
    let mut findings = Vec::new();
    // What is wrong with one file is reported beside what is wrong with the other.
    let corpus = read(&args.corpus, Corpus::read_partly, &mut findings)?;
    let golden = read(&args.golden, Golden::read_partly, &mut findings)?;
    if let (Some(corpus), Some(golden)) = (&corpus, &golden) {
        findings.extend(check(corpus.into(), golden.into()));
    }
    sort(&mut findings);
    let queries = golden.as_ref().map_or(0, |(_, it)| it.queries.len());
    let version = corpus.as_ref().and_then(|(_, it)| it.version.as_deref());
    let labelled = golden.as_ref();
    let version = version.or_else(|| labelled.and_then(|(_, it)| it.corpus_version.as_deref()));
    let checked = json!({ "queries": queries, "corpus_version": version });
    let document = FindingsDocument::new(checked, &findings);
    match args.printed.format {
        ResultFormat::Json => {
            let clean = redact::environment().measured(json!(document));
            Console::document(&clean.derive(json::pretty));
        }
        ResultFormat::Terminal => {
            let mut text = String::new();
            if document.is_valid() {
                let version =
                    version.map_or_else(|| args.corpus.display().to_string(), str::to_owned);
                let _ = writeln!(text, "OK: {queries} queries valid against {version}");
            }
            for finding in &findings {
                let _ = writeln!(text, "{finding}\n");
            }
            if !findings.is_empty() {
                let _ = writeln!(text, "{}", document.counts().join(", "));
            }
            console.result(&redact::environment().known(&text));
        }
    }
    Ok(if document.is_valid() {
        Exit::Passed
    } else {
        // Nothing can be measured with such files.
        Exit::Incomplete
    })
}

/// A file as far as it can be read; what is wrong with it goes to the findings.
fn read<T>(
    path: &Path,
    read: fn(&Document, &mut Vec<Finding>) -> Option<T>,
    findings: &mut Vec<Finding>,
) -> Result<Option<(Document, T)>, Failure> {
    let shown = path.display().to_string();
    let text = input::read_to_string(path)
        .map_err(|error| Failure::incomplete(format!("{shown} cannot be read: {error}")))?;
    let document = match Document::parse(&shown, text) {
        Ok(document) => document,
        Err(found) => {
            findings.extend(found);
            return Ok(None);
        }
    };
    Ok(read(&document, findings).map(|it| (document, it)))
}
