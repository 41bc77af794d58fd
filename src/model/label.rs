//! What a call is for, where its tool only passes calls on: gateways have one tool that calls all others.
//!
//! A label is for people alone. Nothing is matched, scored or stored by it.

/// How calls are labelled besides the usual ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// A tool's bare or full name, and the way to the text in its arguments.
    pub own: Vec<(String, Vec<String>)>,
}

/// A tool with its label, for people: `call_tool_read → everything:echo`.
pub fn labelled(tool: &str, label: Option<&str>) -> String {
    match label {
        Some(label) => format!("{tool} → {label}"),
        None => tool.to_owned(),
    }
}
