//! The parts of a text, and how much two texts have in common.
//!
//! - `words`: how alike two texts are, word by word. `at_least`: texts whose numbers grew.
//! - `token`: texts cut into tokens. `counted`: which of them a number means. `commas`: lists in a line.
//!   `variation`: whether a text says what a recorded one said, where tokens vary.
//! - `spaces`: the white space between tokens that match. `watch`: what stands in the place of what varies. `telling`: the values that
//!   it is to be judged by.
//! - `times`: times as texts say them. `lengths`: lengths of time. `clock`: whether a time has merely moved with the clock.
//! - `generated`: which pieces look made up by a server. `key`: which keys do, and what the key of a value says of it.
//! - `excerpt`: short pieces of long values, for people.

pub(super) mod at_least;
pub(super) mod clock;
pub(super) mod commas;
pub(super) mod counted;
pub(super) mod excerpt;
pub(super) mod generated;
pub(super) mod key;
mod lengths;
mod spaces;
pub(super) mod telling;
pub(super) mod times;
pub(super) mod token;
pub(super) mod variation;
pub(super) mod watch;
pub(super) mod words;
