//! What the comparison of two responses found, in bounded memory.

use crate::values::number::{ALMOST, count};
use model::comparison::{ContractChange, Difference};

/// The most differences of one response that are kept one by one; the smaller ones beyond are summed up in one.
const DIFFERENCES: usize = 100;
/// The most contract changes of one response that are kept.
const CONTRACT_CHANGES: usize = 100;

/// The similarity that a response with any contract change is capped at.
pub(super) const CAP: f64 = 0.5;

/// Differences and contract changes as they are met.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    differences: Vec<Noted>,
    /// Contract changes beyond the kept ones are only counted.
    contract_changes: Vec<ContractChange>,
    more_contract_changes: usize,
    /// Differences beyond the kept ones, and those of them that break the contract.
    more: usize,
    more_breaking: usize,
    more_loss: f64,
    /// Of the smallest kept difference, whether it breaks the contract, and its loss. Smaller differences are not kept.
    least: Option<(bool, f64)>,
}

#[derive(Debug)]
struct Noted {
    difference: Difference,
    breaks_contract: bool,
}

impl Findings {
    /// Counts a difference that would not be kept; false where it may be kept and has to be noted.
    pub(super) fn pass_over(&mut self, loss: f64, breaks_contract: bool) -> bool {
        if self.keeps(loss, breaks_contract) {
            return false;
        }
        self.more_contract_changes += usize::from(breaks_contract);
        self.more_breaking += usize::from(breaks_contract);
        self.more += 1;
        self.more_loss += loss;
        true
    }

    fn keeps(&self, loss: f64, breaks_contract: bool) -> bool {
        (self.least).is_none_or(|least| (breaks_contract, loss) > least)
            || (breaks_contract && self.contract_changes.len() < CONTRACT_CHANGES)
    }

    /// Notes a difference, and with `contract` also a change of the contract, in words.
    pub(super) fn note(&mut self, difference: Difference, contract: Option<&str>) {
        if let Some(what) = contract {
            if self.contract_changes.len() < CONTRACT_CHANGES {
                self.contract_changes.push(ContractChange {
                    path: difference.path.clone(),
                    what: what.to_owned(),
                });
            } else {
                self.more_contract_changes += 1;
            }
        }
        self.differences.push(Noted {
            difference,
            breaks_contract: contract.is_some(),
        });
        if self.differences.len() >= 4 * DIFFERENCES {
            self.keep_the_largest();
        }
    }

    fn keep_the_largest(&mut self) {
        // A stable sort, so that of equal losses the first stay.
        self.differences.sort_by(|a, b| {
            let breaks = b.breaks_contract.cmp(&a.breaks_contract);
            breaks.then(b.difference.loss.total_cmp(&a.difference.loss))
        });
        for it in self
            .differences
            .drain(DIFFERENCES.min(self.differences.len())..)
        {
            self.more += 1;
            self.more_breaking += usize::from(it.breaks_contract);
            self.more_loss += it.difference.loss;
        }
        let last = self.differences.last();
        self.least = last.map(|it| (it.breaks_contract, it.difference.loss));
    }

    /// Takes the similarity as it is, and spreads what it lost evenly: over the changes of the contract where there are any, else over all
    /// differences.
    pub(super) fn finish_evenly(mut self, similarity: f64) -> model::comparison::ResponseScore {
        let breaks = self.differences.iter().any(|it| it.breaks_contract);
        let mut costly: Vec<&mut Noted> = (self.differences.iter_mut())
            .filter(|it| it.breaks_contract || !breaks)
            .collect();
        let more = if breaks {
            self.more_breaking
        } else {
            self.more
        };
        let each = (1.0 - similarity) / count((costly.len() + more).max(1));
        for it in &mut costly {
            it.difference.loss = each;
        }
        self.more_loss = each * count(more);
        self.finish(similarity)
    }

    /// Caps the similarity if the contract changed, and spreads what the cap costs over the changes that caused it.
    pub(super) fn finish(mut self, similarity: f64) -> model::comparison::ResponseScore {
        if self.differences.len() > DIFFERENCES {
            self.keep_the_largest();
        }
        let changed = !self.contract_changes.is_empty();
        let capped = if changed {
            similarity.min(CAP)
        } else if self.differences.is_empty() {
            similarity
        } else {
            // A small difference must not be lost in rounding.
            similarity.min(ALMOST)
        };
        let breaking = self
            .differences
            .iter()
            .filter(|it| it.breaks_contract)
            .count();
        let extra = (similarity - capped) / count(breaking.max(1));
        let mut differences: Vec<Difference> = Vec::with_capacity(self.differences.len() + 1);
        for Noted {
            mut difference,
            breaks_contract,
        } in self.differences
        {
            if breaks_contract {
                difference.loss += extra;
            }
            differences.push(difference);
        }
        if self.more > 0 {
            differences.push(Difference::rest(self.more, self.more_loss));
        }
        if self.more_contract_changes > 0 {
            self.contract_changes.push(ContractChange {
                path: String::new(),
                what: format!("{} more changes", self.more_contract_changes),
            });
        }
        model::comparison::ResponseScore {
            similarity: capped,
            contract_changes: self.contract_changes,
            differences,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Findings;
    use model::comparison::Difference;

    #[test]
    fn what_is_lost_is_spread_over_changes_and_not_over_additions() {
        let difference = |path: String| Difference {
            path,
            expected: None,
            got: None,
            similarity: 1.0,
            rule: "added".into(),
            loss: 0.0,
        };
        let mut findings = Findings::default();
        findings.note(difference("/changed".to_owned()), Some("changed"));
        for number in 0..1000 {
            if !findings.pass_over(0.0, false) {
                findings.note(difference(format!("/{number}")), None);
            }
        }
        let score = findings.finish_evenly(0.4);
        let changed = score.differences.iter().find(|it| it.path == "/changed");
        assert_eq!(changed.map(|it| it.loss), Some(0.6));
        let lost: f64 = score.differences.iter().map(|it| it.loss).sum();
        assert!((lost - 0.6).abs() < 1e-9, "{lost}");
    }
}
