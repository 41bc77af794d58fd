//! A mock server made from a recorded trajectory: the same catalogue, and the recorded answers by tool and arguments.

use serde_json::{Value, json};

use crate::mock::template::tool_error;
use crate::model::placeholder::{self, Alike};
use crate::model::texts;
use crate::model::{Answer, Failure, FailureKind, Object, Outcome, ToolCall, Trajectory};
use crate::scenario_file::mock::{
    DeclaredServer, Fault, MockReply, MockResponse, MockTool, OnExhausted,
};
use crate::text::beginning;

/// How many differences to the nearest call an error lists, and how much of each value.
const MAX_DIFFERENCES: usize = 5;
const MAX_VALUE: usize = 80;

/// The servers of a trajectory, by name, each with its recorded catalogue. A call that was made several times is answered in the order
/// recorded, and then as it was the last time.
pub fn recorded(trajectory: &Trajectory) -> Vec<(String, DeclaredServer)> {
    let mut names: Vec<&str> = Vec::new();
    let catalogues = &trajectory.catalogue.servers;
    let called = trajectory.calls().filter_map(|it| it.server.as_deref());
    for name in catalogues.iter().map(|it| it.server.as_str()).chain(called) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let servers = names.into_iter();
    let alike = alike(trajectory);
    servers
        .map(|name| (name.to_owned(), server(trajectory, name, alike)))
        .collect()
}

/// How the placeholders of a recording compare: those of an early one have no names.
fn alike(trajectory: &Trajectory) -> Alike {
    let mut values = trajectory.calls().flat_map(|it| it.arguments.values());
    if values.any(placeholder::holds_nameless) {
        Alike::All
    } else {
        Alike::Names
    }
}

fn server(trajectory: &Trajectory, name: &str, alike: Alike) -> DeclaredServer {
    let catalogue = trajectory
        .catalogue
        .servers
        .iter()
        .find(|it| it.server == name);
    let listed = catalogue.into_iter().flat_map(|it| &it.tools);
    let mut tools: Vec<MockTool> = listed
        .map(|it| MockTool {
            served: it.served.clone(),
            ..tool(it.name(), alike)
        })
        .collect();
    // What is not in the catalogue may have been called all the same, and the server has said something to that. A recording without a
    // catalogue knows nothing but the tools that were called.
    let has_catalogue = !tools.is_empty();
    let calls = trajectory
        .calls()
        .filter(|it| it.server.as_deref() == Some(name));
    for call in calls.filter(|it| reached(it)) {
        let place = tools.iter().position(|it| it.name == call.tool);
        let place = place.unwrap_or_else(|| {
            tools.push(MockTool {
                hidden: has_catalogue,
                ..tool(&call.tool, alike)
            });
            tools.len() - 1
        });
        tools[place].responses.push(response(call, alike));
    }
    let info = |key| {
        let info = catalogue.and_then(|it| it.info.as_ref());
        info.and_then(|it| it.get(key)?.as_str()).map(str::to_owned)
    };
    DeclaredServer {
        name: info("name"),
        title: info("title"),
        version: info("version"),
        instructions: catalogue.and_then(|it| it.instructions.clone()),
        tools,
        ..DeclaredServer::default()
    }
}

/// Whether the server has ever seen the call.
fn reached(call: &ToolCall) -> bool {
    !matches!(&call.outcome, Outcome::Failure(it) if it.kind == FailureKind::NotSent)
}

fn tool(name: &str, alike: Alike) -> MockTool {
    MockTool {
        recorded: Some(alike),
        on_exhausted: OnExhausted::RepeatLast,
        ..MockTool::new(name, None)
    }
}

fn response(call: &ToolCall, alike: Alike) -> MockResponse {
    let (reply, fault) = match &call.outcome {
        Outcome::Answer(answer) => (MockReply::Verbatim(result(answer)), None),
        Outcome::Failure(failure) => failed(failure),
    };
    let mut arguments = call.arguments.clone();
    alike.object(&mut arguments);
    MockResponse {
        arguments: Some(arguments),
        times: Some(1),
        reply,
        fault,
        ..MockResponse::default()
    }
}

