//! A matrix: its cells in sum, and every scenario in each of them.

use crate::html::page_name::page_name;
use crate::html::responses::Responses;
use crate::html::state::State;
use crate::matrix::{CellRow, HEADINGS, used};
use model::published::result::{Matrix, MatrixCell, ResultDocument, Scenario};

/// How many scenarios the page shows cell by cell.
const SCENARIOS: usize = 200;

pub(super) struct Grid<'a> {
    pub(super) matrix: &'a Matrix,
    pub(super) headings: Vec<&'static str>,
    pub(super) cells: Vec<CellView>,
    pub(super) names: Vec<String>,
    pub(super) scenarios: Vec<GridRow<'a>>,
    pub(super) more: usize,
}

/// A cell in sum.
pub(super) struct CellView {
    pub(super) name: String,
    /// What it came to, in the order of the headings without the first.
    pub(super) columns: Vec<String>,
    pub(super) is_winner: bool,
}

/// A scenario in every cell.
pub(super) struct GridRow<'a> {
    pub(super) id: &'a str,
    /// In the order of the cells; `None` where it was not run.
    pub(super) runs: Vec<Option<GridRun<'a>>>,
    /// Whether its runs came out in several ways.
    pub(super) differs: bool,
}

pub(super) struct GridRun<'a> {
    pub(super) page: String,
    pub(super) state: State,
    pub(super) words: String,
    /// The final response; `None` where it is not known.
    pub(super) response: Option<&'a str>,
}

impl<'a> Grid<'a> {
    pub(super) fn of(result: &'a ResultDocument, responses: &'a Responses) -> Option<Self> {
        let matrix = result.matrix.as_ref()?;
        let rows = CellRow::all(matrix);
        let used = used(&rows);
        let cells = rows.iter().map(|row| CellView {
            name: row.columns[0].clone(),
            columns: used
                .iter()
                .skip(1)
                .map(|at| row.columns[*at].clone())
                .collect(),
            is_winner: row.is_winner,
        });
        let mut ids: Vec<&str> = Vec::new();
        for scenario in &result.scenarios {
            if let Some(cell) = &scenario.cell
                && ids.last() != Some(&cell.scenario.as_str())
            {
                ids.push(&cell.scenario);
            }
        }
        let mut scenarios: Vec<GridRow<'a>> = ids
            .iter()
            .map(|id| row(id, &matrix.cells, result, responses))
            .collect();
        // What tells cells apart comes first.
        scenarios.sort_by_key(|it| !it.differs);
        let more = scenarios.len().saturating_sub(SCENARIOS);
        scenarios.truncate(SCENARIOS);
        Some(Self {
            matrix,
            headings: used.iter().map(|at| HEADINGS[*at]).collect(),
            cells: cells.collect(),
            names: matrix.cells.iter().map(MatrixCell::name).collect(),
            scenarios,
            more,
        })
    }
}

fn row<'a>(
    id: &'a str,
    cells: &[MatrixCell],
    result: &ResultDocument,
    responses: &'a Responses,
) -> GridRow<'a> {
    let in_cell = |cell: &MatrixCell| -> Option<&Scenario> {
        result.scenarios.iter().find(|it| {
            let of = it.cell.as_ref();
            of.is_some_and(|it| it.scenario == id && it.settings == cell.settings)
        })
    };
    let runs: Vec<Option<GridRun<'a>>> = cells
        .iter()
        .map(|cell| {
            let scenario = in_cell(cell)?;
            let state = State::of(scenario);
            let words = state.words(&result.command).to_owned();
            let words = match &scenario.repeated {
                Some(repeated) => format!("{} of {}", repeated.passed, repeated.runs),
                None => words,
            };
            Some(GridRun {
                page: page_name(&scenario.id),
                state,
                words,
                response: responses.get(&scenario.id).map(String::as_str),
            })
        })
        .collect();
    let mut states = runs.iter().flatten().map(|it| it.state);
    let first = states.next();
    GridRow {
        id,
        differs: states.any(|it| Some(it) != first),
        runs,
    }
}
