//! Data sets of searches and scanners, read from files; and where a proxy is that is asked about them.

use std::path::Path;

use crate::cli::args::ProxyArgs;
use crate::cli::failure::Failure;
use crate::discovery::corpus::Corpus;
use crate::discovery::finding::Finding;
use crate::discovery::golden::Golden;
use crate::discovery::places::Document;
use crate::discovery::search;
use crate::input;
use crate::model::redaction::Redaction;
use crate::redact::{Redactor, Secrets};

/// Where a proxy is, unless told otherwise.
const USUAL_ADDRESS: &str = "http://127.0.0.1:8080";

/// The variables that say it.
const ADDRESS: &str = "MCPPROXY_BASE_URL";
const KEY: &str = "MCPPROXY_API_KEY";

/// The file with variables that is read where the environment lacks one.
const DOTENV: &str = ".env";

/// Reads a file of JSON.
///
/// # Errors
///
/// When it cannot be read or is no JSON: nothing can be measured with it.
pub(super) fn document(path: &Path) -> Result<Document, Failure> {
    let shown = path.display().to_string();
    let text = input::read_to_string(path)
        .map_err(|error| Failure::incomplete(format!("{shown} cannot be read: {error}")))?;
    Document::parse(&shown, text).map_err(|it| invalid(&[it]))
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
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    Failure::incomplete(findings.join("\n"))
}

/// Where the proxy is, and the key it is asked with: as the command line says, else the environment, else `.env` in this folder.
pub(super) fn place(args: &ProxyArgs) -> search::Place {
    let file = input::read_to_string(Path::new(DOTENV)).unwrap_or_default();
    let given = |value: &Option<String>, name: &str| {
        let given = value.clone().or_else(|| variable(&file, name));
        given.filter(|it| !it.is_empty())
    };
    let base_url = given(&args.base_url, ADDRESS);
    let base_url = base_url.as_deref().unwrap_or(USUAL_ADDRESS);
    search::Place {
        base_url: base_url.trim_end_matches('/').to_owned(),
        api_key: given(&args.api_key, KEY),
    }
}

/// Hides the key, and what the environment holds of secrets.
pub(super) fn redactor(place: &search::Place) -> Redactor {
    let mut secrets = Secrets::of_environment();
    if let Some(key) = &place.api_key {
        secrets.declare(KEY, "", key);
    }
    Redactor::new(&secrets, &Redaction::default())
}

/// A variable of a `.env` file: `NAME=value`, in quotes or not, `export` before it or not.
fn variable(file: &str, name: &str) -> Option<String> {
    let mut lines = file.lines().rev().map(str::trim);
    lines.find_map(|line| {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (key, value) = line.split_once('=')?;
        if key.trim() != name {
            return None;
        }
        let value = value.trim();
        let quoted = ['"', '\''].into_iter().find_map(|quote| {
            let rest = value.strip_prefix(quote)?;
            rest.split(quote).next()
        });
        let plain = || value.split(" #").next().unwrap_or_default().trim_end();
        Some(quoted.unwrap_or_else(plain).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::variable;

    #[test]
    fn variables_stand_in_a_file() {
        let file = "# A=0\nA=1 # one\nexport B=\"two # 2\" # more\nC='3'\nA=4\nD=\n";
        let of = |name| variable(file, name);
        assert_eq!(of("A").as_deref(), Some("4"));
        assert_eq!(of("B").as_deref(), Some("two # 2"));
        assert_eq!(of("C").as_deref(), Some("3"));
        assert_eq!(of("D").as_deref(), Some(""));
        assert_eq!(of("E"), None);
    }
}
