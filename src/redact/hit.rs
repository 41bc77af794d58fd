//! A secret found in a text: its position and its name.

use std::ops::Range;

/// What a secret is called: the name of a declared one, or the kind of one that was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name<'a> {
    /// With how it is spelled; empty for plainly.
    Declared(&'a str, &'a str),
    /// By its shape alone.
    Shape(&'static str),
    /// By the key or the word before it.
    Context(&'static str),
}

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit<'a> {
    pub(super) at: Range<usize>,
    pub(super) name: Name<'a>,
}

impl<'a> Hit<'a> {
    pub(super) fn new(at: Range<usize>, name: Name<'a>) -> Self {
        Self { at, name }
    }

    /// What the key or the word before it shows to be of this kind.
    pub(super) fn context(at: Range<usize>, kind: &'static str) -> Self {
        Self::new(at, Name::Context(kind))
    }
}
