//! Choosing the interaction of a script that answers a request.
//!
//! A request holds the whole conversation, so the number of the model's messages in it says which answer of the script comes next. Errors
//! and faults that stand before that answer come first, one for each time the same request is made. So a script serves any number of
//! conversations, one after the other or at once, and each starts at its beginning.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::HeaderMap;
use parking_lot::Mutex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::dialect::Asked;
use crate::mock::answers::Condition;
use crate::scenario_file::mock::{LlmExpectation, LlmInteraction};
use crate::text::beginning;

#[derive(Debug)]
pub(super) struct Script {
    /// For each answer of the model, the interactions that end with it; the last ones may lack it.
    turns: Vec<Vec<Interaction>>,
    /// How often each request has been made that got no answer yet.
    attempts: Mutex<HashMap<[u8; 32], usize>>,
}

/// An interaction that was asked for less often than the script has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftOver {
    /// Its position in the script, counted from 1.
    pub number: usize,
    /// How often it was asked for.
    pub asked: usize,
    /// How often the script has it.
    pub times: usize,
}

/// An interaction, ready to be compared with requests.
#[derive(Debug)]
pub(super) struct Interaction {
    /// Its position in the script, counted from 1.
    pub(super) number: usize,
    pub(super) declared: LlmInteraction,
    expected: Expected,
    /// How often it has answered.
    asked: AtomicUsize,
}

#[derive(Debug)]
struct Expected {
    model: Option<Condition>,
    system: Option<Condition>,
    user: Option<Condition>,
    tool_results: Option<Vec<Condition>>,
    body: Vec<(String, Condition)>,
    headers: Vec<(String, Condition)>,
}

impl Script {
    pub(super) fn new(interactions: &[LlmInteraction]) -> Result<Self, String> {
        let mut turns = Vec::new();
        let mut turn = Vec::new();
        for (index, declared) in interactions.iter().enumerate() {
            let is_answer = declared.is_answer();
            turn.push(Interaction {
                number: index + 1,
                declared: declared.clone(),
                expected: Expected::new(&declared.expect)
                    .map_err(|it| format!("interaction {}: {it}", index + 1))?,
                asked: AtomicUsize::default(),
            });
            if is_answer {
                turns.push(std::mem::take(&mut turn));
            }
        }
        if !turn.is_empty() {
            turns.push(turn);
        }
        Ok(Self {
            turns,
            attempts: Mutex::default(),
        })
    }

    /// The interaction that answers a request.
    ///
    /// # Errors
    ///
    /// What the request lacks, or that the script is at its end.
    pub(super) fn answer(
        &self,
        asked: &Asked,
        headers: &HeaderMap,
        body: &Value,
    ) -> Result<&Interaction, String> {
        let number = asked.turns + 1;
        let Some(turn) = self.turns.get(asked.turns) else {
            return Err(format!(
                "the script ends after {}, and this request asks for answer {number} of the model",
                match self.turns.len() {
                    1 => "one answer".to_owned(),
                    many => format!("{many} answers"),
                }
            ));
        };
        let digest: [u8; 32] = Sha256::digest(body.to_string()).into();
        let attempt = {
            let mut attempts = self.attempts.lock();
            let attempt = attempts.entry(digest).or_default();
            *attempt += 1;
            *attempt - 1
        };
        let all: usize = turn.iter().map(|it| it.declared.times as usize).sum();
        let mut left = attempt % all.max(1);
        let interaction = turn.iter().find(|it| {
            let times = it.declared.times as usize;
            let is_it = left < times;
            left = left.saturating_sub(times);
            is_it
        });
        let Some(interaction) = interaction else {
            return Err("the script has no answer".to_owned());
        };
        if interaction.declared.is_answer() {
            let mut attempts = self.attempts.lock();
            attempts.remove(&digest);
        }
        if let Some(what) = interaction.lacks(asked, headers, body) {
            return Err(format!("interaction {} expects {what}", interaction.number));
        }
        interaction.asked.fetch_add(1, Ordering::Relaxed);
        Ok(interaction)
    }

    /// The number of the first interaction behind the answer to a request; `None` where that is the last one.
    pub(super) fn next(&self, asked: &Asked) -> Option<usize> {
        Some(self.turns.get(asked.turns + 1)?.first()?.number)
    }

    /// What nobody has asked for, as often as it is there; of several conversations, all count together.
    pub(super) fn left_over(&self) -> Vec<LeftOver> {
        let all = self.turns.iter().flatten().map(|it| LeftOver {
            number: it.number,
            asked: it.asked.load(Ordering::Relaxed),
            times: it.declared.times as usize,
        });
        all.filter(|it| it.asked < it.times).collect()
    }
}

impl Interaction {
    /// What the request is expected to hold and does not.
    fn lacks(&self, asked: &Asked, headers: &HeaderMap, body: &Value) -> Option<String> {
        let expected = &self.expected;
        let texts = [
            ("model", &expected.model, &asked.model),
            ("system", &expected.system, &asked.system),
            ("user", &expected.user, &asked.user),
        ];
        for (name, condition, value) in texts {
            let value = value.as_ref().map(|it| json!(it));
            if condition
                .as_ref()
                .is_some_and(|it| !it.holds(value.as_ref()))
            {
                return Some(format!("another `{name}` than {}", shown(value.as_ref())));
            }
        }
        let tools = &self.declared.expect.tools;
        if let Some(missing) = tools.iter().find(|it| !asked.tools.contains(it)) {
            return Some(format!(
                "the tool `{missing}` among those on offer, which are {}",
                beginning(&asked.tools.join(", "), 300)
            ));
        }
        if let Some(conditions) = &expected.tool_results {
            let given = &asked.tool_results;
            if conditions.len() != given.len() {
                return Some(format!(
                    "{} tool results and got {}",
                    conditions.len(),
                    given.len()
                ));
            }
            for (index, (condition, text)) in conditions.iter().zip(given).enumerate() {
                let value = json!(text);
                if !condition.holds(Some(&value)) {
                    let number = index + 1;
                    return Some(format!(
                        "another tool result {number} than {}",
                        shown(Some(&value))
                    ));
                }
            }
        }
        for (pointer, condition) in &expected.body {
            let value = body.pointer(pointer);
            if !condition.holds(value) {
                return Some(format!(
                    "something else at `{pointer}` of the body than {}",
                    shown(value)
                ));
            }
        }
        for (name, condition) in &expected.headers {
            let value = headers.get(name).and_then(|it| it.to_str().ok());
            if !condition.holds(value.map(|it| json!(it)).as_ref()) {
                // The value is left out, because it may be a secret.
                return Some(format!("another header `{name}`"));
            }
        }
        None
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or("nothing".to_owned(), |it| {
        beginning(&it.to_string(), 200).into_owned()
    })
}

impl Expected {
    fn new(expect: &LlmExpectation) -> Result<Self, String> {
        let one = |it: &Option<_>| it.as_ref().map(Condition::new).transpose();
        let named = |it: &[(String, _)]| -> Result<Vec<(String, Condition)>, String> {
            it.iter()
                .map(|(name, it)| Ok((name.clone(), Condition::new(it)?)))
                .collect()
        };
        let results = expect.tool_results.as_ref();
        Ok(Self {
            model: one(&expect.model)?,
            system: one(&expect.system)?,
            user: one(&expect.user)?,
            tool_results: results
                .map(|it| it.iter().map(Condition::new).collect())
                .transpose()?,
            body: named(&expect.body)?,
            headers: named(&expect.headers)?,
        })
    }
}
