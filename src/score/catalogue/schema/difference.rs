//! What differs in one keyword of two schemas.

/// What differs in a keyword.
pub(super) struct Difference {
    pub(super) keyword: &'static str,
    /// In words, as in `became a string`.
    pub(super) what: String,
    pub(super) was: Option<String>,
    pub(super) now: Option<String>,
    /// Some requests that were right before may be refused now.
    pub(super) narrows: bool,
}
