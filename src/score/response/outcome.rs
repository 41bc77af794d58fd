//! Similarity of two responses: errors, content blocks, structured content.

use serde_json::Value;

use crate::lists::align::{self, Counted, Plan};
use crate::text::{excerpt, words};
use crate::values::mask;
use crate::values::number::{ALMOST, count, share};
use crate::values::path::Step;
use crate::values::same::{self, View, same};
use model::rules::Responses;
use model::{
    ASKED, Answer, Difference, Edit, Failure, FailureKind, Object, Outcome, Piece, Repeat,
    ResponseScore, Steady,
};

use super::finding::{self, Findings};
use super::json::{Context, Share, Walk};
use super::parts::{Part, part, parts};
use super::stable::{self, Apart, Known};

/// The most arguments that are looked for as echoes in a response.
const ECHOES: usize = 64;

/// The codes of JSON-RPC that a revision of the protocol has moved: for a resource that is not there, and for an unknown tool.
const RESOURCE_NOT_FOUND: i64 = -32002;
const INVALID_PARAMS: i64 = -32602;

/// The least similarity of an answer that differs from the recorded one only by additions.
const LEAST_WITH_ADDITIONS: f64 = 0.9;

/// What was equal and is not any more, in the answer to a call of the baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Where it should be repeated.
    pub(crate) repeat: Repeat,
    /// The id that is not there, or is there again.
    pub(crate) id: String,
    /// The recorded one in its place, where that was new in each take, and now is that of an earlier call.
    pub(crate) instead_of: Option<String>,
}

/// One side's response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Response<'a> {
    pub(crate) outcome: &'a Outcome,
    /// How the answer breaks its tool's own schema, where it does.
    pub(crate) breach: Option<&'a str>,
    /// What the answer says went wrong although the server says that it is fine.
    pub(crate) in_band: Option<&'a str>,
    /// Neither side's servers list the tool.
    pub(crate) is_unknown_tool: bool,
    /// The call was answered with a question to the client first, by a server that can do no more than hope for an answer.
    pub(crate) asks_first: bool,
}

impl Response<'_> {
    pub(crate) fn is_failure(&self) -> bool {
        self.breach.is_some() || self.outcome.is_failure()
    }

    /// Whether it is an answer that nothing but its tool's own schema makes an error.
    fn only_breaks(&self) -> bool {
        self.is_failure() && matches!(self.outcome, Outcome::Answer(it) if !it.is_error)
    }

    /// What the failure says.
    pub(crate) fn message(&self) -> String {
        match (self.breach, self.outcome) {
            (Some(breach), Outcome::Answer(answer)) if !answer.is_error => breach.to_owned(),
            (_, outcome) => outcome.said(),
        }
    }

    /// How the call failed; `None` where the tool itself answered the error.
    fn failure(&self) -> Option<&Failure> {
        match self.outcome {
            Outcome::Failure(failure) => Some(failure),
            Outcome::Answer(_) => None,
        }
    }

    /// What it says, in short.
    pub(crate) fn summary(&self) -> String {
        match self.outcome {
            _ if self.is_failure() => format!("error {}", excerpt::of_text(&self.message())),
            Outcome::Answer(answer) => match &answer.structured_content {
                Some(structured) if answer.content.is_empty() => excerpt::of(structured),
                _ => excerpt::of_text(&answer.text()),
            },
            Outcome::Failure(failure) => excerpt::of_text(&failure.message),
        }
    }
}

/// Whether two answers are good ones and the same in all that is compared.
pub(crate) fn is_unchanged(b: Response<'_>, c: Response<'_>) -> bool {
    match (b.outcome, c.outcome) {
        (Outcome::Answer(of_b), Outcome::Answer(of_c)) => {
            !b.is_failure() && !c.is_failure() && !newly_asks(of_b, c) && is_same(of_b, of_c)
        }
        _ => false,
    }
}

/// Whether an answer comes only after a question to the client, and the recorded one came without any.
fn newly_asks(b: &Answer, c: Response<'_>) -> bool {
    c.asks_first && b.asked().is_none()
}

