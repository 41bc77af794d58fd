//! Finds a value however the characters in it are escaped, also where several programs have done so one after another.
//!
//! Encoders leave letters and digits as they are. So a value is looked for by its longest run of them, its core, and only around a core
//! a pattern tells whether the rest is there, each character in whatever way.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

use super::extent::character_end;

/// How a value is called that nobody can write again as it stood there.
pub(super) const ESCAPED: &str = "escaped";

/// The shortest core that is looked for: shorter runs are everywhere.
const SHORTEST_CORE: usize = 4;

/// How many bytes of text one byte of a value may take: `&amp;amp;#x0027;`, `\\\\\\\\u00fc` and the like.
const LONGEST_ESCAPE: usize = 32;

/// A value with characters that are escaped here and there.
#[derive(Debug)]
pub(super) struct Escapable {
    value: String,
    core: Range<usize>,
    pattern: OnceLock<Option<Regex>>,
}

impl Escapable {
    /// `None` where a value has nothing to escape, or no core.
    pub(super) fn new(value: &str) -> Option<Self> {
        let is_plain = |it: u8| it.is_ascii_alphanumeric();
        let mut core = 0..0;
        let mut from = 0;
        for (at, byte) in value.bytes().chain([0]).enumerate() {
            if !is_plain(byte) {
                if at - from > core.len() {
                    core = from..at;
                }
                from = at + 1;
            }
        }
        (core.len() >= SHORTEST_CORE && core.len() < value.len()).then(|| Self {
            value: value.to_owned(),
            core,
            pattern: OnceLock::new(),
        })
    }

    pub(super) fn core(&self) -> &str {
        &self.value[self.core.clone()]
    }

    /// Where the whole value stands, at a place of its core.
    pub(super) fn around(&self, text: &str, core: &Range<usize>) -> Option<Range<usize>> {
        let before = self.core.start * LONGEST_ESCAPE;
        let behind = (self.value.len() - self.core.end) * LONGEST_ESCAPE;
        let start = character_end(text.as_bytes(), core.start.saturating_sub(before));
        let end = character_end(text.as_bytes(), (core.end + behind).min(text.len()));
        let near = &text[start..end];
        // Without an escape, it is the value as it is, or not at all.
        if !near.bytes().any(|it| b"\\%&+'\"".contains(&it)) {
            return None;
        }
        let pattern = self.pattern.get_or_init(|| pattern(&self.value).ok());
        let mut found = pattern.as_ref()?.find_iter(near);
        let at =
            found.find(|it| start + it.start() <= core.start && core.end <= start + it.end())?;
        Some(start + at.start()..start + at.end())
    }
}

/// The characters that escapes are made of, which the next program may have escaped in its turn.
const BACKSLASH: &str = r"(?:\\|%(?:25)*5[cC]|&(?:amp;)*#(?:92|[xX]5[cC]);)";
const AMPERSAND: &str =
    r"(?:(?:&|%(?:25)*26|\\+u0026)(?:(?:amp|#(?:38|[xX]26))(?:;|%(?:25)*3[bB]))*)";
const HASH: &str = r"(?:#|%(?:25)*23|&#(?:35|[xX]23);)";
const SEMICOLON: &str = r"(?:;|%(?:25)*3[bB]|&#(?:59|[xX]3[bB]);)";
const PERCENT: &str = r"(?:(?:%|&(?:amp;)*#(?:37|[xX]25);)(?:25)*)";

