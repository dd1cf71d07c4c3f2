//! Lets a command that runs until a signal end cleanly, and wait until then.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};

/// A request to end, made by SIGINT or SIGTERM.
#[derive(Debug)]
pub struct Ending {
    asked: Arc<AtomicBool>,
    /// Wakes the waiting thread: the signal handlers write to the other end.
    woken: UnixStream,
}

impl Ending {
    /// From now on, these signals only request the end, so that running work is finished.
    ///
    /// # Errors
    /// An I/O error.
    pub fn by_signals() -> io::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        let (woken, wakes) = UnixStream::pair()?;
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&asked))?;
            signal_hook::low_level::pipe::register(signal, wakes.try_clone()?)?;
        }
        Ok(Self { asked, woken })
    }

    /// Whether to end now.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Waits for `time`, or until the end is requested. Returns whether it is.
    pub fn wait(&self, time: Duration) -> bool {
        let began = Instant::now();
        while !self.asked() {
            let left = time.saturating_sub(began.elapsed());
            if left.is_zero() {
                return false;
            }
            let left = Timespec {
                tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            };
            // A signal interrupts `poll` with an error; then the loop checks again.
            let _ = poll(&mut [PollFd::new(&self.woken, PollFlags::IN)], Some(&left));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_when_it_is_asked_to() {
        let ending = Ending::by_signals().unwrap();
        assert!(!ending.wait(Duration::from_millis(1)) && !ending.asked());
        let began = Instant::now();
        let waits = std::thread::scope(|scope| {
            let waits = scope.spawn(|| ending.wait(Duration::from_secs(60)));
            signal_hook::low_level::raise(SIGTERM).unwrap();
            waits.join().unwrap()
        });
        assert!(waits && ending.asked() && began.elapsed() < Duration::from_secs(30));
    }
}
