//! Soft word Jaccard: how much two texts have in common, word by word.

use std::borrow::Cow;

use super::align;
use super::number::count;

/// Beyond this many words left over on either side, abbreviations are not looked for: their search is quadratic, and
/// in texts that differ this much they decide nothing.
const ABBREVIATIONS: usize = 512;

/// Similarity of two texts, 0 to 1.
///
/// `inter / (|A| + |B| - inter)` over the sets of words, where `inter` is `|A ∩ B|` and half a point for each pair of
/// abbreviations among the words left over. The same set of words in another order or number:
/// `0.8 + 0.2 × longest common subsequence / longer length`. Two texts without words: 1; one: 0.
pub(super) fn similarity(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let a = words(a);
    let b = words(b);
    if a.is_empty() && b.is_empty() {
        return 1.0;
    }
    let a_set = set(&a);
    let b_set = set(&b);
    let (common, a_only, b_only) = split(&a_set, &b_set);
    if a_only.is_empty() && b_only.is_empty() {
        return 0.8 + 0.2 * in_order(&a, &b);
    }
    let inter = count(common) + 0.5 * count(abbreviations(&a_only, &b_only));
    inter / (count(a_set.len() + b_set.len()) - inter)
}

fn words(text: &str) -> Vec<Cow<'_, str>> {
    text.split_whitespace()
        .map(|word| word.trim_matches(is_punctuation))
        .filter(|word| !word.is_empty())
        .map(lower_case)
        .collect()
}

fn is_punctuation(it: char) -> bool {
    ".,;:!?()[]{}\"'".contains(it)
}

fn lower_case(word: &str) -> Cow<'_, str> {
    let already = |it: u8| it.is_ascii() && !it.is_ascii_uppercase();
    if word.bytes().all(already) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase())
    }
}

fn set<'a>(words: &'a [Cow<'_, str>]) -> Vec<&'a str> {
    let mut set: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    set.sort_unstable();
    set.dedup();
    set
}

/// The number of common words, and the words only one side has, in sorted order.
fn split<'a>(a: &[&'a str], b: &[&'a str]) -> (usize, Vec<&'a str>, Vec<&'a str>) {
    let (mut i, mut j, mut common) = (0, 0, 0);
    let (mut a_only, mut b_only) = (Vec::new(), Vec::new());
    while i < a.len() && j < b.len() {
        match a[i].cmp(b[j]) {
            std::cmp::Ordering::Less => {
                a_only.push(a[i]);
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                b_only.push(b[j]);
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                common += 1;
                i += 1;
                j += 1;
            }
        }
    }
    a_only.extend(&a[i..]);
    b_only.extend(&b[j..]);
    (common, a_only, b_only)
}

/// How many words of the one side pair off with an abbreviation on the other, one to one, in sorted order.
fn abbreviations(a: &[&str], b: &[&str]) -> usize {
    if a.len().min(b.len()) == 0 || a.len().max(b.len()) > ABBREVIATIONS {
        return 0;
    }
    let mut taken = vec![false; b.len()];
    let mut pairs = 0;
    for a in a {
        let free = |&at: &usize| !taken[at] && is_abbreviation(a, b[at]);
        if let Some(at) = (0..b.len()).find(free) {
            taken[at] = true;
            pairs += 1;
        }
    }
    pairs
}

/// Whether the longer word starts with the shorter, or with the shorter less its plural `s` when both end in one.
fn is_abbreviation(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.bytes().next() != long.bytes().next() {
        return false;
    }
    let stem = match short.strip_suffix('s') {
        Some(stem) if long.ends_with('s') => stem,
        _ => short,
    };
    long.starts_with(stem)
        && short.chars().count() >= 3
        && short.chars().all(char::is_alphabetic)
        && long.chars().all(char::is_alphabetic)
}

/// The longest common subsequence of two lists of words, as a share of the longer one.
fn in_order(a: &[Cow<'_, str>], b: &[Cow<'_, str>]) -> f64 {
    let key = |words: &[Cow<'_, str>]| words.iter().map(align::key).collect::<Vec<_>>();
    let common = align::common(&key(a), &key(b));
    count(common) / count(a.len().max(b.len()))
}
