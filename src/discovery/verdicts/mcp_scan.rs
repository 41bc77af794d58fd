//! The JSON of mcp-scan: per client configuration, its servers with what they offer, and issues that refer to that by number.

use std::collections::HashMap;

use serde_json::Value;

use super::said::{Detector, Run, ScanStatus, Subject, Unscanned, Verdict, add};
use crate::discovery::fields::Fields;
use crate::discovery::places::{Document, part};
use crate::scenario_file::Finding;

const DETECTOR: &str = "mcp-scan";

/// What a server may offer, by kind and key, in the order in which issues count it.
const OFFERED: [(&str, &str); 4] = [
    ("prompt", "prompts"),
    ("resource", "resources"),
    ("resource_template", "resource_templates"),
    ("tool", "tools"),
];

/// Reads `{PATH: {servers: [{name, signature: {tools: […]}, error}], issues: [{code, message, reference: [SERVER, NUMBER]}], error}}`.
pub(super) fn read(document: &Document, findings: &mut Vec<Finding>) -> Run {
    let mut reading = Reading {
        document,
        run: Run::default(),
        at: HashMap::new(),
        findings,
    };
    match document.value.as_object() {
        Some(paths) => {
            // It is known even where it could scan nothing.
            reading.run.detectors.push(Detector {
                name: DETECTOR.to_owned(),
                ..Detector::default()
            });
            for (path, scanned) in paths {
                reading.path(&part(path), scanned);
            }
        }
        None => reading.wrong("", "the output of mcp-scan is an object"),
    }
    reading.run
}

/// What is read so far.
struct Reading<'a> {
    document: &'a Document,
    run: Run,
    at: HashMap<String, usize>,
    findings: &'a mut Vec<Finding>,
}

/// A server and what it offers.
struct Server<'a> {
    name: &'a str,
    offers: Vec<Subject>,
}

/// What an issue refers to.
enum Reference {
    Nothing,
    Server(usize),
    Offered(usize, usize),
}

impl<'a> Reading<'a> {
    fn wrong(&mut self, pointer: &str, problem: impl AsRef<str>) {
        self.findings.push(self.document.error(pointer, problem));
    }

    fn say(&mut self, subjects: &[Subject], verdict: &Verdict) {
        for subject in subjects {
            add(&mut self.run, &mut self.at, subject, verdict.clone());
        }
    }

    /// What could not be scanned: those of its subjects that are known, and whatever else it may have.
    fn fail(&mut self, server: Option<&str>, subjects: &[Subject], why: &str) {
        let verdict = Verdict::none(DETECTOR, ScanStatus::Error, why);
        self.say(subjects, &verdict);
        self.run.unscanned.push(Unscanned {
            server: server.map(str::to_owned),
            verdict,
        });
    }

    fn path(&mut self, pointer: &str, scanned: &'a Value) {
        let failed = error(scanned);
        let servers = match scanned.get("servers") {
            Some(Value::Array(servers)) => servers,
            None | Some(Value::Null) => {
                // A client that nobody uses here has no configuration, and nothing to scan.
                let is_failure = scanned.pointer("/error/is_failure") != Some(&Value::Bool(false));
                if is_failure {
                    let why = failed.as_deref().unwrap_or("its servers were not read");
                    self.fail(None, &[], why);
                }
                return;
            }
            Some(_) => {
                return self.wrong(&format!("{pointer}/servers"), "`servers` must be a list");
            }
        };
        let mut read = Vec::with_capacity(servers.len());
        for (index, server) in servers.iter().enumerate() {
            let here = format!("{pointer}/servers{}", part(index));
            read.push(self.server(&here, server, failed.as_deref()));
        }
        if let Some(why) = &failed {
            self.fail(None, &[], why);
        }
        match scanned.get("issues") {
            None | Some(Value::Null) => {}
            Some(Value::Array(issues)) => {
                for (index, issue) in issues.iter().enumerate() {
                    let here = format!("{pointer}/issues{}", part(index));
                    self.issue(&here, issue, &read);
                }
            }
            Some(_) => self.wrong(&format!("{pointer}/issues"), "`issues` must be a list"),
        }
    }

