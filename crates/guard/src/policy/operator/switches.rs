//! The off switches, plainly spelt: the operator's verbs, the plugin's own switch in the
//! client, an end to our processes, and what is typed at the user's prompt.

use std::cell::LazyCell;
use std::ops::Deref;

use super::programs::{is_interpreter, is_shell, name, runs_input};
use super::{Guarded, PROGRAM, verbs};
use crate::policy::shell::{SUBSTITUTED, Simple};

/// Verbs that the client alone runs.
const CLIENTS: [&str; 3] = ["hook", "mod", "waiter"];

/// Whether one of the commands takes the guard off.
pub fn taken(script: &str, all: &[Simple], guarded: &Guarded) -> bool {
    // Asked at most once: a script may hold thousands of commands.
    let handed_over = LazyCell::new(|| verbs::are_named_in(script));
    let found = LazyCell::new(|| all.iter().any(finds_us));
    all.iter().any(|c| {
        own_verb(c, guarded)
            || unplugs(c)
            || ends_us(c, &found)
            || types(c)
            || runs_code(c)
            || ((c.piped || runs_substituted(c)) && runs_input(c) && *handed_over)
    })
}

/// Whether a tool that brings this text to a prompt would run a verb of the operator's there:
/// the client takes what begins with a slash for a command.
pub fn typed(text: &str) -> bool {
    text.trim_start().starts_with('/') && verbs::are_typed_in(text)
}

fn own_verb(command: &Simple, guarded: &Guarded) -> bool {
    let Some((program, rest)) = command.words.split_first() else { return false };
    if name(program) != PROGRAM {
        return false;
    }
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    let words = verbs::arguments(&words);
    // Another program of this name, built or tried out, is its author's.
    let ours = || program == PROGRAM || guarded.is_program(&guarded.plain(program));
    let clients = words.first().is_some_and(|verb| CLIENTS.contains(verb));
    verbs::is_operators(words, command.piped) || (clients && !verbs::only_look(words) && ours())
}

/// The client's own command for its plugins.
fn unplugs(command: &Simple) -> bool {
    let Some((program, rest)) = command.words.split_first() else { return false };
    let has = |words: &[&str]| rest.iter().any(|w| words.contains(&w.as_str()));
    name(program) == "claude"
        && has(&["plugin", "plugins"])
        && has(&["disable", "uninstall", "remove", "rm"])
        && (has(&["--all", "-a"]) || rest.iter().any(|w| w.contains(PROGRAM)))
}

/// An end to the hook or the waiter by name. `found`: whether a command looks for their numbers.
fn ends_us(command: &Simple, found: &impl Deref<Target = bool>) -> bool {
    let Some((program, rest)) = command.words.split_first() else { return false };
    match name(program) {
        "pkill" | "killall" => rest.iter().any(|w| w.contains(PROGRAM)),
        "kill" => {
            let literal = |w: &String| !w.starts_with('-') && !w.contains(SUBSTITUTED);
            !rest.iter().any(literal) && **found
        }
        _ => false,
    }
}

fn finds_us(command: &Simple) -> bool {
    // What no pipe leads to searches files, not processes.
    let finds = |w: &String| match name(w) {
        "pgrep" | "pidof" | "ps" => true,
        "grep" | "awk" => command.piped,
        _ => false,
    };
    command.words.first().is_some_and(finds) && command.words.iter().any(|w| w.contains(PROGRAM))
}

/// Keys or a prompt that reach the user's own session.
fn types(command: &Simple) -> bool {
    let Some((program, rest)) = command.words.split_first() else { return false };
    let types =
        ["tmux", "screen", "xdotool", "ydotool", "wtype", "claude", "dotool", "expect", "zellij"];
    if !types.contains(&name(program)) {
        return false;
    }
    let text = [rest.join(" "), command.input.join(" ")].concat();
    verbs::are_typed_in(&text) || (text.contains("/plugin ") && text.contains(PROGRAM))
}

/// A line of another language that starts us.
fn runs_code(command: &Simple) -> bool {
    let Some((program, rest)) = command.words.split_first() else { return false };
    let starts = |code: &String| {
        ["system", "exec", "spawn", "popen", "subprocess", "qx", "run("]
            .iter()
            .any(|word| code.to_ascii_lowercase().contains(word))
            && verbs::are_named_in(code)
    };
    is_interpreter(name(program)) && rest.iter().chain(&command.input).any(starts)
}

/// Whether code writes files, as far as a look tells.
pub fn writes(code: &str) -> bool {
    let signs = ["write", "dump", "unlink", "remove", "rename", "rmtree", "truncate", "chmod"];
    signs.iter().any(|sign| code.contains(sign))
        || ["'w", "\"w", "'a'", "\"a\"", ">"].iter().any(|mode| code.contains(mode))
}

fn runs_substituted(command: &Simple) -> bool {
    let program = command.words.first().map_or("", |w| name(w));
    (is_shell(program) || matches!(program, "." | "source"))
        && command.words.iter().skip(1).any(|w| w == SUBSTITUTED)
}