/// Did the server answer the same? The losses of the differences add up to `1 - similarity`.
///
/// `known` is what the answer must be held against, where recording has received it more than once; else it is graded. Errors are always
/// graded, but for what is known to vary in them.
pub(crate) fn compare<'a>(
    b: Response<'a>,
    c: Response<'a>,
    context: Context<'a>,
    known: Option<Known<'a>>,
) -> ResponseScore {
    match (b.is_failure(), c.is_failure()) {
        (false, true) => return failure_changed(b, c, Edit::BecameError),
        (true, false) => return failure_changed(b, c, Edit::NoLongerError),
        // Clients refused it before, too.
        (true, true) if b.only_breaks() && c.only_breaks() => {}
        (true, true) => return both_failed(b, c, context.mode, known),
        (false, false) => {}
    }
    let (Outcome::Answer(of_b), Outcome::Answer(of_c)) = (b.outcome, c.outcome) else {
        return Findings::default().finish(1.0);
    };
    // What varies is looked at even where it is as recorded.
    let is_held = known.is_none_or(|it| it.learned.varies.is_empty());
    let asks_first = newly_asks(of_b, c);
    if context.mode == Responses::Ignore || (is_held && !asks_first && is_same(of_b, of_c)) {
        return Findings::default().finish(1.0);
    }
    let became_an_error = b.in_band.is_none().then_some(c.in_band).flatten();
    let mut score = match known {
        Some(known) => held(of_b, of_c, context, known),
        None => with_questions(graded(of_b, of_c, context), of_b, of_c),
    };
    if let Some(message) = became_an_error {
        let message = format!("error {}", excerpt::of_text(message));
        as_a_whole(&mut score, Edit::ErrorInText, (b.summary(), message));
    }
    if asks_first {
        let asked = of_c.asked().map(|it| Value::Object(it.clone()));
        let asked = excerpt::of(&asked.unwrap_or_default());
        as_a_whole(&mut score, Edit::AsksFirst, (b.summary(), asked));
    }
    score
}

/// The same with what the server asked its client otherwise, which is shown.
fn with_questions(mut score: ResponseScore, b: &Answer, c: &Answer) -> ResponseScore {
    if b.asked() != c.asked() {
        let asked = |it: &Answer| it.asked().map(|it| excerpt::of(&Value::Object(it.clone())));
        score.differences.push(Difference {
            expected: asked(b),
            got: asked(c),
            ..Difference::shown(format!("_meta/{ASKED}"), Edit::BesideContent)
        });
    }
    score
}

/// Grades an answer to a call that was answered once.
fn graded(b: &Answer, c: &Answer, context: Context<'_>) -> ResponseScore {
    let mut walk = Walk::new(context);
    let similarity = answers(&mut walk, b, c);
    let score = walk.into_findings().finish(similarity);
    if context.mode == Responses::Exact {
        all_or_nothing(score)
    } else {
        score
    }
}

/// Compares with an answer of which it is known what is stable: that must be equal. The similarity grades how much differs.
fn held<'a>(b: &'a Answer, c: &'a Answer, context: Context<'a>, known: Known<'a>) -> ResponseScore {
    let (findings, apart) = stable::compare(b, c, known);
    let graded = || {
        let mut walk = Walk::new(context);
        walk.quietly(|walk| answers(walk, b, c))
    };
    let similarity = match apart {
        Apart::Same | Apart::Tolerated => 1.0,
        Apart::Added => graded().clamp(LEAST_WITH_ADDITIONS, ALMOST),
        Apart::Changed if context.mode == Responses::Exact => 0.0,
        Apart::Changed => graded().min(finding::CAP),
    };
    findings.finish_evenly(similarity)
}

