//! Screens as text, and what keys do, without a terminal or a file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::text::Span;

use super::app::{App, Effect};
use super::draw;
use super::keys::{Pane, TABLE};
use super::message::{Answer, Cell, Done, Entry, Figures, Filter, Job, Message, Opened};
use super::popup::Popup;
use super::theme::Theme;
use crate::cmd::advise::Scale;
use ::sessions::cost::{Cache, Cost};
use ::sessions::operation::{Fate, Operation};
use ::sessions::round::Session;
use testing::at;

const SIZES: [(u16, u16); 2] = [(80, 24), (200, 50)];

fn session() -> Session {
    // Round 2 was rewound, and round 4 began with a compaction.
    let follows = [(0, false), (1, false), (1, false), (3, true), (4, false), (5, false)];
    let mut session = testing::rounds::session(&follows);
    session.base = Some(20_000);
    for round in &mut session.rounds {
        round.tokens = u64::from(round.seq) * 1_500;
    }
    session.rounds[3].user_preview = "漢字 wide \u{1b}[2J words".to_owned();
    session.rounds[4].engagement = Some("console".to_owned());
    session
}

fn opened() -> Opened {
    let session = session();
    Opened {
        name: session.id.clone(),
        context: surgery::context::Context::of(&session),
        scale: Some(Scale {
            limit: 60_000,
            tiers: vec![("coach".into(), 50.0), ("narrow".into(), 80.0)],
        }),
        refusal: None,
        engagements: vec!["console".into(), "parser".into()],
        mark: None,
        session: Arc::new(session),
    }
}

fn app() -> App {
    let mut app = App::new(false);
    let entry = |id: &str, from: Option<&str>, made: Option<&str>| Entry {
        id: id.to_owned(),
        made_from: from.map(str::to_owned),
        made: made.map(str::to_owned),
        figures: Some((6, 41_000)),
        ended: Some(at("2026-03-19T10:30Z")),
        is_open: made.is_none(),
        ..Entry::default()
    };
    let own = session().id;
    let agent = Entry {
        agent: Some("Explore".to_owned()),
        started: Some(at("2026-03-19T10:04:30Z")),
        ..entry("agent-a57d1be7", Some(&own), None)
    };
    let of_another = Entry { made_from: Some("e2b0".to_owned()), ..agent.clone() };
    let listed = vec![
        Entry {
            percent: Some(4),
            ..entry("7c41b2aa-0000", Some(&own), Some("split, for console"))
        },
        agent,
        Entry { id: "agent-b99".to_owned(), ..of_another },
        entry(&own, None, None),
    ];
    answer(&mut app, Answer::Listed(listed));
    answer(&mut app, Answer::Opened(Box::new(opened())));
    let text = "# Round 3f0a9d1e:6\n\n## User\n\nask 5\n\n## Assistant\n\nsay 5\n\n### Tool call: Bash\n\n```json\n## User\n```\n\n### Tool result: Bash\n\n```text\nok\n```";
    let text = text.to_owned();
    answer(&mut app, Answer::Page { session: own, seq: 6, text });
    app
}

fn failed(why: &str, job: Job) -> Answer {
    Answer::Failed { why: why.to_owned(), job: Box::new(job) }
}

fn answer(app: &mut App, answer: Answer) -> Vec<Effect> {
    app.update(Message::Answer(answer, String::new()))
}

fn press(app: &mut App, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for letter in keys.chars() {
        let code = match letter {
            '\n' => KeyCode::Enter,
            '\u{1b}' => KeyCode::Esc,
            '↓' => KeyCode::Down,
            '→' => KeyCode::Right,
            '←' => KeyCode::Left,
            letter => KeyCode::Char(letter),
        };
        effects.extend(
            app.update(Message::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))),
        );
    }
    effects
}

fn screen(app: &App, (width, height): (u16, u16), color: bool) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    draw::draw(&mut buffer, app, Theme { color }, at("2026-03-19T12:00Z"));
    buffer
}

/// The screen's text; a wide character takes two cells.
fn text(buffer: &Buffer) -> String {
    let area = *buffer.area();
    let mut lines = String::new();
    for y in 0..area.height {
        let (mut line, mut x) = (String::new(), 0);
        while x < area.width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += (Span::raw(symbol).width() as u16).max(1);
        }
        lines.push_str(line.trim_end());
        lines.push('\n');
    }
    lines
}

