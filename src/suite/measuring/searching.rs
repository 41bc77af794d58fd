//! The agent of a run that measures a search: it asks every query, and keeps what is answered.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use super::asker::{self, Asker};
use super::data_sets::SearchSets;
use crate::discovery::golden::Query;
use crate::discovery::ground::Ground;
use crate::discovery::retrieval::{Learned, worth_asking_more};
use crate::discovery::search::{Answer, Place};
use crate::model::Trouble;
use crate::published::measured::retrieval::Catalogue;
use crate::run::{self, Conversation, Stop};
use crate::scenario_file::measured::Retrieval;

/// How many ids are asked for, and how many where something was missed.
const ASKED: usize = 10;
const ASKED_DEEP: usize = 100;

/// After how many failures one after the other nothing more is asked.
const MOST_FAILURES: usize = 3;

/// What a search was asked and has answered so far.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// For each run, an answer per query, in the order of the golden set.
    pub(super) runs: Vec<Vec<Answer>>,
    pub(super) learned: Learned,
    pub(super) catalogue: Catalogue,
    /// What is worth knowing, in sentences.
    pub(super) notes: Vec<String>,
    /// Why nothing can be said, in sentences.
    pub(super) problems: Vec<String>,
    /// What was the first of them for which another try may find it gone.
    pub(super) trouble: Option<Trouble>,
    /// How many queries were asked, in all runs.
    pub(super) count: usize,
    /// All was asked, or as much as could be.
    pub(super) is_done: bool,
}

/// Asks a search.
pub(super) struct Searching {
    pub(super) sets: Arc<SearchSets>,
    pub(super) task: Retrieval,
    pub(super) place: Place,
    /// For one answer.
    pub(super) limit: Duration,
    /// Kept outside, so that what was asked is known of a run that is cut short.
    pub(super) asked: Arc<Mutex<Asked>>,
}

impl run::Agent for Searching {
    fn drive<'a>(
        &'a mut self,
        conversation: &'a mut Conversation<'_>,
    ) -> BoxFuture<'a, Result<(), Stop>> {
        Box::pin(async move {
            self.ask_all(conversation).await;
            self.asked.lock().is_done = true;
            Ok(())
        })
    }
}

impl Searching {
    async fn ask_all(&self, conversation: &mut Conversation<'_>) {
        let sets = Arc::clone(&self.sets);
        let place = self.place.clone();
        let mut asker = Asker::new(&sets.search, place, self.limit, conversation);
        match self.look_at_catalogue(&mut asker).await {
            Ok(()) => {}
            Err(problem) => return self.asked.lock().problems.push(problem),
        }
        for number in 1..=self.task.runs {
            match self.one_run(number, &mut asker).await {
                Ok(answers) => self.asked.lock().runs.push(answers),
                Err(problems) => {
                    self.asked.lock().problems = problems;
                    return;
                }
            }
        }
        let deep = self.asked_deep(&mut asker).await;
        self.asked.lock().learned.deep = deep;
    }

    /// Compares the live catalogue with the corpus.
    ///
    /// # Errors
    ///
    /// Why nothing is measured, in a sentence.
    async fn look_at_catalogue(&self, asker: &mut Asker<'_, '_, '_>) -> Result<(), String> {
        let looked = asker::looked_at(asker, &self.sets.corpus, self.task.wait).await;
        let found = looked.map_err(|it| {
            self.keep_trouble(it.trouble);
            format!("the catalogue of {} is not known: {it}", self.whom())
        })?;
        let mut so_far = self.asked.lock();
        let Some((live, drift)) = found else {
            let note = "the live catalogue is unknown, so it was not compared with the corpus";
            // Where it is declared how it is listed, something else was expected.
            let is_expected = self.sets.search.catalogue.is_none();
            let warning = if is_expected { "" } else { "warning: " };
            so_far.notes.push(format!("{warning}{note}"));
            return Ok(());
        };
        so_far.learned.live = Some(live.into_iter().map(|it| it.id).collect());
        let differences = (!drift.is_none()).then(|| drift.summary());
        so_far.catalogue = Catalogue {
            compared: true,
            drift,
        };
        match differences {
            None => Ok(()),
            Some(differences) => {
                let waited = self
                    .task
                    .wait
                    .map(|it| format!(" after {} s", it.as_secs_f64()));
                let problem = format!(
                    "the live catalogue differs from the corpus{}: {differences}",
                    waited.unwrap_or_default()
                );
                if !self.task.gates.allow_drift {
                    return Err(format!(
                        "{problem}: make the corpus again, or measure anyway with `--allow-drift` (`allow_drift: true`)"
                    ));
                }
                so_far.notes.push(problem);
                Ok(())
            }
        }
    }

    /// Asks every query once.
    ///
    /// # Errors
    ///
    /// Which of them have no answer, and why.
    async fn one_run(
        &self,
        number: u16,
        asker: &mut Asker<'_, '_, '_>,
    ) -> Result<Vec<Answer>, Vec<String>> {
        let queries = &self.sets.golden.queries;
        let mut answers = Vec::with_capacity(queries.len());
        let mut problems = Vec::new();
        let mut in_a_row = 0;
        for (at, query) in queries.iter().enumerate() {
            self.tell(asker, number, at, query);
            let came = asker.ask(&query.text, ASKED).await;
            self.asked.lock().count += 1;
            match came {
                Ok(answer) => {
                    in_a_row = 0;
                    answers.push(answer);
                }
                Err(it) => {
                    in_a_row += 1;
                    self.keep_trouble(it.trouble);
                    problems.push(format!("`{}` has no answer: {it}", query.id));
                }
            }
            let rest = queries.len() - at - 1;
            if in_a_row == MOST_FAILURES && rest > 0 {
                problems.push(format!("{rest} more queries were not asked"));
                break;
            }
        }
        if problems.is_empty() {
            Ok(answers)
        } else {
            Err(problems)
        }
    }

    fn keep_trouble(&self, trouble: Option<Trouble>) {
        let mut so_far = self.asked.lock();
        so_far.trouble = so_far.trouble.or(trouble);
    }

    fn tell(&self, asker: &Asker<'_, '_, '_>, run: u16, at: usize, query: &Query) {
        let of = self.sets.golden.queries.len();
        let run = if self.task.runs > 1 {
            format!("run {run} of {}, ", self.task.runs)
        } else {
            String::new()
        };
        asker.tell(&format!("{run}query {} of {of}: {}", at + 1, query.id));
    }

    /// What is answered to queries that missed something, or may have found it by chance, when more is asked for. Where that fails, it stays
    /// unknown at which rank it is.
    async fn asked_deep(&self, asker: &mut Asker<'_, '_, '_>) -> HashMap<String, Answer> {
        let ground = Ground {
            corpus: &self.sets.corpus,
            golden: &self.sets.golden,
            finds: self.sets.search.finds,
        };
        let open: Vec<&Query> = {
            let so_far = self.asked.lock();
            if ground.refuse_unmapped(&so_far.runs).is_some() {
                return HashMap::new();
            }
            let first = so_far.runs.first();
            let open = first.map(|it| worth_asking_more(ground, it));
            open.unwrap_or_default()
        };
        let mut deep = HashMap::new();
        for query in open {
            asker.tell(&format!("asking for more: {}", query.id));
            if let Ok(answer) = asker.ask(&query.text, ASKED_DEEP).await {
                deep.insert(query.id.clone(), answer);
            }
        }
        deep
    }

    fn whom(&self) -> String {
        if self.sets.search.needs_session() {
            format!("`{}`", self.sets.search.name)
        } else {
            self.place.shown().into_owned()
        }
    }
}
