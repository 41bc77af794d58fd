//! rmcp's own server with one tool, as bare as it can be.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::json;

#[derive(Clone)]
struct Bare;

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = Tool::new("echo", "Echoes.", Arc::default());
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let message = request
            .arguments
            .as_ref()
            .and_then(|it| it.get("message")?.as_str());
        let content = ContentBlock::text(message.unwrap_or_default().to_owned());
        Ok(CallToolResult::success(vec![content]).into())
    }
}

/// Serves until it is killed: `--rmcp-stdio`, `--rmcp-http-sessions` or `--rmcp-http-json`.
pub(super) fn serve(mode: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        if mode == "--rmcp-stdio" {
            let service = Bare
                .serve((tokio::io::stdin(), tokio::io::stdout()))
                .await
                .unwrap();
            service.waiting().await.unwrap();
            return;
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        println!(
            "{}",
            json!({ "url": format!("http://127.0.0.1:{port}/mcp") })
        );
        let sessions = mode == "--rmcp-http-sessions";
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(sessions)
            .with_json_response(!sessions);
        let service =
            StreamableHttpService::new(|| Ok(Bare), LocalSessionManager::default().into(), config);
        let router = axum::Router::new().nest_service("/mcp", service);
        let listener =
            axum::serve::ListenerExt::tap_io(listener, |stream: &mut tokio::net::TcpStream| {
                let _ = stream.set_nodelay(true);
            });
        axum::serve(listener, router).await.unwrap();
    });
}
