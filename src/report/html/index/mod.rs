//! The index page: what was found, the root causes, and all scenarios.

mod cards;
mod row;

use askama::Template;

use crate::advice;
use crate::counts::{CellRow, HEADINGS, used};
use crate::duration;
use crate::html::content::Responses;
use crate::html::link::page_name;
use crate::html::state::State;
use crate::moment;
use model::published::result::{Matrix, MatrixCell, ResultDocument, Scenario};

use super::dashboard::Around;
use super::link::ElsewhereView;
use super::render::{self, IndexScript};
use super::stamps;
use super::versions::{self, VersionLine};
use cards::Cards;
use row::{Names, Row, Section};

/// How many causes the page shows of what only changed.
const CHANGES: usize = 25;

/// The template's view of a result.
#[derive(Template)]
#[template(path = "index.html")]
pub(super) struct IndexPage<'a> {
    result: &'a ResultDocument,
    started_at: String,
    duration: String,
    /// What to do, in a sentence.
    advice: Option<String>,
    /// The repository that the command was started in.
    git: Vec<String>,
    /// How many scenarios have which state, without the zeros.
    counts: Vec<(State, usize)>,
    versions: Vec<VersionLine>,
    more_versions: usize,
    links: Vec<ElsewhereView<'a>>,
    /// What speaks against passing, by what it came to.
    against: Vec<Section<'a>>,
    changes: Cards<'a>,
    groups: Vec<Group<'a>>,
    names: Names<'a>,
    /// The cells of a matrix.
    grid: Option<Grid<'a>>,
    script_hash: String,
    /// The style sheet lies beside the page.
    is_linked: bool,
    around: Option<&'a Around<'a>>,
}

impl<'a> IndexPage<'a> {
    pub(super) fn new(
        result: &'a ResultDocument,
        responses: &'a Responses,
        around: Option<&'a Around<'a>>,
    ) -> Self {
        let names = Names::of(result);
        let rarest = row::rarest_causes(result);
        let rows = result.scenarios.iter();
        let rows: Vec<Row<'a>> = rows
            .map(|it| Row::new(it, &result.command, &names, &rarest))
            .collect();
        let count = |state: State| rows.iter().filter(|it| it.state == state).count();
        let counts = State::ALL.map(|it| (it, count(it)));
        let (versions, more_versions) = versions::of_all(result);
        Self {
            result,
            around,
            started_at: moment::words(&result.started_at),
            duration: duration::known(result.duration_ms),
            advice: advice::sentence(result, None),
            git: stamps::git_words(&result.git),
            counts: counts.into_iter().filter(|it| it.1 > 0).collect(),
            versions,
            more_versions,
            links: result.links.iter().map(ElsewhereView::new).collect(),
            against: row::sections(result),
            changes: Cards::new(result, |it| !it.fails, CHANGES),
            groups: groups(rows),
            names,
            grid: Grid::of(result, responses),
            script_hash: render::hash(&IndexScript),
            is_linked: false,
        }
    }

    /// The same beside the style sheet.
    pub(super) fn linked(self) -> Self {
        Self {
            is_linked: true,
            ..self
        }
    }

    /// The class of the sentence that sums it up.
    fn tone(&self) -> &'static str {
        let summary = self.result.summary;
        let fine = self
            .result
            .gate
            .as_ref()
            .is_some_and(|it| it.exit_code == 0);
        if !fine {
            "bad"
        } else if self.result.is_undecided() || summary.inconclusive + summary.recorded_failing > 0
        {
            "warn"
        } else if summary.changed > 0 {
            "altered"
        } else {
            "good"
        }
    }

    /// Whether there is anything that filters could separate.
    fn has_filters(&self) -> bool {
        self.result.scenarios.len() > 1
    }
}

/// The scenarios of one state.
struct Group<'a> {
    state: State,
    rows: Vec<Row<'a>>,
    /// Of those that were not run, each reason that several share once.
    left_out: Vec<LeftOut<'a>>,
    count: usize,
}

/// Several scenarios that were not run for one and the same reason.
struct LeftOut<'a> {
    reason: String,
    rows: Vec<Row<'a>>,
}

/// The groups that have any scenario, in order.
fn groups(rows: Vec<Row<'_>>) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = State::ALL
        .map(|state| Group {
            state,
            rows: Vec::new(),
            left_out: Vec::new(),
            count: 0,
        })
        .into();
    for row in rows {
        let Some(group) = groups.iter_mut().find(|it| it.state == row.state) else {
            continue;
        };
        group.count += 1;
        if row.scenario.is_left_out() {
            let reason = row.sentence.clone().unwrap_or_default();
            match group.left_out.iter_mut().find(|it| it.reason == reason) {
                Some(known) => known.rows.push(row),
                None => group.left_out.push(LeftOut {
                    reason,
                    rows: vec![row],
                }),
            }
        } else {
            group.rows.push(row);
        }
    }
    for group in &mut groups {
        // Who is alone has a row like all others.
        let alone = group.left_out.extract_if(.., |it| it.rows.len() == 1);
        group.rows.extend(alone.flat_map(|it| it.rows));
    }
    groups.retain(|it| it.count > 0);
    groups
}

/// How many scenarios the page shows cell by cell.
const SCENARIOS: usize = 200;

struct Grid<'a> {
    matrix: &'a Matrix,
    headings: Vec<&'static str>,
    cells: Vec<CellView>,
    names: Vec<String>,
    scenarios: Vec<GridRow<'a>>,
    more: usize,
}

/// A cell in sum.
struct CellView {
    name: String,
    /// What it came to, in the order of the headings without the first.
    columns: Vec<String>,
    is_winner: bool,
}

/// A scenario in every cell.
struct GridRow<'a> {
    id: &'a str,
    /// In the order of the cells; `None` where it was not run.
    runs: Vec<Option<GridRun<'a>>>,
    /// Whether its runs came out in several ways.
    differs: bool,
}

struct GridRun<'a> {
    page: String,
    state: State,
    words: String,
    /// The final response; `None` where it is not known.
    response: Option<&'a str>,
}

impl<'a> Grid<'a> {
    fn of(result: &'a ResultDocument, responses: &'a Responses) -> Option<Self> {
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
