//! The delivery: what crosses between its markers, whole for the mod, in
//! numbered pieces where the hooks carry it (a hook's context is cut above
//! 10,000 characters, seen with client 2.1.329).

use std::io;
use std::path::Path;

use serde_json::json;

use super::facts::Facts;
use super::{account, phase};
use crate::boundary::{Delivery, Step, Token};
use crate::compaction::{Role, for_reader, parse};
use crate::files::{boundary, jobs, origin};
use crate::texts::{Text, cut, say};
use base::atomic;
use base::log;
use base::paths::Places;
use base::plain;

/// Characters of the file in one piece; its frame, the bearings and the prompts come on top.
pub const PIECE_CHARS: usize = 7_500;

/// Characters of one hook's context: above 10,000 the client shows 2,000 of them.
const CONTEXT_CHARS: usize = 9_900;

/// Pieces that are registered in `hooks.json`; what is left over is named by path.
pub const MAX_PIECES: usize = 3;

/// Characters quoted of a prompt.
const PROMPT_CHARS: usize = 1_000;

/// The text that starts the new session, whole.
pub fn text(facts: &Facts, token: &Token) -> Option<String> {
    let file = delivered(facts, token)?;
    let prompts = quoted_prompts(facts, token, PROMPT_CHARS);
    let values = [("prompts", prompts.as_str()), ("file", file.as_str())];
    Some(about(facts, token, kick_off(token), &values))
}

/// What is put between the markers.
pub fn delivered(facts: &Facts, token: &Token) -> Option<String> {
    match rendered(token) {
        Ok(text) => text,
        Err(e) => {
            facts.fault("what is to be delivered not read", &e);
            None
        }
    }
}

/// The text that crosses as the reader gets it; its arrival is proved by this.
///
/// # Errors
/// What the system says.
pub fn rendered(token: &Token) -> io::Result<Option<String>> {
    let text = atomic::read_text(Path::new(&token.sealed))?;
    Ok(text.map(|text| plain::notes(&for_reader(&text))))
}

/// Whether a job's notes are this machine's own, as they stand and as they were sealed.
fn are_own(places: &Places, job: &str, sealed: Option<u64>) -> bool {
    // What can't be remembered now is seen again the next time.
    let _ = origin::look(places, job);
    origin::origin(places, job).is_own()
        && sealed.is_none_or(|version| jobs::is_as_sealed(places, job, version))
}

/// A text that holds notes, with whose they are ahead of them.
pub fn framed(
    facts: &Facts,
    job: &str,
    sealed: Option<u64>,
    text: Text,
    values: &[(&str, &str)],
) -> String {
    let own = are_own(&facts.places, job, sealed);
    let whose = if own { Text::NotesOwn } else { Text::NotesFromRepository };
    let whose = say(&facts.places, whose, &[]);
    let values = [&[("whose", whose.as_str())], values].concat();
    let text = say(&facts.places, text, &values);
    // A template of the user's may leave it out.
    if own || text.contains(&whose) { text } else { format!("{whose}\n{text}") }
}

fn kick_off(token: &Token) -> Text {
    match token.delivery {
        Delivery::Sealed => Text::Kickoff,
        Delivery::Reload | Delivery::Template => Text::KickoffFocus,
        Delivery::Transition => Text::KickoffTransition,
    }
}

/// Where the agent finds what is handed over: the live file of a focused job, else a
/// sealed version.
pub fn path(places: &Places, token: &Token) -> String {
    match token.delivery {
        Delivery::Sealed => token.sealed.clone(),
        Delivery::Reload | Delivery::Template => {
            places.compaction(&token.job).display().to_string()
        }
        Delivery::Transition => {
            jobs::sealed_path(places, &token.job, token.version).display().to_string()
        }
    }
}

/// What the session that begins is to do first.
fn next(facts: &Facts, token: &Token) -> String {
    let text = match token.delivery {
        Delivery::Sealed if !has_next_step(facts, token) => Text::NextOpen,
        Delivery::Sealed => Text::NextNotes,
        Delivery::Reload => Text::NextFocused,
        Delivery::Template => Text::NextNew,
        Delivery::Transition => Text::NextCompleted,
    };
    // The settings may call the section otherwise, or have none: then open work comes first.
    let shape = &facts.settings.file.shape;
    let section = shape.with_role(Role::Forward).unwrap_or_else(|| shape.home());
    say(&facts.places, text, &[("forward", shape.name(Some(section)))])
}

/// Whether the sealed notes say what to do next.
fn has_next_step(facts: &Facts, token: &Token) -> bool {
    let text = atomic::read_text(Path::new(&token.sealed)).ok().flatten().unwrap_or_default();
    let shape = &facts.settings.file.shape;
    let document = parse(&text, shape);
    let section = shape.with_role(Role::Forward).unwrap_or_else(|| shape.home());
    let mut entries = document.section(section);
    entries.any(|entry| !entry.closed && !entry.none)
}

/// A text about a boundary, with everything it may name; `more` comes first.
pub fn about(facts: &Facts, token: &Token, text: Text, more: &[(&str, &str)]) -> String {
    let next = next(facts, token);
    let (version, path) = (token.version.to_string(), path(&facts.places, token));
    let mut values = more.to_vec();
    values.extend([
        ("job", token.job.as_str()),
        ("version", version.as_str()),
        ("path", path.as_str()),
        ("token", token.id.as_str()),
        ("next", next.as_str()),
    ]);
    if !more.iter().any(|(name, _)| *name == "file") {
        return say(&facts.places, text, &values);
    }
    let sealed = (token.delivery == Delivery::Sealed).then_some(token.version);
    framed(facts, &token.job, sealed, text, &values)
}

