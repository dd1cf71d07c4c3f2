//! Rows that are looked at by several threads while they are read, and taken in their order by
//! the one that reads. Memory is bounded: a few batches are under way, and a row that is long
//! is looked at alone.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use memchr::memmem::Finder;

use super::known::BEGIN;
use crate::extract::entry::{Looked, Looker};
use crate::store::sessions::{SessionFile, Stamp};
use crate::transcript::rows::Rows;

/// Bytes of rows that are looked at together.
const BATCH: usize = 256 * 1024;

/// Bytes from which on a row is looked at alone, by the thread that reads: it need not be copied.
const LONG: usize = 512 * 1024;

/// Batches that are under way for each thread.
const EACH: usize = 2;

/// Threads at most.
const THREADS: usize = 3;

/// Bytes of a session from which on threads are worth their beginning.
const WORTH: u64 = 4 * 1024 * 1024;

/// What was seen in a row.
pub struct Seen {
    /// Its entry, where it holds one.
    pub looked: Option<Looked>,
    /// Whether something in it begins as placeholders do.
    pub marked: bool,
}

/// Looks at rows.
struct Look {
    looker: Looker,
    marks: Finder<'static>,
}

impl Look {
    fn new(compared: Option<u32>) -> Self {
        Self { looker: Looker::comparing(compared), marks: Finder::new(BEGIN) }
    }

    fn row(&mut self, line: &[u8]) -> Seen {
        Seen { looked: self.looker.row(line), marked: self.marks.find(line).is_some() }
    }
}

/// Takes a row, by its number, and what was seen in it.
type Take<'t> = &'t mut dyn FnMut(u64, &[u8], Seen) -> io::Result<()>;

/// Takes all rows of a session that has some `bytes`, in their order. Values of at least
/// `compared` characters are made comparable.
///
/// # Errors
/// What the system says, and what `take` does.
pub fn rows(
    file: &dyn SessionFile,
    bytes: u64,
    compared: Option<u32>,
    take: Take<'_>,
) -> io::Result<Stamp> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    if cores == 1 || bytes < WORTH {
        return alone(file, compared, take);
    }
    let (to, jobs) = mpsc::channel();
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        let (back, done) = mpsc::channel();
        let mut threads = 0;
        for _ in 0..cores.min(THREADS) {
            let (jobs, back) = (&jobs, Back(back.clone()));
            let work = move || work(jobs, &back, compared);
            threads += usize::from(thread::Builder::new().spawn_scoped(scope, work).is_ok());
        }
        drop(back);
        if threads == 0 {
            return alone(file, compared, take);
        }
        // What it sends to ends with it, and the threads with that.
        let mut own = Look::new(compared);
        let mut ahead = Ahead {
            to,
            done,
            most: threads * EACH,
            sent: 0,
            taken: 0,
            waiting: BTreeMap::new(),
            spare: Vec::new(),
            batch: Batch::default(),
        };
        let stamp = file.rows(&mut |row, line| {
            if line.len() > LONG {
                ahead.end(&mut *take)?;
                return take(row, line, own.row(line));
            }
            let filled = ahead.batch.rows.bytes.len();
            if filled > 0 && filled + line.len() > BATCH {
                ahead.send(&mut *take)?;
            }
            ahead.batch.numbers.push(row);
            ahead.batch.rows.push(line);
            Ok(())
        })?;
        ahead.end(&mut *take)?;
        Ok(stamp)
    })
}

/// One after the other.
fn alone(file: &dyn SessionFile, compared: Option<u32>, take: Take<'_>) -> io::Result<Stamp> {
    let mut look = Look::new(compared);
    file.rows(&mut |row, line| take(row, line, look.row(line)))
}

/// Rows on their way to a thread and back.
#[derive(Default)]
struct Batch {
    /// Which one it is.
    number: u64,
    /// The numbers of its rows.
    numbers: Vec<u64>,
    rows: Rows,
    seen: Vec<Seen>,
}

/// What a thread sends: a batch; nothing where it ends without its work done.
struct Back(Sender<Option<Batch>>);

impl Drop for Back {
    fn drop(&mut self) {
        if thread::panicking() {
            // Nobody waits any more where it can't be sent.
            let _ = self.0.send(None);
        }
    }
}

