//! A terminal that hands out every key as it is typed, and is left as it was found; and the keys of `mcp-eval review`.

use std::io::{self, stdin};

use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::cli::{Failure, runtime};

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

/// How long one look for a key takes before signals are looked for, in tenths of a second.
const LOOK: u8 = 1;

/// What somebody typed.
pub(super) enum Key {
    Letter(char),
    /// Ctrl-C, or a signal that asks us to stop.
    Interrupt,
}

/// The keys of the terminal.
pub(super) struct Keyboard {
    stop: CancellationToken,
    /// Hears the signals, so that none ends the program while the terminal is in another mode.
    _signals: Runtime,
}

impl Keyboard {
    pub(super) fn new() -> Result<Self, Failure> {
        let signals = runtime::beside(1)?;
        Ok(Self {
            stop: signals.block_on(async { runtime::interruption() }),
            _signals: signals,
        })
    }

    /// Prompts for a key and waits for it. Nobody who typed something before has seen the question, so that is thrown away.
    ///
    /// # Errors
    ///
    /// When the terminal cannot be read from.
    pub(super) fn ask(&self, prompt: impl FnOnce()) -> io::Result<Key> {
        let _mode = Keywise::enter_alone(LOOK)?;
        prompt();
        let mut typed = [0; 16];
        loop {
            if self.stop.is_cancelled() {
                return Ok(Key::Interrupt);
            }
            match rustix::io::read(stdin(), &mut typed) {
                // Nothing yet. It is the same for a terminal that is gone, but that has no mode.
                Ok(0) => {
                    tcgetattr(stdin())?;
                }
                Ok(count) => return Ok(meant(&typed[..count])),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// What arrived at once is one key, or several of which nobody has waited for the answer to the first.
fn meant(typed: &[u8]) -> Key {
    match typed {
        [0x03, ..] => Key::Interrupt,
        // Alone, it is the key itself; other keys send it with more behind it.
        [0x1b] => Key::Letter('q'),
        [letter, ..] if letter.is_ascii_graphic() => Key::Letter(char::from(*letter)),
        _ => Key::Letter(' '),
    }
}
