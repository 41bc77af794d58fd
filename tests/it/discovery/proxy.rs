//! A stand-in for the REST API of a proxy, over real HTTP.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// A request, as far as a proxy cares.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) path: String,
    /// What stands behind `q=`, decoded.
    pub(super) query: String,
    pub(super) limit: usize,
    pub(super) key: Option<String>,
}

type Answers = dyn Fn(&Asked, usize) -> (u16, String) + Send + Sync;

/// A server that lives as long as its test.
pub(super) struct Proxy {
    pub(super) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Proxy {
    /// A server that answers each request, the number of which counts from 0. A status of 0 closes the connection without an answer.
    pub(super) fn new(
        answers: impl Fn(&Asked, usize) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let seen = Arc::clone(&asked);
        let answers: Arc<Answers> = Arc::new(answers);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (seen, answers) = (Arc::clone(&seen), Arc::clone(&answers));
                let stream = stream.unwrap();
                thread::spawn(move || serve(stream, &seen, &*answers));
            }
        });
        Self { url, asked }
    }

    /// A proxy with a catalogue, that finds for each query what is listed.
    pub(super) fn finding(
        tools: &[&str],
        found: &'static [(&'static str, &'static [&'static str])],
    ) -> Self {
        let tools = catalogue(tools);
        Self::new(move |asked, _| match asked.path.as_str() {
            "/api/v1/tools" => (200, tools.clone()),
            "/api/v1/index/search" => {
                let ids = found.iter().find(|(query, _)| *query == asked.query);
                (200, results(ids.map_or(&[][..], |it| it.1), asked.limit))
            }
            _ => (404, "{}".to_owned()),
        })
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// The answer to `GET /api/v1/tools`.
pub(super) fn catalogue(ids: &[&str]) -> String {
    let tools = ids.iter().map(|id| {
        let (server, name) = id.split_once(':').unwrap();
        json!({ "server_name": server, "name": name, "description": format!("does {name}") })
    });
    let tools: Vec<Value> = tools.collect();
    json!({ "success": true, "data": { "tools": tools } }).to_string()
}

/// The answer to a search that found these, each with its score behind a `=` where it has one.
pub(super) fn results(ids: &[&str], limit: usize) -> String {
    let results = ids.iter().take(limit).map(|it| {
        let (id, score) = it.split_once('=').unwrap_or((it, "1.0"));
        let (server, name) = id.split_once(':').unwrap();
        let score: f64 = score.parse().unwrap();
        json!({ "tool": { "server_name": server, "name": name }, "score": score })
    });
    let results: Vec<Value> = results.collect();
    json!({ "success": true, "data": { "results": results, "total": results.len() } }).to_string()
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Asked>>, answers: &Answers) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut key = None;
        loop {
            let mut header = String::new();
            if reader.read_line(&mut header).unwrap_or(0) == 0 || header.trim().is_empty() {
                break;
            }
            let (name, value) = header.split_once(':').unwrap_or_default();
            if name.eq_ignore_ascii_case("x-api-key") {
                key = Some(value.trim().to_owned());
            }
        }
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let part = |name: &str| {
            let parts = query.split('&').filter_map(|it| it.split_once('='));
            let mut found = parts.filter(|(key, _)| *key == name);
            found
                .next()
                .map(|(_, value)| decoded(value))
                .unwrap_or_default()
        };
        let asked = Asked {
            path: path.to_owned(),
            query: part("q"),
            limit: part("limit").parse().unwrap_or(0),
            key,
        };
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(asked.clone());
            seen.len() - 1
        };
        let (status, body) = answers(&asked, number);
        if status == 0 {
            return;
        }
        let reply = format!(
            "HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        if stream.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            other => other,
        });
    }
    String::from_utf8(bytes).unwrap()
}
