//! What only the client's own processes can see. The hooks save it, so that `status` in a terminal
//! reports the session's values.

use super::select::{self, Module};
use crate::policy::limit::{self, AutoCompact};
use crate::session::{Session, Surroundings};
use base::env::Env;

/// Uses the environment in the client's own processes, otherwise what the hooks saved last.
pub fn current(env: &Env, session: &Session) -> Surroundings {
    let kept = session.seen.filter(|_| env.client_pid().is_none());
    kept.unwrap_or_else(|| from_env(env))
}

fn from_env(env: &Env) -> Surroundings {
    let module = select::module(env);
    // The client says 0 for a session in the background, too.
    let background = !env.interactive() && module == Some(Module::AtPrompt);
    Surroundings {
        mod_alive: module.is_some(),
        interactive: env.interactive() || background,
        background,
        long_disabled: switched_on(env, "CLAUDE_CODE_DISABLE_1M_CONTEXT"),
        auto_compact: auto_compact(env),
    }
}

/// Whether a client switch is on by the client's own rule: `false` and `no` are off (read in client
/// 2.1.329).
fn switched_on(env: &Env, name: &str) -> bool {
    let value = env.get(name).unwrap_or_default();
    ["1", "true", "yes", "on"].contains(&value.trim().to_ascii_lowercase().as_str())
}

fn auto_compact(env: &Env) -> AutoCompact {
    let window = env.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW");
    AutoCompact {
        disabled: ["DISABLE_AUTO_COMPACT", "DISABLE_COMPACT"]
            .iter()
            .any(|name| switched_on(env, name)),
        window: window.and_then(|text| limit::parse_tokens(&text)),
        percent: env.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE").and_then(|p| p.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_on_by_the_clients_rule() {
        for (value, on) in [("1", true), (" True ", true), ("0", false), ("false", false)] {
            let env = Env::from_pairs([("CLAUDE_CODE_DISABLE_1M_CONTEXT", value)]);
            assert_eq!(from_env(&env).long_disabled, on, "{value}");
        }
        let env = Env::from_pairs([("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "0")]);
        assert_eq!(auto_compact(&env).window, None);
    }

    #[test]
    fn a_terminal_believes_the_hooks_and_the_hooks_their_environment() {
        let alive = format!("{}:12", env!("CARGO_PKG_VERSION"));
        let hook = Env::from_pairs([
            ("CLAUDE_PID", "12"),
            ("BRAIN_GUARD_MOD", alive.as_str()),
            ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "500k"),
        ]);
        let terminal = Env::from_pairs([("CLAUDE_CODE_DISABLE_1M_CONTEXT", "1")]);
        let mut session = Session::default();
        let seen = current(&hook, &session);
        assert!(seen.mod_alive && seen.auto_compact.window == Some(500_000));
        assert!(!current(&terminal, &session).mod_alive);
        session.seen = Some(seen);
        assert_eq!(current(&terminal, &session), seen);
        let later = Env::from_pairs([("CLAUDE_PID", "12")]);
        assert!(!current(&later, &session).mod_alive);
    }
}
