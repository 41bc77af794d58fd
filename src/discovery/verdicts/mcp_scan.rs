//! The JSON of mcp-scan: per client configuration, its servers with what they offer, and issues that refer to that by number.

use std::collections::HashMap;

use serde_json::Value;

use super::said::{Detector, Run, ScanStatus, Subject, Unscanned, Verdict, add};
use crate::discovery::fields::Fields;

const DETECTOR: &str = "mcp-scan";

/// What a server may offer, by kind and key, in the order in which issues count it.
const OFFERED: [(&str, &str); 4] = [
    ("prompt", "prompts"),
    ("resource", "resources"),
    ("resource_template", "resource_templates"),
    ("tool", "tools"),
];

/// Reads `{PATH: {servers: [{name, signature: {tools: […]}, error}], issues: [{code, message, reference: [SERVER, NUMBER]}], error}}`.
pub(super) fn read(top: &Fields<'_>) -> Run {
    let mut reading = Reading::default();
    if !top.value.is_object() {
        top.refuse("the output of mcp-scan is an object");
        return reading.run;
    }
    // It is known even where it could scan nothing.
    reading.run.detectors.push(Detector::named(DETECTOR));
    for (_, scanned) in top.members() {
        reading.path(&scanned);
    }
    reading.run
}

/// What is read so far.
#[derive(Default)]
struct Reading {
    run: Run,
    at: HashMap<String, usize>,
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

impl Reading {
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

    fn path(&mut self, scanned: &Fields<'_>) {
        let failed = error(scanned.value);
        let Some(servers) = scanned.optional_list("servers") else {
            // A client that nobody uses here has no configuration, and nothing to scan.
            let is_failure =
                scanned.value.pointer("/error/is_failure") != Some(&Value::Bool(false));
            let is_missing = scanned.get("servers").is_none_or(Value::is_null);
            if is_failure && is_missing {
                let why = failed.as_deref().unwrap_or("its servers were not read");
                self.fail(None, &[], why);
            }
            return;
        };
        let servers = servers.items();
        let servers = servers.iter().map(|it| self.server(it, failed.as_deref()));
        let servers: Vec<Server<'_>> = servers.collect();
        if let Some(why) = &failed {
            self.fail(None, &[], why);
        }
        let issues = scanned.optional_list("issues").map(|it| it.items());
        for issue in issues.unwrap_or_default() {
            self.issue(&issue, &servers);
        }
    }

    fn server<'a>(&mut self, server: &Fields<'a>, failed: Option<&str>) -> Server<'a> {
        let name = server.text("name").unwrap_or_default();
        let why = failed.map(str::to_owned).or_else(|| error(server.value));
        let mut offers = Vec::new();
        let signature = server.member("signature").filter(|it| !it.value.is_null());
        let is_known = signature.as_ref().is_some_and(|it| it.value.is_object());
        match &signature {
            Some(it) if !is_known => it.refuse("`signature` must be an object"),
            _ => {}
        }
        for (kind, key) in OFFERED {
            let items = signature.as_ref().and_then(|it| it.optional_list(key));
            for item in items.map(|it| it.items()).unwrap_or_default() {
                // What has no name has its number all the same.
                let own = item.text("name").unwrap_or_default();
                offers.push(Subject::of(Some(name), kind, own));
            }
        }
        match why {
            Some(why) => self.fail(Some(name), &offers, &why),
            None if is_known => self.say(&offers, &Verdict::of(DETECTOR, false)),
            None => self.fail(Some(name), &[], "nothing is known of what it offers"),
        }
        Server { name, offers }
    }

    fn issue(&mut self, issue: &Fields<'_>, servers: &[Server<'_>]) {
        let Some(code) = issue.text("code") else {
            return;
        };
        let message = issue.optional_text("message").unwrap_or(code);
        let Some(reference) = reference(issue.get("reference")) else {
            let problem =
                "`reference` must be the numbers of a server and of what it offers, or null";
            return issue.error("reference", problem);
        };
        // Codes with an X tell that something could not be scanned.
        let is_failure = code.starts_with('X');
        let flagged = Verdict::of(DETECTOR, true);
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
