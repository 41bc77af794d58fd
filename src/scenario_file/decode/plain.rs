//! Values of a file as everybody uses them: without their places, paths resolved.

use std::path::PathBuf;

use crate::scenario_file::yaml::Findings;

/// A value of a file that becomes one of type `T`.
pub(in crate::scenario_file) trait Plain<T> {
    fn plain(&self, findings: &Findings) -> T;

    /// Visits every place in what it has become where `${…}` may stand.
    fn places(_value: &mut T, _visit: &mut dyn FnMut(Place<'_>)) {}
}

/// A key that need not be given.
pub(in crate::scenario_file) trait Optional {
    /// What it holds where it is.
    type Value;
}

impl<T> Optional for Option<T> {
    type Value = T;
}

/// Something in which `${…}` stands for something, before it is filled in.
pub trait Templates {
    /// Visits every place in it where `${…}` may stand.
    fn templates(&mut self, visit: &mut dyn FnMut(Place<'_>));
}

/// A place where `${…}` may stand.
#[derive(Debug)]
pub enum Place<'a> {
    /// Any text.
    Text(&'a mut String),
    /// A path; a reference in it may stand for an absolute one.
    Path(&'a mut PathBuf),
    /// A program, which may be named by its path.
    Program(&'a mut String),
    /// The name of an environment variable whose value is read later.
    Variable(&'a str),
}

/// Whether any text of it, or the program it starts, is such a one.
pub(in crate::scenario_file) fn any_text(
    thing: &(impl Templates + Clone),
    fits: impl Fn(&str) -> bool,
) -> bool {
    let mut found = false;
    thing.clone().templates(&mut |it| {
        found |= match it {
            Place::Text(text) | Place::Program(text) => fits(text),
            Place::Path(_) | Place::Variable(_) => false,
        }
    });
    found
}
