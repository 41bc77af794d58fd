//! Natural variation, as several takes of one script show it.
//!
//! - `differing`: where the answers to one request differ, place by place.
//! - `elements`: what the elements of lists have in common, and their order, which may be any.
//! - `wording`: what varies in the wording of one text.
//! - `left_behind`: what one take left behind for a later one, and the calls of a take, polls counting once. `own_values`: the values that
//!   show it. `growth`: answers that grew because of it.
//! - `upstream`: what varies behind the server under test.
//! - `ignored`: a place that people say varies.
//! - `by_kind`: a trajectory as people read it, with what its values are where they vary.
//! - `known`: what an earlier recording knows, carried over to a later one.

pub(super) mod by_kind;
mod differing;
mod elements;
mod growth;
mod ignored;
pub(super) mod known;
mod left_behind;
mod own_values;
mod upstream;
mod wording;

use std::borrow::{Borrow, Cow};
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use crate::ids::binding::{find_in_takes, full_patterns, read_answer};
use crate::ids::id_translation::TranslatedRun;
use crate::ids::repeats;
use crate::ids::translate::translate;
use crate::pairing::call::{is_same_request, only_reads};
use crate::response::beside;
use crate::scores::polls::Polled;
use crate::text::telling::{telling, telling_offsets};
use crate::values::exact::exact;
use crate::values::path::covers_path;
use crate::values::secrets::by_name;
use crate::work::{Cancelled, Work};
use model::rules::Rules;
use model::{Answer, Binding, Outcome, ToolCall, Trajectory, Variation, Varying};

use self::differing::Differing;
use self::left_behind::{Take, answer, answered_error, final_calls, holds_only_first, left_behind};
use self::upstream::learn_upstream;

pub use self::ignored::{let_vary, ways_to_ignore};
pub use self::known::{carry_over, follow, varies_beyond_time};
pub use self::left_behind::LeftBehind;
pub use self::upstream::LearnedUpstream;

/// The most places that are learned for one answer. Where more vary, places further out are kept instead.
const PLACES: usize = 200;
/// Whether learning is still wanted is asked anew for each answer.
const STEPS: usize = 1 << 13;

/// What several takes show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Learned {
    /// What was learned of each answer that was received more than once.
    pub answers: Vec<model::Learned>,
    /// What later requests take from earlier answers.
    pub bindings: Vec<Binding>,
    /// Where the takes disagreed in kind, in the order of the calls. With two takes, a third would show which is the odd one.
    pub disagreements: Vec<Disagreement>,
    /// What an earlier take left behind for a later one, so that the takes are not independent.
    pub left_behind: Option<LeftBehind>,
    /// What varies in what reached the servers behind the one under test.
    pub upstream: LearnedUpstream,
}

impl Learned {
    /// Keeps it in the trajectory that it was learned of.
    pub fn keep_in(&self, trajectory: &mut Trajectory) {
        trajectory.learned.clone_from(&self.answers);
        trajectory.bindings.clone_from(&self.bindings);
        if let Some(lane) = &mut trajectory.upstream {
            self.upstream.keep_in(lane);
        }
    }
}

/// A place where takes had different kinds of things: a list and nothing, JSON and prose, an answer and an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// The number of the call.
    pub call: usize,
    /// Its tool's full name.
    pub tool: String,
    pub path: String,
    /// What each take had, in words, in the order of the takes.
    pub found: Vec<String>,
    /// The take that disagrees with all others, counted from 1, where there is just one.
    pub odd: Option<usize>,
}

/// What the first of several takes of one scenario should be kept with; of a single take, its bindings, and what was learned when its
/// reads were asked again.
pub fn learn<T: Borrow<Trajectory>>(takes: &[T], rules: &Rules) -> Learned {
    learn_with(takes, rules, &Work::uninterrupted())
}

