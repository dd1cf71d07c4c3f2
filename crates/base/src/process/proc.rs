//! Looks at processes in `/proc`. Other users' processes show little. Those outside of the process
//! id namespace do not show at all.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::str::SplitWhitespace;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// `O_WRONLY` and `O_RDWR` among the flags in `fdinfo`.
const WRITES: u32 = 0o3;

/// When a process started, in clock ticks since boot; `None` if it is gone. Process ids are reused,
/// so an id alone does not identify a process.
pub fn start_time(pid: u32) -> Option<u64> {
    stat(pid, |mut fields| {
        // A zombie counts as gone: nobody reads its terminal.
        fields.next().filter(|state| !matches!(*state, "Z" | "X"))?;
        fields.nth(18)?.parse().ok()
    })
}

/// The parent process id.
pub fn parent(pid: u32) -> Option<u32> {
    stat(pid, |mut fields| fields.nth(1)?.parse().ok()).filter(|parent| *parent > 0)
}

/// Whether a process is in the foreground of its terminal. A stopped one is not, and neither is one
/// that started an editor.
pub fn is_in_foreground(pid: u32) -> bool {
    // The process group, then the terminal's.
    stat(pid, |mut fields| Some(fields.nth(2)? == fields.nth(2)?)).unwrap_or(false)
}

/// Parses the fields of `/proc/<pid>/stat` from the state on.
fn stat<T>(pid: u32, parse: impl FnOnce(SplitWhitespace<'_>) -> Option<T>) -> Option<T> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything, so the fields are counted after it.
    parse(text.rsplit_once(')')?.1.split_whitespace())
}

/// The processes that a process started and that still run.
pub fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|t| fs::read_to_string(t.path().join("children")).ok());
    let parse = |list: String| -> Vec<u32> {
        list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
    };
    lists.flat_map(parse).collect()
}

/// All processes, with their arguments.
pub fn command_lines() -> impl Iterator<Item = (u32, Vec<String>)> {
    pids().map(|pid| (pid, arguments(pid)))
}

fn pids() -> impl Iterator<Item = u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The arguments a process was started with; empty if they are not readable.
pub fn arguments(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0);
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// The environment a process was started with; empty if it is not readable.
pub fn environment(pid: u32) -> Vec<(String, String)> {
    let bytes = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let variables = bytes.split(|byte| *byte == 0).filter_map(|set| str::from_utf8(set).ok());
    let pairs = variables.filter_map(|set| set.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The working directory of a process.
pub fn folder(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// The file or terminal that a process reads its input from.
pub fn input(pid: u32) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/{pid}/fd/0"))
}

/// Whether somebody can still write to a process's input.
pub fn input_is_open(pid: u32) -> bool {
    // Opening the pipe again gives an own handle. Nothing is read from it.
    let Ok(input) = File::open(format!("/proc/{pid}/fd/0")) else { return false };
    let mut fds = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok() && !fds[0].revents().contains(PollFlags::HUP)
}

/// A file that a process has open.
#[derive(Debug)]
pub struct OpenFile {
    /// The process.
    pub pid: u32,
    /// The file's path. If its name is gone, the path ends with ` (deleted)`.
    pub path: PathBuf,
    number: String,
}

impl OpenFile {
    /// Whether it is the file with this metadata. This might hang on what is not a local file, so
    /// compare the path first.
    pub fn is(&self, meta: &Metadata) -> bool {
        let there = fs::metadata(format!("/proc/{}/fd/{}", self.pid, self.number));
        there.is_ok_and(|there| (there.dev(), there.ino()) == (meta.dev(), meta.ino()))
    }

    /// Whether it is open for writing.
    pub fn writes(&self) -> bool {
        let flags = self.info("flags:").and_then(|flags| u32::from_str_radix(&flags, 8).ok());
        flags.is_some_and(|flags| flags & WRITES != 0)
    }

    /// A value of the kernel's notes on it.
    pub fn info(&self, name: &str) -> Option<String> {
        let path = format!("/proc/{}/fdinfo/{}", self.pid, self.number);
        let info = fs::read_to_string(path).ok()?;
        Some(info.lines().find_map(|line| line.strip_prefix(name))?.trim().to_owned())
    }
}

/// The files that a process has open.
pub fn open_files_of(pid: u32) -> impl Iterator<Item = OpenFile> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter_map(move |entry| {
        let number = entry.file_name().into_string().ok()?;
        Some(OpenFile { pid, path: fs::read_link(entry.path()).ok()?, number })
    })
}

/// The files that all other processes have open.
pub fn open_files() -> impl Iterator<Item = OpenFile> {
    pids().filter(|pid| *pid != std::process::id()).flat_map(open_files_of)
}

/// Names the processes that can be seen from here: the process id namespace. The client's sandbox
/// has its own.
pub fn namespace() -> Option<String> {
    Some(fs::read_link("/proc/self/ns/pid").ok()?.to_str()?.to_owned())
}
