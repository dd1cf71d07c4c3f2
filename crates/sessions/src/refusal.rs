//! Answers of the API after which a session stays dead: the client shows them in the agent's place.

use memchr::memmem;
use serde::Serialize;

use crate::span;

/// What of a session the API refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Thinking, because something before it changed.
    Thinking,
    /// Half of a character.
    HalfCharacter,
}

impl Refusal {
    /// The refusal that a row shows, if it does.
    pub fn of_row(json: &[u8]) -> Option<Self> {
        const THINKING: [&[u8]; 3] =
            [b"cannot be modified", b"signature", b"different conversation"];
        if span::find(json, "isApiErrorMessage") != Some(b"true") {
            return None;
        }
        let has = |text: &[u8]| memmem::find(json, text).is_some();
        if has(b"thinking") && THINKING.iter().any(|text| has(text)) {
            Some(Self::Thinking)
        } else {
            has(b"low surrogate").then_some(Self::HalfCharacter)
        }
    }

    /// What of the session it is, and what the API does.
    pub fn words(self) -> &'static str {
        match self {
            Self::Thinking => "the API refuses its thinking",
            Self::HalfCharacter => "the API can't read half of a character in it",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_stay_are_told_from_those_that_pass() {
        let of = |is_error: bool, text: &str| {
            let row = serde_json::json!({"type": "assistant", "isApiErrorMessage": is_error,
                "message": {"content": [{"type": "text", "text": text}]}});
            Refusal::of_row(row.to_string().as_bytes())
        };
        let bound = "API Error: 400 Invalid `signature` in `thinking` block.";
        assert_eq!(of(true, bound), Some(Refusal::Thinking));
        assert_eq!(of(false, bound), None);
        let half = "API Error: 400 no low surrogate in string";
        assert_eq!(of(true, half), Some(Refusal::HalfCharacter));
        assert_eq!(of(true, "API Error: 529 Overloaded"), None);
    }
}
