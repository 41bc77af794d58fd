//! Checks that a text was said, and how often.

use serde_json::Value;

use super::answers;
use super::pattern::Wanted;
use crate::evaluate::finding::{Finding, STORED};
use crate::evaluate::subject::{Left, RunEnvironment, Subject};
use crate::model::Step;
use crate::model::{placeholder, texts};
use crate::scenario_file::evaluators::{TextEvaluator, TextMatch, TextSource};
use crate::text::shorten;

/// How much of what was said is shown, in characters.
const SAID_CHARS: usize = 200;

/// Why no log is looked at.
const NO_LOG: &str = "no server's log is at hand: those of `stdio` servers, of servers with `start` and of containers are";

pub(in crate::evaluate) fn look(it: &TextEvaluator, subject: Subject<'_>) -> Finding {
    let wanted = match Wanted::new(&it.wanted, it.any_case) {
        Ok(wanted) => wanted,
        Err(why) => return Finding::error(why),
    };
    let said = match said(it.within, subject) {
        Ok(said) => said,
        Err(finding) => return finding,
    };
    let counts = said.iter().map(|readings| {
        let counts = readings.iter().map(|it| wanted.count(it));
        counts.max().unwrap_or_default()
    });
    let count: usize = counts.sum();
    let least = it.least() as usize;
    let most = it.at_most.map_or(usize::MAX, |it| it as usize);
    let holds = (least..=most).contains(&count);
    // What placeholders hide may say it, too, unless it is such a secret itself.
    let may_be_more = count <= most && (count < least || it.at_most.is_some());
    if may_be_more
        && subject.hides_secrets()
        && !placeholder::holds(it.wanted.text())
        && said.iter().flatten().any(|it| placeholder::holds(it))
    {
        return Finding::hidden();
    }
    let is_log = it.within == TextSource::Log;
    if !is_log && holds != it.negated && said.iter().flatten().all(String::is_empty) {
        // That something is not there says nothing of a run in which nothing is.
        return Finding::skipped(match it.within {
            TextSource::FinalText => "the agent said nothing",
            TextSource::Answers => "no tool answered anything",
            TextSource::Transcript | TextSource::Log => "nothing was said",
        });
    }
    let found = found(it, count, &said);
    if holds == it.negated {
        Finding::failed(format!("{found}, and {}", expected(it)))
    } else {
        Finding::passed(found)
    }
}

/// What was said, each in every way it can be read.
fn said(within: TextSource, subject: Subject<'_>) -> Result<Vec<Vec<String>>, Finding> {
    let run = subject.trajectory;
    Ok(match within {
        TextSource::FinalText => vec![vec![answers::of(run).map_err(Finding::skipped)?.to_owned()]],
        TextSource::Log => match subject.around.map(RunEnvironment::logs) {
            None => return Err(Finding::gone(STORED)),
            Some([]) => return Err(Finding::error(NO_LOG)),
            Some(logs) => {
                let of_view = |it: &Left<String>| match subject.said {
                    Some(_) => it.shown.clone(),
                    None => it.said.clone(),
                };
                logs.iter().map(|it| vec![of_view(it)]).collect()
            }
        },
        TextSource::Answers => {
            let calls = run.calls();
            calls.map(|it| answers::readings(&it.outcome)).collect()
        }
        TextSource::Transcript => {
            let mut said = Vec::new();
            for step in &run.steps {
                match step {
                    Step::User { text } | Step::Assistant { text } => said.push(vec![text.clone()]),
                    Step::ToolCall(call) => {
                        let arguments = Value::Object(call.arguments.clone());
                        // As JSON, and as the texts that were meant: in JSON, quotes and line ends look otherwise.
                        let mut plain = vec![call.full_name()];
                        texts::each(&arguments, &mut |it| plain.push(it.to_owned()));
                        let json = format!("{} {arguments}", call.full_name());
                        said.push(vec![json, plain.join("\n")]);
                        said.push(answers::readings(&call.outcome));
                    }
                }
            }
            said
        }
    })
}

fn found(it: &TextEvaluator, count: usize, said: &[Vec<String>]) -> String {
    let place = match it.within {
        TextSource::FinalText => "the agent's last words",
        TextSource::Answers => "the answers",
        TextSource::Transcript => "what was said",
        TextSource::Log => "the servers' logs",
    };
    let what = shorten(it.wanted.text(), SAID_CHARS);
    let is_about_whole = matches!(it.wanted, TextMatch::Equals(_) | TextMatch::StartsWith(_));
    let words = match (count, is_about_whole) {
        (0, false) => format!("`{what}` is not in {place}"),
        (1, false) => format!("`{what}` is once in {place}"),
        (more, false) => format!("`{what}` is {more} times in {place}"),
        (0, true) => format!("nothing in {place} {} `{what}`", it.wanted.verb()),
        (1, true) => format!("1 text in {place} {} `{what}`", it.wanted.verb()),
        (more, true) => format!("{more} texts in {place} match `{what}`"),
    };
    match (it.within, count, said.first().and_then(|it| it.first())) {
        (TextSource::FinalText, 0, Some(text)) if text.is_empty() => {
            format!("{words}: the agent said nothing")
        }
        (TextSource::FinalText, 0, Some(text)) => {
            format!("{words}: it said `{}`", shorten(text.trim(), SAID_CHARS))
        }
        _ => words,
    }
}

fn expected(it: &TextEvaluator) -> String {
    let not = if it.negated { "not " } else { "" };
    match (it.at_least, it.at_most) {
        (None, None) if it.negated => "it should not be there".to_owned(),
        (None, None) => "it should be there".to_owned(),
        (Some(least), None) => format!("at least {least} are {not}expected"),
        (None, Some(most)) => format!("at most {most} are {not}expected"),
        (Some(least), Some(most)) => format!("{least} to {most} are {not}expected"),
    }
}
