//! Implements the protocol: lists the tools and runs calls. A failed call returns its error as the
//! result, and the server continues.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use super::tools::{self, TOOLS};
use base::clock;
use base::env::Env;

/// Instructions for the client's model; they are in the context of every session.
const INSTRUCTIONS: &str = "Long values of this session's old messages may be extracted: [[extracted-ID]] stands in their place, and purge_control restores one. inject reads an earlier round, search finds rounds by words.";

pub struct Server {
    env: Env,
}

impl Server {
    pub fn new(env: Env) -> Self {
        Self { env }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("brain-guard", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(tools::Tool::to_protocol).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::find(&request.name) else {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let why =
                format!("there is no tool {:?}; there are {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(why, None));
        };
        let env = self.env.clone();
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        // Reading a session takes time; meanwhile other requests are answered.
        let call = tokio::task::spawn_blocking(move || tool.call(&env, clock::now(), arguments));
        let result = match call.await {
            Ok(Ok(texts)) => {
                CallToolResult::success(texts.into_iter().map(ContentBlock::text).collect())
            }
            Ok(Err(why)) => failed(format!("{why:#}")),
            Err(why) => failed(format!("{} broke: {why}", tool.name)),
        };
        Ok(result.into())
    }
}

fn failed(why: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}
