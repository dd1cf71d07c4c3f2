//! Who is away hears of a session once for each event: by the bell, by the terminal, or by a program.
//! The list of all sessions shows what each is doing.

use std::time::Duration;

use std::fs;

use serde_json::{Value, json};

use super::story::{alone, end, patient, seal};
use super::{append, moves, percent, step};
use crate::support::client::{Terminal, Tui};
use crate::support::mock::{Gate, Reply};
use crate::support::world::World;

/// How many boundaries the climb crosses.
const BOUNDARIES: usize = 10;

fn settings(by: &Value) -> Value {
    let mut settings = patient(alone());
    settings["boundary"]["max_per_hour"] = json!(100);
    settings["notify"] = json!({"by": by});
    settings
}

#[test]
fn a_climb_tells_each_event_once() {
    let by = json!(["sh", "-c", "echo \"$1: $2\" >>\"$HOME/told\"", "sh", "{title}", "{text}"]);
    let mut agent = Vec::new();
    for n in 0..BOUNDARIES {
        agent.push(step(|_| Reply::bash("echo one").tokens(percent(5.0))));
        agent.push(step(move |_| append("next", &format!("step {n}")).tokens(percent(31.0))));
        agent.extend([seal(), end()]);
    }
    agent.push(step(|_| Reply::text("all done").tokens(percent(6.0))));
    let world = World::build().guard_settings(settings(&by)).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main(4 * BOUNDARIES + 1);
    let told = world.wait("the end", || {
        let told = fs::read_to_string(world.home().join("told")).unwrap_or_default();
        told.contains("turn over").then_some(told)
    });
    let project = world.project();
    let title = format!("brain-guard: {} (", project.file_name().unwrap().to_str().unwrap());
    let told: Vec<&str> = told
        .lines()
        .map(|line| line.strip_prefix(&title).expect("a title"))
        .map(|line| &line["12345678): ".len()..])
        .collect();
    let events = ["sealed its notes, and restarts from them", "goes on in a fresh session"];
    let (last, before) = told.split_last().expect("events");
    assert_eq!(before, events.repeat(BOUNDARIES), "{told:?}");
    assert_eq!(*last, "turn over");
}

/// What the client's terminal gets until the turn's end was told.
fn written(by: &Value) -> String {
    let text = step(|_| Reply::text("done").tokens(percent(5.0)));
    let built = World::build().in_tmux().guard_settings(settings(by));
    let world = built.agent(moves(vec![text])).start();
    let tui = world.tui(&[]);
    let Terminal::Tmux(pane) = tui.terminal() else { panic!("it runs in tmux") };
    let file = world.home().join("written");
    let pipe = format!("cat >{}", file.display());
    assert!(pane.run(&["pipe-pane", "-t", "{}", &pipe]).expect("tmux").status.success());
    tui.prompt("Build the lexer");
    world.mock.wait_main(1);
    world.wait("the notification", || {
        let log = world.guard(&["log", "--kind", "notified"]);
        log.stdout.contains("turn over").then_some(())
    });
    tui.wait_idle();
    String::from_utf8_lossy(&fs::read(file).expect("own file")).into_owned()
}

/// How often the bell rang. The client's own sequences may end in the same byte.
fn bells(written: &str) -> usize {
    let mut rest = written.to_owned();
    while let Some(at) = rest.find("\u{1b}]") {
        let end = rest[at..].find(['\u{7}', '\\']).map_or(rest.len(), |end| at + end + 1);
        rest.replace_range(at..end, "");
    }
    rest.matches('\u{7}').count()
}

#[test]
fn the_bell_rings_once() {
    assert_eq!(bells(&written(&json!("bell"))), 1);
}

#[test]
fn tmux_is_asked_to_pass_a_notification_on() {
    let written = written(&json!("osc777"));
    let asked = "\u{1b}Ptmux;\u{1b}\u{1b}]777;notify;brain-guard: ";
    assert_eq!(written.matches(asked).count(), 1, "{written:?}");
    assert!(written.contains(";turn over\u{7}"), "{written:?}");
}

