//! Figures of a measurement: how good a ranking is, the means over queries, and how much they say.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

use crate::model::Interval;

pub(super) use crate::model::number::count;

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

/// An interval as it is written.
pub fn ends(interval: Interval) -> [f64; 2] {
    [interval.low, interval.high]
}

/// The mean; 0 of nothing. The sum goes from the first value to the last: any other order may end in another last digit.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let mut sum = 0.0;
    for value in values {
        sum += value;
    }
    sum / count(values.len())
}

/// The standard deviation of a whole population; 0 of nothing.
pub fn population_deviation(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares: Vec<f64> = values
        .iter()
        .map(|it| (it - middle) * (it - middle))
        .collect();
    mean(&squares).sqrt()
}

/// Where a share lies, of which `hits` of `of` were seen; `None` of nothing.
pub fn wilson(hits: usize, of: usize) -> Option<Interval> {
    (of > 0).then(|| Interval::wilson(count(hits), count(of)))
}

/// The same of what several runs came to on average.
pub(super) fn wilson_of(hits: f64, of: f64) -> Option<Interval> {
    (of > 0.0).then(|| Interval::wilson(hits, of))
}

/// How many cases it takes, none of them a hit, for [`wilson`]'s upper end to be no higher than `ceiling`; `None` where no number is enough.
pub fn cases_below(ceiling: f64) -> Option<usize> {
    least(|of| wilson(0, of).is_some_and(|it| it.high <= ceiling))
}

/// How many cases it takes, all of them hits, for [`wilson`]'s lower end to be no lower than `floor`; `None` where no number is enough.
pub fn cases_above(floor: f64) -> Option<usize> {
    least(|of| wilson(of, of).is_some_and(|it| it.low >= floor))
}

/// The least number up to a million for which something holds that goes on holding.
fn least(holds: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (0, 1_000_000);
    if !holds(high) {
        return None;
    }
    while low + 1 < high {
        let middle = usize::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// Numbers that look random and are the same every time: `splitmix64`.
#[derive(Debug, Clone)]
struct Draws(u64);

impl Draws {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next()) * (end as u128);
        usize::try_from(wide >> 64).unwrap_or(0)
    }
}

/// What everything is drawn from.
const SEED: u64 = 2026;

/// How many samples are drawn at most, and at least, for an interval.
const MOST_SAMPLES: usize = 10_000;
const FEWEST_SAMPLES: usize = 1_000;
/// About how many values are drawn for one interval.
const DRAWN: usize = 2_000_000;

/// Where the mean lies, by drawing as many values again, with replacement, many times; `None` of nothing.
pub fn bootstrap(values: &[f64]) -> Option<Interval> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let here = mean(values);
    let samples = (DRAWN / n).clamp(FEWEST_SAMPLES, MOST_SAMPLES);
    let mut draws = Draws::new(SEED);
    let mut averages: Vec<f64> = (0..samples)
        .map(|_| {
            let mut sum = 0.0;
            for _ in 0..n {
                sum += values[draws.below(n)];
            }
            sum / count(n)
        })
        .collect();
    averages.sort_unstable_by(f64::total_cmp);
    // The same number of samples is left out on both sides.
    let out = samples / 40;
    Some(Interval::of_95(
        averages[out].min(here),
        averages[samples - 1 - out].max(here),
    ))
}

/// How likely it is that a difference at least as large comes about by chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Randomised {
    /// Two-sided.
    pub p: f64,
    /// Every assignment was tried, none drawn.
    pub is_exact: bool,
}

/// The most differences of which every assignment of signs is tried.
const MOST_EXACT: usize = 20;
/// How many assignments are drawn of more.
const FLIPS: usize = 100_000;

/// The paired randomisation test of the differences of two runs over the same queries: were the runs alike, each difference would be as likely
/// with the other sign. Differences of zero have none and are left out.
pub fn randomisation(differences: &[f64]) -> Randomised {
    let differing: Vec<f64> = differences
        .iter()
        .copied()
        .filter(|it| *it != 0.0)
        .collect();
    let sum = |values: &[f64]| values.iter().fold(0.0, |sum: f64, it| sum + it);
    let size: f64 = sum(&differing.iter().map(|it| it.abs()).collect::<Vec<_>>());
    // Sums that are equal may differ in their last digits, by the order of their parts.
    let bound = sum(&differing).abs() - size * 1e-12;
    if differing.len() <= MOST_EXACT {
        let reached = count_reaching(&differing, 0.0, bound);
        let all = 1_usize << differing.len();
        return Randomised {
            p: count(reached) / count(all),
            is_exact: true,
        };
    }
    let mut draws = Draws::new(SEED);
    let mut reached = 0;
    for _ in 0..FLIPS {
        let mut flipped = 0.0;
        for part in differing.chunks(64) {
            let mut signs = draws.next();
            for it in part {
                flipped += if signs & 1 == 0 { *it } else { -*it };
                signs >>= 1;
            }
        }
        if f64::abs(flipped) >= bound {
            reached += 1;
        }
    }
    Randomised {
        p: count(reached + 1) / count(FLIPS + 1),
        is_exact: false,
    }
}

/// How many assignments of signs to these values add to a sum at least as far from 0 as `bound`.
fn count_reaching(values: &[f64], sum: f64, bound: f64) -> usize {
    match values.split_first() {
        None => usize::from(sum.abs() >= bound),
        Some((first, rest)) => {
            count_reaching(rest, sum + first, bound) + count_reaching(rest, sum - first, bound)
        }
    }
}

/// The same probabilities where several are looked at together, in the order given: each is raised so far that the chance of taking any
/// of them wrongly for a difference stays what it was for one.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut adjusted = vec![0.0; probabilities.len()];
    let mut highest: f64 = 0.0;
    for (at, index) in order.into_iter().enumerate() {
        let raised = probabilities[index] * count(probabilities.len() - at);
        highest = highest.max(raised.min(1.0));
        adjusted[index] = highest;
    }
    adjusted
}

/// How likely it is that two detectors that are equally good differ at least so much: `only_first` cases only the first got right,
/// `only_second` only the second. Two-sided and exact.
pub fn mcnemar(only_first: usize, only_second: usize) -> f64 {
    let all = only_first + only_second;
    let fewer = only_first.min(only_second);
    // The logarithm of each binomial coefficient by the one before it: of many cases, 0.5^n itself is too small for a float.
    let mut ways: f64 = 0.0;
    let half = count(all) * 0.5_f64.ln();
    let mut sum = 0.0;
    for at in 0..=fewer {
        if at > 0 {
            ways += (count(all - at + 1) / count(at)).ln();
        }
        sum += (ways + half).exp();
    }
    (2.0 * sum).min(1.0)
}

/// The value below which, or at which, the share `of` of the values lies, by nearest rank; `None` of nothing.
pub fn quantile(values: &[f64], of: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (of * count(sorted.len())).ceil();
    let at = (0..sorted.len()).find(|it| count(it + 1) >= rank)?;
    sorted.get(at).copied()
}
