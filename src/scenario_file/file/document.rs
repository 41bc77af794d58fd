//! The scenario file as a whole, its small sections, and its JSON Schema.

use schemars::JsonSchema as _;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::scoring::ScoringSection;
use crate::model::Object;
use crate::scenario_file::agent::criteria::{CriterionSection, LimitsSection};
use crate::scenario_file::agent::inputs::InputSection;
use crate::scenario_file::agent::script::ExpectedCalls;
use crate::scenario_file::agent::section::{AgentKind, AgentSection};
use crate::scenario_file::decode::{
    At, CONFIG_FILE, Count, Decode, Field, Fraction, Named, Plain, RedactSection, Template,
    Timeout, Word, drop_foreign, held, mentions, schema, section, shapes, wrong_kind,
};
use crate::scenario_file::evaluators::EvaluatorSection;
use crate::scenario_file::judge::{JudgeKind, JudgeSection};
use crate::scenario_file::measured::{
    self, Files, GatesSection, KindWord, SearchValue, VerdictFormWord,
};
use crate::scenario_file::mock::llm::InteractionSection;
use crate::scenario_file::mock::server::{MockSection, SERVER_LISTS};
use crate::scenario_file::servers::docker::ContainerSection;
use crate::scenario_file::servers::hook::HookSection;
use crate::scenario_file::servers::ready::ReadySection;
use crate::scenario_file::servers::server::{ServerKind, ServerSection};
use crate::scenario_file::servers::source::SourceSection;
use crate::scenario_file::servers::upstream::{UpstreamKind, UpstreamSection};
use crate::scenario_file::yaml::{Content, Findings, Node, quoted};

