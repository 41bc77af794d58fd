//! The words that names are made of.

/// The words of a key in snake, kebab or camel case, in lower case.
pub(super) fn words(key: &str) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::words;

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
}