/// The same, but cancelled when `is_unwanted`, which is asked every few thousand steps.
///
/// # Errors
///
/// [`Cancelled`] when `is_unwanted` was true before the end.
pub fn learn_until<T: Borrow<Trajectory>>(
    takes: &[T],
    rules: &Rules,
    is_unwanted: &dyn Fn() -> bool,
) -> Result<Learned, Cancelled> {
    let work = Work::until(is_unwanted);
    let learned = learn_with(takes, rules, &work);
    work.finish(learned)
}

fn learn_with<T: Borrow<Trajectory>>(takes: &[T], rules: &Rules, work: &Work<'_>) -> Learned {
    let takes: Vec<&Trajectory> = takes.iter().map(Borrow::borrow).collect();
    let Some((&first, others)) = takes.split_first() else {
        return Learned::default();
    };
    let bindings = find_in_takes(first, others);
    // A copy takes as much memory as the answers do.
    let first = if first.learned.is_empty() && first.bindings == bindings {
        Cow::Borrowed(first)
    } else {
        Cow::Owned(Trajectory {
            bindings: bindings.clone(),
            learned: Vec::new(),
            ..first.clone()
        })
    };
    let comparable = |it| by_name(exact(it));
    let others: Vec<Cow<'_, Trajectory>> = others.iter().copied().map(comparable).collect();
    let mut learned = learn_answers(&comparable(&first), &others, rules, work);
    for (call, repeats) in repeats::learn(&takes) {
        let of_call = learned
            .answers
            .iter_mut()
            .filter(|it| it.call == call && it.is_stable());
        of_call.for_each(|it| it.repeats.clone_from(&repeats));
    }
    let others: Vec<&Trajectory> = others.iter().map(Cow::as_ref).collect();
    learned.upstream = learn_upstream(&first, &others, (rules, work));
    if learned.left_behind.is_some() {
        // What is answered otherwise because of an earlier take would be answered the same if there was none.
        learned.upstream.other_answers.clear();
    }
    learned.bindings = bindings;
    learned
}

