//! The engine, the demo image in its two versions, and projects that use them.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Value, json};

use crate::common::{Project, root, skipped};

/// Version A of the demo image, its worse successor, and A with a health check.
pub(crate) const A: &str = "mcp-eval-test/demo:a";
pub(crate) const B: &str = "mcp-eval-test/demo:b";
pub(crate) const HEALTHY: &str = "mcp-eval-test/demo:healthy";

/// The label of the images that tests build.
const TESTS: &str = "dev.mcp-eval.tests=true";

/// Whether there is an engine with the demo images; says so where there is none.
pub(crate) fn engine(test: &str) -> bool {
    static STATE: OnceLock<Result<(), String>> = OnceLock::new();
    let state = STATE.get_or_init(prepare);
    if let Err(why) = state {
        skipped(test, why);
    }
    state.is_ok()
}

fn prepare() -> Result<(), String> {
    let there = Command::new("docker")
        .arg("version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !there.is_ok_and(|it| it.success()) {
        return Err("there is no Docker engine, or no `docker` to speak with it".to_owned());
    }
    // What earlier tests have built is used again where it is still the same.
    docker(&[
        "image",
        "prune",
        "--force",
        "--filter",
        &format!("label={TESTS}"),
    ]);
    let context = context();
    build(&context, A, &["VERSION=1.0.0", "REVISION=aaaa111"]);
    build(
        &context,
        B,
        &["VERSION=2.0.0", "REVISION=bbbb222", "DECLARATION=b.yaml"],
    );
    let health = "HEALTHCHECK --interval=100ms --retries=3 CMD [\"/bin/mcp-eval\", \"--version\"]";
    derived(HEALTHY, health);
    Ok(())
}

/// The folder of the demo image with the program in it, made once per run of the tests.
pub(crate) fn context() -> PathBuf {
    static CONTEXT: OnceLock<PathBuf> = OnceLock::new();
    CONTEXT
        .get_or_init(|| {
            let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("demo");
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            for file in [
                "Dockerfile",
                ".dockerignore",
                "make-root",
                "a.yaml",
                "b.yaml",
            ] {
                fs::copy(root().join("docker/demo").join(file), folder.join(file)).unwrap();
            }
            let made = Command::new(folder.join("make-root"))
                .arg(env!("CARGO_BIN_EXE_mcp-eval"))
                .status();
            assert!(made.unwrap().success());
            folder
        })
        .clone()
}

/// An image made from version A by more lines of a Dockerfile.
pub(crate) fn derived(name: &str, lines: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("Dockerfile"),
        format!("FROM {A}\n{lines}\n"),
    )
    .unwrap();
    docker(&[
        "build",
        "-q",
        "-t",
        name,
        "--label",
        TESTS,
        &at(folder.path(), ""),
    ]);
}

/// A version A of its own, whose containers carry the label that is returned: tests that run at the same time recognise theirs by it.
pub(crate) fn own(test: &str) -> (String, String) {
    let label = format!("dev.mcp-eval.test={test}");
    let name = format!("mcp-eval-test/{test}:1");
    derived(&name, &format!("LABEL {label}"));
    (name, label)
}

fn build(context: &std::path::Path, name: &str, arguments: &[&str]) {
    let mut command = vec!["build", "-q", "-t", name, "--label", TESTS];
    for argument in arguments {
        command.extend(["--build-arg", argument]);
    }
    let context = at(context, "");
    command.push(&context);
    docker(&command);
}

fn at(folder: &std::path::Path, file: &str) -> String {
    folder.join(file).to_str().unwrap().to_owned()
}

/// Runs `docker` and returns what it says, without the line's end.
#[track_caller]
pub(crate) fn docker(arguments: &[&str]) -> String {
    let output = Command::new("docker").args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "docker {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Names of the containers, running or not, that carry all of these labels.
#[track_caller]
pub(crate) fn containers(labels: &[&str]) -> Vec<String> {
    let mut arguments = vec!["ps", "-a", "--format", "{{.Names}}"];
    let filters: Vec<String> = labels.iter().map(|it| format!("label={it}")).collect();
    for filter in &filters {
        arguments.extend(["--filter", filter]);
    }
    let names = docker(&arguments);
    names.lines().map(str::to_owned).collect()
}

/// Tests that clean up, or that leave behind what a clean-up would take, go one after another.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A scenario on one server in a container. `docker` is added to the section, `more` to the scenario.
pub(crate) fn scenario(
    project: &Project,
    name: &str,
    docker: &Value,
    calls: &[(&str, Value)],
    more: &Value,
) {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(tool, args)| json!({ "tool": tool, "args": args }))
        .collect();
    let mut section = json!({ "image": A, "port": 8080 });
    merge(&mut section, docker);
    let mut scenario = json!({
        "name": name,
        "docker": section,
        "servers": { "proxy": { "type": "http", "url": "${docker.url}/mcp" } },
        "expected_trajectory": calls,
    });
    merge(&mut scenario, more);
    project.file(&format!("scenarios/{name}.yaml"), scenario.to_string());
}

/// A scenario `s` with one call that only reads.
pub(crate) fn searching(project: &Project, docker: &Value) {
    scenario(project, "s", docker, &search(), &json!({}));
}

fn merge(into: &mut Value, more: &Value) {
    let into = into.as_object_mut().unwrap();
    for (key, value) in more.as_object().unwrap() {
        if value.is_null() {
            into.remove(key);
        } else {
            into.insert(key.clone(), value.clone());
        }
    }
}

/// One call that only reads.
pub(crate) fn search() -> Vec<(&'static str, Value)> {
    vec![("retrieve_tools", json!({ "query": "environment" }))]
}
