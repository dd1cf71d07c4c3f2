//! Which carrier would be used, and why not the others.

use std::fmt::Write as _;

use crate::boundary::Carrier;
use crate::env::{self, Env};
use crate::settings::CarrierChoice;

/// What was seen of the surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The plugin's module lives in this client and has our version.
    pub mod_alive: bool,
    /// The client has a terminal.
    pub interactive: bool,
    /// Someone is at it.
    pub attended: bool,
}

/// The choice, with a word on each carrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The one that would be used.
    pub chosen: Option<Carrier>,
    /// Each carrier that was looked at: usable or not, and why.
    pub looked: Vec<(Carrier, bool, &'static str)>,
}

impl Selection {
    /// One line a carrier.
    pub fn explain(&self) -> String {
        let mut text = String::new();
        for (carrier, usable, why) in &self.looked {
            let mark = if *usable { "yes" } else { "no" };
            let _ = writeln!(text, "{:<7} {mark:<4} {why}", carrier.name());
        }
        text
    }
}

/// Chooses, best first.
pub fn select(choice: CarrierChoice, seen: &Seen) -> Selection {
    let by_mod = if seen.mod_alive {
        (Carrier::Mod, true, "the plugin's module answers in this client")
    } else {
        (
            Carrier::Mod,
            false,
            "the plugin's module is not at work in this client, or has another version",
        )
    };
    let by_hand = if !seen.interactive {
        (Carrier::Manual, false, "this client has no terminal")
    } else if seen.attended {
        (Carrier::Manual, true, "someone is at the terminal and can type /clear")
    } else {
        (Carrier::Manual, false, "nobody has typed a prompt lately")
    };
    let looked = match choice {
        CarrierChoice::Auto => vec![by_mod, by_hand],
        CarrierChoice::Mod => vec![by_mod],
        CarrierChoice::Manual => vec![by_hand],
    };
    let chosen = looked.iter().find(|(_, usable, _)| *usable).map(|(carrier, _, _)| *carrier);
    Selection { chosen, looked }
}

/// Whether the mod lives in the very client that started us, in our version: it
/// says so in the environment, which nested clients inherit too, hence the pid.
pub fn mod_alive(env: &Env) -> bool {
    let Some((version, pid)) = env.get(env::MOD).and_then(|v| {
        let (version, pid) = v.split_once(':')?;
        Some((version.to_owned(), pid.parse::<u32>().ok()?))
    }) else {
        return false;
    };
    version == env!("CARGO_PKG_VERSION") && env.client_pid() == Some(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_first_and_a_way_out_or_none() {
        let seen = |mod_alive, attended| Seen { mod_alive, interactive: true, attended };
        let chosen = |choice, seen| select(choice, &seen).chosen;
        assert_eq!(chosen(CarrierChoice::Auto, seen(true, false)), Some(Carrier::Mod));
        assert_eq!(chosen(CarrierChoice::Auto, seen(false, true)), Some(Carrier::Manual));
        assert_eq!(chosen(CarrierChoice::Auto, seen(false, false)), None);
        assert_eq!(chosen(CarrierChoice::Manual, seen(true, false)), None);
        let headless = Seen { mod_alive: false, interactive: false, attended: true };
        assert_eq!(chosen(CarrierChoice::Auto, headless), None);
        assert!(select(CarrierChoice::Auto, &headless).explain().contains("manual  no"));
    }

    #[test]
    fn the_mod_of_another_client_is_not_ours() {
        let version = env!("CARGO_PKG_VERSION");
        let alive = |value: &str, pid: &str| {
            mod_alive(&Env::of([("BRAIN_GUARD_MOD", value), ("CLAUDE_PID", pid)]))
        };
        assert!(alive(&format!("{version}:12"), "12"));
        assert!(!alive(&format!("{version}:12"), "13"));
        assert!(!alive("0.0.0:12", "12"));
        assert!(!alive("junk", "12"));
    }
}
