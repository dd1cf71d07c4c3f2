//! The key protocols that clear a session or start its next turn, on any [`Terminal`]. Each proves before it presses, reads back what it typed, and takes back what it
//! cannot finish.

use std::thread::sleep;
use std::time::Duration;

use super::terminal::{PromptBox, Readable, Refusal, Stroke, Terminal};

/// Stashes the draft. Pressed again, or on an empty box, it takes the stash back (one slot; client
/// 2.1.329). So it is pressed only after reading a box that holds something.
const STASH: [Stroke; 1] = [Stroke::ctrl('s')];

/// Deletes a line in the box.
const DELETE: [Stroke; 1] = [Stroke::ctrl('u')];

/// Submits what the box holds. In a dialog it does nothing, where Enter approves (client 2.1.329).
const SUBMIT: [Stroke; 2] = [Stroke::ctrl('x'), Stroke::ctrl('s')];

/// How often to read the box back before giving up, and the pause between.
const LOOKS: u32 = 25;
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 40 });

/// How many lines to delete in a box before giving up.
const LINES: u32 = 12;

/// Asked right before the key that acts; `false` calls it off.
pub type Commit<'a> = &'a mut dyn FnMut() -> bool;

/// Whether the key that acts was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressed {
    /// It was pressed.
    Yes,
    /// It was called off, and nothing is left in the box.
    CalledOff,
}

/// Presses one chord at an idle client. A draft in the box stays where it is.
///
/// # Errors
/// No key was pressed that acts.
pub fn chord(
    terminal: &mut dyn Terminal,
    strokes: &[Stroke],
    commit: Commit,
) -> Result<Pressed, Refusal> {
    ensure_idle(terminal)?;
    Ok(if terminal.chord(strokes, commit)? { Pressed::Yes } else { Pressed::CalledOff })
}

/// Types a command: stashes a draft, types, reads the text back, and submits it without Enter. The
/// client restores the draft by itself.
///
/// `left` lasts from one try to the next: typed text may still be in the box. It is then deleted,
/// and not taken for the user's draft.
///
/// # Errors
/// Nothing was submitted. Typed text is deleted again if the box still shows it alone.
pub fn typed(
    terminal: &mut dyn Readable,
    command: &str,
    commit: Commit,
    left: &mut bool,
) -> Result<Pressed, Refusal> {
    ensure_idle(terminal)?;
    tidy(terminal, command, left)?;
    let stashed = empty_box(terminal)?;
    *left = true;
    let typed = terminal.type_text(command).and_then(|()| wait_for_text(terminal, command));
    submit(terminal, typed, commit, command, stashed, left)
}

/// Deletes a typed command that was not submitted. Fails if the box shows something else by now,
/// which stays.
pub fn take_back(terminal: &mut dyn Readable, typed: &str) -> Result<(), Refusal> {
    terminal.prove()?;
    undo(terminal, typed, false)
}

/// Deletes what an earlier try left in the box. Anything else is the user's and stays; so does a
/// stash, which comes back by itself.
fn tidy(terminal: &mut dyn Readable, mark: &str, left: &mut bool) -> Result<(), Refusal> {
    if *left && matches!(terminal.prompt_box()?, PromptBox::Holds(text) if is_our_text(&text, mark))
    {
        undo(terminal, mark, false)?;
    }
    *left = false;
    Ok(())
}

fn ensure_idle(terminal: &mut dyn Terminal) -> Result<(), Refusal> {
    terminal.prove()?;
    if terminal.idle()? {
        return Ok(());
    }
    Err(Refusal::later("a turn runs or a dialog is open"))
}

/// Makes sure that the box is empty; `true` if a draft was stashed for it.
fn empty_box(terminal: &mut dyn Readable) -> Result<bool, Refusal> {
    match terminal.prompt_box()? {
        PromptBox::Empty => Ok(false),
        PromptBox::None => Err(Refusal::later("no prompt box is on the screen")),
        PromptBox::Holds(_) if terminal.stash_taken()? => {
            Err(Refusal::later("a draft is already stashed; stashing this one would overwrite it"))
        }
        PromptBox::Holds(_) => {
            terminal.chord(&STASH, &mut || true)?;
            wait_for_box(terminal, |seen| *seen == PromptBox::Empty)
                .map_err(|_| Refusal::later("the draft in the prompt box could not be stashed"))?;
            Ok(true)
        }
    }
}

fn submit(
    terminal: &mut dyn Readable,
    typed: Result<(), Refusal>,
    commit: Commit,
    mark: &str,
    stashed: bool,
    left: &mut bool,
) -> Result<Pressed, Refusal> {
    let pressed = typed.and_then(|()| terminal.chord(&SUBMIT, commit));
    if pressed == Ok(true) {
        *left = false;
        return Ok(Pressed::Yes);
    }
    let undone = undo(terminal, mark, stashed);
    *left = undone.is_err();
    // The first error is the one that explains.
    pressed.and(undone).map(|()| Pressed::CalledOff)
}

/// Deletes what starts with our text, and takes the draft back.
fn undo(terminal: &mut dyn Readable, mark: &str, stashed: bool) -> Result<(), Refusal> {
    for _ in 0..LINES {
        match terminal.prompt_box()? {
            PromptBox::Empty => {
                if stashed {
                    terminal.chord(&STASH, &mut || true)?;
                }
                return Ok(());
            }
            PromptBox::Holds(text) if is_our_text(&text, mark) => {
                terminal.chord(&DELETE, &mut || true)?;
            }
            _ => break,
        }
        sleep(PAUSE);
    }
    Err(Refusal::later(
        "the prompt box no longer holds only what brain-guard typed, so it was left as it is",
    ))
}

/// Whether the box holds only what we typed, or a beginning of it.
fn is_our_text(text: &str, mark: &str) -> bool {
    without_whitespace(mark).starts_with(&without_whitespace(text))
}

fn wait_for_text(terminal: &mut dyn Readable, wanted: &str) -> Result<(), Refusal> {
    let wanted = without_whitespace(wanted);
    wait_for_box(
        terminal,
        |seen| matches!(seen, PromptBox::Holds(text) if without_whitespace(text) == wanted),
    )
    .map_err(|_| Refusal::later("the prompt box does not show what was typed"))
}

/// Waits until the box is as wanted.
fn wait_for_box(
    terminal: &mut dyn Readable,
    wanted: impl Fn(&PromptBox) -> bool,
) -> Result<(), Refusal> {
    for _ in 0..LOOKS {
        if wanted(&terminal.prompt_box()?) {
            return Ok(());
        }
        sleep(PAUSE);
    }
    Err(Refusal::later("the prompt box is not as expected"))
}

/// Without white space, because the box breaks long lines.
fn without_whitespace(text: &str) -> String {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests;
