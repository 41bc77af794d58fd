//! A terminal that hands out every key as it is typed, and is left as it was found.

use std::io::{self, stdin};

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// The terminal hands out every key at once and shows none, until this is dropped.
pub(super) struct Keywise {
    before: Termios,
}

impl Keywise {
    /// Ctrl-C goes on to be a signal.
    ///
    /// # Errors
    ///
    /// When stdin is no terminal.
    pub(super) fn enter() -> io::Result<Self> {
        Self::enter_with(OptionalActions::Now, |_| {})
    }

    /// Ctrl-C is a key, too. What was typed before is thrown away, and one look for a key takes so many tenths of a second.
    ///
    /// # Errors
    ///
    /// When stdin is no terminal.
    pub(super) fn enter_alone(look: u8) -> io::Result<Self> {
        Self::enter_with(OptionalActions::Flush, |mode| {
            let signals = LocalModes::ISIG | LocalModes::IEXTEN;
            mode.local_modes.remove(signals);
            mode.special_codes[SpecialCodeIndex::VMIN] = 0;
            mode.special_codes[SpecialCodeIndex::VTIME] = look;
        })
    }

    fn enter_with(when: OptionalActions, change: impl FnOnce(&mut Termios)) -> io::Result<Self> {
        let before = tcgetattr(stdin())?;
        let mut keywise = before.clone();
        let lines = LocalModes::ICANON | LocalModes::ECHO;
        keywise.local_modes.remove(lines);
        change(&mut keywise);
        tcsetattr(stdin(), when, &keywise)?;
        Ok(Self { before })
    }
}

impl Drop for Keywise {
    fn drop(&mut self) {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}
