//! The form in which a judge answers, and how it is read: what does not have it is no verdict.

use serde_json::{Map, Value, json};

use super::case::{Case, Expected};
use crate::llm::message::{Finish, OUTPUT_NAME as VERDICT, OfferedTool, Response};
use crate::model::Object;
use crate::model::number::tidy;
use crate::model::ruling::{DimensionScore, Verdict};
use crate::scenario_file::evaluators::LlmJudge;

/// The longest text of a judge that is kept, in characters.
const LONGEST: usize = 4000;
/// The most suggestions that are kept.
const MOST_SUGGESTIONS: usize = 20;

/// The JSON Schema of a verdict. The reasons come first, so that they are thought of before the score.
pub(super) fn schema(asked: &LlmJudge, case: &Case) -> Value {
    let share = json!({ "type": "number", "minimum": 0, "maximum": 1 });
    let mut properties = Map::new();
    properties.insert("reasoning".to_owned(), json!({ "type": "string" }));
    let dimensions = case.in_order(asked.standard.dimensions());
    let names: Vec<&str> = dimensions.map(|it| it.name.as_str()).collect();
    if !names.is_empty() {
        let scores: Map<String, Value> = names
            .iter()
            .map(|it| ((*it).to_owned(), share.clone()))
            .collect();
        let scores = json!({
            "type": "object", "properties": scores, "required": names, "additionalProperties": false,
        });
        properties.insert("dimension_scores".to_owned(), scores);
    }
    let accuracy = match case.expected {
        Expected::Unsaid => json!({ "type": "null" }),
        Expected::Nothing | Expected::Tools(_) | Expected::InAnyOrder(_) => share.clone(),
    };
    properties.insert("tool_accuracy".to_owned(), accuracy);
    // What is reckoned from the scores of dimensions is not asked for: models reckon badly, and would contradict themselves.
    if names.is_empty() {
        properties.insert("score".to_owned(), share.clone());
        properties.insert("passed".to_owned(), json!({ "type": "boolean" }));
    }
    properties.insert("confidence".to_owned(), share);
    properties.insert(
        "suggestions".to_owned(),
        json!({ "type": "array", "items": { "type": "string" } }),
    );
    let required: Vec<&String> = properties.keys().collect();
    json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    })
}

/// The tool whose arguments are a verdict.
pub(super) fn tool(schema: &Value) -> OfferedTool {
    OfferedTool {
        name: VERDICT.to_owned(),
        description: Some("Takes your verdict on the run.".to_owned()),
        input_schema: schema.clone(),
    }
}

/// The members of what a model has answered, in whichever of the two forms.
///
/// # Errors
///
/// Why there is nothing to read.
pub(super) fn members(response: &Response) -> Result<Object, String> {
    match response.finish {
        Finish::MaxTokens => {
            return Err(
                "the answer was cut off at its longest: `judge.max_tokens` allows more".to_owned(),
            );
        }
        Finish::Refused => return Err("the model refused".to_owned()),
        Finish::Done | Finish::Filtered | Finish::ContextFull | Finish::Paused => {}
    }
    match response.calls.as_slice() {
        [] => {
            let text = response.texts.join("\n");
            let json = unfenced(text.trim());
            match crate::json::read_distinct(json.as_bytes()) {
                Ok(Value::Object(members)) => Ok(members),
                Ok(_) => Err("the answer is JSON, but no object".to_owned()),
                Err(_) if text.trim().is_empty() => Err("the answer is empty".to_owned()),
                Err(error) => Err(format!("the answer is not JSON: {error}")),
            }
        }
        [call] if call.name != VERDICT => Err(format!(
            "the tool `{}` was called, and only `{VERDICT}` takes a verdict",
            kept(&call.name)
        )),
        [call] => call.arguments.clone().map_err(|it| it.why),
        several => Err(format!(
            "the tool `{VERDICT}` was called {} times, and there is one verdict",
            several.len()
        )),
    }
}

