//! Which files are found, and under which ids; files that cannot be read.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mcp_eval::scenario_file::{self, Options};
use tempfile::TempDir;

use crate::common::many;

const SOUND: &str = "name: x\nexpected_trajectory: [{ tool: a }]\n";

/// A folder with these files, all of them sound scenarios.
fn folder(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, SOUND).unwrap();
    }
    folder
}

/// The ids found and the findings, the folder's own name left out.
fn find(folder: &Path, paths: &[&str]) -> (Vec<String>, Vec<String>) {
    let paths: Vec<PathBuf> = paths.iter().map(|it| folder.join(it)).collect();
    let (found, findings) = scenario_file::find(&paths);
    let ids = found.into_iter().map(|it| it.id).collect();
    let prefix = format!("{}/", folder.display());
    let findings = findings
        .iter()
        .map(|it| it.to_string().replace(&prefix, ""));
    (ids, findings.collect())
}

/// What loading one file finds, its folder left out.
fn load(path: &Path) -> (usize, Vec<String>) {
    let (found, findings) = scenario_file::find(&[path.to_owned()]);
    let loaded = scenario_file::load(&found, &Options::default());
    let findings = findings.iter().chain(&loaded.findings);
    let prefix = format!("{}/", path.parent().unwrap().display());
    let findings = findings.map(|it| it.to_string().replace(&prefix, ""));
    (loaded.scenarios.len(), findings.collect())
}

const NONE: [&str; 0] = [];

#[test]
fn ids_start_below_the_nearest_folder_named_scenarios() {
    let folder = folder(&["scenarios/old/scenarios/a.yaml", "scenarios/b/c.d.yml"]);
    let (ids, findings) = find(folder.path(), &["scenarios"]);
    assert_eq!(ids, ["b/c.d", "a"]);
    assert_eq!(findings, NONE);
    let (ids, _) = find(folder.path(), &["scenarios/b/../b/./c.d.yml"]);
    assert_eq!(ids, ["b/c.d"]);
}

#[test]
fn ids_start_below_the_folder_given_where_none_is_named_scenarios() {
    let folder = folder(&["suite/a/b.yaml", "suite/c.yaml"]);
    assert_eq!(find(folder.path(), &["suite"]).0, ["a/b", "c"]);
    assert_eq!(find(folder.path(), &["suite/a/../"]).0, ["a/b", "c"]);
    assert_eq!(find(folder.path(), &["suite/a/b.yaml"]).0, ["b"]);
    assert_eq!(
        find(folder.path(), &["su?te/**/*.yaml"]).0,
        ["suite/a/b", "suite/c"]
    );
    assert_eq!(find(folder.path(), &["suite/*.yaml"]).0, ["c"]);
}

#[test]
fn a_file_named_twice_is_found_once() {
    let folder = folder(&["scenarios/a.yaml"]);
    let (ids, findings) = find(
        folder.path(),
        &["scenarios", "scenarios/a.yaml", "scenarios/*"],
    );
    assert_eq!(ids, ["a"]);
    assert_eq!(findings, NONE);
}

#[test]
fn a_name_with_wildcards_is_taken_literally_when_it_exists() {
    let folder = folder(&["scenarios/a[1].yaml", "scenarios/a1.yaml"]);
    assert_eq!(find(folder.path(), &["scenarios/a[1].yaml"]).0, ["a[1]"]);
    assert_eq!(find(folder.path(), &["scenarios/a[12].yaml"]).0, ["a1"]);
}

#[test]
fn patterns_match_folders_with_all_that_lies_in_them() {
    let folder = folder(&[
        "scenarios/one/a.yaml",
        "scenarios/two/b.yaml",
        "scenarios/c.yaml",
    ]);
    assert_eq!(find(folder.path(), &["scenarios/t*"]).0, ["two/b"]);
    assert_eq!(find(folder.path(), &["scenarios/*/"]).0, ["one/a", "two/b"]);
}

