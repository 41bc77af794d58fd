//! The parts of a declared value that are secret by themselves: the password in an address, one key of several, what is encoded.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::escaped::ESCAPED;
use super::find::Finder;
use super::spelling::{self, ONE_OF_SEVERAL, Part, Role, WITHIN_BASE64};
use super::{encoded, keys, random, shapes};

/// How often parts of parts are looked for: an address within JSON within base64.
const DEPTH: usize = 4;

/// The shortest part.
const SHORTEST: usize = 4;

/// The shortest element of a list and line of a block, and the shortest text that is taken for something encoded.
const SHORTEST_ELEMENT: usize = 8;

/// Finds secrets nobody has declared.
static FINDER: LazyLock<Finder> = LazyLock::new(|| Finder::new(Vec::new(), Vec::new(), Vec::new()));

/// A declared value, and what of it is secret by itself.
pub(super) fn parts(value: &str) -> Vec<Part> {
    let mut found = Vec::new();
    within(value, DEPTH, &mut found);
    let whole = decoded(value).filter(|_| found.is_empty());
    if let Some(whole) = &whole {
        within(whole, DEPTH, &mut found);
    }
    let blocks = std::iter::once(value).chain(whole.as_deref());
    let blocks = blocks.chain(found.iter().map(String::as_str));
    let lines: BTreeSet<String> = blocks.flat_map(block_lines).collect();
    // A block is known by its shape.
    found.retain(|it| it != value && block_lines(it).is_empty());
    let role = if found.len() == 1 {
        Role::Part
    } else {
        Role::OneOfSeveral
    };
    let part = |role| move |text| Part { role, text };
    std::iter::once(value.to_owned())
        .map(part(Role::Whole))
        .chain(whole.map(part(Role::Decoded)))
        .chain(found.into_iter().map(part(role)))
        .chain(lines.into_iter().map(part(Role::Line)))
        .collect()
}

/// A part of a value in the spelling of this name; `None` where it cannot be determined.
pub(super) fn spelled(value: &str, name: &str) -> Option<String> {
    if [WITHIN_BASE64, ONE_OF_SEVERAL, ESCAPED].contains(&name) {
        return None;
    }
    let spellings = parts(value).into_iter().flat_map(|it| it.spellings());
    let mut spellings = spellings.filter(|it| it.name == name);
    spellings.next().map(|it| it.text)
}

/// Collects what is secret within a text, and within that.
fn within(text: &str, depth: usize, found: &mut Vec<String>) {
    let hits = FINDER.find(text, None).into_iter();
    let hits = hits.map(|it| &text[it.at]);
    let all = hits.chain(pair(text)).chain(elements(text));
    for written in all.filter(|it| *it != text) {
        // As it is meant, if that is written so.
        let meant = percent_decoded(written).or_else(|| json_decoded(written));
        let is_spelling = |it: &String| {
            let mut spellings = spelling::spellings(it).into_iter();
            spellings.any(|it| it.text == written)
        };
        let own = Some(written.to_owned()).filter(|_| !meant.as_ref().is_some_and(is_spelling));
        for it in own.into_iter().chain(meant) {
            let encoded = decoded(&it);
            for it in std::iter::once(it).chain(encoded) {
                if it.len() >= SHORTEST && it != text && !found.contains(&it) && depth > 0 {
                    found.push(it.clone());
                    within(&it, depth - 1, found);
                }
            }
        }
    }
}

/// The password of `name:password`.
fn pair(text: &str) -> Option<&str> {
    let (name, password) = text.split_once(':')?;
    let is_name = name
        .chars()
        .all(|it| it.is_alphanumeric() || "._-@+".contains(it));
    let is_password = !password.starts_with("//")
        && !password.contains(char::is_whitespace)
        && password.contains(|it: char| !it.is_ascii_digit());
    (is_name && is_password).then_some(password)
}

/// The elements of a list of keys, and those of a list of settings that are secret.
fn elements(text: &str) -> Vec<&str> {
    let separates = |it: char| ",;&".contains(it) || it.is_whitespace();
    let all: Vec<&str> = text.split(separates).filter(|it| !it.is_empty()).collect();
    let settings = all.iter().filter_map(|it| it.split_once('='));
    let settings = settings.filter(|(key, value)| match keys::secret_key(key) {
        Some(key) => keys::is_secret_value(key, value),
        None => random::is_random(value) && !value.contains(['.', '/']),
    });
    let mut secrets: Vec<&str> = settings.map(|(_, value)| value).collect();
    let is_key = |it: &&str| {
        it.len() >= SHORTEST_ELEMENT && !random::is_word(it) && !it.contains(['=', '{', '['])
    };
    if all.iter().all(is_key) {
        secrets.extend(all);
    }
    secrets
}

