//! The findings of the comparison of two responses, in bounded memory, and the places that recording learned to vary.

use crate::values::number::{ALMOST, count};
use model::unescaped;
use model::{Difference, Edit, ResponseScore, Steady, Variation, Varying};
use std::collections::HashMap;

/// The most differences of one response that are kept one by one; the smaller ones beyond are summed up in one.
const DIFFERENCES: usize = 100;

/// The similarity that a response with any broken place is capped at.
pub(super) const CAP: f64 = 0.5;

/// Differences as they are met.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    kept: Vec<Difference>,
    /// Differences beyond the kept ones, and those of them that break something.
    more: usize,
    more_breaking: usize,
    more_loss: f64,
    /// Of the smallest kept difference, whether it breaks something, and its loss. Smaller differences are not kept.
    least: Option<(bool, f64)>,
}

impl Findings {
    /// Counts a difference that would not be kept; false where it may be kept and has to be noted.
    pub(super) fn pass_over(&mut self, loss: f64, breaks: bool) -> bool {
        if self.least.is_none_or(|least| (breaks, loss) > least) {
            return false;
        }
        self.leave_out(loss, breaks);
        true
    }

    fn leave_out(&mut self, loss: f64, breaks: bool) {
        self.more += 1;
        self.more_breaking += usize::from(breaks);
        self.more_loss += loss;
    }

    pub(super) fn note(&mut self, difference: Difference) {
        self.kept.push(difference);
        if self.kept.len() >= 4 * DIFFERENCES {
            self.keep_the_largest();
        }
    }

    fn keep_the_largest(&mut self) {
        // A stable sort, so that of equal losses the first stay.
        self.kept.sort_by(|a, b| {
            let breaks = b.breaks.is_some().cmp(&a.breaks.is_some());
            breaks.then(b.loss.total_cmp(&a.loss))
        });
        for it in self.kept.split_off(DIFFERENCES.min(self.kept.len())) {
            self.leave_out(it.loss, it.breaks.is_some());
        }
        self.least = self.kept.last().map(|it| (it.breaks.is_some(), it.loss));
    }

    /// Takes the similarity as it is, and spreads what it lost evenly: over what broke where anything did, else over all differences.
    pub(super) fn finish_evenly(mut self, similarity: f64) -> ResponseScore {
        let is_broken = self.kept.iter().any(|it| it.breaks.is_some());
        let mut costly: Vec<&mut Difference> = (self.kept.iter_mut())
            .filter(|it| it.breaks.is_some() || !is_broken)
            .collect();
        let more = if is_broken {
            self.more_breaking
        } else {
            self.more
        };
        let each = (1.0 - similarity) / count((costly.len() + more).max(1));
        for it in &mut costly {
            it.loss = each;
        }
        self.more_loss = each * count(more);
        self.finish(similarity)
    }

    /// Caps the similarity if anything broke, and spreads what the cap costs over what did.
    pub(super) fn finish(mut self, similarity: f64) -> ResponseScore {
        if self.kept.len() > DIFFERENCES {
            self.keep_the_largest();
        }
        let broken = self.kept.iter().filter(|it| it.breaks.is_some()).count();
        let capped = if broken > 0 {
            similarity.min(CAP)
        } else if self.kept.is_empty() {
            similarity
        } else {
            // A small difference must not be lost in rounding.
            similarity.min(ALMOST)
        };
        let extra = (similarity - capped) / count(broken.max(1));
        for it in self.kept.iter_mut().filter(|it| it.breaks.is_some()) {
            it.loss += extra;
        }
        if self.more > 0 {
            let edit = Edit::Rest {
                count: self.more,
                breaking: self.more_breaking,
            };
            self.kept.push(Difference {
                breaks: (self.more_breaking > 0).then_some(Steady::Unknown),
                similarity: 0.0,
                loss: self.more_loss,
                ..Difference::shown(String::new(), edit)
            });
        }
        ResponseScore {
            similarity: capped,
            differences: self.kept,
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::Findings;
    use model::{Difference, Edit, Steady};

    #[test]
    fn what_is_lost_is_spread_over_changes_and_not_over_additions() {
        let mut findings = Findings::default();
        findings.note(Difference {
            breaks: Some(Steady::Unknown),
            ..Difference::shown("/changed".to_owned(), Edit::Changed)
        });
        for number in 0..1000 {
            if !findings.pass_over(0.0, false) {
                findings.note(Difference::shown(format!("/{number}"), Edit::Changed));
            }
        }
        let score = findings.finish_evenly(0.4);
        let changed = score.differences.iter().find(|it| it.path == "/changed");
        assert_eq!(changed.map(|it| it.loss), Some(0.6));
        let lost: f64 = score.differences.iter().map(|it| it.loss).sum();
        assert!((lost - 0.6).abs() < 1e-9, "{lost}");
    }
}
