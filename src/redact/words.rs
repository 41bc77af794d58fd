//! The words that names are made of.

/// The words of a key in snake, kebab or camel case, in lower case.
pub(super) fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let letters: Vec<char> = key.chars().collect();
    for (index, &it) in letters.iter().enumerate() {
        if it.is_alphanumeric() {
            // `clientSecret`, and `DBPassword` before its last capital.
            let ends_capitals = before.is_uppercase()
                && it.is_uppercase()
                && letters.get(index + 1).is_some_and(|it| it.is_lowercase());
            let begins = it.is_uppercase() && (before.is_lowercase() || before.is_numeric());
            if begins || ends_capitals {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(it.to_lowercase());
            }
        } else {
            words.push(String::new());
        }
        before = it;
    }
    words.retain(|it| !it.is_empty());
    words
}
