//! Scenarios without secrets, to be shown rather than stored.

use super::{Origin, Redactor};
use model::{Redacted, ShownText};

/// Something that is made from a file of ours, and may be shown to people.
pub trait Shown: Clone {
    /// Visits every text and value in it that may hold a secret.
    fn each_text(&mut self, visit: &mut dyn FnMut(ShownText<'_>));
}

impl Redactor {
    /// Something without secrets, to be shown to people, not to be run. What is compared with a run is the same text there and here.
    pub fn shown<T: Shown>(&self, thing: &T) -> Redacted<T> {
        let mut redacted = thing.clone();
        redacted.each_text(&mut |it| match it {
            ShownText::Words(text) => self.words(text),
            ShownText::Name(text) => self.name(text),
            ShownText::Value(value) => self.any(value, Origin::Ours, None),
            ShownText::Object(members) => self.members(members, Origin::Ours),
        });
        Redacted::vouch_for(redacted)
    }
}
