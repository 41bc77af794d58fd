//! What it costs to score what searches and scanners answered, beside the parsing of the same answers.
//!
//! `cargo bench --bench discovery`

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on should stop here"
)]

use std::hint::black_box;

use divan::Bencher;
use mcp_eval::discovery::detector::Demands;
use mcp_eval::discovery::measures::{Figures, Grades, Ids, Ranking, figures, means};
use mcp_eval::discovery::places::Document;
use mcp_eval::discovery::security::measure;
use mcp_eval::discovery::verdicts::{self, Run};
use serde_json::{Value, json};

/// How many queries there are, and how many ids are answered to each.
const QUERIES: usize = 10_000;
const ANSWERED: usize = 100;
/// How many verdicts there are.
const VERDICTS: usize = 100_000;

fn main() {
    divan::main();
}

fn id(number: usize) -> String {
    format!("server{}:tool_{number}", number % 7)
}

fn answers() -> Vec<Vec<String>> {
    let answer = |query: usize| {
        (0..ANSWERED)
            .map(|at| id((query * 31 + at * 17) % 2000))
            .collect()
    };
    (0..QUERIES).map(answer).collect()
}

fn grades() -> Vec<Grades> {
    let of = |query: usize| {
        let labels = [(0, 2), (5, 1), (40, 1), (500, 0)];
        Grades::new(labels.map(|(at, grade)| (id((query * 31 + at * 17) % 2000), grade)))
    };
    (0..QUERIES).map(of).collect()
}

#[divan::bench]
fn rankings_parsed(bencher: Bencher<'_, '_>) {
    let text = serde_json::to_string(&answers()).unwrap();
    bencher.bench(|| serde_json::from_str::<Vec<Vec<String>>>(black_box(&text)).unwrap());
}

#[divan::bench]
fn rankings_scored(bencher: Bencher<'_, '_>) {
    let (answers, grades) = (answers(), grades());
    let corpus = Ids::new((0..2000).map(id));
    bencher.bench(|| {
        let each: Vec<Figures> = answers
            .iter()
            .zip(&grades)
            .map(|(answer, grades)| figures(Ranking::new(answer, &corpus).top(), grades))
            .collect();
        means(black_box(&each))
    });
}

fn file() -> String {
    let entries = (0..VERDICTS).map(|at| {
        json!({
            "id": format!("e{at}"),
            "label": if at % 3 == 0 { "malicious" } else { "benign" },
            "category": "words",
            "status": "ok",
            "flagged": at % 4 == 0,
            "score": f64::from(u8::try_from(at % 100).unwrap()) / 100.0,
        })
    });
    let entries: Vec<Value> = entries.collect();
    json!({ "format_version": 2, "detector": { "name": "d" }, "entries": entries }).to_string()
}

fn run() -> Run {
    let document = Document::parse("v.json", file()).unwrap();
    verdicts::read(&document, None).unwrap()
}

#[divan::bench]
fn verdicts_parsed(bencher: Bencher<'_, '_>) {
    let text = file();
    bencher.bench(|| serde_json::from_str::<Value>(black_box(&text)).unwrap());
}

#[divan::bench]
fn verdicts_measured(bencher: Bencher<'_, '_>) {
    let runs = [run()];
    let demands = Demands {
        fpr_ceiling: 0.1,
        recall_floor: 0.8,
        allow_errors: 0,
        prevalence: None,
    };
    bencher.bench(|| measure(black_box(&runs), None, &demands).unwrap());
}
