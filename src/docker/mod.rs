//! Containers that servers under test run in: fresh for every run, proven ready, and removed in the end.
//!
//! | file | what happens there |
//! |---|---|
//! | `address`, `engine` | the engine is found, connected and asked |
//! | `image`, `build`, `context` | images are looked up, or built from a folder |
//! | `container`, `resources`, `log`, `file` | containers are made, started, listened to, looked into and removed, with their networks and volumes |
//! | `ready` | a fresh container proves that it can be asked |
//! | `failure` | the messages about containers that cannot |
//! | `session`, `slot` | which scenario has which container, and their removal in the end |
//! | `host_access` | how containers reach this machine |
//! | `owner`, `leftovers` | what runs that were killed have left behind |
//! | `old_images` | images that were built and are needed no more |
//!
//! Everything made here carries labels that name the process that made it. Only what carries them is ever removed.

mod address;
mod build;
mod container;
mod context;
mod engine;
mod failure;
mod file;
mod host_access;
mod image;
mod leftovers;
mod log;
mod old_images;
mod owner;
mod ready;
mod resources;
mod session;
mod slot;

pub use address::Variable;
pub use container::Reached;
pub use engine::{Engine, OnWait};
pub use host_access::HostAccess;
pub use leftovers::{Kind, Left, Why};
pub use old_images::{OldImages, Which};
pub use ready::Probe;
pub use session::{Guard, OnProgress, Session};
pub use slot::{Slot, Standing};
