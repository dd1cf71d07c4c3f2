//! The delivery: the sealed file between its markers, whole for the mod, in
//! numbered pieces where the hooks carry it (a hook's context is cut above
//! 10,000 characters, seen with client 2.1.329).

use serde_json::json;

use super::facts::Facts;
use crate::boundary::{Step, Token};
use crate::log;
use crate::store::{atomic, boundary, prompts};
use crate::texts::{Text, say};

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
    let file = sealed_text(facts, token)?;
    Some(frame(facts, token, Text::Kickoff, &file, &[]))
}

fn sealed_text(facts: &Facts, token: &Token) -> Option<String> {
    match atomic::read_text(std::path::Path::new(&token.sealed)) {
        Ok(text) => text,
        Err(e) => {
            facts.fault("sealed file not read", &e);
            None
        }
    }
}

fn frame(facts: &Facts, token: &Token, text: Text, file: &str, more: &[(&str, &str)]) -> String {
    let version = token.version.to_string();
    let prompts = quoted_prompts(facts, token, PROMPT_CHARS);
    let mut values = vec![
        ("job", token.job.as_str()),
        ("version", version.as_str()),
        ("path", token.sealed.as_str()),
        ("token", token.id.as_str()),
        ("prompts", prompts.as_str()),
        ("file", file),
    ];
    values.splice(0..0, more.iter().copied());
    say(&facts.places, text, &values)
}

/// The first and the last of the user's prompts, `chars` of each, and where all are.
fn quoted_prompts(facts: &Facts, token: &Token, chars: usize) -> String {
    let all = prompts::all(&facts.places, &token.job, &token.parent);
    let quote = |text: &str| format!("> {}", cut(text, chars).replace('\n', "\n> "));
    let Some(first) = all.first() else { return String::new() };
    let mut out = format!("The user's first prompt in this job:\n{}", quote(&first.text));
    if let Some(last) = all.last().filter(|last| *last != first) {
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

/// At most `max` characters of `text`; what is left out is marked.
pub fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{} […]", &text[..end]),
        None => text.to_owned(),
    }
}

/// The `number`-th piece of a delivery by the hooks, once, behind the text `ahead`;
/// `None` where there is none or another hook has it.
pub fn claim_piece(facts: &Facts, token: &Token, number: usize, ahead: &str) -> Option<String> {
    let file = sealed_text(facts, token)?;
    let pieces = split(&file, PIECE_CHARS);
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
    let rest = format!("{piece}\n[the rest is in {}]", token.sealed);
    let file = if last { rest.as_str() } else { piece };
    let (part, parts) = (number.to_string(), pieces.len().min(MAX_PIECES).to_string());
    let kind = if pieces.len() == 1 { Text::Kickoff } else { Text::Piece };
    let with_prompts = |chars: usize| {
        let prompts = if number > 1 { String::new() } else { quoted_prompts(facts, token, chars) };
        let more =
            [("part", part.as_str()), ("parts", parts.as_str()), ("prompts", prompts.as_str())];
        format!("{ahead}{}", frame(facts, token, kind, file, &more))
    };
    // The file comes first: what of the prompts doesn't fit beside it stays on disk.
    let sizes = [PROMPT_CHARS, 500, 200, 50];
    let fitting =
        sizes.into_iter().map(with_prompts).find(|text| text.chars().count() <= CONTEXT_CHARS);
    Some(fitting.unwrap_or_else(|| with_prompts(0)))
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
    use crate::boundary::tests::token;
    use crate::texts::fill;
    use proptest::prelude::*;

    #[test]
    fn the_kick_off_is_the_delivery_and_the_wake_is_not() {
        let token = token(Step::Cleared);
        let text = |text: Text| fill(text.built_in(), &[("token", token.id.as_str())]);
        assert!(is_delivery(&text(Text::Kickoff), &token));
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