#[test]
fn what_matches_nothing_is_an_error() {
    let folder = folder(&[
        "scenarios/readme.md",
        "scenarios/_defaults.yaml",
        "scenarios/.git/a.yaml",
    ]);
    let (ids, findings) = find(
        folder.path(),
        &[
            "scenarios",
            "gone.yaml",
            "scenarios/*.yaml",
            "gone/**/*.yaml",
            "a[",
            "scenarios/_defaults.yaml",
        ],
    );
    assert_eq!(ids, NONE);
    let start = "; `mcp-eval init --server \"COMMAND\"` makes one of a server of yours, and `mcp-eval record --listen` of a session with it";
    let nothing =
        |path: &str, why: &str| format!("{path}: error: no scenario files match\n  {why}{start}");
    let no_match = "nothing that ends in .yaml or .yml matches this pattern";
    assert_eq!(
        findings,
        [
            "a[: error: is not a valid pattern: invalid range pattern".to_owned(),
            nothing("gone.yaml", "there is no `gone.yaml` here"),
            nothing("gone/**/*.yaml", no_match),
            nothing(
                "scenarios",
                "the folder `scenarios` has no file that ends in .yaml or .yml"
            ),
            nothing("scenarios/*.yaml", no_match),
            nothing(
                "scenarios/_defaults.yaml",
                "`scenarios/_defaults.yaml` has defaults for scenarios, and is not a scenario"
            ),
        ]
    );
}

#[test]
fn two_files_with_one_id_are_an_error_that_names_both() {
    let folder = folder(&["one/a.yaml", "two/a.yaml"]);
    let (_, findings) = find(folder.path(), &["one", "two"]);
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].starts_with("two/a.yaml: error: has the id `a`"),
        "{findings:?}"
    );
    assert!(findings[0].contains("one/a.yaml"), "{findings:?}");
}

#[test]
fn names_that_are_no_text_are_found_and_loaded() {
    let folder = folder(&["scenarios/a.yaml"]);
    for byte in [b"\xfe", b"\xff"] {
        let name = [b"b".as_slice(), byte, b".yaml"].concat();
        let path = folder
            .path()
            .join("scenarios")
            .join(OsStr::from_bytes(&name));
        fs::write(path, SOUND).unwrap();
    }
    for path in ["scenarios", "scenarios/*.yaml"] {
        let (found, findings) = scenario_file::find(&[folder.path().join(path)]);
        assert_eq!(findings, []);
        let loaded = scenario_file::load(&found, &Options::default());
        let ids: Vec<_> = loaded.scenarios.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["a", "b%FE", "b%FF"]);
    }
}

#[test]
fn links_are_followed_but_never_in_circles() {
    let folder = folder(&["scenarios/a.yaml", "other/b.yaml"]);
    let scenarios = folder.path().join("scenarios");
    symlink(folder.path().join("other"), scenarios.join("linked")).unwrap();
    symlink(&scenarios, scenarios.join("loop")).unwrap();
    symlink("nowhere", scenarios.join("gone.txt")).unwrap();
    symlink("nowhere", scenarios.join("gone.yaml")).unwrap();
    let (ids, findings) = find(folder.path(), &["scenarios"]);
    assert_eq!(ids, ["a", "linked/b"]);
    assert_eq!(
        findings,
        [
            "scenarios/gone.yaml: error: cannot be read: No such file or directory (os error 2)",
            "scenarios/loop: warning: is a link to a folder that contains it; not followed",
        ]
    );
}

#[test]
fn folders_named_like_files_are_an_error() {
    let folder = folder(&["scenarios/x.yaml/a.yaml"]);
    let (_, findings) = find(folder.path(), &["scenarios"]);
    assert_eq!(
        findings,
        ["scenarios/x.yaml: error: is a folder, though named like a scenario file"]
    );
    let (_, findings) = load(&folder.path().join("scenarios/x.yaml"));
    assert_eq!(findings, ["x.yaml: error: is a folder, not a file"]);
}

#[test]
fn files_that_are_no_text_show_where() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.yaml");
    let cases: [(&[u8], &str); 3] = [
        (
            b"name: x\ntags: [\xff\xfe]\n",
            "x.yaml:2:8: error: is not UTF-8 text\n  2 | tags: [\u{fffd}\u{fffd}]\n    |        ^",
        ),
        (
            b"name: x\nab\0c\n",
            "x.yaml:2:3: error: is not a text file: it holds a NUL byte\n  2 | ab\\u{0}c\n    |   ^",
        ),
        (
            b"\x7fELF\x02\x01\0\xff",
            "x.yaml:1:7: error: is not a text file: it holds a NUL byte\n  1 | \\u{7f}ELF\\u{2}\\u{1}\\u{0}\u{fffd}\n    |                    ^",
        ),
    ];
    for (bytes, expected) in cases {
        fs::write(&path, bytes).unwrap();
        assert_eq!(load(&path), (0, vec![expected.to_owned()]));
    }
}

