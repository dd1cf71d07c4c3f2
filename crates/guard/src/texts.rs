//! The texts that the agent or the user reads. Each is a built-in template from `templates/`,
//! which a file of the same name in the user's folder replaces.

use base::atomic;
use base::paths::Places;

macro_rules! texts {
    ($($name:ident => $file:literal),+ $(,)?) => {
        /// A text, named by its template file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Text {
            $(#[doc = concat!("`templates/", $file, "`")] $name,)+
        }

        impl Text {
            /// All texts.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The template's file name.
            pub fn file(self) -> &'static str {
                match self { $(Self::$name => $file,)+ }
            }

            /// The built-in template.
            pub fn built_in(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("../../../templates/", $file)),)+ }
            }
        }
    };
}

texts! {
    Compaction => "compaction.md",
    NoteCoach => "note-coach.md",
    NoteBlocking => "note-blocking.md",
    NoteNarrow => "note-narrow.md",
    NoteCapped => "note-capped.md",
    NoteAgain => "note-again.md",
    NoteLong => "note-long.md",
    Form => "form.md",
    DenyTier => "deny-tier.md",
    DenyAgain => "deny-again.md",
    DenyLong => "deny-long.md",
    DenySealed => "deny-sealed.md",
    DenyFocused => "deny-focused.md",
    DenyCompleted => "deny-completed.md",
    DenyQuestion => "deny-question.md",
    DenyOperator => "deny-operator.md",
    DenyNearMiss => "deny-near-miss.md",
    DenyMainLoop => "deny-main-loop.md",
    Reread => "reread.md",
    Capped => "capped-output.md",
    StopUnsealed => "stop-unsealed.md",
    StopAgain => "stop-again.md",
    Kickoff => "kickoff.md",
    KickoffFocus => "kickoff-focus.md",
    KickoffResumed => "kickoff-resumed.md",
    KickoffTransition => "kickoff-transition.md",
    NextNotes => "next-notes.md",
    NextOpen => "next-open.md",
    NextPrompt => "next-prompt.md",
    NextFocused => "next-focused.md",
    NextNew => "next-new.md",
    NextCompleted => "next-completed.md",
    Piece => "piece.md",
    PromptsSince => "prompts-since.md",
    SealedPrompt => "sealed-prompt.md",
    Wake => "wake.md",
    Continue => "continue.md",
    GoOn => "go-on.md",
    GoOnFocused => "go-on-focused.md",
    GoOnCompleted => "go-on-completed.md",
    NotesMissing => "notes-missing.md",
    Carried => "reground-carried.md",
    Focused => "reground-focused.md",
    Completed => "reground-completed.md",
    Phase => "reground-phase.md",
    Cleared => "reground-cleared.md",
    Compacted => "reground-compacted.md",
    Holds => "holds.md",
    NotHeld => "not-held.md",
    Offer => "offer.md",
    UserOffer => "user-offer.md",
    UserStance => "user-stance.md",
    UserCapped => "user-capped.md",
    UserUnsealed => "user-unsealed.md",
    UserUnknown => "user-unknown.md",
    UserTypeClear => "user-type-clear.md",
    UserNotice => "user-notice.md",
    UserWithdrawn => "user-withdrawn.md",
    SurgeryIndex => "surgery-index.md",
    SurgeryMerge => "surgery-merge.md",
    Slimmed => "slimmed.md",
}

/// Replaces each `{{name}}` by its value, an unknown name by nothing. Placeholders inside
/// values stay as they are.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + 256);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((name, behind)) = after.split_once("}}") else {
            out.push_str("{{");
            rest = after;
            continue;
        };
        if let Some((_, value)) = values.iter().find(|(key, _)| *key == name.trim()) {
            out.push_str(value);
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// The user's template if there is one, else the built-in one.
pub fn template(places: &Places, text: Text) -> String {
    atomic::read_text(&places.user_texts.join(text.file()))
        .ok()
        .flatten()
        // An empty template would deny a call without a reason.
        .filter(|text| !text.trim().is_empty())
        .unwrap_or_else(|| text.built_in().to_owned())
}

/// Fills in a text's template and drops its final newline.
pub fn render(places: &Places, text: Text, values: &[(&str, &str)]) -> String {
    fill(&template(places, text), values).trim_end().to_owned()
}

/// At most `max` characters of `text`, with `[…]` where it is cut.
pub fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{} […]", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notes::compaction::{Section, Shape};

    #[test]
    fn filled_once_and_nothing_is_searched_twice() {
        assert_eq!(fill("a {{x}} {{ y }}{{z}} {{", &[("x", "{{y}}"), ("y", "2")]), "a {{y}} 2 {{");
    }

    #[test]
    fn every_text_is_there_and_short() {
        for text in Text::ALL {
            let template = text.built_in();
            assert!(!template.trim().is_empty(), "{}", text.file());
            assert!(template.len() < 2_500, "{}", text.file());
        }
    }

    /// Users may rename sections.
    #[test]
    fn no_text_names_a_section() {
        for text in Text::ALL {
            let names = |section: &Section| text.built_in().contains(&section.name);
            assert!(!Shape::default().sections.iter().any(names), "{}", text.file());
        }
    }
}
