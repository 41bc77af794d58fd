//! An agent that is a program of its own, with an MCP client in it: it is started, told where the servers are, and listened to.
//!
//! | file | what happens there |
//! |---|---|
//! | `workplace` | the folder it works in, and its configuration |
//! | `stream` | what it prints, one file per format |

mod stream;
mod workplace;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Map, json};
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};

use self::stream::{Said, Stream, stream};
pub use self::workplace::Workplace;
use crate::model::agent::CommandAgent;
use crate::process::{self, Child, ChildCommand, Line, Lines};
use crate::run::{Agent, Announced, Conversation, Endpoint, SetupError, Stop};

/// The longest line an agent may print.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// The longest prompt that is also put into the environment, in bytes: the system takes no longer variables (`MAX_ARG_STRLEN`).
const LONGEST_VARIABLE: usize = 128 * 1024 - 32;

/// How long the last of its output may take once the agent is gone: something that it has started may hold the pipe.
const REST_TIMEOUT: Duration = Duration::from_millis(500);

/// An agent that is a program.
pub struct Command {
    settings: CommandAgent,
    prompt: Prompt,
    workplace: Workplace,
    stream: Box<dyn Stream>,
    announced: HashMap<String, Announced>,
    notes: Vec<String>,
}

/// What the agent is to do.
#[derive(Debug, Clone)]
pub struct Prompt {
    pub text: String,
    /// Nothing else brings it there.
    pub on_stdin: bool,
}

impl Command {
    /// An agent with these settings, every `${…}` of them filled in.
    pub fn new(settings: CommandAgent, prompt: Prompt, workplace: Workplace) -> Self {
        Self {
            stream: stream(settings.format),
            settings,
            prompt,
            workplace,
            announced: HashMap::new(),
            notes: Vec::new(),
        }
    }

    async fn work(&mut self, conversation: &mut Conversation<'_>) -> Result<(), Stop> {
        conversation.user(&self.prompt.text);
        let command = self.command(conversation.endpoints())?;
        let name = command.program.to_string_lossy().into_owned();
        let (mut child, stdin, stdout) = Child::start(&command)
            .map_err(|error| stop(format!("the agent cannot be started: `{name}`: {error}")))?;
        let input = self.prompt.on_stdin.then(|| self.prompt.text.clone());
        let writing = tokio::spawn(write(stdin, input));
        let mut lines = Lines::new(stdout, LONGEST_LINE);
        let worked = match self.settings.timeout {
            None => self.listen(conversation, &mut child, &mut lines).await,
            Some(limit) => {
                let listening = self.listen(conversation, &mut child, &mut lines);
                let in_time = tokio::time::timeout(limit, listening).await;
                in_time.unwrap_or_else(|_| {
                    Err(stop(format!(
                        "the agent was not done within {limit:?} (`agent.timeout`)"
                    )))
                })
            }
        };
        writing.abort();
        // Whatever it has started ends with it, and then says nothing more.
        child.kill();
        let rest = self.drain(conversation, &mut lines);
        let _ = tokio::time::timeout(REST_TIMEOUT, rest).await;
        let said = self.stream.end();
        let heard = self.record(conversation, said);
        let status = worked.map_err(|it| with_stderr(it, &child))?;
        heard?;
        child.stderr_settled().await;
        self.stream
            .verdict()
            .map_err(|it| with_stderr(it, &child))?;
        if !status.success() {
            let end = process::describe(status);
            return Err(with_stderr(
                stop(format!("the agent `{name}` {end}")),
                &child,
            ));
        }
        Ok(())
    }

    /// Listens to what the agent does and prints until it has ended.
    async fn listen(
        &mut self,
        conversation: &mut Conversation<'_>,
        child: &mut Child,
        lines: &mut Lines<ChildStdout>,
    ) -> Result<std::process::ExitStatus, Stop> {
        let mut is_printing = true;
        loop {
            tokio::select! {
                heard = conversation.overhear() => heard?,
                line = lines.next(), if is_printing => match line {
                    Some(line) => {
                        let said = self.read(&line);
                        self.record(conversation, said)?;
                    }
                    None => is_printing = false,
                },
                status = child.wait() => {
                    let rest = self.drain(conversation, lines);
                    let _ = tokio::time::timeout(REST_TIMEOUT, rest).await;
                    return status.map_err(|error| stop(format!("the agent cannot be waited for: {error}")));
                }
            }
        }
    }

