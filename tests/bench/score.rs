//! The speed of scoring, each figure beside a reference measured in the same run: what the mere data cost anyone.
//!
//! `cargo bench --bench score`

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot go on should stop here, and it prints its figures"
)]

use divan::{Bencher, black_box};
use mcp_eval::agent::Answers;
use mcp_eval::model::rules::Rules;
use mcp_eval::model::{
    Answer, Catalogue, Comparison, Digits, Ending, Git, Header, Object, Outcome, ServerCatalogue,
    Servers, Stamp, Step, Tool, ToolCall, Trajectory, UpstreamCall, UpstreamLane,
};
use mcp_eval::score;
use serde_json::{Value, json};

mod shapes;

/// Changes so many per cent of a document, by numbers that begin with a seed.
type Edit = fn(&Value, usize, u64) -> Value;

fn main() {
    if std::env::args().any(|it| it == "ratios") {
        ratios();
    } else if std::env::args().any(|it| it == "growth") {
        growth();
    } else {
        divan::main();
    }
}

/// How the work grows with the number of calls, blocks and tools: the time for some, and how many times as long it takes for twice as many,
/// which is 2 where it grows in proportion (`cargo bench --bench score -- growth`).
fn growth() {
    type Work = fn(usize) -> Box<dyn Fn()>;
    let works: [(&str, usize, Work); 7] = [
        ("ids of calls learned", 2_000, |count| {
            let takes = [made(count, 0), made(count, 1)];
            Box::new(move || drop(black_box(score::learn(&takes, &Rules::default()))))
        }),
        ("ids of calls compared", 2_000, |count| {
            let (mut b, takes) = (made(count, 0), [made(count, 0), made(count, 1)]);
            score::learn(&takes, &Rules::default()).keep_in(&mut b);
            let c = made(count, 2);
            Box::new(move || drop(black_box(compare(&b, &c))))
        }),
        ("ids in one list learned", 1_000, |count| {
            let takes = [listed(count, 0), listed(count, 1)];
            Box::new(move || drop(black_box(score::learn(&takes, &Rules::default()))))
        }),
        ("references filled in", 4_000, |count| {
            let run = made(count, 0);
            let arguments = json!({ "id": "{{calls.0.json:/id}}" });
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            Box::new(move || {
                let answers = Answers::of(&run, None);
                for _ in 0..run.steps.len() {
                    answers.fill_references(&mut black_box(arguments.clone()), &[]);
                }
            })
        }),
        ("calls behind the server", 5_000, |count| {
            let side = |take| {
                let calls = made(count, take).calls().cloned().map(behind).collect();
                Trajectory {
                    upstream: Some(Box::new(UpstreamLane {
                        calls,
                        ..UpstreamLane::default()
                    })),
                    ..trajectory(self::calls(1, take))
                }
            };
            let (b, c) = (side(0), side(1));
            Box::new(move || drop(black_box(compare(&b, &c))))
        }),
        ("blocks of one answer", 20_000, |count| {
            let (b, c) = (blocks(count, 0), blocks(count, 1));
            Box::new(move || drop(black_box(compare(&b, &c))))
        }),
        ("tools of a catalogue", 4_000, |count| {
            let (b, c) = (tools(count, 0), tools(count, 1));
            Box::new(move || drop(black_box(compare(&b, &c))))
        }),
    ];
    println!("{:>26} {:>8} {:>10} {:>8}", "", "count", "time", "twice");
    for (name, count, work) in works {
        let (once, twice) = (fastest(work(count)), fastest(work(2 * count)));
        let ratio = twice.as_secs_f64() / once.as_secs_f64();
        println!(
            "{name:>26} {count:>8} {:>8}ms {ratio:>8.1}",
            once.as_millis()
        );
    }
}

