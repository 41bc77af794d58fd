//! Bounds and corners of measurements, each by the smallest case that shows it.

use std::time::Duration;

use mcp_eval::discovery::baseline::Baseline;
use mcp_eval::discovery::gates::Demands;
use mcp_eval::discovery::golden::{Corpus, Tool};
use mcp_eval::discovery::golden::{Golden, Label, Query};
use mcp_eval::discovery::ground::Ground;
use mcp_eval::discovery::retrieval::{Learned, Measured, measure};
use mcp_eval::discovery::search::{Answer, Finds, Found, Search, doubts};
use mcp_eval::published::measured::Status;
use mcp_eval::published::measured::retrieval::{Allowed, Report, Why};
use serde_json::json;

/// A corpus of `s:a` to `s:f`, and queries.
struct Sets {
    corpus: Corpus,
    golden: Golden,
    finds: Finds,
}

/// A query that is called as its text, with the grades of tools.
fn query(id: &str, labels: &[(&str, u8)]) -> Query {
    let labels = labels.iter().map(|(tool, grade)| Label {
        tool_id: (*tool).to_owned(),
        grade: *grade,
        pointer: String::new(),
    });
    Query {
        id: id.to_owned(),
        text: id.to_owned(),
        labels: labels.collect(),
        is_whole: true,
        pointer: String::new(),
    }
}

fn sets(queries: Vec<Query>) -> Sets {
    let tools = ["s:a", "s:b", "s:c", "s:d", "s:e", "t:f"].map(|id| Tool {
        id: id.to_owned(),
        server: id[..1].to_owned(),
        name: id[2..].to_owned(),
        description: String::new(),
        schema: None,
        pointer: String::new(),
    });
    Sets {
        corpus: Corpus {
            version: None,
            tools: tools.into(),
        },
        golden: Golden {
            corpus_version: None,
            queries,
        },
        finds: Finds::Tools,
    }
}

impl Sets {
    fn ground(&self) -> Ground<'_> {
        Ground {
            corpus: &self.corpus,
            golden: &self.golden,
            finds: self.finds,
        }
    }

    fn measured(&self, runs: &[Vec<Answer>]) -> Measured<'_> {
        measure(self.ground(), runs, &Learned::default())
    }

    /// The report on one run in which these were found.
    fn report(&self, found: &[&[&str]]) -> Report {
        self.measured(&[run(found)]).into_report()
    }

    /// What one run in which these were found is for another to be held against.
    fn baseline(&self, found: &[&[&str]]) -> Baseline {
        self.measured(&[run(found)]).figures()
    }

    /// The report on one run in which these were found, held against a baseline.
    fn judged(&self, found: &[&[&str]], baseline: &Baseline, demands: &Demands) -> Report {
        let mut measured = self.measured(&[run(found)]);
        measured.judge("before", baseline, demands);
        measured.into_report()
    }
}

fn answer(ids: &[&str]) -> Answer {
    let found = ids.iter().map(|id| Found {
        id: (*id).to_owned(),
        ..Found::default()
    });
    Answer {
        found: found.collect(),
        ..Answer::default()
    }
}

fn run(found: &[&[&str]]) -> Vec<Answer> {
    found.iter().map(|it| answer(it)).collect()
}

#[test]
fn a_query_that_may_be_lost_need_not_be_asked_any_more() {
    let before = sets(vec![
        query("kept", &[("s:a", 2)]),
        query("gone", &[("s:b", 2)]),
    ]);
    let baseline = before.baseline(&[&["s:a"], &["s:b"]]);
    let now = sets(vec![query("kept", &[("s:a", 2)])]);
    let mut demands = Demands {
        max_lost: Some(0),
        ..Demands::default()
    };
    let report = now.judged(&[&["s:a"]], &baseline, &demands);
    let gate = report.lost_gate.unwrap();
    assert_eq!((gate.passed, gate.not_measured), (false, true));
    assert_eq!(report.status, Status::Incomplete);
    demands.allowed.push(Allowed {
        id: "gone".to_owned(),
        reason: String::new(),
        until: String::new(),
    });
    let report = now.judged(&[&["s:a"]], &baseline, &demands);
    let gate = report.lost_gate.unwrap();
    assert_eq!((gate.passed, gate.not_measured), (true, false));
    assert_eq!(report.status, Status::Passed);
}

