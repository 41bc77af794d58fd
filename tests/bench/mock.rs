//! How many tool calls a second the mock server answers, beside rmcp's own bare server with one tool in the same run: over HTTP with 16
//! connections kept open, and over pipes with 16 calls under way. Also how long it takes to the first answer, and its memory.
//!
//! `cargo bench --bench mock`

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on should stop here"
)]
#![expect(
    clippy::print_stdout,
    reason = "its figures are what a benchmark is for"
)]

#[path = "mock/rmcp_server.rs"]
mod rmcp_server;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const AT_ONCE: usize = 16;
const CALLS: usize = 16_000;
const ROUNDS: usize = 3;

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    if mode.starts_with("--rmcp") {
        return rmcp_server::serve(&mode);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mock.yaml");
    std::fs::write(
        &file,
        "tools: [{ name: echo, responses: [{ content: '{{args.message}}' }] }]\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let ours = PathBuf::from(env!("CARGO_BIN_EXE_mcp-eval"));
    let theirs = std::env::current_exe().unwrap();
    let servers: [(&str, &PathBuf, Vec<&str>, Vec<&str>); 3] = [
        (
            "mock",
            &ours,
            vec!["mock", file, "--transport", "http"],
            vec!["mock", file],
        ),
        (
            "rmcp, sessions and events",
            &theirs,
            vec!["--rmcp-http-sessions"],
            vec!["--rmcp-stdio"],
        ),
        (
            "rmcp, JSON without sessions",
            &theirs,
            vec!["--rmcp-http-json"],
            vec![],
        ),
    ];
    for (transport, is_http) in [("HTTP", true), ("stdio", false)] {
        let mut best = vec![(0.0, Duration::ZERO); servers.len()];
        for _ in 0..ROUNDS {
            for (place, (_, program, http, stdio)) in servers.iter().enumerate() {
                let arguments = if is_http { http } else { stdio };
                if arguments.is_empty() {
                    continue;
                }
                let measured = if is_http {
                    over_http(program, arguments)
                } else {
                    over_pipes(program, arguments)
                };
                if measured.0 > best[place].0 {
                    best[place] = measured;
                }
            }
        }
        for ((name, ..), (rate, p99)) in servers.iter().zip(&best) {
            if *rate > 0.0 {
                let ratio = best[0].0 / rate;
                let name = if is_http {
                    name
                } else {
                    name.split(',').next().unwrap()
                };
                println!(
                    "{transport}: {name}: {rate:.0} calls/s, p99 {p99:?} (mock is at {ratio:.2} of it)"
                );
            }
        }
    }
    let first = (0..10).map(|_| first_answer(&ours, file)).min().unwrap();
    println!("from start to first answer: {first:?}");
    let (mut child, url) = start_http(&ours, &["mock", file, "--transport", "http"]);
    load(&url, 2_000);
    println!("memory after 2000 calls: {} MB", memory(&child) / 1024);
    let _ = child.kill();
    let _ = child.wait();
}

fn call(id: usize) -> String {
    let params = json!({ "name": "echo", "arguments": { "message": "hello" } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

fn hello() -> String {
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string()
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn start(program: &PathBuf, arguments: &[&str]) -> Child {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// A server with its address, which is the first line it prints.
fn start_http(program: &PathBuf, arguments: &[&str]) -> (Child, String) {
    let mut child = start(program, arguments);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    (child, ready["url"].as_str().unwrap().to_owned())
}

/// Calls a second, and the time within which 99 of 100 calls are answered.
fn over_http(program: &PathBuf, arguments: &[&str]) -> (f64, Duration) {
    let (mut child, url) = start_http(program, arguments);
    load(&url, 1_000);
    let measured = load(&url, CALLS);
    let _ = child.kill();
    let _ = child.wait();
    measured
}

fn load(url: &str, calls: usize) -> (f64, Duration) {
    let started = Instant::now();
    let clients: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let url = url.to_owned();
            std::thread::spawn(move || {
                let mut client = HttpClient::connect(&url);
                (0..calls / AT_ONCE)
                    .map(|number| client.call(number))
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    let times: Vec<Duration> = clients
        .into_iter()
        .flat_map(|it| it.join().unwrap())
        .collect();
    summary(times, started.elapsed())
}

fn summary(mut times: Vec<Duration>, took: Duration) -> (f64, Duration) {
    #[expect(clippy::cast_precision_loss, reason = "a few thousand calls")]
    let rate = times.len() as f64 / took.as_secs_f64();
    times.sort_unstable();
    (rate, times[times.len() * 99 / 100])
}

/// One connection that is kept open.
struct HttpClient {
    stream: BufReader<TcpStream>,
    session: String,
}

impl HttpClient {
    fn connect(url: &str) -> Self {
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = Self {
            stream: BufReader::new(stream),
            session: String::new(),
        };
        let (headers, _) = client.post(&hello());
        let session = headers
            .lines()
            .find_map(|it| it.strip_prefix("mcp-session-id: "));
        client.session = session
            .map(|it| format!("Mcp-Session-Id: {}\r\n", it.trim()))
            .unwrap_or_default();
        client.post(INITIALIZED);
        client
    }

    fn call(&mut self, number: usize) -> Duration {
        let started = Instant::now();
        let (_, body) = self.post(&call(number));
        assert!(body.contains("hello"), "{body}");
        started.elapsed()
    }

    fn post(&mut self, body: &str) -> (String, String) {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-06-18\r\n{}Content-Length: {}\r\n\r\n{body}",
            self.session,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let mut headers = String::new();
        while !headers.ends_with("\r\n\r\n") {
            assert!(
                self.stream.read_line(&mut headers).unwrap() > 0,
                "{headers}"
            );
        }
        let headers = headers.to_lowercase();
        let length = headers
            .lines()
            .find_map(|it| it.strip_prefix("content-length: "));
        let mut body = Vec::new();
        if let Some(length) = length {
            body.resize(length.trim().parse().unwrap(), 0);
            self.stream.read_exact(&mut body).unwrap();
        } else if headers.contains("chunked") {
            self.chunks(&mut body);
        }
        (headers, String::from_utf8(body).unwrap())
    }

    fn chunks(&mut self, body: &mut Vec<u8>) {
        loop {
            let mut size = String::new();
            self.stream.read_line(&mut size).unwrap();
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            let start = body.len();
            body.resize(start + size + 2, 0);
            self.stream.read_exact(&mut body[start..]).unwrap();
            body.truncate(start + size);
            if size == 0 {
                return;
            }
        }
    }
}

fn over_pipes(program: &PathBuf, arguments: &[&str]) -> (f64, Duration) {
    let mut child = start(program, arguments);
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    writeln!(input, "{}", hello()).unwrap();
    lines.next().unwrap().unwrap();
    writeln!(input, "{INITIALIZED}").unwrap();
    let mut sent = vec![Instant::now(); CALLS];
    let mut times = Vec::with_capacity(CALLS);
    let started = Instant::now();
    let mut ask = |id: usize, sent: &mut Vec<Instant>| {
        sent[id] = Instant::now();
        input
            .write_all(format!("{}\n", call(id)).as_bytes())
            .unwrap();
    };
    for id in 0..AT_ONCE {
        ask(id, &mut sent);
    }
    let mut next = AT_ONCE;
    while times.len() < CALLS {
        let line = lines.next().unwrap().unwrap();
        let reply: Value = serde_json::from_str(&line).unwrap();
        let id = usize::try_from(reply["id"].as_u64().unwrap()).unwrap();
        times.push(sent[id].elapsed());
        if next < CALLS {
            ask(next, &mut sent);
            next += 1;
        }
    }
    let measured = summary(times, started.elapsed());
    let _ = child.kill();
    let _ = child.wait();
    measured
}

fn first_answer(program: &PathBuf, file: &str) -> Duration {
    let started = Instant::now();
    let mut child = start(program, &["mock", file]);
    writeln!(child.stdin.as_mut().unwrap(), "{}", hello()).unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let took = started.elapsed();
    let _ = child.kill();
    let _ = child.wait();
    took
}

/// The most memory a process held, in KiB; 0 where the system does not say.
fn memory(child: &Child) -> u64 {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    line.and_then(|it| it.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