fn figures(number: u64) -> Answer {
    let cost = Cost {
        base: Some(20_000),
        before: 41_000,
        after: 23_500,
        behind: 20_000,
        cache: Cache::default(),
        cold: false,
    };
    let one = Figures {
        name: String::new(),
        cost,
        thinking_left: 3,
        rounds: "4-5 become lines of the index table; 6 stay whole".to_owned(),
        notes: Vec::new(),
    };
    Answer::Figures { number, figures: Ok(vec![one]) }
}

#[test]
fn screens_are_as_checked_in() {
    let mut scenes: Vec<(&str, App)> = Vec::new();
    scenes.push(("nothing is open", App::new(false)));
    scenes.push(("rounds", app()));
    let mut one = app();
    press(&mut one, "←");
    scenes.push(("sessions", one));
    let mut one = app();
    press(&mut one, "→");
    scenes.push(("a round", one));
    let mut one = app();
    press(&mut one, "→145");
    scenes.push(("a round, parts folded", one));
    let mut one = app();
    press(&mut one, " ↓v");
    scenes.push(("a selection", one));
    let mut one = app();
    press(&mut one, " i");
    let number = one.pending.number;
    answer(&mut one, figures(number));
    scenes.push(("a plan", one));
    let mut one = app();
    press(&mut one, " i");
    let number = one.pending.number;
    answer(&mut one, figures(number));
    press(&mut one, "\n");
    scenes.push(("a question", one));
    let mut one = app();
    press(&mut one, "tco");
    scenes.push(("an input", one));
    let mut one = app();
    press(&mut one, "?");
    scenes.push(("keys", one));
    let mut one = app();
    let session = session().id;
    let cell = |label: &str, rounds: Vec<u32>| Cell {
        label: label.to_owned(),
        session: session.clone(),
        rounds,
    };
    let cells = vec![
        cell("console  main  3f0a9d1e:5", vec![5]),
        cell("parser  main  3f0a9d1e:4,6", vec![4, 6]),
    ];
    answer(&mut one, Answer::Cells(cells));
    press(&mut one, "↓");
    scenes.push(("the matrix", one));
    let mut one = app();
    let lines =
        vec!["mend 3f0a9d1e".to_owned(), "  before   the client sends round 6 of 6".to_owned()];
    answer(&mut one, Answer::Survey { name: "x".into(), lines, is_broken: true });
    scenes.push(("a broken session", one));
    let mut one = app();
    answer(&mut one, failed("no session 12 found", Job::Matrix));
    scenes.push(("an error", one));
    let mut one = app();
    answer(&mut one, failed(&"a long reason ".repeat(30), Job::Matrix));
    scenes.push(("a long error", one));
    let mut one = app();
    press(&mut one, "j");
    scenes.push(("a key without a meaning", one));
    for size in SIZES {
        let scene =
            |(name, app): &(&str, App)| format!("== {name}\n{}\n", text(&screen(app, size, false)));
        let all: String = scenes.iter().map(scene).collect();
        let file = format!("fixtures/view-{}x{}.txt", size.0, size.1);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let command = "UPDATE_GOLDEN=1 cargo test --workspace --lib view";
        let wrong = testing::checked_in::difference(&path, &all, command);
        assert_eq!(wrong, None, "{}", wrong.as_deref().unwrap_or_default());
    }
}

#[test]
fn a_small_terminal_says_so() {
    let shown = text(&screen(&app(), (59, 11), false));
    assert!(shown.starts_with("the terminal is too small"), "{shown}");
}

#[test]
fn without_colors_no_cell_has_one() {
    let mut app = app();
    press(&mut app, " i");
    for size in SIZES {
        let plain =
            |cell: &ratatui::buffer::Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
        assert!(screen(&app, size, false).content().iter().all(plain));
        assert!(!screen(&app, size, true).content().iter().all(plain));
    }
}

