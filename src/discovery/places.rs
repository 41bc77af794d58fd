//! JSON with the place of every value, so that what is wrong with one can be shown where it stands.

use std::cell::OnceCell;
use std::collections::HashMap;

use serde_json::Value;

use crate::scenario_file::{Finding, Severity};

/// How much of a line is looked at on either side of a place: data sets may be a single line.
const AROUND: usize = 200;

/// A file of JSON.
#[derive(Debug)]
pub struct Document {
    /// As the user named it.
    pub path: String,
    text: String,
    pub value: Value,
    /// Made when first asked for: of large files without a defect, nobody asks.
    places: OnceCell<Places>,
    lines: OnceCell<Lines>,
}

/// Where the values of a document stand.
#[derive(Debug, Default)]
struct Places {
    /// Offsets in bytes, by JSON pointer.
    values: HashMap<String, Place>,
    /// The pointers and offsets of keys that their object has twice.
    doubled: Vec<(String, usize)>,
}

/// Where a value stands, and the key that it has in an object; in bytes.
#[derive(Debug, Clone, Copy)]
struct Place {
    value: usize,
    key: Option<usize>,
}

impl Document {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// Where it is no JSON.
    pub fn parse(path: &str, text: String) -> Result<Self, Vec<Finding>> {
        // Editors of some systems put this mark first.
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        match serde_json::from_str(&text) {
            Ok(value) => Ok(Self {
                path: path.to_owned(),
                text,
                value,
                places: OnceCell::new(),
                lines: OnceCell::new(),
            }),
            Err(error) => {
                let offset = offset(&text, error.line(), error.column());
                let description = error.to_string();
                let why = description.split(" at line ").next().unwrap_or_default();
                let message = format!("this is not JSON: {why}");
                let lines = Lines::new(&text);
                let finding = Finding::about(path, Severity::Error, message);
                Err(vec![at(finding, &text, &lines, offset)])
            }
        }
    }

    /// A finding at the value that a JSON pointer leads to; at what is around it, where there is none.
    pub fn finding(&self, pointer: &str, severity: Severity, message: impl AsRef<str>) -> Finding {
        let finding = Finding::about(&self.path, severity, message);
        let places = &self.places().values;
        let mut pointer = pointer;
        loop {
            if let Some(place) = places.get(pointer) {
                return self.at(finding, place.value);
            }
            match pointer.rfind('/') {
                Some(end) => pointer = &pointer[..end],
                None => return finding,
            }
        }
    }

    pub fn error(&self, pointer: &str, message: impl AsRef<str>) -> Finding {
        self.finding(pointer, Severity::Error, message)
    }

    /// The same about the key of a member.
    pub(super) fn error_at_key(&self, pointer: &str, message: impl AsRef<str>) -> Finding {
        let place = self.places().values.get(pointer);
        match place.and_then(|it| it.key) {
            Some(key) => self.at(Finding::about(&self.path, Severity::Error, message), key),
            None => self.error(pointer, message),
        }
    }

    pub fn warning(&self, pointer: &str, message: impl AsRef<str>) -> Finding {
        self.finding(pointer, Severity::Warning, message)
    }

    /// Keys that their object has twice: readers take this value or that.
    pub fn doubled_keys(&self) -> Vec<Finding> {
        let doubled = self.places().doubled.iter();
        let found = doubled.map(|(pointer, offset)| {
            let key = unescaped(pointer.rsplit('/').next().unwrap_or_default());
            let message = format!("the key `{key}` is here twice");
            let finding = Finding::about(&self.path, Severity::Error, message);
            self.at(finding, *offset)
        });
        found.collect()
    }

    fn at(&self, finding: Finding, offset: usize) -> Finding {
        at(finding, &self.text, self.lines(), offset)
    }

    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::new(&self.text))
    }

    fn places(&self) -> &Places {
        self.places.get_or_init(|| {
            let mut walk = Walk {
                bytes: self.text.as_bytes(),
                text: &self.text,
                at: 0,
                places: Places::default(),
            };
            walk.value(&mut String::new(), None);
            walk.places
        })
    }
}

/// Adds the place, an offset in bytes, and what is around it.
fn at(finding: Finding, text: &str, lines: &Lines, offset: usize) -> Finding {
    let spot = lines.spot(text, offset);
    let (before, after) = text[spot.start..spot.end].split_at(spot.at - spot.start);
    let start = before.char_indices().rev().take(AROUND).last();
    let before = &before[start.map_or(before.len(), |(at, _)| at)..];
    let end = after.char_indices().nth(AROUND);
    let after = &after[..end.map_or(after.len(), |(at, _)| at)];
    let part = [before, after].concat();
    finding.within(spot.line, spot.column + 1, &part, before.chars().count())
}

