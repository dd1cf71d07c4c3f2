//! Finds a client's terminals. Hooks do this once a session and at each seal, and store the result,
//! because only they have the client's environment.

use super::chords::{self, NO_CHORD};
use super::terminal::Refusal;
use super::{tmux, x11};
use base::env::Env;
use base::paths;
use guard::boundary::Client;
use guard::files::keybindings;
use guard::session::reach::{Reach, Way};

/// Finds a client's terminals; takes some milliseconds, at most four seconds.
pub fn look(env: &Env, client: Client) -> Reach {
    Reach {
        tmux: Way::from_result(tmux::find(env, client)),
        x11: Way::from_result(x11::find(env, client).and_then(|place| {
            clears_by_chord(env).then_some(place).ok_or_else(|| Refusal::never(NO_CHORD))
        })),
    }
}

fn clears_by_chord(env: &Env) -> bool {
    let file = paths::config_folder(env).map(|config| keybindings::path(&config));
    let bound = file.and_then(|file| keybindings::read(&file).ok().flatten());
    bound.is_some_and(|(text, _)| chords::find(&text).clear.is_some())
}
