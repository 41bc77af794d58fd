//! Data sets of searches and scanners, read from files; and where a proxy is that is asked about them.

use std::path::Path;

use serde_json::Value;

use crate::cli::args::ProxyArgs;
use crate::cli::exit::{Exit, Failure};
use crate::discovery::golden::{Corpus, Golden};
use crate::discovery::places::Document;
use crate::discovery::search;
use crate::model::Redaction;
use crate::redact::{Redactor, Secrets};
use crate::scenario_file::Finding;
use crate::{input, suite};

/// Reads a file of JSON.
///
/// # Errors
///
/// When it cannot be read or is no JSON: nothing can be measured with it.
pub(super) fn document(path: &Path) -> Result<Document, Failure> {
    let shown = path.display().to_string();
    let text = input::read_to_string(path)
        .map_err(|error| Failure::incomplete(format!("{shown} cannot be read: {error}")))?;
    Document::parse(&shown, text).map_err(|it| invalid(&it))
}

/// Reads the tools of a corpus.
pub(super) fn corpus(path: &Path) -> Result<(Document, Corpus), Failure> {
    let document = document(path)?;
    let corpus = Corpus::read(&document).map_err(|it| invalid(&it))?;
    Ok((document, corpus))
}

/// Reads labelled queries.
pub(super) fn golden(path: &Path) -> Result<(Document, Golden), Failure> {
    let document = document(path)?;
    let golden = Golden::read(&document).map_err(|it| invalid(&it))?;
    Ok((document, golden))
}

/// A failure that shows findings.
pub(super) fn invalid(findings: &[Finding]) -> Failure {
    Failure {
        exit: Exit::Incomplete,
        ..Failure::invalid(findings)
    }
}

/// Where the proxy is, and the key it is asked with: as the command line says, else the environment, else `.env` in this folder.
///
/// # Errors
///
/// When that file cannot be read.
pub(super) fn place(args: &ProxyArgs) -> Result<search::Place, Failure> {
    suite::usual_place(args.base_url.as_deref(), args.api_key.as_deref())
        .map_err(Failure::incomplete)
}

/// Hides the key, what the environment holds of secrets, and what is written into the declarations of searches.
pub(super) fn redactor(place: Option<&search::Place>, declared: &[Value]) -> Redactor {
    let mut secrets = Secrets::of_environment();
    if let Some(place) = place {
        suite::place_secrets(place, &mut secrets);
    }
    for it in declared {
        suite::search_secrets(it, &mut secrets);
    }
    Redactor::new(&secrets, &Redaction::default())
}