    fn server(&mut self, pointer: &str, server: &'a Value, failed: Option<&str>) -> Server<'a> {
        let fields = Fields::new(self.document, server);
        let name = fields.text(pointer, "name", self.findings);
        let name = name.unwrap_or_default();
        let why = failed.map(str::to_owned).or_else(|| error(server));
        let mut offers = Vec::new();
        let is_known = match server.get("signature") {
            None | Some(Value::Null) => false,
            Some(Value::Object(signature)) => {
                for (kind, key) in OFFERED {
                    let here = format!("{pointer}/signature/{key}");
                    let items = match signature.get(key) {
                        None | Some(Value::Null) => continue,
                        Some(Value::Array(items)) => items,
                        Some(_) => {
                            self.wrong(&here, format!("`{key}` must be a list"));
                            continue;
                        }
                    };
                    for (index, item) in items.iter().enumerate() {
                        let here = format!("{here}{}", part(index));
                        let fields = Fields::new(self.document, item);
                        // What has no name has its number all the same.
                        let own = fields.text(&here, "name", self.findings);
                        offers.push(Subject::of(Some(name), kind, own.unwrap_or_default()));
                    }
                }
                true
            }
            Some(_) => {
                self.wrong(
                    &format!("{pointer}/signature"),
                    "`signature` must be an object",
                );
                false
            }
        };
        match why {
            Some(why) => self.fail(Some(name), &offers, &why),
            None if is_known => self.say(
                &offers,
                &Verdict {
                    detector: DETECTOR.to_owned(),
                    ..Verdict::default()
                },
            ),
            None => self.fail(Some(name), &[], "nothing is known of what it offers"),
        }
        Server { name, offers }
    }

    fn issue(&mut self, pointer: &str, issue: &Value, servers: &[Server<'_>]) {
        let fields = Fields::new(self.document, issue);
        let Some(code) = fields.text(pointer, "code", self.findings) else {
            return;
        };
        let message = fields.optional_text(pointer, "message", self.findings);
        let message = message.unwrap_or(code);
        let Some(reference) = reference(issue.get("reference")) else {
            let problem =
                "`reference` must be the numbers of a server and of what it offers, or null";
            return self.wrong(&format!("{pointer}/reference"), problem);
        };
        // Codes with an X tell that something could not be scanned.
        let is_failure = code.starts_with('X');
        let flagged = Verdict {
            detector: DETECTOR.to_owned(),
            flagged: true,
            ..Verdict::default()
        };
        let of = |number: usize, all: usize| {
            format!("{code} refers to number {number}, counted from 0, of {all}: {message}")
        };
        match reference {
            // What is so of all servers together is no verdict on any tool.
            Reference::Nothing if !is_failure => {}
            Reference::Nothing => self.fail_all(servers, message),
            Reference::Server(at) | Reference::Offered(at, _) if at >= servers.len() => {
                self.fail_all(servers, &of(at, servers.len()));
            }
            Reference::Server(at) if is_failure => {
                self.fail(Some(servers[at].name), &servers[at].offers, message);
            }
            Reference::Server(at) => self.say(&servers[at].offers, &flagged),
            Reference::Offered(at, number) => {
                let Server { name, offers } = &servers[at];
                match offers.get(number) {
                    None => self.fail(Some(name), offers, &of(number, offers.len())),
                    Some(it) if is_failure => {
                        let none = Verdict::none(DETECTOR, ScanStatus::Error, message);
                        self.say(std::slice::from_ref(it), &none);
                    }
                    Some(it) => self.say(std::slice::from_ref(it), &flagged),
                }
            }
        }
    }

    fn fail_all(&mut self, servers: &[Server<'_>], why: &str) {
        for server in servers {
            self.fail(Some(server.name), &server.offers, why);
        }
        self.fail(None, &[], why);
    }
}

/// What an issue refers to; `None` where it is written otherwise.
fn reference(value: Option<&Value>) -> Option<Reference> {
    let number = |it: &Value| usize::try_from(it.as_u64()?).ok();
    match value {
        None | Some(Value::Null) => Some(Reference::Nothing),
        Some(Value::Array(parts)) => match &parts[..] {
            [server] | [server, Value::Null] => number(server).map(Reference::Server),
            [server, offered] => Some(Reference::Offered(number(server)?, number(offered)?)),
            _ => None,
        },
        Some(_) => None,
    }
}

fn error(of: &Value) -> Option<String> {
    match of.get("error") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => {
            let texts = ["message", "exception"].iter();
            let texts = texts.filter_map(|it| other.get(it)?.as_str());
            let message = texts.map(str::trim).find(|it| !it.is_empty());
            Some(message.map_or_else(|| other.to_string(), str::to_owned))
        }
    }
}
