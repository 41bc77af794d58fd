//! A server over TLS whose certificate is its own authority.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use crate::common::{Project, Ran, ran, root};

/// An MCP server on a free port that lives as long as the test process.
fn serve() -> SocketAddr {
    let fixture = |name: &str| root().join("tests/fixtures/tls").join(name);
    let certificate = CertificateDer::from_pem_file(fixture("self_signed.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(fixture("self_signed.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = BufReader::new(StreamOwned::new(connection, stream.unwrap()));
            // One that is refused never asks.
            let Some(request) = read(&mut stream) else {
                continue;
            };
            let answer = answer(&request);
            let stream = stream.get_mut();
            let _ = stream.write_all(answer.as_bytes());
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    address
}

fn read(stream: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|it| *it > 0)?;
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(number) = line.strip_prefix("content-length:") {
            length = number.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).unwrap_or_default())
}

fn answer(request: &Value) -> String {
    let result = match request["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "tls", "version": "1" },
        }),
        Some("tools/list") => {
            json!({ "tools": [{ "name": "look", "inputSchema": { "type": "object" } }] })
        }
        Some("tools/call") => json!({ "content": [{ "type": "text", "text": "seen" }] }),
        _ => {
            return "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                .to_owned();
        }
    };
    let body = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn it_is_taken_when_it_is_the_very_one_that_is_named() {
    let address = serve();
    let project = Project::new();
    let url = format!("https://localhost:{}/mcp", address.port());
    let scenario = json!({
        "name": "s",
        "servers": { "s": { "url": url } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "look" }] },
        "connect_timeout": "3s",
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    let run = |trusted: Option<&str>| -> Ran {
        let mut command = project.command();
        if let Some(name) = trusted {
            let path = root().join("tests/fixtures/tls").join(name);
            command.env("SSL_CERT_FILE", path);
        }
        ran(command.arg("run"))
    };
    let taken = run(Some("self_signed.pem"));
    assert_eq!(taken.code, 0, "{taken:#?}");
    for trusted in [None, Some("stranger.pem")] {
        let refused = run(trusted);
        assert_eq!(refused.code, 3, "{refused:#?}");
        refused.says("certificate");
    }
}