/// Calls that make things with new ids, each followed by one that uses the id.
fn made(count: usize, take: usize) -> Trajectory {
    let mut state = 88_172_645_463_325_252_u64 + take as u64;
    let steps = (0..count / 2).flat_map(|number| {
        let id = format!("{:012x}-{number}", next(&mut state));
        let answer = json!({ "id": id, "url": format!("https://h.example/items/{id}") });
        let open = json!({ "id": id, "deep": true }).as_object().cloned();
        [
            step("create", Object::new(), &answer.to_string()),
            step("open", open.unwrap_or_default(), "{\"title\": \"thing\"}"),
        ]
    });
    trajectory(steps.collect())
}

/// One list of things with new ids, and calls that use them.
fn listed(count: usize, take: usize) -> Trajectory {
    let made = made(2 * count, take);
    let ids: Vec<Value> = (made
        .calls()
        .filter_map(|it| it.arguments.get("id"))
        .cloned())
    .collect();
    let list: Vec<Value> = ids
        .iter()
        .map(|id| json!({ "id": id, "name": "a thing" }))
        .collect();
    let list = step("list", Object::new(), &Value::from(list).to_string());
    let opened = made.steps.into_iter().skip(1).step_by(2);
    trajectory(std::iter::once(list).chain(opened).collect())
}

fn behind(call: ToolCall) -> UpstreamCall {
    UpstreamCall {
        cause: Some(1),
        call,
        headers: Vec::new(),
    }
}

fn blocks(count: usize, take: usize) -> Trajectory {
    let mut side = trajectory(calls(1, 0));
    if let Some(Step::ToolCall(call)) = side.steps.first_mut()
        && let Outcome::Answer(answer) = &mut call.outcome
    {
        let text = |at: usize| format!("row {at} of the table, {}", at % 7 * take);
        answer.content = (0..count)
            .map(|at| json!({ "type": "text", "text": text(at) }))
            .collect();
    }
    side
}

fn tools(count: usize, take: usize) -> Trajectory {
    let tool = |at: usize| {
        // Of a hundred tools, one has another name in another take.
        let name = format!(
            "tool_{at}_{}",
            if at.is_multiple_of(100) { take } else { 0 }
        );
        let served = json!({
            "name": name,
            "description": format!("Does the thing of number {at} in way {take}"),
            "inputSchema": { "type": "object", "properties": { "id": { "type": "string" } } },
        });
        Tool {
            served: served.as_object().cloned().unwrap_or_default(),
        }
    };
    Trajectory {
        catalogue: Catalogue {
            servers: vec![ServerCatalogue {
                server: "mcpproxy".to_owned(),
                tools: (0..count).map(tool).collect(),
                ..ServerCatalogue::default()
            }],
            ..Catalogue::default()
        },
        ..trajectory(calls(1, 0))
    }
}

/// How many times as long as parsing both answers it takes to compare them, for every shape and share of changes: a table, in
/// place of the usual figures (`cargo bench --bench score -- ratios`, with `held` of answers that recording received twice, also with a number of leaves and a part of a shape's name).
fn ratios() {
    const SHARES: [usize; 7] = [0, 1, 10, 25, 50, 75, 100];
    let given: Vec<String> = std::env::args().skip(1).collect();
    let leaves = given
        .iter()
        .find_map(|it| it.parse().ok())
        .unwrap_or(20_000);
    let wanted = given.iter().find(|it| {
        it.parse::<usize>().is_err() && !it.starts_with('-') && *it != "ratios" && *it != "held"
    });
    println!(
        "{:>28} {:>8}  times, by per cent changed",
        "shape", "parsed"
    );
    println!(
        "{:>28} {:>8} {}",
        "",
        "",
        SHARES.map(|it| format!("{it:>7}")).join("")
    );
    for (name, make) in shapes::SHAPES {
        let document = make(leaves);
        let mut edits: Vec<(String, Edit)> = vec![(name.to_owned(), shapes::changed)];
        if document.is_array() {
            edits.push((format!("{name}, moved"), shapes::rearranged));
        }
        edits.retain(|(name, _)| wanted.is_none_or(|it| name.contains(it.as_str())));
        for (name, edit) in edits {
            ratios_of(
                &name,
                &document,
                SHARES.map(|share| edit(&document, share, 7)),
            );
        }
    }
}