section! {
    /// A scenario: what a user wants from MCP servers, who asks, what is expected, and how it is scored.
    Document {
        /// What the scenario is about: what an agent does with the tools (`trajectory`, unless given), what a tool search finds (`retrieval`), or what scanners of tool descriptions say (`security`).
        kind: Option<Field<KindWord>>,
        /// What the scenario is called.
        name: Field<At<Word>>,
        /// What the scenario is about.
        description: Option<Field<String>>,
        /// Whether the scenario runs; one that does not is reported as skipped.
        enabled: Option<Field<bool>>,
        /// Words to pick scenarios by.
        tags: Option<Field<Vec<Word>>>,
        /// A configuration file, looked for beside this file, above it and in the working directory; one of an MCP client gives servers.
        config_file: Option<Field<At<Word>>>,
        /// What the user asks for. `{{name}}` is a variable.
        user_intent: Option<Field<String>>,
        /// What the user says, message by message, each after the agent is done with the one before; instead of `user_intent`.
        turns: Option<Field<At<Vec<Word>>>>,
        /// The calls that are expected, in order. An empty list says that nothing is called: a scripted agent then holds the list of tools alone, and one that decides for itself must call none.
        expected_trajectory: Option<Field<At<ExpectedCalls>>>,
        /// What must hold for a run to pass: text that appears in it, or a condition on its calls.
        success_criteria: Option<Field<Vec<At<CriterionSection>>>>,
        /// How a run should be, whatever it was before. Those of `_defaults.yaml` come first, and these are added to them; `null` here takes none of them.
        evaluators: Option<Field<Vec<At<EvaluatorSection>>>>,
        /// What the evaluation score – the mean of the gating evaluators' scores by their weights – must be at least.
        evaluation_threshold: Option<Field<At<Fraction>>>,
        /// Values for `{{name}}` in the user's intent, the expectations and the script. One without a value must be given with `--var`.
        variables: Option<Field<Named<VariableValue>>>,
        /// Other values for variables, by the name of the environment that they are for: `--environment NAME` takes them. Usually in `_defaults.yaml`.
        environments: Option<Field<Named<Named<VariableValue>>>>,
        /// Rows of which each makes a scenario of its own: `{{row.column}}` is replaced by the row's value wherever variables are filled in.
        dataset: Option<Field<DatasetSection>>,
        /// Regular expressions for texts that are secret, and texts that are none: secrets are replaced before anything is stored or shown.
        redact: Option<Field<RedactSection>>,
        /// The servers, by the name their tools are addressed with.
        servers: Option<Field<Named<ServerSection>>>,
        /// Servers behind those, which a proxy calls, by name: calls to them are recorded, too. `{{upstream.NAME.url}}` in `config_file`, or `${upstream.NAME.url}` where a server or its container is started, tells the proxy where they are.
        upstreams: Option<Field<Named<UpstreamSection>>>,
        /// What the mock servers offer and answer, by the server's name.
        mcp_interactions: Option<Field<Named<MockSection>>>,
        /// What a stand-in for a model expects and answers, request by request: `mcp-eval mock --llm FILE` serves it.
        llm_interactions: Option<Field<Vec<InteractionSection>>>,
        /// The container a server under test runs in.
        docker: Option<Field<At<ContainerSection>>>,
        /// Instead of `docker`: several containers on a network of their own, by the names they reach each other by, in the order they are started.
        containers: Option<Field<Named<At<ContainerSection>>>>,
        /// What proves that the servers can be asked, before a run begins: all of them together. Each may have a section of its own, too.
        ready: Option<Field<ReadySection>>,
        /// Commands that are run before each run, one after another, and before its servers are started: what resets that which outlives a run.
        before: Option<Field<Vec<HookSection>>>,
        /// Commands that are run after each run, however it ended.
        after: Option<Field<Vec<HookSection>>>,
        /// Who asks; a scripted agent that plays `expected_trajectory` unless given.
        agent: Option<Field<At<AgentSection>>>,
        /// What the client answers when a server wants to know something during a call. It says of itself that it can answer just that.
        inputs: Option<Field<Vec<InputSection>>>,
        /// The model that judges runs: what `llm-judge` evaluators ask, and what looks at criteria that are prose. `--judge` names another.
        judge: Option<Field<JudgeSection>>,
        /// The system under test.
        source: Option<Field<SourceSection>>,
        /// How long the whole run may take; 300s unless given.
        timeout: Option<Field<Timeout>>,
        /// How long a server may take from its start to its list of tools; 30s unless given.
        connect_timeout: Option<Field<Timeout>>,
        /// How long one tool call may take; 60s unless given.
        tool_timeout: Option<Field<Timeout>>,
        /// What ends a run as failed.
        limits: Option<Field<LimitsSection>>,
        /// What a call is for, where its tool passes calls on: the tool's name, and the way to the text in its arguments that reports call it by, such as `args.name`. The usual tools of gateways are known.
        label: Option<Field<Named<LabelPath>>>,
        /// How the scenario is scored.
        scoring: Option<Field<ScoringSection>>,
        /// With `kind: retrieval`, the file of the tools; with `kind: security`, that of the labelled entries, without which the labels in the verdicts count.
        corpus: Option<Field<At<Word>>>,
        /// With `kind: retrieval`: the file of the labelled queries.
        golden: Option<Field<At<Word>>>,
        /// With `kind: retrieval`: how the search is asked, as in `mcp-eval retrieval --search`. A name, a file, or its keys themselves; `mcpproxy-rest` unless given.
        search: Option<Field<At<SearchValue>>>,
        /// With `kind: retrieval`: where a search over HTTP is. `${docker.url}` and the like are replaced by what a container or the environment gives; where the first server over HTTP is unless given, and without one what `MCPPROXY_BASE_URL` says.
        base_url: Option<Field<Template<Word>>>,
        /// With `kind: retrieval`: the key that it is asked with, best from the environment: `${NAME}`; what `MCPPROXY_API_KEY` says unless given.
        api_key: Option<Field<Template<Word>>>,
        /// With `kind: retrieval`: how often every query is asked; once unless given.
        runs: Option<Field<At<Count>>>,
        /// With `kind: retrieval`: how long to wait at most until the live catalogue has all tools of the corpus and stays so; not at all unless given.
        wait: Option<Field<Timeout>>,
        /// With `kind: retrieval`: the file of figures that are held against those of now, instead of what `record` has kept under `baselines/`.
        baseline: Option<Field<At<Word>>>,
        /// With `kind: security`: the file of what scanners said, or several, each of one run.
        verdicts: Option<Field<Files>>,
        /// With `kind: security`: the form of the verdicts, where it is not recognised.
        format: Option<Field<VerdictFormWord>>,
        /// With `kind: retrieval` and `kind: security`: what must come of the measurement.
        gates: Option<Field<At<GatesSection>>>,
    }
}

