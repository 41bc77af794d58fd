//! Which module of the crate may import which, and which file may name a loud neighbour.

use std::fs;
use std::path::{Path, PathBuf};

/// Each module of the program's own crate, and what it may import there; for the other crates, the compiler holds this. `cli`, at the top,
/// may import all.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("input", &[]),
    ("json_schema", &[]),
    ("protocol", &["model"]),
    (
        "run",
        &["digits", "model", "redact", "scenario_file", "text"],
    ),
    (
        "scenario_file",
        &[
            "input",
            "json",
            "json_schema",
            "model",
            "protocol",
            "redact",
            "sql",
            "text",
        ],
    ),
    ("http_client", &[]),
    ("http_server", &[]),
    ("lines", &[]),
    ("process", &["text"]),
    (
        "llm",
        &["http_client", "json", "model", "scenario_file", "text"],
    ),
    ("sql", &["text"]),
    (
        "agent",
        &[
            "digits",
            "lines",
            "llm",
            "model",
            "process",
            "redact",
            "run",
            "scenario_file",
            "score",
            "text",
        ],
    ),
    (
        "mcp",
        &[
            "digits",
            "http_client",
            "http_server",
            "json",
            "lines",
            "model",
            "process",
            "protocol",
            "run",
            "scenario_file",
            "text",
        ],
    ),
    (
        "discovery",
        &["http_client", "model", "published", "scenario_file", "text"],
    ),
    (
        "docker",
        &["input", "model", "run", "scenario_file", "text"],
    ),
    ("git", &["model", "text"]),
    (
        "store",
        &[
            "digits",
            "input",
            "json",
            "model",
            "published",
            "score",
            "sql",
            "text",
        ],
    ),
    (
        "mock",
        &[
            "http_server",
            "json",
            "lines",
            "model",
            "protocol",
            "redact",
            "scenario_file",
            "text",
        ],
    ),
    ("import", &["model", "text"]),
    (
        "evaluate",
        &[
            "json",
            "json_schema",
            "llm",
            "model",
            "run",
            "scenario_file",
            "score",
            "sql",
            "text",
        ],
    ),
    (
        "suite",
        &[
            "agent",
            "digits",
            "discovery",
            "docker",
            "evaluate",
            "git",
            "http_client",
            "http_server",
            "import",
            "input",
            "json",
            "llm",
            "mcp",
            "mock",
            "model",
            "process",
            "published",
            "redact",
            "report",
            "run",
            "scenario_file",
            "score",
            "sql",
            "store",
            "text",
        ],
    ),
    ("client", &["http_client", "json", "published", "serve"]),
    (
        "serve",
        &[
            "http_server",
            "input",
            "json",
            "json_schema",
            "model",
            "published",
            "redact",
            "report",
            "run",
            "scenario_file",
            "sql",
            "store",
            "suite",
            "text",
        ],
    ),
];

/// Crates that stay in one place: their next major version should change only these files.
const LIVES_IN: &[(&str, &[&str])] = &[
    ("rmcp", &["mcp"]),
    ("clap", &["cli"]),
    ("indicatif", &["cli"]),
    ("anstream", &["cli"]),
    ("git2", &["git"]),
    ("bollard", &["docker"]),
    ("tar", &["docker"]),
    ("askama", &["report"]),
    ("quick_junit", &["report"]),
    ("reqwest", &["http_client", "llm", "mcp"]),
    ("serde_yaml", &["scenario_file"]),
    ("granit_parser", &["scenario_file"]),
    ("jsonschema", &["json_schema", "score", "mock"]),
    ("axum", &["http_server", "mcp", "mock", "serve"]),
];

/// Modules that know no file, clock, randomness, environment or process.
const PURE: &[&str] = &["model", "report", "score"];
const IMPURE_WORDS: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::io",
    "std::time::Instant",
    "SystemTime",
    "Timestamp::now",
    "tokio::",
];

