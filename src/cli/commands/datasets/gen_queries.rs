//! `mcp-eval datasets gen-queries`: questions for the tools of a corpus, written by a model.

use std::fmt::Write as _;

use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::cli::args::{GenQueriesArgs, OutputArgs, Provider};
use crate::cli::console::Console;
use crate::cli::data_sets;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::runtime;
use crate::discovery::golden::Tool;
use crate::discovery::questions::golden;
use crate::json;
use crate::model::agent::{ModelAgent, ModelApi};
use crate::model::judge::{JudgeSettings, MAX_INPUT_CHARS, VerdictForm};
use crate::redact;
use crate::scenario_file::{self, LoadedJudge};
use crate::store;
use crate::suite::{self, WriteSettings, Written};
use crate::text::plural;

pub(super) fn run(
    args: &GenQueriesArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    if args.out.exists() && !args.force {
        let message = format!("{} is there already", args.out.display());
        return Err(Failure::usage(message).hint("name another file, or replace it with --force"));
    }
    store::check_writable(&args.out)?;
    let (_, corpus) = data_sets::corpus(&args.corpus)?;
    let model = model(args)?;
    let settings = WriteSettings {
        per_tool: usize::from(args.per_tool),
        budget: args.budget,
    };
    let of = corpus.tools.len();
    let bar = if console.can_draw() && !output.no_progress {
        ProgressBar::with_draw_target(u64::try_from(of).ok(), ProgressDrawTarget::stderr())
    } else {
        ProgressBar::hidden()
    };
    let runtime = runtime::here()?;
    let written = runtime.block_on(async {
        let interrupt = interrupt::token();
        let tell = |number: usize, tool: &Tool| {
            bar.set_position(u64::try_from(number - 1).unwrap_or_default());
            bar.set_message(tool.id.clone());
            if bar.is_hidden() && !output.no_progress {
                console.note(&format!("{number} of {of}: {}", tool.id));
            }
        };
        suite::write_questions(&corpus, &model, &settings, &tell, &interrupt).await
    });
    runtime.shutdown_background();
    bar.finish_and_clear();
    let written = written?;
    if let Some(took) = written.took {
        console.note(&took.words());
    }
    if written.interrupted {
        console.note("Interrupted: nothing was written.");
        return Ok(Exit::Interrupted);
    }
    if let Some(stopped) = &written.stopped {
        // What was paid for is not thrown away, but it is no whole either.
        let mut failure = Failure::incomplete(format!(
            "{}; {} had been written, and nothing is kept of them",
            stopped.message,
            plural(written.questions.len(), "question")
        ));
        for detail in &stopped.details {
            failure = failure.hint(detail.clone());
        }
        return Err(failure);
    }
    if written.questions.is_empty() {
        return Err(Failure::incomplete(
            "the model has written no usable question, so no file was written",
        ));
    }
    let document = golden(corpus.version.as_deref(), &written.questions);
    let mut text = json::pretty(&document);
    text.push('\n');
    store::write_following_links(&args.out, redact::environment().known(&text).as_bytes())?;
    console.result(&redact::environment().known(&crate::text::block(&summary(args, &written, of))));
    Ok(Exit::Passed)
}

/// Who is asked.
fn model(args: &GenQueriesArgs) -> Result<LoadedJudge, Failure> {
    if let Some(file) = &args.model_file {
        return scenario_file::judge_file(file).map_err(|findings| {
            let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
            Failure::usage(findings.join("\n"))
        });
    }
    let (api, form) = match args.provider {
        Provider::Anthropic => (ModelApi::Anthropic, VerdictForm::ToolCall),
        Provider::Openai => (ModelApi::OpenAiChat, VerdictForm::ToolCall),
        Provider::Ollama => (ModelApi::Ollama, VerdictForm::JsonSchema),
    };
    Ok(LoadedJudge {
        settings: JudgeSettings {
            asked: ModelAgent::new(api, &args.model),
            form,
            max_input_chars: MAX_INPUT_CHARS,
        },
        marked: Vec::new(),
    })
}

fn summary(args: &GenQueriesArgs, written: &Written, tools: usize) -> String {
    let out = args.out.display();
    let mut text = format!(
        "{} for {} in {out}\n",
        plural(written.questions.len(), "question"),
        plural(tools, "tool")
    );
    for it in &written.short {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "left out: {} of {}: {}",
            plural(it.lacking, "question"),
            it.tool,
            it.why
        );
    }
    let _ = write!(
        text,
        "Left to you:\n\
         - read every question, and take out what nobody would ask, or what another tool answers as well;\n\
         - label with `relevance: 1` what also helps: `mcp-eval datasets pool` collects it from what searches answer;\n\
         - add what people really ask;\n\
         - check the file: `mcp-eval datasets validate --corpus {} --golden {out}`\n",
        args.corpus.display()
    );
    text
}
