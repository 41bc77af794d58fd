//! Faults: what goes wrong with an answer of a mock server, on purpose.

use std::time::Duration;

use schemars::{Schema, json_schema};

use crate::model::interactions::Fault;

use crate::scenario_file::decode::values::{Count, Wait};
use crate::scenario_file::decode::{Decode, NO_HINT, Named, choose, only_entry, schema, section};
use crate::scenario_file::yaml::node::{Content, Node};
use crate::scenario_file::yaml::source::Findings;

/// The faults that need no more words.
const PLAIN: [(&str, Fault); 10] = [
    ("invalid_json", Fault::InvalidJson),
    ("empty_body", Fault::EmptyBody),
    ("hang", Fault::Hang),
    ("disconnect", Fault::Disconnect),
    ("wrong_id", Fault::WrongId),
    ("duplicate_reply", Fault::DuplicateReply),
    ("vanish", Fault::Vanish),
    ("content_not_a_list", Fault::ContentNotAList),
    ("bad_item", Fault::BadItem),
    ("invalid_base64", Fault::InvalidBase64),
];

/// The largest reply that can be asked for, in bytes.
const MAX_OVERSIZED: i64 = 1024 * 1024 * 1024;

/// What goes wrong with an answer.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct FaultSection {
    name: &'static str,
    fault: Fault,
}

section! {
    /// An HTTP status instead of an answer.
    StatusSection {
        /// The status, such as 503.
        status: i64,
        /// Headers of the response, by name.
        headers: Option<Named<String>>,
        /// The body of the response.
        body: Option<String>,
    }
}

section! {
    /// An answer that comes a few bytes at a time.
    SlowSection {
        /// How many bytes come at once; 1 unless given.
        bytes: Option<Count>,
        /// How long each of them takes.
        every: Wait,
    }
}

impl Decode for FaultSection {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let valued = ["http_status", "slow_bytes", "oversized", "exit"];
        if !matches!(node.content, Content::Map(_)) {
            let words: Vec<&'static str> = PLAIN.iter().map(|it| it.0).chain(valued).collect();
            let name = choose(node, &words, findings)?;
            let Some((name, fault)) = PLAIN.iter().find(|it| it.0 == name) else {
                let message = format!("the fault `{name}` needs a value: `{{ {name}: … }}`");
                return findings.refuse(node.at, message, NO_HINT);
            };
            return Some(Self {
                name,
                fault: fault.clone(),
            });
        }
        let (name, value) = only_entry(node, &valued, findings)?;
        let fault = match name {
            "http_status" => status(value, findings)?,
            "slow_bytes" => slow(value, findings)?,
            "oversized" => Fault::Oversized(bytes(value, findings)?),
            _ => Fault::Exit(code(value, findings)?),
        };
        Some(Self { name, fault })
    }
}

fn status(node: &Node, findings: &mut Findings) -> Option<Fault> {
    let (status, headers, body) = match node.content {
        Content::Map(_) => {
            let section = StatusSection::decode(node, findings)?;
            let headers = section.headers.into_iter().flat_map(|it| it.0);
            let headers = headers.map(|(name, value)| (name.value, value)).collect();
            (section.status, headers, section.body.unwrap_or_default())
        }
        _ => (i64::decode(node, findings)?, Vec::new(), String::new()),
    };
    // A status below 200 would only announce the one that counts.
    let status = u16::try_from(status)
        .ok()
        .filter(|it| (200..=599).contains(it));
    if status.is_none() {
        findings.error(
            node.at,
            "an HTTP status is a number from 200 to 599",
            NO_HINT,
        );
    }
    Some(Fault::HttpStatus {
        status: status?,
        headers,
        body,
    })
}

fn slow(node: &Node, findings: &mut Findings) -> Option<Fault> {
    let (bytes, every): (usize, Duration) = match node.content {
        Content::Map(_) => {
            let section = SlowSection::decode(node, findings)?;
            let bytes = section.bytes.map_or(1, |it| it.0);
            (
                usize::try_from(bytes).unwrap_or(usize::MAX),
                section.every.0,
            )
        }
        _ => (1, Wait::decode(node, findings)?.0),
    };
    Some(Fault::SlowBytes { bytes, every })
}

fn bytes(node: &Node, findings: &mut Findings) -> Option<usize> {
    let bytes = i64::decode(node, findings)?;
    let fits = (1..=MAX_OVERSIZED).contains(&bytes);
    if !fits {
        let message =
            format!("expected a number of bytes from 1 to {MAX_OVERSIZED}, found {bytes}");
        findings.error(node.at, message, NO_HINT);
    }
    usize::try_from(bytes).ok().filter(|_| fits)
}

fn code(node: &Node, findings: &mut Findings) -> Option<u8> {
    let code = i64::decode(node, findings)?;
    let fits = u8::try_from(code).ok();
    if fits.is_none() {
        let message = format!("an exit code is a number from 0 to 255, found {code}");
        findings.error(node.at, message, NO_HINT);
    }
    fits
}

impl FaultSection {
    pub(in crate::scenario_file) fn name(&self) -> &'static str {
        self.name
    }

    pub(in crate::scenario_file) fn fault(&self) -> Fault {
        self.fault.clone()
    }

    /// Whether the declared answer goes out, in whatever shape.
    pub(in crate::scenario_file) fn carries_an_answer(&self) -> bool {
        matches!(
            self.fault,
            Fault::InvalidJson
                | Fault::SlowBytes { .. }
                | Fault::Disconnect
                | Fault::WrongId
                | Fault::DuplicateReply
                | Fault::Vanish
        )
    }
}

schema!(FaultSection as "Fault", |generator| {
    let words = PLAIN.map(|it| it.0);
    let one = |name: &str, description: &str, value: Schema| {
        json_schema!({
            "description": description,
            "type": "object",
            "properties": { name: value },
            "required": [name],
            "additionalProperties": false,
        })
    };
    let status = generator.subschema_for::<StatusSection>();
    let slow = generator.subschema_for::<SlowSection>();
    let wait = generator.subschema_for::<Wait>();
    json_schema!({
        "description": "What goes wrong with an answer.",
        "anyOf": [
            { "type": "string", "enum": words },
            one("http_status", "This HTTP status instead of an answer.", json_schema!({
                "anyOf": [{ "type": "integer", "minimum": 200, "maximum": 599 }, status],
            })),
            one("slow_bytes", "The answer comes a few bytes at a time; one by one when only the time is given.", json_schema!({
                "anyOf": [wait, slow],
            })),
            one("oversized", "An answer with a text of this many bytes.", json_schema!({
                "type": "integer", "minimum": 1, "maximum": MAX_OVERSIZED,
            })),
            one("exit", "The server's process ends with this code.", json_schema!({
                "type": "integer", "minimum": 0, "maximum": 255,
            })),
        ],
    })
});
