//! URI templates (RFC 6570) as patterns: from a URI to the values of the template's variables.

use regex::Regex;
use serde_json::json;

use crate::model::Object;

/// A URI template as a pattern: from a URI to the values of its variables.
#[derive(Debug)]
pub(super) struct UriPattern {
    pattern: Regex,
    names: Vec<String>,
}

impl UriPattern {
    /// # Errors
    ///
    /// A sentence about what cannot be read.
    pub(super) fn new(template: &str) -> Result<Self, String> {
        let mut pattern = String::from("^");
        let mut names = Vec::new();
        let mut rest = template;
        while let Some((before, behind)) = rest.split_once('{') {
            let Some((name, after)) = behind.split_once('}') else {
                return Err(format!(
                    "the URI template `{template}` has no closing brace"
                ));
            };
            pattern.push_str(&regex::escape(before));
            // `{+path}` and `{path*}` may hold slashes.
            let plain = name.trim_start_matches('+').trim_end_matches('*');
            pattern.push_str(if plain == name { "([^/?#]+)" } else { "(.+)" });
            names.push(plain.to_owned());
            rest = after;
        }
        pattern.push_str(&regex::escape(rest));
        pattern.push('$');
        let pattern = Regex::new(&pattern).map_err(|error| error.to_string())?;
        Ok(Self { pattern, names })
    }

    pub(super) fn variables(&self, uri: &str) -> Option<Object> {
        let found = self.pattern.captures(uri)?;
        let values = found.iter().skip(1).flatten().map(|it| json!(it.as_str()));
        Some(self.names.iter().cloned().zip(values).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::UriPattern;

    #[test]
    fn templates_give_their_variables() {
        let cases = [
            ("a://{id}/data", "a://12/data", Some(json!({ "id": "12" }))),
            ("a://{id}/data", "a://1/2/data", None),
            ("a://{id}/data", "a:///data", None),
            ("a://{+path}", "a://x/y.z", Some(json!({ "path": "x/y.z" }))),
            (
                "a://{x}-{y}?q=1",
                "a://1-2?q=1",
                Some(json!({ "x": "1", "y": "2" })),
            ),
            ("a.b", "axb", None),
        ];
        for (template, uri, expected) in cases {
            let found = UriPattern::new(template).unwrap().variables(uri);
            assert_eq!(found.map(|it| json!(it)), expected, "{template} {uri}");
        }
        assert!(UriPattern::new("a://{x").is_err());
    }
}
