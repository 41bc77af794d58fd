//! Requests to a search, and reading its answers.
//!
//! A search finds tools, or servers, for a query in words. It may be an address of a REST API or a tool of an MCP server; what differs
//! between searches is declared in a [`Search`], of which some are known by name.

mod answer;
mod catalogue;
mod http;
mod spec;
mod tool;

pub use answer::{Answer, Found, Said, Unanswered, doubts, read_answer};
pub use catalogue::{LiveTool, drift, read_catalogue};
pub use http::{Place, Rest};
pub use spec::{Ask, Finds, HttpAsk, Listing, Search, ToolAsk, preset};
pub use tool::{SaidByTool, filled_arguments, said_by_tool};

use crate::model::json_path::JsonPath;

/// The values at a path; of a list, its items. `None` where the path leads nowhere. A `null` is an empty list: so do servers write it whose
/// language has no other.
fn items<'v>(
    document: &'v serde_json::Value,
    path: &JsonPath,
) -> Option<Vec<&'v serde_json::Value>> {
    let found = path.find(document);
    if found.is_empty() && !path.is_pattern() {
        return None;
    }
    let mut items = Vec::new();
    for value in found {
        match value {
            serde_json::Value::Array(list) => items.extend(list),
            serde_json::Value::Null => {}
            other => items.push(other),
        }
    }
    Some(items)
}
