//! The off switches, plainly spelt: the override, an uninstallation, the plugin's own
//! switch in the client, an end to our processes, and what is typed at the user's prompt.

use std::cell::LazyCell;
use std::ops::Deref;

use super::programs::{is_interpreter, is_shell, name, runs_input};
use super::words::{SUBSTITUTED, Simple};
use super::{Guarded, PROGRAM};

/// The override as it is typed at the client's prompt.
const TYPED: &str = "/brain-guard:override";

/// Verbs that the client alone runs.
const CLIENTS: [&str; 3] = ["hook", "mod", "waiter"];

/// Verbs of the agent's or of nobody's in particular, behind which `override` is a word.
const HARMLESS: [&str; 28] = [
    "append",
    "close",
    "seal",
    "status",
    "explain",
    "phase",
    "job",
    "steering",
    "settings",
    "carrier",
    "doctor",
    "demo",
    "install",
    "log",
    "report",
    "help",
    "inscribe",
    "store",
    "search",
    "inject",
    "tag",
    "untag",
    "matrix",
    "validate",
    "advise",
    "surgery",
    "export-claude",
    "revive",
];

/// Whether one of the commands takes the guard off.
pub fn taken(script: &str, all: &[Simple], guarded: &Guarded) -> bool {
    // Asked at most once: a script may hold thousands of commands.
    let handed_over = LazyCell::new(|| flat(script).is_some_and(|text| names_override(&text)));
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

/// Whether a text given to a tool that brings it to a prompt would be our override there:
/// the client takes what begins with a slash for a command.
pub fn typed(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('/') && text.contains(&TYPED[1..])
}

fn own_verb(command: &Simple, guarded: &Guarded) -> bool {
    // Behind xargs the verb may come in later.
    let Some((program, rest)) = command.words.split_first() else { return false };
    let tells = |w: &String| matches!(w.as_str(), "--help" | "-h" | "--version" | "-V");
    if name(program) != PROGRAM || rest.iter().any(tells) {
        return false;
    }
    let mut words = rest.iter().map(String::as_str);
    let verb = loop {
        match words.next() {
            // What follows is theirs.
            Some("--session" | "--call" | "--project") => drop(words.next()),
            Some(word) if word.starts_with('-') => {}
            other => break other.unwrap_or_default(),
        }
    };
    match verb {
        "override" | "uninstall" => true,
        // Another program of this name, built or tried out, is its author's.
        verb if CLIENTS.contains(&verb) => program == PROGRAM || guarded.is_program(program),
        verb if HARMLESS.contains(&verb) => false,
        _ => rest.iter().any(|w| w == "override" || w == "{}") || command.piped,
    }
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
    text.contains(&TYPED[1..]) || (text.contains("/plugin ") && text.contains(PROGRAM))
}

/// A line of another language that starts us.
fn runs_code(command: &Simple) -> bool {
    let Some((program, rest)) = command.words.split_first() else { return false };
    let starts = |code: &String| {
        ["system", "exec", "spawn", "popen", "subprocess", "qx", "run("]
            .iter()
            .any(|word| code.to_ascii_lowercase().contains(word))
            && flat(code).is_some_and(|code| names_override(&code))
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

/// A text without quotes, brackets and commas; `None` where it doesn't name us.
fn flat(text: &str) -> Option<String> {
    let flat: String = text
        .chars()
        .filter(|c| !matches!(c, '"' | '\'' | '\\'))
        .map(|c| if ",[](){}".contains(c) { ' ' } else { c })
        .collect();
    flat.contains(PROGRAM).then_some(flat)
}

fn names_override(flat: &str) -> bool {
    let mut words = flat.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if name(word) == PROGRAM && words.peek() == Some(&"override") {
            return true;
        }
    }
    false
}
