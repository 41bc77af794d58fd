//! `mcp-eval datasets pool`: what searches answered and nobody has graded.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use crate::cli::args::PoolArgs;
use crate::cli::console::Console;
use crate::cli::data_sets;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::measured;
use crate::discovery::pool::{Pool, pool, read_run};
use crate::json;
use crate::redact;
use crate::store;
use crate::text::plural;

pub(super) fn run(args: &PoolArgs, console: Console) -> Result<Exit, Failure> {
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
    let clean = redact::environment().measured(json!(pool));
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
