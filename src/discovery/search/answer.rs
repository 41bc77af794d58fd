//! An answer of a search, read as it is declared.

use std::time::Duration;

use serde_json::Value;

use super::items;
use super::spec::{Search, Split};
use crate::discovery::measures::DEPTH;
use crate::http_client::{NoReply, Silence};
use crate::model::Trouble;
use crate::model::json_path::JsonPath;
use crate::text;

/// How much is shown of an error.
const SHOWN: usize = 200;

/// How many answers of the same length, the greatest, it takes at least to see that a search has such a bound.
const FEWEST: usize = 3;

/// What a search answered to one query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    pub found: Vec<Found>,
    /// How long the answer was, in bytes.
    pub bytes: usize,
    pub took: Duration,
    /// What it says of a failure in words besides.
    pub trouble: Option<String>,
}

/// One thing that was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    pub id: String,
    pub score: Option<f64>,
    /// Which of the places that a search lists it stood at, from 0.
    pub list: usize,
}

impl Answer {
    /// The ids, in the order of the answer.
    pub fn ids(&self) -> Vec<&str> {
        self.found.iter().map(|it| it.id.as_str()).collect()
    }
}

/// What there is to know of a search once it has been answered, in sentences: what looks as if it were declared wrongly, and what its answers
/// cannot tell.
pub fn doubts(search: &Search, runs: &[Vec<Answer>]) -> Vec<String> {
    let mut warnings = Vec::new();
    let found = || runs.iter().flatten().flat_map(|it| &it.found);
    if let Some(score) = &search.score
        && found().count() > 0
        && !found().any(|it| it.score.is_some())
    {
        warnings.push(format!(
            "warning: `score` is `{score}`, and nothing that was found has a number there, so that nothing is known of equal scores"
        ));
    }
    // A list that may be the whole answer is one or the other.
    let is_either = search.list.iter().any(|it| it.parts().is_empty());
    if found().count() > 0 && !is_either {
        let idle = search.list.iter().enumerate();
        let idle = idle.filter(|(list, _)| !found().any(|it| it.list == *list));
        warnings.extend(idle.map(|(_, path)| {
            format!("warning: nothing was found at `{path}`, one of the places in `list`: is it spelled as in the answers?")
        }));
    }
    warnings.extend(capped(runs));
    let answers = || runs.iter().flatten();
    let troubles: Vec<&str> = answers().filter_map(|it| it.trouble.as_deref()).collect();
    if let Some(first) = troubles.first() {
        warnings.push(format!(
            "warning: {} of {} answers speak of a failure beside what they list: {first}",
            troubles.len(),
            answers().count()
        ));
    }
    warnings
}

/// That a search answers at most so many, whatever is asked for: a quarter of the answers are as long as the longest, and that is too short.
fn capped(runs: &[Vec<Answer>]) -> Option<String> {
    let lengths = || runs.iter().flatten().map(|it| it.found.len());
    let most = lengths().max().filter(|it| *it < DEPTH)?;
    let (all, full) = (
        lengths().count(),
        lengths().filter(|it| *it == most).count(),
    );
    let is_capped = most > 0 && full >= FEWEST && 4 * full >= all;
    is_capped.then(|| {
        format!(
            "warning: the search seems to answer {most} ids at most ({full} of {all} answers have so many), although {DEPTH} are asked for: Recall@{DEPTH} and whatever looks at {DEPTH} ids is no more than {most} can give"
        )
    })
}

