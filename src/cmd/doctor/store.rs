//! Checks the store: every stored row, the index, both against the session files, and the ledgers
//! of extracted content. A fix keeps what was there: damaged files get another name.

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;

use super::{FIX, Finding, World};
use crate::cmd::block_store::{Counted, read_rows};
use crate::cmd::import::{self, count};
use base::shown::size;
use store::blocks::{Folder, Reader, Root};
use store::extracted;
use store::index::{self, Index};

/// How long to wait for an import that is running.
const PATIENCE: Duration = Duration::from_secs(30);

/// The store, with what is wrong in it.
struct Checked {
    root: Root,
    index: Index,
    folders: Vec<Folder>,
    databases: Vec<index::Fault>,
    rows: Vec<RowFault>,
    /// Ledgers that can't be read.
    ledgers: Vec<String>,
    held: Counted,
}

/// What is wrong with a session's rows, or with the index over them.
struct RowFault {
    folder: Folder,
    why: String,
    /// Whether the rows are unusable; otherwise only the index is.
    is_damage: bool,
    /// The file to import it from again.
    source: Option<PathBuf>,
}

impl Checked {
    fn of(world: &World) -> anyhow::Result<Self> {
        let root = import::root(world.env)?;
        let index = Index::new(root.clone());
        let folders = root.all()?;
        let databases = index.check(&folders)?;
        let (mut rows, mut held) = (Vec::new(), Counted::default());
        for folder in &folders {
            let of_it = |fault: &&index::Fault| fault.session.as_ref() == Some(folder);
            let is_indexed = !databases.iter().filter(of_it).any(|f| f.anew || f.damaged);
            rows.extend(check_rows(&index, folder, is_indexed, &mut held));
        }
        let all = extracted::find_ledgers(&root);
        let unread = all.unread.into_iter().map(|(path, e)| format!("{}: {e}", path.display()));
        let broken = all.found.iter().filter_map(|of| Some(of.ledger().err()?.to_string()));
        let ledgers = broken.chain(unread).collect();
        Ok(Self { root, index, folders, databases, rows, ledgers, held })
    }

    /// What a fix can repair.
    fn faults(&self) -> Vec<String> {
        let databases = self.databases.iter().map(ToString::to_string);
        let rows = self.rows.iter().map(|RowFault { folder, why, .. }| {
            format!("{} {}: {why}", folder.agent, folder.session)
        });
        databases.chain(rows).collect()
    }

    /// Repairs it; returns what could not be repaired.
    fn repair(self) -> anyhow::Result<Vec<String>> {
        let mut indexed_again = self.index.repair(&self.folders, &self.databases)?;
        let mut failed = Vec::new();
        for RowFault { folder, why, is_damage, source } in self.rows {
            if !is_damage {
                indexed_again.push(folder);
                continue;
            }
            indexed_again.retain(|other| *other != folder);
            let name = format!("{} {}: {why}", folder.agent, folder.session);
            match source.map(|source| import::renew(&self.root, &self.index, &folder, &source)) {
                Some(Ok(_)) => {}
                Some(Err(e)) => failed.push(format!("{name}; {e:#}")),
                None => failed.push(format!(
                    "{name}; its file is gone, but the undamaged blocks can still be read"
                )),
            }
        }
        for folder in indexed_again {
            if let Err(e) = import::reindex(&self.index, &folder) {
                failed.push(format!("{} {}: {e:#}", folder.agent, folder.session));
            }
        }
        Ok(failed)
    }
}

pub fn look(world: &World) -> Vec<Finding> {
    let checked = match Checked::of(world) {
        Ok(checked) => checked,
        Err(e) => {
            return vec![Finding::problem(format!("{e:#}"), "then run `brain-guard doctor` again")];
        }
    };
    let (faults, held) = (checked.faults(), checked.held);
    let mut found = Vec::new();
    if let Some(first) = faults.first() {
        let faults = count(faults.len(), "fault");
        found.push(Finding::problem(format!("{faults} in the store, first {first}"), FIX));
    }
    let way = "repair or remove that line; nothing of its session can be restored until then";
    found.extend(checked.ledgers.iter().map(|why| Finding::problem(why, way)));
    if found.is_empty() {
        found.push(Finding::ok(format!(
            "{}, {}, {}, {}: no fault",
            count(checked.folders.len(), "session"),
            count(held.rounds as usize, "round"),
            count(held.rows as usize, "row"),
            size(held.bytes)
        )));
    }
    found
}

pub fn repair(world: &World) -> anyhow::Result<String> {
    let checked = Checked::of(world)?;
    let all = checked.faults().len();
    let failed = checked.repair()?;
    if failed.is_empty() {
        return Ok(format!("{} repaired", count(all, "fault")));
    }
    bail!("{} left: {}", count(failed.len(), "fault"), failed.join("\n"))
}

/// Checks one session's rows.
fn check_rows(
    index: &Index,
    folder: &Folder,
    is_indexed: bool,
    held: &mut Counted,
) -> Option<RowFault> {
    // A failed lock is ignored: nothing can import into a read-only store.
    let _held = import::hold(folder, PATIENCE);
    let progress = index.progress(folder).ok().flatten();
    let imported = progress.as_ref().map_or(0, |progress| progress.bytes);
    let source = progress.map(|progress| progress.source).filter(|path| path.is_file());
    let fault = |why, is_damage| {
        Some(RowFault { folder: folder.clone(), why, is_damage, source: source.clone() })
    };
    let (counted, differs) = match compare(folder, source.as_deref()) {
        Ok(read) => read,
        Err(e) => return fault(e.to_string(), true),
    };
    held.rounds += counted.rounds;
    held.rows += counted.rows;
    held.bytes += counted.bytes;
    if let Some(source) = source.as_ref().filter(|_| differs) {
        return fault(format!("{} holds something else now", source.display()), true);
    }
    let rounds = index.session(folder).ok().filter(|_| is_indexed)?.rounds.len() as u64;
    // An import that was killed leaves rows that are not indexed, which the next one indexes.
    let is_behind = counted.bytes > imported;
    let fits = imported <= counted.bytes
        && rounds <= counted.rounds
        && (is_behind || rounds == counted.rounds);
    if fits {
        return None;
    }
    let why = format!(
        "{} and {imported} bytes are indexed, the blocks hold {} and {} bytes",
        count(rounds as usize, "round"),
        count(counted.rounds as usize, "round"),
        counted.bytes
    );
    fault(why, false)
}

/// Reads all rows, and says whether the session's file has other bytes now.
fn compare(folder: &Folder, source: Option<&Path>) -> io::Result<(Counted, bool)> {
    let reader = match Reader::open(folder) {
        // A session without blocks has no damage.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((Counted::default(), false)),
        other => other?,
    };
    reader.check_pages()?;
    let mut file = source.and_then(|path| File::open(path).ok()).map(BufReader::new);
    let (mut differs, mut there) = (false, Vec::new());
    let counted = read_rows(&reader, &folder.session, |row| {
        if let Some(open) = &mut file {
            there.clear();
            let read = open.take(row.len() as u64).read_to_end(&mut there);
            if read.is_err() || there != row {
                (differs, file) = (true, None);
            }
        }
        Ok(())
    })?;
    Ok((counted, differs))
}
