//! Reports: from one sample result to every format.

mod commands;
mod diff;
mod document;
mod forms;
mod pages;
mod sample;
mod terminal;
mod words;

use mcp_eval::report::terminal::{Style, Verbosity};

const PLAIN: Style = Style {
    color: false,
    width: 120,
    verbosity: Verbosity::Normal,
};

/// Compares with the expected text of this name; `cargo insta review` or `INSTA_UPDATE=always` accept a new one.
fn expect_text(name: &str, text: &str) {
    insta::with_settings!({
        snapshot_path => "../fixtures/report",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, { insta::assert_snapshot!(name, text) });
}
