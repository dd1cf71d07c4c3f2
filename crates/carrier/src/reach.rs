//! Finds a client's terminals. Hooks do this once a session and at each seal, and store the result,
//! because only they have the client's environment.

use super::{tmux, x11};
use base::env::Env;
use guard::boundary::Client;
use guard::session::reach::{Reach, Way};

/// Finds a client's terminals; takes some milliseconds, at most four seconds.
pub fn look(env: &Env, client: Client) -> Reach {
    Reach {
        tmux: Way::from_result(tmux::find(env, client)),
        x11: Way::from_result(x11::find(env, client)),
    }
}
