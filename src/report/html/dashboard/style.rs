//! The style sheet of the dashboard.

use askama::Template;

use crate::report::html::script;

/// The style sheet as the pages of the dashboard have it.
#[derive(Template)]
#[template(
    source = "{% include \"style.css\" %}{% include \"dashboard/dashboard.css\" %}",
    ext = "css",
    escape = "none"
)]
struct Style;

/// What a content security policy calls the style sheet of the dashboard's own pages: `sha256-…`.
pub fn style_hash() -> String {
    script::hash(&Style)
}
