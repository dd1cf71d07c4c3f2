//! Rows that several threads read and look at, each a part of the file at a time, taken in their
//! order by the one that asks. Memory is bounded by the longest row: a few parts are under way, and
//! of rows that begin so near to each other only the last can be longer than these parts are.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use memchr::memmem::Finder;
use serde_json::value::RawValue;

use extract::entry::{Looked, Looker};
use extract::placeholder::BEGIN;
use sessions::files::{Part, Parts, SessionFile, Stamp};

/// Parts that are under way for each thread.
const EACH: u64 = 2;

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
    /// Whether it is no JSON, so that it holds none.
    pub broken: bool,
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
        let looked = self.looker.row(line);
        let broken = looked.is_none()
            && !line.trim_ascii().is_empty()
            && serde_json::from_slice::<&RawValue>(line).is_err();
        Seen { looked, marked: self.marks.find(line).is_some(), broken }
    }
}

/// Takes a row, by its number, and what was seen in it.
type Take<'t> = &'t mut dyn FnMut(u64, &[u8], Seen) -> io::Result<()>;

/// Takes all rows of a session, in their order. Values of at least `compared` characters are made
/// comparable.
///
/// # Errors
/// What the system says, and what `take` does.
pub fn rows(file: &dyn SessionFile, compared: Option<u32>, take: Take<'_>) -> io::Result<Stamp> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let Some(parts) = file.parts()?.filter(|parts| cores > 1 && parts.stamp.size >= WORTH) else {
        return alone(file, compared, take);
    };
    let (to, jobs) = mpsc::channel();
    let (parts, jobs) = (&parts, &Mutex::new(jobs));
    thread::scope(|scope| {
        let (back, done) = mpsc::channel();
        let mut threads = 0;
        for _ in 0..cores.min(THREADS) {
            let back = Back(back.clone());
            let work = move || work(parts, jobs, &back, compared);
            threads += u64::from(thread::Builder::new().spawn_scoped(scope, work).is_ok());
        }
        drop(back);
        if threads == 0 {
            return alone(file, compared, take);
        }
        // What it sends to ends with it, and the threads with that.
        let ahead = Ahead { to, done, waiting: BTreeMap::new() };
        ahead.all(parts, threads * EACH, take)?;
        Ok(parts.stamp)
    })
}

/// One after the other.
fn alone(file: &dyn SessionFile, compared: Option<u32>, take: Take<'_>) -> io::Result<Stamp> {
    let mut look = Look::new(compared);
    file.rows(&mut |row, line| take(row, line, look.row(line)))
}

/// A part on its way to a thread and back, with what was seen in its rows.
struct Job {
    part: Part,
    seen: Vec<Seen>,
}

/// What a thread sends: a part, or why it can't be read; nothing where it ends without its work
/// done.
struct Back(Sender<Option<io::Result<Job>>>);

impl Drop for Back {
    fn drop(&mut self) {
        if thread::panicking() {
            // Nobody waits any more where it can't be sent.
            let _ = self.0.send(None);
        }
    }
}

/// Reads and looks at parts for as long as there are some.
fn work(parts: &Parts, jobs: &Mutex<Receiver<Job>>, back: &Back, compared: Option<u32>) {
    let mut look = Look::new(compared);
    let next = || jobs.lock().ok()?.recv().ok();
    while let Some(mut job) = next() {
        let read = parts.read(&mut job.part).map(|()| {
            job.seen.extend(job.part.rows().map(|line| look.row(line)));
            job
        });
        if back.0.send(Some(read)).is_err() {
            return;
        }
    }
}

/// Parts under way.
struct Ahead {
    to: Sender<Job>,
    done: Receiver<Option<io::Result<Job>>>,
    /// What came back before its turn.
    waiting: BTreeMap<u64, Job>,
}

impl Ahead {
    /// Takes the rows of all parts, of which so many are under way at a time.
    fn all(mut self, parts: &Parts, most: u64, take: Take<'_>) -> io::Result<()> {
        let send = |to: &Sender<Job>, job| to.send(job).map_err(|_| lost());
        for number in 0..parts.count().min(most) {
            send(&self.to, Job { part: Part::new(number), seen: Vec::new() })?;
        }
        let mut row = 0;
        for number in 0..parts.count() {
            let mut job = self.receive(number)?;
            for (line, seen) in job.part.rows().zip(job.seen.drain(..)) {
                take(row, line, seen)?;
                row += 1;
            }
            job.part.becomes(number + most);
            if job.part.number() < parts.count() {
                send(&self.to, job)?;
            }
        }
        Ok(())
    }

    /// Waits for the part of that number.
    fn receive(&mut self, number: u64) -> io::Result<Job> {
        loop {
            if let Some(job) = self.waiting.remove(&number) {
                return Ok(job);
            }
            let job = self.done.recv().ok().flatten().ok_or_else(lost)??;
            self.waiting.insert(job.part.number(), job);
        }
    }
}

fn lost() -> io::Error {
    io::Error::other("a thread that reads the session ended")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessions::files::Jsonl;

    fn session(rows: usize) -> (tempfile::TempDir, Jsonl, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let mut text = String::new();
        for n in 0..rows {
            // Some are no JSON, some are long, or longer than a part.
            let long = match n % 97 {
                13 => 600_000 + n,
                31 => 300_000 + n,
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
        format!("{:?} {} {}", seen.looked, seen.marked, seen.broken)
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
        let second = rows(&file, Some(256), &mut |row, line, seen| {
            many.push((row, line.len(), told(&seen)));
            Ok(())
        });
        assert_eq!(first.unwrap(), second.unwrap());
        assert_eq!(one.len(), 1_500);
        assert!(one == many);
    }

    #[test]
    fn a_fault_of_who_takes_ends_it() {
        let (_folder, file, _) = session(1_500);
        let mut taken = 0;
        let fault = rows(&file, None, &mut |row, _, _| {
            taken += 1;
            if row == 700 { Err(io::Error::other("enough")) } else { Ok(()) }
        });
        assert_eq!(fault.unwrap_err().to_string(), "enough");
        assert_eq!(taken, 701);
    }
}
