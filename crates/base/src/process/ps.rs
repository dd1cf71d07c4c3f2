//! Looks at processes where there is no `/proc`, as on macOS: asks `ps` and `lsof`, which belong to
//! the system. `ps` gives arguments without their borders, so words stand for arguments.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use chrono::NaiveDateTime;

use super::output;

const PS: &str = "/bin/ps";
const LSOF: &str = "/usr/sbin/lsof";

/// How long they may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// What a program prints; nothing if it cannot run.
fn ask(program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("LC_ALL").env("LC_TIME", "C").env("TZ", "UTC");
    // In the C locale, both would escape what is not ASCII.
    command.env("LC_CTYPE", "en_US.UTF-8");
    // Their exit status tells nothing: `lsof` fails if it could not see every file.
    let said = output(&mut command, DEADLINE).map(|said| said.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).trim().to_owned()
}

/// These columns of a process, without headings.
fn columns<const N: usize>(pid: u32, columns: [&str; N]) -> Option<String> {
    let pid = pid.to_string();
    let mut arguments = vec!["-ww", "-p", &pid];
    // BSD's `ps` takes what follows a `=` for the column's heading, commas too.
    arguments.extend(columns.iter().flat_map(|column| ["-o", column]));
    Some(ask(PS, &arguments)).filter(|said| !said.is_empty())
}

/// When a process started, in seconds since 1970; `None` if it is gone. Process ids are reused, so
/// an id alone does not identify a process.
pub fn start_time(pid: u32) -> Option<u64> {
    let said = columns(pid, ["state=", "lstart="])?;
    let (state, start) = said.split_once(' ')?;
    let start = NaiveDateTime::parse_from_str(start.trim(), "%a %b %e %H:%M:%S %Y").ok()?;
    // A zombie counts as gone: nobody reads its terminal.
    (!state.starts_with('Z')).then(|| start.and_utc().timestamp() as u64)
}

/// The parent process id.
pub fn parent(pid: u32) -> Option<u32> {
    columns(pid, ["ppid="])?.parse().ok().filter(|parent| *parent > 0)
}

/// Whether a process is in the foreground of its terminal. A stopped one is not, and neither is one
/// that started an editor.
pub fn is_in_foreground(pid: u32) -> bool {
    let groups = columns(pid, ["pgid=", "tpgid="]).unwrap_or_default();
    let mut groups = groups.split_whitespace();
    groups.next().is_some_and(|own| groups.next() == Some(own))
}

/// The processes that a process started and that still run.
pub fn children(pid: u32) -> Vec<u32> {
    let all = ask(PS, &["-A", "-o", "ppid=", "-o", "pid="]);
    let pairs = all.lines().filter_map(|line| line.trim().split_once(' '));
    let own = pairs.filter(|(parent, _)| parent.parse() == Ok(pid));
    own.filter_map(|(_, child)| child.trim().parse().ok()).collect()
}

/// All processes, with their arguments.
pub fn command_lines() -> impl Iterator<Item = (u32, Vec<String>)> {
    let all = ask(PS, &["-A", "-ww", "-o", "pid=", "-o", "args="]);
    let parse = |line: &str| {
        let (pid, arguments) = line.trim().split_once(' ')?;
        Some((pid.parse().ok()?, words(arguments)))
    };
    all.lines().filter_map(parse).collect::<Vec<_>>().into_iter()
}

/// The words a process was started with; empty if they are not readable.
pub fn arguments(pid: u32) -> Vec<String> {
    words(&columns(pid, ["args="]).unwrap_or_default())
}

fn words(arguments: &str) -> Vec<String> {
    arguments.split_whitespace().map(str::to_owned).collect()
}

/// Not readable here, so it is empty.
pub fn environment(_: u32) -> Vec<(String, String)> {
    Vec::new()
}

/// The working directory of a process.
pub fn folder(pid: u32) -> Option<PathBuf> {
    let said = ask(LSOF, &["-a", "-w", "-d", "cwd", "-F", "n", "-p", &pid.to_string()]);
    said.lines().find_map(|line| line.strip_prefix('n')).map(PathBuf::from)
}

