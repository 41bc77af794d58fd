//! Secrets in an answer that the recorded one did not hold: news whatever else of answers is compared. Both are without secrets, so they are
//! counted by the placeholders that stand for them.

use std::collections::BTreeMap;

use model::placeholder::placeholders;
use model::response::{Difference, Edit};
use model::texts;
use model::trajectory::Outcome;

/// The secrets of names of which the recorded answer held fewer, by their places, but for those that the `known` differences show.
pub(crate) fn news(b: &Outcome, c: &Outcome, known: &[Difference]) -> Vec<Difference> {
    let now = found(c);
    if now.is_empty() {
        return Vec::new();
    }
    let was = found(b);
    // Placeholders of version 1 have no names.
    if was.contains_key("") {
        return Vec::new();
    }
    let of_name = |found: &Found, name: &str| found.get(name).map_or(0, BTreeMap::len);
    let more = now
        .iter()
        .filter(|(name, places)| places.len() > of_name(&was, name));
    let mut by_place: BTreeMap<&String, Vec<&str>> = BTreeMap::new();
    for (name, places) in more {
        for (secret, path) in places.iter().skip(of_name(&was, name)) {
            let mut shown = known.iter().filter_map(|it| it.got.as_ref());
            if !shown.any(|it| it.contains(secret)) {
                by_place.entry(path).or_default().push(secret);
            }
        }
    }
    let differences = by_place.into_iter().map(|(path, secrets)| Difference {
        got: Some(secrets.join(", ")),
        ..Difference::shown(path.clone(), Edit::NewSecret)
    });
    differences.collect()
}

/// The places of placeholders, by their names; each placeholder once.
type Found = BTreeMap<String, BTreeMap<String, String>>;

fn found(outcome: &Outcome) -> Found {
    let mut found = Found::new();
    let mut look = |path: &str, text: &str| {
        for it in placeholders(text) {
            let of_name = found.entry(it.name.unwrap_or_default().to_owned());
            let places = of_name.or_default();
            let secret = text[it.at].to_owned();
            places.entry(secret).or_insert_with(|| path.to_owned());
        }
    };
    match outcome {
        Outcome::Failure(failure) => look("", &failure.message),
        Outcome::Answer(answer) => {
            for (index, block) in answer.content.iter().enumerate() {
                let path = format!("/content/{index}");
                texts::each(block, &mut |text| look(&path, text));
            }
            let structured = answer.structured_content.iter();
            for it in structured {
                texts::each(it, &mut |text| look("/structuredContent", text));
            }
        }
    }
    found
}
