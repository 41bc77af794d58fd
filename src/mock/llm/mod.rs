//! A stand-in for the API of a language model: a script answers, in any of four wire formats.
//!
//! | file | what happens there |
//! |---|---|
//! | `script` | which interaction answers a request, and whether the request is as expected |
//! | `dialect` | what a wire format has to know; `anthropic`, `openai_chat`, `openai_responses` and `ollama` know it |

mod anthropic;
mod dialect;
mod ollama;
mod openai_chat;
mod openai_responses;
mod script;

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use axum::routing::post;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::dialect::Dialect;
use self::script::Script;
use super::http::cut;
use crate::http_server::{self, read_body, same_site};
use crate::json;
use crate::model::Redaction;
use crate::redact::{Redactor, Secrets};
use crate::scenario_file::mock::{LlmError, LlmInteraction, LlmReply, NEXT};

pub use self::script::LeftOver;

/// A stand-in, not yet served.
#[derive(Debug)]
pub struct MockLlm {
    script: Script,
    log: Option<File>,
    /// What is left out of the log.
    redaction: Redaction,
}

impl MockLlm {
    /// A stand-in that follows a script.
    ///
    /// # Errors
    ///
    /// A sentence when the script cannot be followed.
    pub fn new(interactions: &[LlmInteraction]) -> Result<Self, String> {
        Ok(Self {
            script: Script::new(interactions)?,
            log: None,
            redaction: Redaction::default(),
        })
    }

    /// From now on, requests are also written to a file, a line of JSON each: path, body without secrets, and the number of the
    /// interaction that answers.
    #[must_use]
    pub fn log_requests(self, file: File, redaction: Redaction) -> Self {
        Self {
            log: Some(file),
            redaction,
            ..self
        }
    }

    /// Answers requests until `stop` is cancelled; tells what of the script nobody has asked for.
    ///
    /// # Errors
    ///
    /// When no connection can be taken any more, or the log of requests is not complete.
    pub async fn serve(
        self,
        listener: TcpListener,
        max_body: usize,
        any_host: bool,
        stop: CancellationToken,
    ) -> io::Result<Vec<LeftOver>> {
        let front = Arc::new(Front {
            script: self.script,
            log: Mutex::new(self.log),
            redaction: self.redaction,
            failure: Mutex::default(),
            max_body,
            any_host,
            answers: AtomicU64::default(),
        });
        let route = |dialect: &'static dyn Dialect| {
            post(
                move |State(front): State<Arc<Front>>, uri: Uri, headers: HeaderMap, body: Body| async move {
                    answer(&front, dialect, &uri, &headers, body).await
                },
            )
        };
        let router = Router::new()
            .route("/v1/messages", route(&anthropic::Messages))
            .route("/v1/chat/completions", route(&openai_chat::ChatCompletions))
            .route("/v1/responses", route(&openai_responses::Responses))
            .route("/api/chat", route(&ollama::Chat))
            .with_state(Arc::clone(&front));
        http_server::serve(listener, router, &stop).await;
        let failure = front.failure.lock().take();
        if let Some(error) = failure {
            let message = format!("the log of requests is not complete: {error}");
            return Err(io::Error::other(message));
        }
        Ok(front.script.left_over())
    }
}

/// What every request needs.
struct Front {
    script: Script,
    log: Mutex<Option<File>>,
    /// What is left out of the log.
    redaction: Redaction,
    /// Why the log is not complete.
    failure: Mutex<Option<io::Error>>,
    /// The longest body taken, in bytes.
    max_body: usize,
    any_host: bool,
    /// How many answers were given, so that no two have the same ids.
    answers: AtomicU64,
}

async fn answer(
    front: &Front,
    dialect: &'static dyn Dialect,
    uri: &Uri,
    headers: &HeaderMap,
    body: Body,
) -> Response<Body> {
    let refuse = |status: u16, message: String| {
        let error = LlmError {
            status,
            code: None,
            message,
            retry_after: None,
        };
        json_response(status, &dialect.error(&error).to_string(), None)
    };
    if let Err(refusal) = same_site(headers, front.any_host) {
        return refuse(refusal.status.as_u16(), refusal.message);
    }
    let body = match read_body(body, front.max_body).await {
        Ok(body) => body,
        Err(refusal) => return refuse(refusal.status.as_u16(), refusal.message),
    };
    let body: Value = match serde_json::from_slice(&body) {
        Ok(body) => body,
        Err(error) => return refuse(400, format!("the body is not JSON: {error}")),
    };
    let asked = dialect.asked(&body);
    let found = dialect
        .check(headers, &body)
        .and_then(|()| front.script.answer(&asked, headers, &body));
    front.log(uri, &body, found.as_ref().ok().map(|it| it.number));
    let interaction = match found {
        Ok(interaction) => &interaction.declared,
        Err(problem) => return refuse(400, problem),
    };
    if let Some(delay) = interaction.delay {
        tokio::time::sleep(delay).await;
    }
    match &interaction.reply {
        LlmReply::Answer(said) => {
            let number = front.answers.fetch_add(1, Ordering::Relaxed) + 1;
            let mut answer = dialect.answer(said, &asked, number);
            // Only Ollama streams by default, and only Ollama has this path.
            let streams = body.get("stream").and_then(Value::as_bool);
            if streams.unwrap_or(uri.path() == "/api/chat") {
                let (text, kind) = dialect.stream(&answer);
                return response(200, kind, Body::from(text), None);
            }
            if let Some(next) = front.script.next(&asked) {
                answer[NEXT] = json!(next);
            }
            json_response(200, &answer.to_string(), None)
        }
        LlmReply::Error(error) => json_response(
            error.status,
            &dialect.error(error).to_string(),
            error.retry_after,
        ),
        LlmReply::Cut => {
            let half = Body::from_stream(cut("{\"id\": \"half an ans".to_owned()));
            response(200, "application/json", half, None)
        }
        LlmReply::Hang => std::future::pending().await,
        LlmReply::InvalidJson => json_response(200, "{\"id\": \"half an ans", None),
    }
}

impl Front {
    /// Writes a line about a request, if there is a log.
    fn log(&self, uri: &Uri, body: &Value, interaction: Option<usize>) {
        let mut log = self.log.lock();
        let Some(file) = log.as_mut() else { return };
        let redactor = Redactor::new(&Secrets::of_environment(), &self.redaction);
        let body = redactor.value(body.clone()).into_inner();
        let line = json!({
            "time": Timestamp::now().to_string(),
            "path": uri.path(),
            "interaction": interaction,
            "body": body,
        });
        if let Err(error) = file.write_all(json::escaped(format!("{line}\n")).as_bytes()) {
            *self.failure.lock() = Some(error);
            *log = None;
        }
    }
}

fn json_response(status: u16, body: &str, retry_after: Option<f64>) -> Response<Body> {
    response(
        status,
        "application/json",
        Body::from(body.to_owned()),
        retry_after,
    )
}

fn response(status: u16, kind: &str, body: Body, retry_after: Option<f64>) -> Response<Body> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, kind);
    if let Some(seconds) = retry_after {
        response = response.header(header::RETRY_AFTER, seconds.to_string());
    }
    response.body(body).unwrap_or_default()
}
