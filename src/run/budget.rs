//! What all runs of one command may cost together.

use parking_lot::Mutex;

use crate::model::usage::cost_words;
use crate::run::stop::{SetupError, Stop};

/// Money for the models of a whole command, in the currency of their prices.
#[derive(Debug)]
pub struct Budget {
    limit: f64,
    spent: Mutex<f64>,
}

impl Budget {
    pub fn new(limit: f64) -> Self {
        Self {
            limit,
            spent: Mutex::default(),
        }
    }

    /// Why nothing more may be spent; `None` while something is left.
    pub fn exhausted(&self) -> Option<String> {
        let spent = *self.spent.lock();
        (spent >= self.limit).then(|| {
            format!(
                "the budget is spent: {} of {} (`--budget`)",
                cost_words(spent),
                self.limit
            )
        })
    }

    /// Whether more may be spent.
    ///
    /// # Errors
    ///
    /// [`Stop::Error`] when the budget is used up.
    pub(super) fn check(&self) -> Result<(), Stop> {
        self.exhausted()
            .map_or(Ok(()), |why| Err(Stop::Error(SetupError::new(why))))
    }

    /// Counts an expense.
    pub(super) fn spend(&self, cost: Option<f64>) -> Result<(), Stop> {
        let Some(cost) = cost else {
            let why = "`--budget` cannot be kept: what the model's answer cost is unknown";
            return Err(Stop::Error(SetupError::new(why)));
        };
        *self.spent.lock() += cost;
        Ok(())
    }
}
