//! What recording learned to vary in one answer, place by place.

use std::collections::HashMap;

use model::change::unescaped;
use model::learned::{Variation, Varying};

/// The step that stands for any index.
const ANY: &str = "*";

/// The varying places of one answer, as a tree of the steps that lead to them.
#[derive(Debug, Default)]
pub(crate) struct Tree<'a> {
    varying: Option<&'a Varying>,
    named: HashMap<String, Self>,
    any: Option<Box<Self>>,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(varies: &'a [Varying]) -> Self {
        let mut root = Self::default();
        for it in varies {
            let mut node = &mut root;
            for step in it.path.split('/').skip(1) {
                node = match step {
                    "*" => node.any.get_or_insert_default(),
                    _ => node.named.entry(unescaped(step)).or_default(),
                };
            }
            node.varying = Some(it);
        }
        root
    }

    /// The places one step further on; the step `*` leads to any element.
    pub(crate) fn under<'t>(of: &[&'t Self], step: &str) -> Vec<&'t Self> {
        let under = of.iter().flat_map(|it| {
            let named = it.named.get(step).filter(|_| step != ANY);
            named.into_iter().chain(it.any.as_deref())
        });
        under.collect()
    }

    /// The same for an element of a list.
    pub(super) fn under_index<'t>(of: &[&'t Self], index: usize) -> Vec<&'t Self> {
        if of.is_empty() {
            return Vec::new();
        }
        Self::under(of, &index.to_string())
    }

    /// The same for any element of a list that has so many: what is known of places beyond its end is about other elements.
    pub(super) fn under_any_of<'t>(of: &[&'t Self], elements: usize) -> Vec<&'t Self> {
        let is_there = |step: &str| step.parse::<usize>().is_ok_and(|it| it < elements);
        let under = of.iter().flat_map(move |it| {
            let named = it.named.iter().filter(move |(step, _)| is_there(step));
            named.map(|(_, it)| it).chain(it.any.as_deref())
        });
        under.collect()
    }

    /// The places one step further on, whatever the step.
    pub(super) fn all_under<'t>(of: &[&'t Self]) -> Vec<&'t Self> {
        let under = of
            .iter()
            .flat_map(|it| it.named.values().chain(it.any.as_deref()));
        under.collect()
    }

    pub(crate) fn varying(of: &[&Self]) -> Option<&'a Varying> {
        of.iter().find_map(|it| it.varying)
    }

    /// What is known of any place one step further on.
    pub(super) fn any(of: &[&Self]) -> Option<&'a Varying> {
        of.iter().find_map(|it| it.any.as_deref()?.varying)
    }

    pub(crate) fn variation(of: &[&Self]) -> Option<Variation> {
        Self::varying(of).map(|it| it.by)
    }

    /// The names of the members that are known.
    pub(super) fn names<'t>(of: &[&'t Self]) -> Vec<&'t str> {
        let mut names: Vec<&str> = of
            .iter()
            .flat_map(|it| it.named.keys().map(String::as_str))
            .collect();
        names.sort_unstable();
        names
    }

    /// How many places are known by their index.
    pub(super) fn indices(of: &[&Self]) -> usize {
        Self::names(of).len()
    }
}
