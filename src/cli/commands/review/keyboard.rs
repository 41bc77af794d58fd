//! One key at a time from the terminal, which is left as it was found.

use std::io::{self, stdin};

use rustix::io::Errno;
use rustix::termios::tcgetattr;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::keywise::Keywise;
use crate::cli::runtime;

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
            stop: signals.block_on(async { interrupt::token() }),
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
