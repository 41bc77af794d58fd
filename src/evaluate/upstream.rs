//! The calls that the servers behind the ones under test received, as criteria want them: which calls, and which headers not.

use super::judged::{Judged, State, Unclear, failed, passed};
use super::tools::{Offer, is_called};
use crate::model::catalogue::Catalogue;
use crate::model::upstream::{UpstreamCall, UpstreamLane};

/// A call that a server behind the ones under test is to get.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) server: &'a str,
    pub(super) tool: &'a str,
    /// Exactly so often; at least once unless given.
    pub(super) times: Option<u32>,
}

impl Call<'_> {
    /// Whether it arrived as often as it is to. `before` is the lane of the accepted run.
    pub(super) fn check(self, run: &UpstreamLane, before: Option<&UpstreamLane>) -> Judged {
        let calls = self.calls(run);
        if calls.is_empty() {
            return self.without_calls(run, before);
        }
        if self.times.is_none_or(|it| calls.len() == it as usize) {
            return Ok(passed());
        }
        let numbers: Vec<String> = calls.iter().map(usize::to_string).collect();
        let (noun, times) = match numbers.len() {
            1 => ("call", "once".to_owned()),
            count => ("calls", format!("{count} times")),
        };
        let numbers = numbers.join(", ");
        Ok(failed(format!(
            "the tool was called {times}: upstream {noun} {numbers}"
        )))
    }

    /// The numbers of its calls. One of a tool that is not on offer does not count if the server refused it, unless there is to be none.
    fn calls(self, run: &UpstreamLane) -> Vec<usize> {
        let all = (1..).zip(&run.calls);
        let own = all.filter(|(_, UpstreamCall { call, .. })| {
            let is_listed = run.catalogue.tool(self.server, &call.tool).is_some();
            call.server.as_deref() == Some(self.server)
                && is_called(call, self.tool)
                && (is_listed || self.times == Some(0) || !call.outcome.is_failure())
        });
        own.map(|(number, _)| number).collect()
    }

    fn without_calls(self, run: &UpstreamLane, before: Option<&UpstreamLane>) -> Judged {
        let own = |it: &UpstreamLane| Catalogue {
            servers: (it.catalogue.servers.iter())
                .filter(|it| it.server == self.server)
                .cloned()
                .collect(),
            ..Catalogue::default()
        };
        let server = self.server;
        match Offer::of(self.tool, &own(run), before.map(own).as_ref()) {
            Offer::Never(meant) => Err(Unclear {
                why: format!("`{server}` offers no tool of that name"),
                meant,
            }),
            Offer::Before(_) | Offer::Now if self.times == Some(0) => Ok(passed()),
            Offer::Before(near) => Ok(failed(format!(
                "the tool was not called: `{server}` does not offer it any more{}",
                near.map_or_else(String::new, |it| format!("; nearest: `{it}`"))
            ))),
            Offer::Now => {
                let of_server = |it: &&UpstreamCall| it.call.server.as_deref() == Some(server);
                let calls = match run.calls.iter().filter(of_server).count() {
                    0 => "no call at all".to_owned(),
                    1 => "1 other call".to_owned(),
                    count => format!("{count} other calls"),
                };
                Ok(failed(format!(
                    "the tool was not called: `{server}` received {calls}"
                )))
            }
        }
    }
}

/// Whether none of these headers arrived at any server.
pub(super) fn never_forwarded(headers: &[String], run: &UpstreamLane) -> State {
    let mut arrived = Vec::new();
    for header in headers {
        let mut servers: Vec<&str> = Vec::new();
        let with_calls = run.calls.iter().filter_map(|it| it.call.server.as_deref());
        for server in with_calls.chain(run.headers.iter().map(|it| it.server.as_str())) {
            if !servers.contains(&server) {
                servers.push(server);
            }
        }
        let at = servers
            .into_iter()
            .filter_map(|it| forwarded(header, it, run));
        arrived.extend(at);
    }
    if arrived.is_empty() {
        passed()
    } else {
        failed(arrived.join("; "))
    }
}

/// With what a header arrived at a server; `None` where it did not.
fn forwarded(header: &str, server: &str, run: &UpstreamLane) -> Option<String> {
    let is_it = |name: &str| name.eq_ignore_ascii_case(header);
    let mut calls = (1..).zip(&run.calls).filter(|(_, it)| {
        it.call.server.as_deref() == Some(server) && it.headers.iter().any(|it| is_it(&it.name))
    });
    let Some((number, first)) = calls.next() else {
        let mut others = run.headers.iter();
        let is_there = others.any(|it| it.server == server && is_it(&it.name));
        return is_there.then(|| {
            format!("`{header}` reached `{server}` with what is not a call, such as the handshake")
        });
    };
    let tool = &first.call.tool;
    let when = match first.cause {
        Some(cause) => format!("for call {cause}"),
        None => "before call 1".to_owned(),
    };
    let more = match calls.count() {
        0 => String::new(),
        1 => " and with 1 more".to_owned(),
        count => format!(" and with {count} more"),
    };
    Some(format!(
        "`{header}` reached `{server}` with upstream call {number} (`{tool}`, {when}){more}"
    ))
}