#[test]
fn a_byte_order_mark_and_any_line_ends_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.yaml");
    fs::write(&path, format!("\u{feff}{}", SOUND.replace('\n', "\r\n"))).unwrap();
    assert_eq!(load(&path), (1, vec![]));
    fs::write(&path, "\u{feff}naem: x\r\nname: y\rfoo: 1\r\n").unwrap();
    let (_, findings) = load(&path);
    assert!(
        findings[1].starts_with("x.yaml:1:1: error: unknown key `naem`\n  1 | naem: x\n"),
        "{findings:?}"
    );
    assert!(
        findings[2].starts_with("x.yaml:3:1: error: unknown key `foo`\n  3 | foo: 1\n"),
        "{findings:?}"
    );
}

#[test]
fn large_special_and_unreadable_files_are_errors() {
    let folder = folder(&["large.yaml", "secret.yaml"]);
    let large = folder.path().join("large.yaml");
    fs::write(&large, format!("{SOUND}#{}", " ".repeat(1024 * 1024))).unwrap();
    assert_eq!(
        load(&large),
        (
            0,
            vec!["large.yaml: error: is larger than 1 MiB".to_owned()]
        )
    );
    let pipe = folder.path().join("pipe.yaml");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    assert_eq!(
        load(&pipe),
        (
            0,
            vec!["pipe.yaml: error: is not a regular file".to_owned()]
        )
    );
    let secret = folder.path().join("secret.yaml");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads everything.
    if fs::read(&secret).is_err() {
        let (_, findings) = load(&secret);
        assert_eq!(
            findings,
            ["secret.yaml: error: cannot be read: Permission denied (os error 13)"]
        );
    }
}

/// Texts made of the numbers in a range, one behind the other.
fn numbered(numbers: std::ops::Range<usize>, text: impl Fn(usize) -> String) -> String {
    numbers.map(text).collect::<Vec<_>>().concat()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn hostile_files_end_soon() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.yaml");
    let size = many(1024 * 1024 - 100);
    let repeated = |unit: &str| unit.repeat(size / unit.len());
    let big_text = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(many(500_000)),
        "*a, ".repeat(many(100_000))
    );
    let nested_anchors = numbered(0..90, |it| format!("&a{it} ["));
    let many_keys = numbered(0..many(60_000), |it| format!("k{it}: {{}}\n"));
    let one_line = numbered(0..many(60_000), |it| format!("k{it}: 1, "));
    let variables = numbered(0..many(25_000), |it| format!("v{it}: 1, "));
    let undeclared = numbered(0..many(50_000), |it| format!("{{{{w{it}}}}}"));
    let servers = numbered(0..many(20_000), |it| format!("s{it}: {{type: mock}}, "));
    let tools = numbered(0..many(20_000), |it| format!("{{tool: mcp__t{it}__x}}, "));
    let hostile = [
        format!("variables: {{ {variables} }}\nuser_intent: '{undeclared}'"),
        format!("servers: {{ {servers} }}\nexpected_trajectory: [{tools}]"),
        repeated("["),
        repeated("{a: "),
        repeated("- "),
        repeated("? "),
        repeated("&a "),
        repeated("!"),
        repeated("---\n"),
        repeated("\t"),
        repeated("'"),
        repeated("a\n"),
        big_text,
        format!(
            "name: x\nv: {nested_anchors}{}",
            "1, ".repeat(many(200_000))
        ),
        many_keys,
        format!("{{ {one_line} }}"),
        format!(
            "name: x\nexpected_trajectory: [{}]",
            "{}, ".repeat(many(200_000))
        ),
        format!(
            "variables: {{ a: {} }}\nuser_intent: '{}'",
            "x".repeat(many(400_000)),
            "{{a}}".repeat(many(100_000))
        ),
        format!("user_intent: '{}'", "{{".repeat(many(400_000))),
        format!(
            "name: x\nservers: {{ a: {{ url: '{}' }} }}",
            "${A}$${".repeat(many(100_000))
        ),
    ];
    for text in hostile {
        fs::write(&path, &text).unwrap();
        let start = Instant::now();
        let (loaded, findings) = load(&path);
        let shown: String = text.chars().take(40).collect();
        assert_eq!(loaded, 0, "{shown}");
        assert!(
            !findings.is_empty() && findings.len() <= 101,
            "{shown}: {}",
            findings.len()
        );
        let length = findings.iter().map(String::len).max().unwrap();
        assert!(length < 1000, "{shown}: a finding of {length} bytes");
        // A watchdog, no measurement: what it guards against would take far longer.
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "{shown}: {:?}",
            start.elapsed()
        );
    }
}
