//! Which call of a run stands for which that is meant to be made.

use std::collections::{HashMap, VecDeque};

use super::tools::is_called;
use crate::model::Object;
use crate::model::trajectory::ToolCall;

/// A call that is meant to be made.
pub(super) struct Wanted<'a> {
    pub(super) tool: &'a str,
    /// `None` where it may have any.
    pub(super) arguments: Option<&'a Object>,
}

/// For each meant call the index of the one that stands for it, each at most once: the first that is left with the same arguments, else the
/// first of the tool. Among several, the first that is preferred as the one of this position.
pub(super) fn standing(
    calls: &[&ToolCall],
    meant: &[Wanted<'_>],
    prefers: &dyn Fn(usize, &ToolCall) -> bool,
) -> Vec<Option<usize>> {
    let mut taken = vec![false; calls.len()];
    // Of some calls, the first that is left for a position. Where they are equal, the one there is tried first, because most calls are made
    // in the meant order.
    let mut first = |of: &mut VecDeque<usize>, position: usize, are_equal: bool| -> Option<usize> {
        let is_there = are_equal && of.binary_search(&position).is_ok();
        if is_there && !taken[position] && prefers(position, calls[position]) {
            taken[position] = true;
            return Some(position);
        }
        while of.front().is_some_and(|it| taken[*it]) {
            of.pop_front();
        }
        let mut left = of.iter().copied().filter(|it| !taken[*it]);
        let preferred = left.clone().find(|it| prefers(position, calls[*it]));
        let found = preferred.or_else(|| left.next())?;
        taken[found] = true;
        Some(found)
    };
    let mut stand = vec![None; meant.len()];
    let mut asking: HashMap<&Object, Vec<usize>> = HashMap::new();
    for (index, call) in calls.iter().enumerate() {
        asking.entry(&call.arguments).or_default().push(index);
    }
    let mut equal: HashMap<(&str, &Object), VecDeque<usize>> = HashMap::new();
    for (position, it) in meant.iter().enumerate() {
        let Some(arguments) = it.arguments else {
            continue;
        };
        let of = equal.entry((it.tool, arguments)).or_insert_with(|| {
            let same = asking.get(arguments).into_iter().flatten().copied();
            same.filter(|at| is_called(calls[*at], it.tool)).collect()
        });
        stand[position] = first(of, position, true);
    }
    let mut of_tool: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (position, it) in meant.iter().enumerate() {
        if stand[position].is_none() {
            let of = of_tool.entry(it.tool).or_insert_with(|| {
                let all = (0..calls.len()).filter(|at| is_called(calls[*at], it.tool));
                all.collect()
            });
            stand[position] = first(of, position, false);
        }
    }
    stand
}
