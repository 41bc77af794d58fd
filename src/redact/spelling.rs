//! A declared secret: its name, its parts that are secret by themselves, and the ways in which programs write each: escaped, encoded, or within
//! something encoded.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

/// A value as something writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spelling {
    /// What it is called; empty for the value as it is.
    pub(super) name: String,
    pub(super) text: String,
}

/// What a piece of base64 is called that only holds the value within something else: nobody can say what stood there.
pub(super) const WITHIN_BASE64: &str = "within-base64";

/// How deeply JSON is written into JSON.
const DEPTH: usize = 4;

/// The shortest part of a value in base64 that is looked for: it would stand in other texts by chance.
const SHORTEST_WITHIN: usize = 8;

/// A value in all its spellings, itself first, each text once.
pub(super) fn spellings(value: &str) -> Vec<Spelling> {
    let mut all = Spellings(Vec::new());
    all.add("", value.to_owned());
    json(value, &mut all);
    html(value, &mut all);
    percent(value, &mut all);
    for (name, encoded) in [
        ("base64", STANDARD.encode(value)),
        ("base64-unpadded", STANDARD_NO_PAD.encode(value)),
        ("base64url", URL_SAFE.encode(value)),
        ("base64url-unpadded", URL_SAFE_NO_PAD.encode(value)),
        ("hex", hex::encode(value)),
        ("hex-upper", hex::encode_upper(value)),
    ] {
        all.add(name, encoded);
    }
    for alphabet in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for before in 0..3 {
            all.add(WITHIN_BASE64, within_base64(value, before, alphabet));
        }
    }
    all.0
}

struct Spellings(Vec<Spelling>);

impl Spellings {
    fn add(&mut self, name: &str, text: String) {
        let is_new = !self.0.iter().any(|it| it.text == text);
        let is_long_enough = name != WITHIN_BASE64 || text.len() >= SHORTEST_WITHIN;
        if is_new && is_long_enough {
            let name = name.to_owned();
            self.0.push(Spelling { name, text });
        }
    }
}

/// How a style writes a character, where it does not leave it as it is.
type Escape<'a> = &'a dyn Fn(char) -> Option<String>;

/// As JSON writes it, within JSON and within that again: as little escaped as can be, as Python, Go and PHP do.
fn json(value: &str, all: &mut Spellings) {
    let lower = |it: u16| format!("\\u{it:04x}");
    let upper = |it: u16| format!("\\u{it:04X}");
    let units = |it: char, hex: &dyn Fn(u16) -> String| -> String {
        it.encode_utf16(&mut [0; 2])
            .iter()
            .map(|it| hex(*it))
            .collect()
    };
    let none = |_: char| None;
    let python = |it: char| (!it.is_ascii()).then(|| units(it, &lower));
    let python_upper = |it: char| (!it.is_ascii()).then(|| units(it, &upper));
    let go = |it: char| {
        "<>&\u{2028}\u{2029}"
            .contains(it)
            .then(|| units(it, &lower))
    };
    let go_upper = |it: char| {
        "<>&\u{2028}\u{2029}"
            .contains(it)
            .then(|| units(it, &upper))
    };
    let slash = |it: char| (it == '/').then(|| "\\/".to_owned());
    let php = |it: char| slash(it).or_else(|| python(it));
    // Ruby on Rails and .NET escape what browsers might take for markup, and all that is not ASCII.
    let strict = |it: char| ("<>&'+`\"".contains(it) || !it.is_ascii()).then(|| units(it, &upper));
    let quotes = |it: char| "<>&'\"".contains(it).then(|| units(it, &lower));
    let styles: [(&str, Escape<'_>); 9] = [
        ("json", &none),
        ("json-ascii", &python),
        ("json-ascii-upper", &python_upper),
        ("json-html", &go),
        ("json-html-upper", &go_upper),
        ("json-slash", &slash),
        ("json-php", &php),
        ("json-strict", &strict),
        ("json-quotes", &quotes),
    ];
    for (name, style) in styles {
        let mut text = escaped(value, style);
        all.add(name, text.clone());
        for depth in 2..=DEPTH {
            // Nothing but backslashes and quotes is left to escape, and slashes where they are.
            let outer: Escape<'_> = if name == "json-slash" || name == "json-php" {
                &slash
            } else {
                &none
            };
            text = escaped(&text, outer);
            all.add(&format!("{name}-{depth}"), text.clone());
        }
    }
}