/// Notes that an answer does not repeat what the server made up before, as it did in so many takes.
pub(crate) fn no_longer_repeats(score: &mut ResponseScore, broken: &Broken, takes: usize) {
    let Broken {
        repeat,
        id,
        instead_of,
    } = broken;
    if let Some(recorded) = instead_of {
        score.differences.push(Difference {
            expected: Some(excerpt::of_text(recorded)),
            got: Some(excerpt::of_text(id)),
            ..Difference::shown(repeat.path.clone(), Edit::NotNew { call: repeat.call })
        });
        return;
    }
    let edit = Edit::NotRepeated {
        from: repeat.from.clone(),
        call: repeat.call,
    };
    let similarity = score.similarity.min(finding::CAP);
    score.differences.push(Difference {
        breaks: Some(Steady::Same {
            agreed: takes,
            takes,
        }),
        expected: Some(excerpt::of_text(id)),
        similarity: 0.0,
        loss: score.similarity - similarity,
        ..Difference::shown(repeat.path.clone(), edit)
    });
    score.similarity = similarity;
}

/// Puts what happened to the answer as a whole first among the changes: it fails, and so does what only follows from it.
fn as_a_whole(score: &mut ResponseScore, edit: Edit, values: (String, String)) {
    let similarity = score.similarity.min(finding::CAP);
    let scale = (1.0 - similarity) / 2.0;
    let lost: f64 = score.differences.iter().map(|it| it.loss).sum();
    for it in &mut score.differences {
        it.loss *= if lost > 0.0 { scale / lost } else { 0.0 };
    }
    let left: f64 = score.differences.iter().map(|it| it.loss).sum();
    score.similarity = similarity;
    let mut whole = changed_as_a_whole(edit, values, 0.0);
    for it in &mut whole.differences {
        it.loss = 1.0 - similarity - left;
    }
    // It replaces all other changes of the contract, because they only follow from it.
    for it in &mut score.differences {
        it.breaks = None;
    }
    score.differences.splice(0..0, whole.differences);
}

/// Of a tool that was not there yet: its answer is shown, and nothing was lost.
pub(crate) fn now_there(b: Response<'_>, c: Response<'_>) -> ResponseScore {
    let mut score = failure_changed(b, c, Edit::NoLongerError);
    score.similarity = 1.0;
    for it in &mut score.differences {
        (it.similarity, it.loss, it.breaks) = (1.0, 0.0, None);
    }
    score
}

fn failure_changed(b: Response<'_>, c: Response<'_>, edit: Edit) -> ResponseScore {
    changed_as_a_whole(edit, (b.summary(), c.summary()), 0.0)
}

fn changed_as_a_whole(edit: Edit, (was, now): (String, String), similarity: f64) -> ResponseScore {
    ResponseScore {
        similarity,
        differences: vec![Difference {
            breaks: Some(Steady::Unknown),
            expected: Some(was),
            got: Some(now),
            similarity,
            loss: 1.0 - similarity,
            ..Difference::shown(String::new(), edit)
        }],
    }
}

