//! What the client's screen says: the prompt box at its foot, and whether a turn
//! runs. Read from the text of the screen with its colours (`capture-pane -e`).
//!
//! Seen with the clients 2.1.250 and 2.1.329, dark and light theme:
//! - the box stands between the last two rules. Its text begins with `❯`, or with
//!   `!` in shell mode; the rule above a long draft says `─── ↑ 36 more ───` and
//!   the mark is out of sight then. Rules of other views are faint;
//! - `❯` has no colour at idle and is grey while a turn or a shell command runs.
//!   `esc to interrupt` below the box says so too, but it gives way to a draft;
//! - a greyed suggestion is faint but for its first character, the cursor's;
//! - dialogs draw `❯` before their choices, never right below a rule.

use super::terminal::PromptBox;

/// What a screen shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    /// The box.
    pub prompt: PromptBox,
    /// A turn runs, or it can't be told that none does.
    pub busy: bool,
}

/// One character of the screen with what its look means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    ch: char,
    look: Look,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Look {
    faint: bool,
    inverse: bool,
    /// Another foreground than the terminal's own.
    coloured: bool,
}

impl Screen {
    /// Reads a captured screen, with or without escape sequences; without them a
    /// suggestion counts as text, and a box with text as busy.
    pub fn read(captured: &str) -> Self {
        let lines = cells(captured);
        Self::find(&lines).unwrap_or(Self { prompt: PromptBox::None, busy: true })
    }

    fn find(lines: &[Vec<Cell>]) -> Option<Self> {
        let end = lines.iter().rposition(|line| is_rule(line))?;
        let start = lines[..end].iter().rposition(|line| is_rule(line))?;
        let choice = |line: &Vec<Cell>| text(line).trim_start().starts_with('❯');
        let faint = |line: &[Cell]| line.first().is_some_and(|cell| cell.look.faint);
        if faint(&lines[start]) || faint(&lines[end]) || lines[end + 1..].iter().any(choice) {
            return None;
        }
        let inside = &lines[start + 1..end];
        let mark = inside.first()?.first().copied();
        let scrolled = text(&lines[start]).contains('↑');
        let mark = match mark {
            Some(cell) if matches!(cell.ch, '❯' | '!') => Some(cell),
            _ if scrolled => None,
            _ => return None,
        };
        let prompt = typed(inside, mark);
        let interruptible = lines[end + 1..].iter().any(|l| text(l).contains("esc to interrupt"));
        // Shell mode has a colour of its own; a client without colours shows nothing by them.
        let lamp = mark.is_some_and(|cell| {
            let plain = lines[end].first().is_some_and(|rule| !rule.look.coloured);
            cell.ch == '❯' && !cell.look.coloured && !(plain && prompt != PromptBox::Empty)
        });
        Some(Self { prompt, busy: interruptible || !lamp })
    }
}

/// The text between the rules, without its mark, its margin and a suggestion.
fn typed(inside: &[Vec<Cell>], mark: Option<Cell>) -> PromptBox {
    let shell = mark.is_some_and(|cell| cell.ch == '!');
    let lines: Vec<String> = inside
        .iter()
        .map(|line| {
            // The mark and the space behind it are as wide as the margin of the lines below.
            let line = line.get(2..).unwrap_or_default();
            let own = |(at, cell): (usize, &Cell)| {
                let cursor_on_suggestion =
                    cell.look.inverse && line.get(at + 1).is_some_and(|next| next.look.faint);
                (!cell.look.faint && !cursor_on_suggestion).then_some(cell.ch)
            };
            let kept: String = line.iter().enumerate().filter_map(own).collect();
            kept.trim_end().to_owned()
        })
        .collect();
    let held = lines.join("\n").trim_end().to_owned();
    match (shell, held.is_empty()) {
        (true, _) => PromptBox::Holds(format!("!{held}")),
        (false, true) => PromptBox::Empty,
        (false, false) => PromptBox::Holds(held),
    }
}

/// A line across the screen, perhaps with a word in it.
fn is_rule(line: &[Cell]) -> bool {
    let shown = text(line);
    let shown = shown.trim_end();
    shown.starts_with("───") && shown.ends_with('─')
}

fn text(line: &[Cell]) -> String {
    line.iter().map(|cell| cell.ch).collect()
}

/// Takes the escape sequences out. Looks last until they are changed, across lines.
fn cells(captured: &str) -> Vec<Vec<Cell>> {
    let mut look = Look::default();
    let mut read = |line: &str| {
        let mut found = Vec::new();
        let mut rest = line.chars();
        while let Some(ch) = rest.next() {
            if ch != '\u{1b}' {
                found.push(Cell { ch, look });
            } else if rest.as_str().starts_with('[') {
                let sequence: String =
                    rest.by_ref().skip(1).take_while(|c| !c.is_ascii_alphabetic()).collect();
                look = changed(look, &sequence);
            } else {
                // A character set's choice: one more character.
                rest.next();
                rest.next();
            }
        }
        found
    };
    captured.lines().map(&mut read).collect()
}

