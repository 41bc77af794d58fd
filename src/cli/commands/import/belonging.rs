//! Which scenario a recording belongs to.

use std::path::{Path, PathBuf};

use crate::cli::scenario_name::SCENARIOS;
use crate::model::redaction::Redaction;
use crate::model::scenario::Scenario;
use crate::scenario_file::{self, Options};

/// How the original tool ends the name of a baseline's folder.
const BASELINE: &str = "_baseline";

/// The scenarios that recordings may belong to.
#[derive(Default)]
pub(super) struct Scenarios {
    known: Vec<Known>,
}

struct Known {
    id: String,
    path: PathBuf,
    /// `None` where the file is not valid: then its name alone is known.
    scenario: Option<Scenario>,
}

/// What a recording says of itself.
pub(super) struct Recorded<'a> {
    /// The folder it lies in, as seen from where recordings were looked for.
    pub(super) folder: &'a str,
    pub(super) name: Option<&'a str>,
    pub(super) intent: Option<&'a str>,
}

/// The scenario that a recording belongs to.
pub(super) struct Belonging<'a> {
    pub(super) id: &'a str,
    pub(super) path: &'a Path,
    pub(super) redaction: Redaction,
    /// What shows it.
    pub(super) because: Evidence,
}

/// What shows that a recording belongs to a scenario, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    NameAndIntent,
    Folder,
    Name,
    Intent,
}

impl Evidence {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::NameAndIntent => "its name and what it asks",
            Self::Folder => "the name of its folder",
            Self::Name => "its name",
            Self::Intent => "what it asks",
        }
    }
}

impl Scenarios {
    /// Those of the working directory, if it has any.
    pub(super) fn here() -> Self {
        if !Path::new(SCENARIOS).is_dir() {
            return Self::default();
        }
        let (found, _) = scenario_file::find(&[PathBuf::from(SCENARIOS)]);
        let loaded = scenario_file::load(&found, &Options::default());
        let mut scenarios = loaded.scenarios;
        let known = found.into_iter().map(|found| {
            let at = scenarios.iter().position(|it| it.id == found.id);
            Known {
                scenario: at.map(|at| scenarios.swap_remove(at)),
                id: found.id,
                path: found.path,
            }
        });
        Self {
            known: known.collect(),
        }
    }

    pub(super) fn are_none(&self) -> bool {
        self.known.is_empty()
    }

    /// The scenario of a recording: the only one with its name and what it asks, else the one whose file is called like its folder, else the
    /// only one with its name, or that asks the same.
    pub(super) fn of(&self, recorded: &Recorded<'_>) -> Option<Belonging<'_>> {
        let is_called = |it: &Scenario| {
            recorded
                .name
                .is_some_and(|name| name.trim() == it.name.trim())
        };
        let asks = |it: &Scenario| {
            let asked = it.user_intent.as_deref().map(words);
            asked.is_some() && asked == recorded.intent.map(words)
        };
        let with = |fits: &dyn Fn(&Scenario) -> bool| {
            self.only(&|it| it.scenario.as_ref().is_some_and(fits))
        };
        let folder = own_folder(recorded.folder);
        let of_folder = || {
            self.only(&|it| it.id == folder)
                .or_else(|| self.only(&|it| last(&it.id) == last(&folder)))
        };
        let (known, because) = with(&|it| is_called(it) && asks(it))
            .map(|it| (it, Evidence::NameAndIntent))
            .or_else(|| Some((of_folder()?, Evidence::Folder)))
            .or_else(|| Some((with(&is_called)?, Evidence::Name)))
            .or_else(|| Some((with(&asks)?, Evidence::Intent)))?;
        Some(Belonging {
            id: &known.id,
            path: &known.path,
            redaction: (known.scenario.as_ref())
                .map(|it| it.redaction.clone())
                .unwrap_or_default(),
            because,
        })
    }

    /// The scenario that fits, where no other does.
    fn only(&self, fits: &dyn Fn(&Known) -> bool) -> Option<&Known> {
        let mut fitting = self.known.iter().filter(|it| fits(it));
        let first = fitting.next()?;
        fitting.next().is_none().then_some(first)
    }
}

/// The folder of a recording as its scenario may be called: `x_baseline/x_baseline`, as the original tool has it, becomes `x`.
pub(super) fn own_folder(folder: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    if let [.., above, last] = parts.as_slice()
        && above == last
    {
        parts.pop();
    }
    if let Some(last) = parts.last_mut() {
        let bare = last.strip_suffix(BASELINE).filter(|it| !it.is_empty());
        *last = bare.unwrap_or(last);
    }
    parts.join("/")
}

fn last(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

/// A text as people read it: line breaks and spaces make no difference.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::own_folder;

    #[test]
    fn folders_of_the_original_tool_are_called_as_their_scenarios() {
        for (folder, scenario) in [
            ("search_baseline/search_baseline", "search"),
            ("search/search", "search"),
            ("search", "search"),
            ("team/search_baseline", "team/search"),
            ("_baseline", "_baseline"),
            ("a/b", "a/b"),
        ] {
            assert_eq!(own_folder(folder), scenario);
        }
    }
}
