//! The server and the tool that a name means.

use crate::model::Catalogue;

/// The server and the tool a name stands for.
///
/// `mcp__<server>__<tool>` goes to that server even if it lists no such tool: the server's error is then recorded. Server
/// names may hold `__` themselves, so the longest that fits wins. A bare name goes to the one server that lists it.
pub(in crate::run) fn route(catalogue: &Catalogue, name: &str) -> Result<(String, String), String> {
    let servers = || catalogue.servers.iter();
    if let Some(rest) = name.strip_prefix("mcp__") {
        return servers()
            .filter_map(|it| {
                let tool = rest.strip_prefix(it.server.as_str())?.strip_prefix("__")?;
                Some((it.server.clone(), tool.to_owned()))
            })
            .max_by_key(|(server, _)| server.len())
            .ok_or_else(|| no_such_server(catalogue, name));
    }
    let having: Vec<&str> = servers()
        .filter(|it| it.tools.iter().any(|tool| tool.name() == name))
        .map(|it| it.server.as_str())
        .collect();
    match (having.as_slice(), catalogue.servers.as_slice()) {
        ([server], _) => Ok(((*server).to_owned(), name.to_owned())),
        ([], [only]) => Ok((only.server.clone(), name.to_owned())),
        ([], _) => Err(format!(
            "no server lists a tool `{name}`; the servers of this run are {}",
            names(catalogue)
        )),
        (several, _) => {
            let choices: Vec<String> = several
                .iter()
                .map(|it| format!("`mcp__{it}__{name}`"))
                .collect();
            Err(format!(
                "tool `{name}` is ambiguous: write {}",
                choices.join(" or ")
            ))
        }
    }
}

pub(super) fn no_such_server(catalogue: &Catalogue, name: &str) -> String {
    format!(
        "tool `{name}` belongs to no server of this run, which has {}",
        names(catalogue)
    )
}

fn names(catalogue: &Catalogue) -> String {
    let servers = catalogue.servers.iter();
    let names: Vec<String> = servers.map(|it| format!("`{}`", it.server)).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::route;
    use crate::model::{Catalogue, ServerCatalogue, Tool};

    fn catalogue(servers: &[(&str, &[&str])]) -> Catalogue {
        let tool = |name: &&str| Tool {
            served: json!({ "name": name })
                .as_object()
                .cloned()
                .unwrap_or_default(),
        };
        Catalogue {
            servers: servers
                .iter()
                .map(|(server, tools)| ServerCatalogue {
                    server: (*server).to_owned(),
                    tools: tools.iter().map(tool).collect(),
                    ..ServerCatalogue::default()
                })
                .collect(),
            ..Catalogue::default()
        }
    }

    #[test]
    fn names_lead_to_servers() {
        let two = catalogue(&[("a", &["x", "both"]), ("a__b", &["y", "both"])]);
        let routed = |name: &str| match route(&two, name) {
            Ok((server, tool)) => format!("{server} {tool}"),
            Err(message) => message,
        };
        let cases = [
            ("mcp__a__x", "a x"),
            ("mcp__a__b__y", "a__b y"),
            ("mcp__a__unlisted", "a unlisted"),
            ("x", "a x"),
            (
                "both",
                "tool `both` is ambiguous: write `mcp__a__both` or `mcp__a__b__both`",
            ),
            (
                "z",
                "no server lists a tool `z`; the servers of this run are `a`, `a__b`",
            ),
            (
                "mcp__c__x",
                "tool `mcp__c__x` belongs to no server of this run, which has `a`, `a__b`",
            ),
        ];
        for (name, expected) in cases {
            assert_eq!(routed(name), expected);
        }
        let one = catalogue(&[("a", &[])]);
        assert_eq!(route(&one, "gone"), Ok(("a".to_owned(), "gone".to_owned())));
    }
}
