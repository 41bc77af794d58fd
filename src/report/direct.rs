//! Sentences on how the servers under test changed the answers of those behind them.

use std::collections::HashMap;
use std::hash::Hash;

use crate::bytes;
use crate::duration;
use model::number::{count, fixed};
use model::text::{plural, several};
use model::{Cost, Direct, DirectCall, DirectTool, DirectTotals};

/// How many calls that are alike are named by their numbers.
const NUMBERS: usize = 3;

/// One line, and whether it tells of something that was lost or changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) is_changed: bool,
}

/// What became of the answers: a line for calls that are alike, in the order of the first of them, and one for all that were passed on as
/// they were.
pub(super) fn calls(direct: &Direct) -> Vec<Line> {
    let (same, changed): (Vec<_>, Vec<_>) =
        direct.calls.iter().partition(|it| it.findings.is_empty());
    let alike = groups(&changed, |it| {
        (&it.tool, &it.server, &it.upstream_tool, &it.findings)
    });
    let mut lines: Vec<Line> = alike.iter().map(|it| changed_calls(it)).collect();
    if !same.is_empty() {
        let mut text = several(
            same.len(),
            "call passed on as it was",
            "calls passed on as they were",
        );
        // Where that is all there is, the totals say the same.
        if !lines.is_empty() {
            text = format!("{text} · {}", costs(&DirectTotals::of(same)));
        }
        lines.push(Line {
            text,
            is_changed: false,
        });
    }
    lines
}

fn changed_calls(calls: &[&DirectCall]) -> Line {
    let first = calls[0];
    let numbers: Vec<String> = calls.iter().map(|it| it.call.to_string()).collect();
    let numbers = match numbers.as_slice() {
        [one] => format!("call {one}"),
        [_, more @ ..] if more.len() >= NUMBERS => {
            let left = numbers.len() - NUMBERS;
            format!("calls {} and {left} more", numbers[..NUMBERS].join(", "))
        }
        several => format!("calls {}", several.join(", ")),
    };
    let text = format!(
        "{numbers} {}: {} · {}",
        way(first),
        first.findings.join("; "),
        costs(&DirectTotals::of(calls.iter().copied()))
    );
    Line {
        text,
        is_changed: true,
    }
}

/// What was called, and what that became behind: `files__read → files.read`.
pub(super) fn way(call: &DirectCall) -> String {
    let tool = call.tool.strip_prefix("mcp__");
    let tool = tool.and_then(|it| it.split_once("__"));
    let tool = tool.map_or(call.tool.as_str(), |(_, it)| it);
    format!("{tool} → {}.{}", call.server, call.upstream_tool)
}

/// What became of the tools: a line for those of which the same is found, one for those that are listed as they are, and one for those
/// that are not listed.
pub(super) fn tools(direct: &Direct) -> Vec<Line> {
    let listed = direct.tools.iter().filter(|it| it.listed_as.is_some());
    let (same, changed): (Vec<_>, Vec<_>) = listed.partition(|it| it.findings.is_empty());
    let alike = groups(&changed, |it| &it.findings);
    let mut lines: Vec<Line> = alike.iter().map(|it| changed_tools(it)).collect();
    let others = [
        match same.len() {
            0 => None,
            1 => Some("1 tool is listed as it is".to_owned()),
            count => Some(format!("{count} tools are listed as they are")),
        },
        unlisted(direct),
    ];
    lines.extend(others.into_iter().flatten().map(|text| Line {
        text,
        is_changed: false,
    }));
    lines
}

fn changed_tools(tools: &[&DirectTool]) -> Line {
    let first = tools[0];
    let listed = match tools.len() {
        1 => format!(
            "{} is listed as {}",
            name(first),
            first.listed_as.as_deref().unwrap_or_default()
        ),
        count => format!("{count} tools, {} among them", name(first)),
    };
    Line {
        text: format!("{listed}: {}", first.findings.join("; ")),
        is_changed: true,
    }
}

/// The tools that are not listed; `None` where all are.
fn unlisted(direct: &Direct) -> Option<String> {
    let missing = direct.tools.iter().filter(|it| it.listed_as.is_none());
    let missing: Vec<&DirectTool> = missing.collect();
    match missing.as_slice() {
        [] => None,
        [only] => Some(format!("{} is not listed", name(only))),
        [first, ..] => Some(format!(
            "{} tools are not listed, {} among them",
            missing.len(),
            name(first)
        )),
    }
}

/// The tool with its server: `files.read`.
pub(super) fn name(tool: &DirectTool) -> String {
    format!("{}.{}", tool.server, tool.tool)
}

/// What calls cost both ways: `12 ms, 340 bytes, ~85 tokens through; 1.1 ms, 310 bytes, ~78 tokens straight`.
pub(super) fn costs(totals: &DirectTotals) -> String {
    let (through, straight) = (cost(&totals.through), cost(&totals.straight));
    format!("{through} through; {straight} straight")
}

/// What one or several calls cost: `12 ms, 340 bytes, ~85 tokens`.
pub(super) fn cost(cost: &Cost) -> String {
    let ms = cost.ms.map(|it| format!("{}, ", duration::words(it)));
    format!(
        "{}{}, ~{}",
        ms.unwrap_or_default(),
        bytes::words(cost.bytes),
        plural(cost.tokens, "token")
    )
}

