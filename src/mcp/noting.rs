//! A connection for rmcp that registers each request with the wire before it is sent.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::JsonRpcMessage;
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use crate::mcp::wire::Wire;

/// A transport whose requests the wire knows of, so that it keeps their answers.
pub(super) struct Noting<T> {
    transport: T,
    wire: Arc<Wire>,
}

impl<T> Noting<T> {
    pub(super) fn new(transport: T, wire: Arc<Wire>) -> Self {
        Self { transport, wire }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Noting<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && let Ok(id) = serde_json::to_value(&request.id)
        {
            self.wire.expect(&id);
        }
        self.transport.send(message)
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleClient>>> + Send {
        self.transport.receive()
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.transport.close()
    }
}
