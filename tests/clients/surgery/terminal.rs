//! The user's view: `surgery revive --run` and `split --run` open the client in tmux windows with the
//! table on the screen, and the session picker lists each successor under its own name.

use super::judge::{Promise, line};
use super::played::{NEXT, make};
use super::source::Source;
use crate::guard::{moves, step};
use crate::support::client::{self, Terminal, Tmux};
use crate::support::mock::Reply;
use crate::support::process;
use crate::support::world::World;

const PROMPTS: [&str; 3] = ["one: the wire", "two: the policy", "three: the store"];

/// A world with a session of three rounds, and a shell in tmux with `claude` and `brain-guard` in
/// its PATH.
struct Desk {
    world: World,
    source: Source,
    shell: Tmux,
}

fn desk() -> Desk {
    let mut used = 21_000;
    let script = PROMPTS.map(|prompt| {
        used += 4_000;
        step(move |_| Reply::text(format!("{prompt} is built")).tokens(used))
    });
    let folder = |program: std::path::PathBuf| {
        program.parent().expect("a program lies in a folder").display().to_string()
    };
    let path = [
        folder(client::binary(client::PINNED)),
        folder(env!("CARGO_BIN_EXE_brain-guard").into()),
        std::env::var("PATH").unwrap_or_default(),
    ];
    let world =
        World::build().bare().agent(moves(script.into())).env("PATH", &path.join(":")).start();
    let mut run = world.stream(&[]);
    for prompt in PROMPTS {
        run.say(prompt);
        let end = format!("{prompt} is built");
        run.wait_json("the turn's end", |line| line["type"] == "result" && line["result"] == end);
    }
    assert!(run.finish().status.success());
    let source = Source::read(&world.transcripts()[0], &PROMPTS);
    let shell = world.tmux(&["/bin/sh".to_owned()]);
    Desk { world, source, shell }
}

impl Desk {
    /// Types a command in the shell and waits for `more` new windows.
    fn opens(&self, command: &str, more: usize) -> Vec<Tmux> {
        let before = self.shell.all();
        self.shell.type_text(command);
        self.shell.keys("Enter");
        self.world.evidence.add("shell", {
            let shell = self.shell.clone();
            move || shell.screen()
        });
        self.world.wait("window", || {
            let now: Vec<Tmux> =
                self.shell.all().into_iter().filter(|pane| !before.contains(pane)).collect();
            (now.len() == more).then_some(now)
        })
    }

    fn lines(&self, seqs: &[u32]) -> Vec<String> {
        let line_of = |seq: &u32| {
            let text = format!("{} is built", PROMPTS[*seq as usize - 1]);
            line(&format!("{seq:03}"), self.source.round(*seq), "user→assistant", None, &text)
        };
        seqs.iter().map(line_of).collect()
    }

    /// Checks that the client in this window continues with the promised conversation.
    fn goes_on(&self, window: Tmux, promise: Promise) {
        let before = self.world.mock.main().len();
        let tui = self.world.tui_in(Terminal::Tmux(window));
        let screen = tui.screen();
        assert!(screen.contains("| 001 |") && screen.contains("is built"), "{screen}");
        tui.prompt(NEXT);
        let request = self.world.mock.wait_main(before + 1);
        assert_eq!(promise.says(NEXT).kept_by(&request), Ok(()));
        tui.wait_idle();
        tui.quit();
    }
}

#[test]
fn revive_starts_the_successor() {
    let desk = desk();
    let command = format!("brain-guard surgery revive {} --before round:3 --run", desk.source.id);
    let window = desk.opens(&command, 1).remove(0);
    let promise = Promise::default().index(&desk.lines(&[1, 2])).rounds(&desk.source, &[3]);
    desk.goes_on(window, promise);

    // The successor has its own name in the session list.
    let tui = desk.world.tui(&[]);
    tui.prompt("/resume");
    tui.wait_screen("the session's name", |screen| {
        screen.contains("Resume session") && screen.contains("one: the wire (compressed")
    });
}

#[test]
fn split_opens_a_window_for_each_successor() {
    let desk = desk();
    let map = desk.world.project().join("map.json");
    let text = r#"{"engagements": {"policy": "2", "store": "3"}}"#;
    std::fs::write(&map, text).expect("the project is writable");
    let command = format!("brain-guard surgery split {} map.json --run", desk.source.id);
    let windows = desk.opens(&command, 2);
    for (window, own) in windows.into_iter().zip([2, 3]) {
        let promise = Promise::default().index(&desk.lines(&[1])).rounds(&desk.source, &[own]);
        desk.goes_on(window, promise);
    }
}

#[test]
fn outside_tmux_the_output_has_the_resume_command() {
    let desk = desk();
    let output = desk.world.guard(&["surgery", "revive", &desk.source.id, "--before", "round:3"]);
    assert!(output.status.success(), "{output:?}");
    let told = output.stdout.lines().find(|line| line.contains("claude --resume "));
    let told = told.unwrap_or_else(|| panic!("no command: {output:?}"));
    let command = &told[told.find("cd ").or_else(|| told.find("claude ")).expect("a command")..];
    let mut shell = desk.world.command();
    let environment: Vec<_> =
        shell.get_envs().map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned))).collect();
    shell = std::process::Command::new("/bin/sh");
    shell.env_clear().current_dir(desk.world.project());
    for (name, value) in environment {
        shell.env(name, value.unwrap_or_default());
    }
    shell.args(["-c", &format!("{command} -p '{NEXT}'")]);
    let run = process::run(&mut shell, process::DEADLINE).expect("the shell runs");
    assert!(run.status.success(), "{command}: {run:?}");
    let main = desk.world.mock.main();
    let promise = Promise::default().index(&desk.lines(&[1, 2])).rounds(&desk.source, &[3]);
    assert_eq!(promise.says(NEXT).kept_by(main.last().expect("a request")), Ok(()));
    // Running the same plan again creates another session.
    let again = make(&desk.world, &["surgery", "compress-before", &desk.source.id, "round:3"]);
    assert!(!command.contains(&again[0].id));
}
