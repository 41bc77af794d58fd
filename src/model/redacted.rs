//! Values that hold no secrets.

use serde_json::Value;

use crate::Object;
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A value that secrets were taken out of. Everything that is stored, reported, logged or printed is one, so that forgetting to redact
/// does not compile.
///
/// Only `redact` makes them of raw values, and readers of our own files of what was redacted when it was written; a test
/// (`tests/it/floors.rs`) holds everybody else to that. Clones share it until one of them is changed: answers may be long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redacted<T>(Arc<T>);

impl<T> Redacted<T> {
    /// Says that the value holds no secrets.
    pub fn vouch_for(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// What was computed of it, and of others without secrets.
    pub fn derive<U>(&self, with: impl FnOnce(&T) -> U) -> Redacted<U> {
        Redacted(Arc::new(with(&self.0)))
    }
}

impl<T: Clone> Redacted<T> {
    pub fn into_inner(self) -> T {
        Arc::unwrap_or_clone(self.0)
    }

    /// Changes it by what is in it, or in others without secrets.
    pub fn refine(&mut self, with: impl FnOnce(&mut T)) {
        with(Arc::make_mut(&mut self.0));
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Borrow<T> for Redacted<T> {
    fn borrow(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Display> fmt::Display for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<&'static str> for Redacted<String> {
    /// What is written in the source holds no secret.
    fn from(text: &'static str) -> Self {
        Self(Arc::new(text.to_owned()))
    }
}

/// A text or value that may hold a secret.
#[derive(Debug)]
pub enum ShownText<'a> {
    /// Words, in which something may read like a setting.
    Words(&'a mut String),
    /// A name or a pattern: what only reads like a setting is a part of it.
    Name(&'a mut String),
    Value(&'a mut Value),
    Object(&'a mut Object),
}
