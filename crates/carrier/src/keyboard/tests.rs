//! The protocols against a fake client. Its keys do what the real client was seen to do.

use proptest::prelude::*;

use super::*;

const CLEAR: &str = "/clear";

/// A client with a prompt box, one slot for a stash, and dialogs.
#[derive(Default, Clone, Debug)]
struct Pretended {
    draft: String,
    stash: String,
    dialog: bool,
    busy: bool,
    /// A dialog opens after this many actions.
    dialog_after: Option<u32>,
    acts: u32,
    submitted: Vec<String>,
    chords: Vec<String>,
}

impl Pretended {
    fn holding(draft: &str) -> Self {
        Self { draft: draft.to_owned(), ..Self::default() }
    }

    fn act(&mut self) {
        self.acts += 1;
        if self.dialog_after.is_some_and(|n| self.acts > n) {
            self.dialog = true;
        }
    }

    fn press(&mut self, strokes: &[Stroke]) {
        self.act();
        if self.dialog {
            return;
        }
        if strokes == STASH {
            if self.draft.is_empty() {
                self.draft = std::mem::take(&mut self.stash);
            } else {
                self.stash = std::mem::take(&mut self.draft);
            }
        } else if strokes == DELETE {
            self.draft.clear();
        } else if strokes == SUBMIT {
            self.submitted.push(std::mem::take(&mut self.draft));
            self.draft = std::mem::take(&mut self.stash);
        } else {
            self.chords.push(strokes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
        }
    }
}

impl Terminal for Pretended {
    fn prove(&mut self) -> Result<(), Refusal> {
        Ok(())
    }

    fn idle(&mut self) -> Result<bool, Refusal> {
        Ok(!self.busy && !self.dialog)
    }

    fn readable(&mut self) -> Option<&mut dyn Readable> {
        Some(self)
    }

    fn chord(&mut self, strokes: &[Stroke], commit: Commit) -> Result<bool, Refusal> {
        if !commit() {
            return Ok(false);
        }
        self.press(strokes);
        Ok(true)
    }
}

impl Readable for Pretended {
    fn prompt_box(&mut self) -> Result<PromptBox, Refusal> {
        Ok(match (self.dialog, self.draft.is_empty()) {
            (true, _) => PromptBox::None,
            (_, true) => PromptBox::Empty,
            _ => PromptBox::Holds(self.draft.clone()),
        })
    }

    fn stash_taken(&mut self) -> Result<bool, Refusal> {
        Ok(!self.stash.is_empty())
    }

    fn type_text(&mut self, text: &str) -> Result<(), Refusal> {
        self.act();
        if !self.dialog {
            self.draft.push_str(text);
        }
        Ok(())
    }
}

#[test]
fn a_second_draft_takes_no_stashed_ones_place() {
    let mut client = Pretended { stash: "first".to_owned(), ..Pretended::holding("second") };
    assert!(matches!(typed(&mut client, CLEAR, &mut || true, &mut false), Err(Refusal::Later(_))));
    assert_eq!((client.stash.as_str(), client.draft.as_str()), ("first", "second"));
    assert!(client.submitted.is_empty());
}

#[test]
fn a_chord_leaves_the_draft_alone_and_waits_for_idleness() {
    let mut client = Pretended::holding("half a thought");
    let clear = [Stroke::ctrl(']'), Stroke::ctrl(']')];
    assert_eq!(chord(&mut client, &clear, &mut || true), Ok(Pressed::Yes));
    assert_eq!(
        (client.chords.as_slice(), client.draft.as_str()),
        (&["ctrl+] ctrl+]".to_owned()][..], "half a thought")
    );
    client.busy = true;
    assert!(matches!(chord(&mut client, &clear, &mut || true), Err(Refusal::Later(_))));
    assert_eq!(client.chords.len(), 1);
}

#[test]
fn typed_over_a_draft_and_over_nothing() {
    for draft in ["", "half a thought", "/clear now", "two\nlines"] {
        let mut client = Pretended::holding(draft);
        assert_eq!(typed(&mut client, CLEAR, &mut || true, &mut false), Ok(Pressed::Yes));
        assert_eq!((client.submitted, client.draft), (vec![CLEAR.to_owned()], draft.to_owned()));
    }
}

#[test]
fn what_is_called_off_is_taken_back() {
    let mut client = Pretended::holding("half a thought");
    assert_eq!(typed(&mut client, CLEAR, &mut || false, &mut false), Ok(Pressed::CalledOff));
    assert_eq!((client.submitted.len(), client.draft.as_str()), (0, "half a thought"));
}

#[test]
fn what_a_try_left_behind_is_no_draft_for_the_next_one() {
    let mut client = Pretended::holding("half a thought");
    client.dialog_after = Some(1);
    let mut left = false;
    assert!(typed(&mut client, CLEAR, &mut || true, &mut left).is_err());
    assert!(left, "the dialog hides what was typed: {client:?}");
    (client.dialog, client.dialog_after) = (false, None);
    client.draft = CLEAR.to_owned();
    assert_eq!(typed(&mut client, CLEAR, &mut || true, &mut left), Ok(Pressed::Yes));
    assert_eq!(client.submitted, [CLEAR]);
    assert_eq!((client.draft.as_str(), client.stash.as_str()), ("half a thought", ""));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Whenever a dialog opens, no submit reaches it as an answer and no draft is lost.
    #[test]
    fn a_dialog_at_any_moment_loses_nothing(draft in "[a-z]{0,5}", after in 0u32..5) {
        let mut client =
            Pretended { dialog_after: Some(after), ..Pretended::holding(&draft) };
        let cleared = typed(&mut client, CLEAR, &mut || true, &mut false);
        let kept = [client.draft.as_str(), client.stash.as_str()].contains(&draft.as_str());
        prop_assert!(kept, "{client:?}");
        prop_assert!(client.submitted.iter().all(|text| text == CLEAR), "{client:?}");
        prop_assert!(cleared == Ok(Pressed::Yes) || client.submitted.is_empty());
    }
}