/// A text as it stands between the quotes of a JSON string; `style` says what else is escaped than must be.
fn escaped(text: &str, style: Escape<'_>) -> String {
    let mut written = String::new();
    for it in text.chars() {
        if let Some(escape) = style(it) {
            written.push_str(&escape);
            continue;
        }
        match it {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            '\u{8}' => written.push_str("\\b"),
            '\u{c}' => written.push_str("\\f"),
            it if it < ' ' => {
                // Writing to a string cannot fail.
                let _ = write!(written, "\\u{:04x}", u32::from(it));
            }
            it => written.push(it),
        }
    }
    written
}

/// As HTML and XML write it; quotes have several names.
fn html(value: &str, all: &mut Spellings) {
    let quotes = [
        ("html", "&quot;", "&#39;"),
        ("html-hex", "&quot;", "&#x27;"),
        ("html-decimal", "&#34;", "&#39;"),
        ("html-xml", "&quot;", "&apos;"),
        ("html-text", "\"", "'"),
        ("html-double", "&quot;", "'"),
        ("html-go", "&#34;", "&#39;"),
    ];
    for (name, double, single) in quotes {
        let text = value
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        all.add(name, text.replace('"', double).replace('\'', single));
    }
    let numeric = |it: char| {
        if "&<>\"'/`=".contains(it) {
            format!("&#x{:x};", u32::from(it))
        } else {
            it.to_string()
        }
    };
    all.add("html-numeric", value.chars().map(numeric).collect());
}

/// As addresses (RFC 3986, section 2) and forms write it; libraries differ in what they leave as it is.
fn percent(value: &str, all: &mut Spellings) {
    let kept: [(&str, &[u8]); 5] = [
        ("percent", b"-._~"),
        ("percent-component", b"-._~!*'()"),
        ("percent-path", b"-._~/"),
        ("percent-address", b"-._~!*'();/?:@&=+$,#"),
        ("form", b"-._*"),
    ];
    for (name, kept) in kept {
        for is_lower in [false, true] {
            let mut text = String::new();
            for byte in value.bytes() {
                if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
                    text.push(char::from(byte));
                } else if byte == b' ' && name == "form" {
                    text.push('+');
                } else {
                    // Writing to a string cannot fail.
                    let _ = if is_lower {
                        write!(text, "%{byte:02x}")
                    } else {
                        write!(text, "%{byte:02X}")
                    };
                }
            }
            all.add(
                &if is_lower {
                    format!("{name}-lower")
                } else {
                    name.to_owned()
                },
                text,
            );
        }
    }
    all.add("form-plus", value.replace(' ', "+"));
}

/// What base64 makes of a value that so many bytes stand before, without the letters that its neighbours decide, too (RFC 4648,
/// section 4: three bytes are four letters).
fn within_base64(value: &str, before: usize, alphabet: &impl base64::Engine) -> String {
    let mut bytes = vec![0; before];
    bytes.extend(value.bytes());
    let encoded = alphabet.encode(&bytes);
    let from = (before * 8).div_ceil(6);
    let to = bytes.len() * 8 / 6;
    encoded.get(from..to).unwrap_or_default().to_owned()
}

/// The spelling of a part of which nobody can say which one it was.
pub(super) const ONE_OF_SEVERAL: &str = "one-of-several";

/// A value known to be secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) name: String,
    /// All of it, or what of it is secret by itself.
    pub(super) part: Part,
    /// Whether it is hidden wherever it stands. What only the name of a variable says to be secret may be a common word: it is hidden
    /// where a password would stand.
    pub(super) is_everywhere: bool,
}

