//! Ids as names of folders: which of them some file system takes for one and the same, and which it cannot have at all.
//!
//! A folder of baselines goes from machine to machine, in a repository. macOS and Windows do not tell capitals from small letters, macOS not
//! the ways to write an accent, and Windows drops dots at the end.

use unicode_normalization::UnicodeNormalization as _;

/// The characters that no name has on Windows; a `:` would begin the name of a part of the file.
const NOT_ON_WINDOWS: [char; 7] = ['<', '>', ':', '"', '|', '?', '*'];

/// A path in a form that is the same for all that lead to one folder somewhere.
pub fn folded(path: &str) -> String {
    let parts = path.split('/').map(|part| {
        let plain: String = part.nfd().collect();
        // Upper case first: `ß`, `ſ` and `ς` are no other letters then.
        let plain = plain.to_uppercase().to_lowercase();
        let plain: String = plain.nfd().collect();
        plain.trim_end_matches(['.', ' ']).to_owned()
    });
    parts.collect::<Vec<String>>().join("/")
}

/// Why Windows has no folder of this name.
pub(super) fn not_on_windows(name: &str) -> Option<String> {
    if let Some(it) = name.chars().find(|it| NOT_ON_WINDOWS.contains(it)) {
        return Some(format!("a `{it}` is in it"));
    }
    if name.ends_with(['.', ' ']) {
        return Some("it ends with a dot".to_owned());
    }
    let device = name.split('.').next().unwrap_or_default().trim_end();
    let device = device.to_ascii_lowercase();
    let number = device
        .strip_prefix("com")
        .or_else(|| device.strip_prefix("lpt"));
    let is_numbered = number.is_some_and(|it| {
        let mut number = it.chars();
        let first = number.next();
        first.is_some_and(|it| it.is_ascii_digit() || "¹²³".contains(it)) && number.next().is_none()
    });
    let is_device = is_numbered || ["con", "prn", "aux", "nul"].contains(&device.as_str());
    is_device.then(|| "it is the name of a device".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{folded, not_on_windows};

    #[test]
    fn what_leads_to_one_folder_somewhere_is_folded_to_one_text() {
        for (one, other) in [
            ("a", "A"),
            ("Zürich", "ZU\u{308}RICH"),
            ("straße", "STRASSE"),
            ("ΟΔΟΣ", "οδος"),
            ("Å", "\u{212b}"),
            ("a", "a. ."),
            ("cities/a.", "Cities/a"),
        ] {
            assert_eq!(folded(one), folded(other), "{one} and {other}");
        }
        for (one, other) in [
            ("a", "b"),
            ("a.b", "ab"),
            ("é", "e"),
            ("a/b", "a.b"),
            ("½", "1⁄2"),
        ] {
            assert_ne!(folded(one), folded(other), "{one} and {other}");
        }
    }

    #[test]
    fn windows_has_no_folders_called_like_devices_or_with_some_signs() {
        for name in [
            "con", "NUL", "nul.txt", "Com1", "lpt².x", "a:b", "what?", "a.",
        ] {
            assert!(not_on_windows(name).is_some(), "{name}");
        }
        for name in [
            "console",
            "com",
            "com12",
            "a.b",
            "a'b",
            "München",
            "null",
            "x=1,2 (b)",
        ] {
            assert_eq!(not_on_windows(name), None, "{name}");
        }
    }
}
