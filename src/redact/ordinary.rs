//! Values that stand where a secret would and are none: states, versions, paths, examples, the words of names.

use std::sync::LazyLock;

use regex::Regex;

/// What states, messages and types of secrets are made of.
const WORDS: &str = "
    valid invalid verified unverified expired expires expiry revoked rotated missing required enabled disabled set unset present absent
    active inactive configured unknown incorrect correct wrong changed unchanged default empty blank hidden failed ok okay denied granted
    pending given provided supplied specified found accepted rejected malformed supported allowed forbidden weak strong
    too short long small large minimum maximum min max length characters character chars letters digits
    not no yes none null any all on off is are was be been has have had must should can cannot may do does did
    contain contains match matches expected actual a an the this that your and or of for from via with without at in by to least most than more
    str string bytes byte buffer uint8 secure blob int integer bool boolean float number object array list dict map text type types optional option union
    env environment variable variables file header parameter field value
    token tokens password passwords passphrase secret secrets key keys credential credentials cookie cookies auth authentication
    authorization authorized unauthorized api access refresh session bearer basic digest oauth oauth2 oidc saml jwt apikey client user
";

/// Versions and ranges of them: `^0.7.1`, `>=2.1.3 <3`, `1.2.1-beta.2`.
const VERSIONS: &str = r"(?x)
    ^ [\^~<>=v]* \d+ (?: \. (?: \d+ | [x*] ) )+ (?: [-+.] [a-z]+ \.? \d* )?
    (?: [\s,|-]+ [\^~<>=v]* \d+ (?: \. (?: \d+ | [x*] ) )* (?: [-+.] [a-z]+ \.? \d* )? )* $
";

/// Paths of which each segment is a word, maybe with a number, names of resources of Amazon's, and colours.
const PATHS: &str = r"(?x)
    ^ arn:aws[a-z-]*: [a-z0-9-]+ :
    | ^ \# [0-9a-fA-F]{6} $
    | ^ (?: (?: ~ | \.{1,2} | [A-Z]:\\? | [a-z]+:/ )? / (?: SEGMENT / )* (?: SEGMENT )?
        | SEGMENT (?: / SEGMENT ){3,} ) $
";

const SEGMENT: &str = r"(?: \.? (?: [A-Z]? [a-z]+ | [A-Z]+ ) (?: [-_.] (?: [a-z]+ | [A-Z]+ ) )* [-_.]? \d{0,2} | \d{1,4} )";

static VERSION: LazyLock<Regex> = LazyLock::new(|| Regex::new(VERSIONS).expect("a valid pattern"));
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = PATHS.replace("SEGMENT", SEGMENT);
    Regex::new(&pattern).expect("a valid pattern")
});

/// The longest message that is looked at.
const LONGEST: usize = 256;

/// Whether a value clearly is no secret.
pub(super) fn is_ordinary(value: &str) -> bool {
    // In a list, one may be cut where its brackets close.
    let is_pattern = value.starts_with('^')
        && (value.ends_with('$') || value[1..].starts_with(['[', '(', '\\']));
    value.len() <= LONGEST
        && (is_pattern || is_said(value) || VERSION.is_match(value) || PATH.is_match(value))
}

/// Whether all that a value says is in the words for states, messages and types: no password has only such words. Numbers stand in
/// sentences alone: `password-123` may be one.
fn is_said(value: &str) -> bool {
    let belongs = |it: char| it.is_ascii_alphanumeric() || " _-.,:;()'\"<>[]|`=".contains(it);
    let all = words(value);
    let is_sentence = value.split_whitespace().count() >= 3;
    let is_number = |it: &str| is_sentence && it.bytes().all(|it| it.is_ascii_digit());
    let is_known = |it: &String| WORDS.split_whitespace().any(|word| word == it) || is_number(it);
    value.chars().all(belongs) && !all.is_empty() && all.iter().all(is_known)
}

