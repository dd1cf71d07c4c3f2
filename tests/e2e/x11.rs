//! The X11 carrier at the real client in an xterm.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use brain_guard::boundary::Client;
use brain_guard::carrier::terminal::{PromptBox, Stroke, Terminal};
use brain_guard::carrier::x11::Window;
use serde_json::json;

use crate::mock::{Gate, Reply};
use crate::screen::{self, Screen};
use crate::world::{Spy, World};

const CHORD: [Stroke; 2] = [Stroke::ctrl(']'), Stroke::ctrl(']')];
const SUBMIT: [Stroke; 2] = [Stroke::ctrl('x'), Stroke::ctrl('s')];

/// The client in a terminal on a display of its own.
struct Desk {
    screen: Screen,
    client: Client,
}

impl Desk {
    fn start(world: &World) -> Self {
        let bindings = json!({"bindings": [
            {"context": "Chat", "bindings": {"ctrl+] ctrl+]": "command:clear"}}
        ]});
        let folder = world.home().join(".claude");
        fs::write(folder.join("keybindings.json"), bindings.to_string()).expect("a file");
        let screen = Screen::start();
        let pid = world.home().join("client.pid");
        let client = world.command();
        let mut xterm = Command::new("xterm");
        xterm.env_clear().current_dir(world.project());
        xterm.envs(client.get_envs().filter_map(|(name, value)| Some((name, value?))));
        xterm.env("DISPLAY", &screen.name).env("LANG", "C.UTF-8");
        xterm.args(["-u8", "-geometry", "150x50", "-e", "sh", "-c"]);
        xterm.arg(format!("echo $$ >{}; exec \"$0\" \"$@\"", pid.display()));
        xterm.arg(client.get_program()).args(world.plugin_arguments());
        xterm.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let (_, client) = screen.shows(&pid, || screen.keep(xterm.spawn().expect("xterm")));
        let desk = Self { screen, client };
        let mut window = desk.window();
        screen::wait("prompt box", || {
            (window.idle() == Ok(true) && window.prompt_box() == Ok(PromptBox::Empty)).then_some(())
        });
        desk
    }

    fn window(&self) -> Window {
        self.screen.carrier_of(self.client, Duration::from_secs(600))
    }
}

fn cleared(world: &World) {
    world.wait_hook("SessionStart", |hook| hook["source"] == "clear");
}

#[test]
fn the_chord_clears_and_the_draft_stays() {
    let world = World::build().bare().spy(Spy::default()).start();
    let desk = Desk::start(&world);
    let mut window = desk.window();
    window.type_text("half a draft").expect("typed");
    let typed = PromptBox::Holds("half a draft".to_owned());
    screen::wait("draft", || (window.prompt_box().as_ref() == Ok(&typed)).then_some(()));
    assert_eq!(window.chord(&CHORD, &mut || true), Ok(true));
    cleared(&world);
    screen::wait("draft again", || (window.prompt_box().as_ref() == Ok(&typed)).then_some(()));
    assert!(world.mock.main().is_empty());
}

#[test]
fn in_a_dialog_nothing_happens() {
    let agent = |n| match n {
        1 => Reply::tool("Write", json!({"file_path": "made.txt", "content": "x"})),
        _ => Reply::text("ok"),
    };
    let world = World::build().bare().permission_mode("default").spy(Spy::default());
    let world = world.agent(move |request| agent(request.n)).start();
    let desk = Desk::start(&world);
    let mut window = desk.window();
    window.type_text("go").expect("typed");
    let typed = PromptBox::Holds("go".to_owned());
    screen::wait("prompt", || (window.prompt_box().as_ref() == Ok(&typed)).then_some(()));
    assert_eq!(window.chord(&SUBMIT, &mut || true), Ok(true));
    world.wait_hook("PermissionRequest", |hook| hook["tool_name"] == "Write");
    screen::wait("dialog", || (window.prompt_box() == Ok(PromptBox::None)).then_some(()));
    for strokes in [&CHORD[..], &SUBMIT[..]] {
        assert_eq!(window.chord(strokes, &mut || true), Ok(true));
    }
    assert_eq!(window.type_text("/clear"), Ok(()));
    assert_eq!(window.chord(&SUBMIT, &mut || true), Ok(true));
    assert_eq!(window.prompt_box(), Ok(PromptBox::None));
    assert!(!world.project().join("made.txt").exists());
    assert!(!world.hooks().iter().any(|hook| hook["source"] == "clear"));
}

#[test]
fn a_typed_clear_is_submitted_without_enter() {
    let world = World::build().bare().spy(Spy::default()).start();
    let desk = Desk::start(&world);
    let mut window = desk.window();
    window.type_text("/clear").expect("typed");
    let typed = PromptBox::Holds("/clear".to_owned());
    screen::wait("command", || (window.prompt_box().as_ref() == Ok(&typed)).then_some(()));
    assert_eq!(window.chord(&SUBMIT, &mut || true), Ok(true));
    cleared(&world);
    screen::wait("empty box", || (window.prompt_box() == Ok(PromptBox::Empty)).then_some(()));
}

#[test]
fn a_pasted_file_arrives_whole_and_a_running_turn_is_not_idle() {
    let gate = Gate::default();
    let held = gate.clone();
    let world = World::build().bare().spy(Spy::default());
    let world = world.agent(move |_| Reply::text("begun\n\nnever ended\n").hang(&held)).start();
    let desk = Desk::start(&world);
    let mut window = desk.window();
    let line = |k| format!("{k} Grüße, ✓ naïve — 漢字 and so on, word by word");
    let text = (0..240).map(line).collect::<Vec<_>>().join("\n");
    window.type_text("carry out what follows: ").expect("typed");
    assert_eq!(window.paste(&text), Ok(()));
    screen::wait("paste", || match window.prompt_box() {
        Ok(PromptBox::Holds(seen)) => seen.contains("[Pasted text #1").then_some(()),
        _ => None,
    });
    assert_eq!(window.chord(&SUBMIT, &mut || true), Ok(true));
    let request = world.mock.wait_main(1);
    assert!(request.said(&text), "{}", request.last_user_text());
    screen::wait("busy lamp", || (window.idle() == Ok(false)).then_some(()));
    gate.open();
    screen::wait("idle lamp", || (window.idle() == Ok(true)).then_some(()));
}
