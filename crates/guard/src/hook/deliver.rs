//! Delivers the notes to the new session, between markers. The plugin module gets one text. Hooks
//! get numbered pieces, because the client cuts a hook's context above 10,000 characters (seen with
//! 2.1.329).

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::boundary_flow::wait_for;
use super::facts::Facts;
use super::{journal, phase};
use crate::boundary::arrival::{Arrival, judge};
use crate::boundary::{Delivery, Step, Token};
use crate::files::{boundary, job_files, jobs};
use crate::texts::{Text, cut, render};
use base::atomic;
use base::lock;
use base::paths::{Places, is_safe_name};
use base::plain;
use notes::compaction::{Role, for_reader, parse};
use notes::job::Prompt;

/// Characters of the file in one piece. Its frame, the bearings and the prompts are added.
pub const PIECE_CHARS: usize = 7_500;

/// Characters of one hook's context. Above 10,000 the client shows only 2,000.
const CONTEXT_CHARS: usize = 9_900;

/// Pieces that `hooks.json` registers. The last one names the path of the rest.
pub const MAX_PIECES: usize = 3;

/// Characters quoted from a prompt.
const PROMPT_CHARS: usize = 1_000;

/// Characters quoted from a prompt after the seal, and from all of them. The newest is only cut at
/// the second.
const SAID_CHARS: usize = 4_000;
const SAID_IN_ALL: usize = 16_000;

/// How long a piece waits for the one before it.
const PIECE_PATIENCE: Duration = Duration::from_millis(1_500);

/// The whole text that starts the new session.
pub fn text(facts: &Facts, token: &Token) -> Option<String> {
    let file = load_notes(facts, token)?;
    let mut prompts = quoted_prompts(facts, token, PROMPT_CHARS);
    let said = quote_prompts_since(facts, token, SAID_IN_ALL);
    if !said.is_empty() {
        let said = boundary_text(facts, token, Text::PromptsSince, &[("said", &said)]);
        prompts = format!("{prompts}\n\n{said}");
    }
    let values = [("prompts", prompts.as_str()), ("file", file.as_str())];
    Some(boundary_text(facts, token, kick_off(token), &values))
}

/// The text between the markers. Logs a fault if it cannot be read.
pub fn load_notes(facts: &Facts, token: &Token) -> Option<String> {
    match render_notes(token) {
        Ok(text) => text,
        Err(e) => {
            facts.fault("what is to be delivered not read", &e);
            None
        }
    }
}

/// The notes as the new session gets them. The waiter looks for exactly this text to prove that
/// they arrived.
///
/// # Errors
/// What the system says.
pub fn render_notes(token: &Token) -> io::Result<Option<String>> {
    let text = atomic::read_text(Path::new(&token.sealed))?;
    Ok(text.map(|text| plain::notes(&for_reader(&text))))
}

fn kick_off(token: &Token) -> Text {
    match token.delivery {
        Delivery::Sealed => Text::Kickoff,
        Delivery::Reload if token.child.as_ref() == Some(&token.parent) => Text::KickoffResumed,
        Delivery::Reload | Delivery::Template => Text::KickoffFocus,
        Delivery::Transition => Text::KickoffTransition,
    }
}

/// The file with the notes: the live file of a focused job, otherwise a sealed version.
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

/// What the new session does first.
fn next(facts: &Facts, token: &Token) -> String {
    let text = match token.delivery {
        Delivery::Sealed | Delivery::Reload | Delivery::Transition
            if !prompts_since(facts, token).is_empty() =>
        {
            Text::NextPrompt
        }
        Delivery::Sealed if !has_next_step(facts, token) => Text::NextOpen,
        Delivery::Sealed => Text::NextNotes,
        Delivery::Reload => Text::NextFocused,
        Delivery::Template => Text::NextNew,
        Delivery::Transition => Text::NextCompleted,
    };
    // The settings may rename the section or drop it. Then open work comes first.
    let shape = &facts.settings.file.shape;
    let section = shape.with_role(Role::Forward).unwrap_or_else(|| shape.home());
    render(&facts.places, text, &[("forward", shape.name(Some(section)))])
}

