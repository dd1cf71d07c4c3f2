//! `brain-guard store check`.

use base::shown::size;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::walk::{self, Held};
use crate::cmd::import::{self, count};
use sessions::round::Session;
use store::blocks::{Folder, Root};
use store::index::Index;

/// How long to wait for an import that is running.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Default, Serialize)]
pub struct Report {
    sessions: usize,
    rounds: u64,
    rows: u64,
    bytes: u64,
    faults: Vec<Fault>,
}

#[derive(Debug, Serialize)]
struct Fault {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    what: String,
    mended: bool,
}

/// How to repair a session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cure {
    /// Index its blocks again.
    Index,
    /// Import it from its file again.
    Renew,
}

impl Report {
    /// Verifies the store, and repairs it if `repair` is set.
    pub fn of(root: &Root, repair: bool) -> anyhow::Result<Self> {
        let index = Index::new(root.clone());
        let folders = root.all()?;
        let mut report = Report { sessions: folders.len(), ..Report::default() };
        let wrong = index.check(&folders)?;
        let anew = if repair { index.mend(&folders, &wrong)? } else { Vec::new() };
        for fault in &wrong {
            let session = fault.session.as_ref();
            // A session that will be indexed again counts as mended only once that is done.
            let mended = repair && (!fault.anew || session.is_none());
            let session = session.map(|folder| folder.session.clone());
            report.faults.push(Fault { session, what: fault.to_string(), mended });
        }
        for folder in &folders {
            let before = report.faults.len();
            let mut cure = check_session(&index, folder, &wrong, &mut report);
            if anew.contains(folder) {
                cure = cure.max(Some(Cure::Index));
            }
            let Some(cure) = cure.filter(|_| repair) else { continue };
            let done = mend(root, &index, folder, cure);
            let of_session = |fault: &&mut Fault| fault.session.as_ref() == Some(&folder.session);
            match done {
                Ok(()) => report.faults.iter_mut().filter(of_session).for_each(|f| f.mended = true),
                Err(e) => {
                    let failed = format!("could not be mended: {e:#}");
                    let mut known = report.faults.iter_mut().skip(before);
                    if let Some(fault) = known.find(|fault| of_session(fault)) {
                        fault.what = format!("{}; that {failed}", fault.what);
                    } else {
                        let what = format!("{} {}: {failed}", folder.agent, folder.session);
                        let session = Some(folder.session.clone());
                        report.faults.push(Fault { session, what, mended: false });
                    }
                }
            }
        }
        Ok(report)
    }

    pub fn left(&self) -> usize {
        self.faults.iter().filter(|fault| !fault.mended).count()
    }
}

/// Checks one session. Returns what would repair it.
fn check_session(
    index: &Index,
    folder: &Folder,
    wrong: &[store::index::Fault],
    report: &mut Report,
) -> Option<Cure> {
    // A failed lock is ignored: nothing can import into a read-only store.
    let held = import::hold(folder, PATIENCE);
    let of_it = |fault: &&store::index::Fault| fault.session.as_ref() == Some(folder);
    let usable = !wrong.iter().filter(of_it).any(|fault| fault.anew || fault.damaged);
    let progress = index.progress(folder).ok().flatten();
    let source = progress.as_ref().map(|progress| progress.source.clone());
    let source = source.filter(|path| path.is_file());
    let found = walk::verify(folder, source.as_deref());
    drop(held);
    report.rows += found.rows;
    report.bytes += found.bytes;
    report.rounds += found.rounds.iter().filter(|round| round.seq > 0).count() as u64;
    let mut fault = |what: String| {
        let session = Some(folder.session.clone());
        report.faults.push(Fault { session, what, mended: false });
    };
    let name = format!("{} {}", folder.agent, folder.session);
    if let Some(why) = &found.damage {
        fault(format!("{name}: {why}"));
        return Some(Cure::Renew);
    }
    if found.differs {
        let source = source.unwrap_or_default();
        fault(format!("{name}: {} holds something else now", source.display()));
        return Some(Cure::Renew);
    }
    if let Some(session) = index.session(folder).ok().filter(|_| usable)
        && let Some(why) = find_mismatch(&session, &found, progress.map_or(0, |p| p.bytes))
    {
        fault(format!("{name}: {why}"));
        return Some(Cure::Index);
    }
    None
}

/// Describes how the index differs from the blocks. Rows after the indexed ones are no fault: an
/// import was killed before it indexed them.
fn find_mismatch(session: &Session, found: &Held, indexed: u64) -> Option<String> {
    if indexed > found.bytes {
        return Some(format!("{indexed} bytes are indexed, the blocks hold {}", found.bytes));
    }
    let behind = found.bytes > indexed;
    let held: Vec<_> = found.rounds.iter().filter(|round| round.seq > 0).collect();
    if session.rounds.len() > held.len() || (!behind && session.rounds.len() < held.len()) {
        let (indexed, held) = (session.rounds.len(), held.len());
        return Some(format!("{} indexed, the blocks hold {held}", count(indexed, "round")));
    }
    let last = session.rounds.len();
    session.rounds.iter().zip(&held).enumerate().find_map(|(at, (round, held))| {
        let same = (round.rows, round.bytes) == (held.rows, held.bytes);
        // The last round may have grown after it was indexed.
        let grown = behind && at + 1 == last && round.bytes <= held.bytes;
        (round.seq != held.seq || !(same || grown))
            .then(|| format!("round {} is not in the blocks as the index says", round.seq))
    })
}

fn mend(root: &Root, index: &Index, folder: &Folder, cure: Cure) -> anyhow::Result<()> {
    if cure == Cure::Index {
        return import::reindex(index, folder).map(drop);
    }
    let source: Option<PathBuf> = index.progress(folder)?.map(|progress| progress.source);
    match source.as_deref().filter(|path| Path::is_file(path)) {
        Some(source) => import::renew(root, index, folder, source).map(drop),
        None => anyhow::bail!("its file is gone; the undamaged blocks can still be read"),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.faults {
            writeln!(f, "{} {}", if fault.mended { "mended " } else { "problem" }, fault.what)?;
        }
        write!(
            f,
            "{}, {}, {}, {}: {}",
            count(self.sessions, "session"),
            count(self.rounds as usize, "round"),
            count(self.rows as usize, "row"),
            size(self.bytes),
            match (self.faults.len(), self.left()) {
                (0, _) => "no fault".to_owned(),
                (all, 0) => format!("{} mended", count(all, "fault")),
                (_, left) => format!(
                    "{} left; `brain-guard store check --repair` mends what can be mended",
                    count(left, "fault")
                ),
            }
        )
    }
}
