//! Whether the servers of a run are ready.
//!
//! | file | what is there |
//! |---|---|
//! | `proof` | what must hold of which servers |
//! | `asker` | how servers are asked, in which sessions |
//! | `connect` | connects to the servers of a run once they are proven ready |
//! | `agent_session` | the same proof for each process that is started for a session of the agent itself |

mod agent_session;
mod asker;
mod connect;
mod proof;

pub(crate) use asker::{Asker, Asking};
pub(crate) use connect::connect;
pub(crate) use proof::{Proof, asks_calls, page_secrets, proofs};
