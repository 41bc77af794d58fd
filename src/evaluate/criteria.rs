//! The `success_criteria` of a scenario, and what it expects of the answers to its calls.

use super::finding::{
    Checked, HIDDEN, Impossible, Judged, State, Unclear, failed, passed, unchecked,
};
use super::outcomes::step_answers;
use super::subject::SaidTexts;
use super::tools::{Offer, calls_of, counts, is_called, is_named, numbered, unsendable};
use crate::model::{
    AsSaid, Asked, Catalogue, Check, Places, ToolCall, Trajectory, UpstreamCall, UpstreamLane,
};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::{Criterion, is_prose};

/// What a plain text that the run does not hold is checked against, to find out whether it can be met at all.
#[derive(Debug, Clone, Copy)]
pub enum Basis<'a> {
    /// The run itself, which is being recorded. A text that it does not hold is prose for people, and stays unchecked.
    Recording,
    /// The accepted run.
    Accepted(&'a Trajectory, Accepted),
    /// Nothing: there is no recording.
    Nothing,
}

/// What a run that counts as accepted is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    Baseline,
    /// A run of another version, that nobody has accepted.
    Version,
}

impl Accepted {
    /// What it is called within a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "the accepted baseline",
            Self::Version => "the other version",
        }
    }
}

/// What a scenario asks of a run that holds its secrets yet.
pub fn as_said(scenario: &Scenario, trajectory: &Trajectory) -> AsSaid {
    let criteria = &scenario.success_criteria;
    let said = SaidTexts::in_run(trajectory);
    let texts = criteria.iter().map(|it| match it {
        Criterion::Text(text) | Criterion::Says(text) => said.holds(text),
        _ => false,
    });
    let mut checked = Checked::default();
    step_answers(scenario, trajectory, &mut checked);
    AsSaid {
        texts: texts.collect(),
        answers: checked.checks.iter().map(|it| it.passed).collect(),
    }
}

/// Checks every success criterion of a scenario against a run, and whether its calls were answered as expected.
pub fn check_criteria(scenario: &Scenario, trajectory: &Trajectory, basis: Basis<'_>) -> Checked {
    let mut checked = Checked::default();
    let criteria = &scenario.success_criteria;
    // What was said is gathered only where somebody asks for it.
    let run = (!criteria.is_empty()).then(|| Sides::new(trajectory, basis));
    for (at, criterion) in criteria.iter().enumerate() {
        let Some(run) = &run else { break };
        match run.check(at, criterion) {
            Ok((state, message)) => checked.checks.push(Check {
                line: Places::line_of(&scenario.places.criteria, at),
                asks_for_more: criterion.asks_for_more(),
                asked: criterion.said().map(|it| Asked::Text(it.to_owned())),
                ..Check::new(criterion.text(), state, message)
            }),
            Err(Unclear { why, meant }) => checked.impossible.push(Impossible {
                what: format!("success criterion `{}`", criterion.text()),
                why,
                meant,
            }),
        }
    }
    step_answers(scenario, trajectory, &mut checked);
    checked
}

/// The run, and what it is measured by.
struct Sides<'a> {
    run: &'a Trajectory,
    said: SaidTexts,
    basis: Basis<'a>,
    /// What was said in the accepted run.
    said_before: Option<SaidTexts>,
}

impl<'a> Sides<'a> {
    fn new(run: &'a Trajectory, basis: Basis<'a>) -> Self {
        Self {
            run,
            said: SaidTexts::in_run(run),
            basis,
            said_before: match basis {
                Basis::Accepted(accepted, _) => Some(SaidTexts::in_run(accepted)),
                Basis::Recording | Basis::Nothing => None,
            },
        }
    }

