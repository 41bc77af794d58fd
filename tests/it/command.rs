//! Agents that are programs of their own, and the gateway they reach the servers through.

mod bounds;
mod calls;
mod chosen;
mod claude;
mod codex;
mod endings;
mod eras;
mod formats;
mod kit;
mod passing;
mod secrets;
mod servers;
mod settings;
mod through;
