//! What runs write themselves: builds, logs, databases. Taken for a change, it would make them run for ever.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How many runs in a row a file may change in before it is taken for something that runs write.
const MOST: u32 = 3;

/// What runs write.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// In how many rounds in a row a file has changed.
    rounds: BTreeMap<PathBuf, u32>,
    /// What has changed in this round.
    in_round: BTreeSet<PathBuf>,
    /// What was taken for its work in this round.
    by_round: BTreeSet<PathBuf>,
}

impl Written {
    /// Takes note of a file that has changed while a round goes on, and says whether the round has written it: it looks like that at once
    /// (`is_likely`), or it was the same in the rounds before.
    pub(super) fn takes(&mut self, file: &Path, is_likely: bool) -> bool {
        if self.in_round.insert(file.to_owned()) {
            *self.rounds.entry(file.to_owned()).or_default() += 1;
        }
        if is_likely || self.rounds[file] >= MOST {
            self.by_round.insert(file.to_owned());
        }
        self.by_round.contains(file)
    }

    /// Ends a round; the files that are from now on taken for the work of runs.
    pub(super) fn end_round(&mut self) -> Vec<PathBuf> {
        self.rounds.retain(|it, _| self.in_round.contains(it));
        self.by_round.clear();
        let changed = std::mem::take(&mut self.in_round).into_iter();
        changed.filter(|it| self.rounds[it] == MOST).collect()
    }
}
