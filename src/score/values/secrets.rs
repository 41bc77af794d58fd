//! Trajectories whose placeholders for secrets read the same where they stand for the same secret.

use std::borrow::Cow;

use model::placeholder::{self, Alike};
use model::texts;
use model::{Outcome, Step, Trajectory};

/// Two sides of a comparison: without the numbers that distinguish secrets of one kind within a run, and however they are spelled.
/// Where the baseline was recorded when placeholders had no names, any of them equals any other.
pub(crate) fn alike<'t>(
    baseline: Cow<'t, Trajectory>,
    current: Cow<'t, Trajectory>,
) -> (Cow<'t, Trajectory>, Cow<'t, Trajectory>) {
    match difference(&baseline) {
        Some(Alike::All) => (unified(baseline, Alike::All), unified(current, Alike::All)),
        None if difference(&current).is_none() => (baseline, current),
        _ => (by_name(baseline), by_name(current)),
    }
}

/// One of several takes that are compared with each other, likewise.
pub(crate) fn by_name(take: Cow<'_, Trajectory>) -> Cow<'_, Trajectory> {
    match difference(&take) {
        None => take,
        Some(_) => unified(take, Alike::Names),
    }
}

/// In what the placeholders of a run may differ from those of another that stand for the same: `None` where they are names alone.
fn difference(trajectory: &Trajectory) -> Option<Alike> {
    let mut difference = None;
    each_text(trajectory, &mut |text| {
        for it in placeholder::placeholders(text) {
            if it.name.is_none() {
                difference = Some(Alike::All);
            } else if it.spelling.is_some() || text[it.at].contains('#') {
                difference = difference.or(Some(Alike::Names));
            }
        }
    });
    difference
}

fn each_text(trajectory: &Trajectory, visit: &mut dyn FnMut(&str)) {
    for call in trajectory.calls() {
        for (name, value) in &call.arguments {
            visit(name);
            texts::each(value, visit);
        }
        for outcome in std::iter::once(&call.outcome).chain(&call.again) {
            outcome.each_text(visit);
        }
    }
}

fn unified(trajectory: Cow<'_, Trajectory>, how: Alike) -> Cow<'_, Trajectory> {
    let mut trajectory = trajectory.into_owned();
    for step in &mut trajectory.steps {
        let Step::ToolCall(call) = step else { continue };
        how.object(&mut call.arguments);
        for outcome in std::iter::once(&mut call.outcome).chain(&mut call.again) {
            outcome.each_value_mut(&mut |it| how.value(it));
            if let Outcome::Failure(failure) = outcome
                && let Some(unified) = how.text(&failure.message)
            {
                failure.message = unified;
            }
        }
    }
    for binding in &mut trajectory.bindings {
        how.value(&mut binding.value);
    }
    Cow::Owned(trajectory)
}
