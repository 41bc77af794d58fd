//! Asks an API over HTTP: again where that may help, and with every attempt in the record of whoever asks.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client as Http, Response};
use serde_json::Value;
use uuid::Uuid;

use super::errors::{ApiError, Asked, Asker};
use super::wire::{Address, Wire, address};
use super::{anthropic, ollama, openai_chat, openai_responses};
use crate::http_client::{self, retry_after};
use crate::model::{Trouble, Unanswered};
use crate::scenario_file::agent::{ModelAgent, ModelApi};
use crate::text::beginning;

/// How often a request is made before it is given up.
const ATTEMPTS: u32 = 5;
/// The longest pause after the first attempt; that of each one after is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause, and the longest that the API may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The most a response may hold, in bytes.
const LONGEST_BODY: usize = 64 * 1024 * 1024;

/// An API that can be asked.
pub(crate) struct Client {
    http: Http,
    pub(crate) address: Address,
    headers: HeaderMap,
    asker: Asker,
    timeout: Duration,
    model: String,
    /// Where the key comes from.
    key_env: Option<String>,
}

/// A key, and where it comes from.
#[derive(Clone)]
pub struct Key {
    /// The environment variable, or the name by which it was given.
    pub env: String,
    pub value: String,
}

/// Who keeps the record of the attempts that a request takes.
pub(crate) trait Attempts: Send {
    /// An attempt begins.
    fn begun(&mut self);

    /// How it ended, and the pause after which there will be another.
    fn ended(&mut self, status: Option<u16>, problem: Option<String>, pause: Option<Duration>);
}

/// Why an attempt gave no answer.
struct Failed {
    status: Option<u16>,
    /// For the record.
    problem: String,
    /// For the user, when it was the last attempt.
    error: Unanswered,
    /// Whether another attempt may help.
    is_passing: bool,
    /// How long the API wants to be left alone.
    retry_after: Option<Duration>,
}

/// The environment variable that holds the key for a model: the one its settings name, else the vendor's usual one at the vendor's own
/// address.
///
/// A key is never sent to anybody it was not meant for.
///
/// # Errors
///
/// What is wrong with the `base_url`.
pub fn key_env(settings: &ModelAgent) -> Result<Option<String>, Unanswered> {
    let wire = wire(settings.api);
    let address = address(settings.base_url.as_deref(), wire).map_err(Unanswered::new)?;
    let usual = wire.vendor().key_env.filter(|_| address.at_home);
    let usual = usual.map(str::to_owned);
    Ok(settings.api_key_env.clone().or(usual))
}

