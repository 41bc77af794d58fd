//! How good the ranking is that a search answered to one query, and the means over queries.
//!
//! The formulas are those of `trec_eval` and `ir_measures`, each sum from the first rank to the last, so that the figures are the same to the last
//! digit. `R` is the number of relevant labels: those of grade 1 or 2. Of a query without any, every figure is 0.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

use super::statistics::{count, mean};

/// After how many ids a ranking is cut for the figures that are given at several cuts.
pub const CUTS: [usize; 4] = [1, 3, 5, 10];

/// How many ids are looked at.
pub const DEPTH: usize = 10;

/// The grades of the labelled ids of one query: 0 not relevant, 1 relevant, 2 what was wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grades(HashMap<String, u8, FixedState>);

impl Grades {
    /// Of an id that is labelled twice, the last grade counts.
    pub fn new<I: Into<String>>(labels: impl IntoIterator<Item = (I, u8)>) -> Self {
        Self(
            labels
                .into_iter()
                .map(|(id, grade)| (id.into(), grade))
                .collect(),
        )
    }

    /// The grade of an id; 0 where it has no label.
    pub fn of(&self, id: &str) -> u8 {
        self.0.get(id).copied().unwrap_or(0)
    }

    pub fn is_labelled(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// How many ids are relevant.
    pub fn relevant(&self) -> usize {
        self.0.values().filter(|it| **it >= 1).count()
    }

    /// The same where only grade 2 counts.
    #[must_use]
    pub fn only_wanted(&self) -> Self {
        let wanted = self.0.iter().filter(|(_, grade)| **grade >= 2);
        Self(wanted.map(|(id, grade)| (id.clone(), *grade)).collect())
    }

    /// The grades of the best possible ranking, as far as it is looked at.
    fn ideal(&self) -> Vec<u8> {
        let mut grades: Vec<u8> = self.0.values().copied().collect();
        grades.sort_unstable_by(|a, b| b.cmp(a));
        grades.truncate(DEPTH);
        grades
    }
}

/// The ids of a corpus.
#[derive(Debug, Clone, Default)]
pub struct Ids(HashSet<String, FixedState>);

impl Ids {
    pub fn new<I: Into<String>>(ids: impl IntoIterator<Item = I>) -> Self {
        Self(ids.into_iter().map(Into::into).collect())
    }

    pub fn contains(&self, id: &str) -> bool {
        self.0.contains(id)
    }
}

/// An answer as a ranking of the corpus.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranking<'a> {
    /// Ids of the corpus in the order of the answer, each once.
    pub ids: Vec<&'a str>,
    /// Where in the answer each of them stands, from 0.
    pub places: Vec<usize>,
    /// Answered, and not in the corpus.
    pub unmapped: Vec<&'a str>,
    /// Answered before; an id counts where it stands first.
    pub repeated: Vec<&'a str>,
}

impl<'a> Ranking<'a> {
    pub fn new<S: AsRef<str>>(answered: &'a [S], corpus: &Ids) -> Self {
        let mut ranking = Self::default();
        let mut seen: HashSet<&str, FixedState> =
            HashSet::with_capacity_and_hasher(answered.len(), FixedState::default());
        for (at, id) in answered.iter().enumerate() {
            let id = id.as_ref();
            if !seen.insert(id) {
                ranking.repeated.push(id);
            } else if corpus.contains(id) {
                ranking.ids.push(id);
                ranking.places.push(at);
            } else {
                ranking.unmapped.push(id);
            }
        }
        ranking
    }

    /// What was answered, each at its place, also what takes no rank: an id that was there before counts for nothing there.
    pub fn as_answered<S: AsRef<str>>(answered: &'a [S]) -> Vec<&'a str> {
        let mut seen = HashSet::new();
        let ids = answered.iter().map(AsRef::as_ref);
        ids.map(|it| if seen.insert(it) { it } else { "" })
            .collect()
    }

    /// The ids that are looked at.
    pub fn top(&self) -> &[&'a str] {
        &self.ids[..self.ids.len().min(DEPTH)]
    }
}

/// Figures at each of [`CUTS`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AtCuts(pub [f64; CUTS.len()]);

impl AtCuts {
    /// The figure at one of [`CUTS`]; 0 at any other cut.
    pub fn at(&self, cut: usize) -> f64 {
        let at = CUTS.iter().position(|it| *it == cut);
        at.map_or(0.0, |it| self.0[it])
    }