/// What stands in a code fence, where the whole text is one.
fn unfenced(text: &str) -> &str {
    let inside = text
        .strip_prefix("```")
        .and_then(|it| it.strip_suffix("```"));
    let Some((language, inside)) = inside.and_then(|it| it.split_once('\n')) else {
        return text;
    };
    if matches!(language.trim(), "" | "json" | "JSON") {
        inside.trim()
    } else {
        text
    }
}

/// The verdict that an answer holds. By a rubric, the scores of its dimensions decide, and what they come to is reckoned here.
///
/// What decides must be there, of its type and within its bounds; what only explains may be missing. An answer that contradicts itself
/// is none: it would pass or fail by whichever of its members one looked at.
///
/// # Errors
///
/// All that is wrong with it.
pub(super) fn verdict(members: &Object, asked: &LlmJudge) -> Result<Verdict, String> {
    let mut problems = Vec::new();
    let is_reckoned = !asked.standard.dimensions().is_empty();
    // What was not asked for may be said all the same.
    let said = |name: &str| members.get(name).filter(|it| !is_reckoned || !it.is_null());
    let said_passed = match said("passed") {
        Some(Value::Bool(passed)) => Some(*passed),
        None if is_reckoned => None,
        other => {
            problems.push(wrong("passed", other, "true or false"));
            None
        }
    };
    let said_score = match said("score") {
        None if is_reckoned => None,
        given => share("score", given, &mut problems),
    };
    let reasoning = match members.get("reasoning") {
        Some(Value::String(text)) if !text.trim().is_empty() => kept(text),
        other => {
            problems.push(wrong("reasoning", other, "a text"));
            String::new()
        }
    };
    let dimensions = dimension_scores(members, asked, &mut problems);
    let mut optional = |name: &str| {
        let given = members.get(name).filter(|it| !it.is_null())?;
        share(name, Some(given), &mut problems)
    };
    let (confidence, tool_accuracy) = (optional("confidence"), optional("tool_accuracy"));
    let suggestions = suggestions(members.get("suggestions"), &mut problems);
    let threshold = asked.threshold;
    let reckoned = weighted(asked, &dimensions).map(|it| {
        // A mean of scores at the threshold may come out a hair below it.
        if (it - threshold).abs() < ROUNDING {
            threshold
        } else {
            it
        }
    });
    let Some(score) = reckoned.or(said_score).filter(|_| problems.is_empty()) else {
        return Err(problems.join("; "));
    };
    let passed = said_passed.unwrap_or(score >= threshold);
    let said = said_score.map(|it| ("`score`", it));
    let reckoned = reckoned.map(|it| ("the mean of `dimension_scores`", it));
    for (name, score) in said.into_iter().chain(reckoned) {
        if passed != (score >= threshold) {
            return Err(format!(
                "it contradicts itself: `passed` is {passed}, and {name} is {}, where {} passes",
                tidy(score),
                tidy(threshold),
            ));
        }
    }
    Ok(Verdict {
        passed,
        score,
        confidence,
        reasoning,
        dimensions,
        tool_accuracy,
        suggestions,
    })
}

/// What adding up and dividing may take off a mean.
const ROUNDING: f64 = 1e-9;

/// The mean of the scores by the weights of their dimensions; `None` without any.
fn weighted(asked: &LlmJudge, scores: &[DimensionScore]) -> Option<f64> {
    let dimensions = asked.standard.dimensions();
    let sum = |unit: f64| dimensions.iter().map(|it| it.weight / unit).sum::<f64>();
    // The sum of the largest numbers is none; in a unit of their own it is.
    let largest = dimensions.iter().map(|it| it.weight).fold(1.0, f64::max);
    let unit = if sum(1.0).is_finite() { 1.0 } else { largest };
    let all = sum(unit);
    let weighted = dimensions.iter().filter_map(|dimension| {
        let own = scores.iter().find(|it| it.name == dimension.name)?;
        Some(dimension.weight / unit * own.score)
    });
    (!scores.is_empty() && all > 0.0).then(|| weighted.sum::<f64>() / all)
}

