//! References such as `args.name` or `get.servers[args.name] | keys`: what stands between `{{` and `}}`.

/// A place in what a mock server knows about a call, or in its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Where the path starts: `args`, `get`, `counter`, `now` and so on.
    pub root: String,
    pub path: Vec<Segment>,
    /// Applied to the value in this order.
    pub filters: Vec<Filter>,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// `.name`: a member, or an item by its index.
    Name(String),
    /// `[reference]`: the member that the value found there names.
    Value(Reference),
}

/// What a reference makes of the value it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// The values of an object, as a list.
    Values,
    /// The names in an object, as a list.
    Keys,
    /// How many there are.
    Count,
    /// The value as compact JSON, as text.
    Json,
}

/// How deep references in brackets may nest.
const MAX_DEPTH: usize = 8;

impl Filter {
    /// All filters by name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("values", Self::Values),
        ("keys", Self::Keys),
        ("count", Self::Count),
        ("json", Self::Json),
    ];
}

impl Reference {
    /// Reads `root.name[reference] | filter`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('|');
        let mut reference = Self::path(parts.next()?)?;
        for part in parts {
            let name = part.trim();
            let filter = Filter::ALL.iter().find(|(known, _)| *known == name)?;
            reference.filters.push(filter.1);
        }
        Some(reference)
    }

    /// Reads a path without filters.
    fn path(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let reference = take(&mut rest, 0)?;
        rest.is_empty().then_some(reference)
    }

    /// Reads a place in the server's state: a path, without the word `get` before it.
    pub fn state(text: &str) -> Option<Self> {
        Self::path(&format!("get.{}", text.trim()))
    }
}

/// Reads a path off the start of a text.
fn take(rest: &mut &str, depth: usize) -> Option<Reference> {
    if depth > MAX_DEPTH {
        return None;
    }
    let root = take_name(rest)?;
    let mut path = Vec::new();
    loop {
        if let Some(behind) = rest.strip_prefix('.') {
            *rest = behind;
            path.push(Segment::Name(take_name(rest)?));
        } else if let Some(behind) = rest.strip_prefix('[') {
            *rest = behind;
            path.push(Segment::Value(take(rest, depth + 1)?));
            *rest = rest.strip_prefix(']')?;
        } else {
            break;
        }
    }
    Some(Reference {
        root,
        path,
        filters: Vec::new(),
    })
}

fn take_name(rest: &mut &str) -> Option<String> {
    let end = rest.find(['.', '[', ']']).unwrap_or(rest.len());
    let (name, behind) = rest.split_at(end);
    let is_name = !name.is_empty() && !name.contains(|it: char| it.is_whitespace() || it == '{');
    *rest = behind;
    is_name.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Filter, Reference, Segment};

    #[test]
    fn paths_brackets_and_filters_are_read() {
        let reference =
            Reference::parse(" get.servers[args.name].tools.0 | values|count ").unwrap();
        assert_eq!(reference.root, "get");
        assert_eq!(reference.path.len(), 4);
        let Segment::Value(inner) = &reference.path[1] else {
            panic!("{reference:?}");
        };
        assert_eq!(*inner, Reference::parse("args.name").unwrap());
        assert_eq!(reference.filters, [Filter::Values, Filter::Count]);
        assert_eq!(Reference::state("a.b"), Reference::parse("get.a.b"));
    }

    #[test]
    fn what_is_no_reference_is_none() {
        let deep = format!("{}a{}", "a[".repeat(50), "]".repeat(50));
        for text in [
            "", ".", "a.", ".a", "a b", "a[", "a[]", "a]", "a|", "a | sort", "a[b]c", &deep,
        ] {
            assert_eq!(Reference::parse(text), None, "{text}");
        }
    }
}