#[test]
fn a_difference_is_now_less_then() {
    let sets = sets(vec![
        query("one", &[("s:a", 2), ("s:b", 1)]),
        query("two", &[("s:c", 2)]),
    ]);
    let then: &[&[&str]] = &[&["s:a", "s:d", "s:b"], &["s:d", "s:c"]];
    let now: &[&[&str]] = &[&["s:d", "s:a"], &["s:c"]];
    let (before, after) = (
        sets.report(then).metrics.unwrap(),
        sets.report(now).metrics.unwrap(),
    );
    let baseline = sets.baseline(then);
    let report = sets.judged(now, &baseline, &Demands::default());
    let delta = report.baseline_delta.unwrap();
    for (delta, now, then) in [
        (delta.mrr, after.mrr, before.mrr),
        (delta.ndcg_at_10, after.ndcg_at_10, before.ndcg_at_10),
        (delta.map, after.map, before.map),
        (delta.recall_at_5, after.recall(5), before.recall(5)),
    ] {
        assert_eq!(delta, Some(now - then));
    }
    for cut in [1, 3, 5, 10] {
        assert_eq!(
            delta.recall_at.get(&cut.to_string()).copied(),
            Some(after.recall(cut) - before.recall(cut))
        );
    }
    let tests = report.compared.unwrap().tests;
    let of = |name: &str| {
        tests
            .iter()
            .find(|it| it.metric == name)
            .unwrap()
            .difference
    };
    assert!((of("mrr") - (after.mrr - before.mrr)).abs() < 1e-12);
    assert!(of("recall_at_5") < 0.0);
}

#[test]
fn nothing_is_said_of_before_where_it_was_another_query() {
    let before = sets(vec![query("q", &[("s:a", 2)]), query("r", &[("s:b", 2)])]);
    let baseline = before.baseline(&[&["s:a"], &["s:b"]]);
    let mut worded = query("q", &[("s:a", 2)]);
    worded.text = "other words".to_owned();
    for other in [
        worded,
        query("q", &[("s:a", 1)]),
        query("q", &[("s:a", 2), ("s:c", 1)]),
        query("q", &[("s:c", 2)]),
    ] {
        let now = sets(vec![other, query("r", &[("s:b", 2)])]);
        let report = now.judged(&[&["s:a"], &["s:b"]], &baseline, &Demands::default());
        assert_eq!(report.compared.unwrap().changed, ["q"]);
        let before = report.per_query.iter().map(|it| it.before.is_some());
        assert_eq!(before.collect::<Vec<_>>(), [false, true]);
    }
}

#[test]
fn the_mean_of_runs_loses_and_wins_nothing_by_its_last_bits() {
    let five = [("s:a", 1), ("s:b", 1), ("s:c", 1), ("s:d", 1), ("s:e", 1)];
    let sets = sets(vec![query("q", &five)]);
    let once = run(&[&["s:a"]]);
    let baseline_of = |runs: usize| sets.measured(&vec![once.clone(); runs]).figures();
    let one_fifth = baseline_of(3).queries[0].recall.at(5);
    assert!(
        one_fifth.to_bits() != 0.2_f64.to_bits(),
        "no case: {one_fifth}"
    );
    for (now, then) in [(3, 1), (1, 3)] {
        let mut measured = sets.measured(&vec![once.clone(); now]);
        let demands = Demands {
            max_lost: Some(0),
            tolerance: Some(0.0),
            ..Demands::default()
        };
        measured.judge("before", &baseline_of(then), &demands);
        let report = measured.into_report();
        assert_eq!(report.status, Status::Passed, "{now} after {then}");
        let compared = report.compared.unwrap();
        assert!(compared.is_equal(), "{compared:?}");
        assert!(
            compared
                .tests
                .iter()
                .all(|it| it.difference == 0.0 && it.p >= 1.0)
        );
    }
}

/// An answer with scores.
fn scored(ids: &[(&str, f64)]) -> Answer {
    let found = ids.iter().map(|(id, score)| Found {
        id: (*id).to_owned(),
        score: Some(*score),
        ..Found::default()
    });
    Answer {
        found: found.collect(),
        ..Answer::default()
    }
}

