//! The chords in the client's `keybindings.json`: which ones clear and resume a session, and which
//! are free to bind. Pure functions from text to text.
//!
//! The client's rules, seen with 2.1.250 to 2.1.329: strict JSON, one malformed block invalidates
//! the whole file. The last binding of a chord in a context wins, and `null` unbinds. A longer
//! chord wins over its prefix, in every active context.

mod merge;
mod parse;

pub use merge::{Merged, Removed, merge, remove};
pub use parse::{Unreadable, parse};

use self::parse::{Binding, Key};
use super::terminal::Stroke;
use base::clock::Time;

/// The action of the chord that clears.
pub const CLEAR: &str = "command:clear";
/// The action of the chord that starts the turn of the cleared session.
pub const RESUME: &str = "command:brain-guard:resume";

/// Why a terminal that can't be read is not used.
pub const NO_CHORD: &str = "no chord runs /clear in this client: `brain-guard install` binds one, unless boundary.chords is off; without it, type /clear yourself";

/// What install binds, best first. The second keys are harmless alone: they move the cursor or show
/// the task list. The first keys are no prefix of tmux or screen, no signal and no flow control.
const FOR_CLEAR: [&str; 3] = ["ctrl+] ctrl+]", "ctrl+x ctrl+]", "ctrl+] ctrl+e"];
const FOR_RESUME: [&str; 3] = ["ctrl+] ctrl+f", "ctrl+x ctrl+f", "ctrl+] ctrl+t"];

/// Keys that are never pressed with Ctrl: prefixes of tmux and screen, signals, flow control, end
/// of input, and keys that a terminal cannot tell from Backspace, Tab, Enter and Escape.
const NEVER: [char; 12] = ['a', 'b', 'c', 'd', 'h', 'i', 'j', 'm', 'q', 's', 'z', '['];

/// The client reads a changed file within 2.6 s (measured); until then the old bindings hold.
const LOAD_SECONDS: i64 = 4;

/// The chords that work in a client that has read the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chords {
    /// Runs `/clear`.
    pub clear: Option<Vec<Stroke>>,
    /// Runs `/brain-guard:resume`.
    pub resume: Option<Vec<Stroke>>,
}

/// The chords that a file's text binds, whoever bound them; none if the client cannot read it. A
/// chord counts only if it is Ctrl with a letter or `]`, followed by more of these or by plain
/// characters.
pub fn find(text: &str) -> Chords {
    let bindings = parse(text).unwrap_or_default();
    let first = |action| {
        let bound = (0..bindings.len()).rev().filter(|at| bindings[*at].does(action));
        bound.filter(|at| works(&bindings, *at)).find_map(|at| strokes(&bindings[at].chord))
    };
    Chords { clear: first(CLEAR), resume: first(RESUME) }
}

/// Whether every running client has read a file that changed at `changed`.
pub fn loaded(changed: Time, now: Time) -> bool {
    (now - changed).num_seconds() >= LOAD_SECONDS
}

/// A chord as the file and people write it.
pub fn written(strokes: &[Stroke]) -> String {
    let keys: Vec<String> = strokes.iter().map(Stroke::to_string).collect();
    keys.join(" ")
}

/// Whether the binding at `at` is what its chord does at the prompt.
fn works(bindings: &[Binding], at: usize) -> bool {
    let ours = &bindings[at];
    let chat = ours.context == "Chat";
    let later = bindings[at + 1..].iter();
    let overridden = later.into_iter().any(|other| {
        other.chord == ours.chord && (other.context == "Chat" || other.context == "Global")
    });
    chat && !overridden && !bindings.iter().any(|other| other.extends_chord(&ours.chord))
}

/// The keys to press, if all of them may be pressed. A single key is rejected, because elsewhere in
/// the client it may mean something.
fn strokes(chord: &[Key]) -> Option<Vec<Stroke>> {
    let strokes: Option<Vec<Stroke>> = chord.iter().map(Key::stroke).collect();
    strokes.filter(|all| all.len() > 1 && all[0].ctrl)
}

impl Key {
    fn stroke(&self) -> Option<Stroke> {
        let mut chars = self.name.chars();
        let (Some(key), None) = (chars.next(), chars.next()) else { return None };
        let fits = if self.ctrl {
            (key.is_ascii_lowercase() || key == ']') && !NEVER.contains(&key)
        } else {
            key.is_ascii_lowercase() || key.is_ascii_digit()
        };
        (fits && !self.alt && !self.shift && !self.command)
            .then_some(Stroke { ctrl: self.ctrl, key })
    }
}

