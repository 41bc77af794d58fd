//! A place of an answer that people say varies, although no two takes have shown it.

use crate::model::comparison::Change;
use crate::model::learned::{Learned, Variation, Varying};
use crate::model::rules::Rules;
use crate::model::trajectory::Trajectory;
use crate::score::by_hand::learned::NOTHING;
use crate::score::values::path::covers_path;

use super::known::add;
use super::learn;

/// Lets go of the place of a change between an accepted trajectory and a run: whatever these two have there may stand there from now on.
/// With `anything`, also whatever else.
///
/// # Errors
///
/// Why that place cannot be let go of, and what to do instead.
pub fn ignore_place(
    accepted: &mut Trajectory,
    current: &Trajectory,
    change: &Change,
    rules: &Rules,
    anything: bool,
) -> Result<(), String> {
    let path = change
        .path
        .as_deref()
        .and_then(|it| it.strip_prefix("response"));
    let (Some(path), Some(call)) = (path, change.baseline) else {
        return Err(
            "only a place in an answer can be ignored; `scoring` in the scenario has rules for the rest"
                .to_owned(),
        );
    };
    if !path.starts_with('/') {
        return Err(
            "the answer as a whole differs, and only a place in it can be ignored".to_owned(),
        );
    }
    let mut places = if anything {
        Vec::new()
    } else {
        as_takes(accepted, current, call, path, rules)
    };
    if places.is_empty() {
        let said = |it: &Option<String>| it.clone().unwrap_or_else(|| NOTHING.to_owned());
        places.push(Varying {
            path: path.to_owned(),
            by: Variation::Anything,
            examples: vec![said(&change.was), said(&change.now)],
        });
    }
    if !accepted.learned.iter().any(|it| it.call == call) {
        accepted.learned.push(Learned {
            call,
            takes: 1,
            ..Learned::default()
        });
        accepted.learned.sort_by_key(|it| it.call);
    }
    for known in accepted.learned.iter_mut().filter(|it| it.call == call) {
        add(&mut known.varies, places.clone());
    }
    Ok(())
}

/// What varies at a place, or beneath it, if both are taken for takes of the same.
fn as_takes(
    accepted: &Trajectory,
    current: &Trajectory,
    call: usize,
    path: &str,
    rules: &Rules,
) -> Vec<Varying> {
    let learned = learn(&[accepted, current], rules).answers.into_iter();
    let of_call = learned.filter(|it| it.call == call);
    let there = of_call.flat_map(|it| it.varies);
    there.filter(|it| covers_path(path, &it.path)).collect()
}
