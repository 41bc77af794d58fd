//! Cases whose figures were computed by others, `ir_measures` and Python among them: ours are the same to the last digit.

use std::fs;

use mcp_eval::discovery::detector::{Counts, Detection};
use mcp_eval::discovery::measures::{AtCuts, CUTS, Figures, Grades, Ids, Ranking, figures, means};
use mcp_eval::discovery::measures::{randomisation, wilson};
use serde_json::{Value, json};

use crate::common::root;

fn vectors(kind: &str) -> Vec<Value> {
    let file = root().join("tests/fixtures/discovery/vectors.json");
    let all: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    all[kind].as_array().unwrap().clone()
}

fn texts(list: &Value) -> Vec<String> {
    let texts = list.as_array().unwrap().iter();
    texts.map(|it| it.as_str().unwrap().to_owned()).collect()
}

fn recall(at: &AtCuts) -> Value {
    let cuts = CUTS.map(|cut| (cut.to_string(), json!(at.at(cut))));
    Value::Object(cuts.into_iter().collect())
}

/// Figures as the file has them.
fn written(figures: &Figures, precision: &str) -> Value {
    json!({
        "recall_at": recall(&figures.recall),
        "mrr": figures.mrr,
        "ndcg_at_10": figures.ndcg,
        "ndcg_exp_at_10": figures.ndcg_exp,
        precision: figures.ap,
        "hit_at_5": figures.hit.at(5),
        "complete_at_5": figures.complete.at(5),
    })
}

#[test]
fn rankings() {
    let cases = vectors("retrieval");
    assert_eq!(cases.len(), 20);
    for (number, case) in cases.iter().enumerate() {
        let corpus = Ids::new(texts(&case["corpus"]));
        let mut all = Vec::new();
        for query in case["queries"].as_array().unwrap() {
            let labels = query["labels"].as_array().unwrap().iter();
            let grades = Grades::new(labels.map(|it| {
                let grade = it["relevance"].as_u64().unwrap();
                (
                    it["tool_id"].as_str().unwrap(),
                    u8::try_from(grade).unwrap(),
                )
            }));
            let answered = texts(&query["answered"]);
            let ranking = Ranking::new(&answered, &corpus);
            let figures = figures(ranking.top(), &grades);
            assert_eq!(
                written(&figures, "ap"),
                query["expected"],
                "{number}, {}",
                query["id"]
            );
            all.push(figures);
        }
        assert_eq!(written(&means(&all), "map"), case["expected"], "{number}");
    }
}

#[test]
fn detections() {
    let cases = vectors("detection");
    assert_eq!(cases.len(), 12);
    for (number, case) in cases.iter().enumerate() {
        // One letter per entry: malicious or benign, in capitals where it was flagged.
        let runs: Vec<Counts> = texts(&case["runs"])
            .iter()
            .map(|run| {
                let letters = run.chars();
                Counts::of(letters.map(|it| (matches!(it, 'm' | 'M'), it.is_uppercase())))
            })
            .collect();
        let found = Detection::over(&runs);
        let expected = &case["expected"];
        let (rates, counts) = (found.rates, found.counts);
        for (name, value) in [
            ("precision", rates.precision),
            ("recall", rates.recall),
            ("f1", rates.f1),
            ("fpr", rates.fpr),
            ("fpr_std", found.fpr_deviation),
        ] {
            assert_eq!(json!(value), expected[name], "{number}, {name}");
        }
        for (name, value) in [
            ("tp", counts.true_positives),
            ("fp", counts.false_positives),
            ("tn", counts.true_negatives),
            ("fn", counts.false_negatives),
        ] {
            assert_eq!(json!(value), expected[name], "{number}, {name}");
        }
        for (name, hits, of) in [
            (
                "recall_wilson_95",
                counts.true_positives,
                counts.malicious(),
            ),
            ("fpr_wilson_95", counts.false_positives, counts.benign()),
        ] {
            if let Some(expected) = expected.get(name) {
                let interval = wilson(hits, of).unwrap();
                let found = json!([interval.low, interval.high]);
                assert_eq!(found, *expected, "{number}, {name}");
            }
        }
        assert_eq!(
            json!(found.passes(0.10, 0.80)),
            case["gate_0.10_0.80"],
            "{number}"
        );
    }
}

#[test]
fn differences_of_two_runs() {
    let cases = vectors("paired");
    assert_eq!(cases.len(), 8);
    for (number, case) in cases.iter().enumerate() {
        let differences = case["differences"].as_array().unwrap().iter();
        let differences: Vec<f64> = differences.map(|it| it.as_f64().unwrap()).collect();
        let found = randomisation(&differences);
        assert_eq!(json!(found.p), case["p_exact_two_sided"], "{number}");
        assert!(found.is_exact);
    }
}
