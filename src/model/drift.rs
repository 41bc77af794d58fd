//! Changes in the tools that a server offers: a value for each change, and the sentence on it.

use std::fmt::{self, Write as _};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Text;

/// One thing that changed in the catalogue of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    pub server: String,
    /// The tool's bare name; `*` for the server as a whole.
    pub tool: String,
    /// What happened.
    #[serde(rename = "code")]
    pub what: ToolChange,
    /// The same in words, for those who read the document.
    #[serde(rename = "what", default)]
    pub text: Text,
    /// A call that the baseline recorded would be refused now.
    pub breaking: bool,
    /// The baseline calls this tool.
    pub used: bool,
    /// The numbers of the baseline's calls that would be refused now.
    #[serde(default)]
    pub refused: Vec<usize>,
    /// Where in the tool it is, such as `description` or `inputSchema/properties/limit`; empty for the tool as a whole.
    #[serde(default)]
    pub path: String,
    /// What was there, shortened around the difference; `null` where there was nothing.
    #[serde(default)]
    pub was: Option<String>,
    /// What is there now; `null` where there is nothing.
    #[serde(default)]
    pub now: Option<String>,
}

/// What happened to a tool, or to all of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolChange {
    New,
    /// It is not listed any more; the name of the tool that is nearest to it.
    Gone {
        nearest: Option<String>,
    },
    /// It has this name now.
    Renamed(String),
    /// Several tools have other names by one rule, in words.
    RenamedAlike(String),
    /// It is listed so many times.
    Listed(usize),
    /// The server is gone, which had so many tools.
    ServerGone(usize),
    /// The server lists none of so many tools any more.
    ListsNothing(usize),
    LostCapability(String),
    Instructions,
    ServerName,
    Protocol,
    /// It refuses the revisions of the protocol that begin with `initialize`, in which it was spoken to: this one, for example.
    ProtocolGone(String),
    Description,
    Title,
    Meta,
    /// The hint of this name.
    Annotation(String),
    /// Whether it is said to only read; `null` where nothing is said any more.
    OnlyReads(Option<bool>),
    /// What it accepts.
    Input(SchemaChange),
    /// What it answers with, and so many changes more.
    Output {
        first: SchemaChange,
        more: usize,
    },
    NewOutput,
    NoOutput,
    /// In words, of results of earlier programs.
    Described(String),
}

/// What happened at one place of a schema.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct SchemaChange {
    /// The parameter, as in `filter.tags[]`; empty for the schema as a whole.
    pub parameter: String,
    /// What happened to it, in words: `became a string`.
    pub detail: String,
    /// The words say what it was and is.
    pub has_values: bool,
}

/// One thing that changed in a tool of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ToolDrift {
    pub server: String,
    /// The tool's bare name; `*` for the server as a whole.
    pub tool: String,
    pub change: ToolChange,
}

impl Drift {
    /// The change with what it is of.
    pub fn of_tool(&self) -> ToolDrift {
        ToolDrift {
            server: self.server.clone(),
            tool: self.tool.clone(),
            change: self.what.clone(),
        }
    }

    /// What the same change of several tools of a server has in common: what happened to a parameter, or that hints changed. `None` for
    /// changes that are one by themselves.
    pub fn alike(&self) -> Option<(&str, Option<&SchemaChange>)> {
        match &self.what {
            ToolChange::Input(change) => Some((&self.server, Some(change))),
            ToolChange::Annotation(_) | ToolChange::OnlyReads(_) => Some((&self.server, None)),
            _ => None,
        }
    }
}

impl fmt::Display for ToolDrift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = format!("`{}`", self.tool);
        f.write_str(&self.change.said(&self.server, &tool))
    }
}

impl ToolChange {
    /// The change in a sentence on these tools, which are in back quotes.
    pub fn said(&self, server: &str, tools: &str) -> String {
        match self {
            Self::New => format!("tool {tools} is new"),
            Self::Gone { nearest: None } => format!("tool {tools} is gone"),
            Self::Gone {
                nearest: Some(name),
            } => format!("tool {tools} is gone; nearest: `{name}`"),
            Self::Renamed(name) => format!("tool {tools} was renamed to `{name}`"),
            Self::RenamedAlike(said) | Self::Described(said) => said.clone(),
            Self::Listed(times) => format!("tool {tools} is listed {times} times"),
            Self::ServerGone(count) => format!("server `{server}` is gone, with its {count} tools"),
            Self::ListsNothing(count) => {
                format!("server `{server}` lists none of its {count} tools any more")
            }
            Self::LostCapability(name) => {
                format!("server `{server}` has lost the capability `{name}`")
            }
            Self::Instructions => format!("the instructions of server `{server}` changed"),
            Self::ServerName => format!("server `{server}` calls itself otherwise"),
            Self::Protocol => format!("server `{server}` speaks another version of the protocol"),
            Self::ProtocolGone(version) => {
                format!("server `{server}` no longer serves MCP {version}")
            }
            Self::Description => format!("description of {tools} changed"),
            Self::Title => format!("title of {tools} changed"),
            Self::Meta => format!("`_meta` of {tools} changed"),
            Self::Annotation(name) => format!("`{name}` of {tools} changed"),
            Self::OnlyReads(Some(true)) => format!("{tools} is now said to only read"),
            Self::OnlyReads(Some(false)) => format!("{tools} is now said to change things"),
            Self::OnlyReads(None) => {
                format!("{tools} is no longer said to only read or to change things")
            }
            Self::Input(SchemaChange {
                parameter, detail, ..
            }) => match parameter.as_str() {
                "" => format!("arguments of {tools}: {detail}"),
                name => format!("parameter `{name}` of {tools} {detail}"),
            },
            Self::Output { first, more } => {
                let mut said = format!("output schema of {tools} changed: ");
                if !first.parameter.is_empty() {
                    let _ = write!(said, "`{}` ", first.parameter);
                }
                said.push_str(&first.detail);
                if *more > 0 {
                    let _ = write!(said, ", and {more} more");
                }
                said
            }
            Self::NewOutput => format!("{tools} has an output schema now"),
            Self::NoOutput => format!("{tools} has no output schema any more"),
        }
    }

    /// Whether the sentence says what it was and is.
    pub fn has_values(&self) -> bool {
        match self {
            Self::New
            | Self::Gone { .. }
            | Self::Renamed(_)
            | Self::LostCapability(_)
            | Self::ProtocolGone(_)
            | Self::RenamedAlike(_)
            | Self::ServerGone(_)
            | Self::ListsNothing(_) => true,
            Self::Input(it) => it.has_values,
            Self::Output { first, more } => first.has_values && *more == 0,
            _ => false,
        }
    }

    /// Whether a name is not listed any more: of a tool, of several, of a server.
    pub fn is_gone(&self) -> bool {
        matches!(
            self,
            Self::Gone { .. }
                | Self::Renamed(_)
                | Self::RenamedAlike(_)
                | Self::ServerGone(_)
                | Self::ListsNothing(_)
        )
    }

    /// The tool that is nearest to one that is gone.
    pub fn nearest(&self) -> Option<&String> {
        match self {
            Self::Gone { nearest } => nearest.as_ref(),
            _ => None,
        }
    }
}
