//! A project in a temporary folder, and the real program run in it.

pub(crate) mod devtools;
mod ports;
mod terminal;

use git2::{IndexAddOption, Repository, RepositoryInitOptions, Signature};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use self::ports::free_port;
pub(crate) use self::terminal::in_terminal;

/// How long any command of a test may take: far more than it should, far less than for ever.
const PATIENCE: Duration = Duration::from_secs(300);

/// A folder with scenarios, in which the program runs offline and with a clean environment.
pub(crate) struct Project {
    folder: TempDir,
}

/// What says that a command is run by a CI job.
const OF_CI: [&str; 7] = [
    "CI",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "BUILDKITE",
    "JENKINS_URL",
    "TF_BUILD",
    "TEAMCITY_VERSION",
];

/// Lets a command that has the environment of the tests find itself at somebody's desk.
pub(crate) fn at_a_desk(command: &mut Command) -> &mut Command {
    for variable in OF_CI {
        command.env_remove(variable);
    }
    command
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl Project {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A project with a copy of the shipped scenarios of flows and of a proxy, which most tests try something with.
    pub(crate) fn shipped() -> Self {
        let project = Self::measured();
        for file in ["tool_search.yaml", "scanner.yaml"] {
            fs::remove_file(project.path("scenarios/discovery").join(file)).unwrap();
        }
        fs::remove_dir_all(project.path("baselines/discovery")).unwrap();
        project
    }

    /// The same with those that measure a search and scanners.
    pub(crate) fn measured() -> Self {
        let project = Self::offline();
        for folder in ["scenarios/files", "baselines/files"] {
            fs::remove_dir_all(project.path(folder)).unwrap();
        }
        project
    }

    /// A project with a copy of all shipped scenarios and baselines, but for those that need an image which may be there or not.
    pub(crate) fn offline() -> Self {
        let project = Self::all_shipped();
        fs::remove_dir_all(project.path("scenarios/mcpproxy")).unwrap();
        project
    }

    /// A project with a copy of all shipped scenarios and baselines, and of what images are built of.
    pub(crate) fn all_shipped() -> Self {
        let project = Self::new();
        for folder in ["scenarios", "baselines", "docker"] {
            copy(&root().join(folder), &project.path(folder));
        }
        project
    }

    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes a file of the project, folders included.
    pub(crate) fn file(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.path(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The folder of the run that was kept last. Beside the runs lie files, in whatever order the system lists them.
    #[track_caller]
    pub(crate) fn last_run(&self) -> PathBuf {
        let runs = fs::read_dir(self.path(".mcp-eval/runs")).unwrap();
        let runs = runs.map(|it| it.unwrap().path());
        let last = runs.filter(|it| it.is_dir() && !it.is_symlink()).max();
        last.expect("a run was kept")
    }

    /// Replaces a piece of a file that must be there.
    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) -> &Self {
        let text = self.read(path);
        assert!(text.contains(from), "{path} does not hold {from:?}");
        self.file(path, text.replace(from, to))
    }

    /// A scenario `scenarios/NAME.yaml` that plays calls on the faulty server.
    pub(crate) fn faulty(&self, name: &str, faults: &[&str], calls: &[(&str, Value)]) -> &Self {
        self.faulty_with(name, faults, calls, &json!({}))
    }

    /// The same, with more keys.
    pub(crate) fn faulty_with(
        &self,
        name: &str,
        faults: &[&str],
        calls: &[(&str, Value)],
        more: &Value,
    ) -> &Self {
        let calls: Vec<Value> = calls
            .iter()
            .map(|(tool, args)| json!({ "tool": tool, "args": args }))
            .collect();
        let mut scenario = json!({
            "name": name,
            "servers": { "s": { "type": "stdio", "command": faulty_server(), "args": faults } },
            "agent": { "kind": "scripted", "calls": calls },
        });
        scenario
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        // JSON is YAML.
        self.file(&format!("scenarios/{name}.yaml"), scenario.to_string())
    }

    /// The program, ready to be given arguments.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-eval"));
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            // What a clock makes to the second is what a few tests are about: they take it away again.
            .env("MCP_EVAL_TAKES_APART", "0s")
            // An engine in another place than the usual one.
            .envs(std::env::var_os("DOCKER_HOST").map(|it| ("DOCKER_HOST", it)));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = self.command();
        command.args(arguments);
        ran(&mut command)
    }

    /// Runs and expects an exit code.
    #[track_caller]
    pub(crate) fn expect(&self, code: i32, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, code, "mcp-eval {}: {ran:#?}", arguments.join(" "));
        ran
    }

    /// Runs with `--format json` and returns the document.
    #[track_caller]
    pub(crate) fn result(&self, code: i32, arguments: &[&str]) -> Value {
        let arguments = [arguments, &["--format", "json"]].concat();
        let ran = self.expect(code, &arguments);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:#?}"))
    }

    /// Ids of processes started from this project's folder that are still alive. One that was killed takes a moment to be gone.
    pub(crate) fn survivors(&self) -> Vec<String> {
        for _ in 0..50 {
            if self.alive().is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.alive()
    }

    fn alive(&self) -> Vec<String> {
        let folder = self.folder.path().to_str().unwrap().to_owned();
        let mut survivors = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let cwd = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            let state = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            if cwd.starts_with(&folder) && !state.contains(") Z ") {
                survivors.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        survivors
    }
}

/// The file of a baseline with the catalogues that it names, as it would stand alone.
pub(crate) fn whole(project: &Project, baseline: &str) -> Value {
    let read = |path: &Path| -> Value {
        let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_slice(&text).unwrap()
    };
    let path = project.path(baseline);
    let mut whole = read(&path);
    let mut above = path.ancestors().map(|it| it.join("_catalogues"));
    let folder = above.find(|it| it.is_dir());
    for at in ["/catalogue", "/upstream/catalogue"] {
        let servers = whole.pointer_mut(at).and_then(Value::as_array_mut);
        for server in servers.into_iter().flatten() {
            let Some(name) = server["catalogue"].as_str() else {
                continue;
            };
            let folder = folder.as_ref().expect("the folder of catalogues");
            let mut catalogue = read(&folder.join(format!("{name}.json")));
            let own = server.as_object_mut().unwrap();
            own.remove("catalogue");
            catalogue.as_object_mut().unwrap().extend(own.clone());
            *server = catalogue;
        }
    }
    whole
}

/// The text of a baseline that holds its catalogues itself, as baselines did before they named them, and runs do.
pub(crate) fn stands_alone(project: &Project, baseline: &str) -> String {
    let mut whole = whole(project, baseline);
    whole["format_version"] = 2.into();
    format!("{whole:#}\n")
}

impl Ran {
    /// Both streams, for messages that may go to either.
    pub(crate) fn all(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }

    /// Both streams without the line breaks that only fit the text into the terminal.
    fn flowing(&self) -> String {
        self.all().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        assert!(self.flowing().contains(text), "no {text:?} in {self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn says_not(&self, text: &str) -> &Self {
        assert!(!self.flowing().contains(text), "{text:?} in {self:#?}");
        self
    }
}

/// Runs a command to its end, at most as long as our patience lasts.
pub(crate) fn ran(command: &mut Command) -> Ran {
    ran_within(command, PATIENCE)
}

/// The same of one that takes longer than others.
pub(crate) fn ran_within(command: &mut Command, patience: Duration) -> Ran {
    let started = Instant::now();
    let shown = format!("{command:?}");
    let (done, end) = std::sync::mpsc::channel();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let id = child.id();
    std::thread::spawn(move || done.send(child.wait_with_output()));
    let Ok(output) = end.recv_timeout(patience) else {
        let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        panic!("{shown} did not end within {patience:?}");
    };
    let output: Output = output.unwrap();
    Ran {
        code: output
            .status
            .code()
            .unwrap_or_else(|| -output.status.signal().unwrap_or(0)),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        took: started.elapsed(),
    }
}

/// A stand-in for the API of a model that ends with its test.
pub(crate) struct StandIn(Child);

impl Drop for StandIn {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a stand-in that follows a file of the project and logs requests in `asked.jsonl`; returns it with its address.
pub(crate) fn stand_in(project: &Project, file: &str) -> (StandIn, String) {
    served(
        project,
        &["mock", "--llm", file, "--call-log", "asked.jsonl"],
    )
}

/// Starts our program as a server that says where it is reached, and ends with its test; returns it with its address.
pub(crate) fn served(project: &Project, arguments: &[&str]) -> (StandIn, String) {
    let mut child = project
        .command()
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
    (StandIn(child), ready["url"].as_str().unwrap().to_owned())
}

/// Says that a test did not run for want of something. In the gate, which installs all it needs, that is a failure.
pub(crate) fn skipped(what: &str, why: &str) {
    assert!(!is_gate(), "{what}, because {why}");
    // Past the capture of the test harness, which would swallow the line of a test that passes.
    let _ = writeln!(std::io::stderr(), "skipped: {what}, because {why}");
}

fn is_gate() -> bool {
    std::env::var_os("MCP_EVAL_TESTS_MUST_RUN").is_some()
}

/// How many of something large: all of them in the gate, a fifth where somebody waits.
pub(crate) fn many(all: usize) -> usize {
    if is_gate() { all } else { all / 5 }
}

/// Whether a test runs that takes half a minute: in the gate alone. Says so elsewhere.
pub(crate) fn takes_its_time(what: &str) -> bool {
    if !is_gate() {
        skipped(what, "it takes long: `.ci/run` tries it");
    }
    is_gate()
}

/// The project's own folder.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The topics of the manual, in the order of the README's table.
pub(crate) fn topics() -> Vec<String> {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let rows = readme.lines().filter(|it| it.starts_with("| ["));
    let topics = rows.filter_map(|it| it.strip_prefix("| [")?.split(']').next());
    topics.map(str::to_owned).collect()
}

/// The README, and the manual behind it.
pub(crate) fn manual() -> String {
    let topics = topics();
    let topics = topics.iter().map(|it| format!("src/cli/help/{it}.md"));
    let files = std::iter::once("README.md".to_owned()).chain(topics);
    let texts = files.map(|it| fs::read_to_string(root().join(it)).unwrap());
    texts.collect::<Vec<_>>().join("\n")
}

/// The server that misbehaves on request.
pub(crate) fn faulty_server() -> String {
    static SERVER: OnceLock<String> = OnceLock::new();
    SERVER.get_or_init(|| example("faulty-server")).clone()
}

/// The agent that does what its arguments say.
pub(crate) fn small_agent() -> String {
    static AGENT: OnceLock<String> = OnceLock::new();
    AGENT.get_or_init(|| example("agent")).clone()
}

/// The proxy that does to its upstreams what its configuration says.
pub(crate) fn small_proxy() -> String {
    static PROXY: OnceLock<String> = OnceLock::new();
    PROXY.get_or_init(|| example("proxy")).clone()
}

/// A program of the tests. `cargo test` builds it beside the tests; `cargo test --test it` does not, so this does where it is older than
/// its source.
fn example(name: &str) -> String {
    let tests = std::env::current_exe().unwrap();
    let folder = tests.parent().unwrap().parent().unwrap();
    let program = folder.join("examples").join(name);
    let source = root().join(format!("tests/fixtures/{}.rs", name.replace('-', "_")));
    let changed = |path: &Path| fs::metadata(path).and_then(|it| it.modified()).ok();
    if changed(&program) < changed(&source) {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--example", name])
            .current_dir(root())
            .status();
        assert!(
            built.unwrap().success() && program.exists(),
            "{} cannot be built",
            program.display()
        );
    }
    program.to_str().unwrap().to_owned()
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Commits all files of a folder, which becomes a repository where it is none; returns the commit's identity.
pub(crate) fn commit_all(folder: &Path, message: &str) -> String {
    let mut options = RepositoryInitOptions::new();
    // Whatever git is configured to call it.
    options.initial_head("main");
    let made = || Repository::init_opts(folder, &options);
    let repository = Repository::open(folder).or_else(|_| made()).unwrap();
    let mut index = repository.index().unwrap();
    index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let who = Signature::now("someone", "someone@example.org").unwrap();
    let parent = repository.head().and_then(|it| it.peel_to_commit()).ok();
    let parents: Vec<_> = parent.iter().collect();
    let id = repository.commit(Some("HEAD"), &who, &who, message, &tree, &parents);
    id.unwrap().to_string()
}
