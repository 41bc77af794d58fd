//! The cells of a matrix side by side: what the scenarios of each came to, and whether one is better than the others by more than chance
//! explains.
//!
//! Cells are compared scenario by scenario, because scenarios differ more than cells do: a scenario tells two cells apart where a larger
//! share of its runs passes in one of them. Of those, the sign test says how likely it is that they fall as they do where neither cell is
//! better.

use crate::model::usage::TotalUse;
use crate::model::{Cell, Setting, Status};
use crate::published::result::{Matrix, MatrixCell, MatrixPair, Scenario};
use crate::score::sign_test::Signs;
use crate::score::statistics::{of_shares, spread};

/// How sure an interval is.
const CONFIDENCE: f64 = 0.95;

/// The cells of a matrix, where the scenarios are cells of one.
pub fn matrix(scenarios: &[Scenario]) -> Option<Matrix> {
    let in_cells = scenarios
        .iter()
        .filter_map(|it| Some((it.cell.as_deref()?, it)));
    let in_cells: Vec<(&Cell, &Scenario)> = in_cells.collect();
    let mut settings: Vec<&[Setting]> = Vec::new();
    for (cell, _) in &in_cells {
        if !settings.contains(&cell.settings.as_slice()) {
            settings.push(&cell.settings);
        }
    }
    if settings.is_empty() {
        return None;
    }
    let of = |settings: &[Setting]| -> Vec<(&Cell, &Scenario)> {
        let all = in_cells.iter().copied();
        all.filter(|(cell, _)| cell.settings == settings).collect()
    };
    let columns: Vec<Vec<(&Cell, &Scenario)>> = settings.iter().map(|it| of(it)).collect();
    let cells: Vec<MatrixCell> = settings
        .iter()
        .zip(&columns)
        .map(|(settings, column)| sum(settings, column))
        .collect();
    let best = best(&cells);
    let pairs = best.map_or_else(Vec::new, |best| pairs(best, &cells, &columns));
    let is_ahead = |it: &MatrixPair| it.interval.is_some_and(|it| it.low > 0.5);
    let winner = best.filter(|_| !pairs.is_empty() && pairs.iter().all(is_ahead));
    let sentence = sentence(&cells, best, &pairs, winner);
    Some(Matrix {
        cells,
        pairs,
        winner,
        sentence,
    })
}

fn sum(settings: &[Setting], column: &[(&Cell, &Scenario)]) -> MatrixCell {
    let to_run = column.iter().map(|(_, it)| *it);
    let to_run: Vec<&Scenario> = to_run.filter(|it| it.status != Status::Skipped).collect();
    let count = |is: fn(Status) -> bool| to_run.iter().filter(|it| is(it.status)).count();
    let shares: Vec<f64> = to_run.iter().filter_map(|it| pass_share(it)).collect();
    let scores = to_run.iter().filter_map(|it| score(it));
    let durations = to_run.iter().filter_map(|it| {
        let runs = it
            .repeated
            .as_ref()
            .map_or(1, |it| it.attempts.len().max(1));
        Some(it.duration_ms? / f64::from(u32::try_from(runs).unwrap_or(u32::MAX)))
    });
    let usage = TotalUse::sum(to_run.iter().filter_map(|it| it.usage()));
    let succeeded = count(|it| matches!(it, Status::Passed | Status::Recorded));
    let failed = count(|it| it == Status::Failed);
    MatrixCell {
        settings: settings.to_vec(),
        scenarios: to_run.len(),
        succeeded,
        failed,
        without_verdict: to_run.len() - succeeded - failed,
        pass_rate: mean(shares.iter().copied()),
        interval: of_shares(&shares),
        score: mean(scores),
        duration_ms: mean(durations),
        cost: usage.as_ref().and_then(|it| it.cost),
        tokens: usage.as_ref().and_then(|it| it.tokens.total_tokens),
    }
}

/// The share of a scenario's runs that pass, 0 to 1; `None` without a verdict.
fn pass_share(scenario: &Scenario) -> Option<f64> {
    if let Some(repeated) = &scenario.repeated {
        return repeated.pass_rate;
    }
    match scenario.status {
        Status::Passed | Status::Recorded => Some(1.0),
        Status::Failed => Some(0.0),
        _ => None,
    }
}