/// The lines of blocks that hold private keys, one by one and joined.
fn block_lines(text: &str) -> Vec<String> {
    let begins = text.match_indices("-----BEGIN ").map(|(at, _)| at);
    let blocks = begins.filter_map(|at| Some(&text[at..shapes::private_key(text, at)?]));
    let lines = blocks.flat_map(|block| {
        let lines = block.lines().map(str::trim);
        let lines: Vec<&str> = lines.filter(|it| !it.contains(['-', ':'])).collect();
        let joined = lines.concat();
        lines.into_iter().map(str::to_owned).chain([joined])
    });
    lines.filter(|it| it.len() >= SHORTEST_ELEMENT).collect()
}

/// What a text says that is nothing but encoded, with `%` or in base64.
fn decoded(text: &str) -> Option<String> {
    percent_decoded(text).or_else(|| base64_decoded(text))
}

fn base64_decoded(text: &str) -> Option<String> {
    let letters = (text.len() >= SHORTEST_ELEMENT).then(|| text.trim_end_matches('='));
    letters.and_then(encoded::decoded)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    let encoded = bytes.len();
    for piece in pieces {
        bytes.extend(hex::decode(piece.get(..2)?).ok()?);
        bytes.extend(piece[2..].bytes());
    }
    let decoded = String::from_utf8(bytes).ok()?;
    (text.len() > encoded).then_some(decoded)
}

/// What a piece of a JSON string says that has escapes in it.
fn json_decoded(text: &str) -> Option<String> {
    let decoded = serde_json::from_str(&format!("\"{text}\"")).ok();
    decoded.filter(|it: &String| it != text)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::{Role, parts, spelled};

    fn of(value: &str) -> Vec<(Role, String)> {
        let parts = parts(value).into_iter().skip(1);
        parts.map(|it| (it.role, it.text)).collect()
    }

    #[test]
    fn what_is_secret_within_a_value_is_found_decoded() {
        let one = |text: &str| vec![(Role::Part, text.to_owned())];
        for (value, part) in [
            ("postgres://app:p%40ss%2F7Hu8Yg@host/db", "p@ss/7Hu8Yg"),
            ("postgres://app:x7-yZ9@host/db?sslmode=require", "x7-yZ9"),
            (
                "Server=h;Database=production;User Id=sa;Password=x7-yZ9;Encrypt=true",
                "x7-yZ9",
            ),
            ("host=h password=x7-yZ9 user=u", "x7-yZ9"),
            (
                r#"{"client_secret": "x7-\"yZ9", "client_id": "me-1"}"#,
                "x7-\"yZ9",
            ),
            ("sid=a7B9x2Qz4L; Path=/; Domain=h.example", "a7B9x2Qz4L"),
            ("me:x7-yZ9", "x7-yZ9"),
        ] {
            assert_eq!(of(value), one(part), "{value}");
            assert_eq!(spelled(value, "part").as_deref(), Some(part), "{value}");
        }
        let percent = spelled("postgres://app:p%40ss%2F7Hu8Yg@host/db", "part-percent");
        assert_eq!(percent.as_deref(), Some("p%40ss%2F7Hu8Yg"));
        let decoded = vec![(Role::Decoded, "uk+q8Zr4Tn6".to_owned())];
        assert_eq!(of("uk%2Bq8Zr4Tn6"), decoded);
        let basic = STANDARD.encode("app:p@ss-7Hu8Yg");
        let pair = (Role::Decoded, "app:p@ss-7Hu8Yg".to_owned());
        let password = (Role::Part, "p@ss-7Hu8Yg".to_owned());
        assert_eq!(of(&basic), [pair, password]);
    }

    #[test]
    fn of_several_parts_nobody_says_which_it_was() {
        let several = |texts: &[&str]| -> Vec<_> {
            let texts = texts.iter();
            texts
                .map(|it| (Role::OneOfSeveral, (*it).to_owned()))
                .collect()
        };
        assert_eq!(
            of("first-key-1,second-key-2"),
            several(&["first-key-1", "second-key-2"])
        );
        assert_eq!(spelled("first-key-1,second-key-2", "part"), None);
        let line = "MIIEabc1".repeat(8);
        let block =
            format!("-----BEGIN PRIVATE KEY-----\n{line}\n{line}x\n-----END PRIVATE KEY-----\n");
        let lines = [line.clone(), format!("{line}{line}x"), format!("{line}x")];
        let lines = lines.map(|it| (Role::Line, it));
        assert_eq!(of(&block), lines);
        let json = serde_json::json!({ "private_key": block, "private_key_id": "c0ffee" });
        assert_eq!(of(&json.to_string()), lines);
    }

    #[test]
    fn words_and_what_means_itself_have_no_parts() {
        for value in [
            "hunter2",
            "production-database",
            "correct horse battery staple",
            "sk-ant-api03-a1B2a1B2a1B2a1B2",
            "https://api.example.com/v1/things?page=2",
            "redis:6379",
            "12,34",
            "x".repeat(64).as_str(),
        ] {
            assert_eq!(of(value), [], "{value}");
        }
    }
}
