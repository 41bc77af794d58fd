//! Whether calls can be as people wrote them.

use crate::trajectory::ToolCall;

/// Nor does any of these calls, which are called so.
pub(super) fn check_call_durations<'c>(
    calls: impl Iterator<Item = &'c ToolCall>,
    name: &str,
) -> Result<(), String> {
    let is_negative = |it: &f64| *it < 0.0;
    let wrong = (1..)
        .zip(calls)
        .find_map(|(number, it)| Some((number, it.duration_ms.filter(is_negative)?)));
    match wrong {
        Some((number, it)) => Err(format!(
            "the `duration_ms` of {name} {number} is {it}, and no call takes less than 0 ms"
        )),
        None => Ok(()),
    }
}

/// Which calls there are, for a number that is none of them: `its calls are 1 to 3`.
pub(super) fn there_are(calls: usize) -> String {
    match calls {
        0 => "it has no calls".to_owned(),
        1 => "its only call is 1".to_owned(),
        last => format!("its calls are 1 to {last}"),
    }
}
