//! How runs are judged by a model.
//!
//! - `section`: the section `judge`, how the model is reached and asked. `file`: a file that holds it alone.
//! - `examples`: labelled examples, by which a judge itself is judged.

pub(super) mod examples;
pub(super) mod file;
pub(super) mod section;
