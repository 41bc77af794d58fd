//! `{{upstream.NAME.url}}` in the configuration file of the system under test.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

static REFERENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{\{\s*(upstream\.[^{}]*?)\s*\}\}").expect("it is a pattern"));

/// The references to servers behind the ones under test in the text of a configuration file: where the name stands, and the name.
pub(in crate::scenario_file) fn upstream_references(
    text: &str,
) -> impl Iterator<Item = (Range<usize>, &str)> {
    let names = REFERENCE.captures_iter(text).filter_map(|it| it.get(1));
    names.map(|it| (it.range(), it.as_str()))
}

/// The text of a configuration file with `{{upstream.NAME.url}}` filled in. `lookup` gives the value of such a name, as
/// [`upstream_url_name`] makes it.
///
/// Whatever else stands in double braces is the file's own, and stays; so does what `lookup` does not know.
///
/// [`upstream_url_name`]: super::super::upstream_url_name
pub fn fill_in_config(text: &str, lookup: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    REFERENCE.replace_all(text, |found: &Captures<'_>| {
        lookup(&found[1]).unwrap_or_else(|| found[0].to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::fill_in_config;

    #[test]
    fn only_known_upstreams_are_filled_in() {
        let lookup = |it: &str| (it == "upstream.a-1.url").then(|| "http://h:1/$0".to_owned());
        for (text, filled) in [
            ("{{upstream.a-1.url}}/mcp", "http://h:1/$0/mcp"),
            ("{{ upstream.a-1.url\t}}", "http://h:1/$0"),
            ("{{{upstream.a-1.url}}}", "{http://h:1/$0}"),
            (
                "{{ .Values }} {{x {{upstream.a-1.url}}",
                "{{ .Values }} {{x http://h:1/$0",
            ),
            ("{{upstream.b.url}}", "{{upstream.b.url}}"),
            ("{{upstream.a-1}}", "{{upstream.a-1}}"),
            ("{{{}}} {{", "{{{}}} {{"),
        ] {
            assert_eq!(fill_in_config(text, lookup), filled);
        }
    }
}
