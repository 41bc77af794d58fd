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

/// Breaks each line of a text at spaces where it has more than `width` columns; what follows is indented as its line is. A longer word
/// stays whole, because it may be a path that somebody clicks on.
pub fn block(text: &str, width: usize) -> String {
    let mut wrapped = String::new();
    for line in text.split_inclusive('\n') {
        if line.trim_end().width() <= width {
            wrapped.push_str(line);
            continue;
        }
        let words = line.trim_start_matches(' ');
        let indent = &line[..line.len() - words.len()];
        wrapped.push_str(indent);
        let mut used = indent.len();
        for (at, word) in words.split(' ').enumerate() {
            let length = word.trim_end().width();
            if at > 0 && used + 1 + length > width {
                wrapped.push('\n');
                wrapped.push_str(indent);
                used = indent.len();
            } else if at > 0 {
                wrapped.push(' ');
                used += 1;
            }
            wrapped.push_str(word);
            used += length;
        }
    }
    wrapped
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

#[cfg(test)]
mod tests {
    use super::block;

    #[test]
    fn a_block_breaks_between_words_and_keeps_them_whole() {
        let text = "short\n  a line that is too long\nreports/2026/index.html stays\n";
        assert_eq!(
            block(text, 12),
            "short\n  a line\n  that is\n  too long\nreports/2026/index.html\nstays\n"
        );
        assert_eq!(block("工具 工具 工具", 9), "工具 工具\n工具");
        assert_eq!(block("", 9), "");
    }
}
