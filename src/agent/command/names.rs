//! The names an agent knows servers and tools by, and the ones the scenario has for them.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Catalogue;

/// A name with every character replaced that agents do not take in the names of servers and tools.
///
/// Claude Code replaces each UTF-16 unit that is no ASCII letter, digit, `_` or `-`; the others ask for such names.
pub(super) fn plain(name: &str) -> String {
    let is_plain = |it: u16| {
        u8::try_from(it).is_ok_and(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-')
    };
    let units = name.encode_utf16();
    units
        .map(|it| match u8::try_from(it) {
            Ok(byte) if is_plain(it) => char::from(byte),
            _ => '_',
        })
        .collect()
}

/// A name of a server that agents take: plain, and without the `__` that would end it in the name of a tool.
pub(super) fn plain_server(name: &str) -> String {
    let plain = plain(name);
    let words: Vec<&str> = plain.split('_').filter(|it| !it.is_empty()).collect();
    if words.is_empty() {
        return "server".to_owned();
    }
    words.join("_")
}

/// For each server a name that the rule lets through and no other has, whatever order they come in.
pub(super) fn aliases<'s>(
    servers: impl Iterator<Item = &'s str>,
    rule: fn(&str) -> String,
) -> BTreeMap<String, String> {
    let servers: BTreeSet<&str> = servers.collect();
    let mut taken: BTreeSet<String> = servers
        .iter()
        .filter(|it| rule(it) == ***it)
        .map(|it| (*it).to_owned())
        .collect();
    let named = servers.into_iter().map(|server| {
        let alias = rule(server);
        if alias == server {
            return (server.to_owned(), alias);
        }
        let numbered = (2..).map(|number| format!("{alias}-{number}"));
        let mut choices = std::iter::once(alias.clone()).chain(numbered);
        let free = choices.find(|it| taken.insert(it.clone()));
        (server.to_owned(), free.unwrap_or(alias))
    });
    named.collect()
}

/// From the names an agent has for tools to `mcp__<server>__<tool>` as the scenario calls them.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    tools: BTreeMap<String, String>,
    servers: Vec<Named>,
}

#[derive(Debug, Clone)]
struct Named {
    server: String,
    alias: String,
    /// What the agent's names for its tools begin with.
    prefix: String,
}

impl Names {
    /// The names for a run's servers, which the agent knows by these aliases and whose tools it calls by `name(alias, tool)`.
    pub(super) fn new(
        catalogue: &Catalogue,
        aliases: &BTreeMap<String, String>,
        name: fn(&str, &str) -> String,
    ) -> Self {
        let mut names = Self::default();
        for it in &catalogue.servers {
            let alias = aliases.get(&it.server).unwrap_or(&it.server);
            for tool in &it.tools {
                let full = format!("mcp__{}__{}", it.server, tool.name());
                let known = name(alias, tool.name());
                names.tools.entry(known).or_insert(full);
            }
            names.servers.push(Named {
                server: it.server.clone(),
                prefix: name(alias, ""),
                alias: alias.clone(),
            });
        }
        // Where one begins like another, the longer one is meant.
        let servers = &mut names.servers;
        servers.sort_by_key(|it| std::cmp::Reverse(it.prefix.len()));
        names
    }

    /// The scenario's name for a tool; a tool of no server keeps the name the agent has for it.
    pub(super) fn full(&self, name: &str) -> String {
        if let Some(full) = self.tools.get(name) {
            return full.clone();
        }
        let unlisted = self.servers.iter().find_map(|it| {
            let tool = name.strip_prefix(it.prefix.as_str())?;
            (!tool.is_empty()).then(|| format!("mcp__{}__{tool}", it.server))
        });
        unlisted.unwrap_or_else(|| name.to_owned())
    }

    /// The scenario's servers.
    pub(super) fn servers(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(|it| it.server.as_str())
    }

    /// The agent's names for the servers.
    pub(super) fn aliases(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(|it| it.alias.as_str())
    }

    /// The scenario's name for a server the agent knows by this one.
    pub(super) fn server(&self, alias: &str) -> Option<&str> {
        let found = self.servers.iter().find(|it| it.alias == alias);
        found.map(|it| it.server.as_str())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Names, aliases, plain, plain_server};
    use crate::model::{Catalogue, ServerCatalogue, Tool};

    #[test]
    fn aliases_are_plain_and_different() {
        let servers = [
            "weather",
            "a.b",
            "a_b",
            "a b",
            "wetter.\u{1F327}",
            "\u{1F327}",
            "a__b",
        ];
        let aliases = aliases(servers.into_iter(), plain_server);
        let alias = |server: &str| aliases[server].as_str();
        assert_eq!(
            servers.map(alias),
            [
                "weather", "a_b-3", "a_b", "a_b-2", "wetter", "server", "a_b-4"
            ]
        );
    }

    #[test]
    fn names_lead_back_to_the_scenario() {
        let server = |name: &str, tools: &[&str]| ServerCatalogue {
            server: name.to_owned(),
            tools: tools
                .iter()
                .map(|it| Tool {
                    served: json!({ "name": it }).as_object().cloned().unwrap(),
                })
                .collect(),
            ..ServerCatalogue::default()
        };
        let catalogue = Catalogue {
            servers: vec![server("a", &["b__c"]), server("a.b", &["find.it", "c"])],
            ..Catalogue::default()
        };
        let servers = catalogue.servers.iter().map(|it| it.server.as_str());
        let aliases = aliases(servers, plain_server);
        let name = |alias: &str, tool: &str| format!("mcp__{alias}__{}", plain(tool));
        let names = Names::new(&catalogue, &aliases, name);
        for (known, full) in [
            ("mcp__a_b__find_it", "mcp__a.b__find.it"),
            ("mcp__a_b__made_up", "mcp__a.b__made_up"),
            ("mcp__a__b__c", "mcp__a__b__c"),
            ("mcp__a__", "mcp__a__"),
            ("mcp__other__c", "mcp__other__c"),
            ("Bash", "Bash"),
        ] {
            assert_eq!(names.full(known), full);
        }
        assert_eq!(names.server("a_b"), Some("a.b"));
        assert_eq!(names.server("a.b"), None);
    }
}
