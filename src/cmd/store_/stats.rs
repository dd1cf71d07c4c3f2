//! `brain-guard store stats`.

use base::shown::size;
use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use super::gc::size_of;
use super::walk;
use crate::cmd::inscribe::count;
use crate::cmd::{Exit, out, out_json};
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

#[derive(Debug, Serialize)]
struct Stats {
    store: String,
    #[serde(flatten)]
    all: Much,
    /// Bytes of the databases across sessions.
    databases: u64,
    agents: BTreeMap<String, Much>,
}

/// Counts what is in the store.
pub fn run(root: &Root, json: bool) -> anyhow::Result<Exit> {
    let mut agents: BTreeMap<String, Much> = BTreeMap::new();
    let mut all = Much::default();
    for folder in root.all()? {
        let much = one(&folder)?;
        all.add(much);
        agents.entry(folder.agent).or_default().add(much);
    }
    let store = root.path().display().to_string();
    let stats = Stats { store, all, databases: size_of(&root.sessions()), agents };
    if json {
        out_json(&stats)?;
        return Ok(Exit::Done);
    }
    out(format_args!("store     {}", stats.store));
    out(format_args!("all       {}", line(stats.all)));
    for (agent, much) in &stats.agents {
        out(format_args!("{agent:<9} {}", line(*much)));
    }
    out(format_args!("databases {}", size(stats.databases)));
    Ok(Exit::Done)
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
