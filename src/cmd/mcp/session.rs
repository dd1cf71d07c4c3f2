//! Finds the session that a call is about.

use rustix::process::getppid;

use crate::cli::SessionSelector;
use crate::cmd::selector;
use base::env::{self, Env};
use base::paths::Places;
use guard::files::state;

/// The environment with the client's current session. The server runs on across `/clear`, so the
/// session it started in may have ended (h5); the hooks know the current one. The client does not
/// tell its child its process id (seen with client 2.1.329).
pub fn now(env: &Env) -> Env {
    match client_session(env) {
        Some(session) => env.clone().with_variable(env::SESSION_ID, &session),
        None => env.clone(),
    }
}

/// The current session of the client that started this process.
fn client_session(env: &Env) -> Option<String> {
    let project = selector::project(env, &SessionSelector::default()).ok()?;
    let places = Places::for_project(env, &project)?;
    let parent = getppid().and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok());
    let client = env.client_pid().or(parent)?;
    state::seated(&places, client).then(|| state::seat(&places, client)).flatten()
}

/// The requested session, else the current one.
///
/// # Errors
/// Neither.
pub fn session(env: &Env, asked: Option<&str>) -> anyhow::Result<String> {
    match asked {
        Some(name) if name != "this" => Ok(name.to_owned()),
        _ => now(env).get(env::SESSION_ID).ok_or_else(|| {
            anyhow::anyhow!(
                "brain-guard cannot tell which session this runs in; give `session`: an id, the beginning of one, or a file"
            )
        }),
    }
}
