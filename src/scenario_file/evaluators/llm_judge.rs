//! `type: llm-judge`: what a judge judges by, criteria in plain words or a rubric.

use std::collections::HashSet;

use crate::scenario_file::decode::{
    At, Count, Decode, Fraction, NO_HINT, Named, Positive, Word, schema, section, shapes,
    wrong_kind,
};
use crate::scenario_file::yaml::{Content, Findings, Mark, Node, parse, quoted};

/// The most votes: whoever wants more has a question that nobody can answer.
const MOST_VOTES: u32 = 25;

section! {
    /// What a judge is asked, and how its answer counts.
    StandardKeys, checked by check {
        /// What must hold, in plain words: a text or several.
        criteria: Option<CriteriaSection>,
        /// What is scored, part by part: a map, or a file that holds it.
        rubric: Option<RubricSource>,
        /// How often the judge is asked, of which the majority decides; 1 unless given.
        votes: Option<At<Count>>,
        /// The lowest score that passes; 0.7 unless given.
        threshold: Option<Fraction>,
    }
}

shapes! {
    /// What must hold, in plain words.
    CriteriaSection, "text or a list of texts" {
        Text => One(Word),
        List => Several(Vec<Word>),
    }
}

shapes! {
    /// A rubric, or the file that holds it, relative to this one.
    RubricSource, "a map or the name of a file" {
        Text => File(RubricFile),
        Map => Inline(RubricSection),
    }
}

section! {
    /// What is scored, part by part.
    RubricSection, checked by check_rubric {
        /// What the rubric is called.
        id: Option<Name>,
        /// Which version of it this is.
        version: Option<Name>,
        /// What it is about.
        description: Option<String>,
        /// The parts that are scored from 0 to 1; the score of the whole is their mean by weight.
        dimensions: At<Vec<At<DimensionSection>>>,
    }
}

section! {
    /// A part that is scored.
    DimensionSection {
        /// What it is called.
        name: Word,
        /// What is asked.
        description: Option<Word>,
        /// What it counts for among the others; 1 unless given.
        weight: Option<Positive>,
        /// What some scores mean, by the score from 0 to 1.
        anchors: Option<Named<Word>>,
    }
}

/// A name or a number, as it is written.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Name(String);

impl Decode for Name {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        match &node.content {
            Content::Text(_) | Content::Number(_) => Some(Self(node.as_written())),
            _ => wrong_kind(node, "text or a number", findings),
        }
    }
}

schema!(Name, {"type": ["string", "number"]});

/// A rubric in a file of its own.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct RubricFile(Option<Box<RubricSection>>);

impl Decode for RubricFile {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let Word(name) = Word::decode(node, findings)?;
        if findings.without_files {
            return findings.refuse(
                node.at,
                "no file of this machine may be named here",
                NO_HINT,
            );
        }
        let path = findings.folder(node.at).join(&name);
        if !findings.may_name(node.at, &path) {
            return None;
        }
        if !path.is_file() {
            let message = format!("there is no file {}", quoted(&path.to_string_lossy()));
            findings.depends_on(&path);
            return findings.refuse(
                node.at,
                message,
                Some("paths are relative to the file that names them"),
            );
        }
        let source = findings.read(&path)?;
        let document = parse(source, findings)?;
        // A file of defaults may leave keys out, and the file that it names may not.
        let partial = std::mem::replace(&mut findings.partial, false);
        let rubric = RubricSection::decode(&document, findings);
        findings.partial = partial;
        rubric.map(|it| Self(Some(Box::new(it))))
    }
}

schema!(RubricFile, {"type": "string", "pattern": r"\S"});

fn check(keys: &StandardKeys, at: Mark, findings: &mut Findings) {
    match (&keys.criteria, &keys.rubric) {
        (Some(_), None) | (None, Some(_)) => {}
        (None, None) => {
            let hint = "write `criteria: The order is paid once.`, or a `rubric` with `dimensions`";
            findings.error(at, "does not say what to judge by", Some(hint));
        }
        (Some(_), Some(_)) => {
            let hint = "keep one of the two; a criterion can be a dimension of the rubric";
            findings.error(
                at,
                "`criteria` and `rubric` both say what to judge by",
                Some(hint),
            );
        }
    }
    if matches!(&keys.criteria, Some(CriteriaSection::Several(list)) if list.is_empty()) {
        findings.error(at, "`criteria` lists none", NO_HINT);
    }
    if let Some(votes) = &keys.votes {
        if votes.0 > MOST_VOTES {
            let message = format!(
                "expected a number from 1 to {MOST_VOTES}, found {}",
                votes.0
            );
            findings.error(votes.at, message, NO_HINT);
        } else if votes.0 % 2 == 0 {
            let message = "an even number of votes may be a tie, which does not pass";
            findings.warning(votes.at, message, Some("ask an odd number"));
        }
    }
}

fn check_rubric(rubric: &RubricSection, _: Mark, findings: &mut Findings) {
    if rubric.dimensions.is_empty() {
        findings.error(rubric.dimensions.at, "lists no dimension", NO_HINT);
    }
    let mut seen = HashSet::new();
    for dimension in rubric.dimensions.iter() {
        if !seen.insert(&dimension.name.0) {
            let message = format!("the dimension {} is there twice", quoted(&dimension.name.0));
            findings.error(dimension.at, message, NO_HINT);
        }
        for (score, _) in dimension.anchors.iter().flat_map(|it| &it.0) {
            if anchored(&score.value).is_none() {
                let message = format!("{} is not a score from 0 to 1", quoted(&score.value));
                let hint = "anchors say what scores mean: `anchors: { 1: all of it, 0: nothing }`";
                findings.error(score.at, message, Some(hint));
            }
        }
    }
}

