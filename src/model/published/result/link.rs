//! A page elsewhere that belongs to a run, in the published result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page elsewhere that belongs to the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// What it leads to: `commit`, `pull request`, `CI job`, or what the user calls it.
    pub name: String,
    pub url: String,
}

impl Link {
    /// Whether the address names host and path with nothing odd: no user, no blanks, nothing that would have to be encoded. No other is
    /// made a link of.
    pub fn is_plain_https(&self) -> bool {
        let Some(rest) = self.url.strip_prefix("https://") else {
            return false;
        };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let is_host = |it: char| it.is_ascii_alphanumeric() || ".-:".contains(it);
        let is_plain = |it: char| it.is_ascii_graphic() && !"\"'<>\\^`{|}".contains(it);
        !host.is_empty() && host.chars().all(is_host) && rest.chars().all(is_plain)
    }
}

#[cfg(test)]
mod tests {
    use super::Link;

    #[test]
    fn only_plain_https_addresses_are_links() {
        for (url, expected) in [
            ("https://ci.example.org:8443/job/7?x=1#y", true),
            ("http://ci.example.org/", false),
            ("javascript:alert(1)", false),
            ("https://jane:secret@example.org/", false),
            ("https://", false),
            ("https://example.org/\"><script>", false),
            ("https://example.org/a b", false),
            ("https://example.org/\u{202e}", false),
        ] {
            let link = Link {
                name: "job".to_owned(),
                url: url.to_owned(),
            };
            assert_eq!(link.is_plain_https(), expected, "{url}");
        }
    }
}
