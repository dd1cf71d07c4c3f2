//! `brain-guard view`, driven by keys in tmux on sessions that the real client wrote. What it makes
//! is resumed in the client.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::live::id;
use super::played::{guard, resume};
use crate::support::client::Tmux;
use crate::support::mock::Reply;
use crate::support::world::World;

const CONSOLE: [&str; 3] = ["console: draw it", "console: scroll it", "console: color it"];
const PARSER: [&str; 3] = ["parser: read words", "parser: read lines", "parser: read files"];
const LEXER: [&str; 3] = ["lexer: one", "lexer: two", "lexer: three"];

/// What the agent says to a prompt: long enough that a line in its place is shorter.
fn answer(prompt: &str) -> String {
    format!("{prompt} is built.{}", " It took some work.".repeat(60))
}

/// A world with a session of each of these lists of prompts; their ids.
fn played(sessions: &[&[&str]]) -> (World, Vec<String>) {
    let agent = |request: &crate::support::mock::Request| {
        let used = 21_000 + 1_000 * request.messages().len() as u64;
        Reply::text(answer(request.prompt())).tokens(used)
    };
    let world = World::build().bare().agent(agent).start();
    let mut ids = Vec::new();
    for prompts in sessions {
        let mut run = world.stream(&[]);
        for prompt in *prompts {
            run.say(prompt);
            let end = answer(prompt);
            run.wait_json("the turn's end", |line| {
                line["type"] == "result" && line["result"] == end
            });
        }
        assert!(run.finish().status.success());
        let new = world.transcripts().into_iter().map(|path| id(&path));
        ids.extend(new.filter(|id| !ids.contains(id)).collect::<Vec<_>>());
    }
    assert_eq!(ids.len(), sessions.len());
    (world, ids)
}

/// Prompts of two subjects in turns.
fn alternating() -> Vec<&'static str> {
    CONSOLE.into_iter().zip(PARSER).flat_map(|(one, other)| [one, other]).collect()
}

struct Viewer<'w> {
    world: &'w World,
    pane: Tmux,
    /// How many keys were pressed.
    pressed: Cell<usize>,
}

impl<'w> Viewer<'w> {
    fn open(world: &'w World, session: &str) -> Self {
        let program = env!("CARGO_BIN_EXE_brain-guard");
        let pane = world.tmux(&[program, "view", session].map(str::to_owned));
        let shown = pane.clone();
        world.evidence.add("viewer", move || shown.screen());
        let viewer = Self { world, pane, pressed: Cell::new(0) };
        viewer.wait(&format!("{}  ", &session[..8]));
        viewer
    }

    /// Types letters.
    fn keys(&self, letters: &str) {
        self.pane.type_text(letters);
        self.pressed.set(self.pressed.get() + letters.chars().count());
    }

    /// Presses a key given by its tmux name.
    fn press(&self, name: &str) {
        self.pane.keys(name);
        self.pressed.set(self.pressed.get() + 1);
    }

    fn enter(&self, letters: &str) {
        self.keys(letters);
        self.press("Enter");
    }

    /// Waits until the screen shows a text, and returns the screen.
    #[track_caller]
    fn wait(&self, text: &str) -> String {
        self.world.wait(text, || Some(self.pane.screen()).filter(|screen| screen.contains(text)))
    }

    /// The sessions that appear while this is done.
    fn makes(&self, done: impl FnOnce(), count: usize) -> Vec<String> {
        let before: BTreeSet<PathBuf> = self.world.transcripts().into_iter().collect();
        done();
        let made = self.world.wait("the new sessions", || {
            let after = self.world.transcripts().into_iter();
            let made: Vec<String> =
                after.filter(|path| !before.contains(path)).map(|path| id(&path)).collect();
            Some(made).filter(|made| made.len() >= count)
        });
        self.wait("made ");
        assert_eq!(made.len(), count, "{}", self.pane.screen());
        made
    }
}

/// Asserts that a resumed session says these answers, and not those.
#[track_caller]
fn says(world: &World, session: &str, own: &[&str], other: &[&str]) {
    let request = resume(world, session);
    for prompt in own {
        assert!(request.said(&answer(prompt)), "{prompt}: {request}");
    }
    for prompt in other {
        assert!(!request.said(&answer(prompt)), "{prompt}: {request}");
    }
}

/// Tag by two searches and split, without a pause between keys.
#[test]
fn two_searches_two_tags_and_a_split() {
    let (world, ids) = played(&[&alternating()]);
    let viewer = Viewer::open(&world, &ids[0]);
    viewer.wait("6 rounds");
    viewer.pressed.set(0);
    let made = viewer.makes(
        || {
            viewer.enter("/console");
            viewer.enter("atconsole");
            viewer.enter("/parser");
            viewer.enter("atparser");
            viewer.enter("S");
            viewer.press("Enter");
        },
        2,
    );
    assert!(viewer.pressed.get() <= 45, "{}", viewer.pressed.get());

    // `u` removes both, and `U` makes them again.
    viewer.keys("u");
    viewer.wait("removed ");
    assert_eq!(world.transcripts().len(), 1, "{made:?} are gone");
    let again = viewer.makes(|| viewer.keys("U"), 2);
    viewer.keys("qq");
    let mut subjects = [(CONSOLE, PARSER), (PARSER, CONSOLE)];
    let text = fs::read_to_string(path(&world, &again[0])).expect("the session");
    if text.contains(&answer(PARSER[0])) {
        subjects.reverse();
    }
    for (id, (own, other)) in again.iter().zip(subjects) {
        says(&world, id, &own, &other);
    }
}

