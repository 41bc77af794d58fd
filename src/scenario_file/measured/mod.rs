//! What of a scenario whose `kind` is another than `trajectory` stands in its file?
//!
//! - `kind`: the kinds, and which keys fit each. `section`: the sections `search`, `gates` and `verdicts`.

pub(super) mod kind;
pub(super) mod section;
