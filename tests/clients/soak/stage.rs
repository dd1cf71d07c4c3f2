//! The setting of the boundaries: a world with a client in a terminal, and a decoy terminal.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::soak::agent::Agent;
use crate::soak::scenario::Road;
use crate::support::client::{Terminal, Tui};
use crate::support::desktop::Desktop;
use crate::support::hook::shape_with_summary;
use crate::support::journal;
use crate::support::process::{self, Found};
use crate::support::world::{Spy, World, set_guard};

/// Writes all input of a terminal to the file given as the first argument.
const LISTEN: &str = r#"stty raw -echo; exec cat >"$1""#;

/// Runs the program of the further arguments, resets its terminal modes, and then writes all
/// input to the file.
const LISTEN_AFTER: &str = r#"after=$1; shift; "$@"
printf '\033[?1000l\033[?1002l\033[?1003l\033[?1004l\033[?1006l\033[?2004l\033[>4m\033[<u'
stty raw -echo; exec cat >"$after""#;

/// The options of a stage.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    pub road: Road,
    /// The client's keybindings contain our chords.
    pub chords: bool,
    /// No carrier acts; the soak itself types.
    pub naive: bool,
}

pub struct Stage {
    pub world: World,
    pub agent: Agent,
    pub tui: Tui,
    pub desktop: Option<Desktop>,
    pub spy: Hooks,
    /// A terminal that must get no keys.
    pub decoy: Terminal,
    /// The number of boundaries played so far.
    pub played: usize,
    naive: bool,
    road: Road,
}

impl Stage {
    pub fn new(setup: Setup) -> Self {
        let agent = Agent::default();
        let (script, assistant) = (agent.clone(), agent.clone());
        let mut world = World::build()
            .without_mod()
            .spy(Spy::default())
            .permission_mode("default")
            .client_setting(
                "permissions",
                json!({"defaultMode": "default", "allow": ["Bash(sleep:*)"]}),
            )
            .agent(move |request| script.answer(request))
            .subagent(move |request| assistant.assist(request));
        if setup.chords {
            let chords = json!({"bindings": [{"context": "Chat", "bindings": {
                "ctrl+] ctrl+]": "command:clear", "ctrl+] ctrl+f": "command:brain-guard:resume",
            }}]});
            world = world.home_file(".claude/keybindings.json", &chords.to_string());
        }
        let world = world.start();
        let program = listening_after(&world, "after", &world.program(&[]));
        let listener = words(&["sh", "-c", LISTEN, "sh", &bytes_file(&world, "decoy")]);
        let (desktop, terminal, decoy) = match setup.road {
            Road::Tmux => {
                let pane = world.tmux(&program);
                let decoy = pane.beside(&world.project(), &listener);
                (None, Terminal::Tmux(pane), Terminal::Tmux(decoy))
            }
            Road::X11 => {
                let desktop = world.desktop();
                let decoy = world.xterm(&desktop, "+1100+0", &listener);
                let window = world.xterm(&desktop, "+0+0", &program);
                (Some(desktop), Terminal::Xterm(window), Terminal::Xterm(decoy))
            }
        };
        let tui = world.tui_in(terminal);
        let spy = Hooks::of(&world);
        Self {
            tui,
            agent,
            desktop,
            spy,
            decoy,
            played: 0,
            naive: setup.naive,
            road: setup.road,
            world,
        }
    }

    /// Sets the carrier of the next boundary. The hooks read it at each call.
    pub fn settle(&self, auto: bool) {
        let carrier = match (self.naive, auto) {
            (true, _) => "manual",
            (false, true) => "auto",
            (false, false) => self.road.name(),
        };
        let settings = json!({
            // Room for the long files, which the next seals shorten again.
            "file": {"words": 4000, "seal_target": 0.8, "shape": shape_with_summary(0.02)},
            "boundary": {
                "carrier": carrier,
                "min_interval_seconds": 0, "max_per_hour": 100_000, "x11_idle_seconds": 0,
                // A manual boundary needs an attended session. Carriers must not wait for a notice.
                "attended_minutes": if self.naive { 10 } else { 0 }, "attended_notice_seconds": 0,
            },
        });
        set_guard(&self.world.home(), &settings);
        let applied = self.world.guard(&["settings", "apply", "--all"]);
        assert!(applied.status.success(), "{}", applied.stderr);
    }