fn ratios_of(name: &str, document: &Value, changed: [Value; 7]) {
    let answer = |document: &Value| {
        trajectory(vec![step(
            "read_cache",
            Object::new(),
            &document.to_string(),
        )])
    };
    let mut b = answer(document);
    // What was received twice is held, and graded besides.
    if std::env::args().any(|it| it == "held") {
        let takes = [b.clone(), b.clone()];
        b.learned = score::learn(&takes, &Rules::default()).answers;
    }
    print!("{name:>28} {:>6}us ", fastest(|| parse(&b)).as_micros());
    for document in changed {
        let c = answer(&document);
        let both = fastest(|| (parse_through(&b), parse_through(&c)));
        let compared = fastest(|| compare(&b, &c));
        print!("{:>7.1}", compared.as_secs_f64() / both.as_secs_f64());
        let _ = std::io::Write::flush(&mut std::io::stdout());
    }
    println!();
}

/// The least time something took, of a few times.
fn fastest<T>(run: impl Fn() -> T) -> std::time::Duration {
    let mut least = std::time::Duration::MAX;
    let begun = std::time::Instant::now();
    for _ in 0..7 {
        let start = std::time::Instant::now();
        black_box(run());
        least = least.min(start.elapsed());
        if begun.elapsed().as_secs() >= 2 {
            break;
        }
    }
    least
}

const TOOLS: [&str; 8] = [
    "retrieve_tools",
    "call_tool_read",
    "call_tool_write",
    "upstream_servers",
    "read_cache",
    "list_registries",
    "search_servers",
    "quarantine_security",
];

fn trajectory(steps: Vec<Step>) -> Trajectory {
    Trajectory {
        scenario: "bench".to_owned(),
        name: "Bench".to_owned(),
        scenario_hash: None,
        stamp: Stamp {
            recorded_at: "2026-01-02T03:04:05Z".parse().unwrap(),
            utc_offset: None,
            mcp_eval: "0.0.0".to_owned(),
            agent: "scripted".to_owned(),
            agent_hash: None,
            agent_parts: std::collections::BTreeMap::new(),
            servers: Servers::Live,
            model: None,
            scenarios: Git::Unknown {
                reason: "not asked".to_owned(),
            },
            source: None,
            image: None,
        },
        catalogue: Catalogue::default(),
        steps,
        ending: Ending::Completed,
        duration_ms: None,
        learned: Vec::new(),
        repeated: None,
        as_said: None,
        upstream: None,
        bindings: Vec::new(),
        requests: Vec::new(),
    }
}

/// A call as agents make them: a tool, a query or an operation, a limit, and a small JSON answer. Every third answer of
/// another `take` has another time in it, every seventh another rank, and every ninth request another limit.
fn call(number: usize, take: usize) -> Step {
    let query = format!(
        "environment variables of server {} in group {}",
        number % 1000,
        number / 1000
    );
    let limit = if number.is_multiple_of(9) {
        10 + take
    } else {
        10
    };
    let rank = if number.is_multiple_of(7) {
        400 + take
    } else {
        400
    };
    let minute = if number.is_multiple_of(3) {
        10 + take
    } else {
        10
    };
    let args = json!({"query": query, "limit": limit, "include_stats": false});
    let text = json!({
        "tools": [{"name": format!("tool_{number}"), "score": rank, "server": "everything"}],
        "total": 1,
        "updated": format!("2026-01-02T03:{minute}:00Z"),
    });
    let Value::Object(arguments) = args else {
        unreachable!()
    };
    step(TOOLS[number % TOOLS.len()], arguments, &text.to_string())
}

fn step(tool: &str, arguments: Object, text: &str) -> Step {
    Step::ToolCall(Box::new(ToolCall {
        server: Some("mcpproxy".to_owned()),
        tool: tool.to_owned(),
        arguments,
        outcome: Outcome::Answer(Answer {
            content: vec![json!({"type": "text", "text": text})],
            ..Answer::default()
        }),
        digits: Digits::new(),
        again: Vec::new(),
        began: None,
        start_ms: None,
        duration_ms: None,
    }))
}

