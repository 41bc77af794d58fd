//! A request, the prepared response that is played for it, and what waits for the next round of it.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::mock::state::weight;
use crate::mock::template::Scope;
use crate::mock::wire::Id;
use crate::model::Object;
use crate::scenario_file::mock::{MockResponse, Question};

/// What a client wants to know.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Id,
    pub(super) method: String,
    pub(super) params: Value,
    /// It is one of the revision 2026-07-28.
    pub(super) stateless: bool,
}

impl Request {
    /// The tool that is called, if one is.
    pub(super) fn tool(&self) -> Option<&str> {
        let is_call = self.method == "tools/call";
        self.params.get("name").filter(|_| is_call)?.as_str()
    }

    /// What every round of a request has in common.
    fn lasting(&self) -> Value {
        let mut params = self.params.clone();
        if let Some(members) = params.as_object_mut() {
            members.retain(|name, _| !matches!(name.as_str(), "_meta" | RESPONSES | STATE));
        }
        json!([self.method, params])
    }

    /// What the client responds to the questions of an earlier round.
    fn responses(&self) -> Object {
        let responses = self.params.get(RESPONSES).and_then(Value::as_object);
        responses.cloned().unwrap_or_default()
    }
}

const RESPONSES: &str = "inputResponses";
const STATE: &str = "requestState";

/// A prepared response on its way.
#[derive(Debug, Clone)]
pub(super) struct Playing {
    pub(super) response: Arc<MockResponse>,
    pub(super) scope: Scope,
    /// What the server would answer without the response; `None` where that depends on what the client is asked before.
    pub(super) instead_of: Option<Result<Value, Value>>,
    pub(super) waited: bool,
    pub(super) next_step: usize,
    /// What the client is asked at this step, and has not answered.
    pub(super) asking: VecDeque<Question>,
    /// What the client has responded, and no step has asked for, by key.
    pub(super) responses: Object,
}

impl Playing {
    pub(super) fn new(request: &Request, response: Arc<MockResponse>, scope: Scope) -> Self {
        Self {
            response,
            scope,
            instead_of: None,
            waited: false,
            next_step: 0,
            asking: VecDeque::new(),
            responses: request.responses(),
        }
    }

    /// Makes the client's answer known to what follows.
    pub(super) fn answered(&mut self, question: &Question, answer: Value) {
        self.scope.insert_asked(&question.key, answer.clone());
        self.scope.insert(question.kind.name(), answer);
    }
}

/// The most requests that wait for another round, and about how many bytes they may take; the oldest are forgotten.
const MAX_WAITING: usize = 1000;
const MAX_WEIGHT: usize = 64 * 1024 * 1024;

/// Requests of the revision 2026-07-28 whose clients have been asked something.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    waiting: VecDeque<Round>,
}

#[derive(Debug)]
struct Round {
    /// What the next round has to name.
    state: String,
    request: Value,
    weight: usize,
    playing: Box<Playing>,
}

impl Rounds {
    /// Keeps what is played for a request; returns what the next round has to name.
    pub(super) fn put(&mut self, request: &Request, playing: Playing) -> String {
        let state = Uuid::new_v4().to_string();
        let lasting = request.lasting();
        self.waiting.push_back(Round {
            state: state.clone(),
            weight: weight(&request.params) + weight(&lasting),
            request: lasting,
            playing: Box::new(playing),
        });
        let mut total: usize = self.waiting.iter().map(|it| it.weight).sum();
        while (self.waiting.len() > MAX_WAITING || total > MAX_WEIGHT)
            && let Some(oldest) = self.waiting.pop_front()
        {
            total -= oldest.weight;
        }
        state
    }

    /// What is played for a request that is another round of an earlier one; `None` for a first round.
    ///
    /// # Errors
    ///
    /// A sentence when there was no such round, or what the client brings are no responses.
    pub(super) fn take(&mut self, request: &Request) -> Result<Option<Box<Playing>>, String> {
        if !request.stateless {
            return Ok(None);
        }
        if request
            .params
            .get(RESPONSES)
            .is_some_and(|it| !it.is_object())
        {
            return Err(format!("`{RESPONSES}` is not an object"));
        }
        let Some(state) = request.params.get(STATE) else {
            return Ok(None);
        };
        let lasting = request.lasting();
        let mut waiting = self.waiting.iter();
        let place = waiting.position(|it| *state == it.state && lasting == it.request);
        let round = place.and_then(|it| self.waiting.remove(it));
        let mut round = round.ok_or_else(|| {
            format!("`{STATE}` is not what this request was answered with, or was used before")
        })?;
        round.playing.responses = request.responses();
        Ok(Some(round.playing))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use crate::mock::playing::{MAX_WAITING, MAX_WEIGHT, Playing, Request, Rounds};
    use crate::mock::template::Scope;
    use crate::mock::wire::Id;

    fn request(params: Value) -> Request {
        Request {
            id: Id::null(),
            method: "tools/call".to_owned(),
            params,
            stateless: true,
        }
    }

    fn put(rounds: &mut Rounds, request: &Request) -> String {
        let playing = Playing::new(request, Arc::default(), Scope::new());
        rounds.put(request, playing)
    }

    #[test]
    fn a_round_goes_on_once_and_with_the_same_request() {
        let mut rounds = Rounds::default();
        let state = put(
            &mut rounds,
            &request(json!({ "name": "a", "_meta": { "x": 1 } })),
        );
        let next = |name: &str| {
            request(json!({ "name": name, "requestState": state, "inputResponses": { "k": 1 } }))
        };
        assert!(rounds.take(&next("b")).is_err());
        let playing = rounds.take(&next("a")).unwrap().unwrap();
        assert_eq!(playing.responses["k"], 1);
        assert!(rounds.take(&next("a")).is_err());
        assert!(
            rounds
                .take(&request(json!({ "name": "a" })))
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn there_is_an_end_to_what_waits() {
        let mut rounds = Rounds::default();
        for _ in 0..MAX_WAITING + 5 {
            put(&mut rounds, &request(json!({ "name": "a" })));
        }
        assert_eq!(rounds.waiting.len(), MAX_WAITING);
        let long = request(json!({ "name": "x".repeat(MAX_WEIGHT / 5) }));
        for _ in 0..5 {
            put(&mut rounds, &long);
        }
        assert_eq!(rounds.waiting.len(), 2);
    }
}
