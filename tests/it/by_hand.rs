//! Files that people edit, move and remove by hand: what is wrong with them is reported, with a way out.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Project, ran};

const BASELINE: &str = "baselines/s/baseline.json";

/// A scenario with a JSON answer and one in prose, recorded.
fn recorded() -> Project {
    let project = Project::new();
    let tool = |name: &str, content: Value| {
        json!({ "name": name, "annotations": { "read_only_hint": true },
                "responses": [{ "content": [content] }] })
    };
    let scenario = json!({
        "name": "s",
        "user_intent": "Look",
        "servers": { "s": { "type": "mock" } },
        "expected_trajectory": [
            { "tool": "mcp__s__get", "args": {} },
            { "tool": "mcp__s__tell", "args": {} },
        ],
        "mcp_interactions": { "s": { "tools": [
            tool("get", json!({ "json": { "load": 3, "rows": [{ "id": 1 }, { "id": 2 }] } })),
            tool("tell", json!({ "type": "text", "text": "indexed 12 files here" })),
        ] } },
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    project.expect(0, &["record"]);
    project
}

/// Puts other words on what was learned in the place of those in the baseline.
fn learn(project: &Project, learned: &Value) {
    let mut baseline: Value = serde_json::from_str(&project.read(BASELINE)).unwrap();
    baseline["learned"] = learned.clone();
    project.file(BASELINE, baseline.to_string());
}

/// What was learned of the first call: these places.
fn of_first(varies: &Value) -> Value {
    json!([{ "call": 1, "takes": 2, "varies": varies }])
}

/// The text of the second call varies at these tokens.
fn of_tokens(tokens: &Value) -> Value {
    let place = json!({ "path": "/content/0/text", "tokens": tokens });
    json!([{ "call": 2, "takes": 2, "varies": [place] }])
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_cannot_have_been_learned_is_an_error() {
    let project = recorded();
    let any = |path: &str| json!([{ "path": path, "may_be": "same_type" }]);
    let twice = json!({ "call": 1, "takes": 2 });
    let cases = [
        (
            json!([{ "call": 1, "takes": 2, "varys": [] }]),
            "unknown field `varys`, expected one of `call`, `takes`, `varies`, `odd`, `repeats`, `beside` at line 1",
        ),
        (
            of_first(&json!([{ "path": "/content/0/json/load", "may_bee": "same_type" }])),
            "unknown field `may_bee`",
        ),
        (
            of_tokens(&json!([{ "token": 2, "may_be": ["number"], "joint": true }])),
            "unknown field `joint`",
        ),
        (
            json!([{ "call": 99, "takes": 2 }]),
            "`learned` is about call 99, and its calls are 1 to 2",
        ),
        (
            json!([{ "call": 0, "takes": 2 }]),
            "`learned` is about call 0, and its calls are 1 to 2",
        ),
        (
            json!([twice, twice]),
            "`learned` has 2 entries about call 1: make one of them",
        ),
        (
            json!([{ "call": 1, "takes": 0 }]),
            "`learned`, call 1: `takes` is 0, but a recorded answer was received at least once",
        ),
        (
            of_first(&any("laod")),
            "`learned`, call 1: the path `laod` does not begin with `/`: write it as reports do, as `/content/0/json/KEY`, \
             `/content/0/text` or `/structuredContent/KEY`",
        ),
        (
            of_first(&any("$.load")),
            "the path `$.load` does not begin with `/`",
        ),
        (of_first(&any("")), "the path `` does not begin with `/`"),
        (
            of_first(&json!([
                { "path": "/content/0/json/load", "may_be": "same_type" },
                { "path": "/content/0/json/load", "may_be": "anything" },
            ])),
            "`learned`, call 1: 2 entries are about `/content/0/json/load`: make one of them",
        ),
        (
            of_first(&json!([{ "path": "/content/0/json/load" }])),
            "`learned`, call 1, `/content/0/json/load`: it says neither what `may_be` there (`same_type`, `any_order`, \
             `any_elements`, `row`, `grew`, `at_least` or `anything`) nor which `parts` of a text vary",
        ),
        (
            json!([{ "call": 2, "takes": 2, "varies": [
                { "path": "/content/0/text", "may_be": "anything", "parts": [{ "token": 2, "may_be": ["number"] }] },
            ] }]),
            "`learned`, call 2, `/content/0/text`: it says both what `may_be` there and which `parts` vary: take one of them out",
        ),
        (
            of_tokens(&json!([{ "token": 0, "may_be": ["number"] }])),
            "`learned`, call 2, `/content/0/text`: there is no token 0: the text has tokens 1 to 4",
        ),
        (
            of_tokens(&json!([{ "token": 99, "may_be": ["number"] }])),
            "there is no token 99: the text has tokens 1 to 4",
        ),
        (
            of_tokens(&json!([{ "token": 4, "tokens": 2, "may_be": ["word"], "run": true }])),
            "there is no token 5: the text has tokens 1 to 4",
        ),
        (
            of_tokens(&json!([{ "token": 2, "may_be": [] }])),
            "token 2 `may_be` of no kind: name some of word, number, sign, time, id, duration, ago",
        ),
        (
            of_tokens(&json!([
                { "token": 2, "may_be": ["number"] },
                { "token": 2, "may_be": ["word"] },
            ])),
            "two entries are about token 2: make one of them",
        ),
        (
            of_first(
                &json!([{ "path": "/content/0/json/load", "parts": [{ "token": 1, "may_be": ["number"] }] }]),
            ),
            "there is no text, so none of its tokens can vary",
        ),
    ];
    for (learned, problem) in cases {
        learn(&project, &learned);
        project
            .expect(3, &["compare"])
            .says("baselines/s/baseline.json is not a trajectory: ")
            .says(problem)
            .says("correct it, take the file back from version control, or record it again");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_place_that_no_answer_has_is_reported_and_one_that_comes_and_goes_is_not() {
    let project = recorded();
    let entry = |path: &str, may_be: &str, values: &[&str]| json!([{ "path": path, "may_be": may_be, "heard": values }]);
    for (path, may_be, sentence) in [
        (
            "/content/0/json/laod",
            "same_type",
            "`learned`, call 1: the recorded answer has no `/content/0/json/laod`, so nothing varies there; `/content/0/json` has \
             `load`, `rows`",
        ),
        (
            "/content/0/json/laod",
            "anything",
            "the recorded answer has no `/content/0/json/laod`",
        ),
        (
            "/content/0/json/rows/7/id",
            "same_type",
            "`/content/0/json/rows` has `0`, `1`",
        ),
        (
            "/content/0/json/rows/*/name",
            "same_type",
            "the recorded answer has no `/content/0/json/rows/*/name`, so nothing varies there; `/content/0/json/rows/0` has `id`",
        ),
        (
            "/load",
            "same_type",
            "the recorded answer has no `/load`, so nothing varies there; it has `/content`",
        ),
    ] {
        learn(&project, &of_first(&entry(path, may_be, &[])));
        project.expect(0, &["compare"]).says(sentence);
        let result = project.result(0, &["compare"]);
        assert_eq!(
            result["scenarios"][0]["idle_rules"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
    }
    let fine = [
        entry("/content/0/json/load", "same_type", &[]),
        entry("/content/0/json/rows/*/id", "same_type", &[]),
        entry("/content/*/json/rows", "any_order", &[]),
        entry(
            "/content/*",
            "anything",
            &["1 block of content", "2 blocks of content"],
        ),
        entry("/content", "anything", &[]),
        // One take alone had it.
        entry(
            "/content/0/json/extra",
            "anything",
            &["nothing", "a number"],
        ),
    ];
    for varies in fine {
        learn(&project, &of_first(&varies));
        project
            .expect(0, &["compare"])
            .says_not("nothing varies there");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_whole_call_taken_out_is_answered_once_and_a_place_taken_out_is_held() {
    let project = recorded();
    learn(
        &project,
        &of_first(&json!([{ "path": "/content/0/json/load", "may_be": "same_type" }])),
    );
    project.edit("scenarios/s.yaml", r#""load":3"#, r#""load":4"#);
    project.expect(0, &["compare", "scenarios/s.yaml"]);
    learn(&project, &json!([{ "call": 1, "takes": 2 }]));
    project
        .expect(1, &["compare", "-v"])
        .says("/content/0/json/load changed, though stable in both recordings");
    learn(&project, &json!([]));
    project
        .expect(0, &["compare"])
        .says("has answers that were recorded only once");
}

#[test]
fn no_run_takes_less_than_no_time() {
    let project = recorded();
    let sound = project.read(BASELINE);
    let mut baseline: Value = serde_json::from_str(&sound).unwrap();
    baseline["duration_ms"] = json!(-5);
    project.file(BASELINE, baseline.to_string());
    project
        .expect(3, &["compare"])
        .says("its `duration_ms` is -5, and no run takes less than 0 ms");
    let mut baseline: Value = serde_json::from_str(&sound).unwrap();
    let steps = baseline["steps"].as_array_mut().unwrap();
    let call = steps
        .iter_mut()
        .find(|it| it["kind"] == "tool_call")
        .unwrap();
    call["duration_ms"] = json!(-1.5);
    project.file(BASELINE, baseline.to_string());
    project
        .expect(3, &["compare"])
        .says("the `duration_ms` of call 1 is -1.5, and no call takes less than 0 ms");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn only_a_higher_version_is_a_newer_one() {
    let project = recorded();
    let sound = project.read(BASELINE);
    for (version, shown) in [
        ("0", "0"),
        ("-1", "-1"),
        (r#""2""#, r#""2""#),
        ("2.0", "2.0"),
        ("1.5", "1.5"),
    ] {
        project.file(
            BASELINE,
            sound.replace(
                r#""format_version": 3"#,
                &format!(r#""format_version": {version}"#),
            ),
        );
        project
            .expect(3, &["compare"])
            .says(&format!("its `format_version` is {shown}, which is not a format version of mcp-eval (1 to 3)"))
            .says("take the file back from version control")
            .says_not("newer");
    }
    for version in ["4", "99999999999999999999"] {
        project.file(
            BASELINE,
            sound.replace(
                r#""format_version": 3"#,
                &format!(r#""format_version": {version}"#),
            ),
        );
        project
            .expect(3, &["compare"])
            .says("a newer mcp-eval wrote it");
    }
}

#[test]
fn a_dialogue_that_is_gone_comes_back() {
    let project = recorded();
    let dialogue = "baselines/s/trajectory.txt";
    let right = project.read(dialogue);
    for command in ["compare", "list"] {
        fs::remove_file(project.path(dialogue)).unwrap();
        let in_ci = ran(project.command().arg(command).env("CI", "true"));
        assert_eq!(in_ci.code, 0, "{in_ci:?}");
        assert!(!project.path(dialogue).exists());
        project.expect(0, &[command]);
        assert_eq!(project.read(dialogue), right);
    }
    fs::remove_file(project.path(dialogue)).unwrap();
    fs::create_dir(project.path(dialogue)).unwrap();
    for command in ["compare", "list"] {
        project.expect(0, &[command]).says(
            "baselines/s/trajectory.txt is a folder, where the dialogue of the baseline belongs: move it away, and the next `mcp-eval \
             compare` writes the dialogue",
        );
    }
}

#[test]
fn whatever_is_in_the_place_of_a_baseline_is_named_with_a_way_out() {
    let project = recorded();
    let sound = project.read(BASELINE);
    fs::remove_file(project.path(BASELINE)).unwrap();
    fs::create_dir(project.path(BASELINE)).unwrap();
    project
        .expect(3, &["compare"])
        .says("cannot read baselines/s/baseline.json: a folder is in its place")
        .says("move it away, then take the file back from version control");
    fs::remove_dir(project.path(BASELINE)).unwrap();
    project.file(BASELINE, &sound);

    fs::rename(project.path("baselines"), project.path("kept")).unwrap();
    project.file("baselines", "");
    project
        .expect(3, &["compare"])
        .says("cannot read baselines/s/baseline.json: baselines is not a folder")
        .says("move it away, or name the folder of the baselines with `--baseline DIR`")
        .says_not("--output");
    project.expect(0, &["compare", "--baseline", "kept"]);
    // A baseline may still be named by its file.
    project.expect(0, &["compare", "--baseline", "kept/s/baseline.json"]);
    project
        .expect(3, &["compare", "--baseline", "."])
        .says("no baseline: ./s/baseline.json does not exist")
        .says("--output ./s`");
}

#[test]
fn a_mark_of_the_byte_order_is_no_part_of_a_baseline() {
    let project = recorded();
    let marked = format!("\u{feff}{}", project.read(BASELINE));
    project.file(BASELINE, &marked);
    project.expect(0, &["compare"]);
    project.expect(0, &["list"]).says("accepted");
    assert_eq!(project.read(BASELINE), marked);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_baseline_whose_scenario_is_gone_is_missed() {
    let project = Project::new();
    for name in ["a", "b", "deep/c"] {
        project.faulty(name, &[], &[("echo", json!({}))]);
    }
    project.expect(0, &["record"]);
    project.expect(0, &["compare"]).says_not("no scenario");
    fs::remove_file(project.path("scenarios/a.yaml")).unwrap();
    fs::remove_file(project.path("scenarios/deep/c.yaml")).unwrap();
    let whole: [&[&str]; 4] = [
        &["compare"],
        &["compare", "scenarios"],
        &["list"],
        &["list", "./scenarios/"],
    ];
    for command in whole {
        let ran = project.expect(0, command);
        let folder = command.get(1).unwrap_or(&"scenarios");
        let warning = format!(
            "2 baselines have no scenario any more in `{folder}`: baselines/a, baselines/deep/c; remove them, or find out where their scenarios \
             have gone\n"
        );
        assert!(ran.stderr.contains(&warning), "{ran:#?}");
    }
    // Whoever asks for a part of it does not hear of the rest.
    project.faulty_with(
        "deep/d",
        &[],
        &[("echo", json!({}))],
        &json!({ "tags": ["x"] }),
    );
    project.expect(0, &["record", "scenarios/deep/d.yaml"]);
    let part: [&[&str]; 3] = [
        &["compare", "scenarios/b.yaml"],
        &["compare", "--tag", "x"],
        &["compare", "-q"],
    ];
    for command in part {
        project.expect(0, command).says_not("no scenario");
    }
    project
        .expect(0, &["compare", "scenarios/deep"])
        .says("1 baseline has no scenario any more in `scenarios/deep`: baselines/deep/c; remove it, or look where its scenario has gone");
    // What lies in another folder of scenarios is not gone.
    project.file("elsewhere/e.yaml", project.read("scenarios/b.yaml"));
    project.expect(0, &["record", "elsewhere"]);
    project
        .expect(0, &["compare", "elsewhere"])
        .says_not("baselines/b");
}

#[test]
fn extensions_may_be_in_capitals() {
    let project = Project::new();
    for name in ["a", "b"] {
        project.faulty(name, &[], &[("echo", json!({}))]);
    }
    let rename = |from: &str, to: &str| fs::rename(project.path(from), project.path(to)).unwrap();
    rename("scenarios/a.yaml", "scenarios/a.YAML");
    rename("scenarios/b.yaml", "scenarios/b.Yml");
    project.expect(0, &["record"]).says("2/2 tests recorded");
    assert!(project.path("baselines/a/baseline.json").exists());
    project.expect(0, &["compare"]).says_not("no scenario");
}

/// A poll: the same read, until its answer changes.
#[test]
fn the_tries_of_a_poll_do_not_count_as_answered_once() {
    let project = Project::new();
    project.faulty_with(
        "s",
        &["read-only"],
        &[("count", json!({})), ("count", json!({}))],
        &json!({ "scoring": { "reads": ["count"] } }),
    );
    project
        .expect(0, &["record", "-v"])
        .says_not("recorded once");
    assert!(
        !project
            .read("baselines/s/trajectory.txt")
            .contains("RECORDED ONCE")
    );
    project
        .expect(0, &["compare", "-v"])
        .says_not("recorded once");
    project.expect(0, &["list"]).says_not("recorded once");
}

#[test]
fn negative_numbers_are_refused_with_the_allowed_range() {
    let project = recorded();
    let cases: [(&[&str], &str); 6] = [
        (&["compare", "--jobs", "-1"], "-1 is not in 1..=256"),
        (&["compare", "-j", "-1"], "-1 is not in 1..=256"),
        (&["compare", "--repeat", "-1"], "-1 is not in 1..=1000"),
        (&["compare", "--budget", "-1"], "write an amount above 0"),
        (
            &["compare", "--threshold", "-0.5"],
            "write a number from 0 to 1",
        ),
        (&["record", "--takes", "-1"], "-1 is not in 1..=20"),
    ];
    for (arguments, problem) in cases {
        project
            .expect(2, arguments)
            .says(problem)
            .says_not("use '-- -");
    }
}

#[test]
fn a_path_without_scenarios_is_reported_with_a_way_to_start() {
    let project = Project::new();
    project
        .expect(2, &["compare"])
        .says("scenarios: error: no scenario files match")
        .says("there is no `scenarios` here")
        .says("`mcp-eval init --server \"COMMAND\"` makes one of a server of yours");
    project.file("scenarios/readme.md", "");
    project.expect(2, &["list"]).says("error");
    project
        .expect(2, &["compare"])
        .says("the folder `scenarios` has no file that ends in .yaml or .yml");
    project
        .expect(2, &["compare", "gone.yaml"])
        .says("gone.yaml: error: no scenario files match")
        .says("there is no `gone.yaml` here");
}

#[test]
fn rules_that_let_everything_go_are_warned_of() {
    let project = recorded();
    let warned = |rules: &Value| {
        let mut scenario: Value = serde_json::from_str(&project.read("scenarios/s.yaml")).unwrap();
        scenario["scoring"] = rules.clone();
        project.file("scenarios/t.yaml", scenario.to_string());
        project.expect(0, &["validate", "scenarios/t.yaml"])
    };
    warned(&json!({ "strict": true, "responses": "ignore" }))
        .says("scoring.strict: answers are not compared at all (`responses: ignore`), so none that changed fails")
        .says("1 warning");
    for path in ["$", "$.*", "..*"] {
        warned(&json!({ "ignore": [path] }))
            .says(&format!(
                "scoring.ignore: `{path}` leaves out all of every JSON answer: name what varies"
            ))
            .says("1 warning");
    }
    for fine in [
        json!({ "strict": true }),
        json!({ "ignore": ["$.load", "..id"] }),
    ] {
        warned(&fine).says("0 warnings");
    }
}
