//! Whether a shell command would change our settings, state or program. It checks every path that
//! the command names, also relative to each folder that it may run in.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ops::Deref;

use super::places::Guarded;
use super::{PROGRAM, client_settings, files, programs, switches};
use crate::policy::shell::{self, SimpleCommand};

/// Whether a script changes our files. `all` holds its commands and those that they run.
pub fn touches_files(script: &str, all: &[SimpleCommand], cwd: &str, guarded: &Guarded) -> bool {
    let raw = shell::all_commands(script);
    // Comments in a substitution and `$'` quotes may hide a command, and one command's output may
    // be what the next one runs. Then no command counts as read-only.
    let substitutes = || ["$(", "`", "<(", ">("].iter().any(|sign| script.contains(sign));
    let hides = script.contains("$'") || (script.contains('#') && substitutes());
    let hands_over = all.iter().any(|c| c.piped && programs::runs_input(c))
        || raw.iter().any(files::changes_piped_files);
    let clear = !hides && !hands_over;
    let looks = |c: &&SimpleCommand| !(clear && files::only_looks(c));
    let acting: Vec<&SimpleCommand> = raw.iter().filter(looks).collect();
    // Commands that only assign names do no harm if all others are read-only.
    if acting.iter().all(|c| clear && files::only_assigns(c)) {
        return false;
    }
    let moves: Vec<&str> = raw.iter().filter_map(moves_to).collect();
    if moves.len() > MOVES {
        return true;
    }
    let near = nearby_folders(&moves, cwd, guarded);
    let words: usize = all.iter().map(|c| c.words.len() + c.writes.len()).sum();
    if near.len() * words > FORMS {
        return true;
    }
    let names = |c: &SimpleCommand| {
        let mut words = files::changed_words(c);
        words.extend(c.words.iter().chain(&c.writes).filter(|_| !clear));
        words.extend(c.input.iter().filter(|_| hands_over));
        // Restored project settings come from the repository, and a project can only tighten.
        let projects = !(clear && files::restores(c));
        let named = |w: &String, projects| {
            forms(w, &near, guarded).any(|text| guarded.mentioned(&text, projects))
        };
        c.writes.iter().any(|w| named(w, true)) || words.into_iter().any(|w| named(w, projects))
    };
    let acts_inside = near.iter().any(|folder| guarded.is_state(folder))
        && acting.iter().any(|c| moves_to(c).is_none());
    let looked_up = LazyCell::new(|| all.iter().any(looks_up_program));
    acts_inside
        || acting.iter().any(|c| names(c))
        || all.iter().any(|c| changes_program(c, &looked_up, &near, guarded))
        || client_settings::in_shell(script, &acting)
}

/// Maximum folder changes. A script with more would take too long to follow and counts as harmful.
const MOVES: usize = 200;

/// Maximum pairs of words and folders to check. A script with more counts as harmful.
const FORMS: usize = 40_000;

/// Longest possible path.
const LONGEST_PATH: usize = 4096;

/// The folders that commands may run in, if paths relative to them may be ours.
fn nearby_folders(moves: &[&str], cwd: &str, guarded: &Guarded) -> BTreeSet<String> {
    let mut now = guarded.plain(cwd);
    let mut stands = vec![now.clone()];
    for to in moves.iter().filter(|to| to.len() < LONGEST_PATH) {
        let to = guarded.plain(to);
        now = if to.starts_with('/') { to } else { guarded.plain(&format!("{now}/{to}")) };
        if now.len() > LONGEST_PATH {
            now.clear();
        }
        stands.push(now.clone());
    }
    stands.into_iter().filter(|folder| guarded.is_near(folder)).collect()
}

/// The folder that a `cd` or `pushd` changes to.
fn moves_to(command: &SimpleCommand) -> Option<&str> {
    let (program, rest) = command.words.split_first()?;
    matches!(program.as_str(), "cd" | "pushd")
        .then(|| rest.iter().find(|w| !w.starts_with('-')).map_or("~", String::as_str))
}

/// The paths that a word may name, in plain form: as written, and relative to each folder that the
/// command may run in.
fn forms<'a>(
    word: &'a str,
    near: &'a BTreeSet<String>,
    guarded: &'a Guarded,
) -> impl Iterator<Item = String> + 'a {
    // A cheap test first, because a command may have hundreds of thousands of words.
    let may_be = word.contains(['/', '~', '$']) || word.ends_with(PROGRAM);
    let itself = may_be.then(|| guarded.plain(word));
    let relative = word.len() < LONGEST_PATH && !word.starts_with(['/', '~', '$', '-']);
    let near = near.iter().filter(move |_| relative);
    itself.into_iter().chain(near.map(move |folder| guarded.plain(&format!("{folder}/{word}"))))
}

/// Whether a command replaces, moves or breaks the program, its folder or the state folder.
/// `looked_up`: a command asks where the program is. `near`: the folders it may run in.
fn changes_program(
    command: &SimpleCommand,
    looked_up: &impl Deref<Target = bool>,
    near: &BTreeSet<String>,
    guarded: &Guarded,
) -> bool {
    let whole = |w: &String| {
        forms(w, near, guarded).any(|path| guarded.is_program(&path) || guarded.encloses(&path))
    };
    if command.writes.iter().any(whole) {
        return true;
    }
    let Some((program, rest)) = command.words.split_first() else { return false };
    let name = programs::name(program);
    if programs::is_interpreter(name) {
        let code = rest.iter().chain(&command.input);
        let names = |c: &String| guarded.names_program(&guarded.plain(c));
        return code.filter(|c| switches::writes(c)).any(names);
    }
    if !files::changes_files(name) {
        return false;
    }
    // `rm $(which brain-guard)` does not name the program in its own words.
    let substituted = |w: &String| w.contains(shell::SUBSTITUTED);
    let changed = files::changed_arguments(name, rest);
    let along = |w: &String| forms(w, near, guarded).any(|path| guarded.takes_along(&path));
    changed.iter().any(whole)
        || files::removed_arguments(name, rest).iter().any(along)
        || (changed.iter().any(substituted) && **looked_up)
}

fn looks_up_program(command: &SimpleCommand) -> bool {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    matches!(words[..], ["which" | "whereis", PROGRAM] | ["command" | "type", _, PROGRAM])
}
