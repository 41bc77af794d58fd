//! The calls that a cause concerns, in words.

use model::published::result::Cause;
use model::text::few;

/// The calls by their numbers: `calls 1, 3 and 4 more`; `None` where none is concerned.
pub fn calls(cause: &Cause, command: &str, most: usize) -> Option<String> {
    let calls = cause.places.iter().flat_map(|it| &it.calls);
    let numbers: Vec<String> = calls
        .map(|it| match (it.baseline, it.current) {
            (Some(was), Some(now)) if was != now => format!("{was} → {now}"),
            (Some(was), None) if command != "run" => format!("{was} of the baseline"),
            (Some(number), _) | (None, Some(number)) => number.to_string(),
            (None, None) => String::new(),
        })
        .filter(|it| !it.is_empty())
        .collect();
    let noun = if numbers.len() == 1 { "call" } else { "calls" };
    (!numbers.is_empty()).then(|| format!("{noun} {}", few(&numbers, most)))
}
