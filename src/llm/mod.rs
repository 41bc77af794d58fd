//! Model APIs: their wire formats, from neutral requests to an API's JSON and back, which are pure; and `client`, which alone asks anybody.
//!
//! | file | what is there |
//! |---|---|
//! | `message` | what passes between us and a model, whatever API it speaks |
//! | `wire` | what a format has to know how to do, whose API speaks it, where that is asked, and tool names as it allows them |
//! | `anthropic`, `openai_chat`, `openai_responses`, `ollama` | the formats |
//! | `client` | which of them an API speaks; asks it over HTTP, again where that may help; who asks keeps the record of the attempts |
//! | `errors` | what its errors mean |

pub mod anthropic;
pub mod client;
pub(crate) mod errors;
pub(crate) mod message;
mod ollama;
mod openai_chat;
mod openai_responses;
pub(crate) mod wire;
