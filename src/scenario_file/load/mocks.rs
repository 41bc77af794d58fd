//! The mock servers of a file, or its script for a model's stand-in, whatever else it holds or lacks.

use super::find::Found;
use super::loader::{Loader, Options};
use super::variables;
use crate::model::Redaction;
use crate::scenario_file::decode::{Decode, NO_HINT, Named, Plain as _, RedactSection, check_keys};
use crate::scenario_file::file::document::Document;
use crate::scenario_file::mock::llm::InteractionSection;
use crate::scenario_file::mock::server::{self, MockSection, SERVER_LISTS, ToolSection};
use crate::scenario_file::mock::{DeclaredServer, LlmInteraction, MockTool};
use crate::scenario_file::yaml::{Content, Entry, Finding, Findings, Node, parse};
use crate::text::nearest::did_you_mean;

const SECTION: &str = "mcp_interactions";

/// What became of a file of mock servers.
#[derive(Debug, Clone)]
pub struct LoadedMocks {
    /// The mock servers by name; none when something is wrong. The only one of a file that declares it at the top has no name.
    pub servers: Vec<(String, DeclaredServer)>,
    /// What the file declares to be secret.
    pub redaction: Redaction,
    /// Everything that is wrong, sorted by path, line and column.
    pub findings: Vec<Finding>,
}

/// Reads the mock servers a scenario declares, or those of a file that holds nothing else: the section `mcp_interactions`, what
/// would stand in it, or a single server.
pub fn mocks(found: &Found) -> LoadedMocks {
    let options = Options::default();
    let mut loader = Loader::new(&options);
    let document = loader.merged(found);
    let mut findings = loader.into_findings();
    let redaction = document.as_ref().map(|it| redaction(it, &findings));
    let servers = document.and_then(|it| {
        server::check(it.get(SECTION).unwrap_or(&it), &mut findings);
        servers(&it, &mut findings)
    });
    let is_right = findings.errors() == 0;
    LoadedMocks {
        servers: servers.filter(|_| is_right).unwrap_or_default(),
        redaction: redaction.unwrap_or_default(),
        findings: findings.into_list(),
    }
}

/// What a document declares to be secret, as far as that is known without the values of all its variables.
pub(in crate::scenario_file) fn redaction(document: &Node, findings: &Findings) -> Redaction {
    // What is wrong there keeps nobody from serving the rest.
    let mut ignored = findings.clone();
    let mut filled = document.clone();
    let (_, secrets) = variables::fill(&mut filled, &[], None, &mut ignored);
    let rules = document.get("redact");
    let rules = rules.and_then(|it| RedactSection::decode(it, &mut ignored));
    let mut redaction = Redaction {
        secrets: secrets.values,
        unset: secrets.unset,
        ..Redaction::default()
    };
    if let Some(rules) = rules {
        rules.add_to(&mut redaction);
    }
    redaction
}

/// Reads one tool, written in JSON or YAML as in a file, but for keys that name files: the tool comes over the network, and what it
/// answers is for whoever sent it.
///
/// # Errors
///
/// What is wrong with it, a finding a line.
pub fn mock_tool(text: &str) -> Result<MockTool, String> {
    let mut findings = Findings::default();
    findings.without_files = true;
    let source = findings.add_text("tool", text);
    let tool = parse(source, &mut findings).and_then(|it| ToolSection::decode(&it, &mut findings));
    match tool {
        Some(tool) if findings.errors() == 0 => Ok(tool.plain(&findings)),
        _ => {
            let list = findings.into_list();
            let list: Vec<String> = list.iter().map(ToString::to_string).collect();
            Err(list.join("\n"))
        }
    }
}

fn servers(document: &Node, findings: &mut Findings) -> Option<Vec<(String, DeclaredServer)>> {
    if document.get(SECTION).is_some() {
        // The other sections are none of our business, and variables are not filled in there; but a misspelt key may have been meant to matter.
        check_keys::<Document>(document, findings);
        let section = document.get(SECTION)?;
        return named(section, findings);
    }
    let is_list = |key: &&str| {
        let value = document.get(key);
        value.is_some_and(|it| matches!(it.content, Content::List(_)))
    };
    if SERVER_LISTS.iter().any(is_list) {
        let server = MockSection::decode(document, findings)?;
        server.check(findings);
        return Some(vec![(String::new(), server.plain(findings))]);
    }
    let keys = document.entries().iter().map(|it| it.key.as_str());
    let near = keys
        .clone()
        .find(|it| did_you_mean(it, [SECTION]).is_some());
    let is_map = |it: &Entry| matches!(it.value.content, Content::Map(_));
    let all_maps = document.entries().iter().all(is_map);
    if all_maps && near.is_none() && document.get("servers").is_none() {
        return named(document, findings);
    }
    let hint = near.map_or_else(
        || format!("declare it under `{SECTION}`"),
        |it| format!("did you mean `{SECTION}` where it says `{it}`?"),
    );
    findings.refuse(document.at, "declares no mock server", Some(hint))
}

fn named(section: &Node, findings: &mut Findings) -> Option<Vec<(String, DeclaredServer)>> {
    if section.entries().is_empty() && matches!(section.content, Content::Map(_)) {
        return findings.refuse(section.at, "declares no mock server", NO_HINT);
    }
    let servers = Named::<MockSection>::decode(section, findings)?;
    for (_, server) in &servers.0 {
        server.check(findings);
    }
    Some(servers.plain(findings))
}

const SCRIPT: &str = "llm_interactions";

/// What became of a file with a script for a model.
#[derive(Debug, Clone)]
pub struct LoadedLlm {
    /// The script; empty when something is wrong.
    pub interactions: Vec<LlmInteraction>,
    /// What the file declares to be secret.
    pub redaction: Redaction,
    /// Everything that is wrong, sorted by path, line and column.
    pub findings: Vec<Finding>,
}

/// Reads the `llm_interactions` of a scenario, or of a file that holds nothing else.
pub fn llm(found: &Found) -> LoadedLlm {
    let options = Options::default();
    let mut loader = Loader::new(&options);
    let document = loader.merged(found);
    let mut findings = loader.into_findings();
    let redaction = document.as_ref().map(|it| redaction(it, &findings));
    let interactions = document.and_then(|it| interactions(&it, &mut findings));
    let is_right = findings.errors() == 0;
    LoadedLlm {
        interactions: interactions.filter(|_| is_right).unwrap_or_default(),
        redaction: redaction.unwrap_or_default(),
        findings: findings.into_list(),
    }
}

fn interactions(document: &Node, findings: &mut Findings) -> Option<Vec<LlmInteraction>> {
    // The other sections are none of our business, and variables are not filled in there; but a misspelt key may have been meant to matter.
    check_keys::<Document>(document, findings);
    let Some(section) = document.get(SCRIPT) else {
        let hint = format!("declare them under `{SCRIPT}`");
        return findings.refuse(
            document.at,
            "declares no interactions of a model",
            Some(hint),
        );
    };
    let script = Vec::<InteractionSection>::decode(section, findings)?;
    if script.is_empty() {
        findings.error(section.at, "lists no interaction", None::<&str>);
    }
    Some(script.plain(findings))
}
