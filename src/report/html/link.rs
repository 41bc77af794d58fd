//! The names of the pages, and links to the files that lie beside them and to pages elsewhere.

use model::published::result::Link;
use sha2::{Digest, Sha256};

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

/// The longest readable part of a name; file systems commonly stop at 255 bytes.
const LONGEST: usize = 80;

/// Names a page must not have: the index, and what Windows keeps for devices.
const RESERVED: &[&str] = &["index", "con", "prn", "aux", "nul"];

/// The file name of the page of the scenario `id`: safe in any file system and URL, and different for different ids.
///
/// An id of lower-case letters, digits, `-`, `_` and `/` stays readable, with `.` in place of `/`. Any other id is made
/// of those, followed by `~` and a hash of the id, also where two ids differ only in what file systems ignore.
pub fn page_name(id: &str) -> String {
    let readable = id.replace('/', ".");
    if is_plain(id) && readable.len() <= LONGEST {
        return format!("{readable}.html");
    }
    let readable: String = readable
        .chars()
        .take(LONGEST)
        .map(|it| if is_safe(it) { it } else { '-' })
        .collect();
    let hash = hex::encode(Sha256::digest(id.as_bytes()));
    format!("{readable}~{}.html", &hash[..16])
}

fn is_plain(id: &str) -> bool {
    let first = id.split('/').next().unwrap_or_default();
    id.chars().all(|it| is_safe(it) || it == '/')
        && id.split('/').all(|part| !part.is_empty())
        && !RESERVED.contains(&first)
        && !is_numbered_device(first)
}

fn is_safe(it: char) -> bool {
    matches!(it, 'a'..='z' | '0'..='9' | '-' | '_')
}

/// `com1`, `lpt9` and the like, which Windows keeps for devices whatever follows the first dot.
fn is_numbered_device(name: &str) -> bool {
    ["com", "lpt"].iter().any(|device| {
        name.strip_prefix(device)
            .is_some_and(|number| number.len() == 1)
    })
}
