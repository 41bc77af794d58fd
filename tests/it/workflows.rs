//! Files that other repositories copy for their CI: the steps are run here as a runner would, with stand-ins for what is not on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Project, Ran, copy, manual, ran, root, skipped};

/// A job of GitHub that uses our action in a project.
struct Job<'a> {
    project: &'a Project,
    action: Value,
    inputs: BTreeMap<String, String>,
    outputs: BTreeMap<String, String>,
}

impl<'a> Job<'a> {
    fn new(project: &'a Project, inputs: &[(&str, &str)]) -> Self {
        let text = fs::read_to_string(root().join(".github/actions/mcp-eval/action.yml")).unwrap();
        let action: Value = serde_yaml::from_str(&text).unwrap();
        let declared = action["inputs"].as_object().unwrap();
        let defaults = declared.iter().map(|(name, it)| {
            assert!(it["description"].is_string(), "{name}");
            (name.clone(), it["default"].as_str().unwrap().to_owned())
        });
        let mut all: BTreeMap<String, String> = defaults.collect();
        for (name, value) in inputs {
            assert!(
                all.insert((*name).to_owned(), (*value).to_owned())
                    .is_some(),
                "{name}"
            );
        }
        let runner = project.path("runner");
        fs::create_dir_all(&runner).unwrap();
        Self {
            project,
            inputs: all,
            action,
            outputs: BTreeMap::new(),
        }
    }

    /// The value of an expression, as far as our action uses any.
    fn filled(&self, text: &str) -> String {
        let Some((before, rest)) = text.split_once("${{ ") else {
            return text.to_owned();
        };
        let (expression, after) = rest.split_once(" }}").unwrap();
        let value = match expression {
            "github.action_path" => self.project.path("elsewhere/a/b/c").display().to_string(),
            "github.event.pull_request.number" => "7".to_owned(),
            "github.token" => "t0ken".to_owned(),
            _ if expression.starts_with("inputs.") => {
                self.filled(&self.inputs[&expression["inputs.".len()..]])
            }
            _ => self.outputs.get(expression).cloned().unwrap_or_default(),
        };
        format!("{before}{value}{}", self.filled(after))
    }

    /// Runs the step of this name as the runner does.
    fn step(&mut self, name: &str) -> Ran {
        let steps = self.action["runs"]["steps"].as_array().unwrap();
        let step = steps.iter().find(|it| it["name"] == name).unwrap().clone();
        let script = step["run"].as_str().unwrap();
        assert!(!script.contains("${{"), "a value in a script is run by it");
        let folder = step["working-directory"].as_str().unwrap_or(".");
        let mut command = Command::new("bash");
        let output = self.project.path("runner/output");
        fs::write(&output, "").unwrap();
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", self.project.path("bin").display());
        command
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
            .current_dir(self.project.path(self.filled(folder)))
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.project.path(""))
            .env("CI", "true")
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_OUTPUT", &output)
            .env(
                "GITHUB_STEP_SUMMARY",
                self.project.path("runner/summary.md"),
            )
            .env("GITHUB_WORKSPACE", self.project.path(""))
            .env("GITHUB_SERVER_URL", "https://github.example")
            .env("GITHUB_REPOSITORY", "octo/cat")
            .env("GITHUB_RUN_ID", "42")
            .env("RUNNER_TEMP", self.project.path("runner"));
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            command.env(name, self.filled(value.as_str().unwrap()));
        }
        let ran = ran(&mut command);
        for line in fs::read_to_string(&output).unwrap().lines() {
            let (name, value) = line.split_once('=').unwrap();
            let id = step["id"].as_str().unwrap();
            self.outputs
                .insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
        }
        ran
    }
}

/// A program of the project's own `bin`.
fn program(project: &Project, name: &str, script: &str) {
    let path = format!("bin/{name}");
    project.file(&path, script);
    fs::set_permissions(project.path(&path), fs::Permissions::from_mode(0o755)).unwrap();
}

/// A project with one scenario that passes and one whose server answers otherwise than it was recorded, below `suite`.
fn suite() -> Project {
    let project = Project::new();
    for name in ["good", "bad one"] {
        let scenario = json!({
            "name": name,
            "servers": { "s": { "type": "mock" } },
            "expected_trajectory": [{ "tool": "look", "args": {} }],
            "mcp_interactions": { "s": { "tools": [{
                "name": "look",
                "annotations": { "read_only_hint": true },
                "responses": [{ "content": "as it was" }],
            }] } },
        });
        project.file(&format!("scenarios/{name}.yaml"), scenario.to_string());
    }
    project.expect(0, &["record"]);
    project.edit("scenarios/bad one.yaml", "as it was", "otherwise");
    fs::create_dir(project.path("suite")).unwrap();
    for folder in ["scenarios", "baselines"] {
        fs::rename(project.path(folder), project.path("suite").join(folder)).unwrap();
    }
    project
}

