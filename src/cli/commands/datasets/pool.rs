//! `mcp-eval datasets pool`: what searches answered and nobody has graded.

use crate::cli::args::PoolArgs;
use crate::cli::console::Console;
use crate::cli::data_sets;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::select::plural;
use crate::discovery::pool::{pool, read_run};
use crate::json;
use crate::redact;
use crate::store;
use std::fmt::Write as _;

pub(super) fn run(args: &PoolArgs, console: Console) -> Result<Exit, Failure> {
    let (_, corpus) = data_sets::corpus(&args.corpus)?;
    let (_, golden) = data_sets::golden(&args.golden)?;
    let mut runs = Vec::new();
    for report in &args.reports {
        let document = data_sets::document(report)?;
        runs.push(read_run(&document).map_err(|it| data_sets::invalid(&[it]))?);
    }
    let pool = pool(&corpus, &golden, &runs);
    let text = redact::environment().known(&json::pretty(&pool));
    store::write(&args.out, text.as_bytes())?;
    let mut told = format!(
        "{} to grade, in {}\n",
        plural(pool.candidates.len(), "answer"),
        args.out.display()
    );
    for it in pool.candidates.iter().take(5) {
        let (query, tool, rank) = (&it.query_id, &it.tool_id, it.best_rank);
        let runs = plural(it.runs, "run");
        let _ = writeln!(told, "  {query}: {tool} (rank {rank}, {runs})");
    }
    console.result(&redact::environment().known(&crate::text::block(&told)));
    Ok(Exit::Passed)
}