fn dimension_scores(
    members: &Object,
    asked: &LlmJudge,
    problems: &mut Vec<String>,
) -> Vec<DimensionScore> {
    let dimensions = asked.standard.dimensions();
    if dimensions.is_empty() {
        return Vec::new();
    }
    let given = match members.get("dimension_scores") {
        Some(Value::Object(given)) => given,
        other => {
            problems.push(wrong("dimension_scores", other, "an object"));
            return Vec::new();
        }
    };
    for name in given.keys() {
        if !dimensions.iter().any(|it| it.name == *name) {
            problems.push(format!("the rubric has no dimension `{}`", kept(name)));
        }
    }
    let scores = dimensions.iter().filter_map(|it| {
        let place = format!("dimension_scores.{}", it.name);
        let score = share(&place, given.get(&it.name), problems)?;
        Some(DimensionScore {
            name: it.name.clone(),
            score,
        })
    });
    scores.collect()
}

/// A number from 0 to 1; `None` after saying what it is instead.
fn share(name: &str, value: Option<&Value>, problems: &mut Vec<String>) -> Option<f64> {
    let number = value.and_then(Value::as_f64);
    let share = number.filter(|it| (0.0..=1.0).contains(it));
    if share.is_none() {
        problems.push(wrong(name, value, "a number from 0 to 1"));
    }
    share
}

fn suggestions(value: Option<&Value>, problems: &mut Vec<String>) -> Vec<String> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) if items.iter().all(Value::is_string) => {
            let texts = items.iter().filter_map(Value::as_str).map(kept);
            texts.take(MOST_SUGGESTIONS).collect()
        }
        other => {
            problems.push(wrong("suggestions", other, "a list of texts"));
            Vec::new()
        }
    }
}

fn wrong(name: &str, value: Option<&Value>, expected: &str) -> String {
    match value {
        None => format!("`{name}` is missing: it must be {expected}"),
        Some(value) => {
            let shown = crate::text::shorten(&value.to_string(), 80).into_owned();
            format!("`{name}` is {shown}: it must be {expected}")
        }
    }
}