/// Whether the sealed notes contain a next step.
fn has_next_step(facts: &Facts, token: &Token) -> bool {
    let text = atomic::read_text(Path::new(&token.sealed)).ok().flatten().unwrap_or_default();
    let shape = &facts.settings.file.shape;
    let document = parse(&text, shape);
    let section = shape.with_role(Role::Forward).unwrap_or_else(|| shape.home());
    let mut entries = document.section(section);
    entries.any(|entry| !entry.closed && !entry.none)
}

/// Fills a text about a boundary with its values. Values in `more` take precedence.
pub fn boundary_text(facts: &Facts, token: &Token, text: Text, more: &[(&str, &str)]) -> String {
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
    render(&facts.places, text, &values)
}

/// What the user said in the session after its notes were sealed, oldest first.
fn prompts_since(facts: &Facts, token: &Token) -> Vec<Prompt> {
    // After a completion, the session goes on with another job.
    let job = match token.delivery {
        Delivery::Transition => &facts.session.job,
        _ => &token.job,
    };
    let mut prompts = job_files::prompts(&facts.places, job);
    prompts.retain(|prompt| prompt.session == token.parent && prompt.at > token.created);
    prompts
}

/// Quotes those prompts in order, `most` characters in all, the newest first to be quoted.
fn quote_prompts_since(facts: &Facts, token: &Token, most: usize) -> String {
    let prompts = prompts_since(facts, token);
    let mut left = most;
    let mut quotes = Vec::new();
    for (index, prompt) in prompts.iter().rev().enumerate() {
        let chars = if index == 0 { left } else { SAID_CHARS.min(left) };
        if chars < PROMPT_CHARS.min(prompt.text.len()) {
            let path = job_files::prompts_path(&facts.places, &token.job);
            let count = prompts.len() - index;
            quotes.push(format!("[{count} earlier in {}]", path.display()));
            break;
        }
        let quote = quote(&prompt.text, chars);
        left = left.saturating_sub(quote.chars().count());
        quotes.push(quote);
    }
    quotes.reverse();
    quotes.join("\n\n")
}

fn quote(text: &str, chars: usize) -> String {
    let text = plain::notes(&cut(text, chars));
    format!("> {}", text.replace('\n', "\n> "))
}

/// Quotes the user's first and last prompt, `chars` of each, and names the file with all of them.
/// Empty for a completed job, because its prompts are answered.
fn quoted_prompts(facts: &Facts, token: &Token, chars: usize) -> String {
    if token.delivery == Delivery::Transition {
        return String::new();
    }
    let all = job_files::prompts(&facts.places, &token.job);
    let Some((first, last)) = all.first().zip(all.last()) else { return String::new() };
    let mut out = format!("The user's first prompt in this job:\n{}", quote(&first.text, chars));
    if last != first && prompts_since(facts, token).is_empty() {
        out = format!("{out}\nThe last one:\n{}", quote(&last.text, chars));
    }
    format!("{out}\nAll of them: {}", job_files::prompts_path(&facts.places, &token.job).display())
}

/// Splits at line ends. Splits inside a line where a piece would be half empty otherwise. The
/// joined pieces equal the text.
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

/// Characters of one piece: fewer if the first one also tells the job's phase. Every hook that
/// delivers a piece computes the same number.
fn piece_chars(facts: &Facts, token: &Token) -> usize {
    let phase = match token.delivery {
        Delivery::Transition => 0,
        _ => phase::phase(facts, &token.job).chars().count(),
    };
    PIECE_CHARS.saturating_sub(phase).max(PIECE_CHARS / 2)
}

