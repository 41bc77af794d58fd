//! A model that judges runs: how it is asked, and what by.

use std::time::Duration;

use crate::scenario_file::model::agent::ModelAgent;

/// How a judge is reached and asked.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeSettings {
    /// The model and its API.
    pub asked: ModelAgent,
    pub form: VerdictForm,
    /// How many characters of a run it is shown.
    pub max_input_chars: usize,
}

/// How a judge is made to answer in a form that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictForm {
    /// It must call a tool whose arguments are the verdict.
    ToolCall,
    /// Its answer is JSON by a schema, for APIs that cannot force a call.
    JsonSchema,
}

/// How many characters of a run a judge is shown unless its section says otherwise.
pub const MAX_INPUT_CHARS: usize = 40_000;

/// What a score must reach unless the evaluator says otherwise.
pub const THRESHOLD: f64 = 0.7;

/// How long one vote may take, as a multiple of what one answer may: it may be asked again for a form that can be read, and what an API
/// refuses for the moment is asked again after a pause.
pub const VOTE_TIMEOUT: u32 = 3;

impl JudgeSettings {
    /// How long one vote may take.
    pub fn vote_timeout(&self) -> Duration {
        self.asked.timeout.saturating_mul(VOTE_TIMEOUT)
    }
}

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