/// A look after the parameters of one `ESC [ … m`.
fn changed(mut look: Look, parameters: &str) -> Look {
    let mut codes = parameters.split(';').map(|p| p.split(':').next().unwrap_or_default());
    while let Some(code) = codes.next() {
        match code {
            "" | "0" => look = Look::default(),
            "2" => look.faint = true,
            "22" => look.faint = false,
            "7" => look.inverse = true,
            "27" => look.inverse = false,
            "39" => look.coloured = false,
            "38" | "48" | "58" => {
                look.coloured |= code == "38";
                let skipped = match codes.next() {
                    Some("5") => 1,
                    Some("2") => 3,
                    _ => 0,
                };
                codes.by_ref().take(skipped).for_each(drop);
            }
            _ => {
                let number: u8 = code.parse().unwrap_or_default();
                look.coloured |= matches!(number, 30..=37 | 90..=97);
            }
        }
    }
    look
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests are an edge: they read captured screens")]
mod tests {
    use super::*;

    /// Captured screens of the real clients, `fixtures/screens/<version>/<name>.txt`.
    fn shown(version: &str, name: &str) -> Screen {
        let root = env!("CARGO_MANIFEST_DIR");
        let path = format!("{root}/fixtures/screens/{version}/{name}.txt");
        Screen::read(&std::fs::read_to_string(&path).expect(&path))
    }

    fn holds(text: &str) -> PromptBox {
        PromptBox::Holds(text.to_owned())
    }

    const VERSIONS: [&str; 2] = ["2.1.250", "2.1.329"];

    #[test]
    fn the_box_at_idle() {
        let long = ["word"; 19].join(" ");
        let wrapped =
            [&long, &long, &long, "word word word"].map(|l: &str| l.to_owned()).join("\n");
        for version in VERSIONS {
            for (name, prompt) in [
                ("empty", PromptBox::Empty),
                ("stashed", PromptBox::Empty),
                ("draft", holds("hello one two")),
                ("draft-lines", holds("first line\nsecond line\nthird")),
                ("draft-wrapped", holds(&wrapped)),
                ("pasted", holds("[Pasted text #1 +102 lines]")),
                ("slash-menu", holds("/cl")),
                ("typed-clear", holds("/clear")),
                ("help", PromptBox::Empty),
            ] {
                let found = shown(version, name);
                assert_eq!(found, Screen { prompt, busy: false }, "{version} {name}");
            }
        }
    }

    #[test]
    fn shell_mode_is_a_draft_and_no_idleness() {
        for version in VERSIONS {
            assert_eq!(shown(version, "shell-mode"), Screen { prompt: holds("!ls"), busy: true });
        }
    }

    #[test]
    fn a_suggestion_is_no_text() {
        for name in ["suggestion", "suggestion-footer"] {
            let found = shown("2.1.329", name);
            assert_eq!(found, Screen { prompt: PromptBox::Empty, busy: false }, "{name}");
        }
    }

    #[test]
    fn a_draft_that_scrolled_its_mark_away_may_hide_a_turn() {
        let lines: Vec<String> = (36..45).map(|n| format!("line {n}")).collect();
        let found = shown("2.1.329", "scrolled");
        assert_eq!(found, Screen { prompt: holds(&lines.join("\n")), busy: true });
    }

    #[test]
    fn a_turn_shows_behind_a_draft_too() {
        for version in VERSIONS {
            for (name, prompt) in [
                ("turn", PromptBox::Empty),
                ("queued", PromptBox::Empty),
                ("turn-draft", holds("half a draft")),
            ] {
                let found = shown(version, name);
                assert_eq!(found, Screen { prompt, busy: true }, "{version} {name}");
            }
        }
    }

    #[test]
    fn dialogs_and_other_views_have_no_box() {
        for version in VERSIONS {
            for name in [
                "permission",
                "question",
                "plan",
                "config",
                "model",
                "transcript",
                "history-search",
                "agents",
            ] {
                let found = shown(version, name);
                assert_eq!(found.prompt, PromptBox::None, "{version} {name}");
                assert!(found.busy);
            }
        }
    }

    #[test]
    fn without_colours_a_draft_may_hide_a_turn() {
        let screen = |held: &str| format!("● hi\n────────\n❯ {held}\n────────\n  foot\n");
        assert_eq!(Screen::read(&screen("")), Screen { prompt: PromptBox::Empty, busy: false });
        assert_eq!(Screen::read(&screen("x")), Screen { prompt: holds("x"), busy: true });
        assert_eq!(Screen::read("").prompt, PromptBox::None);
        assert_eq!(Screen::read("$ ls\n────\n").prompt, PromptBox::None);
    }

    #[test]
    fn the_text_of_an_answer_is_no_box() {
        // A rule of the answer, the user's next prompt, and a dialog's rule with its choices.
        let dialog = "────────\n\n❯ go\n\n● Write(x)\n────────\n Create file\n ❯ 1. Yes\n";
        assert_eq!(Screen::read(dialog).prompt, PromptBox::None);
        let close = "────────\n❯ go\n────────\n Create file\n ❯ 1. Yes\n   2. No\n";
        assert_eq!(Screen::read(close).prompt, PromptBox::None);
    }

    #[test]
    fn colours_of_every_form_are_told_from_none() {
        let mark = |codes: &str| {
            let look = changed(Look::default(), codes);
            (look.coloured, look.faint)
        };
        for codes in ["38;5;246", "38;2;1;2;39", "38:5:246", "90", "1;31"] {
            assert_eq!(mark(codes), (true, false), "{codes}");
        }
        for codes in ["39", "48;5;246", "48;2;31;38;2", "0", "", "1", "31;0", "31;39"] {
            assert_eq!(mark(codes), (false, false), "{codes}");
        }
        assert_eq!(mark("0;2"), (false, true));
        assert_eq!(mark("2;22"), (false, false));
    }
}
