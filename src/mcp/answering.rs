//! The client's side of a session: servers that ask it something get the answers that a scenario or a recording has.

use rmcp::model::{
    ClientConfig, ClientResult, CustomResult, ErrorData, ServerNotification, ServerRequest,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, RunningService, Service};
use serde_json::Value;

use crate::mcp::target::Target;

/// rmcp's side of a session.
pub(super) type Connection = RunningService<RoleClient, Answering>;

/// A client that answers as a scenario says, or as another client did; without either, as a client that can do nothing.
pub(super) struct Answering {
    config: ClientConfig,
    target: Target,
}

impl Answering {
    pub(super) fn new(mut config: ClientConfig, target: &Target) -> Self {
        let can = target.capabilities().map(Value::Object);
        if let Some(can) = can.and_then(|it| serde_json::from_value(it).ok()) {
            config.capabilities = can;
        }
        Self {
            config,
            target: target.clone(),
        }
    }
}

impl Service<RoleClient> for Answering {
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let asked = serde_json::to_value(&request).unwrap_or_default();
        let method = asked["method"].as_str().filter(|it| *it != "ping");
        let answer = method.and_then(|it| self.target.answer(it, None, &asked["params"]));
        let Some(answer) = answer else {
            if let Some(method) = method {
                self.target.observed.declined(&self.target.name, method);
            }
            return self.config.handle_request(request, context).await;
        };
        let refused = || ErrorData::internal_error("the client does not answer that", None);
        let answer = answer.map_err(|()| refused())?;
        let error = answer.error.and_then(|it| serde_json::from_value(it).ok());
        match answer.result {
            Some(result) => Ok(ClientResult::CustomResult(CustomResult::new(result))),
            None => Err(error.unwrap_or_else(refused)),
        }
    }

    async fn handle_notification(
        &self,
        notification: ServerNotification,
        context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        self.config.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ClientConfig {
        Service::get_info(&self.config)
    }
}
