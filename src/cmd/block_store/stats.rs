//! `brain-guard store stats`.

use base::shown::size;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::gc::size_of;
use crate::cmd::import::{Bounds, Held, count};
use store::blocks::{self, Folder, Reader, Root};
use store::index::Index;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
struct Totals {
    sessions: u64,
    rounds: u64,
    rows: u64,
    /// Bytes of the transcripts.
    bytes: u64,
    /// Bytes that they take on the disk, compressed.
    on_disk: u64,
    /// Bytes in the old format that are still there.
    packs: u64,
    /// Editions that were replaced.
    editions: u64,
}

impl Totals {
    fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.rounds += other.rounds;
        self.rows += other.rows;
        self.bytes += other.bytes;
        self.on_disk += other.on_disk;
        self.packs += other.packs;
        self.editions += other.editions;
    }
}

/// How much is in the store, in all and by agent.
#[derive(Debug, Serialize)]
pub struct Stats {
    store: String,
    #[serde(flatten)]
    all: Totals,
    /// Bytes of the databases across sessions.
    databases: u64,
    agents: BTreeMap<String, Totals>,
    /// What the import at a session's end keeps; `None` while that is off.
    bounds: Option<Bounds>,
    /// Sessions that stay beyond the bounds, because others point to them.
    pointed_to: usize,
}

impl Stats {
    pub fn of(root: &Root, bounds: Option<Bounds>) -> anyhow::Result<Self> {
        let mut agents: BTreeMap<String, Totals> = BTreeMap::new();
        let mut all = Totals::default();
        for folder in root.all()? {
            let much = session_totals(&folder)?;
            all.add(much);
            agents.entry(folder.agent).or_default().add(much);
        }
        let store = root.path().display().to_string();
        let pointed_to = Held::of(root, &Index::new(root.clone()))?.pointed_to;
        Ok(Self { store, all, databases: size_of(&root.sessions()), agents, bounds, pointed_to })
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "store     {}", self.store)?;
        writeln!(f, "all       {}", line(self.all))?;
        for (agent, much) in &self.agents {
            writeln!(f, "{agent:<9} {}", line(*much))?;
        }
        writeln!(f, "databases {}", size(self.databases))?;
        match self.bounds {
            None => write!(f, "bounds    none; the import at a session's end is off")?,
            Some(bounds) => write!(
                f,
                "bounds    {bounds}; {} may exceed them, because others point to them",
                count(self.pointed_to, "session")
            )?,
        }
        match self.all.packs {
            0 => Ok(()),
            packs => write!(
                f,
                "\npacks     {} in the old format; `brain-guard store drop-old` removes what is copied",
                size(packs)
            ),
        }
    }
}

fn session_totals(folder: &Folder) -> anyhow::Result<Totals> {
    let mut much = Totals { sessions: 1, ..Totals::default() };
    if folder.has_blocks() {
        let totals = Reader::open(folder)?.totals()?;
        (much.rounds, much.rows, much.bytes) = (totals.rounds, totals.rows, totals.bytes);
    }
    much.on_disk = bytes_of(&folder.blocks());
    for edition in blocks::editions(folder)? {
        much.editions += 1;
        much.on_disk += bytes_of(&edition.path);
    }
    for packs in blocks::list_packs(folder)? {
        much.packs += packs.size()?;
    }
    Ok(much)
}

fn bytes_of(file: &Path) -> u64 {
    file.metadata().map_or(0, |meta| meta.len())
}

fn line(much: Totals) -> String {
    let editions = match much.editions {
        0 => String::new(),
        number => format!(", {}", count(number as usize, "replaced edition")),
    };
    format!(
        "{}, {}, {}, {} ({} on the disk{editions})",
        count(much.sessions as usize, "session"),
        count(much.rounds as usize, "round"),
        count(much.rows as usize, "row"),
        size(much.bytes),
        size(much.on_disk)
    )
}
