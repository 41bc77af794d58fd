//! Containers that servers under test run in: fresh for every run, proven ready, and removed in the end.
//!
//! | file | what happens there |
//! |---|---|
//! | `engine` | the engine is found, connected and asked |
//! | `build` | images are built from a folder |
//! | `resources` | images are looked up, and networks and volumes made |
//! | `container` | containers are made, started, listened to and removed; a fresh one proves that it can be asked |
//! | `file` | files in them are looked into |
//! | `failure` | the messages about those that cannot be used |
//! | `session` | all containers of one run of the program, and their removal in the end |
//! | `slot` | which scenario has which container |
//! | `host_access` | how containers reach this machine |
//! | `leftovers` | what runs that were killed have left behind |
//! | `old_images` | images that were built and are needed no more |
//!
//! Everything made here carries labels that name the process that made it. Only what carries them is ever removed.

mod build;
mod container;
mod engine;
mod failure;
mod file;
mod host_access;
mod leftovers;
mod old_images;
mod resources;
mod session;
mod slot;

pub use container::{Probe, Reached};
pub use engine::{Engine, OnWait, Variable};
pub use host_access::HostAccess;
pub use leftovers::{Kind, Left, Why};
pub use old_images::{OldImages, Which};
pub use session::{Guard, OnProgress, Session};
pub use slot::{Slot, Standing};
