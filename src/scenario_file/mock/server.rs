//! The `mcp_interactions` section: mock servers, their tools, and `{{references}}` in them that are misspelt.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::declared::{HttpResponses, MockPrompt, MockResource, MockResourceTemplate};
use super::reference::{Filter, Reference};
use super::reply::OnExhausted;
use super::resources::{PromptSection, ResourceSection, TemplateSection};
use super::responses::{MockResponse, ResponseSection};
use crate::model::Object;
use crate::model::placeholder::Alike;
use crate::protocol::Era;
use crate::scenario_file::decode::{
    At, Count, NO_HINT, Named, Plain, Served, Wait, Word, choice, section,
};
use crate::scenario_file::yaml::{Findings, Node, quoted};
use crate::text::nearest::did_you_mean;

/// The keys whose lists tell that a file declares a single server at its top.
pub(in crate::scenario_file) const SERVER_LISTS: [&str; 4] =
    ["tools", "resources", "resource_templates", "prompts"];

/// The most tools of one server.
const MAX_TOOLS: usize = 1000;

section! {
    /// A mock server: what it offers and how it answers.
    MockSection => DeclaredServer, with default {
        /// The name the server gives itself; its name in the scenario unless given.
        name: Option<Word> as Option<String>,
        /// The name people are shown.
        title: Option<String> as Option<String>,
        /// The version the server gives itself; `1.0.0` unless given.
        version: Option<Word> as Option<String>,
        /// Usage instructions the server hands to models.
        instructions: Option<String> as Option<String>,
        /// The tools it offers, in this order.
        tools: Option<Vec<ToolSection>> as Vec<MockTool> = Vec::new(),
        /// The resources it offers, in this order.
        resources: Option<Vec<ResourceSection>> as Vec<MockResource> = Vec::new(),
        /// The resource templates it offers, in this order.
        resource_templates: Option<Vec<TemplateSection>> as Vec<MockResourceTemplate> = Vec::new(),
        /// The prompts it offers, in this order.
        prompts: Option<Vec<PromptSection>> as Vec<MockPrompt> = Vec::new(),
        /// Answers to requests other than tool calls, by method; where none matches, the server answers by itself.
        methods: Option<Named<Vec<ResponseSection>>> as Vec<(String, Vec<MockResponse>)> = Vec::new(),
        /// The server offers logging, even if no step logs.
        logging: Option<bool> as bool = false,
        /// What the server remembers before anything was set.
        state: Option<Object> as Object = Object::new(),
        /// How many entries a page of a list holds; all unless given.
        page_size: Option<Count> as Option<usize>,
        /// Whether the server says that its lists may change.
        list_changed: Option<bool> as Option<bool>,
        /// The eras of MCP it speaks; both unless given. `legacy` are the revisions up to 2025-11-25, which begin with a handshake.
        supports: Option<At<Vec<EraWord>>> as Vec<Era> = vec![Era::Legacy, Era::Stateless],
        /// For how long, and for whom, lists and resources hold, as answers to requests of 2026-07-28 say.
        cache: Option<CacheSection> as CacheHints = CacheHints::default(),
        /// The era of the first request is the only one that is spoken from then on, as by servers that a probe spoils.
        first_message_decides: Option<bool> as bool = false,
        /// Headers that do not repeat the body are refused in requests of 2026-07-28; they are unless this is `false`.
        checks_headers: Option<bool> as bool = true,
        /// How answers to HTTP requests are sent.
        http_responses: Option<HttpResponsesWord> as HttpResponses = HttpResponses::Auto,
    }
}

section! {
    /// For how long, and for whom, lists and resources hold.
    CacheSection => CacheHints, with default {
        /// How long they may be kept; not at all unless given.
        ttl: Option<Wait> as Duration = Duration::ZERO,
        /// Who may keep them; `private` unless given.
        scope: Option<CacheScopeWord> as &'static str = "private",
    }
}

choice! {
    /// Who may keep an answer: everybody on the way, or the client alone.
    CacheScopeWord for &'static str {
        "public" => "public",
        "private" => "private",
    }
}