fn has(tool: &str, what: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        skipped(what, &format!("there is no `{tool}`"));
    }
    found
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-eval");

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_action_runs_reports_and_gates() {
    let project = suite();
    let inputs = [
        ("binary", PROGRAM),
        ("working-directory", "suite"),
        (
            "args",
            "--threshold 0.9\n'scenarios/bad one.yaml'  scenarios/good.yaml",
        ),
        ("name", "smoke test"),
    ];
    let mut job = Job::new(&project, &inputs);
    assert_eq!(job.step("Find or build mcp-eval").code, 0);
    let ran = job.step("Run mcp-eval");
    assert_eq!(ran.code, 0, "the gate comes last: {ran:#?}");
    assert_eq!(job.outputs["steps.run.outputs.exit-code"], "1");
    ran.says("::error file=suite/scenarios/bad one.yaml,line=1,");
    let report = Path::new(&job.outputs["steps.run.outputs.report"]);
    for file in [
        "index.html",
        "result.json",
        "junit.xml",
        "summary.md",
        "good.html",
    ] {
        assert!(report.join(file).exists(), "{file}");
    }
    let summary = fs::read_to_string(project.path("runner/summary.md")).unwrap();
    assert_eq!(
        summary.trim_end(),
        fs::read_to_string(report.join("summary.md"))
            .unwrap()
            .trim_end()
    );
    assert_eq!(job.step("Gate").code, 1);

    // A suite that passes opens the gate; what cannot begin does not.
    let mut job = Job::new(
        &project,
        &[
            ("binary", PROGRAM),
            ("working-directory", "suite"),
            ("args", "scenarios/good.yaml"),
        ],
    );
    for (step, code) in [
        ("Find or build mcp-eval", 0),
        ("Run mcp-eval", 0),
        ("Gate", 0),
    ] {
        let ran = job.step(step);
        assert_eq!(ran.code, code, "{step}: {ran:#?}");
    }
    let mut job = Job::new(
        &project,
        &[
            ("binary", PROGRAM),
            ("working-directory", "suite"),
            ("args", "nowhere \"$(touch taken)\"\n; touch taken"),
        ],
    );
    job.step("Find or build mcp-eval");
    assert_eq!(job.step("Run mcp-eval").code, 0);
    let report = job.outputs["steps.run.outputs.report"].clone();
    assert!(
        fs::read_to_string(Path::new(&report).join("summary.md"))
            .unwrap()
            .contains("no scenario files match")
    );
    let taken = project.path("suite/taken");
    assert!(!taken.exists(), "an argument was run");
    assert_eq!(job.step("Gate").code, 2);

    // What comes behind a quote that is not closed is not left out.
    let inputs = [
        ("binary", PROGRAM),
        ("working-directory", "suite"),
        ("args", "scenarios/good.yaml scenarios/it's.yaml"),
    ];
    let mut job = Job::new(&project, &inputs);
    job.step("Find or build mcp-eval");
    let refused = job.step("Run mcp-eval");
    assert_eq!(refused.code, 2, "{refused:#?}");
    refused.says("a quote is not closed");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_action_takes_the_program_on_the_path_and_says_where_there_is_none() {
    let project = suite();
    let mut job = Job::new(&project, &[]);
    let missing = job.step("Find or build mcp-eval");
    assert_eq!(missing.code, 2, "{missing:#?}");
    missing.says("Name it with the input binary");
    assert_eq!(job.step("Gate").code, 3, "what did not run is never green");
    let mut named = Job::new(&project, &[("binary", "./no-such-program")]);
    assert_eq!(named.step("Find or build mcp-eval").code, 2);

    program(
        &project,
        "mcp-eval",
        &format!("#!/bin/sh\nexec '{PROGRAM}' \"$@\"\n"),
    );
    assert_eq!(job.step("Find or build mcp-eval").code, 0);
    assert!(job.outputs["steps.program.outputs.path"].ends_with("bin/mcp-eval"));

    // The source that the action lies in is built with cargo.
    fs::remove_file(project.path("bin/mcp-eval")).unwrap();
    project.file("elsewhere/Cargo.toml", "[package]\nname = \"mcp-eval\"\n");
    fs::create_dir_all(project.path("elsewhere/a/b/c")).unwrap();
    program(
        &project,
        "cargo",
        "#!/bin/sh\necho \"$@\" > \"$RUNNER_TEMP/cargo.txt\"\n",
    );
    assert_eq!(job.step("Find or build mcp-eval").code, 0);
    assert!(
        project
            .read("runner/cargo.txt")
            .starts_with("install --quiet --locked --path ")
    );
}

/// A stand-in for GitHub's command line, which has comments and keeps its arguments.
const GH: &str = r#"#!/bin/bash
set -e
echo "$@" >> "$RUNNER_TEMP/gh.txt"
test "$GH_TOKEN" = t0ken
for it in "$@"; do case "$it" in
  body=@*) cp "${it#body=@}" "$RUNNER_TEMP/body.md" ;;
