//! Calls that reached the servers behind the one under test: the second lane of a trajectory, which shows a proxy from both of its sides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Catalogue, ServerCatalogue, ToolCall};

/// What the servers behind the one under test heard in the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Upstream", expecting = "struct Upstream")]
pub struct UpstreamLane<S = ServerCatalogue> {
    /// The calls that arrived there, in the order they arrived; they are counted from 1.
    pub calls: Vec<UpstreamCall>,
    /// Headers of the agent's side that arrived with anything else than a call, such as the handshake; each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<PassedOn>,
    /// Places in the arguments that were another in each take of the baseline, because the server under test makes something up there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varies: Vec<VaryingArgument>,
    /// Tools that the server under test calls on its own account: at another moment, or another number of times, in each take of the
    /// baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub irregular: Vec<IrregularTool>,
    /// The calls, counted from 1, whose answer was another in each take of the baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_answers: Vec<usize>,
    /// What each of these servers offered, in the order served.
    #[serde(default, skip_serializing_if = "Catalogue::has_no_server")]
    pub catalogue: Catalogue<S>,
}

/// A call that arrived at a server behind the one under test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UpstreamCall {
    /// The call of the agent during or after which it arrived, counted from 1 among the scored calls; null before the first.
    pub cause: Option<usize>,
    #[serde(flatten)]
    pub call: ToolCall,
    /// Headers that the agent's side sent to the server under test and that arrived here with the same value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<Header>,
}

/// A header of a request.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Header {
    /// In lower case.
    pub name: String,
    pub value: String,
}

/// A header of the agent's side that arrived at a server behind the one under test.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct PassedOn {
    /// The server that got it.
    pub server: String,
    /// In lower case.
    pub name: String,
    pub value: String,
}

/// A place in the arguments of a call that is another in each run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct VaryingArgument {
    /// The call, counted from 1 among those that arrived.
    pub call: usize,
    /// JSON pointer into its arguments.
    pub path: String,
    /// In some takes there was nothing at all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_lack: bool,
}

/// A tool that the server under test calls on its own account.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct IrregularTool {
    /// The server behind that offers it.
    pub server: String,
    pub tool: String,
    /// How often it was called in all, in each take; null where that was another number in each.
    pub in_all: Option<usize>,
}

impl<S> UpstreamLane<S> {
    /// Adds what is known of tools that are called on the server's own account; where two numbers of calls differ, none is known.
    pub fn add_irregular(&mut self, tools: &[IrregularTool]) {
        for it in tools {
            let is_it =
                |known: &&mut IrregularTool| (&known.server, &known.tool) == (&it.server, &it.tool);
            match self.irregular.iter_mut().find(is_it) {
                Some(known) if known.in_all != it.in_all => known.in_all = None,
                Some(_) => {}
                None => self.irregular.push(it.clone()),
            }
        }
        self.irregular.sort();
    }

    /// The same with another form of what the servers offered.
    pub(super) fn with_catalogue<T>(self, catalogue: Catalogue<T>) -> UpstreamLane<T> {
        UpstreamLane {
            calls: self.calls,
            headers: self.headers,
            varies: self.varies,
            irregular: self.irregular,
            other_answers: self.other_answers,
            catalogue,
        }
    }
}

impl UpstreamLane {
    /// The calls that a call of the agent caused, each with its number in the lane; of `None`, those before the first.
    pub fn caused_by(&self, cause: Option<usize>) -> impl Iterator<Item = (usize, &UpstreamCall)> {
        (1..)
            .zip(&self.calls)
            .filter(move |(_, it)| it.cause == cause)
    }

    /// Takes out what a call of the agent caused, as if it had not been made: the later calls of the agent count one less.
    pub fn leave_out(&mut self, cause: usize) {
        let (calls, varies) = (
            std::mem::take(&mut self.calls),
            std::mem::take(&mut self.varies),
        );
        let other_answers = std::mem::take(&mut self.other_answers);
        for (number, mut call) in (1..).zip(calls) {
            if call.cause == Some(cause) {
                continue;
            }
            call.cause = call.cause.map(|it| if it > cause { it - 1 } else { it });
            self.calls.push(call);
            if other_answers.contains(&number) {
                self.other_answers.push(self.calls.len());
            }
            let own = varies.iter().filter(|it| it.call == number);
            self.varies.extend(own.map(|it| VaryingArgument {
                call: self.calls.len(),
                path: it.path.clone(),
                may_lack: it.may_lack,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{UpstreamCall, UpstreamLane, VaryingArgument};
    use crate::{Answer, Object, Outcome, ToolCall};

    #[test]
    fn what_is_left_out_moves_what_comes_after_it() {
        let arrived = |(cause, tool): (Option<usize>, &str)| UpstreamCall {
            cause,
            call: ToolCall::new(
                Some("s".to_owned()),
                tool.to_owned(),
                Object::new(),
                Outcome::Answer(Answer::default()),
            ),
            headers: Vec::new(),
        };
        let calls = [
            (None, "a"),
            (Some(1), "b"),
            (Some(2), "c"),
            (Some(2), "d"),
            (Some(3), "e"),
        ];
        let varying = |call| VaryingArgument {
            call,
            path: "/id".to_owned(),
            may_lack: false,
        };
        let mut lane = UpstreamLane {
            calls: calls.into_iter().map(arrived).collect(),
            varies: vec![varying(2), varying(3), varying(5)],
            ..UpstreamLane::default()
        };
        lane.leave_out(2);
        let left: Vec<_> = (lane.calls.iter())
            .map(|it| (it.cause, it.call.tool.as_str()))
            .collect();
        assert_eq!(left, [(None, "a"), (Some(1), "b"), (Some(2), "e")]);
        assert_eq!(lane.varies, [varying(2), varying(3)]);
    }
}
