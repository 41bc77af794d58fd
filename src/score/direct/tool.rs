//! The tools of the servers behind a proxy as it lists them: their names there, and what it says of them.

use super::answer::change;
use model::catalogue::Tool;
use model::direct::DirectTool;
use model::trajectory::Trajectory;

/// What the servers under test list a tool of a server behind as, and what they say of it.
pub(super) fn tool(run: &Trajectory, server: &str, tool: &Tool) -> DirectTool {
    let offered = run.catalogue.servers.iter().flat_map(|it| &it.tools);
    let named = offered.filter_map(|it| Some((name(it.name(), server, tool.name())?, it)));
    let listed = named.max_by_key(|(named, _)| *named).map(|(_, it)| it);
    let members = tool.served.iter().filter(|(key, _)| *key != "name");
    let findings = members.filter_map(|(key, was)| match listed?.served.get(key) {
        Some(now) => change(key, was, now),
        None => Some(format!("`{key}` was lost")),
    });
    DirectTool {
        server: server.to_owned(),
        tool: tool.name().to_owned(),
        findings: findings.collect(),
        listed_as: listed.map(|it| it.name().to_owned()),
    }
}

/// How a proxy's name for a tool tells which one of which server it is, the clearer the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    /// By the tool's name alone.
    Tool,
    /// By the server's name after others, and the tool's: `mcp__files__read`, which may also be of a server `mcp__files`.
    Within,
    /// By the server's name and the tool's: `files__read`.
    Exactly,
}

/// How a proxy's name for a tool stands for that of a server behind it; `None` where it stands for another.
fn name(name: &str, server: &str, tool: &str) -> Option<Named> {
    let before = name.strip_suffix(tool)?;
    if before.is_empty() {
        return Some(Named::Tool);
    }
    let prefix = words(before.strip_suffix(|it: char| !it.is_alphanumeric())?);
    let server = words(server);
    if prefix == server {
        Some(Named::Exactly)
    } else {
        let is_last = !server.is_empty() && prefix.ends_with(&server);
        is_last.then_some(Named::Within)
    }
}

/// The words of a name, in lower case.
fn words(name: &str) -> Vec<String> {
    let words = name.split(|it: char| !it.is_alphanumeric());
    let words = words.filter(|it| !it.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{Named, name};

    #[test]
    fn a_tool_is_known_by_its_name_with_that_of_its_server() {
        let cases = [
            ("read", Some(Named::Tool)),
            ("my_files__read", Some(Named::Exactly)),
            ("My-Files.read", Some(Named::Exactly)),
            ("mcp__my-files__read", Some(Named::Within)),
            ("thread", None),
            ("my-filesread", None),
            ("files__read", None),
            ("dummy_files__read", None),
            ("mail__read", None),
            ("read__my-files", None),
            ("my-files__read_all", None),
        ];
        for (listed, expected) in cases {
            assert_eq!(name(listed, "my-files", "read"), expected, "{listed}");
        }
        assert!(Named::Exactly > Named::Within && Named::Within > Named::Tool);
    }
}
