//! Headers of the agent's side that were passed on to a server behind the one under test.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::values::mask;
use model::comparison::UpstreamHeader;
use model::placeholder::{Alike, placeholders};
use model::upstream::{Header, PassedOn, UpstreamLane};

/// The headers that two calls to a server were passed on with and that differ, by name.
pub(super) fn of_calls(server: &str, was: &[Header], now: &[Header]) -> Vec<UpstreamHeader> {
    let all = |headers: &[Header]| -> Vec<PassedOn> {
        let headers = headers.iter().map(|Header { name, value }| PassedOn {
            server: server.to_owned(),
            name: name.clone(),
            value: value.clone(),
        });
        headers.collect()
    };
    differing(&all(was), &all(now))
}

/// The headers that differ, by server and name.
pub(super) fn differing(was: &[PassedOn], now: &[PassedOn]) -> Vec<UpstreamHeader> {
    let (was, now) = (by_name(was), by_name(now));
    let names: BTreeSet<(&str, &str)> = was.keys().chain(now.keys()).copied().collect();
    let differing = names.into_iter().filter_map(|(server, name)| {
        let (was, now) = (was.get(&(server, name)), now.get(&(server, name)));
        let is_same = was
            .zip(now)
            .is_some_and(|(was, now)| says_the_same(was, now));
        (!is_same).then(|| UpstreamHeader {
            server: server.to_owned(),
            name: name.to_owned(),
            was: was.cloned(),
            now: now.cloned(),
        })
    });
    differing.collect()
}

/// Which headers each server behind was passed, with calls or without; by server and name.
pub(super) fn known(lane: &UpstreamLane) -> HashSet<(&str, &str)> {
    let apart = lane.headers.iter();
    let apart = apart.map(|it| (it.server.as_str(), it.name.as_str()));
    let with_calls = lane.calls.iter().flat_map(|it| {
        let server = it.call.server.as_deref().unwrap_or_default();
        let names = it.headers.iter().map(|it| it.name.as_str());
        names.map(move |name| (server, name))
    });
    apart.chain(with_calls).collect()
}

/// The values of each header, joined as HTTP allows it.
fn by_name(headers: &[PassedOn]) -> BTreeMap<(&str, &str), String> {
    let mut all: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for it in headers {
        let value = all.entry((&it.server, &it.name)).or_default();
        if !value.is_empty() {
            value.push_str(", ");
        }
        value.push_str(&it.value);
    }
    all
}

/// Whether two values are the same but for secrets of one kind, and for ids and times such as those of a trace.
fn says_the_same(was: &str, now: &str) -> bool {
    let is_nameless = |it: &str| placeholders(it).any(|it| it.name.is_none());
    let how = if is_nameless(was) || is_nameless(now) {
        Alike::All
    } else {
        Alike::Names
    };
    let plain = |it: &str| {
        let alike = how.text(it).unwrap_or_else(|| it.to_owned());
        mask::text(&alike).into_owned()
    };
    was == now || plain(was) == plain(now)
}
