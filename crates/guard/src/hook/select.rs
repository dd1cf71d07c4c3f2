//! Selects the carrier for a boundary and explains why not the others.

use std::fmt::Write as _;

use crate::boundary::Carrier;
use crate::boundary::CarrierChoice;
use crate::session::reach::{Reach, Way};
use base::env::{self, Env};

/// What the choice of a carrier depends on.
#[derive(Debug, Clone, Copy)]
pub struct CarrierConditions<'a> {
    /// The plugin module runs in this client and has our version.
    pub mod_alive: bool,
    /// The client has a terminal.
    pub interactive: bool,
    /// A person is at it.
    pub attended: bool,
    /// The terminals around the client. `None` before the first check.
    pub reach: Option<&'a Reach>,
}

/// The choice, with a reason for each carrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The carrier to use.
    pub chosen: Option<Carrier>,
    /// Each checked carrier: whether it is usable, and why.
    pub looked: Vec<(Carrier, bool, String)>,
}

impl Selection {
    /// One line per carrier.
    pub fn explain(&self) -> String {
        let mut text = String::new();
        for (carrier, usable, why) in &self.looked {
            let mark = if *usable { "yes" } else { "no" };
            let _ = writeln!(text, "{:<7} {mark:<4} {why}", carrier.name());
        }
        text
    }
}

/// Chooses the best carrier that was not tried yet.
pub fn select(choice: CarrierChoice, seen: &CarrierConditions, tried: &[Carrier]) -> Selection {
    let order: &[Carrier] = match choice {
        CarrierChoice::Auto => &[Carrier::Mod, Carrier::Tmux, Carrier::X11, Carrier::Manual],
        CarrierChoice::Mod => &[Carrier::Mod],
        CarrierChoice::Tmux => &[Carrier::Tmux],
        CarrierChoice::X11 => &[Carrier::X11],
        CarrierChoice::Manual => &[Carrier::Manual],
    };
    let look = |carrier: &Carrier| {
        let (usable, why) = judge(*carrier, seen);
        let again = tried.contains(carrier);
        let why = if again { "it was tried and failed".to_owned() } else { why };
        (*carrier, usable && !again, why)
    };
    let looked: Vec<_> = order.iter().map(look).collect();
    let chosen = looked.iter().find(|(_, usable, _)| *usable).map(|(carrier, ..)| *carrier);
    Selection { chosen, looked }
}

/// Whether a carrier is usable, and why.
fn judge(carrier: Carrier, seen: &CarrierConditions) -> (bool, String) {
    const NO_TERMINAL: &str = "this client has no terminal";
    let unseen = || (false, "the client's terminal was not checked yet".to_owned());
    let words = |usable, why: &str| (usable, why.to_owned());
    match carrier {
        Carrier::Mod if seen.mod_alive => words(true, "the plugin's module answers in this client"),
        Carrier::Mod => words(
            false,
            "the plugin's module is not running in this client, or has another version",
        ),
        _ if !seen.interactive => words(false, NO_TERMINAL),
        Carrier::Tmux => seen.reach.map_or_else(unseen, |reach| match &reach.tmux {
            Way::Open(place) => (true, format!("the client's own pane is {}", place.pane)),
            Way::Shut(why) => (false, why.clone()),
        }),
        Carrier::X11 => seen.reach.map_or_else(unseen, |reach| match &reach.x11 {
            Way::Open(place) => {
                (true, format!("the client's own window is on display {}", place.display))
            }
            Way::Shut(why) => (false, why.clone()),
        }),
        Carrier::Manual if seen.attended => {
            words(true, "someone is at the terminal and can type /clear")
        }
        Carrier::Manual => words(false, "nobody has typed a prompt lately"),
    }
}

/// Where the plugin module runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Module {
    /// In a client with a prompt box.
    AtPrompt,
    /// In a client that did not say so.
    Anywhere,
}

/// The plugin module in the client that started us, if it has our version. Its environment variable
/// holds the process id, because nested clients inherit it.
pub fn module(env: &Env) -> Option<Module> {
    let value = env.get(env::MOD)?;
    let mut parts = value.split(':');
    let (version, pid) = (parts.next()?, parts.next()?.parse().ok()?);
    let is_ours = version == env!("CARGO_PKG_VERSION") && env.client_pid() == Some(pid);
    let at_prompt = parts.next() == Some("prompt");
    is_ours.then_some(if at_prompt { Module::AtPrompt } else { Module::Anywhere })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::reach::TmuxPane;

    #[test]
    fn best_first_and_a_way_out_or_none() {
        let seen = |mod_alive, attended| CarrierConditions {
            mod_alive,
            interactive: true,
            attended,
            reach: None,
        };
        let chosen = |choice, seen| select(choice, &seen, &[]).chosen;
        assert_eq!(chosen(CarrierChoice::Auto, seen(true, false)), Some(Carrier::Mod));
        assert_eq!(chosen(CarrierChoice::Auto, seen(false, true)), Some(Carrier::Manual));
        assert_eq!(chosen(CarrierChoice::Auto, seen(false, false)), None);
        assert_eq!(chosen(CarrierChoice::Manual, seen(true, false)), None);
        let headless = CarrierConditions { interactive: false, ..seen(false, true) };
        assert_eq!(chosen(CarrierChoice::Auto, headless), None);
        assert!(select(CarrierChoice::Auto, &headless, &[]).explain().contains("manual  no"));
    }

    #[test]
    fn the_next_one_takes_over_what_was_tried() {
        let place = TmuxPane { socket: "/s".into(), pane: "%3".into() };
        let reach = Reach { tmux: Way::Open(place), x11: Way::Shut("no X11 display".into()) };
        let seen = CarrierConditions {
            mod_alive: true,
            interactive: true,
            attended: true,
            reach: Some(&reach),
        };
        let chosen = |tried: &[Carrier]| select(CarrierChoice::Auto, &seen, tried).chosen;
        assert_eq!(chosen(&[]), Some(Carrier::Mod));
        assert_eq!(chosen(&[Carrier::Mod]), Some(Carrier::Tmux));
        assert_eq!(chosen(&[Carrier::Mod, Carrier::Tmux]), Some(Carrier::Manual));
        assert_eq!(chosen(&[Carrier::Mod, Carrier::Tmux, Carrier::Manual]), None);
        let why = select(CarrierChoice::Auto, &seen, &[]).explain();
        assert!(why.contains("x11     no   no X11 display"), "{why}");
    }

    #[test]
    fn the_mod_of_another_client_is_not_ours() {
        let version = env!("CARGO_PKG_VERSION");
        let found = |value: &str, pid: &str| {
            module(&Env::from_pairs([("BRAIN_GUARD_MOD", value), ("CLAUDE_PID", pid)]))
        };
        assert_eq!(found(&format!("{version}:12"), "12"), Some(Module::Anywhere));
        assert_eq!(found(&format!("{version}:12:prompt"), "12"), Some(Module::AtPrompt));
        assert_eq!(found(&format!("{version}:12:prompt"), "13"), None);
        assert_eq!(found("0.0.0:12", "12"), None);
        assert_eq!(found("junk", "12"), None);
    }
}
