//! The scores of pairs of calls, and the rows of the comparison.

use std::collections::HashMap;

use serde_json::Value;

use crate::ids::id_translation::{IdTranslation, TranslatedRun};
use crate::ids::repeats;
use crate::lists::align::Pairs;
use crate::pairing::call::Call;
use crate::pairing::calls::Calls;
use crate::pairing::matching::MOVED;
use crate::request::effect;
use crate::response::finding::Tree;
use crate::response::json::Context;
use crate::response::stable::{Known, Terms};
use crate::response::{beside, breach, outcome};
use crate::scores::polls::Polled;
use crate::text::clock::Clock;
use crate::values::embedded::Documents;
use crate::values::path::{self, Pattern};
use crate::work::Work;
use model::rules::{Preset, Responses, Rules};
use model::{
    Answer, ArgumentDifference, Learned, Outcome, Pair, RequestScore, ResponseScore, Row, Servers,
    Trajectory,
};

/// Similarities this close to a limit count as reaching it.
const TOLERANCE: f64 = 1e-9;

/// The least similarity of responses at which a differently worded read counts as the same read.
const SAME_ANSWER: f64 = 0.9;

/// The two sides of a comparison, prepared.
pub(crate) struct Sides<'a> {
    pub(crate) calls: Calls<'a>,
    work: &'a Work<'a>,
    responses: Responses,
    ignore: Vec<Pattern>,
    /// For baseline calls, by their numbers, what recording learned of their answers.
    learned: HashMap<usize, &'a Learned>,
    /// For baseline calls, by their numbers, the places where another value stands for the recorded one.
    sources: HashMap<usize, Vec<Pattern>>,
    /// Recorded ids and what the run's servers have given in their place.
    given: Vec<(Value, Value)>,
    /// From the baseline's terms back to what the run itself said.
    back: Option<IdTranslation>,
    baseline_run: &'a Trajectory,
    current_run: &'a Trajectory,
    /// The current run as it was said, not in the baseline's terms.
    said_run: &'a Trajectory,
}

impl<'a> Sides<'a> {
    /// The sides as they are compared: polls are one call each, unless calls are paired by position, and the run has the values of the baseline's
    /// `terms`, if there are any.
    pub(crate) fn new(
        baseline: &'a Trajectory,
        current: &'a Trajectory,
        terms: Option<&'a TranslatedRun>,
        rules: &'a Rules,
        work: &'a Work<'a>,
    ) -> Self {
        let made = terms.map_or(current, |it| &it.current);
        let (polled, terms) = if rules.preset == Preset::Classic {
            (Polled::default(), None)
        } else {
            (Polled::new(baseline, made, rules), terms)
        };
        let is_try = |key| polled.is_try(key);
        let sources = terms.into_iter().flat_map(|it| &it.sources);
        Self {
            calls: Calls::new(baseline, made, current, (rules, work), is_try),
            work,
            responses: rules.responses,
            ignore: path::patterns(&rules.ignore),
            learned: baseline.learned.iter().map(|it| (it.call, it)).collect(),
            sources: sources
                .map(|(call, paths)| (*call, path::patterns(paths)))
                .collect(),
            given: terms.map_or_else(Vec::new, |it| it.given.clone()),
            back: terms.map(TranslatedRun::back),
            baseline_run: baseline,
            current_run: made,
            said_run: current,
        }
    }

    /// Scores one pair.
    pub(super) fn pair(&self, b: usize, c: usize, moved: bool) -> Pair {
        let (baseline, current) = (&self.calls.baseline[b], &self.calls.current[c]);
        let asks_the_same = baseline.key == current.key && current.key == current.said_key;
        let both_read = baseline.reads && current.reads;
        let mut request = if asks_the_same && self.calls.rules.are_none() {
            RequestScore::equal()
        } else {
            self.calls
                .rules
                .score(baseline.request(), current.request())
        };
        if !both_read && !asks_the_same {
            request.differences = self.differences(b, c);
        }
        let response = self.answers(b, c, request.similarity);
        if moved {
            request.similarity = MOVED;
        }
        // Where answers are not compared, or only by their shape, equal answers do not show that two reads are the same.
        let compared = matches!(
            self.responses,
            Responses::Stable | Responses::Similar | Responses::Exact
        );
        let same_read = both_read && compared;
        let call = call_score(request.similarity, response.similarity, same_read);
        Pair {
            baseline: baseline.number,
            current: current.number,
            effect: !both_read,
            request,
            response,
            call,
            bound: Vec::new(),
            moved,
            takes: self.takes(baseline),
            unseen: self.unseen(baseline),
            polled: (baseline.attempts() > 1 || current.attempts() > 1).then_some(model::Polled {
                baseline: baseline.attempts(),
                current: current.attempts(),
            }),
        }
    }

