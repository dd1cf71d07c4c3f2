//! `mcp`: offers `purge_control`, `inject`, `search`, `sessions` and `rounds` as tools over stdin
//! and stdout (Model Context Protocol). Nothing else may write to stdout. In Claude Code the plugin's
//! module offers the same tools.

mod call;
mod lists;
mod patient;
mod purge;
mod rounds;
mod server;
mod session;
pub mod tools;

use std::time::Duration;

use anyhow::Context as _;
use rmcp::serve_server;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio;
use tokio::runtime::Builder;

use self::patient::Patient;
use self::server::Server;
use super::Exit;
use base::env::Env;

/// How long running calls may take after stdin ends.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves until stdin ends.
///
/// # Errors
/// A client that does not start as the protocol requires.
pub fn run(env: &Env) -> anyhow::Result<Exit> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("could not begin to serve")?;
    let served = runtime.block_on(serve(Server::new(env.clone())));
    runtime.shutdown_timeout(PATIENCE);
    served.map(|()| Exit::Done)
}

async fn serve(server: Server) -> anyhow::Result<()> {
    let (stdin, stdout) = stdio();
    let transport = Patient::new(AsyncRwTransport::new_server(stdin, stdout));
    match serve_server(server, transport).await {
        Ok(running) => {
            running.waiting().await.context("the server broke")?;
            Ok(())
        }
        // The client left before its first message.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(e) => Err(e).context("the client did not begin as the protocol asks (initialize)"),
    }
}
