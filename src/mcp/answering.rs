//! The client's side of a session that is played again: servers that ask it something get the answers that the recording's client gave.

use rmcp::model::{
    ClientConfig, ClientResult, CustomResult, ErrorData, ServerNotification, ServerRequest,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, RunningService, Service};
use serde_json::Value;

use crate::mcp::target::{Observed, Target};

/// rmcp's side of a session.
pub(super) type Connection = RunningService<RoleClient, Answering>;

/// A client that answers as another one did; where nothing is known of one, as a client that can do nothing.
pub(super) struct Answering {
    config: ClientConfig,
    observed: Observed,
    server: String,
}

impl Answering {
    pub(super) fn new(mut config: ClientConfig, target: &Target) -> Self {
        let observed = &target.observed;
        let recorded = observed.client().map(|it| Value::Object(it.capabilities));
        if let Some(can) = recorded.and_then(|it| serde_json::from_value(it).ok()) {
            config.capabilities = can;
        }
        Self {
            config,
            observed: observed.clone(),
            server: target.name.clone(),
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
        let answer = method.and_then(|it| self.observed.answer(it, &asked["params"]));
        let Some(answer) = answer else {
            if let Some(method) = method {
                self.observed.declined(&self.server, method);
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