    fn baseline(&self) -> Option<&'a Trajectory> {
        match self.basis {
            Basis::Accepted(accepted, _) => Some(accepted),
            Basis::Recording | Basis::Nothing => None,
        }
    }

    /// What the accepted run is called, where there is one.
    fn accepted(&self) -> &'static str {
        let accepted = match self.basis {
            Basis::Accepted(_, accepted) => accepted,
            Basis::Recording | Basis::Nothing => Accepted::Baseline,
        };
        accepted.name()
    }

    fn check(&self, at: usize, criterion: &Criterion) -> Judged {
        match criterion {
            Criterion::Text(text) => self.text(at, text),
            Criterion::Says(text) => self.says(at, text),
            Criterion::ToolCalled(tool) => self.tool_called(tool),
            Criterion::ToolNeverCalled(tool) => self.tool_never_called(tool),
            Criterion::UpstreamCalled {
                server,
                tool,
                times,
            } => {
                let before = self.baseline().and_then(|it| it.upstream.as_deref());
                Call {
                    server,
                    tool,
                    times: *times,
                }
                .check(self.behind()?, before)
            }
            Criterion::NeverForwarded(headers) => Ok(never_forwarded(headers, self.behind()?)),
        }
    }

    /// The calls that the servers behind the ones under test received.
    fn behind(&self) -> Result<&'a UpstreamLane, Unclear> {
        self.run.upstream.as_deref().ok_or_else(|| Unclear {
            why: "in this run, calls behind the server under test were not recorded".to_owned(),
            meant: None,
        })
    }

    /// Whether the run says a text; unclear where only what was taken out of it could.
    fn is_said(&self, at: usize, text: &str) -> Result<bool, Unclear> {
        if let Some(said) = &self.run.as_said {
            return Ok(said.texts.get(at) == Some(&true));
        }
        match self.said.holds(text) {
            false if self.said.hides_secrets() => Err(Unclear {
                why: HIDDEN.to_owned(),
                meant: None,
            }),
            is_said => Ok(is_said),
        }
    }

    fn says(&self, at: usize, text: &str) -> Judged {
        Ok(if self.is_said(at, text)? {
            passed()
        } else {
            failed("appears nowhere in what the servers answered and the agent said")
        })
    }

    fn text(&self, at: usize, text: &str) -> Judged {
        Ok(match (self.basis, &self.said_before) {
            (Basis::Recording, _) if !self.is_said(at, text)? => {
                unchecked("the recorded run does not say it; `text: …` has it checked all the same")
            }
            (Basis::Nothing, _) if is_prose(text) => {
                unchecked("prose to `run`, which has no recording; `text: …` has it checked")
            }
            (Basis::Accepted(_, accepted), Some(before)) if !before.holds(text) => {
                let then = match (self.is_said(at, text), accepted) {
                    (Ok(true), Accepted::Baseline) => {
                        "; this run does, and recorded again it is checked"
                    }
                    (Ok(true), Accepted::Version) => "; this one does",
                    _ => "",
                };
                unchecked(format!("{} does not say it{then}", accepted.name()))
            }
            _ => self.says(at, text)?,
        })
    }

    fn offer(&self, tool: &str) -> Offer {
        let before = self.baseline().map(|it| &it.catalogue);
        Offer::of(tool, &self.run.catalogue, before)
    }

    fn tool_called(&self, tool: &str) -> Judged {
        if calls_of(self.run, tool).next().is_some() {
            return Ok(passed());
        }
        if let Some(why) = unsendable(self.run, tool) {
            return Ok(failed(format!(
                "the tool was called, and could not be: {why}"
            )));
        }
        let never_was = || {
            let baseline = self.baseline()?;
            calls_of(baseline, tool).next().is_none().then_some(())
        };
        match self.offer(tool) {
            Offer::Never(meant) => Err(no_such_tool(meant)),
            Offer::Before(near) => Ok(failed(format!(
                "the tool was not called: no server offers it any more{}",
                near.map_or_else(String::new, |it| format!("; nearest: `{it}`"))
            ))),
            Offer::Now if never_was().is_some() => Ok(unchecked(format!(
                "neither {} nor this run calls the tool",
                self.accepted()
            ))),
            Offer::Now => Ok(failed("the tool was not called")),
        }
    }

    fn tool_never_called(&self, tool: &str) -> Judged {
        // To try is enough, but for names that are neither a server's tool nor one of the agent's own.
        let attempt = |run: &'a Trajectory| {
            let mut calls = numbered(run);
            let own = |it: &ToolCall| is_named(it, tool) && counts(it, &run.catalogue);
            calls.find(|(_, it)| is_called(it, tool) || own(it))
        };
        if let Some(call) = attempt(self.run) {
            let was_accepted = self.baseline().is_some_and(|it| attempt(it).is_some());
            return Ok(if was_accepted {
                unchecked(format!(
                    "both {} and this run call the tool",
                    self.accepted()
                ))
            } else {
                failed(match call.0 {
                    Some(number) => format!("call {number} calls the tool"),
                    None => "the agent calls it: it is one of its own".to_owned(),
                })
            });
        }
        match self.offer(tool) {
            Offer::Never(meant) => Err(no_such_tool(meant)),
            Offer::Before(_) | Offer::Now => Ok(passed()),
        }
    }
}

fn no_such_tool(meant: Option<String>) -> Unclear {
    Unclear {
        why: "no server offers a tool of that name".to_owned(),
        meant,
    }
}

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
