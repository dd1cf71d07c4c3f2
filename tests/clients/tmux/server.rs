//! A tmux server on its own socket. Programs in its panes record every byte they get.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use carrier::tmux::Pane;
use guard::boundary::Client;
use guard::files::state;
use guard::session::reach::TmuxPane;
use tempfile::TempDir;

/// Limit for any single wait.
pub const DEADLINE: Duration = Duration::from_secs(15);

/// A program that enables bracketed paste and records its input.
const RECORDER: &str = "stty raw -echo; printf '\\033[?2004hready'; exec cat >";

/// The server; dropping it ends it.
pub struct Server {
    folder: TempDir,
    /// The server's process, for signals.
    pid: u32,
}

impl Server {
    /// Starts with one pane that runs this shell script; `@` stands for the recorder.
    pub fn start(script: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("bg-tmux-").tempdir().expect("a folder");
        let mut server = Self { folder, pid: 0 };
        let script = server.filled(script, "%0");
        let out = server.run(&[
            "start-server",
            ";",
            "set",
            "-g",
            "remain-on-exit",
            "on",
            ";",
            "set",
            "-g",
            "status",
            "on",
            ";",
            "new-session",
            "-d",
            "-x",
            "100",
            "-y",
            "30",
            "sh",
            "-c",
            &script,
        ]);
        assert_eq!(out, "");
        server.pid = server.run(&["display-message", "-p", "#{pid}"]).trim().parse().expect("pid");
        server
    }

    /// Starts with a recorder in its pane and waits until it is ready.
    pub fn recording() -> Self {
        let server = Self::start("@");
        server.wait_screen("%0", "ready");
        server
    }

    fn filled(&self, script: &str, pane: &str) -> String {
        script.replace('@', &format!("{RECORDER} {}", self.record(pane).display()))
    }

    fn record(&self, pane: &str) -> PathBuf {
        self.folder.path().join(format!("got{pane}"))
    }

    pub fn socket(&self) -> String {
        self.folder.path().join("s").display().to_string()
    }

    /// Runs one tmux command and returns its output.
    pub fn run(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.args(["-u", "-f", "/dev/null", "-S", &self.socket()]).args(arguments);
        let output = command.env_remove("TMUX").output().expect("tmux is installed");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Opens a second pane with a recorder and returns its id.
    pub fn split(&self) -> String {
        let script = self.filled("@", "%1");
        let pane = self.run(&["split-window", "-d", "-P", "-F", "#{pane_id}", "sh", "-c", &script]);
        self.wait_screen(pane.trim(), "ready");
        pane.trim().to_owned()
    }

    /// Expands a tmux format for the first pane.
    pub fn tell(&self, format: &str) -> String {
        self.run(&["display-message", "-p", "-t", "%0", format]).trim_end().to_owned()
    }

    pub fn client(&self) -> Client {
        let pid = self.tell("#{pane_pid}").parse().expect("a pane has a process");
        state::client(pid).expect("it runs")
    }

    pub fn place(&self) -> TmuxPane {
        TmuxPane { socket: self.socket(), pane: "%0".to_owned() }
    }

    /// The first pane as the carrier opens it.
    pub fn pane(&self) -> Pane {
        Pane::open(self.place(), self.client()).expect("the pane is its program's own")
    }

    /// The bytes that a pane got so far.
    pub fn got(&self, pane: &str) -> Vec<u8> {
        fs::read(self.record(pane)).unwrap_or_default()
    }

    /// Waits until the first pane got `count` bytes, and returns them.
    pub fn wait_got(&self, count: usize) -> Vec<u8> {
        wait("the bytes", || Some(self.got("%0")).filter(|got| got.len() >= count))
    }

    pub fn wait_screen(&self, pane: &str, text: &str) {
        wait(text, || self.run(&["capture-pane", "-p", "-t", pane]).contains(text).then_some(()));
    }

    pub fn signal(&self, name: &str) {
        signal(self.pid, name);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal("CONT");
        self.run(&["kill-server"]);
    }
}

pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &pid.to_string()]).output();
    assert!(sent.is_ok());
}

/// Calls `probe` until it returns a value.
pub fn wait<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(Instant::now() < end, "no {what} within {DEADLINE:?}");
        thread::sleep(Duration::from_millis(10));
    }
}
