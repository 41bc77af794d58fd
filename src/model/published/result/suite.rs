//! Retries, quarantine, gates and links of a suite file in the published result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ResultDocument;
use crate::Status;

/// The suite file that the command followed, and what became of its gates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteOf {
    /// What `--suite` calls it.
    pub name: String,
    /// The file.
    pub path: String,
    /// The scenarios that it lets decide nothing until a day, whether they are in this part of it or not; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<Vec<QuarantineOf>>,
    /// The bounds for all scenarios, then those for the scenarios with a tag.
    pub gates: Vec<SuiteGate>,
}

/// A bound that scenarios must keep together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteGate {
    pub what: GateKind,
    /// The tag of the scenarios that it is about; `null` for all of them.
    pub tag: Option<String>,
    /// The bound: a share from 0 to 1, a sum of money, or milliseconds.
    pub bound: f64,
    /// What they came to; `null` where that is not known.
    pub value: Option<f64>,
    pub state: GateState,
    /// All of that in a sentence.
    pub sentence: String,
}

/// What a bound is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// The lowest share of scenarios that passes.
    MinPassRate,
    /// What the requests to models may cost together.
    MaxCost,
    /// How long it may take.
    MaxDuration,
}

/// What became of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateState {
    /// It was kept, or just reached.
    Kept,
    Broken,
    /// What is known does not decide it.
    Unknown,
    /// The result is of a part of the suite: `merge` decides it for all.
    Open,
}

/// A scenario that a suite file lets decide nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct QuarantineOf {
    /// Its id; its name where the selected scenarios have none that is called so.
    pub scenario: String,
    /// The last day, in UTC.
    #[schemars(extend("format" = "date"))]
    pub until: String,
}

/// Why a scenario decides nothing, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quarantine {
    pub reason: String,
    /// The last day, in UTC.
    #[schemars(extend("format" = "date"))]
    pub until: String,
    /// That day had passed, so the scenario decided as any other; absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_over: bool,
}

impl ResultDocument {
    /// Says of the scenarios that failed which of them a `min_pass_rate` lets fail, because it is kept all the same, and which of them it
    /// leaves to `merge`, because it is decided for all parts together.
    pub fn mark_within_gates(&mut self) {
        let gates = self.suite.iter().flat_map(|it| &it.gates);
        let shares: Vec<&SuiteGate> = gates
            .filter(|it| it.what == GateKind::MinPassRate)
            .collect();
        for scenario in &mut self.scenarios {
            let tags = &scenario.tags;
            let about = shares.iter();
            let about = about.filter(|it| it.tag.as_ref().is_none_or(|tag| tags.contains(tag)));
            let about: Vec<_> = about.collect();
            let fails = scenario.status == Status::Failed && !scenario.is_quarantined();
            let all_are = |state: GateState| {
                let are = fails && !about.is_empty() && about.iter().all(|it| it.state == state);
                are.then(|| {
                    let sentences = about.iter().map(|it| it.sentence.as_str());
                    sentences.collect::<Vec<&str>>().join("; ")
                })
            };
            scenario.within_gate = all_are(GateState::Kept);
            scenario.left_to_merge = all_are(GateState::Open);
        }
    }
}

impl GateKind {
    /// What a suite file calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::MinPassRate => "min_pass_rate",
            Self::MaxCost => "max_cost",
            Self::MaxDuration => "max_duration",
        }
    }
}

impl Quarantine {
    /// In a sentence.
    pub fn words(&self) -> String {
        let Self { reason, until, .. } = self;
        if self.is_over {
            format!("quarantined until {until}, which is over: it decides again ({reason})")
        } else {
            format!("quarantined until {until}: it decides nothing ({reason})")
        }
    }
}

/// A page elsewhere that belongs to the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// What it leads to: `commit`, `pull request`, `CI job`, or what the user calls it.
    pub name: String,
    pub url: String,
}

impl Link {
    /// Whether the address names host and path with nothing odd: no user, no blanks, nothing that would have to be encoded. No other is
    /// made a link of.
    pub fn is_plain_https(&self) -> bool {
        let Some(rest) = self.url.strip_prefix("https://") else {
            return false;
        };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let is_host = |it: char| it.is_ascii_alphanumeric() || ".-:".contains(it);
        let is_plain = |it: char| it.is_ascii_graphic() && !"\"'<>\\^`{|}".contains(it);
        !host.is_empty() && host.chars().all(is_host) && rest.chars().all(is_plain)
    }
}

#[cfg(test)]
mod tests {
    use super::Link;

    #[test]
    fn only_plain_https_addresses_are_links() {
        for (url, expected) in [
            ("https://ci.example.org:8443/job/7?x=1#y", true),
            ("http://ci.example.org/", false),
            ("javascript:alert(1)", false),
            ("https://jane:secret@example.org/", false),
            ("https://", false),
            ("https://example.org/\"><script>", false),
            ("https://example.org/a b", false),
            ("https://example.org/\u{202e}", false),
        ] {
            let link = Link {
                name: "job".to_owned(),
                url: url.to_owned(),
            };
            assert_eq!(link.is_plain_https(), expected, "{url}");
        }
    }
}
