//! Soft word Jaccard: how much two texts have in common, word by word.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::lists::align;
use crate::values::number::count;

/// Beyond this many words left over on either side, abbreviations are not looked for: their search is quadratic, and
/// in texts that differ this much they decide nothing.
const ABBREVIATIONS: usize = 512;

/// A text as its words, ready to be compared with many others.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    /// In the order of the text.
    all: Vec<Cow<'a, str>>,
    /// Each word once, in sorted order.
    set: Vec<Place>,
}

/// A word by its position, beside its first letters, by which most words can be distinguished quickly.
#[derive(Debug, Clone, Copy)]
struct Place {
    first: u64,
    at: usize,
}

impl Place {
    fn new(at: usize, word: &str) -> Self {
        let mut first = [0; 8];
        let length = word.len().min(first.len());
        first[..length].copy_from_slice(&word.as_bytes()[..length]);
        Self {
            first: u64::from_be_bytes(first),
            at,
        }
    }

    fn order(self, words: &[Cow<'_, str>], other: Self, of: &[Cow<'_, str>]) -> Ordering {
        let first = self.first.cmp(&other.first);
        first.then_with(|| words[self.at].cmp(&of[other.at]))
    }
}

/// Similarity of two texts, 0 to 1; see [`Words::similarity`].
pub(crate) fn similarity(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    Words::new(a).similarity(&Words::new(b))
}

impl<'a> Words<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut all: Vec<Cow<'_, str>> = Vec::with_capacity(text.len() / 4 + 1);
        let mut add = |word: &'a str| {
            let word = trimmed(word);
            if !word.is_empty() {
                all.push(lower_case(word));
            }
        };
        if text.is_ascii() {
            let is_space = |it: &u8| it.is_ascii_whitespace() || *it == b'\x0b';
            let mut from = 0;
            for piece in text.as_bytes().split(is_space) {
                add(&text[from..from + piece.len()]);
                from += piece.len() + 1;
            }
        } else {
            text.split_whitespace().for_each(add);
        }
        let places = all.iter().enumerate();
        let mut set: Vec<Place> = places.map(|(at, word)| Place::new(at, word)).collect();
        set.sort_unstable_by(|a, b| a.order(&all, *b, &all));
        set.dedup_by(|a, b| a.order(&all, *b, &all) == Ordering::Equal);
        Self { all, set }
    }

    /// How many words there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// `inter / (|A| + |B| - inter)` over the sets of words, where `inter` is `|A ∩ B|` and half a point for each pair of
    /// abbreviations among the words left over. The same set of words in another order or number:
    /// `0.8 + 0.2 × longest common subsequence / longer length`. Two texts without words: 1; one: 0.
    pub(crate) fn similarity(&self, other: &Self) -> f64 {
        if self.all.is_empty() && other.all.is_empty() {
            return 1.0;
        }
        let (common, a_only, b_only) = self.split(other);
        if a_only.is_empty() && b_only.is_empty() {
            return 0.8 + 0.2 * in_order(&self.all, &other.all);
        }
        let inter = count(common) + 0.5 * count(abbreviations(&a_only, &b_only));
        inter / (count(self.set.len() + other.set.len()) - inter)
    }

    /// The number of common words, and the words only one side has, in sorted order.
    fn split<'s>(&'s self, other: &'s Self) -> (usize, Vec<&'s str>, Vec<&'s str>) {
        let (mut i, mut j, mut common) = (0, 0, 0);
        let (mut a_only, mut b_only) = (Vec::new(), Vec::new());
        loop {
            let (a, b) = (self.set.get(i), other.set.get(j));
            let order = match (a, b) {
                (Some(a), Some(b)) => a.order(&self.all, *b, &other.all),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return (common, a_only, b_only),
            };
            if order == Ordering::Equal {
                common += 1;
            } else if order == Ordering::Less {
                a_only.extend(a.map(|it| self.all[it.at].as_ref()));
            } else {
                b_only.extend(b.map(|it| other.all[it.at].as_ref()));
            }
            i += usize::from(order != Ordering::Greater);
            j += usize::from(order != Ordering::Less);
        }
    }
}

/// A word without the punctuation around it.
fn trimmed(word: &str) -> &str {
    let bytes = word.as_bytes();
    let of_word = |it: &u8| !is_punctuation(*it);
    match (
        bytes.iter().position(of_word),
        bytes.iter().rposition(of_word),
    ) {
        // Punctuation is ASCII, and so no part of another character.
        (Some(first), Some(last)) => &word[first..=last],
        _ => "",
    }
}

fn is_punctuation(it: u8) -> bool {
    matches!(
        it,
        b'.' | b','
            | b';'
            | b':'
            | b'!'
            | b'?'
            | b'('
            | b')'
            | b'['
            | b']'
            | b'{'
            | b'}'
            | b'"'
            | b'\''
    )
}

fn lower_case(word: &str) -> Cow<'_, str> {
    let already = |it: u8| it.is_ascii() && !it.is_ascii_uppercase();
    if word.bytes().all(already) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase())
    }
}

/// How many words of the one side pair off with an abbreviation on the other, one to one, in sorted order.
fn abbreviations(a: &[&str], b: &[&str]) -> usize {
    if a.len().min(b.len()) == 0 || a.len().max(b.len()) > ABBREVIATIONS {
        return 0;
    }
    let mut taken = vec![false; b.len()];
    let mut pairs = 0;
    for a in a.iter().filter(|it| it.chars().all(char::is_alphabetic)) {
        // A word and its abbreviation share two letters at least, and what shares them stands together.
        let Some((end, last)) = a.char_indices().nth(1) else {
            continue;
        };
        let start = &a[..end + last.len_utf8()];
        let from = b.partition_point(|it| *it < start);
        let alike = b[from..].iter().take_while(|it| it.starts_with(start));
        let to = from + alike.count();
        let free = |&at: &usize| !taken[at] && is_abbreviation(a, b[at]);
        if let Some(at) = (from..to).find(free) {
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
