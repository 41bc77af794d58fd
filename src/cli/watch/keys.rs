//! What somebody types while we watch.

use std::io::{self, IsTerminal, Read};

use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;

use crate::cli::keywise::Keywise;

/// A key that means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    RunAll,
    RunFailed,
    Quit,
}

/// A terminal that hands out every key as it is typed, until this is dropped.
pub(super) struct Keys {
    _mode: Keywise,
}

impl Keys {
    /// Listens to keys; `None` where nobody can type any.
    pub(super) fn listen(tell: impl Fn(Key) + Send + 'static) -> Option<Self> {
        let stdin = io::stdin();
        // A job in the background would be stopped for touching the terminal.
        if !stdin.is_terminal() || tcgetpgrp(&stdin).ok() != Some(getpgrp()) {
            return None;
        }
        let mode = Keywise::enter().ok()?;
        std::thread::spawn(move || {
            let mut typed = [0];
            while let Ok(1) = io::stdin().read(&mut typed) {
                match typed[0] {
                    b'\n' | b'\r' => tell(Key::RunAll),
                    // No capitals: other keys send them within a sequence.
                    b'f' => tell(Key::RunFailed),
                    b'q' => tell(Key::Quit),
                    _ => {}
                }
            }
        });
        Some(Self { _mode: mode })
    }
}
