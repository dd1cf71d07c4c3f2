//! A Messages API on loopback; a closure of the test plays the model.

mod http;
mod reply;
mod request;
mod server;

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub use reply::{Gate, Reply};
pub use request::{Kind, Request};

use crate::support::evidence::{Evidence, lock};
use crate::support::process::DEADLINE;

/// The scripted agent, called once per request in order of arrival.
pub type Script = Box<dyn FnMut(&Request) -> Reply + Send>;

/// All calls so far.
#[derive(Default)]
pub struct Log {
    pub requests: Vec<Arc<Request>>,
    /// Method and path of every other call.
    pub other: Vec<String>,
    refused: Vec<Arc<Request>>,
    /// The failure of a script, and whether a wait has reported it.
    fault: Option<(String, bool)>,
}

impl Log {
    pub fn of(&self, kind: Kind) -> impl DoubleEndedIterator<Item = &Arc<Request>> {
        self.requests.iter().filter(move |request| request.kind == kind)
    }
}

struct Shared {
    started: Instant,
    log: Mutex<Log>,
    changed: Condvar,
    agent: Mutex<Script>,
    subagent: Mutex<Script>,
    streams: Mutex<Vec<TcpStream>>,
    stopped: AtomicBool,
    is_strict: bool,
}

/// The running mock; dropping it ends the server.
pub struct Mock {
    address: SocketAddr,
    shared: Arc<Shared>,
    evidence: Evidence,
    server: Option<JoinHandle<()>>,
}

impl Mock {
    /// A strict mock refuses thinking blocks as newer models do.
    pub fn start(agent: Script, subagent: Script, is_strict: bool, evidence: &Evidence) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let shared = Arc::new(Shared {
            started: Instant::now(),
            log: Mutex::default(),
            changed: Condvar::new(),
            agent: Mutex::new(agent),
            subagent: Mutex::new(subagent),
            streams: Mutex::default(),
            stopped: AtomicBool::new(false),
            is_strict,
        });
        let asked = Arc::clone(&shared);
        let server = thread::spawn(move || server::serve(&listener, &asked));
        let told = Arc::clone(&shared);
        evidence.add("last requests", move || summary(&lock(&told.log)));
        Self { address, shared, evidence: evidence.clone(), server: Some(server) }
    }

    /// The start time, from which the times of requests count.
    pub fn started(&self) -> Instant {
        self.shared.started
    }

    /// The value of `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests of the main conversation so far.
    pub fn main(&self) -> Vec<Arc<Request>> {
        lock(&self.shared.log).of(Kind::Main).cloned().collect()
    }

    /// The main requests that a strict mock refused for their thinking.
    pub fn refused(&self) -> Vec<Arc<Request>> {
        lock(&self.shared.log).refused.clone()
    }

    pub fn with_log<T>(&self, look: impl FnOnce(&Log) -> T) -> T {
        look(&lock(&self.shared.log))
    }

    /// Waits for the `n`th main request (from 1) and returns it.
    #[track_caller]
    pub fn wait_main(&self, n: usize) -> Arc<Request> {
        self.wait_main_within(n, DEADLINE)
    }

    #[track_caller]
    pub fn wait_main_within(&self, n: usize, deadline: Duration) -> Arc<Request> {
        self.wait(&format!("main request {n}"), deadline, |log| {
            log.of(Kind::Main).nth(n - 1).cloned()
        })
    }

    /// Waits for the first main request that `wanted` accepts.
    #[track_caller]
    pub fn wait_request(&self, what: &str, wanted: impl Fn(&Request) -> bool) -> Arc<Request> {
        self.wait(what, DEADLINE, |log| log.of(Kind::Main).find(|request| wanted(request)).cloned())
    }

    /// Waits until `probe` finds something in the log. After a script failure or the deadline, it
    /// fails the test and shows the last requests and the screen.
    #[track_caller]
    pub fn wait<T>(
        &self,
        what: &str,
        deadline: Duration,
        mut probe: impl FnMut(&Log) -> Option<T>,
    ) -> T {
        let end = Instant::now() + deadline;
        let mut log = lock(&self.shared.log);
        loop {
            let found = probe(&log);
            let left = end.saturating_duration_since(Instant::now());
            let failure = match (&mut log.fault, found) {
                (Some((fault, told)), _) => {
                    *told = true;
                    fault.clone()
                }
                (None, Some(value)) => return value,
                (None, None) if left.is_zero() => format!("no {what} within {deadline:?}"),
                (None, None) => {
                    let woken = self.shared.changed.wait_timeout(log, left);
                    log = woken.unwrap_or_else(PoisonError::into_inner).0;
                    continue;
                }
            };
            drop(log);
            self.evidence.fail(&failure);
        }
    }

    /// All requests, one JSON object per line.
    pub fn dump(&self) -> String {
        let line = |request: &Arc<Request>| {
            let head = format!("{:?} {}", request.kind, request.n);
            format!(
                "{}\n",
                serde_json::json!({"request": head, "headers": request.headers, "body": request.body})
            )
        };
        lock(&self.shared.log).requests.iter().map(line).collect()
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, then every reader.
        drop(TcpStream::connect(self.address));
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
        for stream in lock(&self.shared.streams).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // A script can still fail after the test's last wait.
        let fault = lock(&self.shared.log).fault.take();
        if let Some((fault, false)) = fault.filter(|_| !thread::panicking()) {
            panic!("{fault}");
        }
    }
}

fn summary(log: &Log) -> String {
    let skipped = log.requests.len().saturating_sub(6);
    let mut lines = vec![format!("{} requests", log.requests.len())];
    lines.extend(log.requests[skipped..].iter().map(ToString::to_string));
    lines.push(format!("other calls: {}", log.other.join(", ")));
    lines.join("\n")
}
