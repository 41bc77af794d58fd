//! What the servers behind the one under test heard, as trajectories say it.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{Call, check_call_durations, there_are};
use super::catalogue::{ServerCatalogue, catalogue_of};
use crate::model::upstream::{self, UpstreamLane};

/// What the servers behind the one under test heard in the run.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Upstream<'a> {
    /// The calls that arrived there, in the order they arrived; they are counted from 1.
    calls: Vec<UpstreamCall<'a>>,
    /// Headers of the agent's side that arrived with anything else than a call, such as the handshake; each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    headers: Vec<PassedOn<'a>>,
    /// Places in the arguments that were another in each take of the baseline, because the server under test makes something up there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    varies: Vec<VaryingArgument>,
    /// Tools that the server under test calls on its own account: at another moment, or another number of times, in each take of the
    /// baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    irregular: Vec<IrregularTool<'a>>,
    /// The calls, counted from 1, whose answer was another in each take of the baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    other_answers: Vec<usize>,
    /// What each of these servers offered, in the order served.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    catalogue: Vec<ServerCatalogue<'a>>,
}

/// A call that arrived at a server behind the one under test.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct UpstreamCall<'a> {
    /// The call of the agent during or after which it arrived, counted from 1 among the scored calls; null before the first.
    cause: Option<usize>,
    #[serde(flatten)]
    call: Call<'a>,
    /// Headers that the agent's side sent to the server under test and that arrived here with the same value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    headers: Vec<Header<'a>>,
}

/// A header of a request.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Header<'a> {
    /// In lower case.
    name: Cow<'a, str>,
    value: Cow<'a, str>,
}

/// A header of the agent's side that arrived at a server behind the one under test.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct PassedOn<'a> {
    /// The server that got it.
    server: Cow<'a, str>,
    #[serde(flatten)]
    header: Header<'a>,
}

/// A place in the arguments of a call that is another in each run.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct VaryingArgument {
    /// The call, counted from 1 among those that arrived.
    call: usize,
    /// JSON pointer into its arguments.
    path: String,
    /// In some takes there was nothing at all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    may_lack: bool,
}

/// A tool that the server under test calls on its own account.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct IrregularTool<'a> {
    /// The server behind that offers it.
    server: Cow<'a, str>,
    tool: Cow<'a, str>,
    /// How often it was called in all, in each take; null where that was another number in each.
    in_all: Option<usize>,
}

impl Upstream<'_> {
    /// Whether all of it can be, where the agent made this many scored calls. Says what cannot.
    pub(super) fn check(&self, agents_calls: usize) -> Result<(), String> {
        for (number, it) in (1..).zip(&self.calls) {
            if it.call.server.is_none() {
                return Err(format!(
                    "`upstream`, call {number}: it has no `server`, and a call arrives at one"
                ));
            }
            if let Some(cause) = it.cause.filter(|it| !(1..=agents_calls).contains(it)) {
                let hint = match cause {
                    0 => ": write null for a call before the first",
                    _ => "",
                };
                return Err(format!(
                    "`upstream`, call {number}: its `cause` is call {cause} of the trajectory, and {}{hint}",
                    there_are(agents_calls)
                ));
            }
        }
        check_call_durations(self.calls.iter().map(|it| &it.call), "`upstream` call")?;
        for VaryingArgument { call, path, .. } in &self.varies {
            if !(1..=self.calls.len()).contains(call) {
                return Err(format!(
                    "`upstream`: its `varies` is about call {call}, and {}",
                    there_are(self.calls.len())
                ));
            }
            if !path.is_empty() && !path.starts_with('/') {
                return Err(format!(
                    "`upstream`: its `varies` has the path `{path}`, which does not begin with `/`: write it as `/KEY`"
                ));
            }
        }
        if let Some(call) =
            (self.other_answers.iter()).find(|it| !(1..=self.calls.len()).contains(it))
        {
            return Err(format!(
                "`upstream`: its `other_answers` is about call {call}, and {}",
                there_are(self.calls.len())
            ));
        }
        Ok(())
    }
}

impl<'a> From<&'a UpstreamLane> for Upstream<'a> {
    fn from(it: &'a UpstreamLane) -> Self {
        Self {
            calls: it.calls.iter().map(Into::into).collect(),
            headers: it.headers.iter().map(Into::into).collect(),
            varies: it.varies.iter().map(Into::into).collect(),
            irregular: it.irregular.iter().map(Into::into).collect(),
            other_answers: it.other_answers.clone(),
            catalogue: it.catalogue.servers.iter().map(Into::into).collect(),
        }
    }
}

impl From<Upstream<'_>> for UpstreamLane {
    fn from(it: Upstream<'_>) -> Self {
        Self {
            catalogue: catalogue_of(it.catalogue, Vec::new()),
            calls: it.calls.into_iter().map(Into::into).collect(),
            headers: it.headers.into_iter().map(Into::into).collect(),
            varies: it.varies.into_iter().map(Into::into).collect(),
            irregular: it.irregular.into_iter().map(Into::into).collect(),
            other_answers: it.other_answers,
        }
    }
}

impl<'a> From<&'a upstream::UpstreamCall> for UpstreamCall<'a> {
    fn from(it: &'a upstream::UpstreamCall) -> Self {
        let header = |(name, value): &'a (String, String)| Header {
            name: name.into(),
            value: value.into(),
        };
        Self {
            cause: it.cause,
            call: (&it.call).into(),
            headers: it.headers.iter().map(header).collect(),
        }
    }
}

impl From<UpstreamCall<'_>> for upstream::UpstreamCall {
    fn from(it: UpstreamCall<'_>) -> Self {
        let headers = it.headers.into_iter();
        Self {
            cause: it.cause,
            call: it.call.into(),
            headers: headers
                .map(|it| (it.name.into_owned(), it.value.into_owned()))
                .collect(),
        }
    }
}

impl<'a> From<&'a upstream::PassedOn> for PassedOn<'a> {
    fn from(it: &'a upstream::PassedOn) -> Self {
        Self {
            server: (&it.server).into(),
            header: Header {
                name: (&it.name).into(),
                value: (&it.value).into(),
            },
        }
    }
}

impl From<PassedOn<'_>> for upstream::PassedOn {
    fn from(it: PassedOn<'_>) -> Self {
        Self {
            server: it.server.into_owned(),
            name: it.header.name.into_owned(),
            value: it.header.value.into_owned(),
        }
    }
}

impl From<&upstream::VaryingArgument> for VaryingArgument {
    fn from(it: &upstream::VaryingArgument) -> Self {
        Self {
            call: it.call,
            path: it.path.clone(),
            may_lack: it.may_lack,
        }
    }
}

impl From<VaryingArgument> for upstream::VaryingArgument {
    fn from(it: VaryingArgument) -> Self {
        Self {
            call: it.call,
            path: it.path,
            may_lack: it.may_lack,
        }
    }
}

impl<'a> From<&'a upstream::IrregularTool> for IrregularTool<'a> {
    fn from(it: &'a upstream::IrregularTool) -> Self {
        Self {
            server: (&it.server).into(),
            tool: (&it.tool).into(),
            in_all: it.in_all,
        }
    }
}

impl From<IrregularTool<'_>> for upstream::IrregularTool {
    fn from(it: IrregularTool<'_>) -> Self {
        Self {
            server: it.server.into_owned(),
            tool: it.tool.into_owned(),
            in_all: it.in_all,
        }
    }
}
