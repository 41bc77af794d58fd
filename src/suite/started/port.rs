//! Free ports of this machine, each for one server at a time.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;

use parking_lot::Mutex;

use crate::run::SetupError;

/// The ports that servers of this process have been given and may be using.
static TAKEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// Where ports are looked for: below those that Linux (from 32768), macOS and Windows (from 49152) give to whoever asks for any. One of those
/// could go to somebody else between its choice and the moment at which the server listens there.
const RANGE: Range<u16> = 20_000..32_768;

/// A port of this machine that was free, and that no other server of this process is given.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Port(u16);

impl Port {
    /// Takes a free port. It is looked for from anywhere in the range, so that processes side by side hardly ever choose the same.
    ///
    /// # Errors
    ///
    /// When none is free.
    pub(crate) fn free() -> Result<Self, SetupError> {
        let none = |why: String| SetupError::new(format!("there is no free port: {why}"));
        let mut anywhere = [0; 2];
        getrandom::fill(&mut anywhere).map_err(|error| none(error.to_string()))?;
        let count = RANGE.end - RANGE.start;
        let first = u16::from_le_bytes(anywhere) % count;
        let free = (first..count)
            .chain(0..first)
            .map(|it| RANGE.start + it)
            .find(|it| is_free(*it) && TAKEN.lock().insert(*it));
        free.map(Self).ok_or_else(|| {
            none(format!(
                "all from {} to {} are taken",
                RANGE.start,
                RANGE.end - 1
            ))
        })
    }

    pub(crate) fn number(&self) -> u16 {
        self.0
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        TAKEN.lock().remove(&self.0);
    }
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::Port;

    #[test]
    fn no_port_is_given_twice_at_once() {
        let ports: Vec<Port> = (0..2000).map(|_| Port::free().unwrap()).collect();
        let mut numbers: Vec<u16> = ports.iter().map(Port::number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), ports.len());
        // Linux gives those from 32768 to whoever asks for any.
        assert!(numbers.iter().all(|it| (1024..32_768).contains(it)));
    }
}
