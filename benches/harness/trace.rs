//! The counts of one run: system calls and peak memory by `strace`, instructions by `valgrind`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::Case;

/// The counts of one run, from its start (`execve`) to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// Without those for memory ([`MEMORY`]), which is measured by itself.
    pub system_calls: u64,
    /// Bytes that reads returned, including the input. `/proc` is left out, because its length
    /// depends on the machine.
    pub bytes_read: u64,
    pub files_opened: u64,
    /// Started programs, including itself.
    pub programs: u64,
    pub forks: u64,
    /// Calls that wait for a disk.
    pub syncs: u64,
    pub locks: u64,
    /// Calls that change a file or a folder, except the answer on stdout.
    pub changes: u64,
    /// The removed files among these.
    pub removed: u64,
    /// The most resident memory.
    pub resident_kib: u64,
    /// The same without the pages of files that are mapped at its end. How many of a program's
    /// pages are resident depends on the kernel, and on where the build put the functions.
    pub own_kib: u64,
}

/// Calls that ask for memory, besides `mmap` of no file. How often the allocator needs one depends on
/// where the program's data ends, and so on the paths in it.
const MEMORY: [&str; 5] = ["brk", "munmap", "mremap", "madvise", "mprotect"];

/// Runs a case under strace, which holds it at its end so that the kernel's own mark of its peak
/// can be read. (`wait4` would include pages of the parent.)
pub fn trace(case: &Case) -> Trace {
    let list = tempfile::NamedTempFile::new().expect("list of calls");
    let out = list.path().to_str().expect("utf-8");
    let held = "inject=exit_group:delay_enter=25000";
    // Without randomization, because where the kernel maps memory decides how much is resident.
    let tool = ["setarch", "-R", "strace", "-f", "-qq", "-y", "-s", "0", "-e", "signal=none"];
    let tool = [&tool[..], &["-e", held, "-o", out]].concat();
    let mut strace = case.command(&tool).spawn().expect("strace");
    let children = format!("/proc/{0}/task/{0}/children", strace.id());
    let mut peak = None;
    let status = loop {
        let child = fs::read_to_string(&children).unwrap_or_default();
        // Before its `execve` the child shows strace's pages, so the last value counts.
        peak = child.split_whitespace().next().and_then(read_peak).or(peak);
        if let Some(status) = strace.try_wait().expect("strace") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    assert!(status.success(), "{} failed under strace", case.title());
    let trace = parse(&fs::read_to_string(list.path()).expect("list of calls"));
    assert!(trace.programs > 0, "strace saw no start of {}", case.title());
    let (resident_kib, own_kib) = peak.unwrap_or_else(|| panic!("no peak of {}", case.title()));
    Trace { resident_kib, own_kib, ..trace }
}

/// The peak of a process, and the part of it that is not from files.
fn read_peak(pid: &str) -> Option<(u64, u64)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kib = |name: &str| -> Option<u64> {
        let value = status.lines().find_map(|line| line.strip_prefix(name))?;
        value.trim().trim_end_matches("kB").trim().parse().ok()
    };
    let resident = kib("VmHWM:")?;
    Some((resident, resident.saturating_sub(kib("RssFile:")?)))
}

/// The program's instructions, without the kernel's.
pub fn instructions(case: &Case) -> u64 {
    let out = tempfile::NamedTempFile::new().expect("callgrind's file");
    let file = format!("--callgrind-out-file={}", out.path().display());
    let status = case.command(&["valgrind", "--tool=callgrind", "-q", &file]).status();
    assert!(status.expect("valgrind").success(), "{} failed under valgrind", case.title());
    let text = fs::read_to_string(out.path()).expect("callgrind's file");
    let total = text.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    total.and_then(|n| n.trim().parse().ok()).expect("callgrind's total")
}

/// Parses a list written by `strace -f -y`.
fn parse(list: &str) -> Trace {
    let mut trace = Trace::default();
    for line in list.lines() {
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        // A call interrupted by another process is counted where it ends.
        let line = match line.strip_prefix("<... ") {
            Some(rest) => rest.replacen(" resumed>", "(", 1),
            None if line.ends_with("<unfinished ...>") => continue,
            None => line.to_owned(),
        };
        if let Some((name, rest)) = line.split_once('(') {
            trace.take(name, rest);
        }
    }
    trace
}

