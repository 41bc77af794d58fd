//! `mcp-eval list`: scenarios with their tags, agents, servers, images and baselines, and what a scenario may choose from.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde::Serialize;
use tokio::sync::OnceCell;
use unicode_width::UnicodeWidthStr;

use crate::cli::args::{ListArgs, ResultFormat};
use crate::cli::select::{self, NonePicked, Picked, Purpose};
use crate::cli::{Console, Exit, Failure, runtime, stray};
use crate::docker::Engine;
use crate::model::{Git, Trajectory};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::{Agent, Criterion, is_prose};
use crate::scenario_file::evaluators::KINDS;
use crate::scenario_file::measured::Measurement;
use crate::scenario_file::servers::Image;
use crate::store::Baselines;
use crate::suite::record::check_run;
use crate::suite::{self, ci, containers, evaluating, replay, source};
use crate::text::{self, plural, several};
use crate::{git, json, scenario_file, score};

/// What `--format json` prints, version 1.
#[derive(Serialize)]
struct ListDocument {
    format_version: u32,
    scenarios: Vec<ListedScenario>,
}

#[derive(Serialize)]
struct ListedScenario {
    id: String,
    /// Whether it is a row of a data set, whose path says less than its id.
    #[serde(skip)]
    is_row: bool,
    name: String,
    path: String,
    enabled: bool,
    tags: Vec<String>,
    /// Of what is measured, the kind: `retrieval` or `security`.
    agent: &'static str,
    servers: Vec<String>,
    /// `accepted`, `none`, `outdated` (the scenario has changed since), `unreadable` or, of what is held against its gates alone, `not needed`.
    baseline: &'static str,
    /// When the accepted baseline was recorded.
    recorded_at: Option<String>,
    /// How many trajectories are accepted: the baseline and its variants.
    variants: usize,
    /// Whether a run waits for review.
    pending: bool,
    /// Why the accepted baseline's run failed; absent where nothing speaks against it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failing: Vec<String>,
    /// The criteria that nobody checks, because the accepted baseline – without one, `run` – does not tell whether they can be met; absent
    /// where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unchecked: Vec<String>,
    /// How many success criteria there are.
    #[serde(skip)]
    criteria: usize,
    /// How many calls the accepted baseline has, and how many of their answers were heard once: they are graded, not held to be stable.
    calls: Option<usize>,
    heard_once: Option<usize>,
    /// The container it runs in, the first of several; `null` without one.
    docker: Option<ImageState>,
    /// The images of all containers it runs in; absent where there is at most one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<ImageState>,
    /// Where the source of its system under test lies; absent where it does not say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Source>,
}

/// A source, and what of it stands there.
#[derive(Serialize, Clone)]
struct Source {
    repo: String,
    /// The branch, or the commit where none is checked out; `null` where that is not known.
    #[serde(rename = "ref")]
    reference: Option<String>,
    commit: Option<String>,
    dirty: Option<bool>,
}

pub(in crate::cli) fn run(args: &ListArgs, console: Console) -> Result<Exit, Failure> {
    if args.evaluators || args.agents {
        check_kinds(args)?;
        list_kinds(args, console);
        return Ok(Exit::Passed);
    }
    let purpose = Purpose {
        baselines: Some(&args.baseline),
        agent_given: true,
        ..Purpose::default()
    };
    let Picked {
        scenarios,
        findings,
        none,
    } = select::load(&args.select, purpose, console)?;
    let images = images(&scenarios)?;
    let listed: Vec<ListedScenario> = scenarios
        .iter()
        .zip(images)
        .map(|(it, images)| {
            let baselines = replay::baselines(&args.baseline, it, scenarios.len());
            listed(it, images, &baselines)
        })
        .collect();
    match args.printed.format {
        ResultFormat::Json => {
            let document = ListDocument {
                format_version: 1,
                scenarios: listed,
            };
            Console::document(&json::pretty(&document));
        }
        ResultFormat::Terminal if listed.is_empty() && none.is_none() => {
            console.note("There are no scenarios.");
        }
        ResultFormat::Terminal if listed.is_empty() => {}
        ResultFormat::Terminal => console.result(&table(&listed)),
    }
    let ids: Vec<String> = scenarios.iter().map(|it| it.id.clone()).collect();
    stray::warn(&args.select, &Baselines::new(&args.baseline), &ids, console);
    let errors = findings.iter().filter(|it| it.is_error()).count();
    if errors > 0 {
        return Err(Failure::usage(format!(
            "{} in scenario files, which are not listed",
            plural(errors, "error")
        ))
        .hint("`mcp-eval validate` shows them"));
    }
    match none {
        None => {}
        Some(NonePicked::Unchanged(sentence)) => console.note(&sentence),
        // A list of nothing is a list all the same.
        Some(NonePicked::NoMatch(failure)) => {
            console.note(&failure.message);
            for hint in &failure.hints {
                console.note(&format!("  {hint}"));
            }
        }
    }
    Ok(Exit::Passed)
}