fn calls(count: usize, take: usize) -> Vec<Step> {
    (0..count).map(|it| call(it, take)).collect()
}

/// The steps in an order that a fixed sequence of numbers decides.
fn shuffled(mut steps: Vec<Step>) -> Vec<Step> {
    let mut state = 88_172_645_463_325_252_u64;
    for at in (1..steps.len()).rev() {
        steps.swap(at, next(&mut state) % (at + 1));
    }
    steps
}

/// Marsaglia's xorshift: numbers that look random and are the same every time.
fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state >> 33).unwrap()
}

fn edited(mut steps: Vec<Step>, edits: usize) -> Vec<Step> {
    let mut state = 42_u64;
    for edit in 0..edits {
        let at = next(&mut state) % steps.len();
        match edit % 3 {
            0 => {
                steps.remove(at);
            }
            1 => steps.insert(at, call(1_000_000 + edit, 0)),
            _ => steps[at] = call(2_000_000 + edit, 0),
        }
    }
    steps
}

fn compare(b: &Trajectory, c: &Trajectory) -> Comparison {
    score::compare(b, c, &Rules::default())
}

/// What the data cost anyone: both sides copied.
fn copies(bencher: Bencher<'_, '_>, b: &Trajectory, c: &Trajectory) {
    bencher.bench_local(|| (black_box(b).clone(), black_box(c).clone()));
}

/// What the data cost anyone who wants to know more than whether texts are equal: every answer parsed.
fn parses(bencher: Bencher<'_, '_>, b: &Trajectory, c: &Trajectory) {
    bencher.bench_local(|| (parse(black_box(b)), parse(black_box(c))));
}

fn parse(side: &Trajectory) -> Vec<Value> {
    let texts = side.calls().map(|call| match &call.outcome {
        Outcome::Answer(answer) => answer.text(),
        Outcome::Failure(_) => String::new(),
    });
    texts
        .filter_map(|it| serde_json::from_str(&it).ok())
        .collect()
}

/// The same where texts in the answers are JSON as well.
fn parse_through(side: &Trajectory) -> Vec<Value> {
    let mut documents = parse(side);
    let mut at = 0;
    while at < documents.len() {
        let mut texts = Vec::new();
        texts_in(&documents[at], &mut texts);
        documents.extend(texts);
        at += 1;
    }
    documents
}

fn texts_in(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|it| texts_in(it, found)),
        Value::Object(members) => members.values().for_each(|it| texts_in(it, found)),
        Value::String(text) if text.starts_with(['{', '[']) => {
            found.extend(serde_json::from_str::<Value>(text));
        }
        _ => {}
    }
}

mod typical_pairs_10000 {
    use super::{Bencher, calls, trajectory};

    fn sides() -> (super::Trajectory, super::Trajectory) {
        (trajectory(calls(10_000, 0)), trajectory(calls(10_000, 1)))
    }

    #[divan::bench]
    fn compared(bencher: Bencher<'_, '_>) {
        let (b, c) = sides();
        bencher.bench_local(|| super::compare(&b, &c));
    }

    #[divan::bench]
    fn reference_copied(bencher: Bencher<'_, '_>) {
        let (b, c) = sides();
        super::copies(bencher, &b, &c);
    }

    #[divan::bench]
    fn reference_parsed(bencher: Bencher<'_, '_>) {
        let (b, c) = sides();
        super::parses(bencher, &b, &c);
    }
}

mod shuffled_1000 {
    use super::{Bencher, calls, shuffled, trajectory};

    #[divan::bench]
    fn compared(bencher: Bencher<'_, '_>) {
        let (b, c) = (
            trajectory(calls(1000, 0)),
            trajectory(shuffled(calls(1000, 0))),
        );
        bencher.bench_local(|| super::compare(&b, &c));
    }

