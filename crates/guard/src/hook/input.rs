//! The hook's input. A client may keep it open after the payload. Then the hook answers without
//! waiting for the end.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Enough bytes for most payloads, so that one read suffices.
pub const USUAL: usize = 16 * 1024;

/// How long an open input may be silent after a possible end of the payload. A busy client may also
/// pause inside a large payload, but not for that long.
const PATIENCE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// An input that ends when its writer closes it, or falls silent after a brace.
#[derive(Debug)]
pub struct Input<F> {
    fd: F,
    may_be_whole: bool,
}

impl Input<BorrowedFd<'static>> {
    /// Standard input, unbuffered.
    pub fn standard() -> Self {
        Self::from_fd(rustix::stdio::stdin())
    }
}

impl<F: AsFd> Input<F> {
    /// Reads from this descriptor.
    pub fn from_fd(fd: F) -> Self {
        Self { fd, may_be_whole: false }
    }

    /// Waits for more input. `true` if none comes.
    fn over(&self) -> bool {
        let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
        match poll(&mut fds, Some(&PATIENCE)) {
            Ok(0) => true,
            // Closed and drained: no read is needed to find out.
            Ok(_) => fds[0].revents() == PollFlags::HUP,
            Err(_) => false,
        }
    }
}

impl<F: AsFd> Read for Input<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.may_be_whole && self.over() {
            return Ok(0);
        }
        let read = rustix::io::read(&self.fd, &mut *buffer)?;
        let text = buffer[..read].trim_ascii_end();
        if !text.is_empty() {
            self.may_be_whole = text.ends_with(b"}");
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(pieces: &[&str], close: bool) -> String {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut text = String::new();
        let held = std::thread::scope(|scope| {
            let writing = scope.spawn(move || {
                for piece in pieces {
                    writer.write_all(piece.as_bytes()).unwrap();
                }
                (!close).then_some(writer)
            });
            Input::from_fd(reader).read_to_string(&mut text).unwrap();
            writing.join().unwrap()
        });
        assert_eq!(held.is_none(), close);
        text
    }

    #[test]
    fn it_ends_where_it_is_closed_or_falls_silent_behind_a_brace() {
        let long = format!("{{\"a\":\"{}\"}}", "}".repeat(300_000));
        for (pieces, close) in [
            (vec!["{\"a\":{}}"], false),
            (vec!["{\"a\":{}", "}", "\n"], false),
            (vec!["{\"a\":{}}"], true),
            (vec!["{\"a\""], true),
            (vec![long.as_str()], true),
        ] {
            assert_eq!(read(&pieces, close), pieces.concat());
        }
    }
}
