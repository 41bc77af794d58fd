//! Tools that break clients of other people, though not this one.

use std::collections::HashSet;

use serde_json::Value;

use crate::model::{Catalogue, Tool};

/// The longest name of a tool that all clients take.
const LONGEST_NAME: usize = 64;
/// How deep schemas are looked into.
const DEPTH: usize = 100;
/// How many things are shown one by one.
const SHOWN: usize = 3;

/// One line about all that may break them; `None` where nothing does.
pub(super) fn breaks_clients(catalogue: &Catalogue) -> Option<String> {
    let mut found = Vec::new();
    for server in &catalogue.servers {
        let mut names = HashSet::new();
        for tool in &server.tools {
            let name = tool.name();
            if !names.insert(name) {
                found.push(format!("`{name}` is listed twice"));
            }
            of_tool(tool, &mut found);
        }
    }
    let shown: Vec<&str> = found.iter().take(SHOWN).map(String::as_str).collect();
    let more = match found.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (!shown.is_empty()).then(|| {
        format!(
            "some clients drop such tools, or all of a server's: {}{more}",
            shown.join("; ")
        )
    })
}

fn of_tool(tool: &Tool, found: &mut Vec<String>) {
    let name = tool.name();
    if name.chars().count() > LONGEST_NAME {
        found.push(format!("`{name}` has more than {LONGEST_NAME} characters"));
    }
    let nulls = tool.served.iter().filter(|(_, it)| it.is_null());
    found.extend(nulls.map(|(member, _)| format!("`{member}` of `{name}` is null")));
    for (member, shown) in [("inputSchema", "input"), ("outputSchema", "output")] {
        let Some(schema) = tool.served.get(member) else {
            continue;
        };
        let mut lost = Vec::new();
        unresolved(schema, schema, DEPTH, &mut lost);
        found.extend(lost.first().map(|it| {
            format!("the {shown} schema of `{name}` refers to `{it}`, which is not there")
        }));
        let branch = ["anyOf", "oneOf", "allOf"].into_iter();
        let branch = branch.filter(|_| member == "inputSchema");
        let branch = branch.into_iter().find(|it| schema.get(it).is_some());
        found.extend(
            branch.map(|it| format!("the {shown} schema of `{name}` has `{it}` at its top")),
        );
    }
}

/// The references within a schema that lead nowhere in it.
fn unresolved<'s>(schema: &'s Value, whole: &Value, depth: usize, lost: &mut Vec<&'s str>) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(to)) = members.get("$ref")
                && let Some(pointer) = to.strip_prefix('#')
                && (pointer.is_empty() || pointer.starts_with('/'))
                && whole.pointer(pointer).is_none()
            {
                lost.push(to);
            }
            (members.values()).for_each(|it| unresolved(it, whole, depth, lost));
        }
        Value::Array(items) => (items.iter()).for_each(|it| unresolved(it, whole, depth, lost)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::breaks_clients;
    use crate::model::{Catalogue, ServerCatalogue, Tool};

    #[test]
    fn what_breaks_clients_is_one_line() {
        let of = |tools: serde_json::Value| {
            let tools = tools.as_array().cloned().unwrap_or_default().into_iter();
            let tools = tools.map(|it| Tool {
                served: it.as_object().cloned().unwrap_or_default(),
            });
            let server = ServerCatalogue {
                tools: tools.collect(),
                ..ServerCatalogue::default()
            };
            breaks_clients(&Catalogue {
                servers: vec![server],
                ..Catalogue::default()
            })
        };
        let sound = json!([{
            "name": "a",
            "inputSchema": { "properties": { "x": { "$ref": "#/$defs/X", "anyOf": [{}] } }, "$defs": { "X": {} } },
            "outputSchema": { "anyOf": [{ "$ref": "https://example.org/x" }] },
        }]);
        assert_eq!(of(sound), None);
        let cases = [
            (
                json!([{ "name": "a" }, { "name": "a" }]),
                "`a` is listed twice",
            ),
            (
                json!([{ "name": "a", "title": null }]),
                "`title` of `a` is null",
            ),
            (
                json!([{ "name": "x".repeat(65) }]),
                "more than 64 characters",
            ),
            (
                json!([{ "name": "a", "outputSchema": { "items": [{ "$ref": "#/$defs/S" }] } }]),
                "the output schema of `a` refers to `#/$defs/S`, which is not there",
            ),
            (
                json!([{ "name": "a", "inputSchema": { "oneOf": [] } }]),
                "the input schema of `a` has `oneOf` at its top",
            ),
            (
                json!([{ "name": "a" }, { "name": "a" }, { "name": "a" }, { "name": "a" }, { "name": "a" }]),
                "; and 1 more",
            ),
        ];
        for (tools, said) in cases {
            let line = of(tools.clone()).unwrap_or_default();
            assert!(line.contains(said), "{tools}: {line}");
        }
    }
}