fn path(world: &World, session: &str) -> PathBuf {
    world.transcripts().into_iter().find(|path| id(path) == session).expect("its file")
}

/// What stands on the screen is what the verb prints.
#[test]
fn the_figures_are_those_of_the_verb() {
    let (world, ids) = played(&[&alternating()]);
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&guard(&world, args).stdout).expect("JSON")
    };
    let shown = |value: &Value| base::shown::tokens(value.as_u64().expect("tokens"));
    let viewer = Viewer::open(&world, &ids[0]);
    let screen = viewer.wait("6 rounds");
    let (advice, rounds) =
        (json(&["advise", &ids[0], "--json"]), json(&["rounds", &ids[0], "--json"]));
    assert_eq!(advice["tokens"], rounds["in_context"]["tokens"]);
    let (limit, percent) = (&advice["limit"], &advice["percent"]);
    let (used, of) = (shown(&advice["tokens"]), shown(limit));
    let title = format!("{}  {used} of {of} ({percent} %)  6 rounds", &ids[0][..8]);
    assert!(screen.contains(&title), "{screen}\n{title}");
    for round in rounds["rounds"].as_array().expect("rounds") {
        let number = format!(" {:03}  ", round["round"].as_u64().expect("a number"));
        let line = screen.lines().find(|line| line.contains(&number)).expect("its line");
        let summary = round["summary"].as_str().expect("a summary");
        let wanted = [format!("  {:>5} ", shown(&round["tokens"])), summary[..12].to_owned()];
        assert!(wanted.iter().all(|text| line.contains(text)), "{line}\n{wanted:?}");
    }
    viewer.press("Left");
    let screen = viewer.wait("Sessions of the project");
    let row = &json(&["sessions", "--json"])["sessions"][0];
    let line =
        format!("{}  {} r  {} {percent} %", &ids[0][..8], row["rounds"], shown(&row["tokens"]));
    assert!(screen.contains(&line), "{screen}\n{line}");
    viewer.press("Right");
    // The four oldest rounds become lines.
    viewer.press("End");
    viewer.keys("v");
    for _ in 0..3 {
        viewer.press("Up");
    }
    viewer.keys("vi");
    let command = "brain-guard surgery edit";
    viewer.wait(command);
    let figures = |screen: &String| {
        let line = screen.lines().find(|line| line.contains(" → ") && line.contains(" %)"));
        line.map(str::to_owned)
    };
    let shown = world.wait("the figures", || figures(&viewer.pane.screen()));
    let list = world.project().join("list.txt");
    fs::write(&list, "index 1-4\n").expect("the project is writable");
    let told = json(&["surgery", "edit", &ids[0], "--plan", "list.txt", "--dry-run", "--json"]);
    let tokens = |name: &str| told["sessions"][0]["tokens"][name].as_u64().expect("tokens");
    let expected = format!(
        "{} → {} (",
        base::shown::tokens(tokens("before")),
        base::shown::tokens(tokens("after"))
    );
    assert!(shown.starts_with(&expected), "{shown}\n{told}");
    let limit = limit.as_u64().expect("a limit");
    let percent = |tokens: u64| tokens * 100 / limit;
    let expected = format!("({} → {} %)", percent(tokens("before")), percent(tokens("after")));
    assert!(shown.contains(&expected), "{shown}\n{expected}");
}

#[test]
fn revive_and_merge() {
    let (world, ids) = played(&[&LEXER, &alternating()]);
    let viewer = Viewer::open(&world, &ids[1]);
    viewer.wait("6 rounds");
    viewer.keys("r");
    viewer.wait("surgery compress-before");
    let made = viewer.makes(|| viewer.keys("\r\r"), 1);
    says(&world, &made[0], &PARSER[2..], &CONSOLE[..1]);
    viewer.keys("q");

    // The other session is below the tree of this one.
    viewer.press("Left");
    viewer.press("End");
    viewer.press("Space");
    viewer.press("Home");
    viewer.press("Enter");
    viewer.wait("6 rounds");
    viewer.keys("m");
    viewer.wait("surgery merge");
    let merged = viewer.makes(|| viewer.keys("\r\r"), 1);
    says(&world, &merged[0], &[LEXER[0], CONSOLE[0], PARSER[2]], &[]);
}