choice! {
    /// An era of MCP.
    EraWord for Era {
        "legacy" => Era::Legacy,
        "2026-07-28" => Era::Stateless,
    }
}

choice! {
    /// How answers to HTTP requests are sent: `auto` sends JSON, and an event stream where something comes before the answer.
    HttpResponsesWord for HttpResponses {
        "auto" => HttpResponses::Auto,
        "event_stream" => HttpResponses::EventStream,
    }
}

section! {
    /// A tool of a mock server.
    ToolSection, served {
        /// The name the tool is called by.
        name: At<Word> => "name",
        /// The name people are shown.
        title: Option<String> => "title",
        /// What the tool is for.
        description: Option<String> => "description",
        /// JSON Schema of the arguments, served as written.
        input_schema: Option<Object> => "inputSchema",
        /// JSON Schema of the structured content, served as written.
        output_schema: Option<Object> => "outputSchema",
        /// What the tool says about its effects.
        annotations: Option<AnnotationsSection> => "annotations",
        /// `_meta` of the tool, served as written.
        _meta: Option<Object> => "_meta",
        /// The tool is unknown until a step shows it.
        hidden: Option<bool>,
        /// Its answers; the first that matches a call is given. Without any, the tool tells what it was called with.
        responses: Option<Vec<ResponseSection>>,
        /// What follows when all answers that match are used up; `error` unless given.
        on_exhausted: Option<OnExhaustedWord>,
    }
}

choice! {
    /// What follows when all answers that match a call are used up: a tool error, the last of them again, or the answer of a tool without any.
    OnExhaustedWord for OnExhausted {
        "error" => OnExhausted::Error,
        "repeat_last" => OnExhausted::RepeatLast,
        "default" => OnExhausted::Default,
    }
}

section! {
    /// What a tool says about its effects.
    AnnotationsSection, served {
        /// The name people are shown.
        title: Option<String> => "title",
        /// The tool changes nothing.
        read_only_hint: Option<bool> => "readOnlyHint",
        /// The tool may destroy something.
        destructive_hint: Option<bool> => "destructiveHint",
        /// Calling it again with the same arguments changes nothing more.
        idempotent_hint: Option<bool> => "idempotentHint",
        /// The tool deals with things beyond the server, such as the web.
        open_world_hint: Option<bool> => "openWorldHint",
    }
}

impl MockSection {
    /// The tools it declares, shown or not.
    pub(in crate::scenario_file) fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().flatten().map(|it| it.name.0.as_str())
    }

    /// Says so when something is declared twice, or in a place where it means nothing.
    pub(in crate::scenario_file) fn check(&self, findings: &mut Findings) {
        self.check_tools(findings);
        if let Some(supports) = self.supports.as_ref().filter(|it| it.value.is_empty()) {
            findings.error(supports.at, "a server speaks at least one era", NO_HINT);
        }
        let resources = self.resources.iter().flatten().map(|it| &it.uri);
        let templates = self
            .resource_templates
            .iter()
            .flatten()
            .map(|it| &it.uri_template);
        let prompts = self.prompts.iter().flatten().map(|it| &it.name);
        check_unique("resource", resources, findings);
        check_unique("resource template", templates, findings);
        check_unique("prompt", prompts, findings);
        for (method, responses) in self.methods.iter().flat_map(|it| &it.0) {
            if method.value == "tools/call" {
                let message = "calls are answered by the `responses` of their tool";
                findings.error(method.at, message, NO_HINT);
            }
            for response in responses {
                response.check_method(method.at, findings);
            }
        }
    }

    fn check_tools(&self, findings: &mut Findings) {
        let mut names = HashSet::new();
        for tool in self.tools.iter().flatten() {
            if !names.insert(tool.name.0.as_str()) {
                let message = format!("the tool `{}` is declared twice", tool.name.0);
                findings.error(tool.name.at, message, NO_HINT);
            } else if names.len() == MAX_TOOLS + 1 {
                let message = format!("a mock server has at most {MAX_TOOLS} tools");
                findings.error(tool.name.at, message, NO_HINT);
            }
        }
    }
}

