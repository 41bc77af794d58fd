//! Objects whose keys are generated anew for every answer.

use serde_json::Value;

use model::Object;

use super::generated::is_generated;

/// If this many entries have other names in every take, they are records under generated names, even if these do not look generated.
const RECORDS: usize = 3;

/// Whether a key looks made up by a server.
pub(crate) fn is_made_up(key: &str) -> bool {
    is_generated(&Value::String(key.to_owned()))
}

/// Whether each of several takes of an object has keys of its own, that look made up or name records.
pub(crate) fn vary(takes: &[&Object]) -> bool {
    let own: Vec<Vec<(&String, &Value)>> = takes.iter().map(|it| own(it, takes)).collect();
    let is_in_one = |key: &String| takes.iter().filter(|it| it.contains_key(key)).count() == 1;
    let all = || own.iter().flatten();
    let made_up = all().filter(|(key, _)| is_made_up(key)).count();
    let are_records = || {
        let are_enough = |it: &Vec<_>| it.len() >= RECORDS;
        own.iter()
            .zip(takes)
            .all(|(own, take)| are_enough(own) && own.len() == take.len())
            && all().all(|(_, value)| value.is_object())
    };
    own.iter().all(|it| !it.is_empty())
        && all().all(|(key, _)| is_in_one(key))
        && (2 * made_up > all().count() || are_records())
}

/// What a take has under keys that not all takes have.
fn own<'a>(take: &'a Object, takes: &[&Object]) -> Vec<(&'a String, &'a Value)> {
    let is_own = |(key, _): &(&String, &Value)| !takes.iter().all(|it| it.contains_key(*key));
    take.iter().filter(is_own).collect()
}