esac; done
case "$*" in *--jq*) jq -r "${@: -1}" "$RUNNER_TEMP/comments.json" ;; esac
"#;

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_action_keeps_one_comment_up_to_date() {
    if !has("jq", "the comment of the action was not tried") {
        return;
    }
    let project = suite();
    let mut job = Job::new(
        &project,
        &[("binary", PROGRAM), ("working-directory", "suite")],
    );
    job.step("Find or build mcp-eval");
    job.step("Run mcp-eval");
    program(&project, "gh", GH);
    let comment =
        |id: u32, of: &str, body: &str| json!({ "id": id, "user": { "type": of }, "body": body });
    let others = vec![
        comment(1, "Bot", "<!-- mcp-eval: another -->"),
        comment(2, "User", "<!-- mcp-eval: mcp-eval --> by somebody"),
    ];
    project.file("runner/comments.json", json!(others).to_string());
    let ran = job.step("Comment on the pull request");
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(
        project
            .read("runner/gh.txt")
            .contains("--method POST repos/octo/cat/issues/7/comments --field")
    );
    let body = project.read("runner/body.md");
    assert!(
        body.starts_with("<!-- mcp-eval: mcp-eval -->\n## ✗ mcp-eval compare: "),
        "{body}"
    );
    assert!(
        body.ends_with("(https://github.example/octo/cat/actions/runs/42)\n"),
        "{body}"
    );
    assert!(body.len() < 65_536);

    let mut comments = others;
    comments.push(comment(3, "Bot", &body));
    comments.push(comment(4, "Bot", &body));
    project.file("runner/comments.json", json!(comments).to_string());
    assert_eq!(job.step("Comment on the pull request").code, 0);
    assert!(
        project
            .read("runner/gh.txt")
            .contains("--method PATCH repos/octo/cat/issues/comments/3 --field")
    );

    // A fork may not write: a warning, and the gate decides.
    program(&project, "gh", "#!/bin/sh\necho forbidden >&2\nexit 1\n");
    let ran = job.step("Comment on the pull request");
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("::warning title=mcp-eval::the pull request could not be commented on");
}

/// A stand-in for `curl` that has notes and keeps its arguments.
const CURL: &str = r#"#!/bin/bash
set -e
echo "$@" >> curl.txt
while [ $# -gt 0 ]; do case "$1" in
  --config) cat "$2" >> config.txt; shift ;;
  body@*) cp "${1#body@}" body.md ;;