    /// Where the arguments of two calls differ, compared as those of effects are.
    pub(crate) fn differences(&self, b: usize, c: usize) -> Vec<ArgumentDifference> {
        let (baseline, current) = (&self.calls.baseline[b], &self.calls.current[c]);
        effect::differences(
            baseline.named(),
            (&made(baseline), &made(current)),
            &current.said.arguments,
            &self.calls.rules,
            &self.clock(baseline, current),
        )
    }

    /// Did the server answer two calls the same, whose requests are as similar as that?
    pub(crate) fn answers(&self, b: usize, c: usize, request: f64) -> ResponseScore {
        let (baseline, current) = (&self.calls.baseline[b], &self.calls.current[c]);
        let echoes = if baseline.key == current.said_key {
            Vec::new()
        } else {
            outcome::echoes(&baseline.made.arguments, &current.said.arguments)
        };
        self.response(baseline, current, request, &echoes)
    }

    /// How often recording received the answer to a call of the baseline.
    fn takes(&self, baseline: &Call<'_>) -> usize {
        self.learned.get(&baseline.number).map_or(1, |it| it.takes)
    }

    /// The places of a baseline's answer that are not looked at, because every take had something else there.
    fn unseen(&self, baseline: &Call<'_>) -> Vec<String> {
        let learned = self
            .learned
            .get(&baseline.number)
            .filter(|it| it.is_stable());
        let varies = learned.into_iter().flat_map(|it| &it.varies);
        varies
            .filter(|it| it.is_unseen())
            .map(|it| it.path.clone())
            .collect()
    }

    /// Whether the servers answered just now: not a recording, nor the very run that became the baseline.
    fn is_live(&self) -> bool {
        let (was, is) = (&self.baseline_run.stamp, &self.current_run.stamp);
        is.servers == Servers::Live && was.recorded_at != is.recorded_at
    }

    /// When the two calls were made.
    fn clock(&self, baseline: &Call<'_>, current: &Call<'_>) -> Clock {
        Clock::new(
            (self.baseline_run, baseline.made),
            (self.current_run, current.made),
        )
    }

    /// Whether a tool was not there yet when the baseline called it, and is there now.
    fn has_come(&self, baseline: &Call<'_>, current: &Call<'_>) -> bool {
        let listing = |run: &'a Trajectory, call: &Call<'_>| {
            let mut servers = run.catalogue.servers.iter();
            servers.find(|it| Some(&it.server) == call.made.server.as_ref())
        };
        let lacked = listing(self.baseline_run, baseline)
            .is_some_and(|it| !it.lists_nothing() && !it.lists(&baseline.made.tool));
        lacked && listing(self.current_run, current).is_some_and(|it| it.lists(&current.made.tool))
    }

    /// Did the server answer the same?
    fn response(
        &self,
        baseline: &Call<'a>,
        current: &Call<'a>,
        request: f64,
        echoes: &[(&Value, &Value)],
    ) -> ResponseScore {
        let learned = self.learned.get(&baseline.number);
        let varies = learned.is_some_and(|it| !it.varies.is_empty());
        if !varies && outcome::is_unchanged(baseline.plain_response(), current.plain_response()) {
            return ResponseScore::equal();
        }
        let (failed, answered) = (baseline.plain_response(), current.plain_response());
        if failed.is_failure() && !answered.is_failure() && self.has_come(baseline, current) {
            return outcome::now_there(failed, answered);
        }
        let sources = self
            .sources
            .get(&baseline.number)
            .map_or(&[][..], Vec::as_slice);
        // What was learned of an answer applies only to the same request.
        let must_hold = matches!(self.responses, Responses::Stable | Responses::Exact)
            && request >= 1.0 - TOLERANCE;
        // What is known to vary in an error varies, however often it was received.
        let both_failed = baseline.response().is_failure() && current.response().is_failure();
        let held = learned.filter(|it| must_hold && (it.is_stable() || both_failed));
        let places: Vec<String> = learned
            .into_iter()
            .flat_map(|it| it.paths())
            .map(str::to_owned)
            .collect();
        let volatile: Vec<Pattern> = path::patterns(&places)
            .into_iter()
            .chain(sources.iter().cloned())
            .collect();
        let documents = Documents::default();
        let context = Context {
            ignore: &self.ignore,
            volatile: &volatile,
            learned: learned.is_some_and(|it| !it.is_stable()),
            echoes,
            mode: self.responses,
            work: self.work,
            documents: &documents,
        };
        let varies = Tree::new(held.map_or(&[], |it| &it.varies));
        let known = held.map(|it| Known {
            learned: it,
            varies: &varies,
            clock: self.clock(baseline, current),
            ignore: &self.ignore,
            sources,
            given: &self.given,
            back: self.back.as_ref().map(|it| it as &dyn Terms),
            is_live: self.is_live(),
            exact: self.responses == Responses::Exact,
            work: self.work,
            documents: &documents,
        });
        outcome::compare(baseline.response(), current.response(), context, known)
    }

