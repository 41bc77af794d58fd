//! Causes as they are found: what has one cause is merged into it.

use std::collections::{HashMap, HashSet};

use super::draft::Draft;
use super::key::Key;

/// The causes that are known so far, in the order of the first sight of each.
#[derive(Default)]
pub(super) struct Found {
    drafts: Vec<Draft>,
    /// Where in `drafts` the cause of a key is.
    by_key: HashMap<Key, usize>,
}

impl Found {
    /// Adds a cause, or merges it with the one of the same key; returns where that is.
    pub(super) fn add(&mut self, draft: Draft) -> usize {
        if let Some(at) = self.by_key.get(&draft.key) {
            self.drafts[*at].merge(draft);
            return *at;
        }
        let at = self.drafts.len();
        self.by_key.insert(draft.key.clone(), at);
        self.drafts.push(draft);
        at
    }

    pub(super) fn drafts(&self) -> &[Draft] {
        &self.drafts
    }

    pub(super) fn drafts_mut(&mut self) -> &mut [Draft] {
        &mut self.drafts
    }

    pub(super) fn into_drafts(self) -> Vec<Draft> {
        self.drafts
    }

    /// The causes of several scenarios: one that elsewhere follows from another is put beneath that.
    pub(super) fn into_causes(self) -> Vec<Draft> {
        let mut roots: Vec<Draft> = Vec::new();
        let mut rest: Vec<Option<Draft>> = self.drafts.into_iter().map(Some).collect();
        let same: HashSet<Key> = rest
            .iter()
            .flatten()
            .flat_map(|it| it.same.keys().cloned())
            .collect();
        let beneath: Vec<Draft> = (rest.iter_mut())
            .filter_map(|it| it.take_if(|it| same.contains(&it.key)))
            .collect();
        roots.extend(rest.into_iter().flatten());
        for draft in beneath {
            let mut linked = roots.iter_mut();
            match linked.find_map(|it| Some((it.same_elsewhere(&draft)?, it))) {
                Some((how, root)) => root.take_in(draft, how),
                None => roots.push(draft),
            }
        }
        roots
    }
}

#[cfg(test)]
mod tests {
    use super::{Draft, Found};
    use model::published::result::CauseKind;

    #[test]
    fn what_has_one_cause_is_found_where_that_is() {
        let mut found = Found::default();
        let said = ["`a` fails", "`b` is gone", "`a` fails"];
        let at = said.map(|it| found.add(Draft::new("s", CauseKind::Error, None, it.to_owned())));
        assert_eq!(at, [0, 1, 0]);
        assert_eq!(found.into_drafts().len(), 2);
    }
}
