//! The `scoring` section.

use schemars::{JsonSchema, json_schema};
use serde_json::Value;

use crate::model::Object;
use crate::model::rules::{
    ArgumentMatch, ArgumentRule, ErrorSign, ErrorSigns, Gate, Match, Preset, ReadRule, Responses,
    Rules, Slower, Tokens,
};
use crate::scenario_file::decode::values::{Count, Fraction, Once, Pattern, Positive, Wait, Word};
use crate::scenario_file::decode::{
    At, Decode, NO_HINT, Named, choice, choose, one_key, only_entry, schema, section, shapes,
    wrong_kind,
};
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::node::{Content, Node};
use crate::scenario_file::yaml::source::{Findings, Mark};

choice! {
    /// Which family of formulas to use: `standard`, or `classic` for those of the original tool.
    PresetWord for Preset {
        "standard" => Preset::Standard,
        "classic" => Preset::Classic,
    }
}

choice! {
    /// How calls are matched, and what an extra or missing call costs.
    MatchWord for Match {
        "similar" => Match::Similar,
        "exact" => Match::Exact,
        "in_order" => Match::InOrder,
        "any_order" => Match::AnyOrder,
        "strict" => Match::Strict,
        "unordered" => Match::Unordered,
        "subset" => Match::Subset,
        "superset" => Match::Superset,
    }
}

choice! {
    /// How answers are compared: `stable` fails whatever did not vary while recording and is another now.
    ResponsesWord for Responses {
        "stable" => Responses::Stable,
        "similar" => Responses::Similar,
        "exact" => Responses::Exact,
        "shape" => Responses::Shape,
        "ignore" => Responses::Ignore,
    }
}

choice! {
    /// What a finding does to the verdict.
    GateWord for Gate {
        "warn" => Gate::Warn,
        "fail" => Gate::Fail,
        "ignore" => Gate::Ignore,
    }
}

section! {
    /// How the scenario is scored.
    ScoringSection, checked by check {
        /// The lowest overall score that passes, 0 to 1; 0.8 unless given.
        threshold: Option<Fraction>,
        /// With `--repeat`, the lowest share of the runs that passes, 0 to 1; 1 unless given.
        pass_threshold: Option<Fraction>,
        /// The family of formulas; `standard` unless given.
        preset: Option<PresetWord>,
        /// How calls are matched; `similar` unless given.
        r#match: Option<MatchWord>,
        /// How answers are compared; `stable` unless given.
        responses: Option<ResponsesWord>,
        /// What a breaking change of the tools on offer does to the verdict; `warn` unless given.
        drift: Option<GateWord>,
        /// Rules for single arguments, by `name` or `tool.name`; a later rule wins over an earlier one.
        args: Option<Named<ArgumentRuleSection>>,
        /// Calls that only read, whatever the server says of them.
        reads: Option<Vec<ReadSection>>,
        /// Whether whatever changed fails, save slower calls and tokens, which have a `gate` of their own; `false` unless given.
        strict: Option<bool>,
        /// JSON paths into answers that are left out of the comparison; `*` matches any key or index.
        ignore: Option<Vec<Word>>,
        /// What tells that an answer is an error although the server does not say so, besides the usual signs; `false` looks for none.
        errors: Option<ErrorsSection>,
        /// When a call counts as slower than before.
        slower: Option<SlowerSection>,
        /// When a run counts as using more tokens than before.
        tokens: Option<TokensSection>,
        /// How long after one take of a recording the next one begins; 1.1s unless given, so that what a clock makes to the second differs.
        takes_apart: Option<Wait>,
        /// Whether what is about to fail a comparison is asked once more: 1 unless given, 0 for no.
        confirm: Option<Once>,
        /// What a scenario does whose servers answered otherwise when they were asked once more: `fail`, unless given, ends with exit code 3,
        /// `warn` with 0.
        unsteady: Option<GateWord>,
    }
}

section! {
    /// When a run counts as using more tokens than before: both must hold.
    TokensSection {
        /// How many times as many it uses; 3 unless given.
        factor: Option<Positive>,
        /// How many more it uses; 1000 unless given.
        floor: Option<Count>,
        /// What that does to the verdict; `warn` unless given.
        gate: Option<GateWord>,
    }
}

