//! A person at a terminal.

use std::process::{Command, Stdio};

use super::{Project, Ran, at_a_desk, ran, skipped};

/// Runs the program in a pseudo-terminal that Python makes.
const SCRIPT: &str = r#"
import json, os, pty, select, subprocess, sys, termios, time
prompt, answers, program = sys.argv[1].encode(), json.loads(sys.argv[2]), sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(program[0], program)
given = dict(os.environ, PID=str(pid), MCP_EVAL=program[0])
seen, typed = b"", 0
if answers and answers[0].startswith("early "):
    os.write(terminal, answers.pop(0)[6:].encode())
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
    while answers and seen.count(prompt) > typed:
        answer = answers.pop(0)
        if answer.startswith("$ "):
            time.sleep(0.1)
            subprocess.run(answer[2:], shell=True, env=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        else:
            time.sleep(0.1)
            os.write(terminal, answer.encode())
            typed += 1
else:
    os.kill(pid, 9)
_, status = os.waitpid(pid, 0)
modes = termios.tcgetattr(terminal)[3]
if not (modes & termios.ICANON and modes & termios.ECHO and modes & termios.ISIG):
    sys.stderr.write("the terminal was left in another mode\n")
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(status) % 256)
"#;

/// Runs a command in a pseudo-terminal and types these answers, each when the prompt comes once more. What the project has in its root
/// comes first on the path. An answer `$ COMMAND` is run in a shell, before the next is typed, and knows `$PID` and `$MCP_EVAL`; a first one
/// `early KEYS` is typed without waiting. `None`, and a line that says so, where there is no Python.
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
        .args(["-c", SCRIPT, prompt])
        .arg(serde_json::to_string(answers).unwrap())
        .arg(env!("CARGO_BIN_EXE_mcp-eval"))
        .args(arguments);
    Some(ran(at_a_desk(&mut command)))
}
