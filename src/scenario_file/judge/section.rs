//! The `judge` section: which model judges runs, and how it is asked.

use crate::model::Object;
use crate::model::agent::{ModelAgent, ModelApi, Temperature};
use crate::model::judge::{JudgeSettings, MAX_INPUT_CHARS, VerdictForm};
use crate::scenario_file::agent::model::{ApiWord, PriceSection, TemperatureSection, check_body};
use crate::scenario_file::decode::kinds::{Unnamed, Variant, kinds};
use crate::scenario_file::decode::secrets::{Given, given_pairs, marked_names};
use crate::scenario_file::decode::template::Template;
use crate::scenario_file::decode::values::{Count, Timeout, Word};
use crate::scenario_file::decode::{At, Field, Named, choice, section};
use crate::scenario_file::yaml::source::{Findings, Mark};

/// Which model judges runs.
pub(in crate::scenario_file) type JudgeSection = Variant<JudgeKeys, JudgeKind>;

kinds! {
    /// A model that judges runs: `llm-judge` evaluators ask it, and criteria that are prose.
    JudgeKind, by "provider" of "judge", named "JudgeSection", unnamed Unnamed::Keys(
        &[],
        ("missing key `provider`", "write `provider: anthropic`, openai, ollama or custom"),
    ); {
        /// A model behind the API of Anthropic.
        "anthropic" => Anthropic(AddressKeys),
        /// A model behind one of OpenAI's APIs.
        "openai" => OpenAi((AddressKeys, FormKeys)),
        /// A model behind the API of Ollama, which answers by a JSON Schema.
        "ollama" => Ollama(AddressKeys),
        /// A model behind any other server that speaks as one of OpenAI's APIs does.
        "custom" => Custom((CustomKeys, FormKeys)),
    }
}

section! {
    /// Where the API of a vendor is.
    AddressKeys {
        /// Where the API is, with or without `/v1`; the vendor's own address unless given.
        base_url: Option<Template<Word>>,
    }
}

section! {
    /// Where the API of nobody in particular is.
    CustomKeys {
        /// Where the API is, with or without `/v1`.
        base_url: Template<Word>,
    }
}

section! {
    /// What is said of a judge behind an API that has several forms.
    FormKeys {
        /// Which of OpenAI's APIs is spoken; `chat` unless given.
        api: Option<ApiWord>,
        /// How the judge is made to answer in a form that can be read: `tool_call` unless given; `json_schema` for servers that cannot force a call.
        answer: Option<AnswerWord>,
    }
}

choice! {
    /// How a judge answers: by a tool that it is made to call, or in JSON by a schema.
    AnswerWord for VerdictForm {
        "tool_call" => VerdictForm::ToolCall,
        "json_schema" => VerdictForm::JsonSchema,
    }
}

section! {
    /// What is said of every judge.
    JudgeKeys, checked by check {
        /// The model, as its API names it. `${NAME}` is an environment variable, here and in `base_url` and `extra_headers`.
        model: Field<Template<Word>>,
        /// The environment variable that holds the key: `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` unless given, and none where `base_url` is not the vendor's.
        api_key_env: Option<Word>,
        /// Instructions for the judge besides those that all get.
        system: Option<String>,
        /// How much chance the model is allowed; sent only if it is given.
        temperature: Option<TemperatureSection>,
        /// How many tokens one answer may have.
        max_tokens: Option<Count>,
        /// How long the model may take for one answer; 120s unless given.
        timeout: Option<Timeout>,
        /// How many characters of a run it is shown: long answers are shortened around what the rest talks about. 40000 unless given.
        max_input_chars: Option<Count>,
        /// Headers sent with every request.
        extra_headers: Option<Named<Given>>,
        /// Members added to the body of every request, in place of those of the same name; `null` takes one out.
        extra_body: Option<At<Object>>,
        /// What the model costs.
        price: Option<PriceSection>,
    }
}

fn check(judge: &JudgeKeys, _: Mark, findings: &mut Findings) {
    check_body(judge.extra_body.as_ref(), findings);
}

impl JudgeSection {
    /// How the judge is asked; `None` where the section does not say which model.
    pub(in crate::scenario_file) fn settings(&self) -> Option<JudgeSettings> {
        let forms = |it: &FormKeys| {
            let api = it.api.map_or(ModelApi::OpenAiChat, |it| it.0);
            (api, it.answer.map_or(VerdictForm::ToolCall, |it| it.0))
        };
        let ((api, form), base_url) = match &self.kind {
            JudgeKind::Anthropic(it) => {
                let form = (ModelApi::Anthropic, VerdictForm::ToolCall);
                (form, it.base_url.as_ref())
            }
            // It can offer tools, and not force a call.
            JudgeKind::Ollama(it) => {
                let form = (ModelApi::Ollama, VerdictForm::JsonSchema);
                (form, it.base_url.as_ref())
            }
            JudgeKind::OpenAi((address, it)) => (forms(it), address.base_url.as_ref()),
            JudgeKind::Custom((address, it)) => (forms(it), Some(&address.base_url)),
        };
        let all = &self.all;
        let defaults = ModelAgent::new(api, &all.model.given()?.0);
        let whole = |it: Count| usize::try_from(it.0).unwrap_or(usize::MAX);
        Some(JudgeSettings {
            asked: ModelAgent {
                base_url: base_url.map(|it| it.0.clone()),
                api_key_env: all.api_key_env.as_ref().map(|it| it.0.clone()),
                system: all.system.clone(),
                temperature: all.temperature.map_or(Temperature::Unset, |it| it.0),
                max_tokens: all.max_tokens.map(|it| it.0),
                timeout: all.timeout.map_or(defaults.timeout, |it| it.0),
                extra_headers: given_pairs(all.extra_headers.as_ref()),
                extra_body: (all.extra_body.as_ref())
                    .map(|it| it.value.clone())
                    .unwrap_or_default(),
                price: all.price.as_ref().map(PriceSection::price),
                ..defaults
            },
            form,
            max_input_chars: all.max_input_chars.map_or(MAX_INPUT_CHARS, whole),
        })
    }

    /// The names of values that are marked as secret.
    pub(in crate::scenario_file) fn marked(&self) -> Vec<String> {
        marked_names(self.all.extra_headers.as_ref()).collect()
    }
}