/// What was found, in the order of the answer.
///
/// # Errors
///
/// In a fragment, why this is no answer of such a search. What is no answer is not an empty one.
pub fn read_answer(search: &Search, said: &Said) -> Result<Vec<Found>, String> {
    let found = said.first(|documents| {
        let mut found = None;
        for document in documents {
            refuse_failure(document)?;
            for (list, path) in search.list.iter().enumerate() {
                // Of several places, the whole answer is one where it is a list itself.
                let is_whole = path.parts().is_empty();
                if is_whole && search.list.len() > 1 && !document.is_array() {
                    continue;
                }
                let Some(items) = items(document, path) else {
                    continue;
                };
                let found: &mut Vec<Found> = found.get_or_insert_default();
                for item in items {
                    found.push(Found {
                        id: id(&search.id, search.split(), item)?,
                        score: search.score.as_ref().and_then(|path| number(path, item)),
                        list,
                    });
                }
            }
        }
        Ok(found)
    })?;
    found.ok_or_else(|| {
        let paths: Vec<String> = search.list.iter().map(|it| format!("`{it}`")).collect();
        format!("the answer has no {}", paths.join(" and no "))
    })
}

/// REST APIs and tools say so where they have failed although the status says otherwise, or where what they list is not all.
pub(super) fn refuse_failure(document: &Value) -> Result<(), String> {
    let has_failed = match document.get("success") {
        Some(Value::Bool(success)) => !success,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("false"),
        _ => false,
    };
    let is_said = |it: &&Value| match it {
        Value::Null => false,
        Value::Bool(is_so) => *is_so,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
    };
    let mut errors = ["error", "errors"].into_iter();
    let said = errors.find_map(|key| document.get(key).filter(is_said));
    if !has_failed && said.is_none() {
        return Ok(());
    }
    let why = said.map(|it| {
        let message = it.as_str().or_else(|| it.get("message")?.as_str());
        message.map_or_else(|| it.to_string(), str::to_owned)
    });
    let why = why.unwrap_or_else(|| "of which it says no more".to_owned());
    let why = text::shorten(&why, SHOWN);
    Err(format!("it answered an error: {}", text::line(&why)))
}

fn number(path: &JsonPath, item: &Value) -> Option<f64> {
    // -0 is 0.
    path.find(item).first()?.as_f64().map(|it| it + 0.0)
}

/// The id of an item: the template with its paths filled in, in the form `server:tool`.
///
/// # Errors
///
/// Which path leads to no text.
pub(super) fn id(template: &str, split: Option<Split<'_>>, item: &Value) -> Result<String, String> {
    let mut id = String::new();
    let mut rest = template;
    let mut parts = Vec::new();
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((path, behind)) = after.split_once("}}") else {
            return Err(format!("the id `{template}` lacks a `}}}}`"));
        };
        let path = path.trim();
        let value = JsonPath::parse(path).ok().and_then(|path| {
            let found = path.find(item);
            match found.first()? {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            }
        });
        let Some(value) = value else {
            return Err(format!("something that was found has no text `{path}`"));
        };
        id.push_str(before);
        id.push_str(&value);
        parts.push(value);
        rest = behind;
    }
    id.push_str(rest);
    if let Some(split) = split {
        return Ok(split.apply(&id));
    }
    Ok(match &parts[..] {
        // Where the tool's own name has the server already: `server:server:tool`, or `server` and `server:tool`.
        [server, name] if name.starts_with(&format!("{server}:")) => name.clone(),
        _ => without_doubled_server(id),
    })
}

/// `server:server:tool` as `server:tool`.
pub(super) fn without_doubled_server(id: String) -> String {
    match id.split_once(':') {
        Some((server, rest))
            if rest
                .strip_prefix(server)
                .is_some_and(|it| it.starts_with(':')) =>
        {
            rest.to_owned()
        }
        _ => id,
    }
}

/// What a search said. A tool may say the same twice, as structured content and as text; and a list as one text for each of its items.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// Each of them the whole of what was said, in one or more documents; the first that can be read counts.
    ways: Vec<Vec<Value>>,
}

impl Said {
    /// What is said in one document.
    pub fn in_one(document: Value) -> Self {
        Self {
            ways: vec![vec![document]],
        }
    }

    /// What is said in these ways.
    pub(super) fn in_ways(ways: Vec<Vec<Value>>) -> Self {
        Self { ways }
    }

