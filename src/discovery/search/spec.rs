//! The declaration of a search.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::discovery::golden::Corpus;
use crate::model::json_path::JsonPath;
use crate::scenario_file::measured::SEARCHES;
use crate::text::nearest::did_you_mean;

/// The keys of a declaration.
const KEYS: [&str; 10] = [
    "name",
    "preset",
    "http",
    "tool",
    "list",
    "id",
    "split",
    "score",
    "finds",
    "catalogue",
];

/// How to ask a search, and where in its answer the ids stand.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// What it is called in reports.
    #[serde(default)]
    pub name: String,
    /// Either this or `tool`.
    #[serde(default)]
    http: Option<HttpAsk>,
    #[serde(default)]
    tool: Option<ToolAsk>,
    /// Where the lists of what was found stand in the answer, joined in this order.
    #[serde(deserialize_with = "paths")]
    pub list: Vec<JsonPath>,
    /// How an id is made of one item: `"{{server_name}}:{{name}}"`, in which each name is a path within the item.
    pub id: String,
    /// What stands between server and tool in such an id, where that is not `:`.
    #[serde(default)]
    split: Option<String>,
    /// Where the score stands in an item.
    #[serde(default, deserialize_with = "path")]
    pub score: Option<JsonPath>,
    #[serde(default)]
    pub finds: Finds,
    /// How the live catalogue is listed; without it, nothing is known of it.
    #[serde(default)]
    pub catalogue: Option<Listing>,
    /// What is searched, by which an id is split that could be split in several ways.
    #[serde(skip)]
    known: Known,
}

/// The ids of a corpus and its servers.
#[derive(Debug, Clone, Default)]
struct Known {
    ids: HashSet<String>,
    servers: HashSet<String>,
}

/// How an id is split into server and tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Split<'a> {
    /// What stands between them.
    sign: &'a str,
    known: &'a Known,
}

impl Split<'_> {
    /// The id in the form `server:tool`. Where names of servers hold the sign, too, it is split so that the corpus has the id, else so that it
    /// has the server, with the longest name if there are several; else at the first sign.
    pub(super) fn apply(self, id: &str) -> String {
        let places = id.match_indices(self.sign);
        let ways = places.map(|(at, sign)| (&id[..at], &id[at + sign.len()..]));
        let ways: Vec<(&str, &str)> = ways.collect();
        let joined = |(server, tool): &(&str, &str)| format!("{server}:{tool}");
        let has_id = |it: &&(&str, &str)| self.known.ids.contains(&joined(it));
        let has_server = |it: &&(&str, &str)| self.known.servers.contains(it.0);
        let mut backwards = ways.iter().rev();
        let found = backwards
            .clone()
            .find(has_id)
            .or_else(|| backwards.find(has_server))
            .or(ways.first());
        found.map_or_else(|| id.to_owned(), joined)
    }
}

