//! Names of keys whose values are secrets, and which of those values are worth hiding.

use super::ordinary::{is_example, is_ordinary, words};
use super::random;

/// A key that says its value is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SecretKey {
    /// The kind its secrets are called by.
    pub(super) kind: &'static str,
    /// Whether nothing but a secret stands under such a key. Under others (`token`, `auth`) a word or a small number is none.
    pub(super) is_sure: bool,
}

/// The key of what an object says to be secret, whatever it is called.
pub(super) const MARKED: SecretKey = SecretKey {
    kind: "marked",
    is_sure: true,
};

/// The kind of all that lets whoever shows it in: what an answer calls `token` is sent as `Authorization` later, and stays the same.
pub(super) const TOKEN: &str = "token";

/// What such keys have in common, in small letters: one of these is in each.
pub(super) const HINTS: &str = "pass pwd token secret key cred cookie auth connection connstr";

/// Tokens of these kinds are places in a list or counts of words.
const INNOCENT_TOKENS: &str = "
    max min input output total next page prev previous continuation progress pagination prompt completion cached num number count
    reasoning sync resume stop end start pad eos bos unk mask sep cls cancel per special used remaining
";

/// Whether a key is one of these names, in whatever case.
pub(super) fn is_one_of(names: &[&str], key: &str) -> bool {
    names.iter().any(|it| it.eq_ignore_ascii_case(key))
}

/// Whether a word is in a list of them.
fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

/// Whether a key says that its value is a secret; as whole words in snake, camel, kebab or upper case. `max_tokens`, `tokenizer` and
/// `password_policy` say no such thing.
pub(super) fn secret_key(key: &str) -> Option<SecretKey> {
    let words = words(key);
    let words = words.iter().map(String::as_str).collect::<Vec<_>>();
    let (last, before) = words.split_last()?;
    let before = before.last().copied().unwrap_or_default();
    let (kind, is_sure) = match (before, *last) {
        ("connection", "string") | (_, "connectionstring" | "connstr") => {
            ("connection-string", true)
        }
        // What Amazon's secrets manager answers.
        ("secret", "string" | "binary") => ("secret", true),
        ("api" | "access", "key" | "keys") | (_, "apikey" | "apikeys") => ("api-key", true),
        ("private" | "signing" | "encryption" | "secret" | "master", "key" | "keys")
        | (_, "privatekey" | "signingkey" | "secretkey") => ("private-key", true),
        ("account" | "shared" | "storage" | "auth", "key" | "keys") => ("private-key", false),
        (_, "pass") => ("password", false),
        (_, "pwd" | "passphrase" | "passcode") => ("password", true),
        (_, it) if it.ends_with("password") || it.ends_with("passwd") => ("password", true),
        (_, "passwords") => ("password", true),
        // The name of one.
        ("existing" | "pull", "secret" | "secrets") => return None,
        (_, it) if it.ends_with("secret") || it == "secrets" => ("secret", true),
        (_, "credential" | "credentials" | "creds") => ("credentials", true),
        (_, "authorization") => (TOKEN, true),
        (_, "cookie") => ("cookie", true),
        (_, "cookies") => ("cookie", false),
        (before, "token" | "tokens") if !is_in(INNOCENT_TOKENS, before) => (TOKEN, false),
        (
            _,
            "auth" | "accesstoken" | "authtoken" | "apitoken" | "refreshtoken" | "sessiontoken"
            | "idtoken" | "bearertoken",
        ) => (TOKEN, false),
        _ => return None,
    };
    Some(SecretKey { kind, is_sure })
}

/// The members of an object that another one of it says to be secret, and the key that it stands for: those of Kubernetes' secrets,
/// outputs of Terraform, keys in JSON, and what has its name beside it.
pub(super) fn marked<'t>(
    mut members: impl Iterator<Item = (&'t str, &'t str)>,
) -> Option<(&'static [&'static str], SecretKey)> {
    members.find_map(|(key, value)| match key {
        "kind" if value == "Secret" => Some((&["data", "stringData"][..], MARKED)),
        "sensitive" if value == "true" => Some((&["value"][..], MARKED)),
        // Keys of JSON (RFC 7518, section 6).
        "kty" if matches!(value, "RSA" | "EC" | "OKP" | "oct") => {
            Some((&["d", "k", "p", "q", "dp", "dq", "qi"][..], MARKED))
        }
        "name" | "Name" | "key" | "Key" | "ParameterKey" => {
            Some((&["value", "val", "ParameterValue"][..], secret_key(value)?))
        }
        _ => None,
    })
}

/// The key of an option of a command line whose value comes next: `--password`.
pub(super) fn secret_flag(argument: &str) -> Option<SecretKey> {
    let is_flag = argument.starts_with('-') && !argument.contains(['=', ' ']);
    secret_key(argument).filter(|_| is_flag)
}

