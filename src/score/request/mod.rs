//! Did the agent ask for the same thing?
//!
//! - `arguments`: how alike two requests are, by the scenario's rules and the tool's defaults.
//! - `value`: how alike two values in them are.
//! - `effect`: where the arguments of an effect differ, which must be exactly what they were.

pub(super) mod arguments;
pub(super) mod effect;
pub(super) mod value;
