//! A person at a terminal.

use std::process::{Command, Stdio};

use super::{Project, Ran, ran, skipped};

/// Runs the program in a pseudo-terminal that Python makes.
const SCRIPT: &str = r#"
import json, os, pty, select, sys, time
prompt, answers, program = sys.argv[1].encode(), json.loads(sys.argv[2]), sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(program[0], program)
seen, typed = b"", 0
until = time.time() + 30
while time.time() < until:
    ready, _, _ = select.select([terminal], [], [], 0.2)
    if ready:
        try:
            more = os.read(terminal, 65536)
        except OSError:
            break
        if not more:
            break
        seen += more
    if typed < len(answers) and seen.count(prompt) > typed:
        time.sleep(0.1)
        os.write(terminal, answers[typed].encode())
        typed += 1
else:
    os.kill(pid, 9)
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(status) % 256)
"#;

/// Runs a command in a pseudo-terminal and types these answers, each when the prompt comes once more. What the project has in its root
/// comes first on the path. `None`, and a line that says so, where there is no Python.
pub(crate) fn in_terminal(
    what: &str,
    project: &Project,
    arguments: &[&str],
    prompt: &str,
    answers: &[&str],
) -> Option<Ran> {
    let python = Command::new("python3")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if !python.is_ok_and(|it| it.success()) {
        skipped(what, "there is no python3 to make a terminal with");
        return None;
    }
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", project.path("").display());
    let mut command = Command::new("python3");
    command
        .current_dir(project.path(""))
        .env("TERM", "xterm")
        .env("PATH", path)
        .env_remove("CI")
        .args(["-c", SCRIPT, prompt])
        .arg(serde_json::to_string(answers).unwrap())
        .arg(env!("CARGO_BIN_EXE_mcp-eval"))
        .args(arguments);
    Some(ran(&mut command))
}