/// Whether an environment variable, a header or a parameter of this name holds a secret. Looser than for keys of answers: who names a
/// variable so means it.
pub(super) fn is_secret_name(name: &str) -> bool {
    const WORDS: &str = "
        token secret secrets password passwd passphrase pass pwd pw pat credential credentials creds cookie authorization auth dsn
        salt webhook
    ";
    const ENDINGS: [&str; 4] = ["password", "passwd", "apikey", "secret"];
    // What a `key` opens; others are most often places in a list, in a store or on a keyboard.
    const KEYS_TO: &str = "
        api secret private access auth signing encryption master account shared storage service license webhook deploy
    ";
    // What such a name is about, and not the secret itself: where it lies, how it is called, how long it holds.
    const ABOUT: &str = "
        file path dir folder sock socket url uri id name type kind length size ttl expiry timeout count limit enabled required env user
        username domain host port header prefix suffix min max method mode scheme provider policy endpoint server issuer audience scope
        scopes algorithm format field column param expires expiration lifetime age interval days region version
    ";
    // Where a shell is and was (POSIX, "Shell Variables").
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    let words = words(name);
    if words.last().is_some_and(|it| is_in(ABOUT, it)) {
        return false;
    }
    let is_alone = words.len() == 1;
    let opens = |at: usize| {
        let before = at.checked_sub(1).map(|it| words[it].as_str());
        is_alone || before.is_some_and(|it| is_in(KEYS_TO, it))
    };
    words.iter().enumerate().any(|(at, word)| {
        is_in(WORDS, word)
            || ENDINGS.iter().any(|it| word.ends_with(it))
            || word == "string" && at > 0 && words[at - 1] == "connection"
            || word == "key" && opens(at)
            || word == "keys" && !is_alone && opens(at)
    })
}

/// Whether a name ends with `key` and says nothing more, or is that of a signature, which lets whoever has it in: what it holds is a secret where
/// it looks like one.
pub(super) fn is_key_name(name: &str) -> bool {
    let words = words(name);
    let last = words.last().map(String::as_str);
    matches!(last, Some("key" | "sig" | "signature"))
}

/// Whether the value of a variable may be a key: `user_id` and `5432` are none.
pub(super) fn may_be_key(value: &str) -> bool {
    const SHORTEST: usize = 8;
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.len() >= SHORTEST && (1..value.len()).contains(&digits)
}

/// The kind of secret that a header of this name and value holds; `None` where it holds none. Whoever names a header so means it: also
/// a word is a secret there.
pub(super) fn secret_header(name: &str, value: &str) -> Option<&'static str> {
    let key = secret_key(name);
    let is_key = is_key_name(name) && random::is_random(value);
    let holds_one =
        is_key || is_secret_name(name) || key.is_some_and(|it| is_secret_value(it, value));
    (holds_one && !value.trim().is_empty()).then(|| key.map_or("secret", |it| it.kind))
}

/// Whether a value under such a key is a secret, and not a blank, an example, a count or a message about one.
pub(super) fn is_secret_value(key: SecretKey, value: &str) -> bool {
    let value = value.trim();
    if value.is_empty() || is_example(value) {
        return false;
    }
    // `21/22`, `1,234`: counts.
    let is_count = value.len() < 8
        && value.contains(['/', ',', '%'])
        && value
            .bytes()
            .all(|it| it.is_ascii_digit() || b"/,.%".contains(&it));
    if is_count {
        return false;
    }
    if key.is_sure {
        return !is_ordinary(value);
    }
    let is_number = value.bytes().all(|it| it.is_ascii_digit());
    let is_too_short = value.len() < if is_number { 8 } else { 4 };
    let may_be_one =
        !is_too_short && !value.contains(char::is_whitespace) && !random::is_word(value);
    may_be_one && !is_ordinary(value)
}

/// Whether a text that stands somewhere under a secret key, as the member of this name, is the secret: not what says of which kind or
/// whose it is, and in lists of tokens no word, as tokenizers make them.
pub(super) fn is_secret_within(key: SecretKey, member: &str, value: &str) -> bool {
    const ABOUT: &str = "
        type name kind user username id email url uri host description title scheme format status provider expires expires_at created_at
        scope scopes $ref
    ";
    // Under all keys but those of passwords, members are also about secrets; what is one looks like it, or is called a value.
    let is_value = matches!(member, "" | "value" | "data" | "current" | "secret")
        || secret_key(member).is_some();
    let is_meant = key.kind == "password" || is_value || random::is_random(value);
    (key == MARKED || is_meant && !is_in(ABOUT, member)) && is_secret_value(key, value)
}

/// Whether the `type` of an object says that it describes values (JSON Schema) and holds none.
pub(super) fn is_schema_type(value: &str) -> bool {
    is_in("string object array number integer boolean null", value)
}

