//! The manifests for Kubernetes: they fit the published schema, and their very commands do what they should.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Project, Ran, ran, root, skipped};

fn manifest(name: &str) -> (PathBuf, Value) {
    let path = root().join("docker/kubernetes").join(name);
    let text = fs::read_to_string(&path).unwrap();
    (path, serde_yaml::from_str(&text).unwrap())
}

fn container(job: &Value) -> &Value {
    &job["spec"]["template"]["spec"]["containers"][0]
}

/// The value that a container of a job has for a variable.
fn variable<'a>(job: &'a Value, name: &str) -> &'a str {
    let variables = container(job)["env"].as_array().unwrap();
    let mut found = variables.iter().filter(|it| it["name"] == name);
    found.next().unwrap()["value"].as_str().unwrap()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_manifests_fit_the_published_schema() {
    let python = std::env::var("MCP_EVAL_KUBERNETES").map_or_else(
        |_| root().join("target/judges/kubernetes/bin/python"),
        PathBuf::from,
    );
    if !python.exists() {
        return skipped(
            "the manifests were not checked with the schema of batch/v1",
            "it is not installed: `.ci/run` installs it",
        );
    }
    let check = "import sys, yaml, kubernetes_validate\n\
                 job = yaml.safe_load(open(sys.argv[1]))\n\
                 assert job['apiVersion'] == 'batch/v1' and job['kind'] == 'Job'\n\
                 kubernetes_validate.validate(job, '1.37', strict=True)\n";
    let checked = |path: &Path| ran(Command::new(&python).args(["-c", check]).arg(path));
    for name in ["shards.yaml", "merge.yaml"] {
        let (path, job) = manifest(name);
        let fits = checked(&path);
        assert_eq!(fits.code, 0, "{name}: {fits:#?}");
        // The schema is one that finds something.
        let project = Project::new();
        let mut wrong = job;
        wrong["spec"]["complettions"] = json!(7);
        project.file("wrong.yaml", wrong.to_string());
        assert_eq!(checked(&project.path("wrong.yaml")).code, 1, "{name}");
    }
}

#[test]
fn the_manifests_fit_each_other() {
    let (_, shards) = manifest("shards.yaml");
    let (_, merge) = manifest("merge.yaml");
    let spec = &shards["spec"];
    assert_eq!(spec["completionMode"], "Indexed");
    assert_eq!(spec["completions"].to_string(), variable(&shards, "SHARDS"));
    for name in ["SHARDS", "RUN", "RESULTS"] {
        assert_eq!(variable(&shards, name), variable(&merge, name), "{name}");
    }
    for job in [&shards, &merge] {
        let pod = &job["spec"]["template"]["spec"];
        let (volume, mount) = (&pod["volumes"][0], &container(job)["volumeMounts"][0]);
        assert_eq!(volume["name"], mount["name"]);
        assert_eq!(mount["mountPath"], variable(job, "RESULTS"));
        let claim = &volume["persistentVolumeClaim"]["claimName"];
        assert_eq!(claim, "mcp-eval-results");
        // What decides on a pod's exit code names its container.
        let rule = &job["spec"]["podFailurePolicy"]["rules"][0]["onExitCodes"];
        assert_eq!(rule["containerName"], container(job)["name"]);
    }
}