    /// Starts a second client in the same project.
    pub fn second(&self) -> Tui {
        let program = listening_after(&self.world, "second", &self.world.program(&[]));
        let terminal = match (self.tui.terminal(), &self.desktop) {
            (Terminal::Tmux(pane), _) => {
                Terminal::Tmux(pane.beside(&self.world.project(), &program))
            }
            (Terminal::Xterm(_), Some(desktop)) => {
                Terminal::Xterm(self.world.xterm(desktop, "+600+250", &program))
            }
            (Terminal::Xterm(_), None) => unreachable!("an xterm stands on a desktop"),
        };
        self.world.tui_in(terminal)
    }

    /// Bytes that reached the decoy, or a terminal after its client ended.
    pub fn strays(&self) -> Vec<(&'static str, Vec<u8>)> {
        let read = |name: &'static str| {
            std::fs::read(bytes_file(&self.world, name)).ok().map(|bytes| (name, bytes))
        };
        ["decoy", "after", "second"].into_iter().filter_map(read).collect()
    }

    /// The client's process id: the child of the terminal's shell.
    pub fn client(&self) -> Option<u32> {
        let shell = match self.tui.terminal() {
            Terminal::Tmux(_) => self.tui.terminal().pid(),
            Terminal::Xterm(window) => children(window.pid()).into_iter().next(),
        };
        children(shell?).into_iter().next()
    }

    /// The boundary tokens of this world.
    pub fn tokens(&self) -> Vec<Value> {
        let folders = self.world.parts().into_iter();
        let files = folders.filter_map(|part| std::fs::read_dir(part.join("boundary")).ok());
        let paths = files.flatten().flatten().map(|entry| entry.path());
        paths
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
            .filter_map(|path| serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok())
            .collect()
    }

    /// The lines of the journals.
    pub fn logged(&self) -> Vec<Value> {
        self.world.parts().iter().flat_map(|part| journal::lines(part)).collect()
    }

    /// Live processes of brain-guard.
    pub fn own_processes(&self) -> Vec<Found> {
        let mut found = self.world.processes();
        found.retain(|process| {
            process.command.split(' ').next().is_some_and(|name| name.ends_with("/brain-guard"))
        });
        found
    }

    pub fn empty_box(&self) {
        let emptied = process::poll(Duration::from_secs(10), Duration::from_millis(60), || {
            match self.tui.prompt_box().as_deref() {
                Some("") => return Some(()),
                Some(_) => self.tui.keys("C-u BSpace"),
                None => self.tui.keys("Escape"),
            }
            None
        });
        if emptied.is_none() {
            self.world.evidence.fail("the prompt box can't be emptied");
        }
    }
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}

fn bytes_file(world: &World, name: &str) -> String {
    world.state().join(format!("{name}.bytes")).display().to_string()
}

fn listening_after(world: &World, name: &str, program: &[String]) -> Vec<String> {
    let mut all = words(&["sh", "-c", LISTEN_AFTER, "sh", &bytes_file(world, name)]);
    all.extend(program.iter().cloned());
    all
}

fn children(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    text.unwrap_or_default().split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// A hook event recorded by the spy.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Time of the record in seconds since the epoch, some milliseconds after the event.
    pub at: f64,
    pub event: Value,
}

impl Seen {
    /// Whether it is this event with this `source` or `reason`; an empty `kind` matches all.
    pub fn is(&self, name: &str, kind: &str) -> bool {
        self.event["hook_event_name"] == name
            && (kind.is_empty() || self.event["source"] == kind || self.event["reason"] == kind)
    }

    pub fn session(&self) -> &str {
        self.event["session_id"].as_str().unwrap_or_default()
    }
}

/// The spy's records; reads each file once.
pub struct Hooks {
    folder: PathBuf,
    known: HashSet<PathBuf>,
    all: Vec<Seen>,
}

impl Hooks {
    pub fn of(world: &World) -> Self {
        Self::in_folder(world.spied())
    }

    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder, known: HashSet::new(), all: Vec::new() }
    }

    /// Reads new records and returns all events in order.
    pub fn look(&mut self) -> &[Seen] {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            if path.extension().is_none_or(|ending| ending != "json") || self.known.contains(&path)
            {
                continue;
            }
            let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let nanos = name.split('-').next().and_then(|nanos| nanos.parse::<f64>().ok());
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if let (Some(nanos), Ok(event)) = (nanos, serde_json::from_str(&text)) {
                self.all.push(Seen { at: nanos / 1e9, event });
            }
            self.known.insert(path);
        }
        self.all.sort_by(|a, b| a.at.total_cmp(&b.at));
        &self.all
    }
}