#[test]
fn no_key_means_two_things_in_a_pane() {
    for pane in [Pane::Sessions, Pane::Rounds, Pane::Round] {
        let keys = TABLE.iter().filter(|binding| binding.panes.contains(&pane));
        let mut keys: Vec<_> = keys.map(|key| format!("{:?} {}", key.key, key.is_ctrl)).collect();
        let all = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), all, "{pane:?}");
    }
}

#[test]
fn fates_become_a_plan_that_can_be_taken_back() {
    let mut app = app();
    let effects = press(&mut app, " i");
    let number = app.pending.number;
    assert!(effects.iter().any(|effect| matches!(
        effect,
        Effect::Job(Job::Measure { order, number: of, .. })
            if *of == number && matches!(&order.operation, Operation::Edit(fates) if fates.get(&6) == Some(&Fate::Index))
    )));
    press(&mut app, "\u{1b}d");
    assert_eq!((app.pending.mark(6), app.pending.mark(5)), (Some('i'), Some('d')));
    // Figures of an older version of the plan are dropped.
    answer(&mut app, figures(number));
    assert!(app.pending.figures.is_none());
    press(&mut app, "u");
    assert_eq!((app.pending.mark(6), app.pending.mark(5)), (Some('i'), None));
    press(&mut app, "U");
    assert_eq!(app.pending.mark(5), Some('d'));
    press(&mut app, "uuu");
    assert!(app.pending.is_empty());
}

#[test]
fn nothing_is_made_before_it_is_confirmed() {
    let mut app = app();
    assert!(press(&mut app, "\n").is_empty(), "nothing is planned");
    assert_eq!(app.focus, Pane::Round);
    press(&mut app, "\u{1b}");
    let acts = |effects: &[Effect]| {
        effects.iter().any(|effect| matches!(effect, Effect::Job(Job::Make { .. })))
    };
    assert!(!acts(&press(&mut app, "S\n")));
    assert!(!acts(&press(&mut app, "\u{1b}")));
    assert!(acts(&press(&mut app, "\n\n")));
    let order = app.pending.order().expect("a plan");
    let done = Done::Made {
        ids: vec!["aaaaaaaa-1".into()],
        name: session().id,
        order,
        tags: BTreeMap::new(),
    };
    answer(
        &mut app,
        Answer::Did { line: "made aaaaaaaa".into(), details: String::new(), done: Some(done) },
    );
    assert!(app.pending.is_empty() && app.line.0.contains("made aaaaaaaa"));
    let undone = press(&mut app, "u");
    assert!(
        matches!(&undone[..], [Effect::Job(Job::Undo(Done::Made { ids, .. }))] if ids[0] == "aaaaaaaa-1")
    );
}

/// The task of the specification: tag by search, and split.
#[test]
fn tag_by_search_and_split_in_forty_keys() {
    let mut app = app();
    press(&mut app, "/console\n");
    let hits = [(5, "console".to_owned())].into_iter().collect();
    answer(
        &mut app,
        Answer::Found(Filter { session: session().id, words: "console".into(), hits }),
    );
    press(&mut app, "a");
    let tagged = press(&mut app, "tconsole\n");
    assert!(
        matches!(&tagged[..], [Effect::Job(Job::Tag { rounds, engagement: Some(id), .. })] if rounds == "5" && id == "console"),
        "{tagged:?}"
    );
    let all = "/console\natconsole\n/parser\natparser\nS\n\n";
    assert!(all.chars().count() <= 45, "{}", all.chars().count());
}

/// A running client can't go on in two sessions, so `h` is neither offered nor obeyed.
#[test]
fn a_split_does_not_go_on_in_the_running_client() {
    let made = |keys: &str| {
        let effects = press(&mut app(), keys);
        effects.iter().any(|effect| matches!(effect, Effect::Job(Job::Make { .. })))
    };
    assert!(made(" i\nh"));
    assert!(!made("S\nh"));
    assert!(made("S\n\n"));
}

#[test]
fn undo_of_the_open_session_opens_its_source() {
    let mut app = app();
    let (ids, order) = (vec![session().id], Operation::Split(None).into());
    let done = Done::Made { ids, name: "source.jsonl".to_owned(), order, tags: BTreeMap::new() };
    let effects = answer(&mut app, Answer::Undid { line: "removed".to_owned(), done });
    let is_source = |effect: &Effect| matches!(effect, Effect::Job(Job::Open { name: Some(name) }) if name == "source.jsonl");
    assert!(effects.iter().any(is_source), "{effects:?}");
}

