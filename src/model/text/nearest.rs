//! "Did you mean": the known word closest to a mistyped one.

/// A hint naming the closest of the known words, if one is close.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|it| format!("did you mean `{it}`?"))
}

/// The closest of the known words, if one is close.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance takes time in the product of the lengths, and no word we know is that long.
    if word.len() > 100 {
        return None;
    }
    let folded = fold(word);
    known
        .into_iter()
        .filter(|it| it.len() <= 100)
        // Nobody who is looking for a hint has more names than this.
        .take(1000)
        .map(|it| (distance(&folded, &fold(it)), it))
        .filter(|(distance, it)| *distance <= allowed(word).min(allowed(it)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, it)| it)
}

/// Without what people mix up: case, and how the parts of a name are joined.
fn fold(word: &str) -> String {
    word.chars()
        .filter(|it| !matches!(it, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// How many letters may be wrong in a word.
fn allowed(word: &str) -> usize {
    (word.chars().count() / 3).max(1)
}

fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(a, b)
}
