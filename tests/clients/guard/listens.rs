//! A person who is there while a boundary waits: they type, answer the notice, take the session
//! back, leave, and come again.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Move, climb_and_seal, deliveries, moves, percent, step, told};
use crate::support::client::Tui;
use crate::support::mock::Reply;
use crate::support::world::World;

/// Plays a session to the notice of its boundary, which runs for this many seconds. The agent goes
/// on with these moves.
#[track_caller]
pub fn noticed(seconds: u64, then: Vec<Move>) -> (World, Tui) {
    let mut agent: Vec<Move> = climb_and_seal();
    agent.push(step(|_| Reply::text("A or B?").tokens(percent(31.2))));
    agent.extend(then);
    let boundary = json!({"attended_notice_seconds": seconds, "min_interval_seconds": 0});
    let settings = json!({"boundary": boundary});
    let world = World::build().guard_settings(settings).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    tui.wait_screen("the notice", |s| s.contains("1: pause 30 min · 2: restart"));
    (world, tui)
}

/// Presses a button of the strip. The client takes its digit only after it was drawn for a moment.
fn press(tui: &Tui, digit: &str) {
    std::thread::sleep(Duration::from_secs(1));
    tui.type_text(digit);
}

pub fn continues() -> Move {
    step(|r| {
        assert_eq!(deliveries(r), 1, "{r}");
        Reply::text("going on").tokens(percent(6.0))
    })
}

#[test]
fn an_answer_typed_slowly_is_never_cut_off() {
    let answered = step(|r| {
        assert!(r.prompt().starts_with("take B, please"), "{}", r.prompt());
        Reply::text("B it is.").tokens(percent(31.3))
    });
    let (world, tui) = noticed(5, vec![answered, continues()]);
    let answer = "take B, please, and keep A for later";
    for letter in answer.chars() {
        tui.type_text(&letter.to_string());
        std::thread::sleep(Duration::from_millis(850));
    }
    assert_eq!(world.mock.main().len(), 4, "not cleared under the fingers");
    tui.keys("Enter");
    world.mock.wait_main(5);
    let last = world.mock.wait_main(6);
    assert!(last.user_texts().iter().any(|text| text.contains("> take B, please")), "{last}");
}

#[test]
fn digits_answer_the_notice() {
    let (world, tui) = noticed(8, vec![continues()]);
    press(&tui, "1");
    tui.wait_screen("the strip", |s| {
        s.contains("This session does not restart: you paused brain-guard")
    });
    std::thread::sleep(Duration::from_secs(10));
    assert_eq!(world.mock.main().len(), 4, "it is kept past its notice");
    press(&tui, "2");
    let last = world.mock.wait_main(5);
    assert_ne!(last.session, world.mock.main()[0].session);
}

#[test]
fn a_compaction_by_the_user_withdraws_the_boundary() {
    let goes_on = step(|r| {
        assert_eq!(deliveries(r), 0, "{r}");
        Reply::text("on it").tokens(percent(4.0))
    });
    let (world, tui) = noticed(8, vec![goes_on]);
    tui.prompt("/compact");
    tui.wait_screen("the line", |s| {
        s.contains("this session does not restart, because it was compacted")
            && s.contains("Nothing is blocked")
    });
    tui.wait_idle();
    tui.prompt("Now the lexer");
    world.mock.wait_main(5);
    std::thread::sleep(Duration::from_secs(10));
    assert_eq!(world.mock.main().len(), 5, "nothing is cleared");
}

#[test]
fn a_rewind_withdraws_the_boundary() {
    let (world, tui) = noticed(10, vec![]);
    tui.prompt("/rewind");
    tui.wait_screen("the rounds", |s| s.contains("Rewind"));
    tui.keys("Up");
    tui.keys("Enter");
    std::thread::sleep(Duration::from_millis(700));
    tui.keys("Enter");
    tui.wait_screen("the line", |s| {
        s.contains("this session does not restart, because you rewound it")
    });
    std::thread::sleep(Duration::from_secs(12));
    assert_eq!(world.mock.main().len(), 4, "nothing is cleared");
}

#[test]
fn a_client_that_was_quit_in_the_notice_takes_the_boundary_up() {
    for how in ["--continue", "--resume"] {
        let (world, tui) = noticed(60, vec![continues()]);
        let session = world.mock.main()[0].session.clone().expect("an id");
        tui.quit();
        let arguments: &[&str] =
            if how == "--resume" { &["--resume", &session] } else { &["--continue"] };
        let tui = world.tui(arguments);
        tui.wait_screen("the notice again", |s| s.contains("1: pause 30 min · 2: restart"));
        press(&tui, "2");
        let last = world.mock.wait_main(5);
        assert_ne!(last.session.as_ref(), Some(&session), "{how}");
        tui.wait_idle();
    }
}

/// Without the strip, the notice is below the box, and a toast warns.
#[test]
fn the_notice_is_seen_with_the_strip_hidden() {
    let (world, tui) = noticed(20, vec![continues()]);
    let began = Instant::now();
    tui.keys("C-x C-a");
    tui.wait_screen("the line below the box", |s| {
        s.contains("panel hidden") && s.contains("/brain-guard:later keeps this session")
    });
    tui.wait_screen("the toast", |s| s.matches("restarts from its notes in").count() == 2);
    world.mock.wait_main(5);
    assert!(began.elapsed() < Duration::from_secs(30));
    tui.wait_screen("no line any more", |s| !s.contains("keeps this session"));
}

/// The agent hears with the prompt that its notes are sealed, and every prompt arrives.
#[test]
fn what_the_user_says_after_the_seal_arrives() {
    let said = ["never touch the vendor folder", "the tests first", "thanks"];
    let mut then: Vec<Move> = Vec::new();
    for (index, prompt) in said.into_iter().enumerate() {
        then.push(step(move |r| {
            assert_eq!(r.prompt(), prompt);
            assert_eq!(told(r, "still adds to them"), index + 1, "{r}");
            if index == 1 {
                return super::append("scope", "the vendor folder stays").tokens(percent(31.3));
            }
            Reply::text("Understood.").tokens(percent(31.3))
        }));
        if index == 1 {
            then.push(step(|r| {
                assert!(!r.tool_results()[0].is_error, "{r}");
                Reply::text("Noted.").tokens(percent(31.4))
            }));
        }
    }
    then.push(step(move |r| {
        assert_eq!(deliveries(r), 1, "{r}");
        let texts = r.user_texts().concat();
        let at = |what: &str| texts.find(what).unwrap_or_else(|| panic!("no {what:?}: {texts}"));
        assert!(said.windows(2).all(|w| at(&format!("> {}", w[0])) < at(&format!("> {}", w[1]))));
        assert!(texts.contains("- the vendor folder stays"), "{texts}");
        assert!(!texts.contains("continue with the first item"), "{texts}");
        Reply::text("going on").tokens(percent(6.0))
    }));
    let (world, tui) = noticed(5, then);
    for (index, prompt) in said.into_iter().enumerate() {
        tui.prompt(prompt);
        world.mock.wait_main(5 + index + usize::from(index > 0));
        tui.wait_idle();
    }
    world.mock.wait_main(9);
}
