//! Declaring sections, and reading them so that everything wrong is found.
//!
//! - `section`: maps with keys that are known; `section!` declares one.
//! - `kinds`: sections whose `kind` or `type` tells which keys fit; `kinds!` declares the kinds.
//! - `words`: words of which a key holds one (`choice!`), and maps that hold one key of several.
//! - `holders`: values with their place, lists, maps with names of the author's choosing.
//! - `plain`: the same as everybody uses it, without places.
//! - `served`: the same as it goes over the wire.
//! - `values`: numbers, waits, patterns. `template`: texts with `${…}`, and what is secret, and what is not.

pub(super) mod holders;
pub(super) mod kinds;
pub(super) mod plain;
pub(super) mod section;
pub(super) mod served;
pub(super) mod template;
pub(super) mod values;
pub(super) mod words;

pub(in crate::scenario_file) use self::holders::{At, Field, Named};
pub(in crate::scenario_file) use self::kinds::{Nothing, Unnamed, Variant, drop_foreign, kinds};
pub(in crate::scenario_file) use self::plain::{Place, Plain, Templates, any_text};
pub(in crate::scenario_file) use self::section::{
    Decode, NO_HINT, Section, check_keys, section, wrong_kind,
};
pub(in crate::scenario_file) use self::served::{Served, object};
pub(in crate::scenario_file) use self::template::{
    CONFIG_FILE, CommandLine, Given, PORT, Part, RedactSection, SOURCE_DIR, Template, UPSTREAM,
    literal, mentions, parts, upstream_url_name,
};
pub(in crate::scenario_file) use self::values::{
    Amount, Count, Fraction, Once, OnlyTrue, PathText, Pattern, Port, Positive, Size, Status,
    Timeout, Times, Wait, Weight, Word, held, number, schema,
};
pub(in crate::scenario_file) use self::words::{choice, choose, one_key, only_entry, shapes};