/// The command of a job's container as its pod runs it, with the volume in the project.
fn pod(project: &Project, job: &Value, more: &[(&str, &str)]) -> Command {
    let words = container(job)["command"].as_array().unwrap();
    let mut words = words.iter().map(|it| it.as_str().unwrap());
    let program = Path::new(env!("CARGO_BIN_EXE_mcp-eval"));
    let path = std::env::join_paths(
        [program.parent().unwrap().to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut command = Command::new(words.next().unwrap());
    command
        .args(words)
        .current_dir(project.path(""))
        .env_clear()
        .env("PATH", path.unwrap())
        .env("HOME", project.path(""));
    for it in container(job)["env"].as_array().unwrap() {
        command.env(it["name"].as_str().unwrap(), it["value"].as_str().unwrap());
    }
    command.env("RESULTS", project.path("results"));
    command.envs(more.iter().copied());
    command
}

/// Fourteen scenarios with baselines. `s07` goes on for as long as there is a file `hold`.
fn suite() -> Project {
    let project = Project::new();
    for number in 0..14 {
        let mut scenario = json!({
            "name": format!("Number {number}"),
            "servers": { "s": { "type": "mock" } },
            "expected_trajectory": [{ "tool": "look", "args": {} }],
            "mcp_interactions": { "s": { "tools": [{
                "name": "look",
                "annotations": { "read_only_hint": true },
                "responses": [{ "content": "as it was" }],
            }] } },
        });
        if number == 7 {
            let hold = "while test -e hold; do sleep 0.05; done";
            scenario["before"] = json!([["sh", "-c", hold]]);
        }
        let path = format!("scenarios/s{number:02}.yaml");
        project.file(&path, scenario.to_string());
    }
    project.expect(0, &["record", "--takes", "1"]);
    project
}

fn all_parts(project: &Project, job: &Value) -> Vec<Child> {
    let count: u32 = variable(job, "SHARDS").parse().unwrap();
    let start = |index: u32| {
        let index = index.to_string();
        let mut pod = pod(project, job, &[("JOB_COMPLETION_INDEX", &index)]);
        // A pod is killed with all that is in it.
        pod.process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        pod.spawn().unwrap()
    };
    (0..count).map(start).collect()
}

/// Waits until no more than so many of them run; returns the places of those that do.
fn wait_until(running: usize, children: &mut [Child]) -> Vec<usize> {
    let started = Instant::now();
    loop {
        let left: Vec<usize> = (children.iter_mut().enumerate())
            .filter_map(|(at, it)| it.try_wait().unwrap().is_none().then_some(at))
            .collect();
        if left.len() <= running {
            return left;
        }
        assert!(started.elapsed() < Duration::from_secs(90), "{left:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn document(project: &Project, path: &str) -> Value {
    serde_json::from_str(&project.read(path)).unwrap()
}

fn merged(project: &Project, patience: &str) -> Ran {
    let (_, merge) = manifest("merge.yaml");
    ran(&mut pod(project, &merge, &[("PATIENCE", patience)]))
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn one_of_seven_parts_is_killed_and_what_is_missing_is_named() {
    let project = suite();
    let (_, shards) = manifest("shards.yaml");
    project.file("hold", "");
    let mut pods = all_parts(&project, &shards);
    let held = wait_until(1, &mut pods);
    let [held] = held[..] else {
        panic!("{held:?} go on")
    };
    let pid = rustix::process::Pid::from_child(&pods[held]);
    rustix::process::kill_process_group(pid, rustix::process::Signal::KILL).unwrap();
    for (place, pod) in pods.iter_mut().enumerate() {
        assert_eq!(pod.wait().unwrap().success(), place != held, "part {place}");
    }
    fs::remove_file(project.path("hold")).unwrap();

    let other = (held + 1) % 7 + 1;
    let other = document(&project, &format!("results/1/parts/{other}/result.json"));
    let lost = &other["shard"]["plan"][held]["scenarios"];
    let lost: Vec<&str> = lost
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].as_str().unwrap())
        .collect();
    assert!(lost.contains(&"s07"), "{lost:?}");
    let hole = merged(&project, "1");
    assert_eq!(hole.code, 3, "{hole:#?}");
    hole.says(&format!("part {}/7 has left no result", held + 1));
    let line = hole
        .stderr
        .lines()
        .find(|it| it.contains("has left no result"));
    for id in &lost {
        assert!(line.unwrap().contains(id), "{id}: {line:?}");
    }
    let result = document(&project, "results/1/report/result.json");
    assert_eq!(result["gate"]["exit_code"], 3);
    assert_eq!(result["merged"]["missing"], json!(lost));
    assert_eq!(result["summary"]["passed"], 14 - lost.len());
    assert!(
        project
            .read("results/1/report/junit.xml")
            .contains("name=\"s07\"")
    );

    // The pod is started anew, and nothing is missing any more.
    let index = held.to_string();
    let again = ran(&mut pod(
        &project,
        &shards,
        &[("JOB_COMPLETION_INDEX", &index)],
    ));
    assert_eq!(again.code, 0, "{again:#?}");
    let whole = merged(&project, "60");
    assert_eq!(whole.code, 0, "{whole:#?}");
    whole.says("Suite Results: 14/14 tests passed");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_part_that_fails_is_waited_for_and_decides() {
    let project = suite();
    project.edit("scenarios/s03.yaml", "as it was", "otherwise");
    let (_, shards) = manifest("shards.yaml");
    let mut pods = all_parts(&project, &shards);
    // Begins while the others run.
    let whole = merged(&project, "60");
    assert_eq!(whole.code, 1, "{whole:#?}");
    whole.says("Suite Results: 13/14 tests passed");
    wait_until(0, &mut pods);
    let codes = pods.iter_mut().map(|it| it.wait().unwrap().code());
    assert_eq!(codes.filter(|it| *it == Some(1)).count(), 1);
}