fn check_unique<'a>(
    what: &str,
    names: impl Iterator<Item = &'a At<Word>>,
    findings: &mut Findings,
) {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name.0.as_str()) {
            let message = format!("the {what} {} is declared twice", quoted(&name.0));
            findings.error(name.at, message, NO_HINT);
        }
    }
}

impl Plain<MockTool> for ToolSection {
    fn plain(&self, findings: &Findings) -> MockTool {
        let mut served = match self.served() {
            Some(Value::Object(served)) => served,
            _ => Object::new(),
        };
        if self.input_schema.is_none() {
            let before = ["name", "title", "description"];
            let at = before.iter().filter(|it| served.contains_key(**it)).count();
            served.shift_insert(at, "inputSchema".to_owned(), json!({ "type": "object" }));
        }
        MockTool {
            name: self.name.0.clone(),
            served,
            hidden: self.hidden.unwrap_or(false),
            responses: self.responses.plain(findings).unwrap_or_default(),
            on_exhausted: self.on_exhausted.plain(findings).unwrap_or_default(),
            recorded: None,
        }
    }
}

/// One tool of a mock server.
#[derive(Debug, Clone, PartialEq)]
pub struct MockTool {
    pub name: String,
    /// The tool as `tools/list` serves it.
    pub served: Object,
    /// Not in the list, and unknown to callers, until a step shows it; calls of a recorded tool are answered even so.
    pub hidden: bool,
    /// The first response that matches a call answers it.
    pub responses: Vec<MockResponse>,
    pub on_exhausted: OnExhausted,
    /// Its responses are the calls of a recording, whose placeholders for secrets compare like this; the answer to other arguments says how they
    /// differ. `None` for a tool that was declared.
    pub recorded: Option<Alike>,
}

impl MockTool {
    /// A tool known by its name alone, which answers every call the same way.
    pub fn new(name: &str, response: Option<MockResponse>) -> Self {
        let served = [
            ("name".to_owned(), name.into()),
            (
                "inputSchema".to_owned(),
                serde_json::json!({ "type": "object" }),
            ),
        ];
        Self {
            name: name.to_owned(),
            served: served.into_iter().collect(),
            hidden: false,
            responses: response.into_iter().collect(),
            on_exhausted: OnExhausted::default(),
            recorded: None,
        }
    }

    /// JSON Schema of the arguments.
    pub fn input_schema(&self) -> Option<&Value> {
        self.served.get("inputSchema")
    }
}

/// Where references start.
const ROOTS: [&str; 12] = [
    "args",
    "get",
    "counter",
    "now",
    "uuid",
    "tool",
    "uri",
    "id",
    "sampling",
    "elicitation",
    "roots",
    "asked",
];

/// Warns of what looks like a reference and is none. Other braces are anybody's.
pub(in crate::scenario_file) fn check(node: &Node, findings: &mut Findings) {
    node.visit_texts(&mut |node, text| {
        for part in text.split("{{").skip(1) {
            if let Some((inner, _)) = part.split_once("}}") {
                check_one(inner, node, findings);
            }
        }
    });
}

fn check_one(inner: &str, node: &Node, findings: &mut Findings) {
    if findings.is_full(node.at) {
        return;
    }
    let root = inner
        .trim()
        .split(['.', '[', '|', ' '])
        .next()
        .unwrap_or_default();
    let is_known = ROOTS.contains(&root);
    let hint = if is_known {
        let filters = Filter::ALL.map(|it| it.0).join("`, `");
        format!(
            "write `{root}.name`, `{root}.name[args.id]`, and behind it `|` with one of `{filters}`"
        )
    } else {
        match did_you_mean(root, ROOTS) {
            Some(hint) => hint,
            None => return,
        }
    };
    if is_known && Reference::parse(inner).is_some() {
        return;
    }
    let at = findings.find_word(node.at, inner);
    let message = format!("{} is not a reference, and stays as it is", quoted(inner));
    findings.warning(at, message, Some(hint));
}
