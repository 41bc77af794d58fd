//! The tables of keys in the manual, which are made from the schemas that the program prints.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::common::{Project, root};

/// The tables at the end of topics: what each is of, the kind of file, and the parts of its schema; the file itself where there is none.
const TABLES: &[(&str, &[Table])] = &[
    (
        "scenario",
        &[
            table("a scenario", "scenario", &[]),
            table("a call of a script", "scenario", &["CallSection"]),
            table("an expected call", "scenario", &["ExpectedSection"]),
            table("a server", "scenario", &["ServerSection"]),
            table("`ready`", "scenario", &["ReadySection"]),
        ],
    ),
    (
        "scoring",
        &[table("`scoring`", "scenario", &["ScoringSection"])],
    ),
    (
        "containers",
        &[
            table("`docker`", "scenario", &["ContainerSection"]),
            table("`docker.build`", "scenario", &["BuildFields"]),
        ],
    ),
    (
        "mock",
        &[
            table("a mock server", "scenario", &["MockSection"]),
            table("a tool", "scenario", &["ToolSection"]),
            table("a response", "scenario", &["ResponseSection"]),
        ],
    ),
    ("agents", &[table("`agent`", "scenario", &["AgentSection"])]),
    (
        "evaluators",
        &[table("an evaluator", "scenario", &["EvaluatorSection"])],
    ),
    ("judge", &[table("`judge`", "scenario", &["JudgeSection"])]),
    (
        "upstreams",
        &[table("an upstream", "scenario", &["UpstreamSection"])],
    ),
    (
        "datasets",
        &[table("`dataset`", "scenario", &["DatasetFields"])],
    ),
    ("suites", &[table("a suite", "suite", &[])]),
];

struct Table {
    of: &'static str,
    kind: &'static str,
    parts: &'static [&'static str],
}

const fn table(of: &'static str, kind: &'static str, parts: &'static [&'static str]) -> Table {
    Table { of, kind, parts }
}

const BEGIN: &str = "<!-- keys, made from the schema -->\n";
const END: &str = "<!-- end of keys -->\n";

#[test]
fn the_tables_of_keys_are_those_of_the_schema() {
    let project = Project::new();
    for (topic, tables) in TABLES {
        let mut made = String::new();
        for it in *tables {
            let schema = project.expect(0, &["schema", it.kind]).stdout;
            let schema: Value = serde_json::from_str(&schema).unwrap();
            let part = it.parts.iter().map(|name| &schema["$defs"][*name]);
            let rows = rows(part.chain(it.parts.is_empty().then_some(&schema)));
            assert!(rows.len() > 1, "{topic}: no keys of {}", it.of);
            write!(made, "\n### Keys of {}\n\n| key | |\n|---|---|\n", it.of).unwrap();
            for (key, said) in rows {
                writeln!(made, "| `{key}` | {said} |").unwrap();
            }
        }
        let file = root().join(format!("src/cli/help/{topic}.md"));
        let text = fs::read_to_string(&file).unwrap();
        let before = text.split(BEGIN).next().unwrap().trim_end();
        let expected = format!("{before}\n\n{BEGIN}{made}\n{END}");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&file, expected).unwrap();
        } else {
            assert!(
                text == expected,
                "the keys in {} are not those of the schema; `UPDATE_GOLDEN=1` writes them",
                file.display()
            );
        }
    }
}

/// The keys of some parts of a schema, each once, with what is said of it first.
fn rows<'a>(parts: impl Iterator<Item = &'a Value>) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    for part in parts {
        let forms = ["oneOf", "anyOf"]
            .iter()
            .filter_map(|it| part[*it].as_array());
        for form in std::iter::once(part).chain(forms.flatten()) {
            let keys = form["properties"].as_object().into_iter().flatten();
            for (key, of) in keys {
                let said = of["description"].as_str().unwrap_or_default();
                // The kinds, each with its own words, are listed above the table.
                let is_kind = of.get("const").is_some();
                if !is_kind && rows.iter().all(|(known, _)| known != key) {
                    rows.push((key.clone(), said.replace('|', "\\|")));
                }
            }
        }
    }
    rows
}