    #[divan::bench]
    fn reference_in_order(bencher: Bencher<'_, '_>) {
        let b = trajectory(calls(1000, 0));
        bencher.bench_local(|| super::compare(&b, &b));
    }
}

mod edited_10000 {
    use super::{Bencher, calls, edited, trajectory};

    #[divan::bench]
    fn compared_20_edits(bencher: Bencher<'_, '_>) {
        let (b, c) = (
            trajectory(calls(10_000, 0)),
            trajectory(edited(calls(10_000, 0), 20)),
        );
        bencher.bench_local(|| super::compare(&b, &c));
    }

    #[divan::bench]
    fn reference_unedited(bencher: Bencher<'_, '_>) {
        let b = trajectory(calls(10_000, 0));
        bencher.bench_local(|| super::compare(&b, &b));
    }
}

/// The calls that a server behind the one under test received for 10,000 calls, beside the calls themselves.
mod upstream_10000 {
    use super::{Bencher, Header, Trajectory, UpstreamCall, UpstreamLane, calls, trajectory};

    fn side(take: usize, received: usize) -> Trajectory {
        let lane = trajectory(calls(received, take));
        let calls = lane.calls().zip(1..).map(|(call, number)| UpstreamCall {
            cause: Some(number),
            call: call.clone(),
            headers: vec![Header {
                name: "authorization".to_owned(),
                value: "Bearer abc".to_owned(),
            }],
        });
        let lane = UpstreamLane {
            calls: calls.collect(),
            ..UpstreamLane::default()
        };
        Trajectory {
            upstream: Some(Box::new(lane)),
            ..trajectory(super::calls(10_000, take))
        }
    }

    #[divan::bench(sample_count = 3, sample_size = 1)]
    fn compared(bencher: Bencher<'_, '_>) {
        let (b, c) = (side(0, 10_000), side(1, 10_000));
        bencher.bench_local(|| super::compare(&b, &c));
    }

    /// All of it arrived during one call.
    #[divan::bench(sample_count = 3, sample_size = 1)]
    fn compared_at_once(bencher: Bencher<'_, '_>) {
        let at_once = |mut side: Trajectory| {
            let lane = side.upstream.as_mut().unwrap();
            lane.calls.iter_mut().for_each(|it| it.cause = Some(1));
            side
        };
        let (b, c) = (at_once(side(0, 10_000)), at_once(side(1, 10_000)));
        bencher.bench_local(|| super::compare(&b, &c));
    }

    #[divan::bench(sample_count = 3, sample_size = 1)]
    fn reference_no_upstream_calls(bencher: Bencher<'_, '_>) {
        let (b, c) = (side(0, 0), side(1, 0));
        bencher.bench_local(|| super::compare(&b, &c));
    }
}

mod json_10_mb {
    use super::{Bencher, Object, Trajectory, json, step, trajectory};

    /// A list of records with five leaves each; every twentieth has one leaf changed in another `take`, which makes one
    /// leaf in a hundred.
    fn answer(take: usize) -> Trajectory {
        let record = |number: usize| {
            let changed = if number % 20 == 3 { take } else { 0 };
            json!({
                "id": format!("record-{number}"),
                "name": format!("The {number}th of many records, with some words in it"),
                "rank": number * 10 + changed,
                "enabled": number.is_multiple_of(2),
                "tags": "one two three four",
            })
        };
        let text = json!({"records": (0..75_000).map(record).collect::<Vec<_>>()}).to_string();
        trajectory(vec![step("read_cache", Object::new(), &text)])
    }

    #[divan::bench(sample_count = 5, sample_size = 1)]
    fn compared(bencher: Bencher<'_, '_>) {
        let (b, c) = (answer(0), answer(1));
        bencher.bench_local(|| super::compare(&b, &c));
    }

    #[divan::bench(sample_count = 5, sample_size = 1)]
    fn reference_parsed(bencher: Bencher<'_, '_>) {
        let (b, c) = (answer(0), answer(1));
        super::parses(bencher, &b, &c);
    }
}
