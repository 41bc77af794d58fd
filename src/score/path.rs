//! Paths into responses: how reports write them, and the patterns that leave places out of the comparison.
//!
//! A path names a place in an answer, step by step: `/content/0/text`, `/content/0/json/servers/3/id`,
//! `/structuredContent/total`. The step `json` goes into a text that holds JSON. A key is written as in a JSON pointer
//! (`~` as `~0`, `/` as `~1`), and a key that is a single `*` as `~2`.
//!
//! A pattern is either such a path, where `*` stands for any one step, or a JSON path that is looked for in each JSON
//! document of the answer: `$.servers[*].created`, `servers.0.id`, `..updated`, `$['a key']`; `*` or `[*]` stands for
//! any key or index, and `..` for any number of steps. A pattern also covers everything beneath the place it names.

/// One step on the way to a place in a response.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
    /// Into a text that holds JSON.
    Json,
}

/// A place in a response.
#[derive(Debug, Clone, Default)]
pub(super) struct Place<'a> {
    steps: Vec<Step<'a>>,
    /// Where the innermost JSON document that a JSON path can be looked for in begins.
    document: usize,
}

impl<'a> Place<'a> {
    pub(super) fn enter(&mut self, step: Step<'a>) {
        self.steps.push(step);
    }

    pub(super) fn leave(&mut self) {
        self.steps.pop();
    }

    /// Makes the current place the root of a JSON document; returns the root to go back to.
    pub(super) fn begin_document(&mut self) -> usize {
        std::mem::replace(&mut self.document, self.steps.len())
    }

    /// Whether the place is somewhere in a JSON document.
    pub(super) fn is_in_document(&self) -> bool {
        self.document > 0
    }

    pub(super) fn end_document(&mut self, outer: usize) {
        self.document = outer;
    }
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for step in &self.steps {
            match step {
                Step::Key(key) => write!(f, "/{}", escape(key))?,
                Step::Index(index) => write!(f, "/{index}")?,
                Step::Json => f.write_str("/json")?,
            }
        }
        Ok(())
    }
}

/// A key as one step of a path.
pub(super) fn escape(key: &str) -> String {
    if key == "*" {
        return "~2".to_owned();
    }
    key.replace('~', "~0").replace('/', "~1")
}

/// A place, or many places, to leave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Whether it starts at the answer, and not at each JSON document in it.
    from_answer: bool,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Named(String),
    Any,
    /// Any number of steps, also none.
    Depth,
}

impl Pattern {
    /// Reads a pattern; the error says in words what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("an empty path".to_owned());
        }
        if let Some(pointer) = text.strip_prefix('/') {
            return Ok(Self {
                from_answer: true,
                parts: pointer.split('/').map(pointer_part).collect(),
            });
        }
        let mut rest = text.trim();
        rest = rest.strip_prefix('$').unwrap_or(rest);
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let part;
            (part, rest) = json_path_part(rest, parts.is_empty())?;
            parts.extend(part);
        }
        if parts.last() == Some(&Part::Depth) {
            return Err("nothing follows `..`".to_owned());
        }
        Ok(Self {
            from_answer: false,
            parts,
        })
    }

    /// Whether a place is one of those the pattern names.
    pub(super) fn matches(&self, place: &Place<'_>) -> bool {
        let start = if self.from_answer { 0 } else { place.document };
        let inside_document = self.from_answer || place.is_in_document();
        inside_document && covers(&self.parts, &place.steps[start..])
    }
}

/// Whether a path of a volatile place, with `*` for any step, names another path or a place on the way to it.
pub(super) fn covers_path(pattern: &str, path: &str) -> bool {
    let mut steps = path.split('/');
    pattern.split('/').all(|part| {
        let step = steps.next();
        step.is_some() && (part == "*" || step == Some(part) || step == Some("*"))
    })
}

/// Whether the parts lead along the steps, to their end or to a place on the way. Depth parts are matched as wildcards in file names are: the last
/// one met is stretched until the rest fits, so the cost stays linear for each of them.
fn covers(parts: &[Part], steps: &[Step<'_>]) -> bool {
    let (mut part, mut step) = (0, 0);
    let mut stretch: Option<(usize, usize)> = None;
    while step < steps.len() && part < parts.len() {
        match parts.get(part) {
            Some(Part::Depth) => {
                stretch = Some((part + 1, step));
                part += 1;
            }
            Some(it) if fits(it, steps[step]) => {
                part += 1;
                step += 1;
            }
            _ => match &mut stretch {
                Some((after, from)) => {
                    *from += 1;
                    (part, step) = (*after, *from);
                }
                None => return false,
            },
        }
    }
    part == parts.len()
}

fn fits(part: &Part, step: Step<'_>) -> bool {
    match (part, step) {
        (Part::Any, _) => true,
        (Part::Named(name), Step::Key(key)) => name == key,
        (Part::Named(name), Step::Index(index)) => {
            name.parse() == Ok(index) && !name.starts_with('+')
        }
        (Part::Named(name), Step::Json) => name == "json",
        (Part::Depth, _) => false,
    }
}

fn pointer_part(step: &str) -> Part {
    match step {
        "*" => Part::Any,
        "~2" => Part::Named("*".to_owned()),
        "**" => Part::Depth,
        _ => Part::Named(step.replace("~1", "/").replace("~0", "~")),
    }
}

/// The next part of a JSON path, after a preceding `..` where there is one, and what is left to read.
fn json_path_part(text: &str, is_first: bool) -> Result<(Vec<Part>, &str), String> {
    let mut parts = Vec::new();
    let mut rest = text;
    if let Some(after) = rest.strip_prefix("..") {
        parts.push(Part::Depth);
        rest = after;
        if rest.is_empty() {
            return Err("nothing follows `..`".to_owned());
        }
    } else if let Some(after) = rest.strip_prefix('.') {
        rest = after;
    } else if !is_first && !rest.starts_with('[') {
        return Err(format!("`.` or `[` should come before `{rest}`"));
    }
    if let Some(inside) = rest.strip_prefix('[') {
        let (part, after) = bracketed(inside)?;
        parts.push(part);
        return Ok((parts, after));
    }
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    match name {
        "" => return Err("a name is missing after `.`".to_owned()),
        "*" => parts.push(Part::Any),
        "**" => parts.push(Part::Depth),
        _ => parts.push(Part::Named(name.to_owned())),
    }
    Ok((parts, after))
}

/// What stands in brackets: `*`, an index, or a key in quotes.
fn bracketed(inside: &str) -> Result<(Part, &str), String> {
    for quote in ['\'', '"'] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let end = format!("{quote}]");
            let (key, after) = quoted
                .split_once(&end)
                .ok_or_else(|| format!("`{end}` is missing"))?;
            return Ok((Part::Named(key.to_owned()), after));
        }
    }
    let (index, after) = inside.split_once(']').ok_or("`]` is missing")?;
    match index {
        "*" => Ok((Part::Any, after)),
        _ if !index.is_empty() && index.bytes().all(|it| it.is_ascii_digit()) => {
            Ok((Part::Named(index.to_owned()), after))
        }
        _ => Err(format!(
            "`[{index}]` is neither an index, `[*]`, nor a key in quotes"
        )),
    }
}
