//! The system calls of a run, from `strace`.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::case::Case;

/// System calls of one run, including its start (`execve`) and end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_field_names, reason = "the figures' own names")]
pub struct Calls {
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
}

/// Counts one run.
pub fn count(case: &Case, folder: &Path) -> Calls {
    let list = folder.join("calls");
    let out = list.to_str().expect("utf-8");
    let mut command =
        case.under("strace", &["-f", "-qq", "-y", "-s", "0", "-e", "signal=none", "-o", out]);
    let status = command.status().expect("strace");
    assert!(status.success(), "{} failed under strace", case.title());
    let text = fs::read_to_string(&list).expect("list of calls");
    let calls = of(&text);
    assert!(calls.programs > 0, "strace told of no start: {}", text.lines().next().unwrap_or(""));
    calls
}

/// Parses a list written by `strace -f -y`.
fn of(list: &str) -> Calls {
    let mut calls = Calls::default();
    for line in list.lines() {
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        // A call interrupted by another process is counted where it ends.
        let line = match line.strip_prefix("<... ") {
            Some(rest) => rest.replacen(" resumed>", "(", 1),
            None if line.ends_with("<unfinished ...>") => continue,
            None => line.to_owned(),
        };
        let Some((name, rest)) = line.split_once('(') else { continue };
        calls.take(name, rest);
    }
    calls
}

impl Calls {
    fn take(&mut self, name: &str, rest: &str) {
        let returned = rest.rsplit_once("= ").map_or("", |(_, value)| value);
        let number: String =
            returned.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
        let number: i64 = number.parse().unwrap_or(-1);
        let done = number >= 0;
        let of_proc = rest.split(',').next().is_some_and(|fd| fd.contains("</proc/"));
        self.system_calls += 1;
        match name {
            "read" | "pread64" | "readv" | "preadv" | "preadv2" if !of_proc => {
                self.bytes_read += number.max(0).unsigned_abs();
            }
            "open" | "openat" | "openat2" => {
                self.files_opened += u64::from(done);
                self.changes +=
                    u64::from(done && (rest.contains("O_CREAT") || rest.contains("O_TRUNC")));
            }
            "execve" | "execveat" => self.programs += u64::from(done),
            "fork" | "vfork" => self.forks += u64::from(done),
            "clone" | "clone3" => self.forks += u64::from(done && !rest.contains("CLONE_THREAD")),
            "fsync" | "fdatasync" | "sync" | "syncfs" | "sync_file_range" | "msync" => {
                self.syncs += 1;
            }
            "flock" => self.locks += u64::from(!rest.contains("LOCK_UN")),
            "fcntl" => self.locks += u64::from(rest.contains("SETLK") && !rest.contains("F_UNLCK")),
            "write" | "writev" | "pwrite64" | "pwritev" | "pwritev2" => {
                let fd: String = rest.chars().take_while(char::is_ascii_digit).collect();
                self.changes += u64::from(fd.parse::<u32>().is_ok_and(|fd| fd > 2));
            }
            "unlink" | "unlinkat" => {
                self.changes += u64::from(done);
                self.removed += u64::from(done);
            }
            "rename" | "renameat" | "renameat2" | "mkdir" | "mkdirat" | "rmdir" | "link"
            | "linkat" | "symlink" | "symlinkat" | "truncate" | "ftruncate" | "fallocate"
            | "chmod" | "fchmod" | "fchmodat" | "chown" | "fchown" | "fchownat" | "utimensat"
            | "mknod" | "mknodat" | "sendfile" | "copy_file_range" => {
                self.changes += u64::from(done);
            }
            _ => {}
        }
    }
}

/// Proves that forbidden calls would be found.
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
        12 unlink(\"c\"...) = 0\n\
        12 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 14\n\
        12 exit_group(0) = ?\n";
    let expected = Calls {
        system_calls: 14,
        bytes_read: 40,
        files_opened: 2,
        programs: 1,
        forks: 1,
        syncs: 1,
        locks: 1,
        changes: 3,
        removed: 1,
    };
    assert_eq!(of(list), expected, "the counter of system calls is wrong");
}