impl Trace {
    fn take(&mut self, name: &str, rest: &str) {
        let returned = rest.rsplit_once("= ").map_or("", |(_, value)| value);
        let digits = returned.split(|c: char| !c.is_ascii_digit() && c != '-').next();
        let number: i64 = digits.and_then(|digits| digits.parse().ok()).unwrap_or(-1);
        let done = u64::from(number >= 0);
        let of_proc = rest.split(',').next().is_some_and(|fd| fd.contains("</proc/"));
        let has = |word: &str| u64::from(rest.contains(word));
        let is_memory = MEMORY.contains(&name) || name == "mmap" && has("MAP_ANONYMOUS") > 0;
        self.system_calls += u64::from(!is_memory);
        match name {
            "read" | "pread64" | "readv" | "preadv" | "preadv2" if !of_proc => {
                self.bytes_read += number.max(0).unsigned_abs();
            }
            "open" | "openat" | "openat2" => {
                self.files_opened += done;
                self.changes += done * (has("O_CREAT") | has("O_TRUNC"));
            }
            "execve" | "execveat" => self.programs += done,
            "fork" | "vfork" => self.forks += done,
            "clone" | "clone3" => self.forks += done * (1 - has("CLONE_THREAD")),
            "fsync" | "fdatasync" | "sync" | "syncfs" | "sync_file_range" | "msync" => {
                self.syncs += 1;
            }
            "flock" => self.locks += 1 - has("LOCK_UN"),
            "fcntl" => self.locks += has("SETLK") * (1 - has("F_UNLCK")),
            "write" | "writev" | "pwrite64" | "pwritev" | "pwritev2" => {
                let fd = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
                self.changes += u64::from(fd.parse::<u32>().is_ok_and(|fd| fd > 2));
            }
            "unlink" | "unlinkat" => {
                self.changes += done;
                self.removed += done;
            }
            "rename" | "renameat" | "renameat2" | "mkdir" | "mkdirat" | "rmdir" | "link"
            | "linkat" | "symlink" | "symlinkat" | "truncate" | "ftruncate" | "fallocate"
            | "chmod" | "fchmod" | "fchmodat" | "chown" | "fchown" | "fchownat" | "utimensat"
            | "mknod" | "mknodat" | "sendfile" | "copy_file_range" => self.changes += done,
            _ => {}
        }
    }
}

/// Proves that forbidden calls and memory would be found.
pub fn check() {
    let list = "12 execve(\"/b/x\", [\"x\"], 0x7 /* 3 vars */) = 0\n\
        12 openat(AT_FDCWD</tmp>, \"a\"..., O_RDONLY|O_CLOEXEC) = 3</tmp/a>\n\
        12 read(3</tmp/a>, \"\"..., 100) = 40\n\
        12 read(4</proc/1/stat>, \"\"..., 100) = 300\n\
        12 open(\"b\"..., O_RDONLY) = -1 ENOENT (No such file or directory)\n\
        12 open(\"c\"..., O_WRONLY|O_CREAT, 0600) = 5</tmp/c>\n\
        12 write(1<pipe:[1]>, \"\"..., 3) = 3\n\
        12 write(5</tmp/c>, \"\"..., 3) = 3\n\
        12 flock(5</tmp/c>, LOCK_EX <unfinished ...>\n\
        13 fsync(5</tmp/c>) = 0\n\
        12 <... flock resumed>) = 0\n\
        12 flock(5</tmp/c>, LOCK_UN) = 0\n\
        12 brk(0x7f) = 0x7f\n\
        12 unlink(\"c\"...) = 0\n\
        12 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 14\n\
        12 exit_group(0) = ?\n";
    let expected = Trace {
        system_calls: 14,
        bytes_read: 40,
        files_opened: 2,
        programs: 1,
        forks: 1,
        syncs: 1,
        locks: 1,
        changes: 3,
        removed: 1,
        ..Trace::default()
    };
    assert_eq!(parse(list), expected, "the counter of system calls is wrong");
    let peak = |block: &str| {
        let words = ["if=/dev/zero", "of=/dev/null", "count=1", block];
        let dd = Case::default().instead("dd", Path::new("/bin/dd"));
        trace(&Case { args: words.map(str::to_owned).to_vec(), ..dd }).own_kib
    };
    let grown = peak("bs=24M").saturating_sub(peak("bs=4k"));
    assert!(grown.abs_diff(24 * 1024) <= 256, "24 MiB of memory were measured as {grown} KiB");
}