/// What a text is of a declared value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Whole,
    /// All of it, decoded.
    Decoded,
    /// The only part there is.
    Part,
    OneOfSeveral,
    /// A line of a block that is encoded already: nobody encodes it again by itself.
    Line,
}

/// A declared value, or what of it is secret by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) role: Role,
    pub(super) text: String,
}

impl Part {
    /// How programs write it. A spelling is called so that the text can be made of the whole value again, or so that it cannot.
    pub(super) fn spellings(&self) -> Vec<Spelling> {
        let mut all = spellings(&self.text);
        if self.role == Role::Line {
            all.truncate(1);
        }
        let prefix = match self.role {
            Role::Whole => return all,
            Role::Decoded => Some("decoded"),
            Role::Part => Some("part"),
            Role::OneOfSeveral | Role::Line => None,
        };
        for it in all.iter_mut().filter(|it| it.name != WITHIN_BASE64) {
            it.name = match prefix {
                Some(prefix) if it.name.is_empty() => prefix.to_owned(),
                Some(prefix) => format!("{prefix}-{}", it.name),
                None => ONE_OF_SEVERAL.to_owned(),
            };
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::spellings;

    const VALUE: &str = "s3cr3t \"é\" <&/+> 'x'";

    fn found(text: &str) -> Option<String> {
        let mut all = spellings(VALUE).into_iter();
        all.find(|it| text.contains(&it.text)).map(|it| it.name)
    }

    #[test]
    fn what_programs_make_of_a_value_is_known() {
        for (text, name) in [
            (VALUE, ""),
            (r#"s3cr3t \"é\" <&/+> 'x'"#, "json"),
            (r#"s3cr3t \\\"é\\\" <&/+> 'x'"#, "json-2"),
            (r#"s3cr3t \"\u00e9\" <&/+> 'x'"#, "json-ascii"),
            (r#"s3cr3t \"\u00E9\" <&/+> 'x'"#, "json-ascii-upper"),
            (r#"s3cr3t \"é\" \u003c\u0026/+\u003e 'x'"#, "json-html"),
            (r#"s3cr3t \"\u00e9\" <&\/+> 'x'"#, "json-php"),
            (r#"s3cr3t \\\"\\u00e9\\\" <&\\\/+> 'x'"#, "json-php-2"),
            ("s3cr3t &quot;é&quot; &lt;&amp;/+&gt; &#39;x&#39;", "html"),
            (
                "s3cr3t &quot;é&quot; &lt;&amp;/+&gt; &#x27;x&#x27;",
                "html-hex",
            ),
            (
                "s3cr3t%20%22%C3%A9%22%20%3C%26%2F%2B%3E%20%27x%27",
                "percent",
            ),
            (
                "s3cr3t%20%22%c3%a9%22%20%3c%26%2f%2b%3e%20%27x%27",
                "percent-lower",
            ),
            ("s3cr3t+%22%C3%A9%22+%3C%26%2F%2B%3E+%27x%27", "form"),
            (&STANDARD.encode(VALUE), "base64"),
            (&hex::encode(VALUE), "hex"),
        ] {
            assert_eq!(found(text).as_deref(), Some(name), "{text}");
            let same = spellings(VALUE).into_iter().find(|it| it.name == name);
            assert_eq!(same.map(|it| it.text).as_deref(), Some(text), "{name}");
        }
        for before in ["", "a", "ab", "abc"] {
            let text = STANDARD.encode(format!("{before}{VALUE}:behind"));
            assert!(found(&text).is_some(), "{before}");
        }
    }

    #[test]
    fn plain_values_have_few_spellings() {
        let names: Vec<_> = spellings("abcdefgh1234")
            .into_iter()
            .map(|it| it.name)
            .collect();
        assert_eq!(
            names
                .iter()
                .filter(|it| it.contains("json") || it.contains("percent"))
                .count(),
            0,
            "{names:?}"
        );
    }
}