    /// Reads what is left of its output.
    async fn drain(&mut self, conversation: &mut Conversation<'_>, lines: &mut Lines<ChildStdout>) {
        while let Some(line) = lines.next().await {
            let said = self.read(&line);
            // What ends the run has been told, or will be when all is read.
            let _ = self.record(conversation, said);
        }
    }

    fn read(&mut self, line: &Line<'_>) -> Vec<Said> {
        match line {
            Line::Whole(line) => self.stream.read(&String::from_utf8_lossy(line)),
            Line::TooLong => {
                let note = format!("a line of more than {LONGEST_LINE} bytes was passed over");
                vec![Said::Note(note)]
            }
        }
    }

    /// Keeps what the agent tells, after what was heard before.
    fn record(&mut self, conversation: &mut Conversation<'_>, said: Vec<Said>) -> Result<(), Stop> {
        let mut heard = conversation.catch_up();
        for it in said {
            match it {
                Said::Assistant(text) => conversation.assistant(text),
                Said::Call {
                    id,
                    name,
                    arguments,
                } => {
                    let announced = conversation.announce(&name, arguments);
                    self.announced.insert(id, announced);
                }
                Said::Answered { id, outcome } => {
                    if let Some(announced) = self.announced.remove(&id) {
                        conversation.announced_ended(announced, outcome);
                    }
                }
                Said::Request {
                    model,
                    stop_reason,
                    usage,
                    cost,
                } => {
                    conversation.asked_by_itself();
                    let answered = conversation.answered(model, stop_reason, usage, cost);
                    heard = heard.and(answered);
                }
                Said::Note(note) => self.notes.push(note),
            }
        }
        heard
    }

    /// The agent's command line, with its configuration written.
    fn command(&self, endpoints: &[Endpoint]) -> Result<ChildCommand, Stop> {
        self.workplace
            .write_config(&mcp_config(endpoints))
            .map_err(|error| {
                stop(format!(
                    "the agent's MCP configuration cannot be written: {error}"
                ))
            })?;
        let config = self.workplace.mcp_config().to_string_lossy().into_owned();
        let mut env = vec![("MCP_EVAL_MCP_CONFIG".to_owned(), config)];
        if self.prompt.text.len() <= LONGEST_VARIABLE {
            env.push(("MCP_EVAL_PROMPT".to_owned(), self.prompt.text.clone()));
        }
        env.extend(self.settings.env.iter().cloned());
        let [program, args @ ..] = self.settings.command.as_slice() else {
            return Err(stop("the agent has no command".to_owned()));
        };
        // The folder it works in is another than ours.
        let mut program = PathBuf::from(program);
        if program.components().count() > 1 {
            program = std::path::absolute(&program).unwrap_or(program);
        }
        Ok(ChildCommand {
            program: program.into(),
            args: args.iter().map(Into::into).collect(),
            env,
            cwd: Some(
                self.settings
                    .cwd
                    .clone()
                    .unwrap_or_else(|| self.workplace.empty()),
            ),
        })
    }
}

impl Agent for Command {
    fn drive<'a>(
        &'a mut self,
        conversation: &'a mut Conversation<'_>,
    ) -> BoxFuture<'a, Result<(), Stop>> {
        Box::pin(self.work(conversation))
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Where the servers are, as most MCP clients want to be told.
pub fn mcp_config(endpoints: &[Endpoint]) -> String {
    let servers: Map<_, _> = endpoints
        .iter()
        .map(|it| {
            let address = json!({ "type": "http", "url": it.url });
            (it.server.clone(), address)
        })
        .collect();
    format!("{:#}\n", json!({ "mcpServers": servers }))
}

/// Gives the agent its input, if any, and the end of it.
async fn write(mut stdin: ChildStdin, input: Option<String>) {
    if let Some(input) = input {
        // An agent need not read it.
        let _ = stdin.write_all(input.as_bytes()).await;
        let _ = stdin.flush().await;
    }
}

fn stop(message: String) -> Stop {
    Stop::Error(SetupError::new(message))
}

/// The same end, with what the agent last wrote to stderr.
fn with_stderr(end: Stop, child: &Child) -> Stop {
    match end {
        Stop::Error(mut error) => {
            let lines = child.stderr().into_iter();
            let lines = lines.map(|it| format!("stderr of the agent: {it}"));
            error.details.extend(lines);
            Stop::Error(error)
        }
        other => other,
    }
}
