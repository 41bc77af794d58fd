//! Recorded streams of real agents, summarised in lines, and streams of arbitrary text.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::events::{AgentEvent, Stream, Verdict};
use super::stream;
use crate::agent::command::format;
use crate::model::{Catalogue, Outcome, ServerCatalogue, Tool};
use crate::run::Stop;
use crate::scenario_file::agent::CommandFormat;

const FORMATS: [CommandFormat; 3] = [
    CommandFormat::Claude,
    CommandFormat::Codex,
    CommandFormat::Gemini,
];

fn reader(format: CommandFormat) -> Box<dyn Stream> {
    let tool = |name: &str| Tool {
        served: json!({ "name": name }).as_object().cloned().unwrap(),
    };
    let catalogue = Catalogue {
        servers: vec![ServerCatalogue {
            server: "weather".to_owned(),
            tools: vec![tool("forecast"), tool("set_alarm"), tool("plain")],
            ..ServerCatalogue::default()
        }],
        ..Catalogue::default()
    };
    stream(format, format::names(format, &catalogue))
}

/// The events of a stream, a line each, and how it ends.
fn summary(format: CommandFormat, printed: &str) -> String {
    let mut reader = reader(format);
    let mut events: Vec<AgentEvent> = printed.lines().flat_map(|it| reader.read(it)).collect();
    events.extend(reader.end());
    let mut lines: Vec<String> = events.iter().map(line).collect();
    lines.push(match reader.verdict() {
        Verdict::Done => "done".to_owned(),
        Verdict::Stopped(stop) => format!("stopped: {}", stopped(&stop)),
        Verdict::CutOff(error) => format!("cut off: {error} {:?}", error.details),
    });
    lines.join("\n")
}

fn line(event: &AgentEvent) -> String {
    match event {
        AgentEvent::Assistant(text) => format!("says {text:?}"),
        AgentEvent::Call {
            id,
            name,
            arguments,
        } => format!("calls {name} {} as {id}", json!(arguments)),
        AgentEvent::Answered { id, outcome } => {
            let failed = if outcome.is_failure() { " failed" } else { "" };
            let Outcome::Answer(answer) = outcome else {
                unreachable!("streams tell what the agent was told")
            };
            format!("{id} was answered{failed}: {:?}", answer.text())
        }
        AgentEvent::OwnTools(names) => format!("has tools of its own: {}", names.join(", ")),
        AgentEvent::Begins => "asks its model".to_owned(),
        AgentEvent::Retry {
            status,
            problem,
            pause,
        } => format!("asks its model again: {status:?} {problem:?} {pause:?}"),
        AgentEvent::Request { id, answer } => {
            let usage = answer.usage;
            format!(
                "was answered by its model: {id} {:?} {:?}, {:?} in, {:?} out, {:?} read, {:?} written",
                answer.model,
                answer.stop_reason,
                usage.input,
                usage.output,
                usage.cache_read,
                usage.cache_write
            )
        }
        AgentEvent::Total { usage, cost } => {
            format!("took {:?} tokens for {cost:?}", usage.total())
        }
        AgentEvent::Note(note) => format!("note: {note}"),
        AgentEvent::Stop(stop) => format!("must stop: {}", stopped(stop)),
    }
}

fn stopped(stop: &Stop) -> String {
    match stop {
        Stop::Error(error) => format!("error: {error}"),
        Stop::LimitReached { message } => format!("limit: {message}"),
        Stop::Blocked { message } => format!("blocked: {message}"),
    }
}

fn recorded() -> Vec<(String, CommandFormat, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agent/streams");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().flatten().collect();
    files.sort_by_key(fs::DirEntry::file_name);
    let streams = files.iter().map(fs::DirEntry::path);
    streams
        .filter(|it| it.extension().is_some_and(|it| it == "jsonl"))
        .map(|it| {
            let name = it.file_stem().unwrap().to_str().unwrap().to_owned();
            let format = match name.split_once('-').unwrap().0 {
                "claude" => CommandFormat::Claude,
                "codex" => CommandFormat::Codex,
                _ => CommandFormat::Gemini,
            };
            (name, format, fs::read_to_string(it).unwrap())
        })
        .collect()
}

#[test]
fn recorded_streams_are_understood() {
    let streams = recorded();
    assert!(streams.len() > 10);
    for (name, format, printed) in streams {
        insta::with_settings!({
            snapshot_path => "../../../../tests/fixtures/agent/streams",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, { insta::assert_snapshot!(name, summary(format, &printed)) });
    }
}

/// Members that the formats look at, with values they may not expect.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "assistant|result|system|init|success|error|tool_use|text|user|item.completed|mcp_tool_call|error_max_turns|stream_event|message_start|message_delta|message|tool_result|weather|.{0,6}"
            .prop_map(Value::from),
    ];
    let key = "type|subtype|message|content|id|usage|result|event|item|name|input|error|stats|models|modelUsage|permission_denials|tool_name|mcp_servers|status|delta|role|is_error|input_tokens|retry_delay_ms|.{0,3}";
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..8)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_that_is_printed_makes_a_reader_panic(lines in prop::collection::vec(prop_oneof![anything().prop_map(|it| it.to_string()), ".{0,40}"], 0..12)) {
        for format in FORMATS {
            summary(format, &lines.join("\n"));
        }
    }

    #[test]
    fn a_stream_that_is_cut_anywhere_is_not_done(at in any::<prop::sample::Index>(), which in any::<prop::sample::Index>()) {
        let streams = recorded();
        let (name, format, printed) = &streams[which.index(streams.len())];
        let whole = printed.trim_end();
        let mut at = at.index(whole.len());
        while !whole.is_char_boundary(at) {
            at -= 1;
        }
        let summary = summary(*format, &whole[..at]);
        prop_assert!(!summary.ends_with("\ndone"), "{name} at {at}: {summary}");
    }

    #[test]
    fn unknown_events_and_noise_change_nothing(at in any::<prop::sample::Index>(), which in any::<prop::sample::Index>(), noise in "[a-zA-Z ]{0,30}") {
        let streams = recorded();
        let (name, format, printed) = &streams[which.index(streams.len())];
        let mut lines: Vec<&str> = printed.lines().collect();
        let expected = summary(*format, printed);
        let at = at.index(lines.len());
        lines.insert(at, r#"{"type":"made_up","message":{"content":[{"type":"text","text":"x"}]},"delta":true}"#);
        lines.insert(at, &noise);
        prop_assert_eq!(summary(*format, &lines.join("\n")), expected, "{}", name);
    }
}
