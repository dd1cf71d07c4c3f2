//! Which session a call is about.

use rustix::process::getppid;

use crate::cli::SessionSelector;
use crate::cmd::selector;
use base::env::{self, Env};
use base::paths::Places;
use guard::files::state;

/// The environment, with the session that the client is in now as the one this runs in. The
/// client, and so this server, stays the same process across `/clear`: the session of its
/// start may be over (h5). The hooks know the client's present one. The server is the client's
/// child and is not told its number (seen with client 2.1.329).
pub fn now(env: &Env) -> Env {
    match seated(env) {
        Some(session) => env.clone().with(env::SESSION_ID, &session),
        None => env.clone(),
    }
}

/// The session in the seat of the client that started this.
fn seated(env: &Env) -> Option<String> {
    let project = selector::project(env, &SessionSelector::default()).ok()?;
    let places = Places::of(env, &project)?;
    let parent = getppid().and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok());
    let client = env.client_pid().or(parent)?;
    state::seated(&places, client).then(|| state::seat(&places, client)).flatten()
}

/// The session's name: as asked, else the one that this runs in.
///
/// # Errors
/// None.
pub fn session(env: &Env, asked: Option<&str>) -> anyhow::Result<String> {
    match asked {
        Some(name) if name != "this" => Ok(name.to_owned()),
        _ => now(env).get(env::SESSION_ID).ok_or_else(|| {
            anyhow::anyhow!(
                "this runs in no session that is known; give `session`: its id, how that begins, or its file"
            )
        }),
    }
}
