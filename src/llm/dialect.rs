//! Which wire format each API speaks.

use super::wire::Wire;
use super::{anthropic, ollama, openai_chat, openai_responses};
use crate::model::agent::ModelApi;

pub(crate) fn wire(api: ModelApi) -> &'static dyn Wire {
    match api {
        ModelApi::Anthropic => &anthropic::Messages,
        ModelApi::OpenAiChat => &openai_chat::ChatCompletions,
        ModelApi::OpenAiResponses => &openai_responses::Responses,
        ModelApi::Ollama => &ollama::Chat,
    }
}
