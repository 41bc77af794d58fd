//! Finds the secrets in one text, in one pass over its bytes: an automaton tells where one may be, and only there is looked closer.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, MatchKind, StartKind};
use parking_lot::Mutex;

use super::assigned::{self, ends_with_word};
use super::escaped::{ESCAPED, Escapable};
use super::hit::{Hit, Name};
use super::keys::{HINTS, TOKEN};
use super::ordinary::is_example;
use super::shapes::{self, BASIC, PRIVATE_KEY, SHAPES};
use super::spelling::{Known, ONE_OF_SEVERAL, Role, WITHIN_BASE64};
use super::{encoded, marked};

use model::RedactionPattern;

/// What the automaton may come across.
#[derive(Debug, Clone, Copy)]
enum Sign {
    /// Part of a key that may name a secret.
    Key,
    Shape(usize),
    /// The word `Bearer`.
    Bearer,
    /// The word `Basic`.
    Basic,
    /// `://`.
    Address,
    /// `-----BEGIN `.
    Block,
    /// A declared secret in one of its spellings.
    Declared(usize),
    /// What of a declared secret no program escapes.
    Core(usize),
}

/// Looks for secrets.
#[derive(Debug, Clone)]
pub(super) struct Finder {
    automaton: Arc<DFA>,
    signs: Arc<[(Sign, usize)]>,
    /// The spellings of declared secrets: name, spelling, text.
    declared: Vec<Spelled>,
    /// Declared values that may be escaped in ways that have no name, each with the name of its secret.
    escapable: Arc<[(String, Escapable)]>,
    /// Declared values that are hidden only where a secret would stand.
    words: Vec<Spelled>,
    patterns: Vec<RedactionPattern>,
    /// What is never hidden.
    keep: Vec<String>,
}

/// A declared secret as it is looked for: its name, the name of the spelling, the text.
type Spelled = (String, String, String);

/// The automaton, and what each text that it knows stands for, with its length.
type Search = (Arc<DFA>, Arc<[(Sign, usize)]>);

/// What looks for secrets nobody has declared; most scenarios declare none.
static PLAIN: LazyLock<Search> = LazyLock::new(|| build(&[], &[]));

/// Automata for declared secrets, the latest first: the same few are wanted again for each run of a scenario.
static BUILT: Mutex<Vec<(Vec<Spelled>, Search)>> = Mutex::new(Vec::new());

/// How many automata are kept.
const KEPT: usize = 8;

fn search_for(declared: &[Spelled], cores: &[&str]) -> Search {
    if declared.is_empty() {
        return PLAIN.clone();
    }
    let mut built = BUILT.lock();
    if let Some(at) = built.iter().position(|(known, _)| known == declared) {
        let known = built.remove(at);
        let search = known.1.clone();
        built.insert(0, known);
        return search;
    }
    let search = build(declared, cores);
    built.insert(0, (declared.to_vec(), search.clone()));
    built.truncate(KEPT);
    search
}

/// Signs besides keys and shapes.
const WORDS: [(&str, Sign); 4] = [
    ("bearer", Sign::Bearer),
    ("basic", Sign::Basic),
    ("://", Sign::Address),
    ("-----begin ", Sign::Block),
];

fn build(declared: &[Spelled], cores: &[&str]) -> Search {
    let keys = HINTS.split_ascii_whitespace().map(|it| (it, Sign::Key));
    let shapes = SHAPES.iter().enumerate();
    let shapes = shapes.map(|(index, it)| (it.prefix, Sign::Shape(index)));
    let declared = declared.iter().enumerate();
    let declared = declared.map(|(index, it)| (it.2.as_str(), Sign::Declared(index)));
    let cores = cores.iter().enumerate();
    let cores = cores.map(|(index, it)| (*it, Sign::Core(index)));
    let all: Vec<(&str, Sign)> = WORDS
        .into_iter()
        .chain(keys)
        .chain(shapes)
        .chain(declared)
        .chain(cores)
        .collect();
    let automaton = DFA::builder()
        .match_kind(MatchKind::Standard)
        .start_kind(StartKind::Unanchored)
        .ascii_case_insensitive(true)
        .prefilter(false)
        .build(all.iter().map(|it| it.0))
        .expect("fewer states than fit into 32 bits");
    let signs = all.iter().map(|(text, sign)| (*sign, text.len()));
    (Arc::new(automaton), signs.collect())
}

