//! A stand-in for the API of a language model: a script answers, in any of four wire formats.
//!
//! | file | what happens there |
//! |---|---|
//! | `script` | which interaction answers a request, and whether the request is as expected |
//! | `dialect` | what a wire format has to know; `anthropic`, `openai_chat`, `openai_responses` and `ollama` know it |
//! | `http` | the front |

mod anthropic;
mod dialect;
mod http;
mod ollama;
mod openai_chat;
mod openai_responses;
mod script;

use std::fs::File;
use std::io;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use self::script::LeftOver;
use self::script::Script;
use crate::model::interactions::LlmInteraction;
use crate::model::redaction::Redaction;

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
        let Self {
            script,
            log,
            redaction,
        } = self;
        http::serve(script, log, redaction, listener, max_body, any_host, stop).await
    }
}