/// The words of a key in snake, kebab or camel case, in lower case.
pub(crate) fn words(key: &str) -> Vec<String> {
    let mut words = Vec::new();
    // Looked at for each key of an answer, so it is written to without growing.
    let mut word = String::with_capacity(key.len());
    let mut before = ' ';
    let mut letters = key.chars();
    while let Some(it) = letters.next() {
        // `clientSecret`, and `DBPassword` before its last capital.
        let ends_capitals = || {
            let next = letters.clone().next();
            before.is_uppercase() && next.is_some_and(char::is_lowercase)
        };
        let begins =
            it.is_uppercase() && (before.is_lowercase() || before.is_numeric() || ends_capitals());
        if (begins || !it.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if it.is_ascii_alphanumeric() {
            word.push(it.to_ascii_lowercase());
        } else if it.is_alphanumeric() {
            word.extend(it.to_lowercase());
        }
        before = it;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// References to variables, brackets to fill in, and words that are the whole value.
const WHOLE: &str = r"(?xi)
      \$\{ | \{\{ | \$\( | ^\$[a-z_][a-z0-9_]*$ | ^%[a-z0-9_]+%$ | ^%\([a-z_]+\)   # references
    | ^[<\[(] | [>\]]$                                             # <token>, [REDACTED]
    | (?-i: EXAMPLE (?: KEY )? $)                                  # as Amazon's documentation ends its keys
    | ^(?: true | false | null | none | nil | undefined | string | text | number | boolean | object | required | optional
         | bearer | basic | token | secret | password | cookie | authorization | api[-_]?key | test | todo | env )$
";

/// Blanks, and what documentation writes in place of a secret, as a word of its own: `your-token-here`, `myExampleKey1`.
const PART: &str = r"(?xi)
      xxxx | \*\*\* | \.\.\. | … | ___
    | (?: ^ | [^a-z0-9] ) [a-z]{0,12}
      (?: your | example | placeholder | change[-_]?me | dummy | redacted )
      [a-z]{0,12} [0-9]{0,4} (?: [^a-z0-9] | $ )
";

/// A piece this long, of letters and digits without any order, is nothing that somebody has made up for readers.
const RANDOM: usize = 20;

static WHOLE_PATTERN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(WHOLE).expect("a valid pattern"));
static PART_PATTERN: LazyLock<Regex> = LazyLock::new(|| Regex::new(PART).expect("a valid pattern"));

/// Whether a value where a secret would stand is none: a reference, a blank, a word of documentation. A key that merely holds such
/// letters is a key.
pub(crate) fn is_example(value: &str) -> bool {
    let value = value.trim();
    let mut rest = value.chars();
    let first = rest.next();
    WHOLE_PATTERN.is_match(value)
        || rest.all(|it| Some(it) == first)
        || PART_PATTERN.is_match(value) && !has_random_piece(value)
}

fn has_random_piece(value: &str) -> bool {
    let mut pieces = value.split(|it: char| !it.is_ascii_alphanumeric());
    pieces.any(|it| {
        it.len() >= RANDOM
            && it.bytes().any(|it| it.is_ascii_digit())
            && it.bytes().any(|it| it.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::is_example;
    use super::is_ordinary;
    use super::words;

    #[test]
    fn states_versions_and_paths_are_no_secrets_and_passwords_are() {
        for value in [
            "valid",
            "EXPIRED_TOKEN",
            "too_short",
            "is too short (minimum is 8 characters)",
            "must contain at least 8 characters",
            "configured via env",
            "AuthTypes",
            "bytes | str",
            "str | None = None,",
            "Uint8Array",
            "^[a-z0-9]{32}$",
            "^[a-z0-9",
            "#d8dee9",
            "^0.7.1",
            ">=2.1.3 <3",
            "^3.0.0 || ^4.0.0",
            "1.2.1-beta.2",
            "/etc/k.pem",
            "/tmp",
            "/home/bob/project",
            "~/.aws/credentials",
            "./keys/id.pub",
            "projects/p/secrets/db/versions/1",
            "https://auth.example.com/token",
            "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-a1B2c3",
        ] {
            assert!(is_ordinary(value), "{value}");
        }
        for value in [
            "hunter2",
            "swordfish",
            "correct horse battery staple",
            "production-database",
            "s3cr3t",
            "P@ssw0rd!",
            "mypassword",
            "password!",
            "password123",
            "password-123",
            "Secret 1",
            "changeit123",
            "1.a2b3c4d5",
            "20240105",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCY",
            "/hunter2/x7B9q",
            "pass/word",
            "k/a/b/x7B9q2",
            "+/ab/cd",
        ] {
            assert!(!is_ordinary(value), "{value}");
        }
    }

    #[test]
    fn names_are_parted_however_they_are_written() {
        for (name, expected) in [
            ("client_secret", &["client", "secret"][..]),
            ("client-secret", &["client", "secret"]),
            ("clientSecret", &["client", "secret"]),
            ("DBPassword", &["db", "password"]),
            ("DB_PASSWORD", &["db", "password"]),
            ("key2Token", &["key2", "token"]),
            ("--API key:", &["api", "key"]),
            ("ÄrgerSchlüssel", &["ärger", "schlüssel"]),
            ("", &[]),
            ("__", &[]),
        ] {
            assert_eq!(words(name), expected, "{name}");
        }
    }

    #[test]
    fn what_merely_holds_the_letters_of_an_example_is_none() {
        let random = "a1B2c3D4e5F6g7H8i9J0k1L2m3";
        for (value, expected) in [
            ("your-api-key", true),
            ("YOUR_TOKEN_HERE", true),
            ("yourtoken", true),
            ("sk-your-key-here", true),
            ("myExampleKey1", true),
            ("changeme", true),
            ("change-me", true),
            ("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", true),
            ("AKIAIOSFODNN7EXAMPLE", true),
            ("${TOKEN}", true),
            ("<redacted:value:1>", true),
            ("hunter2", false),
            (&format!("ghp_your{random}"), false),
            (&format!("ghp_{random}example"), false),
            (&format!("sk-ant-api03-{random}-example-{random}"), false),
            (&format!("sk-{random}xxxx{random}"), false),
            (&format!("{random}___{random}"), false),
        ] {
            assert_eq!(is_example(value), expected, "{value}");
        }
    }
}