/// Compares two errors. An error in an accepted baseline is intended, so another error is a changed answer. Its kind counts, because most
/// clients show a model only the errors that a tool itself answers. One that differs only in what is known to vary is the same.
fn both_failed<'a>(
    b: Response<'a>,
    c: Response<'a>,
    mode: Responses,
    known: Option<Known<'a>>,
) -> ResponseScore {
    let (of_b, of_c) = (b.failure(), c.failure());
    let kind = |it: Option<&Failure>| match it?.kind {
        FailureKind::Transport => Some(FailureKind::Disconnected),
        kind => Some(kind),
    };
    let (kind_b, kind_c) = (kind(of_b), kind(of_c));
    if let (Some(known), Outcome::Answer(b), Outcome::Answer(c)) = (known, b.outcome, c.outcome)
        && b.is_error
        && c.is_error
        && stable::compare(b, c, known).1 == Apart::Same
    {
        return Findings::default().finish(1.0);
    }
    let is_unknown_tool = b.is_unknown_tool && c.is_unknown_tool;
    let (b, c) = (b.message(), c.message());
    let code = |it: Option<&Failure>| it.filter(|it| it.kind == FailureKind::Rpc)?.code;
    let codes = (code(of_b), code(of_c));
    let is_moved = match codes {
        (Some(RESOURCE_NOT_FOUND), Some(INVALID_PARAMS))
        | (Some(INVALID_PARAMS), Some(RESOURCE_NOT_FOUND)) => true,
        (None, Some(INVALID_PARAMS)) => is_unknown_tool && kind_b.is_none(),
        (Some(INVALID_PARAMS), None) => is_unknown_tool && kind_c.is_none(),
        _ => false,
    };
    if (kind_b != kind_c || codes.0 != codes.1) && !is_moved && mode != Responses::Ignore {
        let named = |kind: Option<FailureKind>, code: Option<i64>, message: &str| {
            let kind = kind.map_or("an error of the tool", FailureKind::words);
            let code = code.map_or_else(String::new, |it| format!(" {it}"));
            format!("{kind}{code}: {}", excerpt::of_text(message))
        };
        let was = named(kind_b, codes.0, &b);
        let now = named(kind_c, codes.1, &c);
        // Clients, and the models behind them, treat it as something else.
        return changed_as_a_whole(Edit::OtherKindOfError, (was, now), finding::CAP);
    }
    let (b_masked, c_masked) = (mask::text(&b), mask::text(&c));
    let similarity = match mode {
        Responses::Ignore | Responses::Shape => 1.0,
        _ if b_masked == c_masked => 1.0,
        Responses::Exact => 0.0,
        Responses::Stable | Responses::Similar => {
            (0.5 + 0.5 * words::similarity(&b_masked, &c_masked)).min(ALMOST)
        }
    };
    let mut differences = Vec::new();
    if similarity < 1.0 {
        let (expected, got) = excerpt::of_texts(&b, &c);
        differences.push(Difference {
            expected: Some(expected),
            got: Some(got),
            similarity,
            loss: 1.0 - similarity,
            ..Difference::shown(String::new(), Edit::OtherMessage)
        });
    }
    let said = |code: Option<i64>| code.map(|it| it.to_string());
    let data = |it: Option<&Failure>| {
        let of_server = it.filter(|it| it.kind == FailureKind::Rpc);
        of_server.and_then(|it| it.data.as_ref()).map(excerpt::of)
    };
    for (path, was, now) in [
        ("/error/code", said(codes.0), said(codes.1)),
        ("/error/data", data(of_b), data(of_c)),
    ] {
        if was != now && mode != Responses::Ignore {
            differences.push(Difference {
                expected: was,
                got: now,
                ..Difference::shown(path.to_owned(), Edit::BesideMessage)
            });
        }
    }
    ResponseScore {
        similarity,
        differences,
    }
}

/// Makes any difference cost the whole similarity, shared among the differences in proportion to their losses.
fn all_or_nothing(mut score: ResponseScore) -> ResponseScore {
    let lost: f64 = score.differences.iter().map(|it| it.loss).sum();
    if score.differences.is_empty() {
        return score;
    }
    let evenly = 1.0 / count(score.differences.len());
    for it in &mut score.differences {
        it.loss = if lost > 0.0 { it.loss / lost } else { evenly };
    }
    score.similarity = 0.0;
    score
}

/// Whether two answers are the same in all that is compared.
fn is_same(b: &Answer, c: &Answer) -> bool {
    let structured = match (&b.structured_content, &c.structured_content) {
        (Some(b), Some(c)) => same(b, c),
        (b, c) => b.is_none() && c.is_none(),
    };
    structured
        && b.asked() == c.asked()
        && b.content.len() == c.content.len()
        && b.content.iter().zip(&c.content).all(|(b, c)| same(b, c))
}

