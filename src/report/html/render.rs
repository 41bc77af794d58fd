//! Templates become text.

use askama::Template;

/// Renders a page. It fails only if the formatting of a value does, which none of ours can; if one did, the page would show the error.
pub(super) fn render(page: &impl Template) -> String {
    page.render().unwrap_or_else(|error| error.to_string())
}