#[test]
fn only_what_equal_scores_can_explain_is_said_to_be_chance() {
    let sets = sets(vec![query("q", &[("s:a", 2)])]);
    let first = [("s:a", 3.0), ("s:b", 2.0), ("s:c", 1.0)];
    let tied_first = [("s:a", 3.0), ("s:b", 3.0), ("s:c", 1.0)];
    let tied_second = [("s:b", 3.0), ("s:a", 3.0), ("s:c", 1.0)];
    let below = [("s:b", 3.0), ("s:c", 3.0), ("s:a", 1.0)];
    let tied_below = [("s:b", 3.0), ("s:c", 1.0), ("s:a", 1.0)];
    let gone = [("s:b", 3.0), ("s:c", 3.0)];
    let chance = |then: &[(&str, f64)], now: &[(&str, f64)]| {
        let baseline = sets.measured(&[vec![scored(then)]]).figures();
        let mut measured = sets.measured(&[vec![scored(now)]]);
        measured.judge("before", &baseline, &Demands::default());
        let compared = measured.into_report().compared.unwrap();
        assert!(
            compared.moved.len() + compared.lost.len() == 1,
            "{compared:?}"
        );
        !compared.tied.is_empty()
    };
    assert!(chance(&first, &tied_second));
    assert!(chance(&tied_first, &tied_second));
    // There are equal scores, and none of them makes the first of it.
    assert!(!chance(&first, &below));
    assert!(!chance(&first, &tied_below));
    assert!(!chance(&tied_first, &gone));
    assert!(!chance(&tied_first, &below));
}

#[test]
fn a_gate_that_nothing_can_fail_is_none() {
    let sets = sets(vec![query("q", &[("s:a", 2)]), query("r", &[("s:b", 2)])]);
    let nothing = sets.baseline(&[&[], &["s:a"]]);
    let half = sets.baseline(&[&["s:a"], &["s:a"]]);
    let demands = |tolerance: Option<f64>, floor: Option<f64>, max_lost: Option<usize>| Demands {
        tolerance,
        floor,
        max_lost,
        allowed: Vec::new(),
    };
    for (demands, baseline, is_idle) in [
        (demands(None, None, None), None, false),
        (demands(None, None, None), Some(&half), false),
        (demands(None, None, None), Some(&nothing), true),
        (demands(Some(0.5), None, None), Some(&half), true),
        (demands(Some(0.49), None, None), Some(&half), false),
        (demands(Some(1.0), Some(0.1), None), Some(&half), false),
        (demands(Some(1.0), Some(0.0), None), Some(&half), true),
        (demands(Some(1.0), None, Some(2)), Some(&half), true),
        (demands(Some(1.0), None, Some(1)), Some(&half), false),
        (demands(None, Some(0.0), None), None, true),
        (demands(None, None, Some(2)), None, true),
    ] {
        assert_eq!(demands.idle(baseline, 2).is_some(), is_idle, "{demands:?}");
    }
}

#[test]
fn answers_without_a_rank_are_reported_with_the_figures_of_all() {
    let sets = sets(vec![query("q", &[("s:a", 2)])]);
    let of = |found: &[&str]| {
        let report = sets.report(&[found]);
        let further = report.further.unwrap();
        let all = further.as_answered.map(|it| (it.mrr, it.recall(3)));
        (report.metrics.unwrap().mrr, all)
    };
    assert_eq!(of(&["s:b", "s:a"]), (0.5, None));
    assert_eq!(of(&["x:y", "s:a"]), (1.0, Some((0.5, 1.0))));
    assert_eq!(of(&["s:b", "s:b", "s:b", "s:a"]), (0.5, Some((0.25, 0.0))));
    // Found twice is found once.
    assert_eq!(of(&["s:b", "s:a", "s:a"]), (0.5, Some((0.5, 1.0))));
}

#[test]
fn what_the_gate_does_not_count_is_a_miss_with_its_rank() {
    let all: &[&str] = &["s:a", "s:b", "s:c", "s:d", "s:e", "t:f"];
    let sets = sets(vec![query("q", &[("s:e", 2)]), query("r", &[("t:f", 2)])]);
    let report = sets.report(&[all, all]);
    assert!(report.per_query[0].misses.is_empty());
    let miss = &report.per_query[1].misses[0];
    assert_eq!((miss.why, miss.rank), (Why::BelowFive, Some(6)));
}

