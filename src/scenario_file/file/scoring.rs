//! The `scoring` section.

use std::time::Duration;

use schemars::{JsonSchema, json_schema};
use serde_json::Value;

use crate::model::Object;
use crate::model::rules::{
    ArgumentMatch, ArgumentRule, ErrorSign, ErrorSigns, Gate, Match, Preset, ReadRule, Responses,
    Rules, Slower, Tokens,
};
use crate::scenario_file::decode::{
    At, Count, Decode, Fraction, NO_HINT, Named, Once, Pattern, Plain, Positive, Wait, Word,
    choice, choose, held, one_key, only_entry, schema, section, shapes, wrong_kind,
};
use crate::scenario_file::yaml::{Content, Findings, Mark, Node, quoted};

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
    ScoringSection for Rules, checked by check {
        /// The lowest overall score that passes, 0 to 1; 0.8 unless given.
        threshold: Option<Fraction> as f64 = Rules::default().threshold,
        /// With `--repeat`, the lowest share of the runs that passes, 0 to 1; 1 unless given.
        pass_threshold: Option<Fraction> as f64 = Rules::default().pass_threshold,
        /// The family of formulas; `standard` unless given.
        preset: Option<PresetWord> as Preset = Rules::default().preset,
        /// How calls are matched; `similar` unless given.
        r#match: Option<MatchWord>,
        /// How answers are compared; `stable` unless given.
        responses: Option<ResponsesWord> as Responses = Rules::default().responses,
        /// What a breaking change of the tools on offer does to the verdict; `warn` unless given.
        drift: Option<GateWord> as Gate = Rules::default().drift,
        /// Rules for single arguments, by `name` or `tool.name`; a later rule wins over an earlier one.
        args: Option<Named<ArgumentRuleSection>>,
        /// Calls that only read, whatever the server says of them.
        reads: Option<Vec<ReadSection>> as Vec<ReadRule> = Vec::new(),
        /// Whether whatever changed fails, save slower calls and tokens, which have a `gate` of their own; `false` unless given.
        strict: Option<bool> as bool = Rules::default().strict,
        /// JSON paths into answers that are left out of the comparison; `*` matches any key or index.
        ignore: Option<Vec<Word>> as Vec<String> = Vec::new(),
        /// What tells that an answer is an error although the server does not say so, besides the usual signs; `false` looks for none.
        errors: Option<ErrorsSection> as ErrorSigns = Rules::default().errors,
        /// When a call counts as slower than before.
        slower: Option<SlowerSection> as Slower = Rules::default().slower,
        /// When a run counts as using more tokens than before.
        tokens: Option<TokensSection> as Tokens = Rules::default().tokens,
        /// How long after one take of a recording the next one begins; 1.1s unless given, so that what a clock makes to the second differs.
        takes_apart: Option<Wait> as Duration = Rules::default().takes_apart,
        /// Whether what is about to fail a comparison is asked once more: 1 unless given, 0 for no.
        confirm: Option<Once> as bool = Rules::default().confirm,
        #[doc = " What a scenario does whose servers answered otherwise when they were asked once more: `fail`, unless given, ends with exit code 3,\n`warn` with 0."]
        unsteady: Option<GateWord> as Gate = Rules::default().unsteady,
    } and {
        matching: Match,
        arguments: Vec<ArgumentRule>,
    }
}

section! {
    /// When a run counts as using more tokens than before: both must hold.
    TokensSection for Tokens {
        /// How many times as many it uses; 3 unless given.
        factor: Option<Positive> as f64 = Tokens::default().factor,
        /// How many more it uses; 1000 unless given.
        floor: Option<Count> as u32 = Tokens::default().floor,
        /// What that does to the verdict; `warn` unless given.
        gate: Option<GateWord> as Gate = Tokens::default().gate,
    }
}

section! {
    /// When a call counts as slower than before: both must hold.
    SlowerSection for Slower {
        /// How many times as long it takes; 3 unless given.
        factor: Option<Positive> as f64 = Slower::default().factor,
        /// How much longer it takes; 250ms unless given.
        floor: Option<Wait> as Duration = Slower::default().floor,
        /// What a slower call does to the verdict; `warn` unless given.
        gate: Option<GateWord> as Gate = Slower::default().gate,
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

held!(ErrorsSection as ErrorSigns);

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
}

impl Plain<Match> for ScoringSection {
    fn plain(&self, findings: &Findings) -> Match {
        self.r#match.plain(findings).unwrap_or_default()
    }
}

impl Plain<Vec<ArgumentRule>> for ScoringSection {
    fn plain(&self, _: &Findings) -> Vec<ArgumentRule> {
        let rules = self.args.iter().flat_map(|it| &it.0);
        rules
            .map(|(name, rule)| argument_rule(name, rule))
            .collect()
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

impl Plain<ReadRule> for ReadSection {
    fn plain(&self, _: &Findings) -> ReadRule {
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
