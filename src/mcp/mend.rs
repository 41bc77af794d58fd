//! Messages of servers that are not quite what they should be, as what they plainly mean: official clients live with them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// A message as it is read, and what strict clients would object to.
pub(super) struct Mended<'m> {
    pub(super) text: Cow<'m, str>,
    pub(super) remarks: Vec<&'static str>,
}

const HALF_A_CHARACTER: &str = "half a character (a lone surrogate), which was read as U+FFFD";
const NO_VERSION: &str = "an answer without `\"jsonrpc\": \"2.0\"`";
const ERROR_BESIDE: &str = "an answer with `\"error\": null` beside its result";
const RESULT_BESIDE: &str = "an answer with `\"result\": null` beside its error";
const NO_ID: &str = "an answer whose id is null";
const IN_A_LIST: &str = "an answer in a list";
const NO_SERVER_INFO: &str =
    "an answer to `initialize` without `serverInfo`, or without its name or version";

/// A message as it is meant. What names no request answers the one that `only` returns: the id of the only one that is open.
pub(super) fn mended<'m>(text: &'m str, only: &dyn Fn() -> Option<Value>) -> Mended<'m> {
    let mut remarks = Vec::new();
    let mut meant = Cow::Borrowed(text);
    if let Some(alone) = alone(text) {
        remarks.push(IN_A_LIST);
        meant = Cow::Borrowed(alone);
    }
    if let Some(whole) = without_lone_surrogates(&meant) {
        remarks.push(HALF_A_CHARACTER);
        meant = Cow::Owned(whole);
    }
    if let Some(answer) = answer(&meant, only, &mut remarks) {
        meant = Cow::Owned(answer);
    }
    Mended {
        text: meant,
        remarks,
    }
}

/// The answer in a list that holds nothing else.
fn alone(text: &str) -> Option<&str> {
    let list = text.trim_start().starts_with('[');
    let [only]: [&RawValue; 1] = serde_json::from_str(text).ok().filter(|_| list)?;
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(only.get()).ok()?;
    let is_answer = members.contains_key("id") && !members.contains_key("method");
    is_answer.then_some(only.get())
}

/// An answer whose members are not those of JSON-RPC 2.0, with these; `None` where there is nothing to mend.
fn answer(
    text: &str,
    only: &dyn Fn() -> Option<Value>,
    remarks: &mut Vec<&'static str>,
) -> Option<String> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let given = |name: &str| members.get(name).map(|it| it.get());
    let some = |name: &str| given(name).filter(|it| *it != "null");
    if given("method").is_some() {
        return None;
    }
    let (kind, content) = match (some("result"), some("error")) {
        (Some(result), None) => ("result", result),
        (None, Some(error)) => ("error", error),
        _ => return None,
    };
    let found = remarks.len();
    let id = if let Some(id) = some("id") {
        Cow::Borrowed(id)
    } else {
        let only = only()?;
        // JSON-RPC lets errors be so, where the request could not be read.
        remarks.extend((kind == "result").then_some(NO_ID));
        Cow::Owned(only.to_string())
    };
    let is_named = matches!(id, Cow::Borrowed(_));
    match given("jsonrpc") {
        Some("\"2.0\"") => {}
        None => remarks.push(NO_VERSION),
        Some(_) => return None,
    }
    let beside = if kind == "result" {
        given("error").map(|_| ERROR_BESIDE)
    } else {
        given("result").map(|_| RESULT_BESIDE)
    };
    remarks.extend(beside);
    let content = match introduced(content) {
        Some(introduced) => {
            remarks.push(NO_SERVER_INFO);
            Cow::Owned(introduced)
        }
        None => Cow::Borrowed(content),
    };
    (remarks.len() > found || !is_named)
        .then(|| format!(r#"{{"jsonrpc":"2.0","id":{id},"{kind}":{content}}}"#))
}

/// The answer to `initialize` of a server that does not say its name and version, with empty ones.
fn introduced(result: &str) -> Option<String> {
    // What else is as long is no answer to it.
    if result.len() > 1 << 20 || !result.contains("\"protocolVersion\"") {
        return None;
    }
    let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(result).ok()?;
    let is_one = ["protocolVersion", "capabilities"].map(|it| members.contains_key(it));
    let said = members.get("serverInfo").map_or("{}", |it| it.get());
    let mut info: BTreeMap<String, Box<RawValue>> = serde_json::from_str(said).ok()?;
    let is_whole = ["name", "version"].iter().all(|it| info.contains_key(*it));
    if is_whole || is_one != [true, true] {
        return None;
    }
    for name in ["name", "version"] {
        info.entry(name.to_owned())
            .or_insert(RawValue::from_string("\"\"".to_owned()).ok()?);
    }
    let info = serde_json::to_string(&info).ok()?;
    members.insert("serverInfo".to_owned(), RawValue::from_string(info).ok()?);
    serde_json::to_string(&members).ok()
}

/// JSON in which halves of characters are no more; `None` where there are none.
fn without_lone_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let unit = |at: usize| -> Option<u16> {
        let escape = bytes.get(at..at + 6).filter(|it| it.starts_with(b"\\u"))?;
        let digits = std::str::from_utf8(&escape[2..]).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut whole = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        let is_second = |it: Option<u16>| it.is_some_and(|it| (0xdc00..0xe000).contains(&it));
        match unit(at) {
            Some(0xd800..0xdc00) if is_second(unit(at + 6)) => at += 12,
            Some(0xd800..0xe000) => {
                whole.push_str(&text[from..at]);
                whole.push_str("\\ufffd");
                at += 6;
                from = at;
            }
            _ => at = (at + 2).min(bytes.len()),
        }
    }
    (from > 0).then(|| whole + &text[from..])
}

