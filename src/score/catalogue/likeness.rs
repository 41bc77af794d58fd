//! The likeness of two tools, or of two tool names: for "nearest" and "did you mean".
//!
//! Names alone are not enough: the successor of a tool `get-sum` is `add` with the same parameters, and not `get-env`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::values::number::{count, share};
use model::{Object, Tool};

/// The least likeness at which a tool is offered as the nearest.
const NEAR: f64 = 0.4;
/// The same where only the names are compared.
pub(super) const NEAR_BY_NAME: f64 = 0.5;
/// The most tools that are looked at.
const CANDIDATES: usize = 1000;
/// Names are compared up to this length, descriptions up to this many words.
const NAME: usize = 100;
const WORDS: usize = 200;

/// How much a name alone counts against a name and arguments.
const MISSPELT: f64 = 0.95;

/// How much each side of a tool counts.
const BY_NAME: f64 = 0.35;
const BY_DESCRIPTION: f64 = 0.25;
const BY_SCHEMA: f64 = 0.4;

/// Words of names that do not count as a likeness, such as the `get` of `get-sum` and `get-links`.
const COMMON_WORDS: [&str; 10] = [
    "do", "fetch", "get", "is", "list", "mcp", "read", "run", "set", "tool",
];

/// Words of descriptions that say nothing about what a tool does.
const IDLE_WORDS: [&str; 20] = [
    "a", "an", "and", "are", "as", "by", "for", "from", "in", "is", "it", "of", "on", "or", "that",
    "the", "this", "to", "tool", "with",
];

/// How alike two tools are, 0 to 1: by name, description and parameters, as far as both have them.
fn tools(a: &Tool, b: &Tool) -> f64 {
    let (mut sum, mut weights) = (BY_NAME * names(a.name(), b.name()), BY_NAME);
    let mut add = |weight: f64, likeness: Option<f64>| {
        if let Some(likeness) = likeness {
            sum += weight * likeness;
            weights += weight;
        }
    };
    add(BY_DESCRIPTION, descriptions(a, b));
    add(BY_SCHEMA, parameters(a, b));
    sum / weights
}

/// The tool most like the wanted one, if any is like it at all; of equals the first in the alphabet.
pub fn nearest_tool<'t>(
    wanted: &Tool,
    among: impl IntoIterator<Item = &'t Tool>,
) -> Option<&'t Tool> {
    nearest(among, NEAR, |it| it.name(), |it| tools(wanted, it))
}

/// The tool that a call of an unknown name may mean, by the name and by the given arguments.
pub fn nearest_for_call<'t>(
    name: &str,
    arguments: &Object,
    among: impl IntoIterator<Item = &'t Tool>,
) -> Option<&'t Tool> {
    let likeness = |tool: &Tool| {
        let by_name = names(name, tool.name());
        let takes = |it: &&String| {
            let properties = tool.input_schema().and_then(|it| it.get("properties"));
            properties.is_some_and(|all| all.get(it.as_str()).is_some())
        };
        if arguments.is_empty() {
            return by_name;
        }
        let by_arguments = share(
            count(arguments.keys().filter(takes).count()),
            arguments.len(),
        );
        let both = (BY_NAME * by_name + BY_SCHEMA * by_arguments) / (BY_NAME + BY_SCHEMA);
        // If the name is nearly right, the arguments do not matter.
        both.max(by_name * MISSPELT)
    };
    nearest(among, NEAR_BY_NAME, |it| it.name(), likeness)
}

/// The name most like the wanted one, if any is like it at all; of equals the first in the alphabet.
pub fn nearest_name<'n>(wanted: &str, among: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    nearest(among, NEAR_BY_NAME, |it| it, |it| names(wanted, it))
}

/// The likest of all, if it is like enough; of equals the first in the alphabet.
fn nearest<'n, T: Copy>(
    among: impl IntoIterator<Item = T>,
    least: f64,
    name: impl Fn(T) -> &'n str,
    likeness: impl Fn(T) -> f64,
) -> Option<T> {
    let among = among.into_iter().take(CANDIDATES);
    among
        .map(|it| (likeness(it), it))
        .filter(|(likeness, _)| *likeness >= least)
        .max_by(|(a, of_a), (b, of_b)| a.total_cmp(b).then(name(*of_b).cmp(name(*of_a))))
        .map(|(_, it)| it)
}

/// How alike two names are, 0 to 1: by their letters, or by the words they are made of.
pub(super) fn names(a: &str, b: &str) -> f64 {
    let short = |name: &str| name.chars().take(NAME).collect::<String>();
    let (a, b) = (short(a), short(b));
    let (of_a, of_b) = (words_of_name(&a), words_of_name(&b));
    if of_a == of_b && !of_a.is_empty() {
        return 1.0;
    }
    let by_letters = strsim::normalized_damerau_levenshtein(&a.to_lowercase(), &b.to_lowercase());
    let common = of_a.intersection(&of_b).count();
    let mut shared = of_a.intersection(&of_b);
    if shared.all(|it| COMMON_WORDS.contains(&it.as_str())) {
        return by_letters;
    }
    by_letters.max(0.5 + 0.5 * share(count(common), of_a.union(&of_b).count()))
}