esac; shift; done
cat notes.json
"#;

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_job_for_gitlab_reports_notes_and_gates() {
    let project = suite();
    let text = fs::read_to_string(root().join(".gitlab/mcp-eval.gitlab-ci.yml")).unwrap();
    let file: Value = serde_yaml::from_str(&text).unwrap();
    let job = &file[".mcp-eval"];
    assert_eq!(
        job["artifacts"]["reports"]["junit"],
        "mcp-eval-report/junit.xml"
    );
    assert_eq!(job["artifacts"]["when"], "always");
    let script = job["script"][0].as_str().unwrap();
    program(
        &project,
        "mcp-eval",
        &format!("#!/bin/sh\nexec '{PROGRAM}' \"$@\"\n"),
    );
    program(&project, "curl", CURL);
    let run = |arguments: &str, more: &[(&str, &str)]| {
        let path = format!(
            "{}:{}",
            project.path("bin").display(),
            std::env::var("PATH").unwrap()
        );
        let mut command = Command::new("bash");
        command
            .args(["-eo", "pipefail", "-c", script])
            .current_dir(project.path("suite"))
            .env_clear()
            .env("PATH", path)
            .env("HOME", project.path(""))
            .env("CI", "true")
            .env("MCP_EVAL_ARGS", arguments);
        for (name, value) in job["variables"].as_object().unwrap() {
            if name != "MCP_EVAL_ARGS" {
                command.env(name, value.as_str().unwrap());
            }
        }
        command.envs(more.iter().copied());
        ran(&mut command)
    };
    assert_eq!(run("scenarios/good.yaml --threshold 0.9", &[]).code, 0);
    assert_eq!(run("", &[]).code, 1);
    for path in ["junit.xml", "summary.md", "index.html"] {
        assert!(
            project.path("suite/mcp-eval-report").join(path).exists(),
            "{path}"
        );
    }
    if !has("jq", "the note on a merge request was not tried") {
        return;
    }
    let merge_request = [
        ("MCP_EVAL_GITLAB_TOKEN", "t0ken-of-gitlab"),
        ("CI_MERGE_REQUEST_IID", "5"),
        ("CI_API_V4_URL", "https://gitlab.example/api/v4"),
        ("CI_PROJECT_ID", "9"),
        ("CI_JOB_NAME", "agents"),
        ("CI_JOB_URL", "https://gitlab.example/jobs/1"),
    ];
    project.file("suite/notes.json", "[]");
    assert_eq!(
        run("", &merge_request).code,
        1,
        "the note changes no verdict"
    );
    let arguments = project.read("suite/curl.txt");
    assert!(arguments.contains("--request POST"), "{arguments}");
    assert!(
        !arguments.contains("t0ken-of-gitlab"),
        "the list of processes shows the token"
    );
    assert!(
        project
            .read("suite/config.txt")
            .contains("PRIVATE-TOKEN: t0ken-of-gitlab")
    );
    let body = project.read("suite/body.md");
    assert!(
        body.starts_with("<!-- mcp-eval: agents -->\n## ✗ mcp-eval compare: "),
        "{body}"
    );
    project.file(
        "suite/notes.json",
        json!([{ "id": 1, "body": "hello" }, { "id": 8, "body": body }]).to_string(),
    );
    assert_eq!(run("", &merge_request).code, 1);
    assert!(project.read("suite/curl.txt").contains("--request PUT"));
    assert!(
        project
            .read("suite/curl.txt")
            .contains("/merge_requests/5/notes/8")
    );
}