/// The places in answers that differed between takes of identical requests: identical but for what is bound, and a poll counting once.
///
/// There is one entry for each answer that was received at least twice: by every take at the same position and with the same request, or when
/// a read was asked again right after. Where one take has an answer and another an error, the takes disagree; of errors that a tool answered in all
/// takes, what varies in their texts is learned as of any text. The other kinds of errors have no answer to learn of.
fn learn_answers(
    first: &Trajectory,
    others: &[Cow<'_, Trajectory>],
    rules: &Rules,
    work: &Work<'_>,
) -> Learned {
    let runs = others;
    let polled = Polled::new(first, first, rules);
    let translated: Vec<Option<TranslatedRun>> = (others.iter())
        .map(|it| translate(first, it, rules, work))
        .collect();
    let others: Vec<Take<'_>> = (others.iter().zip(&translated))
        .map(|(it, terms)| {
            let calls = final_calls(terms.as_ref().map_or(it, |it| &it.current), &polled);
            // The polls of another take are recognised only in the terms of the first.
            let as_made: Vec<&ToolCall> = it.calls().collect();
            let said = calls.iter();
            let said = said.map(|(number, _)| (*number, as_made[number - 1]));
            Take {
                said: said.collect(),
                calls,
            }
        })
        .collect();
    let calls = final_calls(first, &polled);
    let left = left_behind(first, &calls, &others, rules);
    let mut learned = Learned {
        left_behind: left.first.clone(),
        ..Learned::default()
    };
    for (at, (number, call)) in calls.iter().enumerate() {
        if !work.spend(STEPS) {
            break;
        }
        if left.once.contains(&at) {
            continue;
        }
        let same_calls = others.iter().enumerate().map(|(index, take)| {
            let made = take.calls.get(at).map(|it| it.1);
            made.filter(|it| is_same_request(call, it))
                .map(|it| left.undone.get(&(at, index)).unwrap_or(&it.outcome))
        });
        // Unless every take made this call, only the answers of the first one are compared.
        let same_calls: Option<Vec<&Outcome>> = same_calls.collect();
        let moments = std::iter::repeat_n(moment(first, call), 1 + call.again.len());
        let later = others
            .iter()
            .zip(runs)
            .filter_map(|(take, run)| Some(moment(run, take.calls.get(at)?.1)));
        let moments: Vec<f64> = moments
            .chain(later.filter(|_| same_calls.is_some()))
            .collect();
        let outcomes: Vec<&Outcome> = std::iter::once(&call.outcome)
            .chain(&call.again)
            .chain(same_calls.into_iter().flatten())
            .collect();
        let mut of_answers: Vec<Option<&Answer>> = outcomes.iter().map(|it| answer(it)).collect();
        if outcomes.iter().all(|it| answered_error(it).is_some()) {
            of_answers = outcomes.iter().map(|it| answered_error(it)).collect();
        }
        if outcomes.len() < 2 || of_answers.iter().all(Option::is_none) {
            continue;
        }
        let mut differing = Differing::new(moments);
        differing.of_outcomes(&of_answers);
        let is_first_odd = differing.disagreements.iter().any(|it| it.2 == Some(1));
        if is_first_odd
            && holds_only_first(&of_answers)
            && !only_reads(call, &first.catalogue, rules)
        {
            // In later takes, what it makes existed already.
            learned.left_behind.get_or_insert_with(|| LeftBehind {
                call: *number,
                tool: call.full_name(),
                effect: call.full_name(),
                value: String::new(),
            });
            learned.disagreements.clear();
        }
        if learned.left_behind.is_some() && !differing.disagreements.is_empty() {
            // Another kind of answer is what the earlier take has left, too.
            continue;
        }
        for (path, found, odd) in differing.disagreements {
            learned.disagreements.push(Disagreement {
                call: *number,
                tool: call.full_name(),
                path,
                found,
                odd,
            });
        }
        // Of a recorded error where other takes had an answer, nothing is kept.
        let Some(Some(recorded)) = of_answers.first().filter(|_| differing.is_learned) else {
            continue;
        };
        let takes = translated.iter().zip(others.iter().zip(runs)).enumerate();
        // What an earlier take left in an answer is no answer of its own.
        let takes = takes.filter(|(index, _)| !left.undone.contains_key(&(at, *index)));
        let mut varies = varying_sources(
            (moment(first, call), recorded),
            takes.filter_map(|(_, (terms, (take, run)))| {
                let (number, call) = take.said.get(at)?;
                Some((moment(run, call), terms.as_ref()?, *number, &call.outcome))
            }),
        );
        known::add(&mut varies, differing.varies);
        varies.extend(left.grew.get(&at).into_iter().flatten().cloned());
        learned.answers.push(model::Learned {
            call: *number,
            takes: outcomes.len(),
            varies: outermost(varies),
            odd: differing.odd,
            repeats: Vec::new(),
            beside: beside::varying(&of_answers.iter().copied().flatten().collect::<Vec<_>>()),
        });
    }
    learned
}

/// When a call was made, in seconds since 1970.
#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds of a calendar fit a double"
)]
fn moment(run: &Trajectory, call: &ToolCall) -> f64 {
    (run.began(call).as_millisecond() as f64 + call.start_ms.unwrap_or_default()) / 1000.0
}

/// How the places of an answer vary where other takes, each with its moment, the number of its call and its outcome, were given another id.
fn varying_sources<'t>(
    (moment, recorded): (f64, &Answer),
    others: impl Iterator<Item = (f64, &'t TranslatedRun, usize, &'t Outcome)>,
) -> Vec<Varying> {
    let read = LazyCell::new(|| read_answer(recorded));
    let mut places = HashSet::new();
    let mut outcomes = Vec::new();
    let mut moments = vec![moment];
    for (moment, terms, number, outcome) in others {
        let given = terms.given_by(number).iter();
        let others = given.filter(|it| it.was != it.now);
        places.extend(others.flat_map(|it| full_patterns(&read, &it.path)));
        outcomes.push(terms.as_given(number, outcome));
        moments.push(moment);
    }
    if places.is_empty() {
        return Vec::new();
    }
    let mut differing = Differing::new(moments);
    let others = outcomes.iter().filter_map(answer);
    let takes: Vec<Option<&Answer>> = [recorded].into_iter().chain(others).map(Some).collect();
    differing.of_outcomes(&takes);
    let mut varies = differing.varies;
    varies.retain(|it| places.iter().any(|place| covers_path(place, &it.path)));
    // Where a list varies as a whole, nothing is known of the places in it.
    places.retain(|place| !varies.iter().any(|it| covers_path(place, &it.path)));
    varies.extend(
        places
            .into_iter()
            .map(|path| Varying::new(path, Variation::SameType)),
    );
    varies
}