/// A header's credentials: how long the scheme is with what follows it. All of it is secret where no known scheme begins it.
pub(super) fn scheme(text: &str) -> usize {
    const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "apikey", "digest", "negotiate"];
    let secret = text
        .split_once(' ')
        .map(|(scheme, rest)| (scheme, rest.trim_start()));
    match secret {
        Some((scheme, secret))
            if SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) && !secret.is_empty() =>
        {
            text.len() - secret.len()
        }
        _ => 0,
    }
}

/// Whether a name of several words has the last word of a key in it: `refreshToken` for `token`.
pub(super) fn is_named_alike(key: &str, name: &str) -> bool {
    let (of_key, of_name) = (words(key), words(name));
    let singular = |it: &String| it.trim_end_matches('s').to_owned();
    let noun = of_key.last().map(singular);
    of_name.len() > 1 && of_name.iter().any(|it| Some(singular(it)) == noun)
}

#[cfg(test)]
mod tests {
    use super::{is_secret_name, is_secret_value, may_be_key, secret_key};

    #[test]
    fn keys_are_read_as_whole_words() {
        for key in [
            "password",
            "PASSWORD",
            "db_password",
            "dbPassword",
            "DBPassword",
            "pass",
            "pwd",
            "passphrase",
            "secrets",
            "tokens",
            "credentials",
            "auth",
            "session_token",
            "sessionToken",
            "SESSION-TOKEN",
            "signing_key",
            "private_key",
            "connection_string",
            "connectionString",
            "cookie",
            "set-cookie",
            "Set-Cookie",
            "x-api-key",
            "apiKey",
            "accessToken",
            "clientSecret",
            "access_key",
            "client_secret",
            "PGPASSWORD",
        ] {
            assert!(secret_key(key).is_some(), "{key}");
        }
        for key in [
            "max_tokens",
            "input_tokens",
            "tokenizer",
            "password_policy",
            "next_page_token",
            "nextPageToken",
            "progressToken",
            "key",
            "primary_key",
            "author",
            "passenger",
            "compass",
            "authority",
            "secretary",
            "keyboard",
            "access_key_id",
            "token_count",
            "tokens_used",
            "max_completion_tokens",
        ] {
            assert!(secret_key(key).is_none(), "{key}");
        }
    }

    #[test]
    fn names_of_variables_and_headers_tell_secrets() {
        for name in [
            "PGPASSWORD",
            "DB_PASS",
            "GITHUB_PAT",
            "SECRET_KEY_BASE",
            "CREDENTIALS",
            "API_TOKEN",
            "X-Api-Key",
            "Authorization",
            "key",
            "API_KEYS",
            "AWS_SECRET_ACCESS_KEY",
            "API_KEY_PRODUCTION",
            "GITHUB_TOKEN_2",
            "DB_CONNECTION_STRING",
            "PASSWORD_SALT",
            "WEBHOOK",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "LOG_LEVEL",
            "MAX_TOKENS",
            "KEYBOARD",
            "PASSENGER",
            "TOKENIZER",
            "MODE",
            "PARTITION_KEY",
            "AUTHOR",
            "SSH_AUTH_SOCK",
            "TOKEN_FILE",
            "CLIENT_SECRET_NAME",
            "AUTH_USER",
            "COOKIE_DOMAIN",
            "API_KEY_HEADER",
            "REDIS_KEY_PREFIX",
            "PASSWORD_MIN",
            "TOKEN_TTL",
            "TOKEN_URL",
            "SECRET_NAME",
            "SECRETS_FILE",
            "PASSWORD_FILE",
            "GITHUB_REPOSITORY_KEY",
            "private_key_id",
            "token_type",
            "auth_method",
            "WEBHOOK_URL",
            "QUERY_STRING",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn what_a_variable_called_key_holds_is_one_where_it_reads_like_no_name() {
        for (value, expected) in [
            ("Korrekt-Pferd-77", true),
            ("user_id", false),
            ("20261129", false),
            ("a1", false),
        ] {
            assert_eq!(may_be_key(value), expected, "{value}");
        }
    }

    #[test]
    fn a_word_is_no_token_but_may_be_a_password() {
        let (token, password) = (
            secret_key("token").unwrap(),
            secret_key("password").unwrap(),
        );
        for (value, as_token, as_password) in [
            ("hunter2", true, true),
            ("sesame", false, true),
            ("12", false, true),
            ("", false, false),
            ("${TOKEN}", false, false),
            ("your-token-here", false, false),
            ("must be given", false, false),
            ("be gone", false, true),
            ("tok_9f8e7d", true, true),
        ] {
            assert_eq!(is_secret_value(token, value), as_token, "{value}");
            assert_eq!(is_secret_value(password, value), as_password, "{value}");
        }
    }
}