/// By what a search is asked.
#[derive(Debug, Clone, Copy)]
pub enum Ask<'a> {
    Http(&'a HttpAsk),
    Tool(&'a ToolAsk),
}

impl Search {
    /// Reads a declaration, of which a `preset` may hold what it does not say itself.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(declared: &Value) -> Result<Self, String> {
        let Value::Object(own) = declared else {
            return Err("a search is declared by keys and values".to_owned());
        };
        let mut own = own.clone();
        let mut all = match own.shift_remove("preset") {
            None => Map::new(),
            Some(Value::String(name)) => {
                let Some(Value::Object(it)) = preset(&name) else {
                    let known = SEARCHES.join(", ");
                    return Err(format!("there is no preset `{name}`; there are {known}"));
                };
                it
            }
            Some(_) => return Err("`preset` is a name".to_owned()),
        };
        // Another way of asking takes the place of the preset's, and another tool's arguments are not the preset's.
        if own.contains_key("http") || own.contains_key("tool") {
            let known = own.get("tool").and_then(Value::as_object);
            if let (Some(tool), Some(Value::Object(preset))) = (known, all.get("tool"))
                && !tool.contains_key("name")
            {
                let mut tool = tool.clone();
                for (key, value) in preset {
                    tool.entry(key.as_str()).or_insert_with(|| value.clone());
                }
                own.insert("tool".to_owned(), Value::Object(tool));
            }
            all.shift_remove("http");
            all.shift_remove("tool");
        }
        all.extend(own);
        if let Some(key) = all.keys().find(|it| !KEYS.contains(&it.as_str())) {
            let hint = did_you_mean(key, KEYS)
                .unwrap_or_else(|| format!("known here: {}", KEYS.join(", ")));
            return Err(format!("unknown key `{key}`; {hint}"));
        }
        let search: Self =
            serde_json::from_value(Value::Object(all)).map_err(|error| without_value(&error))?;
        let asks = |http: bool, tool: bool| match (http, tool) {
            (true, true) => Err("either `http` or `tool` says how to ask, not both".to_owned()),
            (false, false) => Err("`http` or `tool` must say how to ask".to_owned()),
            _ => Ok(()),
        };
        asks(search.http.is_some(), search.tool.is_some())?;
        if let Some(it) = &search.catalogue {
            asks(it.http.is_some(), it.tool.is_some()).map_err(|it| format!("catalogue: {it}"))?;
        }
        if search.list.is_empty() {
            return Err("`list` must say where the list is in the answer".to_owned());
        }
        search.check_templates()?;
        Ok(search)
    }

    /// Refuses what would be sent as it stands, and a search that is asked the same whatever the query.
    fn check_templates(&self) -> Result<(), String> {
        let texts = match self.ask() {
            Ask::Http(ask) => ask.texts("http", &["query", "limit", "base_url", "api_key"])?,
            Ask::Tool(ask) => ask.texts("tool", &["query", "limit"])?,
        };
        if !texts.iter().any(|it| it.contains("{{query}}")) {
            let part = if self.tool.is_some() { "tool" } else { "http" };
            return Err(format!(
                "`{part}` asks the same for every query: it does not contain `{{{{query}}}}`"
            ));
        }
        match self.catalogue.as_ref().map(Listing::ask) {
            Some(Ask::Http(ask)) => ask.texts("catalogue.http", &["base_url", "api_key"]),
            Some(Ask::Tool(ask)) => ask.texts("catalogue.tool", &[]),
            None => return Ok(()),
        }?;
        Ok(())
    }

    /// How it is asked.
    pub fn ask(&self) -> Ask<'_> {
        asked(self.http.as_ref(), self.tool.as_ref())
    }

    /// Tells it what is searched, by which ids are split.
    pub fn knows(&mut self, corpus: &Corpus) {
        self.known = Known {
            ids: corpus.tools.iter().map(|it| it.id.clone()).collect(),
            servers: corpus.tools.iter().map(|it| it.server.clone()).collect(),
        };
    }

    /// How ids are split that have something else than `:` between server and tool.
    pub(super) fn split(&self) -> Option<Split<'_>> {
        let sign = self.split.as_deref().filter(|it| !it.is_empty())?;
        Some(Split {
            sign,
            known: &self.known,
        })
    }

    /// The headers it sends, by which variables may be named.
    pub fn headers(&self) -> impl Iterator<Item = &String> {
        let listing = self.catalogue.as_ref().and_then(|it| it.http.as_ref());
        let asks = self.http.iter().chain(listing);
        asks.flat_map(|it| it.headers.values())
    }

    /// Whether it, or its catalogue, is asked where a proxy is, or with that proxy's key.
    pub fn needs_place(&self) -> bool {
        let listing = self.catalogue.as_ref().and_then(|it| it.http.as_ref());
        let known = ["base_url", "api_key", "query", "limit"];
        let mut asks = self.http.iter().chain(listing);
        asks.any(|ask| {
            let texts = ask.texts("http", &known).unwrap_or_default();
            let mut texts = texts.iter();
            texts.any(|it| it.contains("{{base_url}}") || it.contains("{{api_key}}"))
        })
    }

    /// Whether it, or its catalogue, is asked as a tool of an MCP server.
    pub fn needs_session(&self) -> bool {
        let listing = self.catalogue.as_ref();
        self.tool.is_some() || listing.is_some_and(|it| it.tool.is_some())
    }
}

impl HttpAsk {
    /// Its texts, in which only these names may stand.
    fn texts(&self, part: &str, known: &[&str]) -> Result<Vec<&str>, String> {
        let mut texts = Vec::new();
        let mut add = |text, place: &str| placed(text, place, known).map(|()| texts.push(text));
        add(&self.url, &format!("{part}.url"))?;
        for (key, it) in &self.query {
            add(it, &format!("{part}.query.{key}"))?;
        }
        for (key, it) in &self.headers {
            add(it, &format!("{part}.headers.{key}"))?;
        }
        for text in self.body.iter().flat_map(texts_of) {
            add(text, &format!("{part}.body"))?;
        }
        Ok(texts)
    }
}

impl ToolAsk {
    /// The texts of its arguments, in which only these names may stand.
    fn texts(&self, part: &str, known: &[&str]) -> Result<Vec<&str>, String> {
        let mut texts = Vec::new();
        for (key, value) in &self.arguments {
            for text in texts_of(value) {
                placed(text, &format!("{part}.arguments.{key}"), known)?;
                texts.push(text);
            }
        }
        Ok(texts)
    }
}

/// The texts within a value, without its keys.
fn texts_of(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts_of).collect(),
        Value::Object(members) => members.values().flat_map(texts_of).collect(),
        _ => Vec::new(),
    }
}

/// Refuses a text with a name in braces that nobody fills in.
fn placed(text: &str, place: &str, known: &[&str]) -> Result<(), String> {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("{{") {
        let Some((name, _)) = after.split_once("}}") else {
            break;
        };
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        let trimmed = name.trim();
        if !trimmed.is_empty() && trimmed.chars().all(is_word) && !known.contains(&name) {
            let known: Vec<String> = known.iter().map(|it| format!("{{{{{it}}}}}")).collect();
            let are = if known.len() == 1 { "is" } else { "are" };
            let there_are = if known.is_empty() {
                "nothing is filled in there".to_owned()
            } else {
                format!("only {} {are} filled in there", known.join(", "))
            };
            return Err(format!(
                "`{{{{{name}}}}}` in `{place}` would be sent as is: {there_are}"
            ));
        }
        rest = after;
    }
    Ok(())
}

