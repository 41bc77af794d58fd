//! `mcp-eval datasets`: corpora and labelled queries, made and looked after.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::args::{
    DatasetsCommand, DatasetsValidateArgs, GenQueriesArgs, PoolArgs, Provider, ResultFormat,
    SnapshotArgs,
};
use crate::cli::commands::validate::FindingsDocument;
use crate::cli::{Console, Exit, Failure, data_sets, measured, runtime};
use crate::discovery::check::check;
use crate::discovery::golden::{Corpus, Golden, Tool};
use crate::discovery::places::Document;
use crate::discovery::pool::{Pool, pool, read_run};
use crate::discovery::questions::golden;
use crate::discovery::search::{Ask, LiveTool, Rest, Search, preset};
use crate::scenario_file::agent::{ModelAgent, ModelApi};
use crate::scenario_file::judge::{JudgeSettings, LoadedJudge, MAX_INPUT_CHARS, VerdictForm};
use crate::scenario_file::{self, Finding, sort};
use crate::suite::{self, WriteSettings, Written};
use crate::text::plural;
use crate::{input, json, redact, store};

pub(in crate::cli) fn run(command: &DatasetsCommand, console: Console) -> Result<Exit, Failure> {
    match command {
        DatasetsCommand::Snapshot(args) => take_snapshot(args, console),
        DatasetsCommand::Validate(args) => validate(args, console),
        DatasetsCommand::Pool(args) => write_pool(args, console),
        DatasetsCommand::GenQueries(args) => write_queries(args, console),
    }
}