    /// What `read` finds in the first way in which it finds anything. Texts that hold JSON are looked into where nothing is found otherwise.
    ///
    /// # Errors
    ///
    /// What `read` fails with first.
    pub(super) fn first<T>(
        &self,
        read: impl Fn(&[Value]) -> Result<Option<T>, String>,
    ) -> Result<Option<T>, String> {
        for way in &self.ways {
            if let Some(found) = read(way)? {
                return Ok(Some(found));
            }
        }
        for way in &self.ways {
            let unfolded: Vec<Value> = way.iter().map(unfolded).collect();
            if let Some(found) = read(&unfolded)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The same with the lists and objects that texts in it hold.
fn unfolded(value: &Value) -> Value {
    match value {
        Value::String(text) if text.trim_start().starts_with(['[', '{']) => {
            let held = serde_json::from_str::<Value>(text);
            held.map_or_else(|_| value.clone(), |it| unfolded(&it))
        }
        Value::Array(items) => items.iter().map(unfolded).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(key, it)| (key.clone(), unfolded(it)));
            Value::Object(members.collect())
        }
        _ => value.clone(),
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unanswered {
    /// In a fragment.
    pub why: String,
    /// What another try may find gone.
    pub trouble: Option<Trouble>,
}

impl From<String> for Unanswered {
    /// An answer that is none: asked again, it would be the same.
    fn from(why: String) -> Self {
        Self { why, trouble: None }
    }
}

impl From<NoReply> for Unanswered {
    fn from(it: NoReply) -> Self {
        Self {
            why: it.why,
            trouble: match it.silence {
                Silence::Unasked => None,
                Silence::TooLong => Some(Trouble::Timeout),
                Silence::Broken => Some(Trouble::Transport),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::id;
    use crate::discovery::golden::Corpus;
    use crate::discovery::places::Document;
    use crate::discovery::search::spec::Search;

    #[test]
    fn ids_are_made_of_parts_of_an_item() {
        let item = json!({ "tool": { "server_name": "files", "name": "read" }, "n": 3 });
        let made = |template: &str| id(template, None, &item);
        assert_eq!(
            made("{{tool.server_name}}:{{tool.name}}").unwrap(),
            "files:read"
        );
        assert_eq!(made("{{ n }}:x").unwrap(), "3:x");
        assert!(made("{{tool.none}}").unwrap_err().contains("tool.none"));
        assert!(made("{{tool").is_err());
        let named = |name: &str, template: &str| {
            id(template, None, &json!({ "server": "files", "name": name })).unwrap()
        };
        let both = "{{server}}:{{name}}";
        assert_eq!(named("files:read", both), "files:read");
        assert_eq!(named("files:files:read", "{{name}}"), "files:read");
        // A server may be called as its tool.
        assert_eq!(named("files", both), "files:files");
    }

    #[test]
    fn ids_are_split_as_the_corpus_has_them() {
        let declared = json!({
            "tool": { "name": "find", "arguments": { "query": "{{query}}" } },
            "list": "tools", "id": "{{name}}", "split": "_",
        });
        let mut search = Search::read(&declared).unwrap();
        let split = |search: &Search, name: &str| {
            id("{{name}}", search.split(), &json!({ "name": name })).unwrap()
        };
        assert_eq!(split(&search, "my_files_read"), "my:files_read");
        assert_eq!(split(&search, "files"), "files");
        let tool = |server: &str, name: &str| json!({ "tool_id": format!("{server}:{name}"), "server": server, "tool": name });
        let tools = [
            tool("my", "files_read"),
            tool("my_files", "list_all"),
            tool("a_b_c", "d"),
        ];
        let corpus = json!({ "tools": tools }).to_string();
        let corpus = Document::parse("c.json", corpus).unwrap();
        search.knows(&Corpus::read(&corpus).unwrap());
        for (name, expected) in [
            ("my_files_list_all", "my_files:list_all"),
            // It is there so, and not otherwise.
            ("my_files_read", "my:files_read"),
            // The server is known, and this tool is new.
            ("my_files_write", "my_files:write"),
            ("a_b_c_d", "a_b_c:d"),
            ("new_tool", "new:tool"),
        ] {
            assert_eq!(split(&search, name), expected);
        }
    }
}
