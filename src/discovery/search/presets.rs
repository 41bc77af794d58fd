//! Searches that are known by name.

use serde_json::{Value, json};

/// What is declared of a known search.
pub fn preset(name: &str) -> Option<Value> {
    let query_and_limit = json!({ "query": "{{query}}", "limit": "{{limit}}" });
    Some(match name {
        "mcpproxy-rest" => json!({
            "name": name,
            "http": {
                "url": "{{base_url}}/api/v1/index/search",
                "query": { "q": "{{query}}", "limit": "{{limit}}" },
                "headers": { "X-API-Key": "{{api_key}}" },
            },
            "list": "data.results",
            "id": "{{tool.server_name}}:{{tool.name}}",
            "score": "score",
            "catalogue": {
                "http": {
                    "url": "{{base_url}}/api/v1/tools",
                    "headers": { "X-API-Key": "{{api_key}}" },
                },
                "list": "data.tools",
                "id": "{{server_name}}:{{name}}",
            },
        }),
        "mcpproxy" => json!({
            "name": name,
            "tool": { "name": "retrieve_tools", "arguments": query_and_limit },
            "list": "tools",
            "id": "{{server}}:{{name}}",
            "score": "score",
        }),
        "toolhive" => json!({
            "name": name,
            "tool": {
                "name": "find_tool",
                "arguments": { "tool_description": "{{query}}", "tool_keywords": [], "limit": "{{limit}}" },
            },
            "list": "tools",
            "id": "{{name}}",
            "split": "_",
        }),
        "docker-find" => json!({
            "name": name,
            "tool": { "name": "mcp-find", "arguments": query_and_limit },
            "list": "servers",
            "id": "{{name}}",
            "finds": "servers",
        }),
        "fastmcp" => json!({
            "name": name,
            "tool": { "name": "search_tools", "arguments": { "query": "{{query}}" } },
            "list": ["$", "result"],
            "id": "{{name}}",
            "split": "_",
        }),
        _ => return None,
    })
}
