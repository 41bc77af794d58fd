//! Links to the files that lie beside the pages.

/// A relative path as a link: whatever has a meaning in addresses is encoded.
pub(super) fn link(path: &str) -> String {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"/._-~".contains(&it);
    let encoded = path.bytes().map(|it| match it {
        it if plain(it) => char::from(it).to_string(),
        it => format!("%{it:02X}"),
    });
    encoded.collect()
}
