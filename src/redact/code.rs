//! What stands behind a key and is no value of it: the rest of a sentence, an expression of a program.

use std::ops::Range;

use super::keys;
use super::random;

/// Whether a word and the next ones are a sentence: `password: must be given`.
pub(super) fn is_prose(text: &str, value: &Range<usize>, separator: &[u8]) -> bool {
    let word = &text[value.clone()];
    let next = text[value.end..].trim_start_matches([' ', '\t', ',']);
    let goes_on =
        text[value.end..].starts_with([' ', ',']) && next.starts_with(|it: char| it.is_lowercase());
    separator == b":" && random::is_word(word) && goes_on
}

/// Whether a value is an expression of a program: `token=self.token`, `password = getpass()`, `key_password=key_password`.
pub(super) fn is_code(text: &str, key: &str, value: &Range<usize>) -> bool {
    let word = &text[value.clone()];
    let behind = &text[value.end..];
    let is_name =
        |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_alphabetic() || it == '_');
    let is_path = |it: &str| it.replace("::", ".").split('.').all(is_name);
    let callee = |it: &str| it.split(['(', '[']).next().is_some_and(is_path);
    let is_member = word.contains('.') && is_path(word);
    let is_call = word.contains(['(', '[']) && callee(word);
    // `await f(x)`
    let next = behind.strip_prefix(' ').unwrap_or_default();
    let next = next.split_inclusive(['(', ' ', '\n']).next();
    let is_called = random::is_word(word) && next.is_some_and(|it| it.ends_with('(') && callee(it));
    let is_variable = random::is_word(word) && keys::secret_key(word).is_some();
    // `DB_PASSWORD=my_password` is a setting, in which nothing stands for something else.
    let is_setting = !key.contains(char::is_lowercase);
    let is_named_alike = !is_setting && is_name(word) && keys::is_named_alike(key, word);
    // `Option<String>`
    let is_type = behind.starts_with('<') && word.chars().all(char::is_alphabetic);
    // As minifiers write `true` and `false`.
    let is_bool = ["!0", "!1"].contains(&word);
    is_member || is_call || is_called || is_variable || is_named_alike || is_type || is_bool
}
