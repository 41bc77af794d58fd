//! Links to the files that lie beside the pages, and to pages elsewhere.

use crate::published::result::Link;

/// A relative path as a link: whatever has a meaning in addresses is encoded.
pub(super) fn link(path: &str) -> String {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"/._-~".contains(&it);
    let encoded = path.bytes().map(|it| match it {
        it if plain(it) => char::from(it).to_string(),
        it => format!("%{it:02X}"),
    });
    encoded.collect()
}

/// A page elsewhere, and whether it is shown as a link: anything but a plain `https` address is shown as text.
pub(super) struct ElsewhereView<'a> {
    pub(super) name: &'a str,
    pub(super) url: &'a str,
    pub(super) is_link: bool,
}

impl<'a> ElsewhereView<'a> {
    pub(super) fn new(link: &'a Link) -> Self {
        Self {
            name: &link.name,
            url: &link.url,
            is_link: is_plain_https(&link.url),
        }
    }
}

/// Whether an address names host and path with nothing odd: no user, no blanks, nothing that would have to be encoded.
fn is_plain_https(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("https://") else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_host = |it: char| it.is_ascii_alphanumeric() || ".-:".contains(it);
    let is_plain = |it: char| it.is_ascii_graphic() && !"\"'<>\\^`{|}".contains(it);
    !host.is_empty() && host.chars().all(is_host) && rest.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::is_plain_https;

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
            assert_eq!(is_plain_https(url), expected, "{url}");
        }
    }
}
