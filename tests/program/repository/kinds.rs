//! Other kinds in a file's place: pipes, sockets, devices, folders, hard links to outside files,
//! other users' files, unreadable or unwritable files.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::UnixListener;
use std::process::Command;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use crate::repository::attack::Attack;
use crate::repository::world::World;

/// A user id that does not exist here.
const OTHER: u32 = 12_345;

/// A pipe in place of one of a found job's files.
macro_rules! job_pipe {
    ($file:literal) => {
        Attack::laid(concat!("kind: a pipe as ", $file), |w| {
            w.found_job().pipe(concat!("{job}/", $file));
        })
    };
}

macro_rules! pipe {
    ($path:literal) => {
        Attack::laid(concat!("kind: a pipe as ", $path), |w| {
            w.pipe($path);
        })
    };
}

/// A hard link to the shell's profile in a file's place.
macro_rules! hard_link {
    ($path:literal) => {
        Attack::laid(concat!("kind: a hard link of the profile as ", $path), |w| {
            w.found_job().hard_link($path, "{home}/.bashrc");
        })
    };
}

pub fn all() -> Vec<Attack> {
    [pipes(), seconds(), others(), owners()].into_iter().flatten().collect()
}

fn pipes() -> Vec<Attack> {
    vec![
        job_pipe!("compaction.md"),
        job_pipe!("job.json"),
        job_pipe!("prompts.jsonl"),
        job_pipe!("sealed/v0001.md"),
        job_pipe!("sealed"),
        job_pipe!(".lock"),
        job_pipe!("phases"),
        pipe!(".brain-guard/settings.json"),
        pipe!(".brain-guard/.gitignore"),
        pipe!(".brain-guard/requests/{session}.jsonl"),
        pipe!(".brain-guard/requests").lifts(),
        pipe!(".brain-guard/jobs").lifts(),
        pipe!(".brain-guard").lifts(),
        Attack::laid("kind: a pipe as the file of today's job", |w| {
            w.todays_job().found_job().pipe("{job}/compaction.md");
        }),
        pipe!(".claude/settings.json"),
        pipe!(".claude/settings.local.json"),
    ]
}

fn seconds() -> Vec<Attack> {
    vec![
        hard_link!("{job}/compaction.md"),
        hard_link!("{job}/prompts.jsonl"),
        hard_link!("{job}/job.json"),
        hard_link!("{job}/sealed/v0001.md"),
        hard_link!("{job}/.lock"),
        hard_link!(".brain-guard/requests/{session}.jsonl"),
        hard_link!(".brain-guard/.gitignore"),
        hard_link!(".brain-guard/settings.json"),
        Attack::laid("kind: a hard link of the profile as the prompts of today's job", |w| {
            w.todays_job().found_job().hard_link("{job}/prompts.jsonl", "{home}/.bashrc");
        }),
    ]
}

fn others() -> Vec<Attack> {
    vec![
        Attack::laid("kind: a socket as the file", |w| {
            w.found_job();
            // A socket's address must be short.
            let path = w.free("s");
            let _socket = UnixListener::bind(&path).expect("socket");
            fs::rename(path, w.free("{job}/compaction.md")).expect("moved");
        }),
        Attack::laid("kind: a device as the file", |w| {
            w.found_job();
            device(w, "{job}/compaction.md", 5);
        })
        .for_root(),
        Attack::laid("kind: a device as the prompts", |w| {
            w.found_job();
            device(w, "{job}/prompts.jsonl", 7);
        })
        .for_root(),
        Attack::laid("kind: a device as the settings", |w| {
            device(w, ".brain-guard/settings.json", 5);
        })
        .for_root(),
        Attack::laid("kind: folders as all files of a job", |w| {
            w.found_job();
            for file in ["compaction.md", "job.json", "prompts.jsonl", "sealed/v0001.md"] {
                fs::create_dir(w.free(&format!("{{job}}/{file}"))).expect("folder");
            }
        }),
        Attack::laid("kind: a file as the sealed versions", |w| {
            w.found_job().file("{job}/sealed", "no folder\n");
        }),
        Attack::laid("kind: a file as a job", |w| {
            w.file("{job}", "no folder\n");
        }),
        Attack::laid("kind: a file as the jobs", |w| {
            w.file(".brain-guard/jobs", "no folder\n");
        })
        .lifts(),
        Attack::laid("kind: a file as .brain-guard", |w| {
            w.file(".brain-guard", "no folder\n");
        })
        .lifts(),
        Attack::laid("kind: a file that nobody may read", |w| {
            let path = w.found_job().at("{job}/compaction.md");
            fs::set_permissions(path, fs::Permissions::from_mode(0o000)).expect("mode");
        }),
        Attack::laid("kind: a folder that nobody may enter", |w| {
            let path = w.found_job().at("{job}");
            fs::set_permissions(path, fs::Permissions::from_mode(0o000)).expect("mode");
        }),
        Attack::laid("kind: an immutable file", |w| {
            w.found_job();
            w.frozen("{job}/compaction.md");
        })
        .for_root(),
        Attack::laid("kind: an immutable .brain-guard", |w| {
            w.found_job();
            w.frozen(".brain-guard");
        })
        .for_root()
        .lifts(),
    ]
}

fn owners() -> Vec<Attack> {
    vec![
        Attack::laid("kind: a job's folder of another user", |w| {
            owned(w.found_job(), &["{job}"]);
        })
        .for_root(),
        Attack::laid("kind: a job's files of another user", |w| {
            let files = ["compaction.md", "job.json", "prompts.jsonl", "sealed", "sealed/v0001.md"];
            let files = files.map(|file| format!("{{job}}/{file}"));
            owned(w.found_job(), &files.each_ref().map(String::as_str));
        })
        .for_root(),
        Attack::laid("kind: jobs of another user", |w| {
            owned(w.found_job(), &[".brain-guard", ".brain-guard/jobs"]);
        })
        .for_root()
        .lifts(),
        Attack::laid("kind: settings of another user", |w| {
            w.file(".brain-guard/settings.json", "{}");
            owned(w, &[".brain-guard/settings.json"]);
        })
        .for_root(),
    ]
}

fn owned(w: &World, paths: &[&str]) {
    for path in paths {
        chown(w.at(path), Some(OTHER), Some(OTHER)).expect("owner");
    }
}

fn device(w: &World, path: &str, minor: u32) {
    // Minor 5 is endless zeros, 7 is always full: neither can be harmed.
    let (path, mode) = (w.free(path), Mode::from_raw_mode(0o666));
    mknodat(CWD, path, FileType::CharacterDevice, mode, makedev(1, minor)).expect("device");
}

impl World {
    /// Makes a path immutable if the file system can; undone when the world ends.
    pub fn frozen(&mut self, path: &str) {
        let path = self.at(path);
        // If that fails, the attack is the plain file.
        let _ = Command::new("chattr").arg("+i").arg(&path).status();
        self.frozen.push(path);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for path in &self.frozen {
            let _ = Command::new("chattr").arg("-i").arg(path).status();
        }
    }
}