#[test]
fn the_list_shows_what_three_clients_are_doing() {
    let gate = Gate::default();
    let held = gate.clone();
    let agent = move |request: &crate::support::mock::Request| {
        let text = request.last_user_text();
        if text.contains("work long") {
            Reply::text("begun\n\nnot yet ended\n").hang(&held)
        } else if text.contains("write a file") {
            Reply::tool("Write", json!({"file_path": "made.txt", "content": "x"}))
        } else {
            Reply::text("done")
        }
    };
    let built = World::build().permission_mode("default").guard_settings(alone());
    let world = built.agent(move |request| agent(request).tokens(percent(5.0))).start();
    let prompts = ["work long", "write a file", "say something"];
    let clients: Vec<Tui> = prompts
        .iter()
        .map(|prompt| {
            let tui = world.tui(&[]);
            tui.prompt(prompt);
            tui
        })
        .collect();
    let activities = || {
        let listed = world.guard(&["status", "--all", "--json"]).stdout;
        let listed: Value = serde_json::from_str(&listed).expect("JSON");
        let all = listed["sessions"].as_array().expect("a list").iter();
        all.map(|one| one["activity"].as_str().expect("a word").to_owned()).collect::<Vec<_>>()
    };
    world.wait("three activities", || {
        (activities() == ["waits-for-you", "turn-over", "works"]).then_some(())
    });
    let text = world.guard(&["status", "--all"]).stdout;
    assert!(text.starts_with("3 sessions run, and 2 need you\n\n"), "{text}");
    assert!(text.contains("Claude needs your permission ("), "{text}");
    gate.open();
    drop(clients);
}

#[test]
fn a_dialog_that_was_refused_waits_no_longer() {
    // The client tells of a dialog only after some seconds.
    for (key, is_told) in [("3", true), ("Escape", true), ("3", false), ("Escape", false)] {
        let agent = |request: &crate::support::mock::Request| {
            if request.last_user_text().contains("write") {
                Reply::tool("Write", json!({"file_path": "made.txt", "content": "x"}))
            } else {
                Reply::text("done")
            }
        };
        let built = World::build().permission_mode("default").guard_settings(alone());
        let world = built.agent(move |request| agent(request).tokens(percent(5.0))).start();
        let tui = world.tui(&[]);
        tui.prompt("write a file");
        let activity = || {
            let listed = world.guard(&["status", "--all", "--json"]).stdout;
            let listed: Value = serde_json::from_str(&listed).expect("JSON");
            listed["sessions"][0]["activity"].as_str().unwrap_or_default().to_owned()
        };
        if is_told {
            world.wait("the dialog", || (activity() == "waits-for-you").then_some(()));
        } else {
            tui.wait_screen("the dialog", |screen| screen.contains("Do you want to create"));
            // It takes no key right away.
            std::thread::sleep(Duration::from_secs(2));
        }
        tui.keys(key);
        world.wait("the turn's end", || (activity() == "turn-over").then_some(()));
    }
}

/// Beside it a call runs that needs none, and ends.
#[test]
fn a_dialog_waits_though_another_call_ends() {
    let agent = |request: &crate::support::mock::Request| {
        if request.last_user_text().contains("look") {
            let log = json!({"command": "tail -f log", "timeout": 9_000});
            Reply::tool("Bash", log).and_tool("Read", json!({"file_path": "/etc/hostname"}))
        } else {
            Reply::text("done")
        }
    };
    let built = World::build().permission_mode("default").guard_settings(alone());
    let world = built.agent(move |request| agent(request).tokens(percent(5.0))).start();
    fs::write(world.project().join("log"), "one\n").expect("a log");
    let tui = world.tui(&[]);
    tui.prompt("look at both");
    let listed = || {
        let listed = world.guard(&["status", "--all", "--json"]).stdout;
        let listed: Value = serde_json::from_str(&listed).expect("JSON");
        listed["sessions"][0].clone()
    };
    world.wait("the dialog", || (listed()["activity"] == "waits-for-you").then_some(()));
    let is_named = |one: &Value| one["why"].as_str().is_some_and(|why| why.contains("(Read: "));
    let waits = world.wait("the other call's end", || Some(listed()).filter(is_named));
    assert_eq!(waits["activity"], "waits-for-you");
    tui.keys("Escape");
    world.wait("the turn's end", || (listed()["activity"] == "turn-over").then_some(()));
}
