//! Trajectories whose placeholders for secrets read the same where they stand for the same secret.

use std::borrow::Cow;

use crate::model::placeholder::{self, Alike};
use crate::model::texts;
use crate::model::trajectory::{Outcome, Step, Trajectory};

/// Two sides of a comparison: without the numbers that distinguish secrets of one kind within a run, and however they are spelled.
/// Where the baseline was recorded when placeholders had no names, any of them equals any other.
pub(in crate::score) fn alike<'t>(
    baseline: Cow<'t, Trajectory>,
    current: Cow<'t, Trajectory>,
) -> (Cow<'t, Trajectory>, Cow<'t, Trajectory>) {
    let mut is_nameless = false;
    let mut is_detailed = false;
    each_text(&baseline, &mut |text| {
        for it in placeholder::placeholders(text) {
            is_nameless |= it.name.is_none();
            is_detailed |= it.spelling.is_some() || text[it.at].contains('#');
        }
    });
    if !is_nameless && !is_detailed {
        each_text(&current, &mut |text| {
            is_detailed |= placeholder::placeholders(text)
                .any(|it| it.spelling.is_some() || text[it.at].contains('#'));
        });
    }
    let how = match (is_nameless, is_detailed) {
        (true, _) => Alike::All,
        (false, true) => Alike::Names,
        (false, false) => return (baseline, current),
    };
    let unified = |side: Cow<'t, Trajectory>| {
        let mut side = side.into_owned();
        unify(&mut side, how);
        Cow::Owned(side)
    };
    (unified(baseline), unified(current))
}

fn each_text(trajectory: &Trajectory, visit: &mut dyn FnMut(&str)) {
    for call in trajectory.calls() {
        for (name, value) in &call.arguments {
            visit(name);
            texts::each(value, visit);
        }
        call.outcome.each_text(visit);
    }
}

fn unify(trajectory: &mut Trajectory, how: Alike) {
    for step in &mut trajectory.steps {
        if let Step::ToolCall(call) = step {
            how.object(&mut call.arguments);
            call.outcome.each_value_mut(&mut |it| how.value(it));
            if let Outcome::Failure(failure) = &mut call.outcome
                && let Some(unified) = how.text(&failure.message)
            {
                failure.message = unified;
            }
        }
    }
    for binding in &mut trajectory.bindings {
        how.value(&mut binding.value);
    }
}