fn listed(scenario: &Scenario, images: Vec<ImageState>, baselines: &Baselines) -> ListedScenario {
    let measured = scenario.measurement.as_ref();
    let (baseline, variants, main) = match replay::load(baselines, &scenario.id) {
        // What is accepted of a measurement are figures.
        _ if measured.is_some() => (suite::accepted_figures(scenario, baselines), 0, None),
        Err(_) => ("unreadable", 0, None),
        Ok(accepted) => ("none", accepted.len(), accepted.into_iter().next()),
    };
    let main = main.as_deref();
    ci::mend(baselines, &scenario.id, main);
    let (unchecked, failing) = looked_at(scenario, main);
    let baseline = match main {
        None => baseline,
        Some(main) => {
            let given = scenario_file::agent_hash(&scenario.agent, &scenario.redaction);
            let outdated = score::scenario_has_changed(
                main,
                Some(&scenario.hash),
                scenario.agent.kind(),
                given.as_deref(),
            );
            if outdated { "outdated" } else { "accepted" }
        }
    };
    ListedScenario {
        id: scenario.id.clone(),
        is_row: scenario.row_of.is_some(),
        name: scenario.name.clone(),
        path: scenario.path.display().to_string(),
        enabled: scenario.enabled,
        tags: scenario.tags.clone(),
        agent: measured.map_or(scenario.agent.kind(), Measurement::kind),
        servers: scenario.servers.iter().map(|it| it.name.clone()).collect(),
        baseline,
        recorded_at: main.as_ref().map(|it| it.stamp.recorded_at.to_string()),
        calls: main.as_ref().map(|it| it.calls().count()),
        heard_once: main.as_ref().map(|it| it.answered_once().len()),
        variants,
        pending: baselines.pending_path(&scenario.id).is_file(),
        failing,
        unchecked,
        criteria: scenario.success_criteria.len(),
        docker: images.first().cloned(),
        images: if images.len() > 1 { images } else { Vec::new() },
        source: source_of(scenario),
    }
}

/// The source that a scenario names.
fn source_of(scenario: &Scenario) -> Option<Source> {
    let own = scenario.source.repo.as_ref()?;
    let folder = source::folder(scenario);
    let whole = folder.as_ref().and_then(|it| it.canonicalize().ok());
    let here = std::env::current_dir().and_then(|it| it.canonicalize());
    let short = whole.as_ref().map(|it| match &here {
        Ok(here) => it.strip_prefix(here).unwrap_or(it),
        Err(_) => it,
    });
    let repo = short.unwrap_or(own).display().to_string();
    let stamp = folder.map(|it| git::stamp(&it, &[]));
    let commit = stamp.as_ref().and_then(Git::commit);
    Some(Source {
        repo,
        reference: commit.map(|it| it.branch.as_ref().unwrap_or(&it.short).clone()),
        dirty: commit.and_then(|it| it.dirty),
        commit: commit.map(|it| it.commit.clone()),
    })
}

/// The criteria that are not checked, and why the accepted run failed.
fn looked_at(scenario: &Scenario, accepted: Option<&Trajectory>) -> (Vec<String>, Vec<String>) {
    let Some(accepted) = accepted else {
        let prose = scenario.success_criteria.iter().filter(|it| match it {
            Criterion::Text(text) => is_prose(text),
            _ => false,
        });
        return (prose.map(Criterion::text).collect(), Vec::new());
    };
    // What a replay plays may fail again where it did.
    let replays = matches!(scenario.agent, Agent::Replay { .. });
    let scenario = evaluating::filled(scenario, accepted);
    let evaluations = evaluating::of_stored(&scenario, accepted, None);
    let replayed = replays.then_some(accepted);
    match check_run(&scenario, accepted, replayed, &evaluations) {
        Ok(looked) => {
            let checks = looked.checks.into_iter();
            let unchecked = checks.filter(|it| it.unchecked);
            (unchecked.map(|it| it.name).collect(), looked.failing)
        }
        Err(problem) => (Vec::new(), vec![problem.message]),
    }
}