/// The words a name is made of, in lower case: at signs, and where a capital follows a small letter.
pub(super) fn words_of_name(name: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    let mut was_small = false;
    for it in name.chars() {
        if !it.is_alphanumeric() || (it.is_uppercase() && was_small) {
            words.insert(std::mem::take(&mut word));
        }
        if it.is_alphanumeric() {
            word.extend(it.to_lowercase());
        }
        was_small = it.is_lowercase() || it.is_numeric();
    }
    words.insert(word);
    words.remove("");
    words
}

/// By the words that both use; `None` where one has no description.
fn descriptions(a: &Tool, b: &Tool) -> Option<f64> {
    let words = |tool: &Tool| {
        let words = tool.description().unwrap_or_default();
        let words = words.split(|it: char| !it.is_alphanumeric());
        let words = words.map(str::to_lowercase);
        let distinctive = words.filter(|it| !it.is_empty() && !IDLE_WORDS.contains(&it.as_str()));
        distinctive.take(WORDS).collect::<BTreeSet<_>>()
    };
    let (a, b) = (words(a), words(b));
    (!a.is_empty() && !b.is_empty()).then(|| common_share(&a, &b))
}

/// By the parameters that both take, counted half where only the type differs; `None` where neither takes any.
fn parameters(a: &Tool, b: &Tool) -> Option<f64> {
    let named = |tool: &Tool| {
        let properties = tool.input_schema()?.get("properties")?.as_object()?;
        let types = properties
            .iter()
            .map(|(name, it)| (name.to_lowercase(), it.get("type").map(Value::to_string)));
        Some(types.collect::<BTreeSet<_>>())
    };
    let (a, b) = (named(a).unwrap_or_default(), named(b).unwrap_or_default());
    if a.is_empty() && b.is_empty() {
        return None;
    }
    let untyped =
        |it: &BTreeSet<(String, Option<String>)>| it.iter().map(|(name, _)| name.clone()).collect();
    Some(0.5 * common_share(&a, &b) + 0.5 * common_share::<String>(&untyped(&a), &untyped(&b)))
}

fn common_share<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    share(count(a.intersection(b).count()), a.union(b).count())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{names, nearest_for_call, nearest_name, nearest_tool};
    use model::Tool;

    fn tool(name: &str, description: &str, parameters: &Value) -> Tool {
        let schema = json!({ "type": "object", "properties": parameters });
        let served = json!({ "name": name, "description": description, "inputSchema": schema });
        Tool {
            served: served.as_object().cloned().unwrap_or_default(),
        }
    }

    #[test]
    fn the_nearest_tool_does_the_same_whatever_it_is_called() {
        let number = || json!({ "type": "number" });
        let sum = || json!({ "a": number(), "b": number() });
        let listed = [
            tool(
                "getResourceLinks",
                "Returns multiple resource links",
                &json!({ "count": number() }),
            ),
            tool("get-env", "Returns all environment variables", &json!({})),
            tool("add", "Adds two numbers", &sum()),
            tool(
                "echo",
                "Echoes back the input",
                &json!({ "message": { "type": "string" } }),
            ),
        ];
        let cases = [
            (
                tool("get-sum", "Returns the sum of two numbers", &sum()),
                Some("add"),
            ),
            (
                tool("getEnv", "Shows the environment", &json!({})),
                Some("get-env"),
            ),
            (
                tool(
                    "echo_text",
                    "Says it again",
                    &json!({ "message": { "type": "string" } }),
                ),
                Some("echo"),
            ),
            (
                tool(
                    "restart",
                    "Boots the machine",
                    &json!({ "delay": number() }),
                ),
                None,
            ),
        ];
        for (wanted, expected) in cases {
            let found = nearest_tool(&wanted, &listed).map(Tool::name);
            assert_eq!(found, expected, "{}", wanted.name());
        }
    }

    #[test]
    fn a_call_means_the_tool_that_takes_what_it_gives() {
        let number = || json!({ "type": "number" });
        let listed = [
            tool("getResourceLinks", "", &json!({ "count": number() })),
            tool("add", "", &json!({ "a": number(), "b": number() })),
            tool("echo", "", &json!({ "message": { "type": "string" } })),
        ];
        let cases = [
            ("get-sum", json!({ "a": 1, "b": 2 }), Some("add")),
            ("get-sum", json!({}), None),
            ("ecko", json!({ "message": "x" }), Some("echo")),
            ("ecko", json!({ "massage": "x" }), Some("echo")),
            ("zzz", json!({ "other": "x" }), None),
        ];
        for (name, arguments, expected) in cases {
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            let found = nearest_for_call(name, &arguments, &listed).map(Tool::name);
            assert_eq!(found, expected, "{name} {arguments:?}");
        }
    }

    #[test]
    fn names_are_alike_by_letters_or_words() {
        let known = ["echo", "get-sum", "printEnv", "list_HTTP_servers"];
        let cases = [
            ("ecko", Some("echo")),
            ("Echo", Some("echo")),
            ("sum_get", Some("get-sum")),
            ("print_env", Some("printEnv")),
            ("listHTTPServers", Some("list_HTTP_servers")),
            ("zzzz", None),
        ];
        for (wanted, expected) in cases {
            assert_eq!(nearest_name(wanted, known), expected, "{wanted}");
        }
        assert!((names("print_env", "printEnv") - 1.0).abs() < f64::EPSILON);
    }
}
