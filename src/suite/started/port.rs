//! Free ports of this machine, each for one server at a time.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};

use parking_lot::Mutex;

use crate::run::SetupError;

/// The ports that servers of this process have been given and may be using.
static TAKEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// How often another port is tried where the system gives one that was given to a server before it began to listen there.
const TRIES: usize = 100;

/// A port of this machine that was free, and that no other server of this process is given.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Port(u16);

impl Port {
    /// Takes a free port.
    ///
    /// # Errors
    ///
    /// When the system gives none.
    pub(crate) fn free() -> Result<Self, SetupError> {
        let none = |why: String| SetupError::new(format!("there is no free port: {why}"));
        for _ in 0..TRIES {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
            let address = listener.and_then(|it| it.local_addr());
            let port = address.map_err(|error| none(error.to_string()))?.port();
            if TAKEN.lock().insert(port) {
                return Ok(Self(port));
            }
        }
        Err(none(
            "the system gives only those that are taken".to_owned(),
        ))
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
    }
}