fn kept(text: &str) -> String {
    crate::text::shorten(text.trim(), LONGEST).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{schema, verdict};
    use crate::evaluate::judge::case::Case;
    use crate::scenario_file::evaluators::Dimension;
    use crate::scenario_file::evaluators::LlmJudge;
    use crate::scenario_file::evaluators::Rubric;
    use crate::scenario_file::evaluators::Standard;

    fn of_rubric(weights: &[(&str, f64)]) -> LlmJudge {
        let dimensions = weights.iter().map(|(name, weight)| Dimension {
            name: (*name).to_owned(),
            asks: None,
            weight: *weight,
            anchors: Vec::new(),
        });
        LlmJudge {
            standard: Standard::Rubric(Rubric {
                id: None,
                version: None,
                about: None,
                dimensions: dimensions.collect(),
            }),
            votes: 1,
            threshold: 0.7,
        }
    }

    fn read(asked: &LlmJudge, answer: &Value) -> Result<f64, String> {
        verdict(answer.as_object().unwrap(), asked).map(|it| it.score)
    }

    #[test]
    fn what_is_no_verdict_is_not_made_one() {
        let asked = LlmJudge::of_criteria(vec!["It works.".to_owned()]);
        let right = json!({ "passed": true, "score": 0.7, "reasoning": "so" });
        assert_eq!(read(&asked, &right), Ok(0.7));
        let cases = [
            ("score", json!(1.01), "`score` is 1.01"),
            ("score", json!(-0.1), "`score` is -0.1"),
            ("score", json!("0.9"), "`score` is \"0.9\""),
            ("score", json!(null), "`score` is null"),
            ("score", json!(86.5), "`score` is 86.5"),
            ("score", json!(0.69), "contradicts itself"),
            ("passed", json!("true"), "`passed` is \"true\""),
            ("passed", json!(false), "contradicts itself"),
            ("reasoning", json!(" "), "`reasoning`"),
            ("confidence", json!(2), "`confidence` is 2"),
            ("tool_accuracy", json!("all"), "`tool_accuracy`"),
            ("suggestions", json!("more"), "`suggestions`"),
        ];
        for (name, value, words) in cases {
            let mut answer = right.clone();
            answer[name] = value;
            let problem = read(&asked, &answer).unwrap_err();
            assert!(problem.contains(words), "{problem}");
        }
        for name in ["score", "passed", "reasoning"] {
            let mut answer = right.clone();
            answer.as_object_mut().unwrap().shift_remove(name);
            let problem = read(&asked, &answer).unwrap_err();
            assert!(
                problem.contains(&format!("`{name}` is missing")),
                "{problem}"
            );
        }
    }

    #[test]
    fn the_score_of_a_rubric_is_the_mean_by_weight() {
        let asked = of_rubric(&[("right", 3.0), ("brief", 1.0)]);
        let answer = |right: f64, brief: f64, score: f64, passed: bool| {
            json!({
                "passed": passed, "score": score, "reasoning": "so",
                "dimension_scores": { "right": right, "brief": brief },
            })
        };
        assert_eq!(read(&asked, &answer(1.0, 0.5, 0.9, true)), Ok(0.875));
        let heavy = of_rubric(&[("right", f64::MAX), ("brief", f64::MAX)]);
        assert_eq!(read(&heavy, &answer(1.0, 0.5, 0.75, true)), Ok(0.75));
        // Neither needs to be said, and what just reaches the threshold passes.
        let bare = |right: f64, brief: f64| json!({ "reasoning": "so", "dimension_scores": { "right": right, "brief": brief } });
        let passed =
            |answer: &Value| verdict(answer.as_object().unwrap(), &asked).map(|it| it.passed);
        assert_eq!(read(&asked, &bare(1.0, 0.5)), Ok(0.875));
        assert_eq!(passed(&bare(1.0, 0.5)), Ok(true));
        assert_eq!(passed(&bare(0.7, 0.69)), Ok(false));
        let thirds = of_rubric(&[("a", 1.0), ("b", 1.0), ("c", 1.0)]);
        let reached =
            json!({ "reasoning": "so", "dimension_scores": { "a": 0.7, "b": 0.7, "c": 0.7 } });
        assert_eq!(read(&thirds, &reached), Ok(0.7));
        // The judge has reckoned to another side of the threshold.
        for wrong in [answer(1.0, 0.0, 0.6, false), answer(0.5, 0.5, 0.9, true)] {
            let problem = read(&asked, &wrong).unwrap_err();
            assert!(problem.contains("contradicts itself"), "{problem}");
        }
        let mut other = answer(1.0, 1.0, 1.0, true);
        other["dimension_scores"] = json!({ "right": 1, "short": 1 });
        let problem = read(&asked, &other).unwrap_err();
        assert!(problem.contains("no dimension `short`"), "{problem}");
        assert!(
            problem.contains("`dimension_scores.brief` is missing"),
            "{problem}"
        );
    }

    #[test]
    fn a_schema_names_each_dimension() {
        let asked = of_rubric(&[("right", 3.0), ("brief", 1.0)]);
        let reversed = Case {
            reversed: true,
            ..Case::default()
        };
        let names = |case: &Case| {
            schema(&asked, case)["properties"]["dimension_scores"]["required"].clone()
        };
        assert_eq!(names(&Case::default()), json!(["right", "brief"]));
        assert_eq!(names(&reversed), json!(["brief", "right"]));
        let plain = schema(&LlmJudge::of_criteria(Vec::new()), &Case::default());
        assert_eq!(plain["properties"].get("dimension_scores"), None);
        assert_eq!(plain["properties"]["score"]["maximum"], 1);
        let of_rubric = schema(&asked, &Case::default());
        for reckoned in ["score", "passed"] {
            assert_eq!(of_rubric["properties"].get(reckoned), None);
            let mut required = plain["required"].as_array().unwrap().iter();
            assert!(required.any(|it| it == reckoned));
        }
    }
}
