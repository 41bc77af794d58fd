//! Links to the files that lie beside the pages, and to pages elsewhere.

use model::published::result::Link;

/// A relative path as a link: whatever has a meaning in addresses is encoded.
pub fn link(path: &str) -> String {
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
            is_link: link.is_plain_https(),
        }
    }
}
