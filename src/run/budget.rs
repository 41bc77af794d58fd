//! What all runs of one command may cost together.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::model::usage::costs_apart;
use crate::run::stop::{SetupError, Stop};

/// Money for the models of a whole command, or for some of them, in the currency of their prices.
#[derive(Debug)]
pub struct Budget {
    /// `None` where only what it is a share of is bounded.
    limit: Option<f64>,
    /// The option of the command line that sets the limit.
    option: &'static str,
    spent: Mutex<f64>,
    /// What is spent here is spent there, too.
    share_of: Option<Arc<Self>>,
}

impl Budget {
    /// The budget of a command.
    pub fn new(limit: f64) -> Self {
        Self {
            limit: Some(limit),
            option: "--budget",
            spent: Mutex::default(),
            share_of: None,
        }
    }

    /// What judges may spend: at most so much, and of a whole where there is one. `None` where nothing bounds it.
    pub fn of_judges(limit: Option<f64>, whole: Option<Arc<Self>>) -> Option<Self> {
        (limit.is_some() || whole.is_some()).then(|| Self {
            limit,
            option: "--judge-budget",
            spent: Mutex::default(),
            share_of: whole,
        })
    }

    /// Why nothing more may be spent; `None` while something is left.
    pub fn exhausted(&self) -> Option<String> {
        let spent = *self.spent.lock();
        let own = self.limit.filter(|limit| spent >= *limit).map(|limit| {
            let [spent, _] = costs_apart(spent, limit);
            format!(
                "the budget is spent: {spent} of {limit} (`{}`)",
                self.option
            )
        });
        own.or_else(|| self.share_of.as_ref()?.exhausted())
    }

    /// Whether more may be spent.
    ///
    /// # Errors
    ///
    /// That the budget is used up.
    pub fn check(&self) -> Result<(), SetupError> {
        self.exhausted()
            .map_or(Ok(()), |why| Err(SetupError::new(why)))
    }

    /// Counts an expense.
    ///
    /// # Errors
    ///
    /// That the budget cannot be kept, because nobody knows what was spent.
    pub fn spend(&self, cost: Option<f64>) -> Result<(), SetupError> {
        let Some(cost) = cost else {
            let option = self.limit.map_or("--budget", |_| self.option);
            let why = format!("`{option}` cannot be kept: what the model's answer cost is unknown");
            return Err(SetupError::new(why));
        };
        *self.spent.lock() += cost;
        self.share_of
            .as_ref()
            .map_or(Ok(()), |whole| whole.spend(Some(cost)))
    }
}

/// A run cannot go on without the money for it.
impl From<SetupError> for Stop {
    fn from(error: SetupError) -> Self {
        Self::Error(error)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Budget;

    #[test]
    fn what_judges_spend_is_spent_of_the_whole() {
        let whole = Arc::new(Budget::new(1.0));
        let judges = Budget::of_judges(Some(0.5), Some(Arc::clone(&whole))).unwrap();
        judges.spend(Some(0.4)).unwrap();
        assert_eq!(judges.exhausted(), None);
        judges.spend(Some(0.1)).unwrap();
        let why = judges.exhausted().unwrap();
        assert_eq!(why, "the budget is spent: 0.5000 of 0.5 (`--judge-budget`)");
        assert_eq!(whole.exhausted(), None);
        whole.spend(Some(0.5)).unwrap();
        assert!(whole.exhausted().unwrap().contains("(`--budget`)"));
        let unbounded = Budget::of_judges(None, Some(Arc::clone(&whole))).unwrap();
        assert!(unbounded.exhausted().unwrap().contains("(`--budget`)"));
        assert!(
            unbounded
                .spend(None)
                .unwrap_err()
                .message
                .contains("`--budget`")
        );
        assert!(Budget::of_judges(None, None).is_none());
    }
}
