//! `carrier-scratch`: stands in for the client in a scratch pane or window. It shows an empty
//! prompt box and records the keys it gets.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use crate::cmd::Exit;

/// After this time it exits in any case.
const DEADLINE: Duration = Duration::from_secs(20);

/// Runs in the scratch terminal: writes its process id to `<file>.pid` and its input to `file`,
/// until that is removed.
///
/// # Errors
/// No terminal, or a file that cannot be written.
pub fn run(file: &Path) -> anyhow::Result<Exit> {
    let stdin = io::stdin();
    let before = tcgetattr(&stdin).context("this is for a scratch terminal of `carrier test`")?;
    let mut raw = before.clone();
    raw.make_raw();
    tcsetattr(&stdin, OptionalActions::Now, &raw)?;
    let shown = draw(&mut io::stdout().lock());
    let taken = shown.and_then(|()| {
        let mut bytes = OpenOptions::new().create(true).append(true).open(file)?;
        std::fs::write(file.with_extension("pid"), std::process::id().to_string())?;
        record(file, &mut bytes)
    });
    tcsetattr(&stdin, OptionalActions::Now, &before)?;
    taken?;
    Ok(Exit::Done)
}

/// Draws a prompt box as the client does, sets its idle title and turns on bracketed paste.
fn draw(out: &mut impl Write) -> io::Result<()> {
    let rule = "─".repeat(40);
    write!(
        out,
        "\x1b]2;✳ brain-guard carrier test\x07\x1b[?2004h\x1b[2J\x1b[Hbrain-guard tries its keys here; this closes by itself.\r\n{rule}\r\n❯\u{a0}\r\n{rule}\r\n"
    )?;
    out.flush()
}

fn record(file: &Path, bytes: &mut impl Write) -> io::Result<()> {
    let stdin = io::stdin();
    let began = Instant::now();
    let glance = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    let mut buffer = [0; 4096];
    while began.elapsed() < DEADLINE && file.exists() {
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        if poll(&mut ready, Some(&glance))? == 0 {
            continue;
        }
        // Unbuffered: bytes that were read must not stay in a buffer while this waits.
        let read = rustix::io::read(&stdin, &mut buffer)?;
        if read == 0 {
            break;
        }
        bytes.write_all(&buffer[..read])?;
    }
    Ok(())
}
