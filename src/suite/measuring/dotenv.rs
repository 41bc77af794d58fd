//! The text of a `.env` file.

use std::io::ErrorKind;
use std::path::Path;

use crate::input;

/// The marks with which files begin that are written in two bytes a character.
const LITTLE: [u8; 2] = [0xff, 0xfe];
const BIG: [u8; 2] = [0xfe, 0xff];

/// The text of such a file; of none, nothing. A folder of that name is somebody else's.
///
/// # Errors
///
/// Why it cannot be read, in a sentence: what is set there would be silently missing.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let shown = path.display();
    if path.is_dir() {
        return Ok(String::new());
    }
    let bytes = match input::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(format!("{shown} cannot be read: {error}")),
    };
    let wide = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = rest.chunks(2).map(|it| match it {
            [a, b] => unit([*a, *b]),
            // Half a character is none.
            _ => 0xd800,
        });
        String::from_utf16(&units.collect::<Vec<_>>())
            .map_err(|_| format!("{shown} begins as UTF-16 does, and is not: save it as UTF-8"))
    };
    if let Some(rest) = bytes.strip_prefix(&LITTLE) {
        return wide(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(&BIG) {
        return wide(rest, u16::from_be_bytes);
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.contains('\0') => {
            let line = line_of(text.as_bytes(), text.find('\0').unwrap_or_default());
            Err(format!(
                "{shown}:{line}: this is not text in UTF-8: save the file as UTF-8"
            ))
        }
        Ok(text) => Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        }),
        Err(error) => {
            let line = line_of(error.as_bytes(), error.utf8_error().valid_up_to());
            Err(format!(
                "{shown}:{line}: this is not text in UTF-8: save the file as UTF-8"
            ))
        }
    }
}

/// The line of a place, counted from 1.
fn line_of(bytes: &[u8], at: usize) -> usize {
    let before = bytes.iter().take(at);
    before.filter(|it| **it == b'\n').count() + 1
}