fn write_queries(args: &GenQueriesArgs, console: Console) -> Result<Exit, Failure> {
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
    let bar = console.bar(Some(of));
    let runtime = runtime::here()?;
    let written = runtime.block_on(async {
        let interrupt = runtime::interruption();
        let tell = |number: usize, tool: &Tool| {
            bar.set_position(u64::try_from(number - 1).unwrap_or_default());
            bar.set_message(tool.id.clone());
            if bar.is_hidden() && !console.no_progress() {
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
        return scenario_file::judge::judge_file(file).map_err(|it| Failure::invalid(&it));
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

fn write_pool(args: &PoolArgs, console: Console) -> Result<Exit, Failure> {
    let mut inputs = vec![
        ("`--corpus`", Some(args.corpus.as_path())),
        ("`--golden`", Some(args.golden.as_path())),
    ];
    inputs.extend(
        args.reports
            .iter()
            .map(|it| ("a report", Some(it.as_path()))),
    );
    measured::spare_files(&[&args.out], &inputs)?;
    let (_, corpus) = data_sets::corpus(&args.corpus)?;
    let (_, golden) = data_sets::golden(&args.golden)?;
    let version = golden
        .corpus_version
        .as_deref()
        .or(corpus.version.as_deref());
    let mut runs = Vec::new();
    for report in &args.reports {
        let document = data_sets::document(report)?;
        let run = read_run(&document, version).map_err(|it| data_sets::invalid(&it))?;
        let is_known = |id: &str| golden.queries.iter().any(|it| it.id == id);
        if !run.iter().any(|(id, _)| is_known(id)) {
            let problem = "none of its queries is one of the golden set: it is of another";
            return Err(data_sets::invalid(&[document.error("/per_query", problem)]));
        }
        runs.push(run);
    }
    let mut pool = pool(&corpus, &golden, &runs);
    let graded = match earlier(&args.out)? {
        Some(earlier) => pool.keep_grades(earlier),
        None => 0,
    };
    let clean = redact::environment().document(json!(pool));
    let text = json::pretty(&*clean);
    store::write_following_links(&args.out, text.as_bytes())?;
    let mut summary = format!(
        "{} to grade, in {}\n",
        plural(pool.candidates.len() - graded, "answer"),
        args.out.display()
    );
    if graded > 0 {
        let _ = writeln!(summary, "{} kept", plural(graded, "grade"));
    }
    let open = pool.candidates.iter().filter(|it| it.relevance.is_none());
    for it in open.take(5) {
        let (query, tool, rank) = (&it.query_id, &it.tool_id, it.best_rank);
        let runs = plural(it.runs, "run");
        let _ = writeln!(summary, "  {query}: {tool} (rank {rank}, {runs})");
    }
    console.result(&redact::environment().known(&crate::text::block(&summary)));
    Ok(Exit::Passed)
}

/// What was collected before, with what a person has graded of it.
///
/// # Errors
///
/// When something else is there, which is not to be written over.
fn earlier(path: &Path) -> Result<Option<Pool>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    let document = data_sets::document(path)?;
    if !Pool::is_one(&document) {
        let message = format!("{} exists already, and is not a pool", path.display());
        return Err(Failure::usage(message).hint("name another file with `--out`"));
    }
    let pool = Pool::read(&document).map_err(|it| data_sets::invalid(&it))?;
    Ok(Some(pool))
}

/// How long the proxy may take to answer.
const LIMIT: Duration = Duration::from_secs(30);

fn take_snapshot(args: &SnapshotArgs, console: Console) -> Result<Exit, Failure> {
    store::check_writable(&args.out)?;
    let place = data_sets::place(&args.proxy)?;
    let redactor = data_sets::redactor(Some(&place), &[]);
    let mut live = listed(&place).map_err(|why| {
        let address = place.shown();
        let problem = format!("{address} cannot be asked for its tools: {why}");
        Failure::incomplete(redactor.known(&problem).into_inner())
    })?;
    live.dedup_by(|a, b| a.id == b.id);
    if live.is_empty() {
        let problem = format!(
            "{} has no tools, so there is no corpus to write",
            place.shown()
        );
        return Err(Failure::incomplete(problem));
    }
    let tools = live.iter().map(|it| {
        let (server, tool) = it.id.split_once(':').unwrap_or(("", &it.id));
        let description = it.description.as_deref().unwrap_or_default();
        let mut entry = json!({
            "tool_id": it.id,
            "server": server,
            "tool": tool,
            "description": description,
        });
        if let Some(schema) = &it.schema {
            entry["schema"] = schema.clone();
        }
        entry
    });
    let tools: Vec<Value> = tools.collect();
    let base_url = place.shown();
    let clean = redactor.document(json!({
        "version": args.version,
        "generated_from": { "base_url": base_url, "tools": tools.len(), "note": args.note },
        "tools": tools,
    }));
    let text = json::pretty(&*clean);
    store::write_following_links(&args.out, text.as_bytes())?;
    let summary = format!("{} in {}", plural(live.len(), "tool"), args.out.display());
    console.result(&summary);
    Ok(Exit::Passed)
}

/// The tools that a proxy has, sorted by id.
fn listed(place: &crate::discovery::search::Place) -> Result<Vec<LiveTool>, String> {
    let declared = preset("mcpproxy-rest").unwrap_or_default();
    let search = Search::read(&declared)?;
    let Some(listing) = &search.catalogue else {
        return Err("nothing says how".to_owned());
    };
    let Ask::Http(ask) = listing.ask() else {
        return Err("nothing says how".to_owned());
    };
    let runtime = runtime::here().map_err(|it| it.message)?;
    let mut rest = Rest::new(&search, place.clone(), LIMIT);
    let tools = runtime.block_on(rest.catalogue(listing, ask));
    let tools = tools.map_err(|it| it.why)?;
    tools.ok_or_else(|| "it has no such list".to_owned())
}

fn validate(args: &DatasetsValidateArgs, console: Console) -> Result<Exit, Failure> {
    let mut findings = Vec::new();
    // What is wrong with one file is reported beside what is wrong with the other.
    let corpus = read(&args.corpus, Corpus::read_partly, &mut findings)?;
    let golden = read(&args.golden, Golden::read_partly, &mut findings)?;
    if let (Some(corpus), Some(golden)) = (&corpus, &golden) {
        findings.extend(check(corpus.into(), golden.into()));
    }
    sort(&mut findings);
    let queries = golden.as_ref().map_or(0, |(_, it)| it.queries.len());
    let version = corpus.as_ref().and_then(|(_, it)| it.version.as_deref());
    let labelled = golden.as_ref();
    let version = version.or_else(|| labelled.and_then(|(_, it)| it.corpus_version.as_deref()));
    let checked = json!({ "queries": queries, "corpus_version": version });
    let document = FindingsDocument::new(checked, &findings);
    match args.printed.format {
        ResultFormat::Json => {
            let clean = redact::environment().document(json!(document));
            Console::document(&clean.derive(json::pretty));
        }
        ResultFormat::Terminal => {
            let mut text = String::new();
            if document.is_valid() {
                let version =
                    version.map_or_else(|| args.corpus.display().to_string(), str::to_owned);
                let _ = writeln!(text, "OK: {queries} queries valid against {version}");
            }
            for finding in &findings {
                let _ = writeln!(text, "{finding}\n");
            }
            if !findings.is_empty() {
                let _ = writeln!(text, "{}", document.counts().join(", "));
            }
            console.result(&redact::environment().known(&text));
        }
    }
    Ok(if document.is_valid() {
        Exit::Passed
    } else {
        // Nothing can be measured with such files.
        Exit::Incomplete
    })
}

/// A file as far as it can be read; what is wrong with it goes to the findings.
fn read<T>(
    path: &Path,
    read: fn(&Document, &mut Vec<Finding>) -> Option<T>,
    findings: &mut Vec<Finding>,
) -> Result<Option<(Document, T)>, Failure> {
    let shown = path.display().to_string();
    let text = input::read_to_string(path)
        .map_err(|error| Failure::incomplete(format!("{shown} cannot be read: {error}")))?;
    let document = match Document::parse(&shown, text) {
        Ok(document) => document,
        Err(found) => {
            findings.extend(found);
            return Ok(None);
        }
    };
    Ok(read(&document, findings).map(|it| (document, it)))
}
