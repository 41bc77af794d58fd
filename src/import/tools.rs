//! The servers and tools of a recording: what it says of them, and their names in calls.

use std::collections::HashMap;

use serde_json::Value;

use crate::model::{Catalogue, ServerCatalogue, Tool};

/// The servers the session was connected to, as its first message names them.
pub(super) fn servers(messages: &[Value]) -> Vec<String> {
    let listed = messages.iter().filter_map(|it| {
        it.get("content")?
            .get("data")?
            .get("mcp_servers")?
            .as_array()
    });
    listed
        .flatten()
        .filter_map(|it| Some(it.get("name")?.as_str()?.to_owned()))
        .collect()
}

/// The server and the tool of `mcp__<server>__<tool>`, and the bare name of a tool that is no MCP tool.
///
/// The longest known server that fits wins, because names may hold `__` themselves. Sessions write any other sign in a server's name
/// than letters, digits, `_` and `-` as `_`.
pub(super) fn split(name: &str, servers: &[String]) -> (Option<String>, String) {
    let Some(rest) = name.strip_prefix("mcp__") else {
        return (None, name.to_owned());
    };
    let fits = |server: &str| {
        rest.strip_prefix(&*in_tool_names(server))?
            .strip_prefix("__")
    };
    let known = servers
        .iter()
        .filter_map(|server| Some((server.as_str(), fits(server)?)))
        .max_by_key(|(server, _)| server.len());
    match known
        .or_else(|| rest.split_once("__"))
        .filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
    {
        Some((server, tool)) => (Some(server.to_owned()), tool.to_owned()),
        None => (None, name.to_owned()),
    }
}

fn in_tool_names(server: &str) -> String {
    let is_kept = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    server
        .chars()
        .map(|it| if is_kept(it) { it } else { '_' })
        .collect()
}

/// The tools the log knows, where it discovered any.
///
/// Some versions of the tool asked the model for its tools and kept the calls it made. Those are no list of what was offered, and
/// would show as drift, so only entries with a description or a schema count.
pub(super) fn catalogue(log: &Value, servers: &[String]) -> Catalogue {
    let mut catalogue = Catalogue::default();
    let mut indices = HashMap::new();
    let listed = log
        .get("available_tools")
        .and_then(|it| it.get("tools"))
        .and_then(Value::as_array);
    for mut served in listed
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .cloned()
    {
        if let Some(schema) = served.remove("input_schema") {
            served.entry("inputSchema").or_insert(schema);
        }
        let Some(name) = served.get("name").and_then(Value::as_str) else {
            continue;
        };
        if !served.contains_key("inputSchema") && !served.contains_key("description") {
            continue;
        }
        let (server, bare) = split(name, servers);
        let only = servers.first().filter(|_| servers.len() == 1);
        let Some(server) = server.or_else(|| only.cloned()) else {
            continue;
        };
        served.insert("name".to_owned(), Value::String(bare));
        let index = *indices.entry(server.clone()).or_insert_with(|| {
            catalogue.servers.push(ServerCatalogue {
                server,
                ..ServerCatalogue::default()
            });
            catalogue.servers.len() - 1
        });
        catalogue.servers[index].tools.push(Tool { served });
    }
    catalogue
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Tool, catalogue, split};

    #[test]
    fn the_longest_known_server_wins() {
        let servers = ["front", "front__desk", "my desk"].map(str::to_owned);
        for (name, server, tool) in [
            ("mcp__front__note", Some("front"), "note"),
            ("mcp__front__desk__greet", Some("front__desk"), "greet"),
            ("mcp__my_desk__greet", Some("my desk"), "greet"),
            ("mcp__other__a__b", Some("other"), "a__b"),
            ("mcp__front", None, "mcp__front"),
            ("mcp____x", None, "mcp____x"),
            ("mcp__front__", None, "mcp__front__"),
            ("TodoWrite", None, "TodoWrite"),
        ] {
            let expected = (server.map(str::to_owned), tool.to_owned());
            assert_eq!(split(name, &servers), expected, "{name}");
        }
    }

    #[test]
    fn only_what_was_offered_is_in_the_catalogue() {
        let log = json!({ "available_tools": { "tools": [
            { "name": "mcp__front__note", "description": "Notes", "input_schema": { "type": "object" } },
            { "name": "mcp__front__look", "id": "t1", "input": { "at": 1 }, "discovered_via": "tool_call" },
            { "name": "bare", "inputSchema": {} },
            { "description": "nameless" },
        ] } });
        let known = catalogue(&log, &["front".to_owned()]);
        assert_eq!(known.servers.len(), 1);
        let tools: Vec<&str> = known.servers[0].tools.iter().map(Tool::name).collect();
        assert_eq!(tools, ["note", "bare"]);
        assert!(known.servers[0].tools[0].input_schema().is_some());
        assert!(catalogue(&log, &[]).tool("front", "note").is_some());
        assert!(catalogue(&log, &[]).tool("front", "bare").is_none());
    }
}
