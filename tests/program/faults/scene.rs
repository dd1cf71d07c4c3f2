//! What cases do to a session: damage its files, continue in another one, follow its boundary.

use std::fs;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use serde_json::{Value, json};

use crate::faults::case;
use crate::faults::tally::Tally;
use crate::support::hook::{Answer, Hook, PROGRAM, percent_in};

/// The note that sessions here write into their file.
pub const NOTE: &str = "the parser fails on CRLF";

/// A session id in the client's format.
pub fn id(number: u32) -> String {
    format!("5e550000-0000-4000-8000-{number:012}")
}

/// Asserts that the moves out of every block are let through.
pub fn way_out(t: &mut Tally, hook: &Hook) {
    let file = hook.file();
    for tool in ["Read", "Edit", "Write"] {
        t.allow(hook, &hook.call(tool, &json!({"file_path": file})));
    }
    for command in [
        "brain-guard append --kind next 'one thing'",
        "brain-guard append --kind why <<'EOF'\nit `was` $(so)\nEOF",
        "brain-guard seal",
        "brain-guard status",
    ] {
        let answer = t.allow(hook, &case::bash(hook, command));
        t.check(answer.stdout.contains("updatedInput"), format!("{command} is not let through"));
    }
    for tool in ["TodoWrite", "ToolSearch", "ExitPlanMode"] {
        t.silence(hook, &hook.call(tool, &json!({})));
    }
}

/// A session at 31 % that was refused a call, then wrote and sealed [`NOTE`].
pub fn sealed(t: &mut Tally) -> (Hook, String) {
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    hook.agent(&format!("brain-guard append --kind next '{NOTE}'"));
    hook.agent("brain-guard seal");
    let token = hook.state()["token"].as_str().unwrap_or_default().to_owned();
    t.check(!token.is_empty(), "the seal opened no boundary");
    (hook, token)
}

/// The session of the same client after a clear, before its first event.
pub fn after_clear(hook: &Hook, number: u32) -> Hook {
    hook.beside(&id(number), std::process::id())
}

/// Whether an answer brings the previous session's note.
pub fn carries(answer: &Answer) -> bool {
    answer.stdout.contains(NOTE)
}

/// Another running client, ended on drop.
pub struct Client(Child);

impl Client {
    pub fn new() -> Self {
        let child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn();
        Self(child.expect("started"))
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Changes a JSON file.
pub fn change(path: &Path, change: impl FnOnce(&mut Value)) {
    let bytes = fs::read(path).expect("JSON there");
    let mut value = serde_json::from_slice(&bytes).expect("JSON");
    change(&mut value);
    fs::write(path, value.to_string()).expect("written");
}

pub fn state(hook: &Hook) -> std::path::PathBuf {
    hook.places().session(&hook.session, "json")
}

/// Removes whatever is at a path.
pub fn clear_away(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path).expect("removed"),
        Ok(_) => fs::remove_file(path).expect("removed"),
        Err(_) => fs::create_dir_all(path.parent().expect("parent")).expect("folder"),
    }
}

/// Something in place of one of our files.
#[derive(Debug, Clone, Copy)]
pub enum Instead {
    Nothing,
    Folder,
    /// A pipe without another end.
    Pipe,
    /// A link to an endless source.
    Endless,
    Loop,
    Dangling,
    /// 100 MB, all of it a hole.
    Huge,
    Empty,
    Nulls,
    Latin,
}

pub const INSTEAD: [Instead; 10] = [
    Instead::Nothing,
    Instead::Folder,
    Instead::Pipe,
    Instead::Endless,
    Instead::Loop,
    Instead::Dangling,
    Instead::Huge,
    Instead::Empty,
    Instead::Nulls,
    Instead::Latin,
];

impl Instead {
    /// Whether it works as our file or can become one: nothing, or a regular file of readable size.
    /// Otherwise no note can be written, so nothing may be blocked.
    pub fn is_usable(self) -> bool {
        matches!(self, Self::Nothing | Self::Empty | Self::Nulls | Self::Latin)
    }
}

/// Puts it in a file's place; the returned handle keeps it alive. Never a real device: a guard that
/// writes through a link would damage the machine.
pub fn put(path: &Path, what: Instead) -> Option<OwnedFd> {
    clear_away(path);
    let link = |to: &Path| std::os::unix::fs::symlink(to, path).expect("link");
    match what {
        Instead::Nothing => {}
        Instead::Folder => fs::create_dir(path).expect("folder"),
        Instead::Pipe => pipe(path),
        Instead::Endless => {
            let target = path.with_extension("endless");
            clear_away(&target);
            link(&target);
            return Some(held_pipe(&target, &vec![b'x'; 60_000]));
        }
        Instead::Loop => link(path),
        Instead::Dangling => link(&path.with_extension("nowhere")),
        Instead::Huge => huge(path, b"", 100 << 20),
        Instead::Empty => fs::write(path, "").expect("written"),
        Instead::Nulls => fs::write(path, [0; 3000]).expect("written"),
        Instead::Latin => {
            fs::write(path, b"{\"caf\xe9\": \"\xff\xfe\"}\n- caf\xe9\n").expect("written");
        }
    }
    None
}

/// A pipe with these bytes that stays open as long as the returned handle lives.
pub fn held_pipe(path: &Path, bytes: &[u8]) -> OwnedFd {
    pipe(path);
    // Other tests start programs at the same time.
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let held = rustix::fs::open(path, flags, Mode::empty()).expect("held open");
    let written = rustix::io::write(&held, bytes).expect("written");
    assert_eq!(written, bytes.len());
    held
}

/// The hook started by a shell script that changes its process first; `$PROGRAM` is its path.
pub fn through_sh(hook: &Hook, script: &str) -> Command {
    through(hook, &["/bin/sh", "-c", script])
}

/// As [`through_sh`], as root of a user namespace with its own mounts.
pub fn with_mounts(hook: &Hook, script: &str) -> Command {
    through(hook, &["unshare", "-rm", "/bin/sh", "-c", script])
}

fn through(hook: &Hook, words: &[&str]) -> Command {
    let plain = hook.command(&[]);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).env_clear().current_dir(&hook.project);
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PROGRAM", PROGRAM);
    command
}

/// Whether such a namespace, with these mounts, is possible here.
pub fn possible(mut command: Command) -> bool {
    let ended = command.stdin(Stdio::null()).stderr(Stdio::null()).status();
    ended.is_ok_and(|status| status.success())
}

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("pipe");
}

/// A sparse file with this start and length.
pub fn huge(path: &Path, start: &[u8], bytes: u64) {
    clear_away(path);
    let mut file = fs::File::create(path).expect("created");
    file.write_all(start).and_then(|()| file.set_len(bytes)).expect("written");
}

/// Waits until a condition holds; `false` after ten seconds.
pub fn in_time(mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}