/// A value with each of its characters as it is, behind backslashes, or as a number or a name in JSON, addresses, HTML and programs.
fn pattern(value: &str) -> Result<Regex, regex::Error> {
    let mut pattern = String::new();
    for it in value.chars() {
        if it.is_ascii_alphanumeric() {
            pattern.push(it);
            continue;
        }
        let literal = regex::escape(it.encode_utf8(&mut [0; 4]));
        let (mut units, mut bytes) = (String::new(), String::new());
        // Writing to a string cannot fail.
        for unit in it.encode_utf16(&mut [0; 2]) {
            let _ = write!(units, "{BACKSLASH}+u(?i:{unit:04x})");
        }
        for byte in it.encode_utf8(&mut [0; 4]).bytes() {
            let _ = write!(bytes, "{PERCENT}(?i:{byte:02x})");
        }
        let code = u32::from(it);
        let name = match it {
            '&' => "|amp",
            '<' => "|lt",
            '>' => "|gt",
            '"' => "|quot",
            '\'' => "|apos",
            _ => "",
        };
        let entity =
            format!("{AMPERSAND}(?:{HASH}(?:0*{code}|[xX]0*(?i:{code:x})){name}){SEMICOLON}");
        let more = match it {
            ' ' => r"|\+".to_owned(),
            '\n' => format!("|{BACKSLASH}+n"),
            '\r' => format!("|{BACKSLASH}+r"),
            '\t' => format!("|{BACKSLASH}+t"),
            // Doubled in YAML and SQL, or outside of the quotes of a shell.
            '\'' => r"|'\\*''|''".to_owned(),
            '"' => "|\"\"".to_owned(),
            _ => String::new(),
        };
        let in_byte = if code < 256 {
            format!("|{BACKSLASH}+x(?i:{code:02x})")
        } else {
            String::new()
        };
        let _ = write!(
            pattern,
            "(?:{BACKSLASH}*(?:{literal}|{bytes}|{entity})|{units}{in_byte}{more})"
        );
    }
    Regex::new(&pattern)
}

#[cfg(test)]
mod tests {
    use super::Escapable;

    fn found<'t>(value: &str, text: &'t str) -> Option<&'t str> {
        let escapable = Escapable::new(value).unwrap();
        let at = text.find(escapable.core())?;
        let core = at..at + escapable.core().len();
        escapable.around(text, &core).map(|it| &text[it])
    }

    #[test]
    fn characters_are_found_in_whatever_way_they_are_escaped() {
        let value = "wJalrXUtn/K7MD\"ENG+b&x'ü";
        for written in [
            r#"wJalrXUtn\/K7MD\"ENG+b&x'ü"#,
            r#"wJalrXUtn\\/K7MD\\\"ENG+b\\u0026x'\\u00fc"#,
            r#"wJalrXUtn\/K7MD\"ENG+b\u0026x\u0027\u00FC"#,
            "wJalrXUtn&#x2F;K7MD&quot;ENG&#43;b&amp;x&#39;&#252;",
            "wJalrXUtn&amp;#47;K7MD&amp;quot;ENG+b&amp;amp;x&amp;apos;ü",
            "wJalrXUtn%252FK7MD%2522ENG%252bb%2526x%2527%25c3%25BC",
            r#"wJalrXUtn/K7MD"ENG+b&x'\''ü"#,
            r#"wJalrXUtn/K7MD""ENG+b&x''ü"#,
            r"wJalrXUtn\x2fK7MD\x22ENG\x2bb\x26x\x27\xfc",
        ] {
            for text in [
                written.to_owned(),
                format!("\\n{written}\\n"),
                format!("ü%{written}&x"),
            ] {
                assert_eq!(found(value, &text), Some(written), "{text}");
            }
        }
        for other in [
            "wJalrXUtn",
            "wJalrXUtn\\K7MD\"ENG+b&x'ü",
            "wJalrXUtn%2FK7MD%22ENG%2Bb%26x%27",
        ] {
            assert_eq!(found(value, other), None, "{other}");
        }
    }

    #[test]
    fn what_needs_no_escape_is_not_looked_for() {
        assert!(Escapable::new("abc123").is_none());
        assert!(Escapable::new("a/b+c=d").is_none());
        assert_eq!(Escapable::new("a/bcde=fghij").unwrap().core(), "fghij");
    }
}
