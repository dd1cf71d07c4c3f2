//! Looks for the terminals around a client. The hooks look once a session and at each seal, and
//! keep it: only they have the client's environment.

use super::{tmux, x11};
use base::env::Env;
use guard::boundary::Client;
use guard::session::reach::{Reach, Way};

/// Looks around a client; takes some milliseconds, at most four seconds.
pub fn look(env: &Env, client: Client) -> Reach {
    Reach { tmux: Way::of(tmux::find(env, client)), x11: Way::of(x11::find(env, client)) }
}