impl Finder {
    pub(super) fn new(
        known: Vec<Known>,
        patterns: Vec<RedactionPattern>,
        keep: Vec<String>,
    ) -> Self {
        let escapable = known
            .iter()
            .filter(|it| it.is_everywhere && it.part.role != Role::Line);
        let escapable: Arc<[_]> = escapable
            .filter_map(|it| Some((it.name.clone(), Escapable::new(&it.part.text)?)))
            .collect();
        // What can be put back goes before what cannot.
        let mut known = known;
        known.sort_by_key(|it| it.part.role);
        let (mut declared, mut words): (Vec<Spelled>, Vec<Spelled>) = Default::default();
        let mut texts = HashSet::new();
        for it in known {
            let spellings = it.part.spellings().into_iter();
            let spelled = spellings.map(|spelling| (it.name.clone(), spelling.name, spelling.text));
            if it.is_everywhere {
                declared.extend(spelled.filter(|it| texts.insert(it.2.clone())));
            } else {
                words.extend(spelled.take(1));
            }
        }
        let cores: Vec<&str> = escapable.iter().map(|(_, it)| it.core()).collect();
        let (automaton, signs) = search_for(&declared, &cores);
        Self {
            automaton,
            signs,
            declared,
            escapable,
            words,
            patterns,
            keep,
        }
    }

    /// The name of a value that is declared, and is hidden where a secret would stand.
    pub(super) fn declared(&self, value: &str) -> Option<Name<'_>> {
        let mut all = self.declared.iter().chain(&self.words);
        all.find(|(_, _, text)| *text == value)
            .map(|(name, spelling, _)| Name::Declared(name, spelling))
    }

    /// Whether a value is never hidden.
    pub(super) fn keeps(&self, value: &str) -> bool {
        self.keep.iter().any(|it| it == value)
    }

    /// Whether a key may name a secret: a quick look, which says yes to some that do not.
    pub(super) fn may_be_secret_key(&self, key: &str) -> bool {
        let mut is_hinted = false;
        self.signs(key, |sign, _| is_hinted |= matches!(sign, Sign::Key));
        is_hinted
    }

    /// The secrets in a text, in order; none overlaps another. `shown` says what a key above has shown to be one.
    pub(super) fn find(&self, text: &str, shown: Option<Hit<'static>>) -> Vec<Hit<'_>> {
        let mut encoded = Vec::new();
        encoded::each(text, |at, decoded| {
            // Nobody can say what stood there, but what it is.
            let name = self
                .plain(decoded, None, Vec::new())
                .first()
                .map(|it| match it.name {
                    Name::Declared(name, _) => Name::Declared(name, WITHIN_BASE64),
                    Name::Shape(kind) | Name::Context(kind) => Name::Context(kind),
                });
            encoded.extend(name.map(|name| Hit { at, name }));
        });
        self.plain(text, shown, encoded)
    }

    /// The same, without what is encoded.
    fn plain<'a>(
        &'a self,
        text: &str,
        shown: Option<Hit<'static>>,
        encoded: Vec<Hit<'a>>,
    ) -> Vec<Hit<'a>> {
        let mut sure = Vec::new();
        let mut context = Vec::new();
        context.extend(shown);
        let (mut assigned_to, mut looked_through, mut shaped_to) = (0, 0, 0);
        let mut escaped_to = 0;
        let mut may_be_marked = text.contains("sensitive") || text.contains("\"kty");
        self.signs(text, |sign, at| match sign {
            Sign::Key if at.end > assigned_to => {
                let assigned = assigned::after_key(text, at, looked_through);
                may_be_marked = true;
                assigned_to = assigned.end;
                looked_through = assigned.looked_through;
                context.extend(assigned.values);
            }
            Sign::Key => may_be_marked = true,
            Sign::Declared(index) => {
                let (name, spelling, written) = &self.declared[index];
                if text[at.clone()] == *written {
                    let at = if spelling == WITHIN_BASE64 {
                        whole_letters(text, at)
                    } else {
                        at
                    };
                    sure.push(Hit::new(at, Name::Declared(name, spelling)));
                }
            }
            Sign::Core(_) if at.start < escaped_to => {}
            Sign::Core(index) => {
                let (name, escapable) = &self.escapable[index];
                let is_core = text[at.clone()] == *escapable.core();
                let whole = is_core.then(|| escapable.around(text, &at)).flatten();
                if let Some(at) = whole {
                    escaped_to = at.end;
                    sure.push(Hit::new(at, Name::Declared(name, ESCAPED)));
                }
            }
            // Within a key that was found, nothing else is.
            Sign::Shape(_) if at.start < shaped_to => {}
            Sign::Shape(index) => {
                let shape = &SHAPES[index];
                let found = shape.around(text, at.start);
                if let Some(at) = found.filter(|it| !is_example(&text[it.clone()])) {
                    shaped_to = at.end;
                    sure.push(Hit::new(
                        at.clone(),
                        Name::Shape(shapes::kind_of(&text[at]).unwrap_or(shape.kind)),
                    ));
                }
            }
            Sign::Block => {
                if let Some(end) = shapes::private_key(text, at.start) {
                    sure.push(Hit::new(at.start..end, Name::Shape(PRIVATE_KEY)));
                }
            }
            Sign::Bearer => context.extend(bearer(text, at)),
            Sign::Basic => context.extend(basic(text, at)),
            Sign::Address => context.extend(address(text, at.start)),
        });
        for pattern in &self.patterns {
            let found = pattern.regex().find_iter(text).filter(|it| !it.is_empty());
            sure.extend(found.map(|it| Hit::new(it.range(), Name::Shape(shapes::BY_PATTERN))));
        }
        if may_be_marked {
            context.extend(marked::secrets(text));
        }
        context.extend(encoded);
        if sure.is_empty() && context.is_empty() {
            return Vec::new();
        }
        for hit in &mut context {
            if let Some(name) = self.declared(&text[hit.at.clone()]) {
                hit.name = name;
            } else if let Some(kind) = shapes::kind_of(&text[hit.at.clone()]) {
                hit.name = Name::Context(kind);
            }
        }
        let mut hits = apart(text, sure, context);
        hits.retain(|it| !self.keeps(&text[it.at.clone()]));
        hits
    }

    /// Runs the automaton over a text.
    fn signs(&self, text: &str, mut tell: impl FnMut(Sign, Range<usize>)) {
        let dfa = &*self.automaton;
        let Ok(mut state) = dfa.start_state(Anchored::No) else {
            return;
        };
        for (index, byte) in text.bytes().enumerate() {
            state = dfa.next_state(Anchored::No, state, byte);
            if dfa.is_special(state) && dfa.is_match(state) {
                for number in 0..dfa.match_len(state) {
                    let (sign, length) = self.signs[dfa.match_pattern(state, number).as_usize()];
                    tell(sign, index + 1 - length..index + 1);
                }
            }
        }
    }
}