#[test]
fn the_cost_of_an_answer_is_reported() {
    let sets = sets(
        (0..21)
            .map(|at| query(&format!("q{at}"), &[("s:a", 2)]))
            .collect(),
    );
    let answers = (0..21).map(|at| Answer {
        bytes: if at == 0 { 0 } else { 210 },
        took: Duration::from_millis(at),
        ..answer(&["s:a"])
    });
    let report = sets.measured(&[answers.collect()]).into_report();
    let further = report.further.unwrap();
    let latency = further.latency_ms.unwrap();
    assert_eq!((further.bytes, further.tokens), (200.0, 50.0));
    assert_eq!((latency.p50, latency.p95), (10.0, 19.0));
}

#[test]
fn grade_2_alone_has_figures_of_its_own() {
    let sets = sets(vec![query("q", &[("s:a", 1), ("s:b", 2)])]);
    let report = sets.report(&[&["s:a", "s:b"]]);
    let (all, wanted) = (
        report.metrics.unwrap(),
        report.further.unwrap().grade_2_only,
    );
    assert_eq!((all.mrr, all.recall(1)), (1.0, 0.5));
    assert_eq!(
        (wanted.mrr, wanted.recall(1), wanted.recall(3)),
        (0.5, 0.0, 1.0)
    );
    assert_eq!(Some(wanted.map), Some(0.5));
    // Of a query that nobody has labelled so, nothing is known.
    let more = self::sets(vec![
        query("q", &[("s:a", 1), ("s:b", 2)]),
        query("r", &[("s:c", 1)]),
    ]);
    let further = more.report(&[&["s:a", "s:b"], &["s:c"]]).further.unwrap();
    assert_eq!((further.grade_2_only.mrr, further.with_grade_2), (0.5, 1));
    // What should be found stands with the best first, whatever order it is labelled in.
    let query = &report.per_query[0];
    assert_eq!(query.relevant, ["s:b", "s:a"]);
    assert_eq!(query.grades, [2, 1]);
}

#[test]
fn half_of_the_ids_may_be_unknown_and_fewer_than_half_of_the_queries_silent() {
    let sets = sets(vec![
        query("q", &[("s:a", 2)]),
        query("r", &[("s:b", 2)]),
        query("s", &[("s:c", 2)]),
        query("t", &[("s:d", 2)]),
    ]);
    let ground = sets.ground();
    let refused = |found: &[&[&str]]| ground.refuse_unmapped(&[run(found)]);
    assert_eq!(refused(&[&["s:a", "x:1"], &["s:b", "x:2"]]), None);
    assert!(refused(&[&["s:a", "x:1"], &["x:3", "x:2"], &["s:b"]]).is_some());
    assert_eq!(refused(&[&[], &[]]), None);
    // One run of several is enough.
    let runs = [run(&[&["s:a"]]), run(&[&["x:1"]])];
    assert!(ground.refuse_unmapped(&runs).is_some());
    let doubts = |found: &[&[&str]]| {
        let runs = [run(found)];
        let further = sets.measured(&runs).into_report().further.unwrap();
        ground.doubts(&runs, &further).join("\n")
    };
    let half = doubts(&[&["s:a"], &["s:b"], &[], &[]]);
    assert!(
        half.contains("nothing at all was found for 2 of 4 queries (`s`, `t`)"),
        "{half}"
    );
    let fewer = doubts(&[&["s:a"], &["s:b"], &["s:c"], &[]]);
    assert!(!fewer.contains("nothing at all"), "{fewer}");
}

#[test]
fn failures_that_come_beside_lists_are_reported() {
    let declared = json!({ "tool": { "name": "find", "arguments": { "q": "{{query}}" } }, "list": "$", "id": "{{n}}" });
    let search = Search::read(&declared).unwrap();
    let failing = Answer {
        trouble: Some("the index timed out".to_owned()),
        ..answer(&["s:a"])
    };
    let warnings = doubts(&search, &[vec![answer(&["s:a"]), failing]]);
    assert_eq!(
        warnings,
        ["warning: 1 of 2 answers speak of a failure beside what they list: the index timed out"]
    );
    assert!(doubts(&search, &[run(&[&["s:a"]])]).is_empty());
}

#[test]
fn a_server_has_the_best_grade_of_its_tools() {
    for labels in [
        [("s:a", 2), ("s:b", 1), ("t:f", 1)],
        [("s:b", 1), ("s:a", 2), ("t:f", 1)],
    ] {
        let mut sets = sets(vec![query("q", &labels)]);
        sets.finds = Finds::Servers;
        let report = sets.report(&[&["t", "s"]]);
        let asked = &report.per_query[0];
        assert_eq!(
            (asked.relevant.clone(), asked.grades.clone()),
            (vec!["s".to_owned(), "t".to_owned()], vec![2, 1])
        );
        let wanted = report.further.unwrap().grade_2_only;
        assert_eq!(Some(wanted.mrr), Some(0.5));
    }
}

