//! A search that is asked, behind an address or as a tool of an MCP server of the run, and the live catalogue before that.

use std::time::{Duration, Instant};

use crate::discovery::golden::Corpus;
use crate::discovery::search::{
    Answer, Ask, LiveTool, Place, Rest, SaidByTool, Search, ToolAsk, Unanswered, drift,
    filled_arguments, read_answer, read_catalogue, said_by_tool,
};
use crate::model::{FailureKind, Outcome, Trouble};
use crate::published::measured::retrieval::Drift;
use crate::run::{Conversation, Stop};

/// A search that can be asked.
pub(super) struct Asker<'a, 'c, 'r> {
    search: &'a Search,
    rest: Rest<'a>,
    conversation: &'c mut Conversation<'r>,
}

impl<'a, 'c, 'r> Asker<'a, 'c, 'r> {
    /// Asks at a place, or on the servers of a conversation, for at most `limit` each time.
    pub(super) fn new(
        search: &'a Search,
        place: Place,
        limit: Duration,
        conversation: &'c mut Conversation<'r>,
    ) -> Self {
        Self {
            search,
            rest: Rest::new(search, place, limit),
            conversation,
        }
    }

    /// Says what is going on.
    pub(super) fn tell(&self, doing: &str) {
        self.conversation.tell(doing);
    }

    /// Asks for what fits a query.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    pub(super) async fn ask(&mut self, query: &str, limit: usize) -> Result<Answer, Unanswered> {
        match self.search.ask() {
            Ask::Http(ask) => self.rest.ask(ask, query, limit).await,
            Ask::Tool(ask) => {
                let (answered, took) = self.call(ask, query, limit).await?;
                Ok(Answer {
                    found: read_answer(self.search, &answered.said)?,
                    bytes: answered.bytes,
                    took,
                    trouble: answered.trouble,
                })
            }
        }
    }

    /// Lists the live catalogue; `None` where there is no such list.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    pub(super) async fn catalogue(&mut self) -> Result<Option<Vec<LiveTool>>, Unanswered> {
        let Some(listing) = &self.search.catalogue else {
            return Ok(None);
        };
        match listing.ask() {
            Ask::Http(ask) => self.rest.catalogue(listing, ask).await,
            Ask::Tool(ask) => {
                let (answered, _) = self.call(ask, "", 0).await?;
                let live = read_catalogue(listing, self.search, &answered.said)?;
                Ok(Some(live))
            }
        }
    }

    async fn call(
        &mut self,
        ask: &ToolAsk,
        query: &str,
        limit: usize,
    ) -> Result<(SaidByTool, Duration), Unanswered> {
        let catalogue = self.conversation.catalogue();
        let server = catalogue
            .server_of(ask.server.as_deref(), &ask.name)?
            .to_owned();
        let arguments = filled_arguments(&ask.arguments, query, limit);
        let began = Instant::now();
        let called = self
            .conversation
            .call_on(&server, &ask.name, arguments)
            .await;
        let took = began.elapsed();
        let call = called.map_err(|stop| match stop {
            Stop::Error(failed) => Unanswered {
                why: failed.message,
                trouble: failed.trouble,
            },
            Stop::Blocked { message } | Stop::LimitReached { message } => message.into(),
        })?;
        match &call.outcome {
            Outcome::Failure(failure) => Err(Unanswered {
                why: failure.message.clone(),
                trouble: match failure.kind {
                    FailureKind::Timeout => Some(Trouble::Timeout),
                    FailureKind::Disconnected | FailureKind::Transport => Some(Trouble::Transport),
                    _ => None,
                },
            }),
            Outcome::Answer(answer) => {
                let answered = said_by_tool(
                    answer.is_error,
                    &answer.content,
                    answer.structured_content.as_ref(),
                )?;
                Ok((answered, took))
            }
        }
    }
}

/// How often a catalogue that is waited for is looked at, and how often it must have been the same.
const PAUSE: Duration = Duration::from_millis(500);
const STEADY: usize = 3;

/// The catalogue, and how it differs from the corpus; `None` where the search has no list of it. One that is waited for is taken as it is
/// when the time is up.
///
/// # Errors
///
/// Why it is not known: the server cannot be asked, or it does not stay the same.
pub(super) async fn looked_at(
    asker: &mut Asker<'_, '_, '_>,
    corpus: &Corpus,
    wait: Option<Duration>,
) -> Result<Option<(Vec<LiveTool>, Drift)>, Unanswered> {
    let Some(wait) = wait else {
        let live = asker.catalogue().await?;
        return Ok(live.map(|it| {
            let drift = drift(corpus, &it);
            (it, drift)
        }));
    };
    let began = Instant::now();
    let mut before: Option<Vec<LiveTool>> = None;
    let mut same = 0;
    let mut reported = String::new();
    loop {
        let state = match asker.catalogue().await {
            // Nothing can be waited for that nobody can look at.
            Ok(None) => Err("there is no list of it".to_owned().into()),
            Err(why) => Err(why),
            Ok(Some(live)) => {
                let drift = drift(corpus, &live);
                same = if before.as_ref() == Some(&live) {
                    same + 1
                } else {
                    1
                };
                before = Some(live.clone());
                if drift.missing.is_empty() && same >= STEADY {
                    return Ok(Some((live, drift)));
                }
                Ok(drift)
            }
        };
        let doing = match &state {
            Err(why) => format!("waiting for the catalogue: {why}"),
            Ok(drift) if drift.missing.is_empty() => {
                "waiting whether the catalogue stays".to_owned()
            }
            Ok(drift) => {
                let all = corpus.tools.len();
                let there = all - drift.missing.len();
                format!("waiting for the catalogue: {there} of {all} tools are there")
            }
        };
        if began.elapsed() + PAUSE > wait {
            return match (state, before) {
                (Ok(drift), Some(live)) if !drift.missing.is_empty() => Ok(Some((live, drift))),
                (Ok(_), _) => Err(format!(
                    "it kept changing, and was not the same for {STEADY} looks within {} s",
                    wait.as_secs_f64()
                )
                .into()),
                (Err(why), _) => Err(why),
            };
        }
        if doing != reported {
            asker.tell(&doing);
            reported = doing;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
