//! Objects in a text that say themselves which of their members are secret, in JSON however deeply it is quoted, and manifests in YAML:
//! `{"kind": "Secret", "data": …}`, `{"value": "x", "sensitive": true}`, `{"value": "x", "name": "DB_PASSWORD"}`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::assigned::{container, judged};
use super::extent::{Quote, closing_within, line_end, lines, quote_at, spaces};
use super::hit::Hit;
use super::keys::{self, MARKED};
use super::structure;
use model::texts;

/// How deeply objects in strings of objects are looked into.
const DEPTH: usize = 4;

/// How deeply an object may be nested in others that is judged by its own members: each level looks through all that is below it.
const DEEPEST: usize = 64;

/// An object or a list that has not ended: where it begins, the key that was read last, and its members.
#[derive(Default)]
struct Open {
    start: usize,
    key: Option<Range<usize>>,
    members: Vec<(Range<usize>, Range<usize>)>,
}

/// The secrets that are marked so in the objects and the manifests of a text.
pub(super) fn secrets(text: &str) -> Vec<Hit<'static>> {
    let mut hits = Vec::new();
    objects(text, 0..text.len(), DEPTH, &mut hits);
    if text.contains("kind: Secret") {
        manifests(text, &mut hits);
    }
    hits
}

fn objects(text: &str, within: Range<usize>, depth: usize, hits: &mut Vec<Hit<'static>>) {
    let bytes = text.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    let mut at = within.start;
    while at < within.end {
        let start = at;
        at += 1;
        let value = match bytes[start] {
            b'{' | b'[' => {
                open.push(Open {
                    start,
                    ..Open::default()
                });
                continue;
            }
            b'}' | b']' => {
                let Some(ended) = open.pop() else { continue };
                // What is nested deeper is hidden with the objects around it, or by its keys.
                if open.len() < DEEPEST {
                    judge(text, &ended, hits);
                    structured(text, &ended, at, hits);
                }
                ended.start..at
            }
            _ if open.is_empty() => continue,
            b'"' | b'\'' | b'\\' => {
                let Some(quote) = quote_at(bytes, start) else {
                    continue;
                };
                let from = start + quote.len();
                // No string goes on in the next line: what seemed to begin one was an apostrophe.
                let end = closing_within(bytes, from, quote, within.end);
                let Some(end) = end.filter(|it| !bytes[from..*it].contains(&b'\n')) else {
                    continue;
                };
                at = end + quote.len();
                from..end
            }
            it if it.is_ascii_alphanumeric() => {
                at += bytes[at..within.end]
                    .iter()
                    .take_while(|it| it.is_ascii_alphanumeric() || b"_.+-".contains(it))
                    .count();
                start..at
            }
            _ => continue,
        };
        let Some(top) = open.last_mut() else { continue };
        if bytes.get(spaces(bytes, at)) == Some(&b':') {
            top.key = Some(value);
            continue;
        }
        if depth > 0 && start < value.start && text[value.clone()].contains(['{', '[']) {
            objects(text, value.clone(), depth - 1, hits);
        }
        top.members.extend(top.key.take().map(|key| (key, value)));
    }
}

/// Looks at an object that has ended.
fn judge(text: &str, ended: &Open, hits: &mut Vec<Hit<'static>>) {
    let members = ended.members.iter();
    let pairs = members
        .clone()
        .map(|(key, value)| (&text[key.clone()], &text[value.clone()]));
    let Some((names, secret)) = keys::marked(pairs) else {
        return;
    };
    for (_, value) in members.filter(|(key, _)| keys::is_one_of(names, &text[key.clone()])) {
        if text[value.clone()].starts_with(['{', '[']) {
            hits.extend(container(text, value.start, secret).0);
        } else if keys::is_secret_value(secret, &text[value.clone()]) {
            hits.push(Hit::context(value.clone(), secret.kind));
        }
    }
}

/// Looks at an object or a list that ends here and may say which of its places are secret.
fn structured(text: &str, ended: &Open, end: usize, hits: &mut Vec<Hit<'static>>) {
    let own = &text[ended.start..end];
    let mut names = ended.members.iter().map(|(key, _)| &text[key.clone()]);
    let is_space = |it: char| it.is_whitespace() || it == '\\' || it == 'n';
    let is_of_lists = own[1..].trim_start_matches(is_space).starts_with('[');
    if !is_of_lists && !names.any(structure::may_tell) {
        return;
    }
    // As it stands, or in strings of JSON.
    let unquoted = |it: &String| serde_json::from_str(&format!("\"{it}\"")).ok();
    let mut quoted = std::iter::successors(Some(own.to_owned()), unquoted).take(DEPTH);
    let value: Option<Value> = quoted.find_map(|it| serde_json::from_str(&it).ok());
    let value = value.unwrap_or_default();
    let plain = |it: &str| it.replace('\\', "");
    let mut secrets = HashMap::new();
    for (at, key) in structure::places(&value) {
        if let Some(place) = value.pointer(&at) {
            texts::each(place, &mut |it| secrets.extend([(plain(it), key)]));
        }
    }
    for it in container(text, ended.start, MARKED).0 {
        let key = secrets.get(&plain(&text[it.at.clone()]));
        hits.extend(key.and_then(|key| judged(text, it.at, *key)));
    }
}

