//! Sessions as the operations get them, and their results read again.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use sessions::dialect::{self, Scratch};
use sessions::digest::Digest;
use sessions::operation::Fidelity;
use sessions::round::{Round, Session, Words};
use sessions::rows::{Edit, Rows};
use surgery::export::{Birth, Reading, Report, Text, all};
use surgery::plan::{Place, Plan, Refused, merge};

/// A session as the index and the store have it.
#[derive(Debug, Clone, Default)]
pub struct Read {
    pub session: Session,
    pub words: BTreeMap<u32, Words>,
    pub rows: BTreeMap<u32, Rows>,
}

/// Reads a transcript.
pub fn read(id: &str, bytes: &[u8]) -> Read {
    let dialect =
        dialect::detect(bytes.split_inclusive(|b| *b == b'\n').next().unwrap_or_default());
    let (mut digest, mut scratch, mut blocks) = (Digest::default(), Scratch::default(), Vec::new());
    let mut read = Read::default();
    let mut ended = Vec::new();
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let row = dialect.row(line, &mut scratch);
        dialect.blocks(line, &row, &mut scratch, &mut blocks);
        ended.extend(digest.row(dialect, &row, line, &blocks));
        read.rows.entry(digest.seq()).or_default().push(line);
    }
    ended.extend(digest.open());
    let (mut rounds, words): (Vec<Round>, Vec<_>) = ended.into_iter().unzip();
    let (standings, cut) = digest.standings();
    for (round, standing) in rounds.iter_mut().zip(standings) {
        round.standing = standing;
    }
    read.words = rounds.iter().map(|round| round.seq).zip(words).collect();
    let facts = digest.session();
    read.session = Session {
        id: id.to_owned(),
        agent: "claude".to_owned(),
        dialect: dialect.name().to_owned(),
        started: facts.started,
        ended: facts.ended,
        parent: facts.parent.clone(),
        base: digest.base(),
        used: digest.context(),
        cut,
        rounds,
        ..Session::default()
    };
    read
}

/// Exports a plan, and reads the new session.
pub fn made(id: &str, plan: &Plan, sources: &[&Read]) -> Result<(Read, String), TestCaseError> {
    made_by(id, plan, sources, &mut |line| Some(line.to_vec()))
}

/// The same, with rows that `edit` changes or removes.
pub fn made_by(
    id: &str,
    plan: &Plan,
    sources: &[&Read],
    edit: &mut dyn FnMut(&[u8]) -> Option<Vec<u8>>,
) -> Result<(Read, String), TestCaseError> {
    let (_, text) = export(id, plan, sources, edit)?;
    Ok((read(id, text.as_bytes()), text))
}

/// Exports a plan, with rows that `edit` changes or removes.
pub fn export(
    id: &str,
    plan: &Plan,
    sources: &[&Read],
    edit: &mut dyn FnMut(&[u8]) -> Option<Vec<u8>>,
) -> Result<(Report, String), TestCaseError> {
    let birth = Birth {
        id: id.to_owned(),
        cwd: "/w".to_owned(),
        now: testing::at("2027-01-01"),
        tokens: 300,
        base: None,
        title: None,
    };
    let say = |_: Text, vars: &[(&str, &str)]| {
        let table = vars.iter().find(|(name, _)| *name == "table").map_or("", |(_, table)| table);
        format!("[brain-guard]\n{table}")
    };
    let mut rows_of = |place: Place, rows: &mut Rows| {
        let session = &plan.sessions[place.session].id;
        let source = sources.iter().find(|s| s.session.id == *session).expect("a source");
        rows.clear();
        source.rows[&place.seq].iter().for_each(|line| rows.push(line));
        Ok(())
    };
    let mut edit = |_: Place, rows: &mut Rows| {
        rows.edit(|line| {
            Ok(match edit(line) {
                Some(edited) if edited == line => Edit::Stays,
                Some(edited) => Edit::Becomes(edited),
                None => Edit::Gone,
            })
        })
    };
    let reading = Reading { read: &mut rows_of, edit: &mut edit };
    let (report, out) = all(plan, &birth, &say, reading, &mut || Ok(Vec::new()))
        .map_err(|e| TestCaseError::fail(e.to_string()))?;
    Ok((report, String::from_utf8(out).expect("UTF-8")))
}

/// The plan that merges two.
pub fn merged_of(a: &Read, b: &Read) -> Result<Plan, Refused> {
    merge(a.session.clone(), b.session.clone(), Fidelity::default())
}

/// Ids of new sessions.
pub const IDS: [&str; 4] = [
    "aaaaaaaa-0000-4000-8000-000000000001",
    "bbbbbbbb-0000-4000-8000-000000000002",
    "cccccccc-0000-4000-8000-000000000003",
    "dddddddd-0000-4000-8000-000000000004",
];
/// Engagements.
pub const NAMES: [&str; 3] = ["console-work", "inscription", "matrix"];

/// The rounds' numbers.
pub fn seqs(places: impl Iterator<Item = Place>) -> Vec<u32> {
    places.map(|place| place.seq).collect()
}

/// The rounds that a plan mentions.
pub fn all_of(plan: &Plan) -> BTreeSet<Place> {
    let left = &plan.left;
    let left = left.rewound.iter().chain(&left.compacted).chain(&left.doubled).copied();
    plan.whole().chain(plan.indexed()).chain(plan.summaries()).chain(left).collect()
}

/// How many rounds it mentions, duplicates included.
pub fn count(plan: &Plan) -> usize {
    let left = &plan.left;
    let left = left.rewound.len() + left.compacted.len() + left.doubled.len();
    let lines: BTreeSet<Place> = plan.indexed().chain(plan.summaries()).collect();
    plan.whole().count() + lines.len() + left
}
