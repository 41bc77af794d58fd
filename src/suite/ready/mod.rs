//! Proof that the servers of a run are ready.
//!
//! | file | what is there |
//! |---|---|
//! | `asker` | what must hold of which servers, and how they are asked, in which sessions |
//! | `connect` | connects to the servers of a run once they are proven ready; the same proof for each process of an agent's own session |

mod asker;
mod connect;

pub(crate) use asker::{Asker, Asking, Proof, asks_calls, page_secrets, proofs};
pub(crate) use connect::connect;