/// The result as it was served.
fn result(answer: &Answer) -> Value {
    let mut result = Object::new();
    result.insert("content".to_owned(), json!(answer.content));
    if let Some(structured) = &answer.structured_content {
        result.insert("structuredContent".to_owned(), structured.clone());
    }
    if answer.is_error {
        result.insert("isError".to_owned(), json!(true));
    }
    result.extend(answer.other.clone());
    let mut result = Value::Object(result);
    texts::each_mut(&mut result, &mut |text| {
        *text = placeholder::unescaped_around(text);
    });
    result
}

/// A call that came to no answer comes to none again.
fn failed(failure: &Failure) -> (MockReply, Option<Fault>) {
    let fault = match failure.kind {
        FailureKind::Rpc => {
            let mut error =
                json!({ "code": failure.code.unwrap_or(-32603), "message": failure.message });
            if let Some(data) = &failure.data {
                error["data"] = data.clone();
            }
            return (MockReply::VerbatimError(error), None);
        }
        FailureKind::Timeout | FailureKind::NotSent => Fault::Hang,
        FailureKind::Disconnected => Fault::Disconnect,
        FailureKind::InvalidResponse => Fault::ContentNotAList,
        FailureKind::Transport => Fault::HttpStatus {
            status: 502,
            headers: Vec::new(),
            body: failure.message.clone(),
        },
    };
    (MockReply::Default, Some(fault))
}

/// Member of `_meta` that marks the answer to a call that was not recorded.
const UNRECORDED: &str = "mcp-eval/unrecorded";

/// Whether an answer is the one that a mock made from a recording gives to what was not recorded.
pub fn is_unrecorded(outcome: &Outcome) -> bool {
    let Outcome::Answer(answer) = outcome else {
        return false;
    };
    let meta = answer.other.get("_meta");
    answer.is_error && meta.and_then(|it| it.get(UNRECORDED)) == Some(&json!(true))
}

/// The tool error that answers a call of a recorded tool that was not recorded. `None` for a tool that was declared rather than recorded.
pub(super) fn unrecorded(tool: &MockTool, arguments: &Object) -> Option<Value> {
    let mut error = tool_error(&nearest(tool, arguments)?);
    error["_meta"] = json!({ UNRECORDED: true });
    Some(error)
}

/// What to say when none of a recorded tool's calls has these arguments: the nearest one, and how it differs. `None` for a tool
/// that was declared rather than recorded.
fn nearest(tool: &MockTool, arguments: &Object) -> Option<String> {
    tool.recorded?;
    let given = shown(&json!(arguments));
    let calls = tool.responses.iter().filter_map(|it| it.arguments.as_ref());
    let nearest = calls
        .map(|recorded| (differences(recorded, arguments), recorded))
        .min_by_key(|(differences, recorded)| {
            let letters = strsim::osa_distance(&shown(&json!(recorded)), &given);
            (differences.len(), letters)
        });
    let Some((differences, recorded)) = nearest else {
        return Some(format!(
            "tool `{}` was never called in the recording; the arguments are {given}",
            tool.name
        ));
    };
    let recorded = shown(&json!(recorded));
    let mut listed = differences
        .iter()
        .take(MAX_DIFFERENCES)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if differences.len() > MAX_DIFFERENCES {
        listed.push_str(" and more");
    }
    Some(format!(
        "no recorded call of tool `{}` has the arguments {given}; the nearest has {recorded}: {listed}",
        tool.name
    ))
}

/// How arguments differ from recorded ones, a sentence each.
fn differences(recorded: &Object, given: &Object) -> Vec<String> {
    let changed = recorded
        .iter()
        .filter_map(|(name, was)| match given.get(name) {
            None => Some(format!("`{name}` is missing")),
            Some(is) if is != was => {
                Some(format!("`{name}` was {} and is {}", shown(was), shown(is)))
            }
            Some(_) => None,
        });
    let added = given.keys().filter(|it| !recorded.contains_key(*it));
    changed
        .chain(added.map(|it| format!("`{it}` was not given")))
        .collect()
}

fn shown(value: &Value) -> String {
    beginning(&value.to_string(), MAX_VALUE).into_owned()
}
