//! `mcp-eval list`: scenarios with their tags, agents, servers and baselines.

use std::fmt::Write as _;

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::cli::args::{ListArgs, ResultFormat};
use crate::cli::ci;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::images::{ImageStateV1, images};
use crate::cli::select;
use crate::model::scenario::Scenario;
use crate::scenario_file;
use crate::score;
use crate::store::Baselines;
use crate::text;

/// What `--format json` prints, version 1.
#[derive(Serialize)]
struct ListV1 {
    format_version: u32,
    scenarios: Vec<ListedV1>,
}

#[derive(Serialize)]
struct ListedV1 {
    id: String,
    name: String,
    path: String,
    enabled: bool,
    tags: Vec<String>,
    agent: &'static str,
    servers: Vec<String>,
    /// `accepted`, `none`, `outdated` (the scenario has changed since) or `unreadable`.
    baseline: &'static str,
    /// When the accepted baseline was recorded.
    recorded_at: Option<String>,
    /// How many calls the accepted baseline has, and how many of their answers were heard once: they are graded, not held to be stable.
    calls: Option<usize>,
    heard_once: Option<usize>,
    /// The container it runs in; `null` without one.
    docker: Option<ImageStateV1>,
}

pub(in crate::cli) fn run(args: &ListArgs, console: Console) -> Result<Exit, Failure> {
    let (scenarios, findings) = select::load(&args.select);
    let baselines = Baselines::new(&args.baseline);
    let images = images(&scenarios)?;
    let listed: Vec<ListedV1> = scenarios
        .iter()
        .zip(images)
        .map(|(it, image)| listed(it, image, &baselines))
        .collect();
    match args.printed.format {
        ResultFormat::Json => {
            let document = ListV1 {
                format_version: 1,
                scenarios: listed,
            };
            Console::document(&serde_json::to_string_pretty(&document).unwrap_or_default());
        }
        ResultFormat::Terminal if listed.is_empty() => console.note("There are no scenarios."),
        ResultFormat::Terminal => console.result(&table(&listed)),
    }
    let errors = findings.iter().filter(|it| it.is_error()).count();
    if errors > 0 {
        return Err(Failure::usage(format!(
            "{} in scenario files, which are not listed",
            select::plural(errors, "error")
        ))
        .hint("`mcp-eval validate` shows them"));
    }
    Ok(Exit::Passed)
}

fn listed(scenario: &Scenario, docker: Option<ImageStateV1>, baselines: &Baselines) -> ListedV1 {
    let (baseline, main) = match baselines.load(&scenario.id) {
        Err(_) => ("unreadable", None),
        Ok(accepted) => ("none", accepted.into_iter().next()),
    };
    ci::mend(baselines, &scenario.id, main.as_ref());
    let baseline = match &main {
        None => baseline,
        Some(main) => {
            let given = scenario_file::agent_hash(&scenario.agent, &scenario.redaction.secrets);
            let outdated = score::scenario_has_changed(
                main,
                Some(&scenario.hash),
                scenario.agent.kind(),
                given.as_deref(),
            );
            if outdated { "outdated" } else { "accepted" }
        }
    };
    ListedV1 {
        id: scenario.id.clone(),
        name: scenario.name.clone(),
        path: scenario.path.display().to_string(),
        enabled: scenario.enabled,
        tags: scenario.tags.clone(),
        agent: scenario.agent.kind(),
        servers: scenario.servers.iter().map(|it| it.name.clone()).collect(),
        baseline,
        recorded_at: main.as_ref().map(|it| it.stamp.recorded_at.to_string()),
        calls: main.as_ref().map(|it| it.calls().count()),
        heard_once: main.as_ref().map(|it| it.heard_once().len()),
        docker,
    }
}

fn table(listed: &[ListedV1]) -> String {
    let or_dash = |texts: &[String]| {
        if texts.is_empty() {
            "-".to_owned()
        } else {
            texts.join(", ")
        }
    };
    let mut rows =
        vec![["NAME", "PATH", "TAGS", "AGENT", "SERVERS", "BASELINE"].map(str::to_owned)];
    rows.extend(listed.iter().map(|it| {
        let name = if it.enabled {
            it.name.clone()
        } else {
            format!("{} (disabled)", it.name)
        };
        let name = match &it.docker {
            Some(docker) if docker.state == "missing" => {
                format!("{name} (image {} is missing)", docker.image)
            }
            Some(docker) if docker.state == "unknown" => {
                format!("{name} (image {}, but no Docker engine)", docker.image)
            }
            _ => name,
        };
        let baseline = match &it.recorded_at {
            Some(at) => format!("{} ({})", it.baseline, at.get(..10).unwrap_or(at)),
            None => it.baseline.to_owned(),
        };
        let baseline = match (it.heard_once, it.calls) {
            (Some(once @ 1..), Some(calls)) if once == calls => format!("{baseline}, heard once"),
            (Some(once @ 1..), Some(calls)) => {
                format!("{baseline}, {once} of {calls} calls heard once")
            }
            _ => baseline,
        };
        [
            name,
            it.path.clone(),
            or_dash(&it.tags),
            it.agent.to_owned(),
            or_dash(&it.servers),
            baseline,
        ]
        .map(|it| text::line(&it).into_owned())
    }));
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|column| {
            rows.iter()
                .map(|row| row[column].width())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut table = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell}{}", " ".repeat(width - cell.width() + 2));
        }
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}