/// Looks at batches for as long as there are some.
fn work(jobs: &Mutex<Receiver<Batch>>, back: &Back, compared: Option<u32>) {
    let mut look = Look::new(compared);
    let next = || jobs.lock().ok()?.recv().ok();
    while let Some(mut batch) = next() {
        batch.seen.extend(batch.rows.iter().map(|line| look.row(line)));
        if back.0.send(Some(batch)).is_err() {
            return;
        }
    }
}

/// Batches under way.
struct Ahead {
    to: Sender<Batch>,
    done: Receiver<Option<Batch>>,
    most: usize,
    sent: u64,
    taken: u64,
    /// What came back before its turn.
    waiting: BTreeMap<u64, Batch>,
    /// Batches that were taken: their memory is used again.
    spare: Vec<Batch>,
    /// The one that is filled.
    batch: Batch,
}

impl Ahead {
    /// Sends the batch that is filled; before, takes what came back while too many are under way.
    fn send(&mut self, take: Take<'_>) -> io::Result<()> {
        while (self.sent - self.taken) as usize >= self.most {
            self.receive(&mut *take)?;
        }
        let next = self.spare.pop().unwrap_or_default();
        let batch = std::mem::replace(&mut self.batch, next);
        self.sent += 1;
        self.to.send(Batch { number: self.sent, ..batch }).map_err(|_| lost())
    }

    /// Takes all rows so far.
    fn end(&mut self, take: Take<'_>) -> io::Result<()> {
        if !self.batch.numbers.is_empty() {
            self.send(&mut *take)?;
        }
        while self.taken < self.sent {
            self.receive(&mut *take)?;
        }
        Ok(())
    }

    /// Waits for a batch, and takes those whose turn it is.
    fn receive(&mut self, take: Take<'_>) -> io::Result<()> {
        let batch = self.done.recv().ok().flatten().ok_or_else(lost)?;
        self.waiting.insert(batch.number, batch);
        while let Some(mut batch) = self.waiting.remove(&(self.taken + 1)) {
            self.taken += 1;
            let rows = batch.numbers.iter().zip(batch.rows.iter()).zip(batch.seen.drain(..));
            for ((number, line), seen) in rows {
                take(*number, line, seen)?;
            }
            batch.numbers.clear();
            batch.rows.clear();
            batch.rows.bytes.shrink_to(BATCH);
            self.spare.push(batch);
        }
        Ok(())
    }
}

fn lost() -> io::Error {
    io::Error::other("a thread that reads the session ended")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sessions::Jsonl;

    fn session(rows: usize) -> (tempfile::TempDir, Jsonl, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let mut text = String::new();
        for n in 0..rows {
            // Some are no JSON, some are longer than a batch, or long.
            let long = match n % 97 {
                13 => LONG + n,
                31 => BATCH + n,
                _ => n * 7919 % 9_000,
            };
            let long = "x".repeat(long);
            let row = match n % 11 {
                7 => format!("no JSON {n}"),
                _ => format!(
                    r#"{{"type":"message","id":"{n}","message":{{"role":"user","content":"{long}"}}}}"#
                ),
            };
            text.extend([&row, "\n"]);
        }
        std::fs::write(&path, &text).unwrap();
        (folder, Jsonl::new(path), text.len() as u64)
    }

    fn told(seen: &Seen) -> String {
        format!("{:?} {}", seen.looked, seen.marked)
    }

    #[test]
    fn rows_are_taken_in_their_order_as_one_after_the_other() {
        let (_folder, file, bytes) = session(1_500);
        assert!(bytes > WORTH);
        let (mut one, mut many) = (Vec::new(), Vec::new());
        let first = alone(&file, Some(256), &mut |row, line, seen| {
            one.push((row, line.len(), told(&seen)));
            Ok(())
        });
        let second = rows(&file, bytes, Some(256), &mut |row, line, seen| {
            many.push((row, line.len(), told(&seen)));
            Ok(())
        });
        assert_eq!(first.unwrap(), second.unwrap());
        assert_eq!(one.len(), 1_500);
        assert!(one == many);
    }

    #[test]
    fn a_fault_of_who_takes_ends_it() {
        let (_folder, file, bytes) = session(1_500);
        let mut taken = 0;
        let fault = rows(&file, bytes, None, &mut |row, _, _| {
            taken += 1;
            if row == 700 { Err(io::Error::other("enough")) } else { Ok(()) }
        });
        assert_eq!(fault.unwrap_err().to_string(), "enough");
        assert_eq!(taken, 701);
    }
}