/// The first candidate that conflicts with no binding of the user in any context: bound nowhere, no
/// prefix of theirs, and none of theirs its prefix.
fn free<'a>(candidates: &[&'a str], bindings: &[Binding]) -> Option<&'a str> {
    candidates.iter().copied().find(|candidate| {
        let chord = parse::chord(candidate).unwrap_or_default();
        bindings.iter().all(|theirs| {
            theirs.chord != chord
                && (theirs.action.is_none()
                    || !(theirs.chord.starts_with(&chord) || chord.starts_with(&theirs.chord)))
        })
    })
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    /// A file of bindings, one block each.
    fn file(blocks: &[(&str, &str, &str)]) -> String {
        let block = |(context, chord, action): &(&str, &str, &str)| {
            let action = if action.is_empty() { "null".into() } else { format!("\"{action}\"") };
            format!(r#"{{"context":"{context}","bindings":{{"{chord}":{action}}}}}"#)
        };
        let blocks: Vec<String> = blocks.iter().map(block).collect();
        format!(r#"{{"bindings":[{}]}}"#, blocks.join(","))
    }

    fn clear(blocks: &[(&str, &str, &str)]) -> Option<String> {
        find(&file(blocks)).clear.map(|chord| written(&chord))
    }

    const OURS: (&str, &str, &str) = ("Chat", "ctrl+] ctrl+]", CLEAR);

    #[test]
    fn the_chord_is_found_as_the_client_reads_it() {
        let ours = Some("ctrl+] ctrl+]".to_owned());
        assert_eq!(clear(&[OURS]), ours);
        assert_eq!(clear(&[("Chat", " Control+]   CTRL+] ", CLEAR)]), ours);
        assert_eq!(clear(&[("Chat", "ctrl+k", "chat:stash"), OURS]), ours);
        assert_eq!(clear(&[("Nope", "ctrl+k", "chat:nope"), OURS]), ours);
        assert_eq!(clear(&[("Chat", "ctrl+] ctrl+]", ""), OURS]), ours);
        assert_eq!(clear(&[OURS, ("Chat", "ctrl+]", "chat:stash")]), ours);
        assert_eq!(clear(&[("Global", "ctrl+] ctrl+]", "app:toggleTodos"), OURS]), ours);
        assert_eq!(
            find(&file(&[OURS, ("Chat", "ctrl+] ctrl+f", RESUME)])).resume,
            Some(vec![Stroke::ctrl(']'), Stroke::ctrl('f')])
        );
    }

    #[test]
    fn a_chord_that_the_client_gives_to_something_else_is_none() {
        for other in [
            ("Chat", "ctrl+] ctrl+]", ""),
            ("Chat", "ctrl+] ctrl+]", "chat:stash"),
            ("Global", "ctrl+] ctrl+]", ""),
            ("Chat", "ctrl+] ctrl+] ctrl+k", "chat:stash"),
        ] {
            assert_eq!(clear(&[OURS, other]), None, "{other:?}");
        }
        assert_eq!(clear(&[("Global", "ctrl+] ctrl+]", CLEAR)]), None);
        assert_eq!(clear(&[("Chat", "ctrl+] ctrl+] ctrl+k", "chat:stash"), OURS]), None);
    }

    #[test]
    fn an_earlier_chord_stands_in_for_one_that_was_unbound() {
        let theirs = ("Chat", "ctrl+x ctrl+l", CLEAR);
        assert_eq!(
            clear(&[theirs, OURS, ("Chat", "ctrl+] ctrl+]", "")]).as_deref(),
            Some("ctrl+x ctrl+l")
        );
    }

    #[test]
    fn no_key_is_pressed_that_could_do_harm() {
        for chord in [
            "ctrl+k",
            "f9",
            "ctrl+x ctrl+b",
            "ctrl+x ctrl+m",
            "ctrl+x ctrl+[",
            "ctrl+x enter",
            "ctrl+x alt+k",
            "ctrl+x shift+k",
            "ctrl+x cmd+k",
            "g g",
            "ctrl+c ctrl+l",
            "ctrl+x ctrl+é",
            "ctrl+x+y ctrl+k",
        ] {
            assert_eq!(clear(&[("Chat", chord, CLEAR)]), None, "{chord}");
        }
        assert_eq!(clear(&[("Chat", "ctrl+x c", CLEAR)]).as_deref(), Some("ctrl+x c"));
        for chord in FOR_CLEAR.iter().chain(&FOR_RESUME) {
            assert_eq!(clear(&[("Chat", chord, CLEAR)]).as_deref(), Some(*chord));
        }
    }

    #[test]
    fn what_the_client_drops_binds_nothing() {
        let ours = r#"{"context":"Chat","bindings":{"ctrl+] ctrl+]":"command:clear"}}"#;
        for text in [
            String::new(),
            "junk".into(),
            format!("[{ours}]"),
            format!("{{\"bindings\":[{ours},]}}"),
            format!("// mine\n{{\"bindings\":[{ours}]}}"),
            format!("\u{feff}{{\"bindings\":[{ours}]}}"),
            format!(r#"{{"bindings":[{ours},{{"context":"Chat"}}]}}"#),
            format!(r#"{{"bindings":[{ours},{{"context":"Chat","bindings":{{"ctrl+k":5}}}}]}}"#),
        ] {
            assert_eq!(find(&text), Chords::default(), "{text}");
        }
        let extra = format!(r#"{{"$schema":"x","more":[1],"bindings":[{ours}]}}"#);
        assert!(find(&extra).clear.is_some());
    }

    #[test]
    fn a_young_file_is_not_trusted() {
        let now = base::clock::now();
        assert!(!loaded(now - TimeDelta::seconds(3), now));
        assert!(loaded(now - TimeDelta::seconds(4), now));
        assert!(!loaded(now + TimeDelta::hours(1), now));
    }
}
