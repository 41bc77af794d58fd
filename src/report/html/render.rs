//! Templates become text.

use askama::Template;
use askama::filters::Safe;

/// Renders a page. It fails only if the formatting of a value does, which none of ours can; if one did, the page would show the error.
pub(super) fn render(page: &impl Template) -> String {
    page.render().unwrap_or_else(|error| error.to_string())
}

/// A template within another one. It has escaped its own values, so this is not escaped again; nothing but a template can be put here.
///
/// Parts of a page are templates of their own, and not includes, because an include is compiled anew at each place that has it.
pub(super) fn embedded<T: Template>(part: T) -> Safe<T> {
    Safe(part)
}