#[test]
fn modules_import_only_what_their_floor_allows() {
    let mut broken = Vec::new();
    for (module, allowed) in MAY_IMPORT {
        for (file, text) in rust_files(module) {
            for used in imported_modules(&text) {
                if used != *module && !allowed.contains(&used.as_str()) {
                    broken.push(format!("{file}: `{module}` may not import `{used}`"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_module_has_a_floor() {
    let lib = fs::read_to_string(src().join("lib.rs")).unwrap();
    let modules: Vec<&str> = lib
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod "))
        .map(|module| module.trim_end_matches(';'))
        .collect();
    for module in &modules {
        assert!(
            *module == "cli" || MAY_IMPORT.iter().any(|(known, _)| known == module),
            "give `{module}` a row in MAY_IMPORT"
        );
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn outside_crates_stay_in_their_room() {
    let mut broken = Vec::new();
    for (name, rooms) in LIVES_IN {
        let mention = format!("{name}::");
        for entry in fs::read_dir(src()).unwrap() {
            let module = module_name(&entry.unwrap().path());
            if rooms.contains(&module.as_str()) {
                continue;
            }
            for (file, text) in rust_files(&module) {
                if code_lines(&text).any(|line| line.contains(&mention)) {
                    broken.push(format!("{file} names `{name}`"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_pure_floors_touch_nothing_outside() {
    let mut broken = Vec::new();
    for module in PURE {
        for (file, text) in rust_files(module) {
            for word in IMPURE_WORDS {
                if code_lines(&text).any(|line| line.contains(word)) {
                    broken.push(format!("{file} names `{word}`"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn only_the_console_prints() {
    let mut broken = Vec::new();
    for entry in fs::read_dir(src()).unwrap() {
        for (file, text) in rust_files(&module_name(&entry.unwrap().path())) {
            let prints = ["println!", "eprintln!", " print!", " eprint!"];
            if !file.ends_with("cli/console.rs")
                && code_lines(&text).any(|line| prints.iter().any(|it| line.contains(it)))
            {
                broken.push(file);
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn no_test_file_is_forgotten() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = fs::read_to_string(tests.join("main.rs")).unwrap();
    for entry in fs::read_dir(&tests).unwrap() {
        let name = module_name(&entry.unwrap().path());
        assert!(
            name == "main" || main.contains(&format!("mod {name};")),
            "tests/it/main.rs does not name `{name}`"
        );
    }
}

/// Only who takes secrets out of values, or reads files of ours that were written without, may say that a value holds none: everybody
/// else would make the promise of `Redacted` an empty one.
#[test]
fn only_redact_and_the_reader_of_our_files_vouch_for_values() {
    let mut broken = Vec::new();
    for entry in fs::read_dir(src()).unwrap() {
        for (file, text) in rust_files(&module_name(&entry.unwrap().path())) {
            let may = ["src/redact/", "src/store/read.rs", "src/model/redacted.rs"];
            if !may.iter().any(|it| file.contains(it))
                && code_lines(&text).any(|line| line.contains("vouch_for("))
            {
                broken.push(file);
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn module_name(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// Every `.rs` file of a module, whether it is one file or a folder.
fn rust_files(module: &str) -> Vec<(String, String)> {
    let module = src().join(module);
    let mut pending = vec![module.clone(), module.with_extension("rs")];
    let mut found = Vec::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            pending.extend(entries.map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|it| it == "rs") && path.is_file() {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path.display().to_string(), text));
        }
    }
    found
}

/// Lines of code, comments left out.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
}

/// The name after each `crate::`, and each crate that is named without; a grouped import at the root comes back as `{`, which no floor allows.
fn imported_modules(text: &str) -> Vec<String> {
    let crates = ["model", "redact", "report", "score"];
    let crates = crates.map(|it| format!("{it}::"));
    code_lines(text)
        .flat_map(|line| {
            let named = line.trim_start().strip_prefix("use ");
            let named = named.filter(|path| crates.iter().any(|it| path.starts_with(it)));
            line.split("crate::").skip(1).chain(named)
        })
        .map(|rest| {
            if rest.starts_with('{') {
                return "{".to_owned();
            }
            rest.chars()
                .take_while(|it| it.is_alphanumeric() || *it == '_')
                .collect()
        })
        .collect()
}
