//! Tool names as an API allows them, and back.

use std::collections::{BTreeMap, HashSet};

use sha2::{Digest, Sha256};

/// How many hexadecimal digits of a name's hash stand for what was cut off.
const HASH_DIGITS: usize = 8;

/// Which names an API takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// Letters, digits, `_` and `-`, at most this many.
    Plain(usize),
    /// Anything.
    Any,
}

/// The names tools are offered with, and the full names they stand for.
#[derive(Debug, Default)]
pub(crate) struct Names {
    full: BTreeMap<String, String>,
}

impl Names {
    /// Gives each full name, all different, one that the rule allows. A name that is allowed stays as it is.
    pub(crate) fn new<'n>(full: impl Iterator<Item = &'n str> + Clone, rule: NameRule) -> Self {
        let mut names = Self::default();
        let taken: HashSet<&str> = full.clone().filter(|it| allows(rule, it)).collect();
        for name in full {
            let mut offered = name.to_owned();
            let mut seed = 0;
            while !allows(rule, &offered)
                || names.full.contains_key(&offered)
                || (offered != name && taken.contains(offered.as_str()))
            {
                offered = shortened(name, rule, seed);
                seed += 1;
            }
            names.full.insert(offered, name.to_owned());
        }
        names
    }

    /// The full name; one that was never offered stands for itself.
    pub(crate) fn full<'n>(&'n self, offered: &'n str) -> &'n str {
        self.full.get(offered).map_or(offered, String::as_str)
    }

    /// The name a tool is offered with.
    pub(crate) fn offered(&self, full: &str) -> Option<&str> {
        let known = self.full.iter().find(|(_, it)| *it == full);
        known.map(|(offered, _)| offered.as_str())
    }
}

fn allows(rule: NameRule, name: &str) -> bool {
    match rule {
        NameRule::Any => true,
        NameRule::Plain(longest) => {
            !name.is_empty() && name.len() <= longest && name.bytes().all(is_plain)
        }
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// The beginning of a name in allowed characters, and a hash of the whole, so that the same name is always shortened the same way.
fn shortened(name: &str, rule: NameRule, seed: u32) -> String {
    let NameRule::Plain(longest) = rule else {
        return format!("{name}_{seed}");
    };
    let kept = longest - HASH_DIGITS - 1;
    let beginning: String = name
        .chars()
        .take(kept)
        .map(|it| {
            if it.is_ascii() && is_plain(it as u8) {
                it
            } else {
                '_'
            }
        })
        .collect();
    let salt = if seed == 0 {
        String::new()
    } else {
        seed.to_string()
    };
    let hash = hex::encode(Sha256::digest(format!("{name}{salt}")));
    format!("{beginning}_{}", &hash[..HASH_DIGITS])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{NameRule, Names, allows};

    #[test]
    fn only_names_that_are_not_allowed_change() {
        let long = format!("mcp__server__{}", "x".repeat(80));
        let full = [
            "mcp__a__find",
            "mcp__a__dots.and spaces",
            "mcp__b__ä",
            &long,
        ];
        let names = Names::new(full.iter().copied(), NameRule::Plain(64));
        assert_eq!(names.offered("mcp__a__find"), Some("mcp__a__find"));
        let offered = names.offered("mcp__a__dots.and spaces").unwrap();
        assert!(offered.starts_with("mcp__a__dots_and_spaces_"), "{offered}");
        for name in full {
            assert_eq!(names.full(names.offered(name).unwrap()), name);
        }
        assert_eq!(names.offered(&long).unwrap().len(), 64);
        assert_eq!(names.full("mcp__a__made_up"), "mcp__a__made_up");
        let any = Names::new(full.iter().copied(), NameRule::Any);
        assert_eq!(any.offered(&long), Some(long.as_str()));
    }

    proptest! {
        #[test]
        fn shortening_is_reversible(full in proptest::collection::btree_set("[a-c.ä]{1,6}|[a_]{60,70}", 1..30)) {
            let names = Names::new(full.iter().map(String::as_str), NameRule::Plain(20));
            for name in &full {
                let offered = names.offered(name).unwrap();
                prop_assert!(allows(NameRule::Plain(20), offered), "{offered}");
                prop_assert_eq!(names.full(offered), name);
            }
        }
    }
}