/// The score of a scenario; of several runs their mean, not that of the one which is shown.
fn score(scenario: &Scenario) -> Option<f64> {
    match &scenario.repeated {
        Some(repeated) => Some(repeated.score.as_ref()?.mean),
        None => Some(scenario.comparison.as_ref()?.scores.overall),
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    spread(&values).map(|it| it.mean)
}

/// The place of the cell that passes most; `None` where several do, or only one has a verdict.
fn best(cells: &[MatrixCell]) -> Option<usize> {
    let rates = cells.iter().enumerate();
    let rates = rates.filter_map(|(at, it)| Some((at, it.pass_rate?)));
    let rates: Vec<(usize, f64)> = rates.collect();
    let most = rates.iter().map(|(_, rate)| *rate).reduce(f64::max)?;
    let mut first = rates.iter().filter(|(_, rate)| *rate >= most);
    match (first.next(), first.next()) {
        (Some((at, _)), None) if rates.len() > 1 => Some(*at),
        _ => None,
    }
}

fn pairs(
    best: usize,
    cells: &[MatrixCell],
    columns: &[Vec<(&Cell, &Scenario)>],
) -> Vec<MatrixPair> {
    let others: Vec<usize> = (0..cells.len())
        .filter(|it| *it != best && cells[*it].pass_rate.is_some())
        .collect();
    // One chance in twenty to be wrong is shared among all comparisons (Bonferroni).
    let sharing = f64::from(u32::try_from(others.len().max(1)).unwrap_or(u32::MAX));
    let confidence = 1.0 - (1.0 - CONFIDENCE) / sharing;
    let others = others.into_iter().map(|other| {
        let mut signs = Signs::default();
        let mut equal = 0;
        for (cell, scenario) in &columns[best] {
            let there = columns[other]
                .iter()
                .find(|(it, _)| it.scenario == cell.scenario);
            let there = there.and_then(|(_, it)| pass_share(it));
            let Some((here, there)) = pass_share(scenario).zip(there) else {
                continue;
            };
            if here > there {
                signs.better += 1;
            } else if here < there {
                signs.worse += 1;
            } else {
                equal += 1;
            }
        }
        MatrixPair {
            best,
            other,
            better: signs.better,
            worse: signs.worse,
            equal,
            p_value: signs.p_value(),
            interval: signs.interval(confidence),
        }
    });
    others.collect()
}

fn sentence(
    cells: &[MatrixCell],
    best: Option<usize>,
    pairs: &[MatrixPair],
    winner: Option<usize>,
) -> String {
    let compared = pairs.len();
    // Each comparison could err, so all are held to more.
    let corrected = if compared > 1 {
        format!(", with Bonferroni's correction for {compared} comparisons")
    } else {
        String::new()
    };
    let name = |at: usize| cells.get(at).map_or_else(String::new, MatrixCell::name);
    if let Some(winner) = winner {
        return format!(
            "{} passes more than every other, by more than chance explains (sign test, scenario by scenario, at {} %{corrected})",
            name(winner),
            CONFIDENCE * 100.0
        );
    }
    let Some(best) = best else {
        let with_verdict = cells.iter().filter(|it| it.pass_rate.is_some()).count();
        return match with_verdict {
            0 => "no cell has a verdict".to_owned(),
            1 => "only one cell has a verdict".to_owned(),
            _ if cells.iter().all(|it| it.pass_rate.unwrap_or(0.0) <= 0.0) => {
                "no cell has passed anything".to_owned()
            }
            _ => "several cells pass most, equally often".to_owned(),
        };
    };
    let closest = pairs.iter().max_by(|a, b| a.p_value.total_cmp(&b.p_value));
    let Some(closest) = closest else {
        return "only one cell has a verdict".to_owned();
    };
    let scenarios = |count: usize| match count {
        1 => "1 scenario".to_owned(),
        several => format!("{several} scenarios"),
    };
    format!(
        "{} passes most, and chance may explain it: beside {} it is better in {} and worse in {} (sign test, p = {:.2}{corrected})",
        name(best),
        name(closest.other),
        scenarios(closest.better),
        closest.worse,
        (closest.p_value * f64::from(u32::try_from(compared).unwrap_or(u32::MAX))).min(1.0)
    )
}