impl Client {
    /// A client with these settings, which asks with this key.
    ///
    /// # Errors
    ///
    /// What cannot be used of the settings.
    pub(crate) fn new(
        settings: &ModelAgent,
        wire: &dyn Wire,
        key: Option<&Key>,
        asker: Asker,
    ) -> Result<Self, Unanswered> {
        let address = address(settings.base_url.as_deref(), wire).map_err(Unanswered::new)?;
        let http = http_client::builder(address.url.as_str(), CONNECT_TIMEOUT)
            .build()
            .map_err(|error| Unanswered::new(format!("no HTTP client: {error}")))?;
        let own = wire.vendor().headers(key.map(|it| it.value.as_str()));
        let own = own
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        let mut headers = HeaderMap::new();
        for (name, value) in own.chain(settings.extra_headers.iter().cloned()) {
            let wrong = || {
                Unanswered::new(format!(
                    "`{name}` cannot be sent as an HTTP header: it has a character that has no place there"
                ))
            };
            let header = HeaderName::try_from(&name).map_err(|_| wrong())?;
            let mut value = HeaderValue::try_from(&value).map_err(|_| wrong())?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(Self {
            http,
            address,
            headers,
            asker,
            timeout: settings.timeout,
            model: settings.model.clone(),
            key_env: key.map(|it| it.env.clone()),
        })
    }

    /// Asks, at most a few times, and returns the body of the answer.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(crate) async fn ask(
        &self,
        record: &mut dyn Attempts,
        body: &Value,
    ) -> Result<Value, Unanswered> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            record.begun();
            let failed = match self.attempt(body).await {
                Ok((status, answer)) => {
                    record.ended(Some(status), None, None);
                    return Ok(answer);
                }
                Err(failed) => failed,
            };
            let asked = failed.retry_after.unwrap_or_default();
            let again = failed.is_passing && attempts < ATTEMPTS && asked <= LONGEST_PAUSE;
            let wait = again.then(|| pause(attempts, failed.retry_after, chance()));
            record.ended(failed.status, Some(failed.problem), wait);
            let Some(wait) = wait else {
                let mut error = failed.error;
                if attempts > 1 {
                    error.details.push(format!("{attempts} attempts were made"));
                }
                if failed.is_passing && asked > LONGEST_PAUSE {
                    error.details.push(format!(
                        "the API asks to wait for {asked:?}, so it was not asked again: {LONGEST_PAUSE:?} are waited at most"
                    ));
                }
                return Err(error);
            };
            tokio::time::sleep(wait).await;
        }
    }

    async fn attempt(&self, body: &Value) -> Result<(u16, Value), Failed> {
        let request = self
            .http
            .post(self.address.url.clone())
            .headers(self.headers.clone())
            .timeout(self.timeout)
            .json(body);
        let response = request
            .send()
            .await
            .map_err(|error| self.no_response(&error, None))?;
        let status = response.status().as_u16();
        let is_success = response.status().is_success();
        let retry_after = retry_after(response.headers());
        let text = match text(response).await {
            Ok(text) => text,
            Err(error) => return Err(self.no_response(&error, Some(status))),
        };
        if !is_success {
            return Err(self.refused(&ApiError::read(status, &text), retry_after));
        }
        let answer: Value = serde_json::from_str(&text).map_err(|error| {
            let problem = format!("the answer is not JSON: {error}");
            let mut failed = self.failed(Some(status), &problem);
            // Somebody is there, and it is somebody else.
            failed.error.message = format!(
                "what answers at {} is not the API of a model (HTTP {status}): {problem}: check `{}.base_url`",
                self.shown_url(),
                self.asker.section()
            );
            let beginning = format!("it begins with: {}", beginning(&text, 200));
            failed.error.details.push(beginning);
            failed
        })?;
        // Some gateways are content to have answered at all.
        if answer.get("error").is_some_and(|it| !it.is_null()) {
            return Err(self.refused(&ApiError::read(status, &text), retry_after));
        }
        Ok((status, answer))
    }

    fn no_response(&self, error: &reqwest::Error, status: Option<u16>) -> Failed {
        let problem = if error.is_timeout() && !error.is_connect() {
            let section = self.asker.section();
            format!("no answer within {:?} (`{section}.timeout`)", self.timeout)
        } else if error.is_connect() {
            format!("no connection: {}", cause(error))
        } else {
            format!("the connection broke: {}", cause(error))
        };
        self.failed(status, &problem)
    }

    fn failed(&self, status: Option<u16>, problem: &str) -> Failed {
        let url = self.shown_url();
        Failed {
            status,
            problem: problem.to_owned(),
            error: Unanswered {
                trouble: Some(Trouble::Transport),
                ..Unanswered::new(format!("the model cannot be reached at {url}: {problem}"))
            },
            is_passing: true,
            retry_after: None,
        }
    }

    fn refused(&self, error: &ApiError, retry_after: Option<Duration>) -> Failed {
        let url = self.shown_url();
        let asked = Asked {
            asker: self.asker,
            model: &self.model,
            url: &url,
            key: self.key_env.as_deref(),
        };
        let details = if error.said.is_empty() {
            Vec::new()
        } else {
            vec![format!("the API said: {}", error.said)]
        };
        Failed {
            status: Some(error.status),
            problem: match error.said.as_str() {
                "" => format!("HTTP {}", error.status),
                said => format!("HTTP {}: {said}", error.status),
            },
            error: Unanswered {
                message: error.message(&asked),
                details,
                trouble: error.trouble(),
            },
            is_passing: error.is_passing(),
            retry_after,
        }
    }

    /// The address without what may be secret in it.
    fn shown_url(&self) -> String {
        let mut url = self.address.url.clone();
        let _ = url.set_password(None);
        let _ = url.set_username("");
        url.set_query(None);
        url.into()
    }
}

/// A body as text, as far as we are willing to read.
async fn text(mut response: Response) -> Result<String, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > LONGEST_BODY {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// The innermost reason, which names what really happened.
fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// How long to wait after so many attempts: twice as long as after the one before, or what the API asks for, and somewhat more or less by
/// `chance`, from 0 to 1, so that runs that were refused together do not come back together. Never less than was asked for.
fn pause(attempts: u32, asked: Option<Duration>, chance: f64) -> Duration {
    if let Some(asked) = asked {
        return asked + FIRST_PAUSE.mul_f64(chance);
    }
    let doubled = 1 << attempts.saturating_sub(1).min(16);
    let longest = (FIRST_PAUSE * doubled).min(LONGEST_PAUSE);
    longest.mul_f64(0.5 + chance / 2.0)
}

/// A number from 0 to 1, another one each time.
fn chance() -> f64 {
    let [first, second, ..] = Uuid::new_v4().into_bytes();
    f64::from(u16::from_be_bytes([first, second])) / f64::from(u16::MAX)
}

pub(crate) fn wire(api: ModelApi) -> &'static dyn Wire {
    match api {
        ModelApi::Anthropic => &anthropic::Messages,
        ModelApi::OpenAiChat => &openai_chat::ChatCompletions,
        ModelApi::OpenAiResponses => &openai_responses::Responses,
        ModelApi::Ollama => &ollama::Chat,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LONGEST_PAUSE, pause};

    #[test]
    fn pauses_grow_and_differ_by_chance_within_bounds() {
        let milliseconds = Duration::from_millis;
        for (attempts, chance, expected) in [
            (1, 0.0, 250),
            (1, 1.0, 500),
            (2, 0.0, 500),
            (2, 0.5, 750),
            (4, 1.0, 4000),
        ] {
            assert_eq!(pause(attempts, None, chance), milliseconds(expected));
        }
        assert_eq!(pause(40, None, 1.0), LONGEST_PAUSE);
        // What the API asks for is the least.
        assert_eq!(pause(1, Some(milliseconds(2000)), 0.0), milliseconds(2000));
        assert_eq!(pause(3, Some(milliseconds(2000)), 1.0), milliseconds(2500));
    }
}
