//! A trajectory as a dialogue, for people who read it in a pull request.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::Hash;

use serde_json::Value;

use crate::digits;
use crate::model::{
    Answer, Binding, CallStatus, Ending, Header, Learned, Outcome, Source, Step, ToolCall,
    Trajectory, UpstreamCall, UpstreamLane,
};
use crate::score;
use crate::text::{block as visible_block, line as visible_line, plural, shorten};

/// The longest answer that is written out; the whole of it is in the JSON file.
const LONGEST: usize = 4000;

/// The longest argument, header or error of a call behind the server under test, in characters.
const LONGEST_BEHIND: usize = 200;

/// The trajectory as text. It holds no times, and of values that are known to vary only what they are, so that it changes only when the
/// conversation does.
pub fn dialogue(trajectory: &Trajectory) -> String {
    let behind = trajectory.upstream.iter().map(|it| it.varies.len());
    let varying = trajectory.learned.iter().map(|it| it.varies.len());
    let places: usize = varying.chain(behind).sum();
    written(&score::by_kind(trajectory), places)
}

/// The same as earlier programs of this version wrote it, with the values: whoever has committed that need not change it.
pub(super) fn dialogue_with_values(trajectory: &Trajectory) -> String {
    written(trajectory, 0)
}

fn written(trajectory: &Trajectory, places_that_vary: usize) -> String {
    let mut text = format!("# {}\n", visible_line(&trajectory.name));
    if let Some(repeated) = trajectory.repeated {
        let _ = writeln!(text, "\n{}", repeated.recorded_words());
    }
    if places_that_vary > 0 {
        let places = plural(places_that_vary, "place");
        let _ = writeln!(text, "\n{places} may vary");
    }
    if let Some(lane) = &trajectory.upstream {
        without_a_call(&mut text, lane);
    }
    let once = trajectory.answered_once();
    let mut calls = 0;
    // Bindings count the scored calls, the dialogue counts all.
    let mut shown = vec![0];
    let bindings = grouped(trajectory.bindings.iter().map(|it| (it.call, it)));
    let varying = grouped(trajectory.learned.iter().map(|it| (it.call, it)));
    let lane = trajectory.upstream.as_deref();
    let behind = lane.map(|it| (it, grouped((1..).zip(&it.calls).map(|it| (it.1.cause, it)))));
    for step in &trajectory.steps {
        text.push('\n');
        match step {
            Step::User { text: said } => block(&mut text, "USER", said),
            Step::Assistant { text: said } => block(&mut text, "AGENT", said),
            Step::ToolCall(call) => {
                calls += 1;
                if call.server.is_some() {
                    shown.push(calls);
                }
                let mut arguments = Value::Object(call.arguments.clone());
                digits::put(&mut arguments, &call.digits);
                let arguments = arguments.to_string();
                let arguments = digits::unmarked(&arguments);
                block(
                    &mut text,
                    &format!("CALL {calls}"),
                    &format!("{} {arguments}", call.full_name()),
                );
                if call.server.is_some() {
                    let number = shown.len() - 1;
                    let bindings = bindings.get(&number).into_iter().flatten();
                    bindings.for_each(|it| bound(&mut text, it, &shown));
                    if let Some((lane, calls)) = &behind {
                        for (number, it) in calls.get(&Some(number)).into_iter().flatten() {
                            upstream_call(&mut text, "behind it: ", lane, *number, it);
                        }
                    }
                }
                answer(&mut text, call);
                if call.server.is_some() {
                    let number = shown.len() - 1;
                    let varying = varying.get(&number).and_then(|it| it.first().copied());
                    learned(&mut text, varying, once.binary_search(&number).is_ok());
                }
            }
        }
    }
    let ending = match &trajectory.ending {
        Ending::Completed => "completed".to_owned(),
        Ending::Blocked { message } => format!("blocked: {message}"),
        Ending::LimitReached { message } => format!("limit reached: {message}"),
        Ending::TimedOut { message } => format!("timed out: {message}"),
        Ending::Interrupted => "interrupted".to_owned(),
        Ending::Error { message, .. } => format!("error: {message}"),
    };
    text.push('\n');
    block(&mut text, "END", &ending);
    text
}

/// The calls that the servers behind the one under test received before its first call, and with no call at all.
fn without_a_call(text: &mut String, lane: &UpstreamLane) {
    let mut before = lane.caused_by(None).peekable();
    if before.peek().is_some() {
        text.push_str("\nBEHIND, BEFORE THE FIRST CALL:\n");
    }
    for (number, it) in before {
        upstream_call(text, "", lane, number, it);
    }
    if !lane.headers.is_empty() {
        text.push_str("\nBEHIND, WITHOUT A CALL:\n");
    }
    for it in &lane.headers {
        let header = header(&it.name, &it.value);
        let said = format!("passed on to {}: {header}", it.server);
        let _ = writeln!(text, "  {}", visible_line(&said));
    }
}

/// A call that a server behind the one under test received: `files.write(path: "/a") → ok`.
fn upstream_call(
    text: &mut String,
    lead: &str,
    lane: &UpstreamLane,
    number: usize,
    it: &UpstreamCall,
) {
    let call = &it.call;
    let server = call.server.iter().map(|it| format!("{it}."));
    let arguments = call.arguments.iter().map(|(name, value)| {
        let value = value.to_string();
        format!("{name}: {}", shorten(&value, LONGEST_BEHIND))
    });
    let said = format!(
        "{lead}{}{}({}) → {}",
        server.collect::<String>(),
        call.tool,
        arguments.collect::<Vec<_>>().join(", "),
        became(&call.outcome)
    );
    let _ = writeln!(text, "  {}", visible_line(&said));
    for Header { name, value } in &it.headers {
        let said = header(name, value);
        let _ = writeln!(text, "    passed on: {}", visible_line(&said));
    }
    for it in lane.varies.iter().filter(|it| it.call == number) {
        let _ = writeln!(text, "    varies: {}", visible_line(&it.path));
    }
}