/// The whole of what is encoded in base64 around a value: its letters depend on the value, too, the nearest by some bits and those
/// behind it by its length. Of a long one, only the nearest letters.
fn whole_letters(text: &str, at: Range<usize>) -> Range<usize> {
    const LONGEST: usize = 1024;
    let is_letter = |it: &&u8| it.is_ascii_alphanumeric() || b"+/-_".contains(it);
    let bytes = text.as_bytes();
    let before = bytes[..at.start].iter().rev().take_while(is_letter).count();
    let behind = bytes[at.end..].iter().take_while(is_letter).count();
    if before + behind > LONGEST {
        return at.start - before.min(1)..at.end + behind.min(1);
    }
    let padding = bytes[at.end + behind..]
        .iter()
        .take_while(|it| **it == b'=')
        .count();
    at.start - before..at.end + behind + padding
}

/// Where the run of bytes at a place ends.
fn run(text: &str, from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    from + text.as_bytes()[from..]
        .iter()
        .take_while(|it| belongs(**it))
        .count()
}

/// What stands behind the word `Bearer`, where it is a token.
fn bearer(text: &str, at: Range<usize>) -> Option<Hit<'static>> {
    let start = gap(text, at.end)?;
    let end = run(text, start, |it| {
        it.is_ascii_alphanumeric() || b"._~+/-=".contains(&it)
    });
    let end = start + text[start..end].trim_end_matches(['.', '-']).len();
    let token = &text[start..end];
    let is_header = ends_with_word(
        text[..at.start].trim_ascii_end().as_bytes(),
        b"authorization:",
    );
    let goes_on = text[end..].starts_with(' ')
        && text[end..]
            .trim_start()
            .starts_with(|it: char| it.is_lowercase());
    let is_meant = shapes::is_bearer_token(token) || is_header && token.len() >= 6 && !goes_on;
    let is_meant = is_meant && shapes::begins_word(text, at.start) && !is_example(token);
    is_meant.then_some(Hit::context(start..end, TOKEN))
}

