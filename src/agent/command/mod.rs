//! An agent that is a program of its own, with an MCP client in it: it is started with the addresses of the servers, and its output and its
//! calls are recorded.
//!
//! | file | what happens there |
//! |---|---|
//! | `format` | how agents that are known want to be started, their configuration, and the folder they work in |
//! | `names` | what they call servers and tools |
//! | `stream` | readers of what it prints, one file per format |
//! | `stream/events`, `output_recorder` | the events in that output, and how they are recorded |

mod format;
mod names;
mod output_recorder;
mod stream;

use std::path::PathBuf;
use std::time::Duration;

use tokio::io::AsyncWriteExt;

use self::names::Names;
use self::output_recorder::OutputRecorder;
use self::stream::events::Verdict;
use crate::lines::{Line, Lines};
use crate::process::{self, Child, ChildCommand, Stdin, Stdout};
use crate::run::{Agent, Conversation, Driving, SetupError, Stop};
use crate::scenario_file::agent::CommandAgent;

pub use self::format::{Workplace, mcp_config, passes};

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
    supervisor: Option<PathBuf>,
    recorder: OutputRecorder,
    /// Why it should have been stopped, found when it was gone already.
    late: Option<Stop>,
}

/// What the agent is to do.
#[derive(Debug, Clone)]
pub struct Prompt {
    pub text: String,
    /// Nothing else brings it there.
    pub on_stdin: bool,
}

impl Command {
    /// An agent with these settings, every `${…}` of them filled in, whose program is supervised as [`ChildCommand::supervisor`] says.
    pub fn new(
        settings: CommandAgent,
        prompt: Prompt,
        workplace: Workplace,
        supervisor: Option<PathBuf>,
    ) -> Self {
        Self {
            supervisor,
            recorder: output_recorder(&settings, Names::default()),
            settings,
            prompt,
            workplace,
            late: None,
        }
    }

    async fn work(&mut self, conversation: &mut Conversation<'_>) -> Result<(), Stop> {
        conversation.user(&self.prompt.text);
        let own = format::own_tools(self.settings.format).iter();
        conversation.has_own_tools(own.map(|it| (*it).to_owned()));
        let names = format::names(self.settings.format, conversation.catalogue());
        let command = self.command(conversation, &names)?;
        self.recorder = output_recorder(&self.settings, names);
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
        let last = self.recorder.end(conversation);
        let status = worked.map_err(|it| with_stderr(it, &child))?;
        last.and(self.late.take().map_or(Ok(()), Err))?;
        child.await_stderr().await;
        let verdict = match self.recorder.verdict() {
            Verdict::Stopped(stop) => Err(stop),
            verdict if !status.success() => {
                let end = process::describe(status);
                let mut error = SetupError::new(format!("the agent `{name}` {end}"));
                if let Verdict::CutOff(lack) = verdict {
                    error.details = lack.details;
                }
                Err(Stop::Error(error))
            }
            Verdict::CutOff(error) => Err(Stop::Error(error)),
            Verdict::Done => Ok(()),
        };
        verdict.map_err(|it| with_stderr(it, &child))
    }

    /// Records what the agent does and prints until it has ended.
    async fn listen(
        &mut self,
        conversation: &mut Conversation<'_>,
        child: &mut Child,
        lines: &mut Lines<Stdout>,
    ) -> Result<std::process::ExitStatus, Stop> {
        let mut is_printing = true;
        loop {
            tokio::select! {
                last = conversation.next_call_event() => last?,
                line = lines.next(), if is_printing => match line {
                    Ok(Some(line)) => self.read(conversation, &line)?,
                    Ok(None) | Err(_) => is_printing = false,
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
    async fn drain(&mut self, conversation: &mut Conversation<'_>, lines: &mut Lines<Stdout>) {
        while let Ok(Some(line)) = lines.next().await {
            if let Err(stop) = self.read(conversation, &line) {
                self.late.get_or_insert(stop);
            }
        }
    }

    fn read(&mut self, conversation: &mut Conversation<'_>, line: &Line) -> Result<(), Stop> {
        match line {
            Line::Whole(line) => {
                let line = String::from_utf8_lossy(line);
                self.recorder.line(conversation, &line)
            }
            Line::TooLong => {
                let note = format!("a line of more than {LONGEST_LINE} bytes was passed over");
                self.recorder.note(note);
                Ok(())
            }
        }
    }

    /// The agent's command line, with its configuration written.
    fn command(
        &self,
        conversation: &Conversation<'_>,
        names: &Names,
    ) -> Result<ChildCommand, Stop> {
        let format = self.settings.format;
        let servers = format::config(format, conversation.endpoints());
        self.workplace.write_config(&servers).map_err(|error| {
            stop(format!(
                "the agent's MCP configuration cannot be written: {error}"
            ))
        })?;
        let config = self.workplace.mcp_config().to_string_lossy().into_owned();
        let mut env = format::env(format);
        env.push(("MCP_EVAL_MCP_CONFIG".to_owned(), config.clone()));
        if self.prompt.text.len() <= LONGEST_VARIABLE {
            env.push(("MCP_EVAL_PROMPT".to_owned(), self.prompt.text.clone()));
        }
        env.extend(self.settings.env.iter().cloned());
        let mut command = self.settings.command.clone();
        if command.is_empty() {
            command = format::command(format, &config, self.settings.model.as_deref(), names);
        }
        if !format::takes_file(format) {
            for word in &mut command {
                *word = word.replace(&config, servers.trim_end());
            }
        }
        let [program, args @ ..] = command.as_slice() else {
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
            supervisor: self.supervisor.clone(),
            ..ChildCommand::default()
        })
    }
}

impl Agent for Command {
    fn drive<'a>(&'a mut self, conversation: &'a mut Conversation<'_>) -> Driving<'a> {
        Box::pin(self.work(conversation))
    }

    fn notes(&self) -> &[String] {
        self.recorder.notes()
    }
}

fn output_recorder(settings: &CommandAgent, names: Names) -> OutputRecorder {
    let model = settings.model.clone();
    OutputRecorder::new(settings.format, names, model, settings.price)
}

/// Gives the agent its input, if any, and the end of it.
async fn write(mut stdin: Stdin, input: Option<String>) {
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