impl Listing {
    /// How it is asked.
    pub fn ask(&self) -> Ask<'_> {
        asked(self.http.as_ref(), self.tool.as_ref())
    }
}

/// What is wrong with a declaration, without the text that stands in the wrong place: an address may hold a password.
fn without_value(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match (message.find("string \""), message.rfind("\", expected")) {
        (Some(start), Some(end)) if start < end => {
            format!("{}a text{}", &message[..start], &message[end + 1..])
        }
        _ => message,
    }
}

/// Exactly one of the two is there, as [`Search::read`] has seen to.
fn asked<'a>(http: Option<&'a HttpAsk>, tool: Option<&'a ToolAsk>) -> Ask<'a> {
    static NOWHERE: LazyLock<HttpAsk> = LazyLock::new(HttpAsk::default);
    match (http, tool) {
        (_, Some(tool)) => Ask::Tool(tool),
        (Some(http), None) => Ask::Http(http),
        (None, None) => Ask::Http(&NOWHERE),
    }
}

/// A request over HTTP. `{{query}}`, `{{limit}}`, `{{base_url}}` and `{{api_key}}` are filled in.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpAsk {
    pub url: String,
    #[serde(default = "get")]
    pub method: String,
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub body: Option<Value>,
}

/// A call of a tool of an MCP server. `{{query}}` and `{{limit}}` are filled into the arguments.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolAsk {
    /// The server, where there are several.
    #[serde(default)]
    pub server: Option<String>,
    pub name: String,
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// How a live catalogue is listed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    #[serde(default)]
    http: Option<HttpAsk>,
    #[serde(default)]
    tool: Option<ToolAsk>,
    #[serde(deserialize_with = "paths")]
    pub list: Vec<JsonPath>,
    pub id: String,
    #[serde(default = "description")]
    pub description: String,
    #[serde(default = "schema")]
    pub schema: String,
}

/// What a search finds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Finds {
    #[default]
    Tools,
    /// Servers: a label is met by the server of its tool.
    Servers,
}

fn get() -> String {
    "GET".to_owned()
}

fn description() -> String {
    "description".to_owned()
}

fn schema() -> String {
    "schema".to_owned()
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

fn paths<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<JsonPath>, D::Error> {
    let texts = match OneOrMany::deserialize(from)? {
        OneOrMany::One(text) => vec![text],
        OneOrMany::Many(texts) => texts,
    };
    texts.iter().map(|it| parsed(it)).collect()
}

fn path<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<JsonPath>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.as_deref().map(parsed).transpose()
}

fn parsed<E: serde::de::Error>(text: &str) -> Result<JsonPath, E> {
    JsonPath::parse(text).map_err(|why| E::custom(format!("`{text}` is not a path: {why}")))
}

/// What is declared of a known search.
pub fn preset(name: &str) -> Option<Value> {
    let query_and_limit = json!({ "query": "{{query}}", "limit": "{{limit}}" });
    Some(match name {
        "mcpproxy-rest" => json!({
            "name": name,
            "http": {
                "url": "{{base_url}}/api/v1/index/search",
                "query": { "q": "{{query}}", "limit": "{{limit}}" },
                "headers": { "X-API-Key": "{{api_key}}" },
            },
            "list": "data.results",
            "id": "{{tool.server_name}}:{{tool.name}}",
            "score": "score",
            "catalogue": {
                "http": {
                    "url": "{{base_url}}/api/v1/tools",
                    "headers": { "X-API-Key": "{{api_key}}" },
                },
                "list": "data.tools",
                "id": "{{server_name}}:{{name}}",
            },
        }),
        "mcpproxy" => json!({
            "name": name,
            "tool": { "name": "retrieve_tools", "arguments": query_and_limit },
            "list": "tools",
            "id": "{{server}}:{{name}}",
            "score": "score",
        }),
        "toolhive" => json!({
            "name": name,
            "tool": {
                "name": "find_tool",
                "arguments": { "tool_description": "{{query}}", "tool_keywords": [], "limit": "{{limit}}" },
            },
            "list": "tools",
            "id": "{{name}}",
            "split": "_",
        }),
        "docker-find" => json!({
            "name": name,
            "tool": { "name": "mcp-find", "arguments": query_and_limit },
            "list": "servers",
            "id": "{{name}}",
            "finds": "servers",
        }),
        "fastmcp" => json!({
            "name": name,
            "tool": { "name": "search_tools", "arguments": { "query": "{{query}}" } },
            "list": ["$", "result"],
            "id": "{{name}}",
            "split": "_",
        }),
        _ => return None,
    })
}