/// The first and the last of the user's prompts, `chars` of each, and where all are.
/// None of a completed job's: they are answered.
fn quoted_prompts(facts: &Facts, token: &Token, chars: usize) -> String {
    if token.delivery == Delivery::Transition {
        return String::new();
    }
    let Some((first, last)) = origin::prompts(&facts.places, &token.job) else {
        return String::new();
    };
    let quote = |text: &str| {
        let text = plain::notes(&cut(text, chars));
        format!("> {}", text.replace('\n', "\n> "))
    };
    let mut out = format!("The user's first prompt in this job:\n{}", quote(&first.text));
    if last != first {
        out = format!("{out}\nThe last one:\n{}", quote(&last.text));
    }
    let path = facts.places.job(&token.job).join("prompts.jsonl");
    format!("{out}\nAll of them: {}", path.display())
}

/// Splits at line ends, and within a line where that would leave half a piece
/// empty; the pieces put together are the text.
fn split(text: &str, chars: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((end, _)) = rest.char_indices().nth(chars) {
        let line_end = rest[..end].rfind('\n').map(|newline| newline + 1);
        let at = line_end.filter(|at| *at > end / 2).unwrap_or(end);
        let (piece, behind) = rest.split_at(at);
        pieces.push(piece);
        rest = behind;
    }
    pieces.push(rest);
    pieces
}

/// Characters of one piece of this delivery: fewer where the job's phase is told
/// beside the first. The same in every hook that brings a piece.
fn piece_chars(facts: &Facts, token: &Token) -> usize {
    let phase = match token.delivery {
        Delivery::Transition => 0,
        _ => phase::phase(facts, &token.job).chars().count(),
    };
    PIECE_CHARS.saturating_sub(phase).max(PIECE_CHARS / 2)
}

/// The `number`-th piece of a delivery by the hooks, once, behind the text `ahead`;
/// `None` where there is none or another hook has it.
pub fn claim_piece(facts: &Facts, token: &Token, number: usize, ahead: &str) -> Option<String> {
    let file = delivered(facts, token)?;
    let pieces = split(&file, piece_chars(facts, token));
    let piece = pieces.get(number - 1).filter(|_| number <= MAX_PIECES)?;
    let claim = facts.places.token(&token.id).with_extension(format!("piece-{number}"));
    if !atomic::claim(&claim).unwrap_or(false) {
        return None;
    }
    if number == 1 {
        let moved =
            boundary::update(&facts.places, &token.id, |t| t.advance(Step::Delivered, facts.now));
        if let Err(e) = moved {
            facts.fault("token not moved", &e);
        }
        let details = json!({"token": token.id, "pieces": pieces.len(), "by": "hook"});
        log::write(&facts.places.log(), facts.now, "delivered", &details);
    }
    let last = number == MAX_PIECES && pieces.len() > MAX_PIECES;
    let rest = format!("{piece}\n[the rest is in {}]", path(&facts.places, token));
    let file = if last { rest.as_str() } else { piece };
    let (part, parts) = (number.to_string(), pieces.len().min(MAX_PIECES).to_string());
    let whole = pieces.len() == 1;
    let kind = if whole { kick_off(token) } else { Text::Piece };
    // What to do with them is said once, with the first.
    let next = match number {
        1 if whole => next(facts, token),
        1 => format!("\n{}", next(facts, token)),
        _ => String::new(),
    };
    let with_prompts = |chars: usize| {
        let prompts = if number > 1 { String::new() } else { quoted_prompts(facts, token, chars) };
        let more = [
            ("part", part.as_str()),
            ("parts", parts.as_str()),
            ("prompts", prompts.as_str()),
            ("file", file),
            ("next", next.as_str()),
        ];
        format!("{ahead}{}", about(facts, token, kind, &more))
    };
    // The file comes first: what of the prompts doesn't fit beside it stays on disk.
    let sizes = [PROMPT_CHARS, 500, 200, 50];
    let fitting =
        sizes.into_iter().map(with_prompts).find(|text| text.chars().count() <= CONTEXT_CHARS);
    let text = fitting.unwrap_or_else(|| with_prompts(0));
    account::delivered(facts, text.len() - ahead.len());
    Some(text)
}

/// Whether the hooks deliver this token, rather than the mod in one text.
pub fn by_hooks(facts: &Facts, token: &Token) -> bool {
    facts.places.token(&token.id).with_extension("piece-1").exists()
}

/// Whether a prompt is the delivery of this token: it holds the opening marker.
/// The text that wakes a session names the markers too, but doesn't open one.
pub fn is_delivery(prompt: &str, token: &Token) -> bool {
    prompt.contains(&format!("<<<<< compaction file {}", token.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::testing::token;
    use crate::texts::fill;
    use proptest::prelude::*;

    #[test]
    fn the_kick_off_is_the_delivery_and_the_wake_is_not() {
        let token = token(Step::Cleared);
        let text = |text: Text| fill(text.built_in(), &[("token", token.id.as_str())]);
        for kick_off in [Text::Kickoff, Text::KickoffFocus, Text::KickoffTransition] {
            assert!(is_delivery(&text(kick_off), &token));
        }
        assert!(!is_delivery(&text(Text::Wake), &token));
    }

    proptest! {
        #[test]
        fn pieces_put_together_are_the_text(text in "([a-zé]{0,60}\n){0,40}[a-z]{0,10}", chars in 10usize..200) {
            let pieces = split(&text, chars);
            prop_assert_eq!(pieces.concat(), text.as_str());
            prop_assert!(pieces.iter().all(|p| p.chars().count() <= chars));
        }
    }
}
