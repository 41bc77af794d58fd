//! A run in which nothing goes wrong.

/// Nothing went wrong on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceNoErrors {
    /// How many failed calls may be made good by a later one of the same tool.
    pub max_retries: u32,
    /// Whether a run without calls passes; `None` where what the scenario expects decides.
    pub allow_empty: Option<bool>,
}

impl TraceNoErrors {
    pub(super) fn words(&self) -> String {
        match self.max_retries {
            0 => "no errors on the way".to_owned(),
            1 => "no errors on the way but 1 that is retried".to_owned(),
            more => format!("no errors on the way but {more} that are retried"),
        }
    }
}
