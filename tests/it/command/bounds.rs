//! What a server says and nobody fetches is held by the gateway, up to a bound; answers always are.

use std::time::Duration;

use mcp_eval::mcp::{Launch, Target, open_gateway};
use mcp_eval::process::ChildCommand;
use mcp_eval::run::Tools;
use reqwest::{Client, Response};
use serde_json::{Value, json};

use crate::common::faulty_server;

/// How many messages may wait.
const BOUND: usize = 1024;
/// How many the server sends.
const SENT: usize = 3000;

/// A session with a talkative server behind the gateway.
struct Session {
    _gateway: Box<dyn Tools>,
    client: Client,
    url: String,
    id: String,
}

impl Session {
    async fn open(faults: &[String]) -> Self {
        let target = Target {
            name: "s".to_owned(),
            launch: Launch::Child(ChildCommand {
                program: faulty_server().into(),
                args: faults.iter().map(Into::into).collect(),
                env: Vec::new(),
                cwd: None,
            }),
            may_be_starting: false,
            connect_timeout: Duration::from_secs(30),
            tool_timeout: Duration::from_secs(30),
        };
        let gateway = open_gateway(&[target], None, None, None, &|_| ())
            .await
            .unwrap();
        let mut session = Self {
            client: crate::mock::http_client(),
            url: gateway.endpoints()[0].url.clone(),
            id: String::new(),
            _gateway: gateway,
        };
        let params = json!({ "protocolVersion": "2025-11-25" });
        let opened = session.post(0, "initialize", params).await;
        session.id = opened.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned();
        session
    }

    async fn post(&self, id: usize, method: &str, params: Value) -> Response {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let request = self.client.post(&self.url).json(&message);
        let request = request.header("Accept", "application/json, text/event-stream");
        let request = request.header("Mcp-Session-Id", &self.id);
        request.send().await.unwrap()
    }

    async fn call(&self, id: usize, arguments: Value) -> Response {
        let params =
            json!({ "name": "echo", "arguments": arguments, "_meta": { "progressToken": id } });
        self.post(id, "tools/call", params).await
    }

    async fn news(&self) -> Response {
        let request = self
            .client
            .get(&self.url)
            .header("Accept", "text/event-stream");
        let request = request.header("Mcp-Session-Id", &self.id);
        request.send().await.unwrap()
    }
}

/// Takes events until one is `last`, and no longer than our patience lasts.
async fn events(mut response: Response, last: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut events = Vec::new();
    let mut text = Vec::new();
    let reading = async {
        while let Some(piece) = response.chunk().await.unwrap() {
            text.extend_from_slice(&piece);
            while let Some(end) = text.windows(2).position(|it| it == b"\n\n") {
                let event: Vec<u8> = text.drain(..end + 2).collect();
                let event = String::from_utf8(event).unwrap();
                let data = event.lines().filter_map(|it| it.strip_prefix("data: "));
                let Ok(message) = serde_json::from_str(&data.collect::<String>()) else {
                    continue;
                };
                events.push(message);
                if events.last().is_some_and(&last) {
                    return;
                }
            }
        }
    };
    let read = tokio::time::timeout(Duration::from_secs(40), reading).await;
    assert!(read.is_ok(), "{} events, and not the last", events.len());
    events
}

fn number(message: &Value) -> usize {
    let number = message["params"]["data"]["n"].as_u64();
    usize::try_from(number.unwrap_or_else(|| panic!("{message}"))).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_comes_however_much_came_before_it() {
    // It is not known when the last of them has arrived.
    for patience in [3, 10, 30] {
        // More than pipes and sockets hold, and nobody reads.
        let session = Session::open(&[format!("talk={SENT}:0:20000")]).await;
        let response = session.call(1, json!({})).await;
        tokio::time::sleep(Duration::from_secs(patience)).await;
        let mut events = events(response, |it| it["id"] == 1).await;
        assert_eq!(events.pop().unwrap()["result"]["content"][0]["text"], "{}");
        let numbers: Vec<usize> = events.iter().map(number).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        assert!(numbers.len() >= BOUND - 1, "{} of {SENT}", numbers.len());
        if numbers.len() < SENT {
            return;
        }
    }
    panic!("all were held");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_what_belongs_to_no_request_the_latest_are_held() {
    // It is not known when the last of them has arrived.
    for patience in [1, 4, 16] {
        let session = Session::open(&[format!("talk=0:{SENT}:10")]).await;
        session.call(1, json!({})).await.bytes().await.unwrap();
        tokio::time::sleep(Duration::from_secs(patience)).await;
        let news = session.news().await;
        let news = events(news, |it| number(it) == SENT).await;
        let numbers: Vec<usize> = news.iter().map(number).collect();
        if numbers == (SENT - BOUND + 1..=SENT).collect::<Vec<_>>() {
            return;
        }
        assert!(
            patience < 16,
            "{} from {:?}",
            numbers.len(),
            numbers.first()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_goes_to_the_request_that_it_is_of() {
    let session = Session::open(&["reverse=2".to_owned(), "progress".to_owned()]).await;
    let calls = [session.call(7, json!({})), session.call(8, json!({}))];
    let answered = futures_util::future::join_all(calls).await;
    let mut progressed = 0;
    for response in answered {
        let messages = events(response, |it| it["id"].is_u64()).await;
        let id = messages.last().unwrap()["id"].clone();
        for progress in &messages[..messages.len() - 1] {
            assert_eq!(progress["params"]["progressToken"], id);
            progressed += 1;
        }
    }
    assert_eq!(progressed, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_at_a_time_listens_to_what_belongs_to_no_request() {
    let session = Session::open(&[]).await;
    let first = session.news().await;
    let _second = session.news().await;
    assert_eq!(events(first, |_| false).await, [] as [Value; 0]);
}
