//! Runs a program under strace, to list its writing system calls and to kill it at one of them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::disk::{is_lock, is_temporary};
use crate::support::hook::{Answer, finish};

/// Every call that changes the disk or waits for it. `?`: missing on some machines.
const CALLS: &str = "write,?pwrite64,?writev,?pwritev,?pwritev2,?open,openat,?openat2,?creat,?rename,?renameat,\
    ?renameat2,?link,?linkat,?symlink,?symlinkat,?unlink,?unlinkat,?rmdir,?mkdir,?mkdirat,?mknod,?mknodat,\
    ?truncate,?ftruncate,?fallocate,?fsync,?fdatasync,?sync_file_range,?msync,?chmod,?fchmod,?fchmodat,\
    ?copy_file_range,?sendfile,?utimensat";

/// A place to kill a program: the n-th time it enters this call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub call: String,
    pub number: usize,
    /// Counts only calls on this path, because other opens depend on what else runs on the machine.
    pub path: Option<String>,
    /// The line of strace in the undisturbed run.
    pub line: String,
}

/// A program to run.
#[derive(Debug, Clone)]
pub struct Run {
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub folder: PathBuf,
    pub stdin: Vec<u8>,
}

impl Run {
    /// From a command that is ready to run.
    pub fn of(command: &Command, stdin: &[u8]) -> Self {
        let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
        Self {
            program: command.get_program().into(),
            args: command.get_args().map(text).collect(),
            env: command.get_envs().filter_map(|(k, v)| Some((text(k), text(v?)))).collect(),
            folder: command.get_current_dir().unwrap_or(Path::new("/")).to_owned(),
            stdin: stdin.to_owned(),
        }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let env = self.env.iter().map(|(k, v)| (k, v));
        command.env_clear().envs(env).current_dir(&self.folder);
        command
    }

    /// Runs it to its end.
    pub fn plainly(&self) -> Answer {
        let mut command = self.command(&self.program);
        command.args(&self.args);
        finish(command, &self.stdin)
    }

    fn traced(&self, strace: &Path, options: &[&str]) -> Answer {
        let mut command = self.command(strace);
        command.args(["-qq", "-y"]).args(options).arg("--").arg(&self.program).args(&self.args);
        finish(command, &self.stdin)
    }

    /// Runs it to its end; also returns the points below `root` where it can be killed, and the
    /// renames.
    pub fn watched(&self, strace: &Path, root: &Path, log: &Path) -> (Answer, Vec<Point>, Swaps) {
        let trace = format!("trace={CALLS}");
        let answer = self.traced(strace, &["-o", &log.to_string_lossy(), "-e", &trace]);
        let text = fs::read_to_string(log).expect("strace's log");
        let (points, swaps) = points(&text, &root.to_string_lossy());
        (answer, points, swaps)
    }

    /// Kills it at this point; `false` if it never got there.
    pub fn killed(&self, strace: &Path, at: &Point) -> bool {
        let inject = format!("inject={}:signal=KILL:when={}", at.call, at.number);
        let trace = format!("trace={}", at.call);
        let mut options = vec!["-o", "/dev/null", "-e", &trace, "-e", &inject];
        if let Some(path) = &at.path {
            options.extend(["-P", path]);
        }
        let answer = self.traced(strace, &options);
        // strace ends with the status of its program.
        answer.code.is_none()
    }
}

/// Paths that a rename replaced, with how often.
pub type Swaps = BTreeMap<PathBuf, usize>;

fn points(log: &str, root: &str) -> (Vec<Point>, Swaps) {
    let mut counts: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
    let (mut points, mut swaps) = (Vec::new(), Swaps::new());
    for line in log.lines() {
        let Some((call, rest)) = line.split_once('(') else { continue };
        let opens = call.starts_with("open") || call == "creat";
        let path = rest.split('"').nth(1).filter(|_| opens);
        let number = counts.entry((call, path)).or_default();
        *number += 1;
        let failed = rest.rsplit_once(") = ").is_some_and(|(_, result)| result.starts_with('-'));
        let writes = !opens || ["O_CREAT", "O_TRUNC"].iter().any(|flag| rest.contains(flag));
        // Creating a temporary file or a lock changes nothing, so a kill before equals a kill
        // after.
        let says_nothing = path.is_some_and(|path| is_temporary(Path::new(path)) || is_lock(path));
        if failed || !writes || says_nothing || !rest.contains(root) {
            continue;
        }
        if call.starts_with("rename")
            && let Some(target) = rest.rsplit('"').nth(1)
        {
            // A name relative to an open folder: `5</the/folder>, "name"`.
            let folder = rest.rsplit_once("</").and_then(|(_, rest)| rest.split_once(">, \""));
            let folder = folder.filter(|_| !target.starts_with('/')).map(|(folder, _)| folder);
            let target = folder.map_or(target.to_owned(), |folder| format!("/{folder}/{target}"));
            *swaps.entry(PathBuf::from(target)).or_default() += 1;
        }
        let path = path.map(str::to_owned);
        points.push(Point { call: call.to_owned(), number: *number, path, line: line.to_owned() });
    }
    (points, swaps)
}

/// For a program that treats many files alike: the first and last points of each call, because a
/// loop makes the rest.
pub fn ends(points: Vec<Point>) -> Vec<Point> {
    const ENDS: usize = 6;
    let mut totals: BTreeMap<String, usize> = BTreeMap::new();
    for point in &points {
        let total = totals.entry(point.call.clone()).or_default();
        *total = point.number.max(*total);
    }
    let ends = |point: &Point| point.number <= ENDS || point.number + ENDS > totals[&point.call];
    points.into_iter().filter(ends).collect()
}

/// The path of strace, or why it cannot kill here.
pub fn strace() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("strace")).find(|p| p.is_file());
    let strace = found.ok_or("there is no strace: install it (tests/prepare does)")?;
    let mut child = Command::new(&strace)
        .args([
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            "trace=write",
            "-e",
            "inject=write:signal=KILL:when=1",
        ])
        .args(["--", "/bin/sh", "-c", "echo alive"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{} does not start: {e}", strace.display()))?;
    drop(child.stdin.take().map(|mut pipe| pipe.write_all(b"")));
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if output.status.code().is_some() || !output.stdout.is_empty() {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("strace can't kill here (ptrace may be forbidden): {why}"));
    }
    Ok(strace)
}
