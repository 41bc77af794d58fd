//! Lines of a bounded width, measured in terminal columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Breaks a one-line text at spaces into lines of at most `width` columns (at least 1).
///
/// A word longer than a line is broken, so that no line is too long and no text is lost.
pub fn lines(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.width();
        let fits_behind = used > 0 && used + 1 + length <= width;
        if fits_behind {
            push(&mut lines, " ");
            push(&mut lines, word);
            used += 1 + length;
            continue;
        }
        if used > 0 {
            lines.push(String::new());
            used = 0;
        }
        for character in word.chars() {
            let columns = character.width().unwrap_or(0);
            if used + columns > width && used > 0 {
                lines.push(String::new());
                used = 0;
            }
            push(&mut lines, character.encode_utf8(&mut [0; 4]));
            used += columns;
        }
    }
    lines
}

/// The text, followed by spaces up to `width` columns; a longer one is cut, with an ellipsis at its end.
pub fn padded(text: &str, width: usize) -> String {
    let cut = cut(text, width);
    let missing = width.saturating_sub(cut.width());
    cut + &" ".repeat(missing)
}

/// The text behind spaces, so that it ends at `width` columns.
pub fn right(text: &str, width: usize) -> String {
    let cut = cut(text, width);
    let missing = width.saturating_sub(cut.width());
    " ".repeat(missing) + &cut
}

fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(character);
    }
    kept + "…"
}

fn push(lines: &mut [String], text: &str) {
    if let Some(last) = lines.last_mut() {
        last.push_str(text);
    }
}