    fn of(figure: impl Fn(usize) -> f64) -> Self {
        Self(CUTS.map(figure))
    }
}

/// What one ranking is worth, every figure from 0 to 1; or the means over many.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// The share of the relevant ids that stand before the cut.
    pub recall: AtCuts,
    /// 1 where any relevant id stands before the cut.
    pub hit: AtCuts,
    /// 1 where all of them do.
    pub complete: AtCuts,
    /// 1 / rank of the first relevant id.
    pub mrr: f64,
    /// Gain by grade.
    pub ndcg: f64,
    /// Gain 2^grade − 1.
    pub ndcg_exp: f64,
    /// Average precision.
    pub ap: f64,
}

/// The figures of one ranking.
pub fn figures(ids: &[&str], grades: &Grades) -> Figures {
    let ids = &ids[..ids.len().min(DEPTH)];
    let ranked: Vec<u8> = ids.iter().map(|it| grades.of(it)).collect();
    let relevant = grades.relevant();
    if relevant == 0 {
        return Figures::default();
    }
    let found = |cut: usize| ranked.iter().take(cut).filter(|it| **it >= 1).count();
    let is_so = |it: bool| if it { 1.0 } else { 0.0 };
    let ideal = grades.ideal();
    Figures {
        recall: AtCuts::of(|cut| count(found(cut)) / count(relevant)),
        hit: AtCuts::of(|cut| is_so(found(cut) > 0)),
        complete: AtCuts::of(|cut| is_so(found(cut) == relevant)),
        mrr: reciprocal_rank(&ranked),
        ndcg: discounted(&ranked, linear) / discounted(&ideal, linear),
        ndcg_exp: discounted(&ranked, exponential) / discounted(&ideal, exponential),
        ap: precisions(&ranked) / count(relevant),
    }
}

fn reciprocal_rank(ranked: &[u8]) -> f64 {
    let first = ranked.iter().position(|it| *it >= 1);
    first.map_or(0.0, |it| 1.0 / count(it + 1))
}

/// The sum of the precisions at every relevant rank.
fn precisions(ranked: &[u8]) -> f64 {
    let mut found = 0;
    let mut sum = 0.0;
    for (at, grade) in ranked.iter().enumerate() {
        if *grade >= 1 {
            found += 1;
            sum += count(found) / count(at + 1);
        }
    }
    sum
}

fn linear(grade: u8) -> f64 {
    f64::from(grade)
}

fn exponential(grade: u8) -> f64 {
    f64::from((1_u32 << grade.min(31)) - 1)
}

/// Discounted cumulative gain: each gain divided by log2(rank + 1).
fn discounted(grades: &[u8], gain: fn(u8) -> f64) -> f64 {
    let mut sum = 0.0;
    for (at, grade) in grades.iter().enumerate() {
        sum += gain(*grade) / count(at + 2).log2();
    }
    sum
}

/// The means of figures; of none, all are 0.
pub fn means(all: &[Figures]) -> Figures {
    let of = |figure: &dyn Fn(&Figures) -> f64| {
        let values: Vec<f64> = all.iter().map(figure).collect();
        mean(&values)
    };
    let cuts = |figure: fn(&Figures) -> &AtCuts| AtCuts::of(|cut| of(&|it| figure(it).at(cut)));
    Figures {
        recall: cuts(|it| &it.recall),
        hit: cuts(|it| &it.hit),
        complete: cuts(|it| &it.complete),
        mrr: of(&|it| it.mrr),
        ndcg: of(&|it| it.ndcg),
        ndcg_exp: of(&|it| it.ndcg_exp),
        ap: of(&|it| it.ap),
    }
}

/// The worst and the best case of a ranking in which neighbours with equal scores could as well stand the other way round. `scores` belong
/// to `ids`. `None` where no such group that is looked at holds ids of different grades, so that nothing depends on it.
pub fn ties(ids: &[&str], scores: &[Option<f64>], grades: &Grades) -> Option<(Figures, Figures)> {
    let mut best: Vec<&str> = Vec::with_capacity(ids.len());
    let mut worst = Vec::with_capacity(ids.len());
    let mut matters = false;
    let mut start = 0;
    while start < ids.len() {
        let score = scores.get(start).copied().flatten();
        let mut end = start + 1;
        while end < ids.len()
            && score.is_some()
            && scores.get(end).copied().flatten().map(f64::to_bits) == score.map(f64::to_bits)
        {
            end += 1;
        }
        let mut group = ids[start..end].to_vec();
        let differs = group.iter().any(|it| grades.of(it) != grades.of(group[0]));
        matters |= differs && start < DEPTH;
        group.sort_by_key(|it| Reverse(grades.of(it)));
        best.extend(&group);
        worst.extend(group.iter().rev());
        start = end;
    }
    matters.then(|| (figures(&worst, grades), figures(&best, grades)))
}