#[test]
fn a_broken_session_is_mended() {
    let (world, ids) = played(&[&LEXER]);
    let path = world.transcripts().pop().expect("a transcript");
    let text = fs::read(&path).expect("the session");
    let prompt = format!("\"content\":\"{}\"", LEXER[2]);
    let at = String::from_utf8_lossy(&text).find(&prompt).expect("the last prompt");
    let row = text[..at].iter().rposition(|byte| *byte == b'\n').expect("a row") + 1;
    let broken = [&text[..row], &[0; 4096], &text[row..]].concat();
    fs::write(&path, &broken).expect("the session is writable");
    let viewer = Viewer::open(&world, &ids[0]);
    viewer.wait("3 rounds");
    viewer.keys("w");
    viewer.wait("Mend the session?");
    let made = viewer.makes(|| viewer.press("Enter"), 1);
    says(&world, &made[0], &LEXER, &[]);
    assert!(fs::read(&path).expect("the session") == broken, "the old one stays");
}

/// The terminal is as before, whatever ends the viewer, and so is the session.
#[test]
fn the_terminal_is_as_before() {
    let (world, ids) = played(&[&LEXER]);
    let path = world.transcripts().pop().expect("a transcript");
    let before = fs::read(&path).expect("the session");
    let shell = world.tmux(&["/bin/sh".to_owned()]);
    world.evidence.add("shell", {
        let shell = shell.clone();
        move || shell.screen()
    });
    let program = env!("CARGO_BIN_EXE_brain-guard");
    let run = |line: &str| {
        shell.type_text(line);
        shell.keys("Enter");
    };
    let file = |name: &str| fs::read_to_string(world.project().join(name)).unwrap_or_default();
    run("stty -a >before; echo begun");
    for (number, end) in ["q", "TERM", "KILL"].into_iter().enumerate() {
        run(&format!("{program} view {} ; stty -a >after; echo 'ended'-{number}", ids[0]));
        world.wait("the viewer", || shell.screen().contains("3 rounds").then_some(()));
        assert!(!shell.screen().contains("begun"), "{}", shell.screen());
        match end {
            "q" => shell.keys("q"),
            signal => {
                let viewers = world.processes();
                let viewer =
                    viewers.iter().find(|p| p.command.contains(" view ")).expect("it runs");
                let pid = viewer.pid.to_string();
                let sent = std::process::Command::new("kill").args(["-s", signal, &pid]).status();
                assert!(sent.expect("kill").success());
            }
        }
        if end == "KILL" {
            break;
        }
        let wanted = format!("ended-{number}\n");
        world.wait("the shell", || shell.screen().contains(&wanted).then_some(()));
        assert!(shell.screen().contains("begun"), "the screen is back: {}", shell.screen());
        assert_eq!(file("before"), file("after"), "{end}");
    }
    assert!(fs::read(&path).expect("the session") == before);
    shell.kill();
}

/// A session that goes on grows on the screen.
#[test]
fn new_rounds_appear() {
    let (world, ids) = played(&[&LEXER]);
    let viewer = Viewer::open(&world, &ids[0]);
    viewer.wait("3 rounds");
    resume(&world, &ids[0]);
    viewer.wait("4 rounds");
}

/// Keys at random for some seconds (`BRAIN_GUARD_KEYS`): first all but Enter, which change nothing;
/// then Enter as well, which may make sessions, but changes none.
#[test]
fn random_keys_change_no_session() {
    let (world, ids) = played(&[&LEXER, &alternating()]);
    let seconds = std::env::var("BRAIN_GUARD_KEYS").ok().and_then(|text| text.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(10));
    let contents = || -> Vec<(PathBuf, Vec<u8>)> {
        let read = |path: PathBuf| (path.clone(), fs::read(path).expect("a session"));
        world.transcripts().into_iter().map(read).collect()
    };
    let before = contents();
    let mut state = 1_u64;
    let mut random = move |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let letters: Vec<char> = " vatisdkxSmrAMwyuUgnN/?12345lexrconsole".chars().collect();
    let named = ["Up", "Down", "Left", "Right", "Home", "End", "Tab", "Escape", "PageDown", "C-u"];
    let mut pressed = 0;
    for with_enter in [false, true] {
        let mut viewer = Viewer::open(&world, &ids[1]);
        let end = Instant::now() + time;
        while Instant::now() < end {
            match random(5) {
                0 => viewer.press(named[random(named.len())]),
                1 if with_enter => viewer.press("Enter"),
                _ => {
                    let count = 1 + random(4);
                    let text: String = (0..count).map(|_| letters[random(letters.len())]).collect();
                    viewer.keys(&text);
                }
            }
            if viewer.pane.ask("#{pane_dead}") == "1" {
                // `h` may leave the viewer; an error or a panic does not end with status 0.
                assert_eq!(viewer.pane.ask("#{pane_dead_status}"), "0", "{}", viewer.pane.screen());
                pressed += viewer.pressed.get();
                viewer.pane.kill();
                viewer = Viewer::open(&world, &ids[1]);
            }
        }
        pressed += viewer.pressed.get();
        viewer.pane.kill();
        let after = contents();
        assert!(before.iter().all(|one| after.contains(one)), "a session was changed");
        assert!(with_enter || after.len() == before.len(), "nothing was confirmed");
    }
    println!("  {pressed} keys in {} s", 2 * time.as_secs());
}
