//! Everything one test may touch: HOME, project, plugin folders, client environment, mock.
//!
//! A world is a temporary folder that is removed after the test. When the test fails, the folder,
//! the requests and the last screen are kept in `target/tmp/e2e/<test>`.

mod build;
mod plugin;
mod surroundings;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

pub use build::Builder;
pub use plugin::Spy;

use crate::support::client::{Run, Terminal, Tmux, Tui, Xterm};
use crate::support::desktop::Desktop;
use crate::support::evidence::{Evidence, short};
use crate::support::mock::Mock;
use crate::support::process::{self, DEADLINE, Found, Output};

/// A key in the right format that is not valid.
const KEY: &str = "sk-ant-api03-offline-0123456789abcdefghij";

pub struct World {
    name: String,
    binary: PathBuf,
    guard_binary: PathBuf,
    env: BTreeMap<String, String>,
    plugins: Vec<PathBuf>,
    in_tmux: bool,
    terminals: AtomicU32,
    pub mock: Mock,
    pub evidence: Evidence,
    root: PathBuf,
    /// Dropped last: everything above may still write into it.
    _temp: TempDir,
}

impl World {
    /// Starts with brain-guard loaded by `--plugin-dir` and an agent that says "done".
    pub fn build() -> Builder {
        Builder::new()
    }

    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// The project folder, a git repository.
    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// The client's `XDG_STATE_HOME`.
    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// The folder of a plugin: `brain-guard` or `spy`.
    pub fn plugin(&self, name: &str) -> PathBuf {
        self.root.join("plugins").join(name)
    }

