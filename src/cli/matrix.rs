//! `--matrix`: every scenario once for each combination of some settings.

use std::collections::{HashMap, HashSet};

use clap::ValueEnum;

use crate::cli::args::{AgentChoice, Axis, AxisName};
use crate::cli::exit::Failure;
use crate::model::{Cell, Setting};
use crate::scenario_file::{Scenario, folded};
use crate::store::Baselines;
use crate::suite::{self, Choice};

/// More cells than that are a mistake: every scenario is run in each.
const MOST: usize = 1000;

/// Puts every scenario into each cell of a matrix; the cells of one scenario stand together. They have the agent and the model of the scenario
/// until [`settle`] has chosen theirs. Without axes, the scenarios are what they are.
///
/// # Errors
///
/// When a value is named twice, or two that some file systems take for one, there are too many cells, or one would be called as a scenario is.
pub(super) fn spread(scenarios: Vec<Scenario>, axes: &[Axis]) -> Result<Vec<Scenario>, Failure> {
    if axes.is_empty() {
        return Ok(scenarios);
    }
    let combinations = combinations(axes)?;
    let in_each = |it: &Scenario| {
        // Who measures is no matter of choice.
        if it.measurement.is_some() {
            return vec![it.clone()];
        }
        let all = combinations.iter();
        let all = all.map(|settings| in_cell(it, settings));
        all.collect::<Vec<Scenario>>()
    };
    let all: Vec<Scenario> = scenarios.iter().flat_map(in_each).collect();
    let ids: HashSet<String> = scenarios.iter().map(|it| folded(&it.id)).collect();
    let mut cells = all.iter().filter(|it| it.cell.is_some());
    if let Some(twice) = cells.find(|it| ids.contains(&folded(&it.id))) {
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
        let known: Vec<Scenario> = of.filter_map(|it| resolved(&scenario, it)).collect();
        all.push(scenario);
        all.extend(known);
    }
    all
}

/// A scenario in a cell, with the agent and the model there; `None` where it lacks what they need.
pub(super) fn resolved(scenario: &Scenario, cell: &Cell) -> Option<Scenario> {
    let mut alone = vec![in_cell(scenario, &cell.settings)];
    settle(&mut alone, &Choice::default()).ok()?;
    alone.pop()
}

/// Gives scenarios that are cells of a matrix the agent and the model of their cell.
///
/// # Errors
///
/// When a setting is chosen twice, an agent is none, or a scenario lacks what the agent of a cell needs.
pub(super) fn settle(scenarios: &mut [Scenario], choice: &Choice) -> Result<(), Failure> {
    let mut cells: Vec<(Vec<Setting>, Vec<usize>)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (at, it) in scenarios.iter().enumerate() {
        let Some(cell) = &it.cell else { continue };
        let number = *known.entry(cell.folder()).or_insert_with(|| {
            cells.push((cell.settings.clone(), Vec::new()));
            cells.len() - 1
        });
        cells[number].1.push(at);
    }
    for (settings, members) in cells {
        let choice = of_cell(&settings, choice)?;
        let mut of: Vec<Scenario> = members.iter().map(|it| scenarios[*it].clone()).collect();
        suite::choose(&mut of, &choice)?;
        for (at, it) in members.into_iter().zip(of) {
            scenarios[at] = it;
        }
    }
    Ok(())
}

/// A scenario in a cell, with its own agent and model.
fn in_cell(scenario: &Scenario, settings: &[Setting]) -> Scenario {
    let cell = Cell {
        scenario: scenario.id.clone(),
        settings: settings.to_vec(),
    };
    Scenario {
        id: format!("{}/{}", scenario.id, cell.folder()),
        name: format!("{} [{}]", scenario.name, cell.words()),
        cell: Some(Box::new(cell)),
        ..scenario.clone()
    }
}

/// What a choice is in one cell.
fn of_cell(settings: &[Setting], choice: &Choice) -> Result<Choice, Failure> {
    let mut choice = choice.clone();
    for it in settings {
        let is_given = match it.name.as_str() {
            AGENT => choice.agent.is_some(),
            _ => choice.model.is_some(),
        };
        if is_given {
            let message = format!("--{0} and --matrix {0}=… exclude each other", it.name);
            return Err(Failure::usage(message));
        }
        if it.name == AGENT {
            let agent = AgentChoice::from_str(&it.value, false);
            choice.agent = Some(agent.map_err(|_| no_agent(&it.value))?.into());
        } else {
            choice.model = Some(it.value.clone());
        }
    }
    Ok(choice)
}

/// What the settings of an axis are called in ids and results.
const AGENT: &str = "agent";
const MODEL: &str = "model";

fn word(name: AxisName) -> &'static str {
    match name {
        AxisName::Agent => AGENT,
        AxisName::Model => MODEL,
    }
}

/// The folder of a cell that has this setting alone.
fn folder(name: AxisName, value: &str) -> String {
    let setting = Setting {
        name: word(name).to_owned(),
        value: value.to_owned(),
    };
    let cell = Cell {
        scenario: String::new(),
        settings: vec![setting],
    };
    cell.folder()
}

fn no_agent(value: &str) -> Failure {
    let known = AgentChoice::value_variants().iter();
    let known = known.filter_map(ValueEnum::to_possible_value);
    let known: Vec<String> = known.map(|it| it.get_name().to_owned()).collect();
    Failure::usage(format!("--matrix agent={value} names no kind of agent"))
        .hint(format!("there are: {}", known.join(", ")))
}

/// Every combination, the last axis changing fastest.
fn combinations(given: &[Axis]) -> Result<Vec<Vec<Setting>>, Failure> {
    // What is said of one setting in several options is one axis.
    let mut axes: Vec<(AxisName, Vec<&str>)> = Vec::new();
    for Axis { name, values, .. } in given {
        let at = axes.iter().position(|(it, _)| it == name);
        let at = at.unwrap_or_else(|| {
            axes.push((*name, Vec::new()));
            axes.len() - 1
        });
        for value in values {
            if axes[at].1.contains(&value.as_str()) {
                let message = format!("--matrix names {}={value} twice", word(*name));
                return Err(Failure::usage(message)
                    .hint("a cell is run once; `--repeat N` runs each scenario N times"));
            }
            let folder = folder(*name, value);
            let mut others = axes[at].1.iter().map(|it| (it, self::folder(*name, it)));
            if let Some((other, _)) = others.find(|(_, it)| folded(it) == folded(&folder)) {
                let message = format!(
                    "--matrix names {0}={other} and {0}={value}: some file systems take both for one folder of baselines",
                    word(*name)
                );
                let hint = "capitals, and another way to write an accent, make no other cell";
                return Err(Failure::usage(message).hint(hint));
            }
            axes[at].1.push(value);
        }
    }
    let mut all: Vec<Vec<Setting>> = vec![Vec::new()];
    for (name, values) in axes {
        let name = word(name);
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
