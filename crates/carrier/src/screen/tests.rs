#![allow(clippy::disallowed_methods, reason = "tests are an edge: they read captured screens")]

use super::*;

/// Captured screens of the real clients, `fixtures/screens/<version>/<name>.txt`.
fn shown(version: &str, name: &str) -> Screen {
    let root = env!("CARGO_MANIFEST_DIR");
    let path = format!("{root}/../../fixtures/screens/{version}/{name}.txt");
    Screen::read(&std::fs::read_to_string(&path).expect(&path))
}

fn holds(text: &str) -> PromptBox {
    PromptBox::Holds(text.to_owned())
}

const VERSIONS: [&str; 2] = ["2.1.250", "2.1.329"];

#[test]
fn the_box_at_idle() {
    let long = ["word"; 19].join(" ");
    let wrapped = [&long, &long, &long, "word word word"].map(|l: &str| l.to_owned()).join("\n");
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
            assert_eq!(
                found,
                Screen { prompt, busy: false, stashed: name == "stashed" },
                "{version} {name}"
            );
        }
    }
}

#[test]
fn shell_mode_is_a_draft_and_no_idleness() {
    for version in VERSIONS {
        assert_eq!(
            shown(version, "shell-mode"),
            Screen { prompt: holds("!ls"), busy: true, stashed: false }
        );
    }
}

#[test]
fn a_suggestion_is_no_text() {
    for name in ["suggestion", "suggestion-footer"] {
        let found = shown("2.1.329", name);
        assert_eq!(
            found,
            Screen { prompt: PromptBox::Empty, busy: false, stashed: false },
            "{name}"
        );
    }
}

#[test]
fn a_draft_that_scrolled_its_mark_away_may_hide_a_turn() {
    let lines: Vec<String> = (36..45).map(|n| format!("line {n}")).collect();
    let found = shown("2.1.329", "scrolled");
    assert_eq!(found, Screen { prompt: holds(&lines.join("\n")), busy: true, stashed: false });
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
            assert_eq!(found, Screen { prompt, busy: true, stashed: false }, "{version} {name}");
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
fn a_taken_stash_shows_behind_a_draft_too() {
    let screen = |hint: &str| format!("● stashed\n   {hint}\n────────\n❯ x\n────────\n  foot\n");
    assert!(Screen::read(&screen("◐ medium · /effort · draft stashed")).stashed);
    assert!(Screen::read(&screen("Ctrl+Y to paste deleted text · › stashed")).stashed);
    assert!(!Screen::read(&screen("◐ medium · /effort")).stashed);
}

#[test]
fn without_colours_a_draft_may_hide_a_turn() {
    let screen = |held: &str| format!("● hi\n────────\n❯ {held}\n────────\n  foot\n");
    assert_eq!(
        Screen::read(&screen("")),
        Screen { prompt: PromptBox::Empty, busy: false, stashed: false }
    );
    assert_eq!(
        Screen::read(&screen("x")),
        Screen { prompt: holds("x"), busy: true, stashed: false }
    );
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
