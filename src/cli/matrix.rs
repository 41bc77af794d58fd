//! `--matrix`: every scenario once for each combination of some settings.

use std::collections::HashSet;

use clap::ValueEnum;

use crate::cli::args::{AgentChoice, Axis, AxisName};
use crate::cli::failure::Failure;
use crate::model::cell::{Cell, Setting};
use crate::model::scenario::Scenario;
use crate::store::Baselines;
use crate::suite::{self, Choice};

/// More cells than that are a mistake: every scenario is run in each.
const MOST: usize = 1000;

/// Puts every scenario into each cell of a matrix, with its agent and its model; the cells of one scenario stand together.
///
/// # Errors
///
/// When a setting is chosen twice, an agent is none, or a scenario lacks what the agent of a cell needs.
pub(super) fn spread(
    scenarios: &[Scenario],
    axes: &[Axis],
    choice: &Choice,
) -> Result<Vec<Scenario>, Failure> {
    let combinations = combinations(axes, choice)?;
    let mut cells = Vec::with_capacity(combinations.len());
    for settings in &combinations {
        cells.push(of_cell(scenarios, settings, choice)?.into_iter());
    }
    let mut all = Vec::with_capacity(scenarios.len() * cells.len());
    for _ in scenarios {
        all.extend(cells.iter_mut().filter_map(Iterator::next));
    }
    let ids: HashSet<&str> = scenarios.iter().map(|it| it.id.as_str()).collect();
    if let Some(twice) = all.iter().find(|it| ids.contains(it.id.as_str())) {
        let message = format!(
            "a cell of the matrix would be called `{}`, as a scenario is",
            twice.id
        );
        return Err(Failure::usage(message).hint("give that file another name"));
    }
    Ok(all)
}

/// The scenarios, and after each its cells that have something in a folder of baselines: a baseline, or a run that waits for review.
pub(super) fn with_cells(scenarios: Vec<Scenario>, baselines: &Baselines) -> Vec<Scenario> {
    let mut found = baselines.scenarios();
    found.extend(baselines.pending());
    found.sort();
    found.dedup();
    let cells: Vec<Cell> = found.iter().filter_map(|it| Cell::of_id(it)).collect();
    let mut all = Vec::with_capacity(scenarios.len());
    for scenario in scenarios {
        let of = cells.iter().filter(|it| it.scenario == scenario.id);
        let known: Vec<Scenario> = of.filter_map(|it| in_cell(&scenario, it)).collect();
        all.push(scenario);
        all.extend(known);
    }
    all
}

/// A scenario in a cell; `None` where it lacks what the agent there needs.
pub(super) fn in_cell(scenario: &Scenario, cell: &Cell) -> Option<Scenario> {
    let alone = std::slice::from_ref(scenario);
    of_cell(alone, &cell.settings, &Choice::default())
        .ok()?
        .pop()
}

/// The scenarios in one cell.
fn of_cell(
    scenarios: &[Scenario],
    settings: &[Setting],
    choice: &Choice,
) -> Result<Vec<Scenario>, Failure> {
    let mut choice = choice.clone();
    for it in settings {
        if it.name == AGENT {
            let agent = AgentChoice::from_str(&it.value, false);
            choice.agent = Some(agent.map_err(|_| no_agent(&it.value))?.into());
        } else {
            choice.model = Some(it.value.clone());
        }
    }
    let mut scenarios = scenarios.to_vec();
    suite::choose(&mut scenarios, &choice)?;
    for scenario in &mut scenarios {
        let cell = Cell {
            scenario: scenario.id.clone(),
            settings: settings.to_vec(),
        };
        scenario.id = format!("{}/{}", scenario.id, cell.folder());
        scenario.name = format!("{} [{}]", scenario.name, cell.words());
        scenario.cell = Some(Box::new(cell));
    }
    Ok(scenarios)
}

/// What the settings of an axis are called in ids and results.
const AGENT: &str = "agent";
const MODEL: &str = "model";

fn no_agent(value: &str) -> Failure {
    let known = AgentChoice::value_variants().iter();
    let known = known.filter_map(ValueEnum::to_possible_value);
    let known: Vec<String> = known.map(|it| it.get_name().to_owned()).collect();
    Failure::usage(format!("--matrix agent={value} names no kind of agent"))
        .hint(format!("there are: {}", known.join(", ")))
}

/// Every combination, the last axis changing fastest.
fn combinations(given: &[Axis], choice: &Choice) -> Result<Vec<Vec<Setting>>, Failure> {
    // What is said of one setting in several options is one axis.
    let mut axes: Vec<(AxisName, Vec<&str>)> = Vec::new();
    for Axis { name, values, .. } in given {
        let at = axes.iter().position(|(it, _)| it == name);
        let at = at.unwrap_or_else(|| {
            axes.push((*name, Vec::new()));
            axes.len() - 1
        });
        for value in values {
            if !axes[at].1.contains(&value.as_str()) {
                axes[at].1.push(value);
            }
        }
    }
    let mut all: Vec<Vec<Setting>> = vec![Vec::new()];
    for (name, values) in axes {
        let (name, is_given) = match name {
            AxisName::Agent => (AGENT, choice.agent.is_some()),
            AxisName::Model => (MODEL, choice.model.is_some()),
        };
        if is_given {
            let message = format!("--{name} and --matrix {name}=… exclude each other");
            return Err(Failure::usage(message));
        }
        all = all
            .iter()
            .flat_map(|before| {
                values.iter().map(|value| {
                    let mut settings = before.clone();
                    settings.push(Setting {
                        name: name.to_owned(),
                        value: (*value).to_owned(),
                    });
                    settings
                })
            })
            .collect();
        if all.len() > MOST {
            return Err(Failure::usage(format!("a matrix has at most {MOST} cells")));
        }
    }
    Ok(all)
}
