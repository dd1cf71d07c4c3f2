//! Writing behind: a thread hands full pieces to the system while the next ones are made. Pieces
//! begin at the file's beginning and are of one size, so that the system has whole pages to fill,
//! and none to clear first.
#![allow(clippy::disallowed_methods, reason = "its tests write files")]

use std::fs::File;
use std::io::{self, Write as _};
use std::mem;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Bytes of a piece.
const PIECE: usize = 256 * 1024;

/// Pieces that may wait.
const WAITING: usize = 4;

/// Bytes behind which the disk is set to work: what is synced at the end is little then.
const EARLY: usize = 32 * 1024 * 1024;

/// A file that is being written from its beginning on. What was put is in it, or has failed, with
/// [`Behind::flush`]; what is dropped before that may be lost.
#[derive(Debug)]
pub struct Behind {
    file: Arc<File>,
    piece: Vec<u8>,
    work: Option<Work>,
}

/// The thread, and what goes there and comes back.
#[derive(Debug)]
struct Work {
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
}

impl Work {
    fn begin(file: &Arc<File>) -> io::Result<Self> {
        let (full, pieces) = sync_channel(WAITING);
        let (back, empty) = channel();
        let file = Arc::clone(file);
        let thread = thread::Builder::new().spawn(move || write(&file, &pieces, &back))?;
        Ok(Self { full, empty, thread })
    }

    /// What became of all that was handed over.
    fn end(self) -> io::Result<()> {
        drop(self.full);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that writes ended")))
    }
}

fn write(file: &File, pieces: &Receiver<Vec<u8>>, back: &Sender<Vec<u8>>) -> io::Result<()> {
    let (mut file, mut since) = (file, 0);
    for mut piece in pieces {
        file.write_all(&piece)?;
        since += piece.len();
        if since >= EARLY {
            file.sync_data()?;
            since = 0;
        }
        piece.clear();
        // Nobody may want it any more.
        let _ = back.send(piece);
    }
    Ok(())
}

impl Behind {
    /// Into a file that is empty.
    pub fn new(file: File) -> Self {
        Self { file: Arc::new(file), piece: Vec::new(), work: None }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// What the system says, of these bytes or of earlier ones; how much was written is not known
    /// then.
    pub fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while bytes.len() >= PIECE - self.piece.len() {
            let (fits, rest) = bytes.split_at(PIECE - self.piece.len());
            self.piece.extend_from_slice(fits);
            self.hand_over()?;
            bytes = rest;
        }
        self.piece.extend_from_slice(bytes);
        Ok(())
    }

    fn hand_over(&mut self) -> io::Result<()> {
        let work = match self.work.take() {
            Some(work) => work,
            None => match Work::begin(&self.file) {
                Ok(work) => work,
                // Where there is no thread, it is written here.
                Err(_) => return self.write(),
            },
        };
        let next = work.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(PIECE));
        if work.full.send(mem::replace(&mut self.piece, next)).is_err() {
            // It ends before its time where it fails only.
            let ended = || io::Error::other("the thread that writes ended");
            return work.end().and_then(|()| Err(ended()));
        }
        self.work = Some(work);
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        let written = (&*self.file).write_all(&self.piece);
        self.piece.clear();
        written
    }

    /// Waits until the system has everything; it is not on the disk yet.
    ///
    /// # Errors
    /// As [`Behind::put`].
    pub fn flush(&mut self) -> io::Result<()> {
        self.work.take().map_or(Ok(()), Work::end)?;
        self.write()
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        // Nothing is to be written by a thread that nobody knows of; who wants to know whether
        // it was asks for it.
        let _ = self.work.take().map(Work::end);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn bytes_go_in_their_order_whatever_their_size() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let bytes: Vec<u8> = (0..5 * PIECE + 77).map(|n| (n * n % 251) as u8).collect();
        for cut in [0, 1, PIECE - 1, PIECE, PIECE + 1, 4 * PIECE, bytes.len()] {
            let mut behind = Behind::new(File::create(&path).unwrap());
            let (one, two) = bytes.split_at(cut);
            for part in one.chunks(1000).chain([two]) {
                behind.put(part).unwrap();
            }
            behind.flush().unwrap();
            assert!(fs::read(&path).unwrap() == bytes, "{cut}");
            behind.put(b"more").unwrap();
            behind.put(&bytes).unwrap();
            behind.flush().unwrap();
            assert!(fs::read(&path).unwrap() == [&bytes, &b"more"[..], &bytes].concat(), "{cut}");
        }
    }

    #[test]
    fn what_fails_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "").unwrap();
        let reading = || Behind::new(File::open(&path).unwrap());
        let mut few = reading();
        few.put(b"x").unwrap();
        few.flush().unwrap_err();
        let mut many = reading();
        let failed = (0..100).find_map(|_| many.put(&vec![7; PIECE]).err());
        assert!(failed.is_some() && fs::read(&path).unwrap().is_empty());
        let mut last = reading();
        last.put(&vec![7; PIECE]).unwrap();
        last.flush().unwrap_err();
    }
}
