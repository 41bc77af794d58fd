//! Values read from results of earlier versions, which give them only as sentences. Nothing else reads those sentences.

use serde_json::{Map, Value, json};

use crate::{Edit, How, NotRun, Piece, Problem, Status, ToolChange, What};

/// Why a scenario was not run, as the result says it, or as its sentence does.
pub fn why_not_run(
    known: Option<NotRun>,
    status: Status,
    problem: Option<&Problem>,
) -> Option<NotRun> {
    known.or_else(|| not_run(status, &problem?.message))
}

/// The same of the sentence alone.
pub fn not_run(status: Status, why: &str) -> Option<NotRun> {
    if why == "the scenario is disabled (`enabled: false`)" {
        return Some(NotRun::Disabled);
    }
    if why.starts_with("missing: ") {
        return Some(NotRun::MissingPart);
    }
    match (why.strip_prefix("not started: "), status) {
        (Some(_), Status::Skipped) => Some(NotRun::FailFast),
        (Some(_), Status::Interrupted) => Some(NotRun::Interrupted),
        (Some(_), _) => Some(NotRun::Budget),
        (None, Status::Skipped) => Some(NotRun::Unavailable),
        (None, _) => None,
    }
}

/// Whether nothing had changed, by the sentence on who changed.
pub(super) fn is_unchanged(in_words: &str) -> bool {
    in_words.starts_with("Unchanged: ")
}

/// A document of version 1 or 2 in the form of version 3, whose changes and reasons say what happened as a value.
pub(super) fn upgraded(mut document: Value) -> Value {
    let scenarios = document.get_mut("scenarios").and_then(Value::as_array_mut);
    for scenario in scenarios.into_iter().flatten() {
        let changes = scenario.pointer_mut("/comparison/changes");
        let changes = changes.and_then(Value::as_array_mut).into_iter().flatten();
        for change in changes.filter_map(Value::as_object_mut) {
            let is_effect = change.get("kind").is_some_and(|it| it == "effect");
            let said = change.get("what").and_then(Value::as_str);
            let code = what(said.unwrap_or_default(), is_effect);
            change.insert("code".to_owned(), json!(code));
        }
        let drift = scenario.pointer_mut("/comparison/drift");
        let drift = drift.and_then(Value::as_array_mut).into_iter().flatten();
        for it in drift.filter_map(Value::as_object_mut) {
            let said = it.get("what").and_then(Value::as_str);
            let code = ToolChange::Described(said.unwrap_or_default().to_owned());
            it.insert("code".to_owned(), json!(code));
        }
        let comparison = scenario.get_mut("comparison");
        if let Some(comparison) = comparison.and_then(Value::as_object_mut) {
            link(comparison);
        }
        for list in ["/comparison/reasons", "/comparison/warnings"] {
            let Some(reasons) = scenario.pointer_mut(list).and_then(Value::as_array_mut) else {
                continue;
            };
            // What followed from a reason stood within it.
            let all = std::mem::take(reasons).into_iter().flat_map(|mut it| {
                let follows = it.get_mut("follows").map(Value::take);
                let follows = follows.and_then(|it| it.as_array().cloned());
                std::iter::once(it).chain(follows.unwrap_or_default())
            });
            reasons.extend(all);
            reasons.iter_mut().for_each(describe);
        }
    }
    document
}

/// Says of each reason which change it is about, and of the changes that reasons within another one are about what they follow from.
fn link(comparison: &mut Map<String, Value>) {
    let changes = comparison.get("changes").and_then(Value::as_array);
    let mut changes = changes.cloned().unwrap_or_default();
    let reasons = comparison.get_mut("reasons").and_then(Value::as_array_mut);
    for reason in reasons.into_iter().flatten() {
        let root = change_of(reason, &changes);
        let follows = reason.get_mut("follows").and_then(Value::as_array_mut);
        for within in follows.into_iter().flatten() {
            let own = change_of(within, &changes);
            if let Some(within) = within.as_object_mut() {
                within.insert("change".to_owned(), json!(own));
            }
            if let (Some(own), Some(root)) = (own, root.filter(|it| Some(*it) != own)) {
                let is_refused = changes[root]["kind"] == "drift";
                let how = if is_refused { How::Refused } else { How::Alike };
                if let Some(change) = changes[own].as_object_mut() {
                    let follows = json!({ "change": root, "how": how });
                    change.insert("follows".to_owned(), follows);
                }
            }
        }
        if let Some(reason) = reason.as_object_mut() {
            reason.insert("change".to_owned(), json!(root));
        }
    }
    comparison.insert("changes".to_owned(), json!(changes));
}

/// The change that a reason is about: the one that says the same, that has its values, or the first of its call that fails.
fn change_of(reason: &Value, changes: &[Value]) -> Option<usize> {
    let is_drift = reason["kind"] == "drift";
    let fits = |it: &&Value| {
        let is_call = it["baseline"] == reason["baseline"] && it["current"] == reason["current"];
        let is_of_call = !(it["baseline"].is_null() && it["current"].is_null());
        (it["kind"] == "drift") == is_drift && (is_drift || (is_call && is_of_call))
    };
    let the = |is: &dyn Fn(&Value) -> bool| changes.iter().position(|it| fits(&it) && is(it));
    if is_drift {
        return the(&|it| it["what"] == reason["text"]);
    }
    let has_values = |it: &Value| it["was"] == reason["expected"] && it["now"] == reason["got"];
    the(&has_values).or_else(|| the(&|it| it["fails"] == true))
}

