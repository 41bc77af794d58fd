//! Ports on which nobody listens yet, or any more.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::ops::Range;
use std::sync::Mutex;

use uuid::Uuid;

/// Below those that the system gives to whoever asks for any, so that nobody else is given one before it is used, and above none of the program's own.
const RANGE: Range<u16> = 10_000..20_000;

static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// A port of this machine that is free, and that no other test is given.
pub(crate) fn free_port() -> u16 {
    let count = RANGE.end - RANGE.start;
    let first = u16::try_from(Uuid::new_v4().as_u128() % u128::from(count)).unwrap();
    let ports = (first..count).chain(0..first).map(|it| RANGE.start + it);
    let mut given = GIVEN.lock().unwrap();
    let mut free = ports.filter(|it| TcpListener::bind(("127.0.0.1", *it)).is_ok());
    free.find(|it| given.insert(*it)).expect("a free port")
}