/// The terminal that a process belongs to. Its input is not readable here, and is the terminal too
/// unless it was redirected.
pub fn input(pid: u32) -> io::Result<PathBuf> {
    let terminal = columns(pid, ["tty="]).filter(|name| !name.starts_with(['?', '-']));
    terminal.map(|name| Path::new("/dev").join(name)).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Not visible here, so it counts as closed.
pub fn input_is_open(_: u32) -> bool {
    false
}

/// A file that a process has open.
#[derive(Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// The process.
    pub pid: u32,
    /// The file's path.
    pub path: PathBuf,
    device: u64,
    inode: u64,
    writes: bool,
}

impl OpenFile {
    /// Whether it is the file with this metadata.
    pub fn is(&self, meta: &Metadata) -> bool {
        (self.device, self.inode) == (meta.dev(), meta.ino())
    }

    /// Whether it is open for writing.
    pub fn writes(&self) -> bool {
        self.writes
    }
}

/// The files that all other processes have open.
pub fn open_files() -> impl Iterator<Item = OpenFile> {
    let files = parse_files(&ask(LSOF, &["-n", "-P", "-w", "-F", "pfaDin"]));
    files.into_iter().filter(|file| file.pid != std::process::id())
}

/// Parses the fields of `lsof`, one a line: those of a process, then those of each of its files.
fn parse_files(said: &str) -> Vec<OpenFile> {
    let mut files = Vec::new();
    let (mut pid, mut device, mut inode, mut writes) = (0, 0, 0, false);
    for (field, value) in said.lines().filter_map(|line| line.split_at_checked(1)) {
        match field {
            "p" => pid = value.parse().unwrap_or(0),
            "f" => (device, inode, writes) = (0, 0, false),
            "a" => writes = matches!(value, "w" | "u"),
            "D" => {
                let digits = value.trim_start_matches("0x");
                device = u64::from_str_radix(digits, 16).unwrap_or(0);
            }
            "i" => inode = value.parse().unwrap_or(0),
            "n" => files.push(OpenFile { pid, path: value.into(), device, inode, writes }),
            _ => {}
        }
    }
    files
}

/// Names the processes that can be seen from here. In the client's sandbox `ps` may not run.
pub fn namespace() -> Option<String> {
    let seen = start_time(std::process::id()).is_some();
    Some(if seen { "all" } else { "none" }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways to look at a process agree.
    #[cfg(target_os = "linux")]
    #[test]
    fn ps_shows_what_proc_shows() {
        use super::super::proc;
        use std::process::Stdio;
        let mut child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
        let (me, pid) = (std::process::id(), child.id());
        assert_eq!(parent(pid), Some(me));
        assert_eq!(parent(me), proc::parent(me));
        assert_eq!(is_in_foreground(me), proc::is_in_foreground(me));
        assert!(children(me).contains(&pid) && proc::children(me).contains(&pid));
        assert!(start_time(pid).is_some_and(|start| Some(start) >= start_time(me)));
        assert!(command_lines().any(|(other, _)| other == pid));
        assert_eq!(arguments(me).first(), proc::arguments(me).first());
        child.kill().unwrap();
        // A zombie until somebody waits for it.
        while start_time(pid).is_some() {
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait().unwrap();
        assert!(start_time(pid).is_none() && parent(pid).is_none() && input(pid).is_err());
        assert_eq!(namespace().as_deref(), Some("all"));
    }

    #[test]
    fn open_files_are_parsed() {
        let said =
            "p7\nfcwd\na \nD0x1000004\ni2\nn/a b\nf3\nau\nD0x1000004\ni5\nn/ä\np8\nf1\nar\nn->x";
        let file = |pid, path: &str, device, inode, writes| OpenFile {
            pid,
            path: path.into(),
            device,
            inode,
            writes,
        };
        let device = 0x0100_0004;
        let expected = [
            file(7, "/a b", device, 2, false),
            file(7, "/ä", device, 5, true),
            file(8, "->x", 0, 0, false),
        ];
        assert_eq!(parse_files(said), expected);
    }
}
