//! Questions on a terminal: what a server does not say of its tools, the user may know.

use std::io::IsTerminal;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};

use super::calls::Plan;
use super::why_not::WhyNot;
use crate::cli::args::AddedCall;
use crate::cli::console::Console;
use crate::model::catalogue::ServerCatalogue;
use crate::redact::Redactor;
use crate::score;
use crate::text;

/// The longest description that is shown, in characters.
const DESCRIPTION: usize = 100;

/// Whether there is somebody to ask.
pub(super) fn can_ask(console: Console) -> bool {
    std::io::stdin().is_terminal() && console.can_draw()
}

/// Somebody who answers.
pub(super) struct Person {
    answers: Lines<BufReader<Stdin>>,
    console: Console,
}

/// What is to become of a tool.
enum Answer {
    Call(AddedCall),
    Skip,
    Stop,
}

impl Person {
    pub(super) fn new(console: Console) -> Self {
        Self {
            answers: BufReader::new(tokio::io::stdin()).lines(),
            console,
        }
    }

    /// Asks of each tool that the plan leaves out whether it is to be called, and with what. Nobody answers any more where the input ends.
    pub(super) async fn calls(
        &mut self,
        server: &ServerCatalogue,
        plan: &Plan,
        redactor: &Redactor,
    ) -> Vec<AddedCall> {
        self.console.note(&format!(
            "No tool of `{}` is called so far ({}). Which are to be? What they do, they do again in every run.\n\
             y: yes · n or Enter: no · {{…}}: with these arguments, as JSON · q: no more",
            server.server,
            plan.reasons()
        ));
        let mut calls = Vec::new();
        for tool in &server.tools {
            let description = tool.description().and_then(|it| it.trim().lines().next());
            let description = redactor.text(description.unwrap_or_default());
            let about = match description.as_str() {
                "" => String::new(),
                words => format!(" – {}", text::shorten(&text::line(words), DESCRIPTION)),
            };
            let planned = plan.calls.iter().find(|it| it.call.tool == tool.name());
            let why_not = planned.and_then(|it| it.why_not.as_ref());
            // That it is not marked is the rule here, and what nobody can guess is in the question.
            let why_not = match why_not {
                None | Some(WhyNot::NotReadOnly | WhyNot::Unguessed(_)) => String::new(),
                Some(why) => format!(" ({})", text::line(&why.to_string())),
            };
            self.console
                .note(&format!("  {}{about}{why_not}", text::line(tool.name())));
            let guess = score::guess_arguments(tool);
            match self.answer(tool.name(), &guess).await {
                Answer::Call(call) => calls.push(call),
                Answer::Skip => {}
                Answer::Stop => break,
            }
        }
        calls
    }

    async fn answer(&mut self, tool: &str, guess: &score::Guess) -> Answer {
        let arguments = Value::Object(guess.arguments.clone());
        loop {
            let offer = if guess.unknown.is_empty() {
                format!("  call it with {arguments}? [y/N/{{…}}/q] ")
            } else {
                format!("  call it? It takes {arguments} [N/{{…}}/q] ")
            };
            self.console.prompt(&offer);
            let Ok(Some(line)) = self.answers.next_line().await else {
                return Answer::Stop;
            };
            let call = |arguments| {
                Answer::Call(AddedCall {
                    tool: tool.to_owned(),
                    arguments: Some(arguments),
                })
            };
            match line.trim() {
                "" | "n" | "N" | "no" => return Answer::Skip,
                "q" | "Q" | "quit" => return Answer::Stop,
                "y" | "Y" | "yes" if guess.unknown.is_empty() => {
                    return call(guess.arguments.clone());
                }
                "y" | "Y" | "yes" => self
                    .console
                    .note("  it needs values for arguments: write them as a JSON object"),
                json => match serde_json::from_str(json) {
                    Ok(Value::Object(arguments)) => return call(arguments),
                    Ok(_) => self.console.note("  that is not a JSON object"),
                    Err(error) => self.console.note(&format!("  that is not JSON: {error}")),
                },
            }
        }
    }
}