section! {
    /// When a call counts as slower than before: both must hold.
    SlowerSection {
        /// How many times as long it takes; 3 unless given.
        factor: Option<Positive>,
        /// How much longer it takes; 250ms unless given.
        floor: Option<Wait>,
        /// What a slower call does to the verdict; `warn` unless given.
        gate: Option<GateWord>,
    }
}

section! {
    /// A tool that only reads when it is called with these arguments.
    ReadCallSection {
        /// The tool's name.
        tool: Word,
        /// The arguments that a call must have, with these values.
        args: Option<Object>,
    }
}

section! {
    /// How far apart two numbers may be.
    NumberSection {
        /// The difference from which on two numbers have nothing in common.
        max_diff: Positive,
    }
}

shapes! {
    /// A tool that only reads, always or with certain arguments.
    ReadSection, "the name of a tool or a map with `tool` and `args`" {
        Text => Tool(At<Word>),
        Map => Call(At<ReadCallSection>),
    }
}

/// What tells that an answer is an error although the server does not say so.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct ErrorsSection(ErrorSigns);

impl Decode for ErrorsSection {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let signs = match &node.content {
            Content::Bool(look) => ErrorSigns {
                look: *look,
                ..ErrorSigns::default()
            },
            Content::List(_) => ErrorSigns {
                more: (Vec::<ErrorSignSection>::decode(node, findings)?.into_iter())
                    .map(ErrorSignSection::sign)
                    .collect(),
                ..ErrorSigns::default()
            },
            _ => return wrong_kind(node, "a list of `path` and `text`, or false", findings),
        };
        Some(Self(signs))
    }
}

schema!(ErrorsSection as "Errors", |generator| {
    let signs = generator.subschema_for::<Vec<ErrorSignSection>>();
    json_schema!({
        "description": "What tells that an answer is an error although the server does not say so.",
        "anyOf": [signs, { "type": "boolean" }],
    })
});

one_key! {
    /// A sign that an answer is an error.
    ErrorSignSection {
        /// There is something at this JSON path other than null, false, zero or nothing.
        "path" => Path(Word),
        /// A text of the answer matches this regular expression.
        "text" => Text(Pattern),
    }
}

impl ErrorSignSection {
    fn sign(self) -> ErrorSign {
        match self {
            Self::Path(path) => ErrorSign::Path(path.0),
            Self::Text(pattern) => ErrorSign::Text(pattern.0),
        }
    }
}

/// How one argument is compared.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct ArgumentRuleSection(ArgumentMatch);

impl Decode for ArgumentRuleSection {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if !matches!(node.content, Content::Map(_)) {
            let how = match choose(node, &["exact", "ignore", "words", "any"], findings)? {
                "exact" => ArgumentMatch::Exact,
                "ignore" => ArgumentMatch::Ignore,
                "words" => ArgumentMatch::Words,
                _ => ArgumentMatch::Any,
            };
            return Some(Self(how));
        }
        let (rule, value) = only_entry(node, &["number", "one_of", "regex"], findings)?;
        let how = match rule {
            "number" => ArgumentMatch::Number {
                max_diff: NumberSection::decode(value, findings)?.max_diff.0,
            },
            "one_of" => {
                let values = Vec::<Value>::decode(value, findings)?;
                if values.is_empty() {
                    return findings.refuse(value.at, "must name at least one value", NO_HINT);
                }
                ArgumentMatch::OneOf(values)
            }
            _ => ArgumentMatch::Regex(Pattern::decode(value, findings)?.0),
        };
        Some(Self(how))
    }
}

// Says in the schema what `ArgumentRuleSection` reads.
/// How one argument is compared.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "exists for its JSON Schema")]
enum ArgumentRuleSchema {
    /// Equal, or the whole request scores 0.
    Exact,
    /// Left out of the comparison.
    Ignore,
    /// Compared as text, word by word.
    Words,
    /// It is enough that the argument is there.
    Any,
    /// Compared as a number.
    Number(NumberSection),
    /// The value is one of these.
    OneOf(Vec<Value>),
    /// The value, as text, matches this regular expression.
    Regex(Pattern),
}

schema!(ArgumentRuleSection as "ArgumentRule", |generator| ArgumentRuleSchema::json_schema(generator));