fn table(listed: &[ListedScenario]) -> String {
    let or_dash = |texts: &[String]| {
        if texts.is_empty() {
            "-".to_owned()
        } else {
            texts.join(", ")
        }
    };
    let has_sources = listed.iter().any(|it| it.source.is_some());
    let has_rows = listed.iter().any(|it| it.is_row);
    let titles = [
        "NAME", "ID", "PATH", "TAGS", "AGENT", "SERVERS", "BASELINE", "SOURCE",
    ];
    let mut rows = vec![titles.map(str::to_owned)];
    rows.extend(listed.iter().map(|it| {
        let name = if it.enabled {
            it.name.clone()
        } else {
            format!("{} (disabled)", it.name)
        };
        let images = it.docker.iter().chain(it.images.iter().skip(1));
        let troubles = images.filter_map(|it| match it.state {
            "missing" => Some(format!(" (image {} is missing)", it.image)),
            "unknown" => Some(format!(" (image {}, but no Docker engine)", it.image)),
            _ => None,
        });
        let name = name + &troubles.collect::<String>();
        let source = it.source.as_ref().map_or_else(
            || "-".to_owned(),
            |it| {
                let dirty = if it.dirty == Some(true) {
                    ", changed"
                } else {
                    ""
                };
                match &it.reference {
                    Some(reference) => format!("{} ({reference}{dirty})", it.repo),
                    None => it.repo.clone(),
                }
            },
        );
        let baseline = match &it.recorded_at {
            Some(at) => format!("{} ({})", it.baseline, at.get(..10).unwrap_or(at)),
            None => it.baseline.to_owned(),
        };
        let baseline = match (it.heard_once, it.calls) {
            (Some(once @ 1..), Some(calls)) if once == calls => {
                format!("{baseline}, recorded once")
            }
            (Some(once @ 1..), Some(calls)) => {
                format!("{baseline}, {once} of {calls} calls recorded once")
            }
            _ => baseline,
        };
        let failing = if it.failing.is_empty() {
            ""
        } else {
            ", failing"
        };
        let unchecked = match (it.unchecked.len(), it.criteria) {
            (0, _) => String::new(),
            (unchecked, all) => format!(
                ", {unchecked} of {} unchecked",
                several(all, "criterion", "criteria")
            ),
        };
        let variants = match it.variants {
            0 | 1 => String::new(),
            count => format!(", {count} variants"),
        };
        let pending = if it.pending { ", to review" } else { "" };
        let baseline = format!("{baseline}{variants}{pending}{failing}{unchecked}");
        [
            name,
            it.id.clone(),
            it.path.clone(),
            or_dash(&it.tags),
            it.agent.to_owned(),
            or_dash(&it.servers),
            baseline,
            source,
        ]
        .map(|it| text::line(&it).into_owned())
    }));
    // Most scenarios have no source, and are known by their path.
    let columns = (0..titles.len()).filter(|column| match titles[*column] {
        "ID" => has_rows,
        "SOURCE" => has_sources,
        _ => true,
    });
    let widths: Vec<(usize, usize)> = columns
        .map(|column| {
            let widths = rows.iter().map(|row| row[column].width());
            (column, widths.max().unwrap_or(0))
        })
        .collect();
    let mut table = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, width) in &widths {
            let cell = &row[*column];
            let _ = write!(line, "{cell}{}", " ".repeat(width - cell.width() + 2));
        }
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

/// The kinds of agents, as scenario files spell them.
const AGENTS: [(&str, &str); 6] = [
    ("scripted", "plays the calls that the scenario lists"),
    ("replay", "makes the calls of the baseline again"),
    ("anthropic", "a model behind the API of Anthropic"),
    (
        "openai",
        "a model behind one of OpenAI's APIs, or a server that speaks it",
    ),
    ("ollama", "a model behind the API of Ollama"),
    (
        "command",
        "a program with an MCP client of its own, such as Claude Code",
    ),
];

/// What `--format json` prints, version 1.
#[derive(Serialize)]
struct KindsDocument {
    format_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluators: Option<Vec<Kind>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agents: Option<Vec<Kind>>,
}

