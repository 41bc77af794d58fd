//! Texts in which `${…}` stands for nothing, because they come from somebody who is not to learn what our environment holds.

use std::path::PathBuf;

use super::places::{Place, Templates};

/// Lets every `${…}` stand for itself.
pub fn literal(thing: &mut impl Templates) {
    thing.templates(&mut |place| match place {
        Place::Text(text) | Place::Program(text) => *text = escaped(text),
        Place::Path(path) => *path = PathBuf::from(escaped(&path.to_string_lossy())),
        Place::Variable(_) => {}
    });
}

fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}
