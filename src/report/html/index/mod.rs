//! The index page: what was found, the root causes, and all scenarios.

mod against;
mod cards;
mod grid;
mod group;
mod row;

use askama::Template;

use crate::{advice, duration, moment};
use model::published::result::ResultDocument;

use super::dashboard::Around;
use super::link::ElsewhereView;
use super::responses::Responses;
use super::script::{self, IndexScript};
use super::stamps;
use super::state::State;
use super::versions::{self, VersionLine};
use against::Section;
use cards::Cards;
use grid::Grid;
use group::Group;
use row::{Names, Row};

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
            advice: advice::sentence(result),
            git: stamps::git_words(&result.git),
            counts: counts.into_iter().filter(|it| it.1 > 0).collect(),
            versions,
            more_versions,
            links: result.links.iter().map(ElsewhereView::new).collect(),
            against: against::sections(result),
            changes: Cards::new(result, |it| !it.fails, CHANGES),
            groups: group::groups(rows),
            names,
            grid: Grid::of(result, responses),
            script_hash: script::hash(&IndexScript),
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