/// Rules name a tool as its server does, without the name of the server.
fn check(scoring: &ScoringSection, _: Mark, findings: &mut Findings) {
    for (name, _) in scoring.args.iter().flat_map(|it| &it.0) {
        let (tool, argument) = split(name);
        if argument.is_empty() || tool.is_some_and(str::is_empty) {
            let message = format!("{} names no argument", quoted(name));
            findings.error(name.at, message, Some("write `name` or `tool.name`"));
        }
        let bare = tool
            .and_then(|it| it.strip_prefix("mcp__"))
            .and_then(|it| it.split_once("__"));
        if let Some((_, bare)) = bare {
            let hint = format!("write `{bare}.{argument}`");
            findings.error(
                name.at,
                "a rule names the tool without its server",
                Some(hint),
            );
        }
    }
}

/// A rule's name as tool and argument. Names of tools may hold dots, those of arguments hardly ever do.
fn split(name: &str) -> (Option<&str>, &str) {
    match name.rsplit_once('.') {
        Some((tool, argument)) => (Some(tool), argument),
        None => (None, name),
    }
}

impl ScoringSection {
    /// The tools it names, as written.
    pub(in crate::scenario_file) fn tools(&self) -> impl Iterator<Item = (Mark, &str)> {
        self.reads.iter().flatten().map(|it| match it {
            ReadSection::Tool(tool) => (tool.at, tool.0.as_str()),
            ReadSection::Call(call) => (call.at, call.tool.0.as_str()),
        })
    }

    pub(in crate::scenario_file) fn rules(&self) -> Rules {
        let defaults = Rules::default();
        let arguments = self.args.iter().flat_map(|it| &it.0);
        let reads = self.reads.iter().flatten();
        let ignore = self.ignore.iter().flatten();
        Rules {
            threshold: self.threshold.map_or(defaults.threshold, |it| it.0),
            pass_threshold: (self.pass_threshold).map_or(defaults.pass_threshold, |it| it.0),
            preset: self.preset.map_or(defaults.preset, |it| it.0),
            matching: self.r#match.map_or(defaults.matching, |it| it.0),
            responses: self.responses.map_or(defaults.responses, |it| it.0),
            drift: self.drift.map_or(defaults.drift, |it| it.0),
            arguments: arguments
                .map(|(name, rule)| argument_rule(name, rule))
                .collect(),
            reads: reads.map(ReadSection::rule).collect(),
            strict: self.strict.unwrap_or(defaults.strict),
            errors: self
                .errors
                .as_ref()
                .map_or(defaults.errors, |it| it.0.clone()),
            ignore: ignore.map(|it| it.0.clone()).collect(),
            slower: self
                .slower
                .as_ref()
                .map_or(defaults.slower, SlowerSection::slower),
            tokens: self
                .tokens
                .as_ref()
                .map_or(defaults.tokens, TokensSection::tokens),
            takes_apart: self.takes_apart.map_or(defaults.takes_apart, |it| it.0),
            confirm: self.confirm.map_or(defaults.confirm, |it| it.0),
            unsteady: self.unsteady.map_or(defaults.unsteady, |it| it.0),
        }
    }
}

fn argument_rule(name: &str, rule: &ArgumentRuleSection) -> ArgumentRule {
    let (tool, argument) = split(name);
    ArgumentRule {
        tool: tool.map(str::to_owned),
        argument: argument.to_owned(),
        how: rule.0.clone(),
    }
}

impl ReadSection {
    fn rule(&self) -> ReadRule {
        match self {
            Self::Tool(tool) => ReadRule {
                tool: tool.0.clone(),
                arguments: Object::new(),
            },
            Self::Call(call) => ReadRule {
                tool: call.tool.0.clone(),
                arguments: call.args.clone().unwrap_or_default(),
            },
        }
    }
}

impl TokensSection {
    fn tokens(&self) -> Tokens {
        let defaults = Tokens::default();
        Tokens {
            factor: self.factor.map_or(defaults.factor, |it| it.0),
            floor: self.floor.map_or(defaults.floor, |it| it.0),
            gate: self.gate.map_or(defaults.gate, |it| it.0),
        }
    }
}

impl SlowerSection {
    fn slower(&self) -> Slower {
        let defaults = Slower::default();
        Slower {
            factor: self.factor.map_or(defaults.factor, |it| it.0),
            floor_ms: self
                .floor
                .map_or(defaults.floor_ms, |it| it.0.as_secs_f64() * 1000.0),
            gate: self.gate.map_or(defaults.gate, |it| it.0),
        }
    }
}