#[cfg(test)]
mod tests {
    use super::mended;

    #[test]
    fn what_is_plainly_meant_is_read() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, None),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":null}"#,
                Some(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1}}"#,
                Some(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#),
            ),
            (
                r#"{"id":"a","result":1e400}"#,
                Some(r#"{"jsonrpc":"2.0","id":"a","result":1e400}"#),
            ),
            (
                r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"1","capabilities":{}}}"#,
                Some(
                    r#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{},"protocolVersion":"1","serverInfo":{"name":"","version":""}}}"#,
                ),
            ),
            (
                r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"1","capabilities":{},"serverInfo":{"name":"x"}}}"#,
                Some(
                    r#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{},"protocolVersion":"1","serverInfo":{"name":"x","version":""}}}"#,
                ),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":"\ud83d and \ud83d\ude00 and \\ud83d \ude00"}"#,
                Some(
                    r#"{"jsonrpc":"2.0","id":1,"result":"\ufffd and \ud83d\ude00 and \\ud83d \ufffd"}"#,
                ),
            ),
            (
                r#" [ {"jsonrpc":"2.0","id":1,"result":{}} ]"#,
                Some(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            ),
            // These mean nothing, or something else.
            (r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, None),
            (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, None),
            (r#"[{"jsonrpc":"2.0","id":1,"result":{}},{}]"#, None),
            (r#"[{"id":1,"method":"x"}]"#, None),
            (r#"{"id":1,"method":"x","result":{}}"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"result":NaN}"#, None),
            (r#"{"a":"\u12"#, None),
            ("\\", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let found = mended(text, &|| None);
            assert_eq!(found.text, expected.unwrap_or(text), "{text}");
            assert_eq!(found.remarks.is_empty(), expected.is_none(), "{text}");
        }
    }

    #[test]
    fn what_names_no_request_answers_the_only_one() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#, 0),
            (r#"{"jsonrpc":"2.0","error":{"code":1}}"#, 0),
            (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, 1),
            (r#"{"result":{}}"#, 2),
        ];
        for (text, remarks) in cases {
            let found = mended(text, &|| Some(7.into()));
            let read: serde_json::Value = serde_json::from_str(&found.text).unwrap();
            assert_eq!(read["id"], 7, "{text}");
            assert_eq!(found.remarks.len(), remarks, "{text}");
            let alone = mended(text, &|| None);
            assert_eq!((&*alone.text, alone.remarks.len()), (text, 0));
        }
        let request = r#"{"jsonrpc":"2.0","method":"x"}"#;
        assert_eq!(mended(request, &|| Some(7.into())).text, request);
    }
}