fn header(name: &str, value: &str) -> String {
    format!("{name}: {}", shorten(value, LONGEST_BEHIND))
}

/// What became of a call, in a few words.
fn became(outcome: &Outcome) -> String {
    let why = match outcome {
        Outcome::Answer(answer) if answer.is_error => answer.text(),
        Outcome::Answer(answer) => match &answer.breach {
            Some(breach) => breach.clone(),
            None => return "ok".to_owned(),
        },
        Outcome::Failure(failure) => failure.message.clone(),
    };
    let words = CallStatus::from(outcome).words();
    format!("{words}: {}", shorten(&why, LONGEST_BEHIND))
}

/// What the last of the calls shown takes from earlier answers; `shown` gives the number each scored call has in the dialogue.
fn bound(text: &mut String, binding: &Binding, shown: &[usize]) {
    let number = |call: usize| shown.get(call).copied().unwrap_or(call);
    let source = Source {
        call: number(binding.from.call),
        ..binding.from.clone()
    };
    block(text, "BOUND", &format!("{} ← {source}", binding.path));
}

fn grouped<K: Eq + Hash, V>(all: impl Iterator<Item = (K, V)>) -> HashMap<K, Vec<V>> {
    let mut groups: HashMap<K, Vec<V>> = HashMap::new();
    for (key, it) in all {
        groups.entry(key).or_default().push(it);
    }
    groups
}

/// Writes what recording learned of the answer to a scored call; nothing where nothing varied, which is usual.
fn learned(text: &mut String, learned: Option<&Learned>, is_once: bool) {
    for varying in learned.iter().flat_map(|it| &it.varies) {
        let label = if varying.is_unseen() {
            "NOT LOOKED AT"
        } else {
            "VARIES"
        };
        block(text, label, &varying.to_string());
    }
    if is_once {
        text.push_str("RECORDED ONCE: what varies here is unknown, so a similar answer passes\n");
    }
}

fn answer(text: &mut String, call: &ToolCall) {
    match &call.outcome {
        Outcome::Failure(failure) => {
            let code = failure
                .code
                .map(|it| format!(" (code {it})"))
                .unwrap_or_default();
            block(text, "NO ANSWER", &format!("{}{code}", failure.message));
        }
        Outcome::Answer(answer) => {
            let label = if answer.is_error { "ERROR" } else { "ANSWER" };
            for (kind, params) in answer.asked().into_iter().flatten() {
                block(text, "ASKED ITS CLIENT", &format!("{kind} {params}"));
            }
            let repeats = the_structured_form(answer);
            for (index, content) in answer.content.iter().enumerate() {
                match content.get("text").and_then(Value::as_str) {
                    Some(said) if repeats == Some(index) => {
                        block(text, &format!("{label}, ALSO STRUCTURED"), said);
                    }
                    Some(said) => block(text, label, said),
                    None => block(text, label, &describe(content)),
                }
            }
            if let Some(structured) = answer
                .structured_content
                .as_ref()
                .filter(|_| repeats.is_none())
            {
                let structured = digits::filled(structured, &answer.digits).to_string();
                let structured = digits::unmarked(&structured);
                block(text, label, &format!("structured {structured}"));
            }
            if answer.content.is_empty() && answer.structured_content.is_none() {
                block(text, label, "(nothing)");
            }
        }
    }
}

/// The text block that says what the structured content does, which most servers send for clients that read texts alone. Some wrap what is no
/// object as `{"result": …}`.
fn the_structured_form(answer: &Answer) -> Option<usize> {
    let structured = answer.structured_content.as_ref()?;
    let wrapped = structured.as_object().filter(|it| it.len() == 1);
    let wrapped = wrapped.and_then(|it| it.get("result"));
    answer.content.iter().position(|content| {
        let Some(said) = content.get("text").and_then(Value::as_str) else {
            return false;
        };
        let is_it = |value: &Value| Some(value) == Some(structured) || Some(value) == wrapped;
        wrapped.and_then(Value::as_str) == Some(said)
            || serde_json::from_str(said).is_ok_and(|value: Value| is_it(&value))
    })
}

/// A content block that is not text.
fn describe(content: &Value) -> String {
    let field = |name: &str| content.get(name).and_then(Value::as_str);
    let kind = field("type").unwrap_or("unknown");
    match (field("mimeType"), field("data"), field("uri")) {
        (mime, Some(data), _) => format!(
            "({kind}, {}, {} base64 characters)",
            mime.unwrap_or("no MIME type"),
            data.len()
        ),
        (_, None, Some(uri)) => format!("({kind} {uri})"),
        _ => content.to_string(),
    }
}

/// One labelled block; further lines are indented below the first.
fn block(text: &mut String, label: &str, said: &str) {
    let mut said = visible_block(said).into_owned();
    if let Some((end, _)) = said.char_indices().nth(LONGEST) {
        let length = said.len();
        said.truncate(end);
        let _ = write!(said, "… ({length} bytes in all)");
    }
    let said = said.trim_end().replace('\n', "\n    ");
    let _ = writeln!(text, "{label}: {said}");
}