/// The score that an anchor stands for.
fn anchored(written: &str) -> Option<f64> {
    let score = written.trim().parse().ok()?;
    (0.0..=1.0).contains(&score).then_some(score)
}

impl StandardKeys {
    /// What is asked; `None` where it is wrong, which was said.
    pub(in crate::scenario_file) fn judge(&self) -> Option<LlmJudge> {
        let standard = match (&self.criteria, &self.rubric) {
            (Some(CriteriaSection::One(text)), _) => Standard::Criteria(vec![text.0.clone()]),
            (Some(CriteriaSection::Several(list)), _) => {
                Standard::Criteria(list.iter().map(|it| it.0.clone()).collect())
            }
            (None, Some(RubricSource::Inline(rubric))) => Standard::Rubric(rubric.rubric()),
            (None, Some(RubricSource::File(RubricFile(rubric)))) => {
                Standard::Rubric(rubric.as_ref()?.rubric())
            }
            (None, None) => return None,
        };
        Some(LlmJudge {
            standard,
            votes: self.votes.as_ref().map_or(1, |it| it.0),
            threshold: self.threshold.map_or(THRESHOLD, |it| it.0),
        })
    }
}

impl RubricSection {
    fn rubric(&self) -> Rubric {
        let dimensions = self.dimensions.iter().map(|it| Dimension {
            name: it.name.0.clone(),
            asks: it.description.as_ref().map(|it| it.0.clone()),
            weight: it.weight.map_or(1.0, |it| it.0),
            anchors: it
                .anchors
                .iter()
                .flat_map(|it| &it.0)
                .filter_map(|(score, means)| {
                    Some(Anchor {
                        score: anchored(&score.value)?,
                        means: means.0.clone(),
                    })
                })
                .collect(),
        });
        Rubric {
            id: self.id.as_ref().map(|it| it.0.clone()),
            version: self.version.as_ref().map(|it| it.0.clone()),
            about: self.description.clone(),
            dimensions: dimensions.collect(),
        }
    }
}

/// What a score must reach unless the evaluator says otherwise.
pub const THRESHOLD: f64 = 0.7;

/// What a judge is asked about a run.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmJudge {
    pub standard: Standard,
    /// How often it is asked; the majority decides.
    pub votes: u32,
    /// The lowest score that passes, 0 to 1.
    pub threshold: f64,
}

/// What a run is measured by.
#[derive(Debug, Clone, PartialEq)]
pub enum Standard {
    /// Plain words, one sentence or several.
    Criteria(Vec<String>),
    Rubric(Rubric),
}

/// What a run is measured by, in parts that are scored one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct Rubric {
    pub id: Option<String>,
    pub version: Option<String>,
    /// What it is about, for the judge.
    pub about: Option<String>,
    /// At least one, with different names.
    pub dimensions: Vec<Dimension>,
}

/// One thing that is scored.
#[derive(Debug, Clone, PartialEq)]
pub struct Dimension {
    pub name: String,
    /// What is asked.
    pub asks: Option<String>,
    /// What its score counts for among the others; above 0.
    pub weight: f64,
    /// What some scores mean.
    pub anchors: Vec<Anchor>,
}

/// What a score means.
#[derive(Debug, Clone, PartialEq)]
pub struct Anchor {
    /// 0 to 1.
    pub score: f64,
    pub means: String,
}

impl LlmJudge {
    /// Criteria in plain words, asked once, with the usual threshold.
    pub fn of_criteria(criteria: Vec<String>) -> Self {
        Self {
            standard: Standard::Criteria(criteria),
            votes: 1,
            threshold: THRESHOLD,
        }
    }

    /// All texts of the author's that say what is judged by.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        match &mut self.standard {
            Standard::Criteria(criteria) => criteria.iter_mut().collect(),
            Standard::Rubric(rubric) => {
                let dimensions = rubric.dimensions.iter_mut();
                let texts = dimensions.flat_map(|it| {
                    let anchors = it.anchors.iter_mut().map(|it| &mut it.means);
                    it.asks.iter_mut().chain(anchors)
                });
                rubric.about.iter_mut().chain(texts).collect()
            }
        }
    }

    /// What is judged by, in a few words.
    pub fn words(&self) -> String {
        match &self.standard {
            Standard::Criteria(criteria) => criteria.join("; "),
            Standard::Rubric(Rubric { id, version, .. }) => match (id, version) {
                (Some(id), Some(version)) => format!("rubric {id} {version}"),
                (Some(id), None) => format!("rubric {id}"),
                (None, _) => "a rubric".to_owned(),
            },
        }
    }
}

impl Standard {
    /// The parts that are scored one by one; none for criteria in plain words.
    pub fn dimensions(&self) -> &[Dimension] {
        match self {
            Self::Criteria(_) => &[],
            Self::Rubric(rubric) => &rubric.dimensions,
        }
    }
}