/// What stands behind the word `Basic`, where it is a name and a password.
fn basic(text: &str, at: Range<usize>) -> Option<Hit<'static>> {
    let start = gap(text, at.end)?;
    let end = run(text, start, |it| {
        it.is_ascii_alphanumeric() || b"+/=".contains(&it)
    });
    let encoded = &text[start..end];
    let is_meant = encoded.len() >= 4 && shapes::is_name_and_password(encoded);
    is_meant.then_some(Hit::context(start..end, BASIC))
}

/// Where the next word begins, behind spaces or what stands for one.
fn gap(text: &str, from: usize) -> Option<usize> {
    let start = run(text, from, |it| it == b' ' || it == b'\t');
    let coded = ["%20", "+"]
        .iter()
        .find(|it| text[from..].starts_with(**it));
    match coded {
        _ if start > from => Some(start),
        Some(it) => Some(from + it.len()),
        None => None,
    }
}

/// The password, or the token, before the `@` of an address.
fn address(text: &str, colon: usize) -> Option<Hit<'static>> {
    let (kind, at) = shapes::in_address(text, colon)?;
    (!is_example(&text[at.clone()])).then_some(Hit::context(at, kind))
}

/// Puts hits in order, none over another: of two that overlap the longer one counts. What stands in the context of a secret is hidden
/// where nothing surer is.
fn apart<'a>(text: &str, mut sure: Vec<Hit<'a>>, context: Vec<Hit<'a>>) -> Vec<Hit<'a>> {
    let rank = |it: &Hit<'_>| match it.name {
        // What can be put back goes before what cannot.
        Name::Declared(_, spelling) => {
            u8::from([WITHIN_BASE64, ONE_OF_SEVERAL, ESCAPED].contains(&spelling))
        }
        Name::Shape(_) => 2,
        Name::Context(_) => 3,
    };
    sure.sort_by_key(|it| (it.at.start, std::cmp::Reverse(it.at.end), rank(it)));
    let mut hits: Vec<Hit<'a>> = Vec::new();
    for hit in sure {
        match hits.last_mut() {
            Some(last) if hit.at.end <= last.at.end => {
                if hit.at == last.at && rank(&hit) < rank(last) {
                    *last = hit;
                }
            }
            // Half of a secret is called by no name: nothing could be put in its place again.
            Some(last) if hit.at.start < last.at.end => {
                let at = last.at.end..hit.at.end;
                hits.push(Hit::context(at, "secret"));
            }
            _ => hits.push(hit),
        }
    }
    let mut context = context;
    context.sort_by_key(|it| (it.at.start, std::cmp::Reverse(it.at.end), rank(it)));
    let mut all: Vec<Hit<'a>> = Vec::new();
    let mut surer = hits.into_iter().peekable();
    let mut from = 0;
    for it in context {
        while let Some(hit) = surer.next_if(|hit| hit.at.end <= it.at.start) {
            from = hit.at.end;
            all.push(hit);
        }
        let mut start = it.at.start.max(from);
        while let Some(hit) = surer.next_if(|hit| hit.at.start < it.at.end) {
            piece(text, start..hit.at.start, it.name, &mut all);
            start = start.max(hit.at.end);
            from = hit.at.end;
            all.push(hit);
        }
        piece(text, start..it.at.end, it.name, &mut all);
        from = from.max(it.at.end);
    }
    all.extend(surer);
    all
}

/// A piece of a context between surer hits; punctuation and the ends of lines there are none.
fn piece<'a>(text: &str, at: Range<usize>, name: Name<'a>, all: &mut Vec<Hit<'a>>) {
    let mut escapes = text.get(at.clone()).unwrap_or_default().split('\\');
    let first = escapes.next().unwrap_or_default();
    let rest = escapes.map(|it| it.strip_prefix(['n', 'r', 't']).unwrap_or(it));
    let mut pieces = std::iter::once(first).chain(rest);
    if pieces.any(|it| it.contains(char::is_alphanumeric)) {
        all.push(Hit { at, name });
    }
}
