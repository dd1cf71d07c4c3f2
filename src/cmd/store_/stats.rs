//! `brain-guard store stats`.

use base::shown::size;
use std::collections::BTreeMap;
use std::fmt;
use std::io;

use serde::Serialize;

use super::gc::size_of;
use super::walk;
use crate::cmd::inscribe::count;
use store::blocks::{self, Folder, Root};

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
struct Much {
    sessions: u64,
    rounds: u64,
    rows: u64,
    blocks: u64,
    /// Bytes of the transcripts.
    bytes: u64,
    /// Bytes that the blocks take on the disk.
    on_disk: u64,
    /// Editions that were replaced.
    editions: u64,
}

impl Much {
    fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.rounds += other.rounds;
        self.rows += other.rows;
        self.blocks += other.blocks;
        self.bytes += other.bytes;
        self.on_disk += other.on_disk;
        self.editions += other.editions;
    }
}

/// How much is in the store, in all and by agent.
#[derive(Debug, Serialize)]
pub struct Stats {
    store: String,
    #[serde(flatten)]
    all: Much,
    /// Bytes of the databases across sessions.
    databases: u64,
    agents: BTreeMap<String, Much>,
}

impl Stats {
    /// Counts what is in the store.
    pub fn of(root: &Root) -> anyhow::Result<Self> {
        let mut agents: BTreeMap<String, Much> = BTreeMap::new();
        let mut all = Much::default();
        for folder in root.all()? {
            let much = one(&folder)?;
            all.add(much);
            agents.entry(folder.agent).or_default().add(much);
        }
        let store = root.path().display().to_string();
        Ok(Self { store, all, databases: size_of(&root.sessions()), agents })
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "store     {}", self.store)?;
        writeln!(f, "all       {}", line(self.all))?;
        for (agent, much) in &self.agents {
            writeln!(f, "{agent:<9} {}", line(*much))?;
        }
        write!(f, "databases {}", size(self.databases))
    }
}

fn one(folder: &Folder) -> io::Result<Much> {
    let mut much = Much { sessions: 1, ..Much::default() };
    let (mut row, mut round) = (None, 0);
    walk::headers(folder, |head| {
        much.blocks += 1;
        much.bytes += head.bytes;
        much.rows += u64::from(row.replace(head.row) != Some(head.row));
        much.rounds += u64::from(std::mem::replace(&mut round, head.round_seq) != head.round_seq);
    })?;
    let mut on_disk = size_of(&folder.blocks());
    for edition in blocks::editions(folder)? {
        much.editions += 1;
        on_disk += size_of(&edition.path);
    }
    Ok(Much { on_disk, ..much })
}

fn line(much: Much) -> String {
    let editions = match much.editions {
        0 => String::new(),
        number => format!(", {}", count(number as usize, "replaced edition")),
    };
    format!(
        "{}, {}, {}, {}, {} ({} in blocks{editions})",
        count(much.sessions as usize, "session"),
        count(much.rounds as usize, "round"),
        count(much.rows as usize, "row"),
        count(much.blocks as usize, "block"),
        size(much.bytes),
        size(much.on_disk)
    )
}
