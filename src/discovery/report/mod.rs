//! What measurements came to: documents, and what is shown of them.

pub mod html;
pub mod junit;
pub mod markdown;
pub mod retrieval;
pub mod security;
pub mod terminal;