#[derive(Serialize)]
struct Kind {
    name: &'static str,
    about: &'static str,
}

/// Refuses what picks scenarios: none are listed, and all scenarios have the same to choose from.
///
/// # Errors
///
/// When something picks some.
pub(in crate::cli) fn check_kinds(args: &ListArgs) -> Result<(), Failure> {
    let select = &args.select;
    let sets = select.environment.is_some() || !select.variables.is_empty();
    if select.are_default() && !select.picks() && !sets {
        return Ok(());
    }
    let option = if args.evaluators {
        "--evaluators"
    } else {
        "--agents"
    };
    let why =
        format!("{option} lists what any scenario may choose from, so no scenario can be picked");
    Err(Failure::usage(why).hint("leave out paths and whatever else picks scenarios"))
}

/// Prints the kinds that are asked for.
pub(in crate::cli) fn list_kinds(args: &ListArgs, console: Console) {
    let evaluators = args.evaluators.then_some(&KINDS[..]);
    let agents = args.agents.then_some(&AGENTS[..]);
    match args.printed.format {
        ResultFormat::Json => {
            let kinds = |of: &[(&'static str, &'static str)]| {
                let kinds = of.iter().map(|(name, about)| Kind { name, about });
                kinds.collect()
            };
            Console::document(&json::pretty(&KindsDocument {
                format_version: 1,
                evaluators: evaluators.map(kinds),
                agents: agents.map(kinds),
            }));
        }
        ResultFormat::Terminal => {
            let tables = [("EVALUATOR", evaluators), ("AGENT", agents)];
            let tables = tables
                .into_iter()
                .filter_map(|(title, it)| Some(table_of_kinds(title, it?)));
            console.result(&tables.collect::<Vec<_>>().join("\n"));
        }
    }
}

fn table_of_kinds(title: &str, kinds: &[(&str, &str)]) -> String {
    let names = kinds.iter().map(|(name, _)| name.len());
    let width = names.chain([title.len()]).max().unwrap_or_default() + 2;
    let mut table = format!("{title}\n");
    for (name, about) in kinds {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{name:width$}{about}");
    }
    table
}

/// The image of a container of a scenario.
#[derive(Serialize, Clone)]
pub(in crate::cli) struct ImageState {
    /// What the scenario calls the container; absent where it has only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) container: Option<String>,
    /// The image's name, or the folder it is built from.
    pub(in crate::cli) image: String,
    /// `there`, `missing`, `built` (before the first run) or `unknown` (there is no engine to ask).
    pub(in crate::cli) state: &'static str,
}

/// The images of each scenario's containers, and whether the engine has them. No engine is asked when none is needed.
pub(in crate::cli) fn images(scenarios: &[Scenario]) -> Result<Vec<Vec<ImageState>>, Failure> {
    let runtime = runtime::here()?;
    runtime.block_on(async {
        let engine = OnceCell::new();
        let mut known: HashMap<String, &'static str> = HashMap::new();
        let mut images = Vec::new();
        for scenario in scenarios {
            let scenario = source::resolved(scenario);
            let mut of_scenario = Vec::new();
            for declared in &scenario.containers {
                let container = containers::expand_anywhere(&scenario, declared);
                // Variables that are missing are reported when the scenario is run.
                let image = container.map_or_else(|_| declared.image.clone(), |it| it.image);
                let (image, state) = match image {
                    Image::Built(build) | Image::BuiltOrNamed(build, _) => {
                        (build.context.display().to_string(), "built")
                    }
                    Image::Named(name) => {
                        let state = match known.get(&name) {
                            Some(state) => state,
                            None => state(&engine, &name).await,
                        };
                        known.insert(name.clone(), state);
                        (name, state)
                    }
                };
                of_scenario.push(ImageState {
                    container: declared.name.clone(),
                    image,
                    state,
                });
            }
            images.push(of_scenario);
        }
        Ok(images)
    })
}

async fn state(engine: &OnceCell<Option<Engine>>, name: &str) -> &'static str {
    let variable = |name: &str| std::env::var(name).ok();
    // It is not waited for an engine of which no more is wanted than what it has.
    let connect = async { Engine::connect(&variable, &|_, _| false).await.ok() };
    let Some(engine) = engine.get_or_init(|| connect).await else {
        return "unknown";
    };
    match engine.has_image(name).await {
        Ok(true) => "there",
        Ok(false) => "missing",
        Err(_) => "unknown",
    }
}
