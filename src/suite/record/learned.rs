//! What recording learned from several takes, in words.

use crate::model::learned::Learned;
use crate::model::trajectory::Trajectory;
use crate::score;

/// What a reader should know of how a baseline was heard: what varies and what is bound in it, takes that disagreed, what they left behind,
/// and what was heard only once.
pub(crate) fn told(trajectory: &Trajectory, learned: &score::Learned) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(it) = &learned.left_behind {
        let found = if it.effect == it.tool {
            format!(
                "call {} of `{}` had its effect in take 1 alone",
                it.call, it.tool
            )
        } else {
            format!(
                "call {} of `{}` found {} that a call of `{}` in an earlier take left behind",
                it.call, it.tool, it.value, it.effect
            )
        };
        notes.push(format!(
            "the takes are not independent: {found}. What differs because of it counts as heard once; reset what the server keeps before \
             every run (a container under `docker:`, or a folder of its own), or record with `--takes 1`"
        ));
    }
    notes.extend(learned.disagreements.iter().map(disagreement));
    for Learned {
        call,
        takes,
        varies,
        odd: _,
    } in &trajectory.learned
    {
        let varies = varies.iter();
        notes.extend(varies.map(|it| {
            format!("learned from {takes} takes: the answer to call {call} varies at {it}")
        }));
    }
    notes.extend(heard_once(trajectory));
    notes.extend(trajectory.bindings.iter().map(|it| format!("bound: {it}")));
    notes
}

/// Where takes disagreed in kind.
pub(crate) fn disagreement(it: &score::Disagreement) -> String {
    let place = match it.path.as_str() {
        "" => "the answer",
        path => path,
    };
    let heard = it.heard.join(", ");
    let call = format!("call {} of `{}`", it.call, it.tool);
    match it.odd {
        Some(odd) => format!(
            "take {odd} is the odd one at {call}: {place} was {heard} in the takes, and nothing was learned from take {odd}. Was the server \
             not ready yet? `ready:` waits until it is"
        ),
        None => format!("the takes disagree at {call}: {place} was {heard}, so nobody looks at it"),
    }
}

/// Which answers were heard once, and so are graded rather than held.
fn heard_once(trajectory: &Trajectory) -> Option<String> {
    let once: Vec<String> = (trajectory.heard_once().iter())
        .map(ToString::to_string)
        .collect();
    match once.as_slice() {
        [] => None,
        [only] => Some(format!(
            "heard once, and so graded rather than held to be stable: call {only}"
        )),
        _ => Some(format!(
            "heard once, and so graded rather than held to be stable: calls {}",
            once.join(", ")
        )),
    }
}
