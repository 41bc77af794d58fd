//! Where the lines of a text begin, so that any place in it is found without reading it from its start: data sets are often a single line.

/// After how many bytes it is noted how many characters came before.
const STEP: usize = 1024;

/// The lines of a text.
#[derive(Debug)]
pub(super) struct Lines {
    /// Where each begins, in bytes.
    starts: Vec<usize>,
    /// How many characters lie before each multiple of [`STEP`].
    characters: Vec<usize>,
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    /// Counted from 1.
    pub(super) line: usize,
    /// In characters, counted from 0.
    pub(super) column: usize,
    /// Where it is, and where its line starts and ends, in bytes.
    pub(super) at: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        let mut lines = Self {
            starts: vec![0],
            characters: Vec::with_capacity(text.len() / STEP + 1),
        };
        let mut characters = 0;
        for (at, byte) in text.bytes().enumerate() {
            if at % STEP == 0 {
                lines.characters.push(characters);
            }
            characters += usize::from(begins(byte));
            if byte == b'\n' {
                lines.starts.push(at + 1);
            }
        }
        lines
    }

    /// The place of an offset in bytes; of one that is within no text or character, the nearest before it.
    pub(super) fn spot(&self, text: &str, offset: usize) -> Spot {
        let mut at = offset.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.starts.partition_point(|it| *it <= at);
        let start = self.starts[line - 1];
        let end = self.starts.get(line).map_or(text.len(), |it| it - 1);
        let end = end.max(at);
        let ending = text[at..end].strip_suffix('\r');
        Spot {
            line,
            column: self.before(text, at) - self.before(text, start),
            at,
            start,
            end: ending.map_or(end, |it| at + it.len()),
        }
    }

    /// How many characters lie before an offset.
    fn before(&self, text: &str, offset: usize) -> usize {
        let step = (offset / STEP).min(self.characters.len().saturating_sub(1));
        let noted = self.characters.get(step).copied().unwrap_or_default();
        let rest = text.as_bytes()[step * STEP..offset].iter();
        noted + rest.filter(|it| begins(**it)).count()
    }
}

/// Whether a character begins with this byte.
fn begins(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::{Lines, STEP};

    #[test]
    fn places_are_those_that_counting_from_the_start_gives() {
        let long = "ü€x".repeat(STEP);
        for text in [
            "",
            "a",
            "a\n",
            "\r\nü\r\nb",
            &long,
            &format!("{long}\n{long}"),
        ] {
            let lines = Lines::new(text);
            for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
                let start = text[..offset].rfind('\n').map_or(0, |it| it + 1);
                let spot = lines.spot(text, offset);
                assert_eq!(spot.line, text[..offset].matches('\n').count() + 1);
                assert_eq!(spot.column, text[start..offset].chars().count());
                let line = text[start..].split('\n').next().unwrap_or_default();
                let line = line.strip_suffix('\r').unwrap_or(line);
                assert!(text[spot.start..spot.end].starts_with(line), "{offset}");
            }
        }
    }
}
