//! The protocols of keys and looks by which a session is cleared, its next turn
//! started, or a text pasted, over any [`Terminal`]. Each proves before it
//! presses, reads back what it typed, and takes back what it can't finish.

use std::thread::sleep;
use std::time::Duration;

use super::terminal::{PromptBox, Refusal, Stroke, Terminal};

/// Stashes the draft; again, or on an empty box, it takes the stash back: a
/// toggle with one slot (seen with client 2.1.329), so pressed only on a box
/// that was read and holds something.
const STASH: [Stroke; 1] = [Stroke::ctrl('s')];

/// Deletes a line of the box.
const DELETE: [Stroke; 1] = [Stroke::ctrl('u')];

/// Submits what the box holds, and does nothing in any dialog, where Enter
/// approves (seen with client 2.1.329).
const SUBMIT: [Stroke; 2] = [Stroke::ctrl('x'), Stroke::ctrl('s')];

/// What is typed where no chord can be had.
const CLEAR: &str = "/clear";

/// How often a read-back looks before it gives up, and the pause between.
const LOOKS: u32 = 25;
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 40 });

/// Deletes that are tried on a box of several lines.
const LINES: u32 = 12;

/// Asked right before the key that acts; `false` calls it off.
pub type Commit<'a> = &'a mut dyn FnMut() -> bool;

/// Whether the key that acts was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressed {
    /// It was.
    Yes,
    /// It was called off, and nothing is left behind.
    CalledOff,
}

/// One chord at an idle client. The draft in the box stays where it is.
///
/// # Errors
/// Nothing was pressed that acts.
pub fn chord(
    terminal: &mut dyn Terminal,
    strokes: &[Stroke],
    commit: Commit,
) -> Result<Pressed, Refusal> {
    ready(terminal)?;
    Ok(if terminal.chord(strokes, commit)? { Pressed::Yes } else { Pressed::CalledOff })
}

/// `/clear`, typed: a draft is stashed, the typed text read back, submitted
/// without Enter. The client takes the draft out of the stash by itself.
///
/// `left` tells, from one try to the next, that something typed may still stand
/// in the box: it is deleted then, and not taken for a draft of the user's.
///
/// # Errors
/// Nothing was submitted; what was typed is taken back, where the box still
/// shows it alone.
pub fn typed(
    terminal: &mut dyn Terminal,
    commit: Commit,
    left: &mut bool,
) -> Result<Pressed, Refusal> {
    ready(terminal)?;
    tidy(terminal, CLEAR, left)?;
    let stashed = empty_box(terminal)?;
    *left = true;
    let typed = terminal.type_text(CLEAR).and_then(|()| shows(terminal, CLEAR));
    submit(terminal, typed, commit, CLEAR, stashed, left)
}

/// A line of instruction, and a text pasted behind it, into an empty box.
///
/// # Errors
/// As [`typed`].
pub fn pasted(
    terminal: &mut dyn Terminal,
    line: &str,
    text: &str,
    commit: Commit,
    left: &mut bool,
) -> Result<Pressed, Refusal> {
    ready(terminal)?;
    tidy(terminal, line, left)?;
    let stashed = empty_box(terminal)?;
    *left = true;
    let typed = terminal
        .type_text(line)
        .and_then(|()| shows(terminal, line))
        .and_then(|()| terminal.paste(text))
        .and_then(|()| {
            until(terminal, |seen| more_than(seen, line))
                .map_err(|_| Refusal::later("the paste did not show in the prompt box"))
        });
    submit(terminal, typed, commit, line, stashed, left)
}

/// Takes back a typed `/clear`, or a line with a paste, that was not submitted.
///
/// # Errors
/// The box shows something else by now, which stays.
pub fn take_back(terminal: &mut dyn Terminal, typed: Option<&str>) -> Result<(), Refusal> {
    terminal.prove()?;
    undo(terminal, typed.unwrap_or(CLEAR), false)
}

/// Deletes what an earlier try left in the box. Anything else in it is the
/// user's, and stays; so does a stash, which comes back by itself.
fn tidy(terminal: &mut dyn Terminal, mark: &str, left: &mut bool) -> Result<(), Refusal> {
    if *left && matches!(terminal.prompt_box()?, PromptBox::Holds(text) if ours(&text, mark)) {
        undo(terminal, mark, false)?;
    }
    *left = false;
    Ok(())
}

fn ready(terminal: &mut dyn Terminal) -> Result<(), Refusal> {
    terminal.prove()?;
    if terminal.idle()? {
        return Ok(());
    }
    Err(Refusal::later("a turn runs or a dialog is open"))
}

/// Makes sure of an empty box; `true` if a draft was put aside for it.
fn empty_box(terminal: &mut dyn Terminal) -> Result<bool, Refusal> {
    match terminal.prompt_box()? {
        PromptBox::Empty => Ok(false),
        PromptBox::None => Err(Refusal::later("no prompt box is on the screen")),
        PromptBox::Holds(_) if terminal.stash_taken()? => {
            Err(Refusal::later("another draft is stashed, and this one would take its place"))
        }
        PromptBox::Holds(_) => {
            terminal.chord(&STASH, &mut || true)?;
            until(terminal, |seen| *seen == PromptBox::Empty)
                .map_err(|_| Refusal::later("the draft in the prompt box could not be stashed"))?;
            Ok(true)
        }
    }
}

fn submit(
    terminal: &mut dyn Terminal,
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
    // The first reason is the one that tells.
    pressed.and(undone).map(|()| Pressed::CalledOff)
}

/// Deletes what begins with what we typed, and takes the draft back.
fn undo(terminal: &mut dyn Terminal, mark: &str, stashed: bool) -> Result<(), Refusal> {
    for _ in 0..LINES {
        match terminal.prompt_box()? {
            PromptBox::Empty => {
                if stashed {
                    terminal.chord(&STASH, &mut || true)?;
                }
                return Ok(());
            }
            PromptBox::Holds(text) if ours(&text, mark) => {
                terminal.chord(&DELETE, &mut || true)?;
            }
            _ => break,
        }
        sleep(PAUSE);
    }
    Err(Refusal::later("the prompt box holds something else than what was typed"))
}

/// Whether the box holds nothing but what we typed, or a beginning of it.
fn ours(text: &str, mark: &str) -> bool {
    let (text, mark) = (squeezed(text), squeezed(mark));
    if mark == CLEAR {
        mark.starts_with(&text)
    } else {
        text.starts_with(&mark) || mark.starts_with(&text)
    }
}

fn shows(terminal: &mut dyn Terminal, wanted: &str) -> Result<(), Refusal> {
    let wanted = squeezed(wanted);
    until(terminal, |seen| matches!(seen, PromptBox::Holds(text) if squeezed(text) == wanted))
        .map_err(|_| Refusal::later("the prompt box does not show what was typed"))
}

fn more_than(seen: &PromptBox, line: &str) -> bool {
    let PromptBox::Holds(text) = seen else { return false };
    let (text, line) = (squeezed(text), squeezed(line));
    text.starts_with(&line) && text.len() > line.len()
}

/// Looks until the box is as wanted.
fn until(terminal: &mut dyn Terminal, wanted: impl Fn(&PromptBox) -> bool) -> Result<(), Refusal> {
    for _ in 0..LOOKS {
        if wanted(&terminal.prompt_box()?) {
            return Ok(());
        }
        sleep(PAUSE);
    }
    Err(Refusal::later("the prompt box is not as expected"))
}

/// Without white space: the box breaks long lines.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests;
