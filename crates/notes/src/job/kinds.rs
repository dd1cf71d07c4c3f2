//! Kinds that stay in an entry's text (`steering: [design] …`), because other code must recognize
//! them. Steering notes are collected over all jobs, and directives are never folded. Other kinds
//! only choose the section.

use crate::compaction::flags::{flags, lead};
use crate::compaction::says_nothing;

/// A note about how coaching or an injection affected the work.
pub const STEERING: &str = "steering";
/// A binding instruction from the user.
pub const DIRECTIVE: &str = "directive";

/// A parsed steering note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steering<'a> {
    /// The template or phase it is about: `[name]` in front.
    pub about: Option<&'a str>,
    /// What it says.
    pub says: &'a str,
    /// `none: why`: there was nothing to report.
    pub none: bool,
}

/// Parses an entry's text. `None` if it is no steering note or says nothing.
pub fn steering(text: &str) -> Option<Steering<'_>> {
    let (_, rest) = lead(flags(text).bare).filter(|(word, _)| word == STEERING)?;
    let (about, says) = match named(rest) {
        Some((name, says)) => (Some(name), says),
        None => (None, rest),
    };
    let none = lead(says).is_some_and(|(word, why)| word == "none" && !says_nothing(why));
    (!says_nothing(says)).then_some(Steering { about, says, none })
}

/// Splits `[name] rest`. A Markdown link does not count.
fn named(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.strip_prefix('[')?.split_once(']')?;
    let usable = !name.trim().is_empty() && !name.contains(['\n', '[']);
    (usable && !rest.starts_with(['(', '[', ':'])).then(|| (name.trim(), rest.trim_start()))
}

/// Adds the kind once to the text of steering notes and directives, after pin and checkbox. A
/// steering note also gets what it is `about`, unless it says so itself.
pub fn with_kind(kind: &str, about: Option<&str>, text: &str) -> String {
    let kind = kind.trim().to_lowercase();
    let flags = flags(text);
    let kept = [STEERING, DIRECTIVE].contains(&kind.as_str());
    // "No directive" binds nothing. "No steering" answers a question.
    if !kept || kind == DIRECTIVE && flags.none || says_nothing(flags.bare) {
        return text.to_owned();
    }
    let (word, says) = lead(flags.bare).unwrap_or_default();
    let says = if word == kind { says } else { flags.bare };
    let about = about
        .map(label)
        .filter(|name| kind == STEERING && !name.is_empty() && named(says).is_none());
    if word == kind && about.is_none() {
        return text.to_owned();
    }
    // Some markup must stay at the start of a line.
    let gap = if ["```", "~~~", "|", ">"].iter().any(|m| says.starts_with(m)) { '\n' } else { ' ' };
    let about = about.map_or_else(String::new, |name| format!(" [{name}]"));
    let at = text.rfind(flags.bare).unwrap_or(0);
    [
        &text[..at],
        &kind,
        ":",
        &about,
        gap.encode_utf8(&mut [0; 4]),
        says,
        &text[at + flags.bare.len()..],
    ]
    .concat()
}

/// Prepares a name for use inside brackets.
pub fn label(name: &str) -> String {
    let words: Vec<_> = name.split_whitespace().collect();
    words.join(" ").replace('[', "(").replace(']', ")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_kinds_stay_in_front() {
        for (kind, about, text, expected) in [
            ("steering", None, "the voice helped", "steering: the voice helped"),
            ("Steering", Some("note-coach"), "it came late", "steering: [note-coach] it came late"),
            ("steering", Some("a"), "steering: it came late", "steering: [a] it came late"),
            ("steering", Some("a"), "steering: [b] it came late", "steering: [b] it came late"),
            ("steering", Some("a"), "[b] it came late", "steering: [b] it came late"),
            ("steering", Some("a [1]"), "x", "steering: [a (1)] x"),
            ("steering", Some("a"), "[b](url) x", "steering: [a] [b](url) x"),
            ("steering", None, "**Steering:** x", "**Steering:** x"),
            (
                "steering",
                Some("a"),
                "none: it had no effect",
                "steering: [a] none: it had no effect",
            ),
            ("steering", None, "```\nx\n```", "steering:\n```\nx\n```"),
            ("steering", None, "- ", "- "),
            ("directive", Some("a"), "never push", "directive: never push"),
            ("directive", None, "! never push", "! directive: never push"),
            ("directive", None, "[x] ! never push", "[x] ! directive: never push"),
            ("directive", None, "~~x~~", "~~directive: x~~"),
            ("directive", None, "none: nothing binds", "none: nothing binds"),
            ("directive", None, "scope: x", "directive: scope: x"),
            ("risk", None, "x", "x"),
        ] {
            assert_eq!(with_kind(kind, about, text), expected, "{kind} {text}");
            let again = with_kind(kind, about, expected);
            assert_eq!(again, expected, "marked twice");
        }
    }

    #[test]
    fn steering_notes_are_known_again() {
        let note = |about, says, none| Some(Steering { about, says, none });
        for (text, expected) in [
            ("steering: x", note(None, "x", false)),
            ("! **steering**: [the design] x\ny", note(Some("the design"), "x\ny", false)),
            ("[x] steering: [a]: x", note(None, "[a]: x", false)),
            ("steering: [a] none: no effect", note(Some("a"), "none: no effect", true)),
            ("steering: none: no effect", note(None, "none: no effect", true)),
            ("steering:", None),
            ("steering: [a]", None),
            ("the steering: x", None),
            ("lesson: x", None),
        ] {
            assert_eq!(steering(text), expected, "{text}");
        }
    }
}
