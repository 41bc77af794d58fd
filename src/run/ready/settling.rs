//! For how long what servers list and answer has stayed the same.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::asks::Asks;
use crate::model::Object;
use crate::model::catalogue::Catalogue;
use crate::model::trajectory::Outcome;

/// What was observed, and since when it has been the same.
#[derive(Default)]
pub(super) struct Settling {
    seen: Option<(Seen, Instant)>,
}

struct Seen {
    /// All that is said of each tool, by server and name, so that their order does not matter.
    tools: BTreeMap<(String, String), Vec<Object>>,
    answers: Vec<Outcome>,
}

impl Settling {
    /// Records what was observed now. Returns for how long it has been the same, and what has changed if it is not.
    pub(super) fn observe(
        &mut self,
        catalogue: Catalogue,
        answers: Vec<Outcome>,
        asks: &dyn Asks,
    ) -> (Duration, Option<String>) {
        let mut tools: BTreeMap<_, Vec<Object>> = BTreeMap::new();
        for server in catalogue.servers {
            for tool in server.tools {
                let name = (server.server.clone(), tool.name().to_owned());
                tools.entry(name).or_default().push(tool.served);
            }
        }
        let now = Seen { tools, answers };
        let (change, since) = match &self.seen {
            Some((before, since)) => match change(before, &now, asks) {
                // Compared with what was observed first, so that a series of small changes is noticed.
                None => return (since.elapsed(), None),
                change => (change, Instant::now()),
            },
            None => (None, Instant::now()),
        };
        self.seen = Some((now, since));
        (Duration::ZERO, change)
    }

    /// What has to stay the same, in words.
    pub(super) fn words(&self) -> String {
        let Some((seen, _)) = &self.seen else {
            return "everything".to_owned();
        };
        let count = |count: usize, noun: &str| {
            let plural = if count == 1 { "" } else { "s" };
            format!("{count} {noun}{plural}")
        };
        let tools = count(seen.tools.values().map(Vec::len).sum(), "tool");
        match seen.answers.len() {
            0 => tools,
            answers => format!("{tools} and {}", count(answers, "answer")),
        }
    }
}

/// What has changed, in words; `None` where nothing has.
fn change(before: &Seen, now: &Seen, asks: &dyn Asks) -> Option<String> {
    let new = now.tools.keys().find(|it| !before.tools.contains_key(it));
    if let Some((_, tool)) = new {
        return Some(format!("`{tool}` has been added"));
    }
    let gone = before.tools.keys().find(|it| !now.tools.contains_key(it));
    if let Some((_, tool)) = gone {
        return Some(format!("`{tool}` is gone"));
    }
    let mut same = before.tools.iter().zip(now.tools.values());
    if let Some(((name, _), _)) = same.find(|((_, before), now)| before != now) {
        return Some(format!("what is said of `{}` has changed", name.1));
    }
    let mut answers = before.answers.iter().zip(&now.answers).enumerate();
    let (index, _) = answers.find(|(_, (before, now))| !asks.is_same(before, now))?;
    Some(format!("the answer to call {} has changed", index + 1))
}
