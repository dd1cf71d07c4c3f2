//! Finds plainly spelled off switches: the operator's verbs, the client's plugin commands, killing
//! our processes, and input typed at the user's prompt.

use std::cell::LazyCell;
use std::ops::Deref;

use super::programs::{is_interpreter, is_shell, name, runs_input};
use super::{Guarded, PROGRAM, verbs};
use crate::policy::shell::{SUBSTITUTED, SimpleCommand};

/// Verbs that only the client runs.
const CLIENTS: [&str; 3] = ["hook", "mod", "waiter"];

/// Whether one of the commands turns the guard off.
pub fn taken(script: &str, all: &[SimpleCommand], guarded: &Guarded) -> bool {
    // Lazy, so that each runs at most once: a script may hold thousands of commands.
    let handed_over = LazyCell::new(|| verbs::are_named_in(script));
    let found = LazyCell::new(|| all.iter().any(finds_us));
    all.iter().any(|c| {
        own_verb(c, guarded)
            || unplugs(c)
            || kills_us(c, &found)
            || types(c)
            || runs_code(c)
            || ((c.piped || runs_substituted(c)) && runs_input(c) && *handed_over)
    })
}

/// Whether this text, typed at a prompt, would run one of the operator's verbs. The client treats
/// text that begins with a slash as a command.
pub fn types_operator_verb(text: &str) -> bool {
    text.trim_start().starts_with('/') && verbs::are_typed_in(text)
}

fn own_verb(command: &SimpleCommand, guarded: &Guarded) -> bool {
    let Some((program, rest)) = command.words.split_first() else { return false };
    if name(program) != PROGRAM {
        return false;
    }
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    let words = verbs::arguments(&words);
    // Another program of this name is a build that its author tries out.
    let ours = || program == PROGRAM || guarded.is_program(&guarded.plain(program));
    let clients = words.first().is_some_and(|verb| CLIENTS.contains(verb));
    verbs::is_operators(words, command.piped)
        || (clients && !verbs::changes_nothing(words) && ours())
}

/// Whether a command disables or removes our plugin.
fn unplugs(command: &SimpleCommand) -> bool {
    let Some((program, rest)) = command.words.split_first() else { return false };
    let has = |words: &[&str]| rest.iter().any(|w| words.contains(&w.as_str()));
    name(program) == "claude"
        && has(&["plugin", "plugins"])
        && has(&["disable", "uninstall", "remove", "rm"])
        && (has(&["--all", "-a"]) || rest.iter().any(|w| w.contains(PROGRAM)))
}

/// Whether a command kills our processes. `found`: another command searches for their ids.
fn kills_us(command: &SimpleCommand, found: &impl Deref<Target = bool>) -> bool {
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

fn finds_us(command: &SimpleCommand) -> bool {
    // Without a pipe, these search files and not processes.
    let finds = |w: &String| match name(w) {
        "pgrep" | "pidof" | "ps" => true,
        "grep" | "awk" => command.piped,
        _ => false,
    };
    command.words.first().is_some_and(finds) && command.words.iter().any(|w| w.contains(PROGRAM))
}

/// Whether a command types one of our commands into the user's session.
fn types(command: &SimpleCommand) -> bool {
    let Some((program, rest)) = command.words.split_first() else { return false };
    let types =
        ["tmux", "screen", "xdotool", "ydotool", "wtype", "claude", "dotool", "expect", "zellij"];
    if !types.contains(&name(program)) {
        return false;
    }
    let text = [rest.join(" "), command.input.join(" ")].concat();
    verbs::are_typed_in(&text) || (text.contains("/plugin ") && text.contains(PROGRAM))
}

/// Whether code in another language runs one of the operator's verbs.
fn runs_code(command: &SimpleCommand) -> bool {
    let Some((program, rest)) = command.words.split_first() else { return false };
    let starts = |code: &String| {
        ["system", "exec", "spawn", "popen", "subprocess", "qx", "run("]
            .iter()
            .any(|word| code.to_ascii_lowercase().contains(word))
            && verbs::are_named_in(code)
    };
    is_interpreter(name(program)) && rest.iter().chain(&command.input).any(starts)
}

/// Whether code seems to write files.
pub fn writes(code: &str) -> bool {
    let signs = ["write", "dump", "unlink", "remove", "rename", "rmtree", "truncate", "chmod"];
    signs.iter().any(|sign| code.contains(sign))
        || ["'w", "\"w", "'a'", "\"a\"", ">"].iter().any(|mode| code.contains(mode))
}

fn runs_substituted(command: &SimpleCommand) -> bool {
    let program = command.words.first().map_or("", |w| name(w));
    (is_shell(program) || matches!(program, "." | "source"))
        && command.words.iter().skip(1).any(|w| w == SUBSTITUTED)
}