#[test]
fn the_next_match_needs_a_search_and_a_key_clears_the_message() {
    let mut app = app();
    assert!(press(&mut app, "n").is_empty());
    assert!(app.line.0.contains("/ searches"), "{:?}", app.line);
    press(&mut app, "v");
    assert_eq!(app.line.0, "");
}

#[test]
fn a_cell_of_the_matrix_selects_its_rounds() {
    let mut app = app();
    let session = session().id;
    let cell = Cell { label: "parser".to_owned(), session, rounds: vec![4, 6, 77] };
    answer(&mut app, Answer::Cells(vec![cell]));
    assert!(matches!(&press(&mut app, "\n")[..], [Effect::Job(Job::Open { .. })]));
    answer(&mut app, Answer::Opened(Box::new(opened())));
    assert_eq!(app.rounds.targets(), [4, 6]);
}

#[test]
fn tagging_keeps_the_plan() {
    let mut app = app();
    press(&mut app, "tconsole\nS");
    let done = Done::Tagged {
        name: "x".into(),
        rounds: "6".into(),
        engagement: Some("console".into()),
        before: std::collections::BTreeMap::new(),
    };
    let did = Answer::Did { line: "tagged".into(), details: String::new(), done: Some(done) };
    answer(&mut app, did);
    assert!(app.popups.is_empty(), "the next keys are not for a popup");
    assert!(
        matches!(app.pending.order(), Some(order) if order.operation == Operation::Split(None))
    );
}

#[test]
fn another_session_that_was_opened_meanwhile_stays() {
    let mut app = app();
    let other = Session { id: "another".to_owned(), ..session() };
    answer(
        &mut app,
        Answer::Reread(Some(Box::new(Opened { session: Arc::new(other), ..opened() }))),
    );
    assert_eq!(
        app.rounds.opened.as_ref().map(|opened| opened.session.id.clone()),
        Some(session().id)
    );
}

#[test]
fn a_step_that_could_not_be_taken_back_can_be_tried_again() {
    let mut app = app();
    let done = Done::Made {
        ids: vec!["aaaaaaaa-1".into()],
        name: "x".into(),
        order: Operation::Split(None).into(),
        tags: BTreeMap::new(),
    };
    let did = Answer::Did { line: "made".into(), details: String::new(), done: Some(done) };
    answer(&mut app, did);
    for _ in 0..2 {
        let undo = press(&mut app, "u");
        assert!(matches!(&undo[..], [Effect::Job(Job::Undo(_))]));
        let [Effect::Job(job)] = &undo[..] else { panic!("{undo:?}") };
        answer(&mut app, failed("open in a client", job.clone()));
    }
}

proptest::proptest! {
    /// Nothing acts unless Enter was pressed in a popup, and no key can break the viewer.
    #[test]
    fn random_keys(keys in proptest::collection::vec(key(), 1..120), size in (20u16..210, 5u16..60)) {
        let mut app = app();
        for code in keys {
            let was_asked = code == KeyCode::Enter && !app.popups.is_empty() || code == KeyCode::Char('u')
                || matches!(code, KeyCode::Char('U' | 'h' | 'w'));
            let event = Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
            let effects = app.update(Message::Input(event));
            let acts = effects.iter().any(|effect| matches!(
                effect,
                Effect::Job(Job::Make { .. } | Job::Tag { .. } | Job::Undo(_) | Job::Mend { is_dry: false, .. })
            ));
            proptest::prop_assert!(was_asked || !acts, "{:?}", effects);
            for effect in effects {
                let Effect::Job(job) = effect else { continue };
                if let Some(reply) = reply(job) {
                    answer(&mut app, reply);
                }
            }
            app.size = size;
            screen(&app, size, true);
        }
    }
}

fn key() -> impl proptest::strategy::Strategy<Value = KeyCode> {
    use proptest::prelude::*;
    let letters: Vec<KeyCode> = TABLE
        .iter()
        .map(|binding| binding.key)
        .chain([KeyCode::Enter, KeyCode::Backspace])
        .collect();
    prop_oneof![
        4 => proptest::sample::select(letters),
        1 => any::<char>().prop_map(KeyCode::Char),
    ]
}

