//! Every text that the agent or the user reads: a template under `templates/`,
//! built in, and replaced by a file of the same name in the user's folder.

use base::atomic;
use base::paths::Places;

macro_rules! texts {
    ($($name:ident => $file:literal),+ $(,)?) => {
        /// A text by its template's file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Text {
            $(#[doc = concat!("`templates/", $file, "`")] $name,)+
        }

        impl Text {
            /// All of them.
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
    Form => "form.md",
    DenyTier => "deny-tier.md",
    DenyAgain => "deny-again.md",
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
    Kickoff => "kickoff.md",
    KickoffFocus => "kickoff-focus.md",
    KickoffTransition => "kickoff-transition.md",
    NextNotes => "next-notes.md",
    NextOpen => "next-open.md",
    NextFocused => "next-focused.md",
    NextNew => "next-new.md",
    NextCompleted => "next-completed.md",
    Piece => "piece.md",
    NotesOwn => "notes-own.md",
    NotesFromRepository => "notes-from-repository.md",
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
    PasteLine => "paste-line.md",
    SurgeryIndex => "surgery-index.md",
    SurgeryMerge => "surgery-merge.md",
}

/// Fills `{{name}}` from `values`; a name nobody gave becomes nothing. Values are
/// put in as they are and not searched again.
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

/// A template: the user's if there is one, else ours.
pub fn template(places: &Places, text: Text) -> String {
    atomic::read_text(&places.user_texts.join(text.file()))
        .ok()
        .flatten()
        // An empty text would be a refusal without a reason.
        .filter(|text| !text.trim().is_empty())
        .unwrap_or_else(|| text.built_in().to_owned())
}

/// A text, filled and without the template's last newline.
pub fn say(places: &Places, text: Text, values: &[(&str, &str)]) -> String {
    fill(&template(places, text), values).trim_end().to_owned()
}

/// At most `max` characters of `text`; what is left out is marked.
pub fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{} […]", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