section! {
    /// A variable whose value is secret, or not.
    VariableSection {
        /// The value; a secret one may refer to environment variables: `${NAME}` or `${NAME:-default}`.
        value: VariableLeaf,
        /// Whether the value is taken out of everything stored or shown; false unless given.
        secret: Option<bool>,
    }
}

/// A value by itself, or `{ value: …, secret: true }`.
///
/// Values are filled in before sections are read, so that only the type is of interest here.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct VariableValue;

impl Decode for VariableValue {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if matches!(node.content, Content::Map(_)) {
            VariableSection::decode(node, findings)?;
        } else {
            VariableLeaf::decode(node, findings)?;
        }
        Some(Self)
    }
}

/// Text, a number, true or false; nothing, when `--var` must give the value.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct VariableLeaf;

impl Decode for VariableLeaf {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if matches!(node.content, Content::List(_) | Content::Map(_)) {
            return wrong_kind(node, "text, a number, true or false", findings);
        }
        Some(Self)
    }
}

schema!(VariableLeaf, {"type": ["string", "number", "boolean", "null"]});

schema!(VariableValue, |generator| {
    let (leaf, section) = (
        generator.subschema_for::<VariableLeaf>(),
        generator.subschema_for::<VariableSection>(),
    );
    schemars::json_schema!({"anyOf": [leaf, section]})
});

/// Takes out of a document over its defaults what these say of another kind of scenario, agent or server than the document has.
pub(in crate::scenario_file) fn drop_foreign_defaults(document: &mut Node) {
    measured::drop_foreign_defaults(document);
    if let Some(agent) = document.get_mut("agent") {
        drop_foreign::<AgentKind>(agent);
    }
    if let Some(judge) = document.get_mut("judge") {
        drop_foreign::<JudgeKind>(judge);
    }
    if let Some(servers) = document.get_mut("servers") {
        for server in servers.entries_mut() {
            drop_foreign::<ServerKind>(&mut server.value);
        }
    }
    if let Some(upstreams) = document.get_mut("upstreams") {
        for upstream in upstreams.entries_mut() {
            drop_foreign::<UpstreamKind>(&mut upstream.value);
        }
    }
}

/// The value of an optional key, where it is given and right.
pub(in crate::scenario_file) fn given<T>(field: Option<&Field<T>>) -> Option<&T> {
    field.and_then(Field::given)
}

/// The same as it is used; the default of its type where it is not given, or wrong.
pub(in crate::scenario_file) fn given_or_default<T: Default, S: Plain<T>>(
    field: Option<&Field<S>>,
    findings: &Findings,
) -> T {
    let plain: Option<T> = given(field).plain(findings);
    plain.unwrap_or_default()
}

/// Whether a key is given but wrong, so that nothing can be said of what it should hold.
pub(in crate::scenario_file) fn is_wrong<T>(field: Option<&Field<T>>) -> bool {
    matches!(field, Some(Field::Wrong))
}

impl Document {
    pub(in crate::scenario_file) fn config_file(&self) -> Option<&At<Word>> {
        given(self.config_file.as_ref())
    }

    /// Whether the configuration file is for the system under test, which finds it in its container or is given its path, and says nothing of
    /// the servers we talk to.
    pub(in crate::scenario_file) fn config_is_passed_on(&self) -> bool {
        let containers = self.container_sections();
        let mut is_passed_on = containers.iter().any(|(_, it)| it.config_target.is_some());
        self.servers
            .templates(&mut |_, text| is_passed_on |= mentions(text, CONFIG_FILE));
        is_passed_on
    }

    /// Whether it says where servers are, or what they run in; so does a key that is wrong.
    pub(in crate::scenario_file) fn declares_servers(&self) -> bool {
        self.servers.is_some()
            || self.upstreams.is_some()
            || self.mcp_interactions.is_some()
            || self.docker.is_some()
            || self.containers.is_some()
    }

    /// The servers behind the ones under test, by name.
    pub(in crate::scenario_file) fn upstream_sections(&self) -> &[(At<String>, UpstreamSection)] {
        given(self.upstreams.as_ref()).map_or(&[][..], |it| &it.0)
    }