mod scanners {
    use mcp_eval::discovery::detector::Demands;
    use mcp_eval::discovery::measures::{cases_above, ends, wilson};
    use mcp_eval::discovery::places::Document;
    use mcp_eval::discovery::security::{measure, status};
    use mcp_eval::discovery::truth::{Labelled, Truth};
    use mcp_eval::discovery::verdicts::{Detector, Entry, Run, ScanStatus, Verdict, read};
    use mcp_eval::published::measured::Status;
    use mcp_eval::published::measured::security::Security;

    const DEMANDS: Demands = Demands {
        fpr_ceiling: 0.1,
        recall_floor: 0.8,
        allow_errors: 1,
        prevalence: None,
    };

    /// So many malicious entries, `m0` and on, and so many benign ones, `b0` and on.
    fn truth(malicious: usize, benign: usize) -> Truth {
        let entry = |id: String, malicious| Labelled {
            id,
            malicious,
            ..Labelled::default()
        };
        let bad = (0..malicious).map(|at| entry(format!("m{at}"), true));
        let good = (0..benign).map(|at| entry(format!("b{at}"), false));
        Truth {
            version: None,
            entries: bad.chain(good).collect(),
        }
    }

    /// A run of one detector, which flags all that is malicious and nothing else, but for what `change` makes of it.
    fn run(truth: &Truth, change: impl Fn(&str, &mut Verdict)) -> Run {
        with(truth, "d", change)
    }

    fn with(truth: &Truth, detector: &str, change: impl Fn(&str, &mut Verdict)) -> Run {
        let entries = truth.entries.iter().map(|it| {
            let mut verdict = Verdict {
                detector: detector.to_owned(),
                flagged: it.malicious,
                ..Verdict::default()
            };
            change(&it.id, &mut verdict);
            Entry {
                id: it.id.clone(),
                verdicts: vec![verdict],
                ..Entry::default()
            }
        });
        Run {
            detectors: vec![Detector {
                name: detector.to_owned(),
                ..Detector::default()
            }],
            entries: entries.collect(),
            ..Run::default()
        }
    }

    fn measured(runs: &[Run], truth: &Truth) -> Security {
        measure(runs, Some(truth), &DEMANDS).unwrap()
    }

    fn fail(verdict: &mut Verdict) {
        verdict.status = ScanStatus::Error;
        verdict.flagged = false;
    }

    #[test]
    fn a_rate_of_nothing_passes_no_gate() {
        for (malicious, benign, lacks) in [(3, 0, "no benign"), (0, 3, "no malicious")] {
            let truth = truth(malicious, benign);
            let found = measured(&[run(&truth, |_, _| {})], &truth);
            let detector = &found.per_detector[0];
            assert!(!detector.gate && !found.gate.passed, "{lacks}");
            assert!(detector.not_measured[0].contains(lacks));
            assert_eq!(status(&found), Status::Incomplete);
            // What was measured and fails, fails.
            let wrong = measured(&[run(&truth, |_, it| it.flagged = !it.flagged)], &truth);
            assert!(!wrong.per_detector[0].not_measured.is_empty(), "{lacks}");
            assert_eq!(status(&wrong), Status::Failed, "{lacks}");
        }
        // In one of several runs the only benign entry has no verdict.
        let truth = truth(3, 1);
        let whole = run(&truth, |_, _| {});
        let without = run(&truth, |id, it| {
            if id == "b0" {
                fail(it);
            }
        });
        let found = measured(&[whole.clone(), without], &truth);
        assert!(found.per_detector[0].not_measured[0].contains("no benign"));
        assert_eq!(status(&found), Status::Incomplete);
        assert_eq!(
            status(&measured(&[whole.clone(), whole], &truth)),
            Status::Passed
        );
    }

    #[test]
    fn one_case_too_few_is_too_few() {
        let need = cases_above(DEMANDS.recall_floor).unwrap();
        let too_small = |malicious: usize| {
            let truth = truth(malicious, 35);
            let found = measured(&[run(&truth, |_, _| {})], &truth);
            found.per_detector[0].too_small.clone()
        };
        assert_eq!(too_small(need), Vec::<String>::new());
        assert!(too_small(need - 1)[0].contains(&format!("it takes {need}")));
    }