/// What a step of a workflow gives the action, with the part filled in.
fn given(step: &Value, part: &str) -> Vec<(String, String)> {
    let with = step["with"].as_object().unwrap().iter();
    let filled = with.map(|(name, value)| {
        let value = value.as_str().unwrap();
        let value = value.replace("${{ matrix.part }}", part);
        (
            name.clone(),
            value.replace("${{ strategy.job-total }}", "3"),
        )
    });
    filled.collect()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_workflow_with_a_matrix_runs_parts_and_puts_them_together() {
    let project = suite();
    let text = fs::read_to_string(root().join(".github/examples/shards.yml")).unwrap();
    let workflow: Value = serde_yaml::from_str(&text).unwrap();
    let jobs = &workflow["jobs"];
    let parts = jobs["part"]["strategy"]["matrix"]["part"]
        .as_array()
        .unwrap();
    assert_eq!(parts.len(), 3);
    assert_eq!(jobs["part"]["strategy"]["fail-fast"], false);
    assert_eq!(
        (&jobs["together"]["needs"], &jobs["together"]["if"]),
        (&json!("part"), &json!("always()"))
    );
    let action = |job: &Value| {
        let steps = job["steps"].as_array().unwrap().iter();
        let mut ours = steps.filter(|it| it["uses"] == "./.github/actions/mcp-eval");
        ours.next().unwrap().clone()
    };
    let run = |inputs: &[(String, String)]| {
        let mut all = vec![("binary", PROGRAM), ("working-directory", "suite")];
        all.extend(
            inputs
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        );
        let mut job = Job::new(&project, &all);
        assert_eq!(job.step("Find or build mcp-eval").code, 0);
        let ran = job.step("Run mcp-eval");
        assert_eq!(ran.code, 0, "{ran:#?}");
        (
            job.outputs["steps.run.outputs.exit-code"].clone(),
            job.outputs["steps.run.outputs.report"].clone(),
        )
    };
    let mut codes = Vec::new();
    for part in parts {
        let part = part.to_string();
        let inputs = given(&action(&jobs["part"]), &part);
        assert!(inputs.contains(&("gate".to_owned(), "false".to_owned())));
        let (code, report) = run(&inputs);
        codes.push(code);
        // As the artifact is downloaded.
        let name = inputs.iter().find(|(name, _)| name == "name").unwrap();
        copy(
            Path::new(&report),
            &project.path("suite/parts").join(&name.1),
        );
    }
    codes.sort();
    assert_eq!(codes, ["0", "0", "1"], "two scenarios, one of which fails");
    let inputs = given(&action(&jobs["together"]), "");
    let (code, report) = run(&inputs);
    assert_eq!(code, "1");
    let summary = fs::read_to_string(Path::new(&report).join("summary.md")).unwrap();
    assert!(
        summary.contains("1 of 2") || summary.contains("1/2"),
        "{summary}"
    );
    fs::remove_dir_all(project.path("suite/parts/mcp-eval-part-1")).unwrap();
    let (code, _) = run(&inputs);
    assert_ne!(code, "0", "a part was lost");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_jobs_for_gitlab_run_parts_and_put_them_together() {
    let project = suite();
    let text = fs::read_to_string(root().join(".gitlab/mcp-eval.gitlab-ci.yml")).unwrap();
    let file: Value = serde_yaml::from_str(&text).unwrap();
    program(
        &project,
        "mcp-eval",
        &format!("#!/bin/sh\nexec '{PROGRAM}' \"$@\"\n"),
    );
    let script = file[".mcp-eval"]["script"][0].as_str().unwrap();
    let run = |name: &str, node: &str| {
        let path = format!(
            "{}:{}",
            project.path("bin").display(),
            std::env::var("PATH").unwrap()
        );
        assert_eq!(file[name]["extends"], ".mcp-eval");
        let of = |job: &str| file[job]["variables"].as_object().unwrap().clone();
        let mut variables = of(".mcp-eval");
        variables.extend(of(name));
        let mut command = Command::new("bash");
        command
            .args(["-eo", "pipefail", "-c", script])
            .current_dir(project.path("suite"))
            .env_clear()
            .env("PATH", path)
            .env("HOME", project.path(""))
            .env("CI", "true");
        for (name, value) in variables {
            // The runner fills in its own variables.
            let value = value.as_str().unwrap().replace("$CI_NODE_INDEX", node);
            let value = value.replace("$CI_NODE_TOTAL", "2");
            let folder = project.path("suite").display().to_string();
            command.env(name, value.replace("$CI_PROJECT_DIR", &folder));
        }
        ran(&mut command).code
    };
    let mut codes = [run(".mcp-eval-part", "1"), run(".mcp-eval-part", "2")];
    codes.sort_unstable();
    assert_eq!(codes, [0, 1]);
    assert_eq!(
        file[".mcp-eval-part"]["artifacts"]["paths"],
        json!(["mcp-eval-parts/"])
    );
    assert_eq!(run(".mcp-eval-merge", ""), 1);
    let junit = project.read("suite/mcp-eval-report/junit.xml");
    assert!(junit.contains("tests=\"2\" failures=\"1\""), "{junit}");
    // The job that gates runs whatever has become of the parts.
    let rules = file[".mcp-eval-merge"]["rules"].as_array().unwrap();
    assert!(rules.iter().all(|it| it["when"] == "always"));
}

#[test]
fn the_workflow_of_the_readme_uses_the_action_as_it_is() {
    let readme = manual();
    let workflow = readme
        .split("```yml\n")
        .find(|it| it.contains("uses: ./.github/actions/mcp-eval"))
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let workflow: Value = serde_yaml::from_str(workflow).unwrap();
    let steps = workflow["jobs"]["agents"]["steps"].as_array().unwrap();
    let step = steps
        .iter()
        .find(|it| it["uses"] == "./.github/actions/mcp-eval")
        .unwrap();
    let project = Project::new();
    let action = Job::new(&project, &[]);
    for name in step["with"].as_object().unwrap().keys() {
        assert!(action.inputs.contains_key(name), "{name}");
    }
    assert_eq!(workflow["permissions"]["pull-requests"], "write");
    for output in action.action["outputs"].as_object().unwrap().values() {
        assert!(
            output["value"]
                .as_str()
                .unwrap()
                .starts_with("${{ steps.run.outputs.")
        );
    }
}