    /// The containers, in the order they are started; the only one has no name.
    pub(in crate::scenario_file) fn container_sections(
        &self,
    ) -> Vec<(Option<&str>, &At<ContainerSection>)> {
        let only = given(self.docker.as_ref()).map(|it| (None, it));
        let several = given(self.containers.as_ref()).into_iter();
        let several = several.flat_map(|it| &it.0);
        let several = several.map(|(name, it)| (Some(name.value.as_str()), it));
        only.into_iter().chain(several).collect()
    }
}

shapes! {
    /// Rows of which each makes a scenario: a file (`.csv`, `.jsonl` or `.yaml`), the rows themselves, or a map that says more.
    DatasetSection, "the name of a file, a list of rows, or a map" {
        Text => File(At<Word>),
        List => Rows(Vec<At<Object>>),
        Map => Fields(Box<DatasetFields>),
    }
}

section! {
    /// Rows of which each makes a scenario, and where their ids come from.
    DatasetFields {
        /// A file of rows, relative to this one: `.csv` with names of columns in the first line, `.jsonl` with an object per line, or `.yaml` with a list of maps.
        file: Option<At<Word>>,
        /// The rows themselves, instead of a file.
        rows: Option<Vec<At<Object>>>,
        /// The column whose values name the rows; `id` where there is such a column, and their numbers, from 1, where there is none.
        id: Option<At<Word>>,
    }
}

/// The way to a text in the arguments of a call: `args.name`, `args.request.tool`.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct LabelPath(pub(in crate::scenario_file) Vec<String>);

impl Decode for LabelPath {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let text = String::decode(node, findings)?;
        let steps = text.strip_prefix("args.").into_iter();
        let steps: Vec<String> = steps
            .flat_map(|it| it.split('.'))
            .map(str::to_owned)
            .collect();
        if steps.is_empty() || steps.iter().any(String::is_empty) {
            let message = format!("{} is not the path of an argument", quoted(&text));
            let hint = "write `args.name`, or `args.request.tool` for a nested argument";
            return findings.refuse(node.at, message, Some(hint));
        }
        Some(Self(steps))
    }
}

held!(LabelPath as Vec<String>);

schema!(LabelPath as "LabelPath", {
    "description": "The way to a text in the arguments of a call: `args.name`, `args.request.tool`.",
    "type": "string",
    "pattern": r"^args(\.[^.]+)+$",
});

/// The JSON Schema (draft 2020-12) of a scenario file, made from the types it is read into.
///
/// It says what can be said without looking at two places at once; the loader finds more.
pub fn json_schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Document>();
    schema.insert("title".to_owned(), "mcp-eval scenario".into());
    schema.to_value()
}

/// The JSON Schema (draft 2020-12) of a file that `mcp-eval mock` serves. The keys of a file show which of its forms it has, in this
/// order: a scenario, or a part of one, with `mcp_interactions` or `llm_interactions`; a single server; servers by name.
pub fn mock_json_schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let scenario = generator.subschema_for::<Document>();
    let server = generator.subschema_for::<MockSection>();
    let mut definitions = generator.take_definitions(true);
    // A file that holds nothing but mock servers has no name, and nobody who asks.
    if let Some(document) = definitions.get_mut(&*Document::schema_name()) {
        let document = document.as_object_mut();
        document.map(|it| it.remove("required"));
    }
    let has = |keys: &[&str]| {
        let any: Vec<Value> = keys.iter().map(|it| json!({ "required": [it] })).collect();
        json!({ "anyOf": any })
    };
    let has_list = |keys: &[&str]| {
        let any = keys
            .iter()
            .map(|it| json!({ "required": [it], "properties": { *it: { "type": "array" } } }));
        json!({ "anyOf": any.collect::<Vec<_>>() })
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mcp-eval mock servers",
        "type": "object",
        "if": has(&["mcp_interactions", "llm_interactions"]),
        "then": scenario,
        "else": {
            "if": has_list(&SERVER_LISTS),
            "then": server,
            "else": { "additionalProperties": server, "minProperties": 1 },
        },
        "$defs": definitions,
    })
}