/// The tool, and what is said of it, where a sentence begins with a call of the baseline: `call 3 (now 4), mcp__shop__order, …`.
fn of_call(said: &str) -> Option<(&str, &str)> {
    let (call, rest) = said.split_once(", ")?;
    let number = call.strip_prefix("call ")?;
    let (tool, said) = rest.split_once(", ").or_else(|| rest.split_once(' '))?;
    number
        .starts_with(|it: char| it.is_ascii_digit())
        .then_some((tool, said))
}

/// Gives a reason its sentence as all that is known.
fn describe(reason: &mut Value) {
    let Some(reason) = reason.as_object_mut() else {
        return;
    };
    let said = reason.get("text").and_then(Value::as_str);
    let said = said.unwrap_or_default().to_owned();
    let of_call = of_call(&said).map(|(tool, said)| (tool.to_owned(), said.to_owned()));
    let (tool, said) = of_call.map_or((None, said), |(tool, said)| (Some(tool), said));
    reason.insert("tool".to_owned(), json!(tool));
    reason.insert("why".to_owned(), json!({ "described": said }));
    reason.remove("follows");
}

/// What happened, by the sentence on it.
fn what(said: &str, is_effect: bool) -> What {
    use Piece::{Block, Element, Line, Member, Structured};
    let edits = [
        Edit::Changed,
        Edit::BecameEmpty,
        Edit::WasEmpty,
        Edit::NoLongerJson,
        Edit::Displaced,
        Edit::BecameError,
        Edit::ErrorInText,
        Edit::NoLongerError,
        Edit::OtherKindOfError,
        Edit::OtherMessage,
        Edit::BesideMessage,
        Edit::BesideContent,
        Edit::MissingBesideContent,
        Edit::NewSecret,
    ];
    let pieces = [Member, Element, Line, Block, Structured].into_iter();
    let pieces = pieces.flat_map(|it| [Edit::Missing(it), Edit::Added(it)]);
    let whole = [
        What::NotMade,
        What::New,
        What::Moved,
        What::Unexpected,
        What::NotWhereExpected,
        What::NotAsExpected,
        What::AskedOtherwise,
        What::MadeOtherwise,
        What::WrittenOtherwise,
        What::OtherTry,
        What::Slower,
        What::Tokens,
    ];
    let worded = is_effect.then_some(What::WordedOtherwise);
    let of_answer = edits.into_iter().chain(pieces).map(What::Answer);
    let mut known = worded.into_iter().chain(whole).chain(of_answer);
    if let Some(known) = known.find(|it| it.to_string() == said) {
        return known;
    }
    let renamed = said.strip_prefix("renamed to ");
    if let Some(name) = renamed.and_then(|it| serde_json::from_str(it).ok()) {
        return What::Answer(Edit::Renamed(name));
    }
    if let Some(now) = said.strip_prefix("became ") {
        return What::Answer(Edit::Became(now.to_owned()));
    }
    let expected = said.strip_prefix("is expected as call ");
    let number = expected.and_then(|it| it.split(',').next()?.parse().ok());
    number.map_or_else(|| What::Described(said.to_owned()), What::Expected)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{upgraded, why_not_run};
    use crate::{NotRun, Problem, Status};

    #[test]
    fn sentences_of_earlier_programs_say_what_happened() {
        for (kind, said, what) in [
            ("call", "was not made", json!("not_made")),
            (
                "call",
                "is expected as call 12, and was not made",
                json!({"expected": 12}),
            ),
            ("effect", "worded otherwise", json!("worded_otherwise")),
            (
                "error",
                "worded otherwise",
                json!({"answer": "other_message"}),
            ),
            (
                "answer",
                "missing element",
                json!({"answer": {"missing": "element"}}),
            ),
            (
                "answer",
                "renamed to \"b\"",
                json!({"answer": {"renamed": "b"}}),
            ),
            (
                "answer",
                "became a string",
                json!({"answer": {"became": "a string"}}),
            ),
            (
                "drift",
                "tool `a` is new",
                json!({"described": "tool `a` is new"}),
            ),
        ] {
            let of = |change| json!({"scenarios": [{"comparison": {"changes": [change]}}, {}]});
            let old = of(json!({"kind": kind, "what": said}));
            let new = of(json!({"kind": kind, "what": said, "code": what}));
            assert_eq!(upgraded(old), new, "{said}");
        }
    }

    #[test]
    fn sentences_of_earlier_programs_say_why_a_scenario_was_not_run() {
        let disabled = "the scenario is disabled (`enabled: false`)";
        let failed = "not started: an earlier scenario has not passed (`--fail-fast`)";
        for (status, why, expected) in [
            (Status::Skipped, disabled, Some(NotRun::Disabled)),
            (Status::Skipped, failed, Some(NotRun::FailFast)),
            (
                Status::Interrupted,
                "not started: interrupted before",
                Some(NotRun::Interrupted),
            ),
            (
                Status::Error,
                "not started: the budget is spent",
                Some(NotRun::Budget),
            ),
            (
                Status::Error,
                "missing: no result of part 2/2 has it",
                Some(NotRun::MissingPart),
            ),
            (
                Status::Skipped,
                "there is no image",
                Some(NotRun::Unavailable),
            ),
            (Status::Error, "there is no image", None),
            (Status::Passed, "there is no image", None),
        ] {
            let problem = Problem::new(why);
            assert_eq!(why_not_run(None, status, Some(&problem)), expected, "{why}");
        }
        let known = why_not_run(
            Some(NotRun::Unavailable),
            Status::Skipped,
            Some(&Problem::new(failed)),
        );
        assert_eq!(known, Some(NotRun::Unavailable));
        assert_eq!(why_not_run(None, Status::Skipped, None), None);
    }
}
