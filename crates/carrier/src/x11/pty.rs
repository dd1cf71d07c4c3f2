//! The client's terminal as the kernel knows it: which pseudo terminal it is, and which process
//! holds its other end.
#![allow(clippy::disallowed_methods, reason = "carriers look at processes")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::terminal::Refusal;
use base::process::{self, OpenFile};

/// The client's side of a pseudo terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pty(u32);

impl Pty {
    /// The terminal that a process reads from; fails if its input is something else.
    pub fn for_process(pid: u32) -> Result<Self, Refusal> {
        let input = process::input(pid)
            .map_err(|e| Refusal::never(format!("the client's input cannot be inspected: {e}")))?;
        let number = input.to_str().and_then(|p| p.strip_prefix("/dev/pts/"));
        number.and_then(|n| n.parse().ok()).map(Self).ok_or_else(|| {
            let input = input.display();
            Refusal::never(format!("the client's input is {input}, not a terminal's window"))
        })
    }

    /// Writes all of a text to the terminal's screen. While the client writes there may be no room,
    /// so it retries for as long as `patience`.
    ///
    /// # Errors
    /// `WouldBlock` if there was no room all that time.
    pub fn write(self, text: &str, patience: Duration) -> io::Result<()> {
        use io::Write;
        use std::os::unix::fs::OpenOptionsExt;
        let end = Instant::now() + patience;
        // It must not become our controlling terminal, and a stopped one must not block us.
        let flags = rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::NONBLOCK;
        let path = PathBuf::from(format!("/dev/pts/{}", self.0));
        let mut screen =
            fs::OpenOptions::new().write(true).custom_flags(flags.bits() as i32).open(path)?;
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            match screen.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(e) if e.kind() == io::ErrorKind::WouldBlock && Instant::now() < end => {
                    sleep(Duration::from_millis(3));
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// The processes that hold the other end. Usually one of the client's ancestors does; all
    /// processes are searched only if none does.
    pub fn holders(self, client: u32) -> Vec<u32> {
        let mut above = Vec::new();
        let mut at = process::parent(client);
        while let Some(pid) = at.filter(|pid| *pid > 1 && !above.contains(pid)) {
            above.push(pid);
            at = process::parent(pid);
        }
        above.retain(|pid| process::open_files_of(*pid).any(|file| self.is_other_end(&file)));
        if above.is_empty() {
            let held = process::open_files().filter(|file| self.is_other_end(file));
            above.extend(held.map(|file| file.pid));
            above.dedup();
        }
        above
    }

    fn is_other_end(self, file: &OpenFile) -> bool {
        let master = [Path::new("/dev/ptmx"), Path::new("/dev/pts/ptmx")];
        master.contains(&file.path.as_path())
            && file.info("tty-index:").and_then(|index| index.parse().ok()) == Some(self.0)
    }
}

/// A process's name, for messages.
pub fn name(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("{} (process {pid})", name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_terminal_is_written_to_once_there_is_room() {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        use std::io::{Read, Write};
        use std::os::unix::fs::OpenOptionsExt;
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let pty = Pty(name.strip_prefix("/dev/pts/").unwrap().parse().unwrap());
        let own = || process::open_files_of(std::process::id());
        assert!(own().any(|file| pty.is_other_end(&file)));
        assert!(!own().any(|file| Pty(u32::MAX).is_other_end(&file)));
        let flags = (rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::NONBLOCK).bits() as i32;
        let mut client = fs::OpenOptions::new().write(true).custom_flags(flags).open(name).unwrap();
        while client.write(&[b'x'; 512]).is_ok() {}
        let full = pty.write("title", Duration::ZERO).unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);

        let reader = std::thread::spawn(move || {
            sleep(Duration::from_millis(30));
            let (mut shown, mut part) = (Vec::new(), [0; 4096]);
            let mut master = fs::File::from(master);
            while !shown.ends_with(b"title") {
                let read = master.read(&mut part).unwrap();
                shown.extend_from_slice(&part[..read]);
            }
            shown
        });
        pty.write("title", Duration::from_secs(20)).unwrap();
        let shown = reader.join().unwrap();
        assert_eq!(shown.iter().filter(|byte| **byte != b'x').count(), "title".len());
    }

    #[test]
    fn a_process_without_a_terminal_has_no_front() {
        let child = std::process::Command::new("sleep")
            .arg("30")
            .stdin(std::process::Stdio::null())
            .spawn();
        let mut child = child.unwrap();
        let found = Pty::for_process(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.is_err_and(|why| why.to_string().contains("/dev/null")));
    }
}
