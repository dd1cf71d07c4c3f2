//! The hook's input. A client may hold it open behind its payload: then the hook
//! answers what it has instead of waiting for an end that doesn't come.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Bytes that hold most payloads, and are read at once.
pub const USUAL: usize = 16 * 1024;

/// How long an input that is held open may be silent behind what can be a payload's
/// end. A busy client may pause within a large one, too, but not for that long.
const PATIENCE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// An input that ends where its writer closes it, or falls silent behind a brace.
#[derive(Debug)]
pub struct Input<F> {
    fd: F,
    may_be_whole: bool,
}

impl Input<BorrowedFd<'static>> {
    /// Standard input, unbuffered.
    pub fn standard() -> Self {
        Self::of(rustix::stdio::stdin())
    }
}

impl<F: AsFd> Input<F> {
    /// The input behind this descriptor.
    pub fn of(fd: F) -> Self {
        Self { fd, may_be_whole: false }
    }

    /// Whether nothing more comes.
    fn over(&self) -> bool {
        let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
        match poll(&mut fds, Some(&PATIENCE)) {
            Ok(0) => true,
            // Closed and drained: there is no need to ask by a read.
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
            Input::of(reader).read_to_string(&mut text).unwrap();
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
