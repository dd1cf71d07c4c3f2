//! Checks the chords: bound, readable, and not caught by a terminal multiplexer.

use std::process::Command;
use std::time::Duration;

use super::{Finding, World, environment};
use crate::cmd::install::keys::describe_chords;
use base::process;
use base::switch::Switch;
use carrier::chords::{self, Chords};
use carrier::terminal::Stroke;
use guard::boundary::CarrierChoice;
use guard::files::keybindings;

const PATIENCE: Duration = Duration::from_secs(2);

pub fn look(world: &World) -> Vec<Finding> {
    if world.settings.boundary.chords == Switch::Off {
        return vec![Finding::ok("keys", "off in the settings (boundary.chords); /clear is typed")];
    }
    let path = keybindings::path(&world.config);
    let shown = path.display();
    let (text, changed) = match keybindings::read(&path) {
        Ok(Some(found)) => found,
        Ok(None) => return vec![unbound(&shown)],
        Err(e) => {
            let way = "make it a readable file of text";
            return vec![Finding::problem("keys", format!("{shown}: {e}"), way)];
        }
    };
    if let Err(why) = chords::parse(&text) {
        let seen = format!("the client drops all of {shown} for {why}");
        return vec![Finding::problem("keys", seen, "mend that line")];
    }
    let chords = chords::find(&text);
    if chords.clear.is_none() {
        return vec![unbound(&shown)];
    }
    let mut seen = format!("{} ({shown})", describe_chords(&chords));
    if !chords::loaded(changed, world.now) {
        seen.push_str("; changed just now, so not used yet");
    }
    let bound = if chords.resume.is_some() {
        Finding::ok("keys", seen)
    } else {
        let way = "run `brain-guard install`; until then a hook starts the cleared session";
        Finding::note("keys", seen, way)
    };
    std::iter::once(bound).chain(check_multiplexer(world, &chords)).collect()
}

fn unbound(shown: &impl std::fmt::Display) -> Finding {
    let seen = format!("no chord for /clear in {shown}, so it is typed");
    Finding::note("keys", seen, "run `brain-guard install`, unless you asked for that")
}

/// Keys that reach a pane through its terminal pass tmux, which catches its own prefix. No chord of
/// ours uses GNU screen's prefix, Ctrl+A.
fn check_multiplexer(world: &World, chords: &Chords) -> Option<Finding> {
    world.env.get("TMUX")?;
    let through_x11 = world.settings.boundary.carrier == CarrierChoice::X11
        || environment::reach(world)
            .is_some_and(|r| r.tmux.open().is_none() && r.x11.open().is_some());
    if !through_x11 {
        return None;
    }
    let prefixes: Vec<String> = ["prefix", "prefix2"].into_iter().filter_map(tmux_option).collect();
    let taken = taken(chords, &prefixes)?;
    Some(Finding::problem(
        "keys",
        format!("{taken} is a prefix of this tmux and never reaches the client from its terminal"),
        "change the prefix, bind another chord to command:clear, or set boundary.carrier to \"tmux\"",
    ))
}

fn tmux_option(name: &str) -> Option<String> {
    let output =
        process::output(Command::new("tmux").args(["show", "-gv", name]), PATIENCE).ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The first key of the chords that is a tmux prefix, as tmux writes it.
fn taken(chords: &Chords, prefixes: &[String]) -> Option<String> {
    let keys = chords.clear.iter().chain(&chords.resume).flatten();
    keys.copied().map(tmux_name).find(|key| prefixes.contains(key))
}

/// A key as tmux writes it.
fn tmux_name(stroke: Stroke) -> String {
    if stroke.ctrl { format!("C-{}", stroke.key) } else { stroke.key.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_within_a_chord_is_found() {
        let clear = Some(vec![Stroke::ctrl('x'), Stroke::ctrl(']')]);
        let chords = Chords { clear, resume: None };
        let taken = |prefix: &str| taken(&chords, &["None".to_owned(), prefix.to_owned()]);
        assert_eq!(taken("C-]").as_deref(), Some("C-]"));
        assert_eq!(taken("C-b"), None);
    }
}