/// How many times as much it costs through the servers under test: `9.70 × the time, 0.86 × the bytes, 0.88 × the tokens`; empty where
/// nothing can be said.
pub(super) fn ratios(totals: &DirectTotals) -> String {
    let count = |number: usize| Some(count(number));
    let (through, straight) = (&totals.through, &totals.straight);
    let ratios = [
        ("time", through.ms, straight.ms),
        ("bytes", count(through.bytes), count(straight.bytes)),
        ("tokens", count(through.tokens), count(straight.tokens)),
    ];
    let ratios = ratios.into_iter().filter_map(|(what, a, b)| {
        let ratio = a? / b.filter(|it| *it > 0.0)?;
        Some(format!("{} × the {what}", fixed(ratio, 2)))
    });
    ratios.collect::<Vec<_>>().join(", ")
}

/// What is alike together, in the order of the first of each.
fn groups<'i, T, K: Eq + Hash>(items: &[&'i T], key: impl Fn(&'i T) -> K) -> Vec<Vec<&'i T>> {
    let mut places = HashMap::new();
    let mut groups: Vec<Vec<&T>> = Vec::new();
    for item in items {
        let place = *places.entry(key(item)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::{calls, costs, ratios, tools};
    use model::{Cost, Direct, DirectCall, DirectTool, DirectTotals};

    fn call(call: usize, findings: &[&str]) -> DirectCall {
        DirectCall {
            call,
            tool: "mcp__proxy__files__read".to_owned(),
            server: "files".to_owned(),
            upstream_tool: "read".to_owned(),
            findings: findings.iter().map(|it| (*it).to_owned()).collect(),
            through: Cost {
                ms: Some(12.3),
                bytes: 340,
                tokens: 85,
            },
            straight: Cost {
                ms: Some(1.1),
                bytes: 310,
                tokens: 1,
            },
        }
    }

    fn tool(tool: &str, listed_as: Option<&str>, findings: &[&str]) -> DirectTool {
        DirectTool {
            server: "files".to_owned(),
            tool: tool.to_owned(),
            listed_as: listed_as.map(str::to_owned),
            findings: findings.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    fn texts(lines: Vec<super::Line>) -> Vec<String> {
        let lines = lines.into_iter();
        let sign = |it: &super::Line| if it.is_changed { "~" } else { "·" };
        lines
            .map(|it| format!("{} {}", sign(&it), it.text))
            .collect()
    }

    #[test]
    fn calls_that_are_alike_share_a_line() {
        let cut = &["cut after 5 of 9 characters"][..];
        let direct = |calls: Vec<DirectCall>| Direct {
            calls,
            ..Direct::default()
        };
        let one = direct(vec![call(1, cut), call(2, &[])]);
        let cost = "12 ms, 340 bytes, ~85 tokens through; 1.1 ms, 310 bytes, ~1 token straight";
        assert_eq!(
            texts(calls(&one)),
            [
                format!("~ call 1 files__read → files.read: cut after 5 of 9 characters · {cost}"),
                format!("· 1 call passed on as it was · {cost}"),
            ]
        );
        let mut several: Vec<_> = (1..=5).map(|it| call(it, cut)).collect();
        several.insert(1, call(9, &["lost", "changed"]));
        let lines = texts(calls(&direct(several)));
        assert!(
            lines[0].starts_with("~ calls 1, 2, 3 and 2 more files__read → files.read: cut after 5 of 9 characters · 62 ms, 1.7 KB, ~425 tokens through"),
            "{lines:?}"
        );
        assert!(lines[1].starts_with("~ call 9 files__read → files.read: lost; changed · 12 ms"));
        let same = direct(vec![call(1, &[]), call(2, &[])]);
        assert_eq!(texts(calls(&same)), ["· 2 calls passed on as they were"]);
        assert_eq!(texts(calls(&direct(Vec::new()))), [""; 0]);
    }

    #[test]
    fn tools_that_are_alike_share_a_line() {
        let lost = &["`annotations` was lost"][..];
        let direct = |tools: Vec<DirectTool>| Direct {
            tools,
            ..Direct::default()
        };
        let some = direct(vec![
            tool("read", Some("files__read"), lost),
            tool("write", Some("files__write"), &[]),
            tool("find", None, &[]),
        ]);
        assert_eq!(
            texts(tools(&some)),
            [
                "~ files.read is listed as files__read: `annotations` was lost",
                "· 1 tool is listed as it is",
                "· files.find is not listed",
            ]
        );
        let many = ["a", "b"].map(|it| tool(it, Some(it), lost));
        let unlisted = ["c", "d"].map(|it| tool(it, None, &[]));
        let unchanged = ["e", "f"].map(|it| tool(it, Some(it), &[]));
        let all = many.into_iter().chain(unlisted).chain(unchanged);
        assert_eq!(
            texts(tools(&direct(all.collect()))),
            [
                "~ 2 tools, files.a among them: `annotations` was lost",
                "· 2 tools are listed as they are",
                "· 2 tools are not listed, files.c among them",
            ]
        );
    }

    #[test]
    fn ratios_are_given_where_there_is_something_to_divide_by() {
        let mut totals = DirectTotals::of(&[call(1, &[])]);
        assert_eq!(
            ratios(&totals),
            "11.18 × the time, 1.10 × the bytes, 85.00 × the tokens"
        );
        totals.straight.ms = None;
        totals.straight.bytes = 0;
        assert_eq!(ratios(&totals), "85.00 × the tokens");
        assert_eq!(
            costs(&totals),
            "12 ms, 340 bytes, ~85 tokens through; 0 bytes, ~1 token straight"
        );
    }
}