/// Blocks aligned in order and by type, structured content as one more of them: sum of the pairs / longer count.
fn answers<'a>(walk: &mut Walk<'a>, b: &'a Answer, c: &'a Answer) -> f64 {
    let (b, c) = parts(b, c);
    let is_counted = |walk: &mut Walk<'a>, it: &Part<'a>| !it.at(walk, |walk| walk.is_left_out());
    if c.is_empty() && b.iter().any(|it| is_counted(walk, it)) {
        let all = Share::whole(1.0, 0);
        return walk.at(Step::Key("content"), |walk| {
            let (edit, breaks) = (Edit::BecameEmpty, Some(Steady::Unknown));
            walk.note_whole(all, edit, breaks, || {
                (Some(format!("{} blocks", b.len())), Some("[]".to_owned()))
            });
            0.0
        });
    }
    let keys = |parts: &[Part<'_>]| {
        let key = |it: &Part<'_>| align::key((it.kind(), same::hash(it.value(), View::Masked)));
        parts.iter().map(key).collect::<Vec<_>>()
    };
    let weigh = |walk: &Walk<'a>, parts: &[Part<'a>]| {
        let weight = parts.iter().map(|it| walk.weight(it.value())).sum();
        (weight, parts.len())
    };
    let (b_weight, c_weight) = (weigh(walk, &b), weigh(walk, &c));
    let plan = Plan::new(walk.allowance(b_weight.0 + c_weight.0), b_weight, c_weight);
    let quiet = Share::whole(1.0, plan.for_each);
    let one_kind = |i: usize, j: usize| b[i].kind() == c[j].kind();
    let pairs = if b.len() == 1 && c.len() == 1 && one_kind(0, 0) {
        vec![(0, 0)]
    } else {
        align::align(&keys(&b), &keys(&c), plan.cells, one_kind, |i, j| {
            walk.quietly(|walk| part(walk, b[i], c[j], quiet))
        })
    };
    let (mut b_alone, mut c_alone) = align::unpaired(&pairs, b.len(), c.len());
    b_alone.retain(|&it| is_counted(walk, &b[it]));
    c_alone.retain(|&it| is_counted(walk, &c[it]));
    let counted = Counted::new(pairs.len(), b_alone.len(), c_alone.len());

    let each = Share::whole(counted.pair, Share::UNBOUNDED);
    let sum = pairs
        .iter()
        .map(|&(i, j)| part(walk, b[i], c[j], each))
        .sum();
    for at in b_alone {
        alone(walk, b[at], counted.alone, true);
    }
    for at in c_alone {
        alone(walk, c[at], counted.alone, false);
    }
    share(sum, counted.places)
}

/// Notes a part without a partner.
fn alone<'a>(walk: &mut Walk<'a>, part: Part<'a>, weight: f64, is_baseline: bool) {
    let share = Share::whole(weight, 0);
    let text = part.value().get("text").and_then(Value::as_str);
    let shown = text.map_or_else(|| excerpt::of(part.value()), excerpt::of_text);
    let piece = match part {
        Part::Block(..) => Piece::Block,
        Part::Structured(_) => Piece::Structured,
    };
    part.at(walk, |walk| {
        if is_baseline {
            let breaks = (piece == Piece::Structured).then_some(Steady::Unknown);
            let edit = Edit::Missing(piece);
            walk.note_whole(share, edit, breaks, || (Some(shown), None));
        } else {
            let edit = Edit::Added(piece);
            walk.note_whole(share, edit, None, || (None, Some(shown)));
        }
    });
}

/// Argument values that differ between two requests, in the same place: what each answer may echo.
pub(crate) fn echoes<'a>(b: &'a Object, c: &'a Object) -> Vec<(&'a Value, &'a Value)> {
    let mut found = Vec::new();
    let mut pending: Vec<(&Value, &Value)> = Vec::new();
    let both = |b: &'a Object, c: &'a Object| {
        let pairs = b.iter().filter_map(move |(key, b)| Some((b, c.get(key)?)));
        pairs.take(ECHOES)
    };
    pending.extend(both(b, c));
    while let Some((b, c)) = pending.pop() {
        match (b, c) {
            _ if found.len() == ECHOES || pending.len() > 8 * ECHOES => break,
            (Value::Object(b), Value::Object(c)) => pending.extend(both(b, c)),
            (Value::Array(b), Value::Array(c)) => pending.extend(b.iter().zip(c).take(ECHOES)),
            _ if same(b, c) => {}
            _ => found.push((b, c)),
        }
    }
    found
}