    #[test]
    fn recall_is_reported_at_a_fixed_rate_of_false_alarms() {
        for (benign, at_1, at_5) in [(100, 0.5, 0.5), (20, 0.0, 0.5), (19, 0.0, 0.0)] {
            let truth = truth(2, benign);
            // The first false alarm comes before the first hit, and the second before the other.
            let found = measured(
                &[run(&truth, |id, it| {
                    it.score = Some(match id {
                        "b0" => 0.9,
                        "m0" => 0.8,
                        "b1" | "b2" | "b3" | "b4" | "b5" => 0.7,
                        "m1" => 0.6,
                        _ => 0.1,
                    });
                })],
                &truth,
            );
            let scores = found.per_detector[0].scores.clone().unwrap();
            assert_eq!(
                (scores.recall_at_fpr_1, scores.recall_at_fpr_5),
                (at_1, at_5),
                "{benign}"
            );
        }
    }

    #[test]
    fn two_detectors_are_held_against_each_other_where_both_have_judged() {
        let truth = truth(3, 1);
        let first = with(&truth, "one", |id, it| {
            if id == "m2" {
                it.flagged = false;
            }
        });
        // Of what it could not judge it is not known whether it were right.
        let second = with(&truth, "two", |id, it| match id {
            "m0" => fail(it),
            "m1" => it.flagged = false,
            _ => {}
        });
        let found = measured(&[first, second], &truth);
        let compared = &found.compared[0];
        assert_eq!((compared.only_first, compared.only_second), (1, 1));
        let any = &found.joined[0];
        assert_eq!((any.tp, any.fn_, any.tn), (2, 0, 1));
    }

    #[test]
    fn a_share_of_a_category_has_an_interval() {
        let mut truth = truth(2, 1);
        for entry in &mut truth.entries {
            "poison".clone_into(&mut entry.category);
        }
        let found = measured(
            &[run(&truth, |id, it| {
                if id == "m0" {
                    it.flagged = false;
                }
            })],
            &truth,
        );
        let category = &found.per_detector[0].categories[0];
        let interval = wilson(1, 2).map(ends);
        assert_eq!(
            (category.flagged, category.of, category.interval),
            (1, 2, interval)
        );
        // Of detectors joined, too.
        let two = [
            with(&truth, "one", |_, _| {}),
            with(&truth, "two", |_, _| {}),
        ];
        let joined = &measured(&two, &truth).joined[0];
        assert_eq!(joined.recall_interval, wilson(2, 2).map(ends));
    }

    #[test]
    fn minus_nothing_is_nothing() {
        let text = r#"{"format_version":2,"detector":{"name":"z"},"entries":[
            {"id":"m0","score":0,"flagged":true},{"id":"b0","score":-0.0,"flagged":false}]}"#;
        let document = Document::parse("z.json", text.to_owned()).unwrap();
        let run = read(&document, None).unwrap();
        let found = measured(&[run], &truth(1, 1));
        let scores = found.per_detector[0].scores.clone().unwrap();
        assert_eq!((scores.auc, scores.recall_at_fpr_1), (Some(0.5), 0.0));
    }

    #[test]
    fn a_detector_with_another_threshold_is_another() {
        let truth = truth(1, 1);
        let with = |threshold: &str| {
            let mut run = run(&truth, |_, _| {});
            run.detectors[0].threshold = Some(threshold.to_owned());
            run
        };
        let names = |runs: &[Run]| {
            let found = measured(runs, &truth).per_detector;
            let names = found.iter().map(|it| (it.detector.clone(), it.runs));
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(&[with("0.5"), with("0.5")]), [("d".to_owned(), 2)]);
        let two = [("d from 0.5".to_owned(), 1), ("d from 0.9".to_owned(), 1)];
        assert_eq!(names(&[with("0.5"), with("0.9")]), two);
    }

    #[test]
    fn what_is_judged_and_not_in_the_corpus_is_refused() {
        let (small, large) = (truth(1, 1), truth(1, 3));
        let problems = measure(&[run(&large, |_, _| {})], Some(&small), &DEMANDS).unwrap_err();
        assert_eq!(
            problems,
            ["2 of the entries judged are not in the corpus, such as `b1`"]
        );
    }
}