/// A member of an object that YAML writes in a line: `{user: YWRtaW4=}`.
static IN_LINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"[{,][^:,]+:[ "'\\]+([^,}"'\\]+)"#).expect("a valid pattern"));

/// The values under `data` and `stringData` of manifests in YAML, whose other lines may come before or behind.
fn manifests(text: &str, hits: &mut Vec<Hit<'static>>) {
    let bytes = text.as_bytes();
    let (mut values, mut is_secret, mut is_data, mut own) = (Vec::new(), false, false, usize::MAX);
    let end = text.len()..text.len();
    for line in lines(text, 0).chain([end.clone()]) {
        let item = text[line.clone()].trim_start_matches(' ');
        let content = item.trim_start_matches([' ', '-']);
        let indent = line.len() - content.len();
        let is_item = item.starts_with('-') && line.len() - item.len() <= own;
        if is_item || !content.is_empty() && indent < own || line == end {
            hits.extend(values.drain(..).filter(|_| is_secret));
            (is_secret, is_data) = (false, false);
            own = if content.is_empty() { 0 } else { indent };
        }
        let (key, behind) = content.split_once(':').unwrap_or(("", content));
        let from = spaces(bytes, line.end - behind.len());
        let from = from + quote_at(bytes, from).map_or(0, Quote::len);
        let value = from..line_end(bytes, from).clamp(from, line.end.max(from));
        if indent == own && matches!(key, "data" | "stringData") {
            let members = IN_LINE.captures_iter(behind).filter_map(|it| it.get(1));
            let members = members.filter(|it| keys::is_secret_value(MARKED, it.as_str()));
            let from = line.end - behind.len();
            let members = members.map(|it| from + it.start()..from + it.end());
            values.extend(members.map(|it| Hit::context(it, MARKED.kind)));
        }
        if indent > own {
            let is_meant = is_data && keys::is_secret_value(MARKED, &text[value.clone()]);
            values.extend(is_meant.then(|| Hit::context(value, MARKED.kind)));
        } else if !content.is_empty() {
            is_data = matches!(key, "data" | "stringData");
            is_secret |= key == "kind" && &text[value] == "Secret";
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::secrets;

    fn found(text: &str) -> Vec<&str> {
        secrets(text).into_iter().map(|it| &text[it.at]).collect()
    }

    #[test]
    fn members_that_an_object_marks_are_found_in_any_order_and_however_quoted() {
        for (value, expected) in [
            (
                json!({ "data": { "user": "YWRtaW4=" }, "kind": "Secret", "type": "Opaque" }),
                &["YWRtaW4="][..],
            ),
            (
                json!({ "db": { "sensitive": true, "value": { "a": "swordfish", "n": ["x1"] } } }),
                &["swordfish", "x1"],
            ),
            (
                json!([{ "Value": "hunter2", "Name": "DB_PASSWORD" }, { "name": "MODE", "value": "test" }]),
                &["hunter2"],
            ),
            (
                json!({ "data": { "mode": "test" }, "kind": "ConfigMap" }),
                &[],
            ),
            (json!({ "sensitive": false, "value": "db.local" }), &[]),
        ] {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            assert_eq!(found(&pretty), expected, "{pretty}");
            let mut text = value.to_string();
            for _ in 0..3 {
                assert_eq!(found(&format!("it's {text} 5\" x")), expected, "{text}");
                text = json!({ "text": text }).to_string();
            }
        }
        assert_eq!(
            found("don't [say \"{\n'kind': 'Secret', 'data': {'a': 'YWRtaW4='}}"),
            ["YWRtaW4="]
        );
    }

    #[test]
    fn manifests_in_yaml_are_read_by_their_indents() {
        let one = "apiVersion: v1\ndata:\n  user: YWRtaW4=\n  key: |\n    abc def\nkind: Secret\nmetadata:\n  name: db\n";
        let text = format!("{one}stringData: {{}}\n---\nkind: ConfigMap\ndata:\n  mode: test\n");
        assert_eq!(found(&text), ["YWRtaW4=", "abc def"]);
        let quoted = Value::from(text.as_str()).to_string();
        assert_eq!(found(&quoted), ["YWRtaW4=", "abc def"]);
        let list = "items:\n- data:\n    user: \"YWRtaW4=\"\n  kind: Secret\n- data:\n    mode: test\n  kind: ConfigMap\n";
        assert_eq!(found(list), ["YWRtaW4="]);
    }
}