/// A key or an index as a part of a JSON pointer.
pub fn part(key: impl std::fmt::Display) -> String {
    format!("/{}", key.to_string().replace('~', "~0").replace('/', "~1"))
}

fn unescaped(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// The offset of a place that counts from 1, its columns in bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let mut offset = (start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// One pass over a text that is known to be JSON, and not nested deeply.
struct Walk<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    places: Places,
}

impl Walk<'_> {
    fn skip_space(&mut self) {
        while self.peek().is_some_and(|it| it.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn value(&mut self, pointer: &mut String, key: Option<usize>) {
        self.skip_space();
        let place = Place {
            value: self.at,
            key,
        };
        self.places.values.insert(pointer.clone(), place);
        match self.peek() {
            Some(b'{') => self.object(pointer),
            Some(b'[') => self.list(pointer),
            Some(b'"') => self.string(),
            _ => {
                while self.peek().is_some_and(|it| {
                    !matches!(it, b',' | b']' | b'}') && !it.is_ascii_whitespace()
                }) {
                    self.at += 1;
                }
            }
        }
    }

    fn object(&mut self, pointer: &mut String) {
        self.at += 1;
        let mut seen = std::collections::HashSet::new();
        loop {
            self.skip_space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                self.at += 1;
                return;
            }
            self.string();
            let key: String = serde_json::from_str(&self.text[start..self.at]).unwrap_or_default();
            self.skip_space();
            self.at += 1;
            let end = pointer.len();
            pointer.push_str(&part(&key));
            if !seen.insert(key) {
                self.places.doubled.push((pointer.clone(), start));
            }
            self.value(pointer, Some(start));
            pointer.truncate(end);
            if !self.goes_on() {
                return;
            }
        }
    }

    fn list(&mut self, pointer: &mut String) {
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return;
        }
        for index in 0_usize.. {
            let end = pointer.len();
            pointer.push_str(&part(index));
            self.value(pointer, None);
            pointer.truncate(end);
            if !self.goes_on() {
                return;
            }
        }
    }

    /// Past a comma, or past the end of a list or object.
    fn goes_on(&mut self) -> bool {
        self.skip_space();
        let is_comma = self.peek() == Some(b',');
        self.at += 1;
        is_comma && self.at < self.bytes.len()
    }

    fn string(&mut self) {
        self.at += 1;
        while let Some(it) = self.peek() {
            match it {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = (self.at + 1).min(self.bytes.len());
    }
}

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
    use super::{Document, Lines, STEP};

    fn place(text: &str, pointer: &str) -> (usize, usize) {
        let document = Document::parse("f.json", text.to_owned()).unwrap();
        let finding = document.error(pointer, "wrong");
        (finding.line.unwrap(), finding.column.unwrap())
    }

    #[test]
    fn every_value_has_its_place() {
        let text = "{ \"a\": [1, {\"b~/\": \"x\\\"]\"}],\n  \"ü\": null, \"c\": { } }\n";
        assert_eq!(place(text, ""), (1, 1));
        assert_eq!(place(text, "/a/0"), (1, 9));
        assert_eq!(place(text, "/a/1/b~0~1"), (1, 20));
        assert_eq!(place(text, "/ü"), (2, 8));
        assert_eq!(place(text, "/c"), (2, 19));
        // What is not there is looked for around.
        assert_eq!(place(text, "/c/none"), (2, 19));
    }

    #[test]
    fn a_key_that_is_there_twice_is_found() {
        let text = "{\"a\": 1, \"b\": [{\"a\": 1, \"a\": 2}]}".to_owned();
        let document = Document::parse("f.json", text).unwrap();
        let doubled = document.doubled_keys();
        assert_eq!(doubled.len(), 1);
        assert_eq!(doubled[0].column, Some(25));
    }

    #[test]
    fn what_is_no_json_is_shown_where_it_ends() {
        let broken =
            Document::parse("f.json", "{\n \"a\": 1,\n \"b\" 2\n}".to_owned()).unwrap_err();
        assert_eq!(broken.len(), 1);
        assert_eq!((broken[0].line, broken[0].column), (Some(3), Some(6)));
        assert!(Document::parse("f.json", String::new()).is_err());
        let deep = "[".repeat(100_000);
        assert!(Document::parse("f.json", deep).is_err());
    }

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
