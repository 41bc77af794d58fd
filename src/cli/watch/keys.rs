//! What somebody types while we watch.

use std::io::{self, IsTerminal, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use rustix::process::{Signal, getpgrp, getpid, kill_process};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use super::Event;

/// A terminal that hands out every key as it is typed, until this is dropped.
pub(super) struct Keys {
    before: Termios,
}

impl Keys {
    /// Listens to keys; `None` where nobody types any. `is_running` tells whether something is under way that `q` is to stop.
    pub(super) fn listen(send: Sender<Event>, is_running: Arc<AtomicBool>) -> Option<Self> {
        let stdin = io::stdin();
        // A job in the background would be stopped for touching the terminal.
        let is_ours = stdin.is_terminal() && tcgetpgrp(&stdin).ok() == Some(getpgrp());
        if !is_ours {
            return None;
        }
        let before = tcgetattr(&stdin).ok()?;
        let mut keywise = before.clone();
        // Signals are still made of Ctrl-C, and lines are still broken as they were.
        keywise.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(&stdin, OptionalActions::Now, &keywise).ok()?;
        std::thread::spawn(move || {
            let mut key = [0];
            while let Ok(1) = io::stdin().read(&mut key) {
                match key[0] {
                    b'\n' | b'\r' => {
                        let _ = send.send(Event::RunAll);
                    }
                    b'q' | b'Q' => {
                        let _ = send.send(Event::Quit);
                        if is_running.load(Ordering::SeqCst) {
                            let _ = kill_process(getpid(), Signal::INT);
                        }
                    }
                    _ => {}
                }
            }
        });
        Some(Self { before })
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
