//! Values that stand where a secret would and clearly are none: states and messages about one, versions, paths.

use std::sync::LazyLock;

use regex::Regex;

use super::words::words;

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

#[cfg(test)]
mod tests {
    use super::is_ordinary;

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
}
