//! A connection to the X server that never waits without limit.
#![allow(clippy::struct_field_names, reason = "the server names its atoms")]

use std::error::Error;
use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use x11rb::connection::Connection as _;
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::xproto::Window as Id;
use x11rb::reexports::x11rb_protocol::parse_display::parse_display;
use x11rb::reexports::x11rb_protocol::xauth::get_auth;
use x11rb::rust_connection::{DefaultStream, PollMode, RustConnection, Stream};
use x11rb::utils::RawFdContainer;

use crate::terminal::Refusal;

/// How long one answer may take.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 700_000_000 };

/// How long connecting may take.
const CONNECT: Duration = Duration::from_millis(900);

/// The port of display 0.
const FIRST_PORT: u16 = 6000;

x11rb::atom_manager! {
    /// The atoms used here.
    pub Atoms: AtomsCookie {
        _NET_ACTIVE_WINDOW,
        _NET_CLIENT_LIST,
        _NET_WM_NAME,
        _NET_WM_PID,
    }
}

/// A stream that gives up if the server does not answer.
pub struct Bounded(DefaultStream);

impl Stream for Bounded {
    fn poll(&self, mode: PollMode) -> io::Result<()> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, mode.readable());
        flags.set(PollFlags::OUT, mode.writable());
        loop {
            match poll(&mut [PollFd::new(&self.0, flags)], Some(&PATIENCE)) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    fn read(&self, buf: &mut [u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.0.read(buf, fds)
    }

    fn write(&self, buf: &[u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.0.write(buf, fds)
    }
}

/// A connection to the X server.
pub struct Display {
    pub(super) root: Id,
    pub(super) atoms: Atoms,
    conn: RustConnection<Bounded>,
}

impl Display {
    /// Connects, with the `$XAUTHORITY` of this process. Fails if the display does not answer in
    /// time.
    pub fn connect(name: &str) -> Result<Self, Refusal> {
        let (told, answer) = mpsc::channel();
        let display = name.to_owned();
        // Looking up names and connecting sockets have no timeout of their own. A thread that hangs
        // there is abandoned.
        thread::Builder::new()
            .spawn(move || drop(told.send(Self::open(&display))))
            .map_err(|e| Refusal::later(format!("no thread could be started: {e}")))?;
        match answer.recv_timeout(CONNECT) {
            Ok(Ok(display)) => Ok(display),
            Ok(Err(why)) => {
                Err(Refusal::later(format!("the display {name} can't be reached: {why}")))
            }
            Err(_) => Err(Refusal::later(format!("the display {name} does not answer"))),
        }
    }

    fn open(name: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let parsed = parse_display(Some(name))?;
        // A server with a higher number would have no port.
        if parsed.display > u16::MAX - FIRST_PORT {
            return Err("no such display".into());
        }
        let screen = usize::from(parsed.screen);
        let mut last = "no such display".into();
        for address in parsed.connect_instruction() {
            let (stream, (family, peer)) = match DefaultStream::connect(&address) {
                Ok(found) => found,
                Err(e) => {
                    last = e.into();
                    continue;
                }
            };
            let (name, data) =
                get_auth(family, &peer, parsed.display).ok().flatten().unwrap_or_default();
            let stream = Bounded(stream);
            let conn =
                RustConnection::connect_to_stream_with_auth_info(stream, screen, name, data)?;
            let root = conn.setup().roots[screen].root;
            let atoms = Atoms::new(&conn)?.reply()?;
            return Ok(Self { root, atoms, conn });
        }
        Err(last)
    }

    /// Asks the server, and turns its errors into refusals.
    pub(super) fn ask<T>(
        &self,
        question: impl FnOnce(&RustConnection<Bounded>) -> Result<T, ReplyError>,
    ) -> Result<T, Refusal> {
        question(&self.conn).map_err(|e| match e {
            ReplyError::ConnectionError(ConnectionError::IoError(e))
                if e.kind() == io::ErrorKind::TimedOut =>
            {
                Refusal::later("the display does not answer")
            }
            ReplyError::ConnectionError(e) => Refusal::never(format!("the display is gone: {e}")),
            ReplyError::X11Error(e) => {
                Refusal::later(format!("the display refused a question: {:?}", e.error_kind))
            }
        })
    }
}