/// What a job might answer.
fn reply(job: Job) -> Option<Answer> {
    Some(match job {
        Job::Open { .. } => Answer::Opened(Box::new(opened())),
        Job::Search { words, .. } => Answer::Found(Filter {
            session: session().id,
            words,
            hits: [(5, "hit".to_owned())].into_iter().collect(),
        }),
        Job::Advise { .. } | Job::Revive { .. } => {
            Answer::Planned { name: session().id, operation: Operation::Split(None), why: None }
        }
        Job::Mend { is_dry: true, .. } => Answer::Survey {
            name: "x".to_owned(),
            lines: vec!["mend".to_owned(); 40],
            is_broken: true,
        },
        Job::Matrix => Answer::Cells(vec![Cell {
            label: "console".to_owned(),
            session: session().id,
            rounds: vec![5],
        }]),
        Job::Measure { number, .. } => figures(number),
        Job::Tag { name, rounds, engagement } => Answer::Did {
            line: "tagged".to_owned(),
            details: String::new(),
            done: Some(Done::Tagged {
                name,
                rounds,
                engagement,
                before: std::collections::BTreeMap::new(),
            }),
        },
        Job::Make { name, order, .. } => Answer::Did {
            line: "made".to_owned(),
            details: "made\nmore".to_owned(),
            done: Some(Done::Made {
                ids: vec!["aaaaaaaa".to_owned()],
                name,
                order,
                tags: BTreeMap::new(),
            }),
        },
        Job::Undo(done) => Answer::Undid { line: "removed".to_owned(), done },
        _ => return None,
    })
}

#[test]
fn a_plan_is_neither_lost_nor_skipped_by_opening_another_session() {
    let mut app = app();
    let done = Done::Made {
        ids: vec!["aaaaaaaa-1".into()],
        name: session().id,
        order: Operation::Split(None).into(),
        tags: BTreeMap::new(),
    };
    answer(&mut app, Answer::Did { line: "made".into(), details: String::new(), done: Some(done) });
    let other = app.sessions.lines.iter().position(|line| line.entry.id == "7c41b2aa-0000");
    app.sessions.cursor = other.expect("it is listed");
    press(&mut app, "dd←");
    assert!(press(&mut app, "\n").is_empty(), "the plan keeps its session open");
    assert!(app.line.0.contains("Esc drops it") && !app.pending.is_empty(), "{:?}", app.line);
    press(&mut app, "→\u{1b}←");
    assert!(matches!(&press(&mut app, "\n")[..], [Effect::Job(Job::Open { .. })]));
    let session = Session { id: "7c41b2aa-0000".to_owned(), ..session() };
    let opened = Opened { session: Arc::new(session), ..opened() };
    answer(&mut app, Answer::Opened(Box::new(opened)));
    assert!(press(&mut app, "u").is_empty(), "the plan of another session is no step of this one");
    assert!(app.line.0.contains("a plan for 3f0a9d1e"), "{:?}", app.line);
    assert!(matches!(&press(&mut app, "u")[..], [Effect::Job(Job::Undo(_))]));
}

#[test]
fn a_name_that_is_refused_can_be_corrected() {
    for key in ["t", "x"] {
        let mut app = app();
        press(&mut app, &format!("v↓{key}two words\n"));
        assert!(app.line.1, "{:?}", app.line);
        let Some(Popup::Input { text, about, .. }) = app.popups.last() else {
            panic!("the question is gone")
        };
        assert_eq!((&**text, &*about.rounds), ("two words", &[5, 6][..]));
        press(&mut app, "\u{1b}");
        assert_eq!(app.rounds.targets(), [5, 6], "the selection stays");
    }
}

#[test]
fn u_skips_no_step_that_it_can_not_undo() {
    let mut app = app();
    let done = Done::Mended { file: "/x/sound.jsonl".to_owned() };
    answer(&mut app, Answer::Did { line: "made".into(), details: String::new(), done: Some(done) });
    assert!(press(&mut app, "u").is_empty());
    assert!(app.line.0.contains("rm /x/sound.jsonl"), "{:?}", app.line);
}
