//! JSON values, and when two of them are the same.
//!
//! Numbers are compared by value, objects whatever the order of their keys, and what varies by nature can be left out.
//!
//! - `number`: numbers by value, whatever their notation. `exact`: the digits of long integers, put in their places. `secrets`: what
//!   stands for secrets, read alike.
//! - `same`: equality and hashes of values. `kind`: their types in words. `coarse`: how alike two values roughly are.
//! - `mask`: times, generated ids and addresses replaced by a word for them.
//! - `embedded`: the JSON document a text consists of. `path`: places in answers, and patterns that cover places.
//! - `memo`: what is known of the values of one comparison, so that nothing is found out twice.

pub(super) mod coarse;
pub(super) mod embedded;
pub(super) mod exact;
pub(super) mod kind;
pub(super) mod mask;
pub(super) mod memo;
pub(super) mod number;
pub(super) mod path;
pub(super) mod same;
pub(super) mod secrets;