    /// Prepares the client's binary with the world's environment, in the project folder.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.env_clear().envs(&self.env).current_dir(self.project());
        command
    }

    /// The client's command line with its plugins, for a terminal.
    pub(crate) fn program(&self, arguments: &[&str]) -> Vec<String> {
        let own = arguments.iter().map(|argument| (*argument).to_owned());
        let binary = [self.binary.display().to_string()].into_iter();
        binary.chain(self.plugin_arguments()).chain(own).collect()
    }

    /// Runs a program in the first pane of a new tmux server.
    pub(crate) fn tmux(&self, program: &[String]) -> Tmux {
        let socket = self.root.join(format!("tmux{}.sock", self.next()));
        Tmux::start(socket, &self.env, &self.project(), program)
    }

    /// Starts a desktop whose programs have the client's environment.
    pub(crate) fn desktop(&self) -> Desktop {
        Desktop::start(&self.env)
    }

    /// Runs a program in an xterm whose corner is at `place`: `+0+0`.
    pub(crate) fn xterm(&self, desktop: &Desktop, place: &str, program: &[String]) -> Xterm {
        let log = self.root.join(format!("xterm{}.log", self.next()));
        Xterm::start(desktop, &log, place, &self.project(), program)
    }

    fn next(&self) -> u32 {
        self.terminals.fetch_add(1, Ordering::SeqCst)
    }

    /// The arguments that load the plugins.
    pub fn plugin_arguments(&self) -> Vec<String> {
        let pair = |folder: &PathBuf| ["--plugin-dir".to_owned(), folder.display().to_string()];
        self.plugins.iter().flat_map(pair).collect()
    }

    /// Starts the client in a terminal and waits until its prompt box is there.
    #[track_caller]
    pub fn tui(&self, arguments: &[&str]) -> Tui {
        // Without these variables, the client takes the pane for a plain terminal.
        let plain: &[&str] =
            if self.in_tmux { &[] } else { &["env", "-u", "TMUX", "-u", "TMUX_PANE"] };
        let plain = plain.iter().map(|&word| word.to_owned());
        let program: Vec<String> = plain.chain(self.program(arguments)).collect();
        self.tui_in(Terminal::Tmux(self.tmux(&program)))
    }

    /// Waits until the client in this terminal shows its prompt box.
    #[track_caller]
    pub fn tui_in(&self, terminal: Terminal) -> Tui {
        Tui::in_terminal(self, terminal)
    }

    /// Starts `claude -p` with one prompt and closed stdin.
    #[track_caller]
    pub fn print(&self, arguments: &[&str], prompt: &str) -> Run {
        Run::print(self, arguments, prompt)
    }

    /// Starts `claude -p` with stream-json in and out and open stdin.
    #[track_caller]
    pub fn stream(&self, arguments: &[&str]) -> Run {
        Run::stream(self, arguments)
    }

    /// Runs the binary under test as a user does, from a terminal in the project folder.
    pub fn guard(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(&self.guard_binary);
        command.args(arguments).env_clear().envs(&self.env).current_dir(self.project());
        process::run(&mut command, DEADLINE)
            .unwrap_or_else(|error| self.evidence.fail(&error.to_string()))
    }

    /// The session files, the most recently written first.
    pub fn transcripts(&self) -> Vec<PathBuf> {
        let projects = self.home().join(".claude/projects");
        let files = children(&projects).into_iter().flat_map(|folder| children(&folder));
        let mut found: Vec<_> = files
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
            .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
            .collect();
        found.sort_by(|a, b| b.cmp(a));
        found.into_iter().map(|(_, path)| path).collect()
    }

    /// The folders with brain-guard's state of the projects.
    pub fn parts(&self) -> Vec<PathBuf> {
        parts(&self.state())
    }

    /// The spy's folder: one file per event, named by its time in nanoseconds.
    pub fn spied(&self) -> PathBuf {
        self.root.join("spy")
    }

    /// The spy's records so far, oldest first.
    pub fn hooks(&self) -> Vec<Value> {
        read_hooks(&self.spied())
    }

    /// Waits for a hook event of this name that `wanted` accepts.
    #[track_caller]
    pub fn wait_hook(&self, event: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let like = |hook: &Value| hook["hook_event_name"] == event && wanted(hook);
        self.wait(&format!("such {event} hook"), || self.hooks().into_iter().find(like))
    }

    /// Waits for a change outside this process: a file, a state, a process.
    #[track_caller]
    pub fn wait<T>(&self, what: &str, probe: impl FnMut() -> Option<T>) -> T {
        let found = process::poll(DEADLINE, Duration::from_millis(20), probe);
        found.unwrap_or_else(|| self.evidence.fail(&format!("no {what} within {DEADLINE:?}")))
    }

    /// Copies everything that the client, its hooks and the agent write into a folder.
    pub fn save(&self, folder: &Path) {
        copy_all(&[self.home(), self.state(), self.project()], folder);
    }

    /// Puts back what was saved.
    pub fn put_back(&self, saved: &Path) {
        // The folders stay: a project that is made anew is another one.
        for path in [self.home(), self.state(), self.project()].iter().flat_map(|f| children(f)) {
            let is_folder = path.is_dir() && !path.is_symlink();
            let gone = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            gone.expect("no process writes there");
        }
        copy_all(&children(saved), &self.root);
    }

    /// The live processes of this world: the client and everything it left behind.
    pub fn processes(&self) -> Vec<Found> {
        process::with_home(&self.home())
    }

    fn watch(&self) {
        let spy = self.spied();
        self.evidence.add("hook events", move || {
            let line = |hook: &Value| {
                let field = |name: &str| hook[name].as_str().unwrap_or_default().to_owned();
                let about = ["tool_name", "source", "reason", "prompt"].map(field).concat();
                format!("{} {}", field("hook_event_name"), short(&about, 80))
            };
            read_hooks(&spy).iter().map(line).collect::<Vec<_>>().join("\n")
        });
    }

    /// Saves the files of a failed test and prints where. Must not panic: it runs while a test
    /// unwinds, and a second panic would end all tests.
    pub fn keep(&self, name: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("e2e").join(name);
        // Files of an earlier failure.
        let _ = fs::remove_dir_all(&folder);
        let kept = fs::create_dir_all(&folder)
            .and_then(|()| fs::write(folder.join("requests.jsonl"), self.mock.dump()))
            .and_then(|()| fs::write(folder.join("report.txt"), self.evidence.report()))
            .and_then(|()| plugin::copy_tree(&self.root, &folder));
        let said = match kept {
            Ok(()) => "is kept",
            Err(error) => &format!("could not be kept whole ({error})"),
        };
        #[expect(clippy::print_stderr, reason = "the test's output is where one looks for it")]
        {
            eprintln!("the world of {name} {said} in {}", folder.display());
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        process::kill_with_home(&self.home());
        if thread::panicking() {
            self.keep(&self.name);
        }
    }
}

/// Changes brain-guard's user settings, which the hooks read at each call.
pub fn set_guard(home: &Path, settings: &Value) {
    let path = home.join(".claude/brain-guard/settings.json");
    // Replaces the file atomically: a hook may read it at any time.
    let part = path.with_extension("part");
    plugin::write(&part, &crate::support::hook::split(settings.clone()).0.to_string());
    fs::rename(&part, &path).expect("the world is writable");
}

/// Copies folders into another one, with their times and links.
fn copy_all(folders: &[PathBuf], to: &Path) {
    let output = process::run(Command::new("cp").arg("-a").args(folders).arg(to), DEADLINE);
    let output = output.expect("cp runs");
    assert!(output.status.success(), "{}", output.stderr);
}

/// The folders in brain-guard's state with one project each.
pub fn parts(state: &Path) -> Vec<PathBuf> {
    children(&state.join("brain-guard/projects"))
}

/// The folders of all jobs in brain-guard's state.
pub fn jobs(state: &Path) -> Vec<PathBuf> {
    parts(state).iter().flat_map(|part| children(&part.join("jobs"))).collect()
}

fn children(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn read_hooks(spy: &Path) -> Vec<Value> {
    let mut files = children(spy);
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
        .iter()
        .filter_map(|path| serde_json::from_str(&fs::read_to_string(path).ok()?).ok())
        .collect()
}