    /// The calls of both sides in order, given which pair, and which of these pairs are out of order; the pairs are scored here.
    pub(crate) fn rows(&self, pairs: &Pairs, moved: &Pairs) -> Vec<Row> {
        let mut partner = vec![None; self.calls.baseline.len()];
        let mut is_paired = vec![false; self.calls.current.len()];
        for (&(b, c), is_moved) in
            (pairs.iter().map(|it| (it, false))).chain(moved.iter().map(|it| (it, true)))
        {
            partner[b] = Some((c, is_moved));
            is_paired[c] = true;
        }
        let mut rows = Vec::with_capacity(self.calls.longer());
        let mut next = 0;
        let extras = |rows: &mut Vec<Row>, range: std::ops::Range<usize>| {
            for c in range.filter(|&c| !is_paired[c]) {
                rows.push(Row::Extra {
                    current: self.calls.current[c].number,
                    effect: !self.calls.current[c].reads,
                });
            }
        };
        for (b, partner) in partner.iter().enumerate() {
            match *partner {
                Some((c, is_moved)) => {
                    if !is_moved {
                        extras(&mut rows, next..c.max(next));
                        next = next.max(c + 1);
                    }
                    rows.push(Row::Pair(Box::new(self.pair(b, c, is_moved))));
                }
                None => rows.push(Row::Missing {
                    baseline: self.calls.baseline[b].number,
                    effect: !self.calls.baseline[b].reads,
                }),
            }
        }
        extras(&mut rows, next..self.calls.current.len());
        if matches!(self.responses, Responses::Stable | Responses::Exact) {
            self.hold_to_repeats(&mut rows);
            self.tell_beside(&mut rows);
        }
        self.tell_secrets(&mut rows);
        rows
    }

    /// Tells of secrets that have come to answers, and are no difference yet.
    fn tell_secrets(&self, rows: &mut [Row]) {
        let outcomes = |run: &'a Trajectory| -> Vec<&'a Outcome> {
            run.calls().map(|it| &it.outcome).collect()
        };
        let (before, now) = (outcomes(self.baseline_run), outcomes(self.said_run));
        for row in rows {
            let Row::Pair(pair) = row else { continue };
            let differences = &mut pair.response.differences;
            let (b, c) = (before[pair.baseline - 1], now[pair.current - 1]);
            let news = breach::news(b, c, differences);
            differences.extend(news);
        }
    }

    /// Tells what differs beside the content of answers.
    fn tell_beside(&self, rows: &mut [Row]) {
        let answers = |run: &'a Trajectory| -> Vec<Option<&'a Answer>> {
            run.calls().map(|it| it.outcome.answer()).collect()
        };
        let (before, now) = (answers(self.baseline_run), answers(self.said_run));
        for row in rows {
            let Row::Pair(pair) = row else { continue };
            let learned = self.learned.get(&pair.baseline).filter(|it| it.is_stable());
            let both = before[pair.baseline - 1].zip(now[pair.current - 1]);
            if let (Some(learned), Some((b, c))) = (learned, both) {
                let differences = beside::differences(b, c, learned, &self.ignore);
                pair.response.differences.extend(differences);
            }
        }
    }

    /// Lowers the responses that do not repeat what the server made up before, as they did in all takes.
    fn hold_to_repeats(&self, rows: &mut [Row]) {
        let pairs = rows.iter().filter_map(Row::pair);
        let pairs = pairs.map(|it| (it.baseline, it.current)).collect();
        let broken = repeats::broken(self.baseline_run, self.said_run, &pairs);
        for row in rows {
            let Row::Pair(pair) = row else { continue };
            let Some(broken) = broken.get(&pair.baseline) else {
                continue;
            };
            let takes = self.learned.get(&pair.baseline).map_or(1, |it| it.takes);
            for it in broken {
                outcome::no_longer_repeats(&mut pair.response, it, takes);
            }
            let (request, response) = (pair.request.similarity, pair.response.similarity);
            pair.call = call_score(request, response, !pair.effect);
        }
    }
}

/// What an effect was made with.
fn made<'c>(call: &'c Call<'_>) -> effect::Made<'c> {
    effect::Made {
        arguments: &call.made.arguments,
        listed: call.listed,
    }
}

/// The request's score as it counts: a differently worded read with the same answer counts as the same read.
fn effective_request(request: f64, response: f64, both_read: bool) -> f64 {
    if both_read && response >= SAME_ANSWER - TOLERANCE {
        request.max(0.9 * response)
    } else {
        request
    }
}

/// The score of a call from those of request and response. The more similar the requests, the more a changed response counts.
fn call_score(request: f64, response: f64, both_read: bool) -> f64 {
    let asked = effective_request(request, response, both_read);
    (asked * (1.0 - request * (1.0 - response))).clamp(0.0, 1.0)
}
