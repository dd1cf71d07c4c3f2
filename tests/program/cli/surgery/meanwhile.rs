//! A session rewritten while a successor is made from it.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::world::{ID, World};

/// Whether the process is writing an unnamed file in this folder.
fn is_writing(child: &Child, folder: &Path) -> bool {
    let open = fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten().flatten();
    let mut files = open.filter_map(|fd| fs::read_link(fd.path()).ok());
    files.any(|file| {
        let name = file.to_string_lossy();
        file.starts_with(folder) && (name.ends_with("(deleted)") || name.ends_with(".tmp"))
    })
}

/// Stops a process while it writes there; `false` if it was too late.
fn stop_while_writing(child: &mut Child, folder: &Path) -> bool {
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number")).expect("a process");
    while child.try_wait().expect("own child").is_none() {
        if is_writing(child, folder) {
            kill_process(pid, Signal::STOP).expect("stopped");
            // The process may have ended, or its file may have a name already.
            return child.try_wait().expect("own child").is_none() && is_writing(child, folder);
        }
        thread::sleep(Duration::from_millis(1));
    }
    false
}

fn resume_process(child: &Child) {
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number")).expect("a process");
    // Fails if the process has ended.
    let _ = kill_process(pid, Signal::CONT);
}

#[test]
fn surgery_fails_if_the_session_is_rewritten_meanwhile() {
    let world = World::new(1);
    let short = "the quick brown fox jumps over it ".repeat(100);
    let long = short.repeat(100);
    let text = world.session(ID, 40, 0).replace(&short, &long);
    world.write(ID, &text);
    let file = world.file(ID);
    let file = file.to_str().expect("utf-8");
    world.done(&["import", file]);
    let folder = world.hook.project.join("made");
    let to = folder.to_str().expect("utf-8");
    fs::create_dir(&folder).expect("folder");
    for attempt in 1.. {
        assert!(attempt < 20, "it is never seen while it writes");
        let mut command =
            world.hook.command(&["surgery", "compress-before", ID, "round:3", "--out", to]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let in_time = stop_while_writing(&mut child, &folder);
        if in_time {
            // Another session by the same name is stored before the first continues.
            world.write(ID, &text.replace("about apples", "about pears"));
            world.done(&["import", file]);
        }
        resume_process(&child);
        let output = child.wait_with_output().expect("it ends");
        let made: Vec<_> = fs::read_dir(&folder).expect("folder").flatten().collect();
        if !in_time {
            for file in made {
                fs::remove_file(file.path()).expect("removed");
            }
            continue;
        }
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{why}");
        assert!(why.contains("was rewritten while brain-guard read it; try again"), "{why}");
        assert!(made.is_empty(), "{made:?}");
        return;
    }
}