/// Claims the `number`-th piece for this hook and puts `ahead` in front of it. The last one is what
/// the user said after the seal. `None` if there is no such piece or another hook has it.
pub fn claim_piece(facts: &Facts, token: &Token, number: usize, ahead: &str) -> Option<String> {
    let file = load_notes(facts, token)?;
    let pieces = split(&file, piece_chars(facts, token));
    let said = quote_prompts_since(facts, token, PIECE_CHARS);
    let parts = pieces.len().min(MAX_PIECES - usize::from(!said.is_empty()));
    if number > parts + usize::from(!said.is_empty()) {
        return None;
    }
    wait_for_piece(facts, token, number - 1);
    let claim = piece_path(facts, token, number);
    // Held until this process ends, for which the next piece waits once it sees the claim.
    let alive = lock::acquire(&piece_lock(&claim), Duration::ZERO);
    if !atomic::claim(&claim).unwrap_or(false) {
        return None;
    }
    std::mem::forget(alive);
    let Some(piece) = pieces.get(number - 1).filter(|_| number <= parts) else {
        return Some(boundary_text(facts, token, Text::PromptsSince, &[("said", &said)]));
    };
    if number == 1 {
        facts.change_token(&token.id, |t| t.advance(Step::Delivered, facts.now));
    }
    let last = number == parts && pieces.len() > parts;
    let rest = format!("{piece}\n[the rest is in {}]", path(&facts.places, token));
    let file = if last { rest.as_str() } else { piece };
    let (part, parts) = (number.to_string(), parts.to_string());
    let whole = pieces.len() == 1;
    let kind = if whole { kick_off(token) } else { Text::Piece };
    // Only the first piece says what to do with them.
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
        format!("{ahead}{}", boundary_text(facts, token, kind, &more))
    };
    // The file takes precedence: prompts that do not fit beside it are shortened.
    let sizes = [PROMPT_CHARS, 500, 200, 50];
    let fitting =
        sizes.into_iter().map(with_prompts).find(|text| text.chars().count() <= CONTEXT_CHARS);
    let text = fitting.unwrap_or_else(|| with_prompts(0));
    journal::record_delivery(facts, text.len() - ahead.len());
    Some(text)
}

/// The lock of the process that delivers a piece.
fn piece_lock(claim: &Path) -> PathBuf {
    let mut name = claim.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// The file that says that a process delivers a piece.
fn piece_path(facts: &Facts, token: &Token, number: usize) -> PathBuf {
    facts.places.token(&token.id).with_extension(format!("piece-{number}"))
}

/// Waits for the end of the process that delivers this piece. The client joins the contexts of its
/// hooks in the order in which they end.
fn wait_for_piece(facts: &Facts, token: &Token, number: usize) {
    if number == 0 {
        return;
    }
    let path = piece_path(facts, token, number);
    if wait_for(PIECE_PATIENCE, || path.exists()) {
        drop(lock::acquire(&piece_lock(&path), PIECE_PATIENCE));
    }
}

/// Whether the hooks deliver this token, and not the plugin module in one text.
pub fn by_hooks(facts: &Facts, token: &Token) -> bool {
    piece_path(facts, token, 1).exists()
}

/// Whether the notes are in this session's transcript. The client drops what a hook says that it
/// has given up on.
pub fn has_arrived(facts: &Facts, token: &Token) -> bool {
    let rows = facts.transcript.as_ref().and_then(|path| atomic::read(path).ok()?);
    let notes = render_notes(token).ok().flatten();
    rows.zip(notes).is_some_and(|(rows, notes)| judge(&rows, &token.id, &notes) == Arrival::Whole)
}

/// The opening marker of delivered notes, up to the token's id. The text that wakes a session
/// mentions the marker in other words.
const OPENING: &str = "<<<<< compaction file ";

/// The token whose notes a prompt delivers to this session. It may be an earlier one, if the client
/// kept the prompt until the end of a turn.
pub fn delivered_by(facts: &Facts, prompt: &str) -> Option<Token> {
    let load = |id| boundary::load(&facts.places, id).ok().flatten();
    let mut tokens = delivered_tokens(prompt).filter_map(load);
    tokens.find(|token| token.child.as_deref() == Some(facts.id))
}

/// The ids behind all opening markers: a delivery may quote a prompt that contains one.
fn delivered_tokens(prompt: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let ids = prompt.split(OPENING).skip(1).filter_map(move |text| text.split(ends).next());
    ids.filter(|id| is_safe_name(id))
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
        for kick_off in
            [Text::Kickoff, Text::KickoffFocus, Text::KickoffResumed, Text::KickoffTransition]
        {
            assert!(delivered_tokens(&text(kick_off)).eq([token.id.as_str()]));
        }
        assert_eq!(delivered_tokens(&text(Text::Wake)).next(), None);
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