/// Removes places that lie beneath others, and duplicates. If too many are left, those in the elements of a list become one for any element,
/// and then their last steps are removed until they are few enough.
fn outermost(mut varies: Vec<Varying>) -> Vec<Varying> {
    varies.sort_by(|a, b| a.path.cmp(&b.path));
    let mut kept: Vec<Varying> = Vec::new();
    for it in varies {
        let covers = |above: &Varying| {
            let rest = it.path.strip_prefix(above.path.as_str());
            // A list in any order, or one that grew, does not cover what else varies in its elements.
            let is_all = matches!(above.by, Variation::SameType | Variation::Anything);
            rest.is_some_and(|it| it.is_empty() || (is_all && it.starts_with('/')))
        };
        // Of two at the same place, the first was learned from takes, which is more precise than what follows from a binding.
        if !kept.iter().rev().take(PLACES).any(covers) {
            kept.push(it);
        }
    }
    if kept.len() <= PLACES {
        return kept;
    }
    let general = of_any_element(&kept);
    if general.len() < kept.len() {
        return outermost(general);
    }
    let shorter = kept.into_iter().map(|it| {
        let above = it.path.rsplit_once('/').map_or("", |it| it.0);
        Varying::new(above.to_owned(), Variation::SameType)
    });
    outermost(shorter.collect())
}

/// The same places, where what varies in one element of a list may vary in each: the last index of each place is any.
fn of_any_element(varies: &[Varying]) -> Vec<Varying> {
    let mut alike: HashMap<String, usize> = HashMap::new();
    for path in varies.iter().filter_map(|it| starred(&it.path)) {
        *alike.entry(path).or_default() += 1;
    }
    let mut at: HashMap<String, usize> = HashMap::new();
    let mut general: Vec<Varying> = Vec::new();
    for it in varies {
        let (path, by) = match starred(&it.path).filter(|path| alike[path] > 1) {
            Some(path) if it.by == Variation::Tokens => (path, Variation::SameType),
            Some(path) => (path, it.by),
            None => {
                general.push(it.clone());
                continue;
            }
        };
        let seen = if by == it.by { &it.seen[..] } else { &[] };
        let Some(known) = at.get(&path).map(|at| &mut general[*at]) else {
            at.insert(path.clone(), general.len());
            general.push(Varying {
                seen: seen.to_vec(),
                offsets: it.offsets.clone(),
                ..Varying::new(path, by)
            });
            continue;
        };
        if known::width(by) > known::width(known.by) {
            known.by = by;
        }
        // What was seen tells nothing where it was not kept of each.
        if seen.is_empty() || known.seen.is_empty() {
            known.seen.clear();
        } else {
            known.seen.extend(seen.iter().cloned());
        }
        if it.offsets.is_empty() || known.offsets.is_empty() {
            known.offsets.clear();
        } else {
            known.offsets.extend(&it.offsets);
        }
    }
    for it in at.into_values() {
        let it = &mut general[it];
        it.seen = telling(std::mem::take(&mut it.seen));
        it.offsets = telling_offsets(std::mem::take(&mut it.offsets));
    }
    general
}

/// A path with `*` for its last index; `None` where it has none.
fn starred(path: &str) -> Option<String> {
    let mut steps: Vec<&str> = path.split('/').collect();
    let is_index = |it: &&str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let last = steps.iter().rposition(is_index)?;
    steps[last] = "*";
    Some(steps.join("/"))
}
