//! `{{upstream.NAME.url}}` in the configuration file of the system under test.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::scenario_file::decode::template::upstream_url_name;
use crate::text::nearest::nearest;

/// How the name of such a reference begins.
const FIRST: &str = "upstream";

static REFERENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{\{\s*(upstream\.[^{}]*?)\s*\}\}").expect("it is a pattern"));

static THREE_PARTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\{\{\s*(([^{}.\s]+)\.([^{}.\s]+)\.([^{}.\s]+))\s*\}\}").expect("it is a pattern")
});

/// The references to servers behind the ones under test in the text of a configuration file: where the name stands, and the name.
pub(in crate::scenario_file) fn upstream_references(
    text: &str,
) -> impl Iterator<Item = (Range<usize>, &str)> {
    let names = REFERENCE.captures_iter(text).filter_map(|it| it.get(1));
    names.map(|it| (it.range(), it.as_str()))
}

/// Names in the text of a configuration file that were meant as such references, to judge by their first word, and are none: where each
/// stands, the name, and what was meant.
///
/// Whatever else stands in double braces is the file's own, which is why they need all three parts.
pub(in crate::scenario_file) fn misspelt_references(
    text: &str,
) -> impl Iterator<Item = (Range<usize>, &str, String)> {
    THREE_PARTS.captures_iter(text).filter_map(|it| {
        let name = it.get(1)?;
        let [first, upstream] = [it.get(2)?.as_str(), it.get(3)?.as_str()];
        let is_misspelt = first != FIRST && nearest(first, [FIRST]).is_some();
        is_misspelt.then(|| (name.range(), name.as_str(), upstream_url_name(upstream)))
    })
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
    use super::{fill_in_config, misspelt_references};

    #[test]
    fn misspelt_references_are_distinguished_from_other_templates() {
        for (text, meant) in [
            ("{{upstreams.a.url}}", Some("upstream.a.url")),
            ("{{ upstrem.a-1.url }}", Some("upstream.a-1.url")),
            ("{{Upstream.a.uri}}", Some("upstream.a.url")),
            ("{{upstream.a.url}}", None),
            ("{{upstreams}} {{upstreams.a}} {{ .upstreams.a.url }}", None),
            ("{{service.a.url}} {{upstreams.a b.url}}", None),
        ] {
            let found = misspelt_references(text).map(|it| it.2);
            assert_eq!(found.collect::<Vec<_>>(), Vec::from_iter(meant), "{text}");
        }
    }

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
