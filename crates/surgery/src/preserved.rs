//! What a compaction kept of the rounds before it: rows that are in the context after the summary,
//! but elsewhere in the file.

use std::io;

use memchr::memmem;

use sessions::dialect::{self, Dialect, Kind, Scratch};
use sessions::round::{Round, Session};
use sessions::rows::Rows;
use sessions::span;

/// How many rounds to search for kept rows: a compaction keeps the latest.
const FURTHEST: usize = 500;

/// What a compaction kept of the rows before it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kept {
    /// Nothing.
    Nothing,
    /// These rows.
    Ids(Vec<String>),
    /// This row, and all after it.
    From(String),
}

impl Kept {
    /// Reads it from the rows of the compaction's round.
    fn of(dialect: &dyn Dialect, rows: &Rows) -> Self {
        if dialect.name() == "claude" { Self::of_claude(rows) } else { Self::of_pi(rows) }
    }

    fn of_claude(rows: &Rows) -> Self {
        let boundary =
            rows.iter().find(|line| memmem::find(line, b"\"compact_boundary\"").is_some());
        let listed = || {
            let kept = span::find(span::find(boundary?, "compactMetadata")?, "preservedMessages")?;
            let ids = span::find(kept, "uuids")?;
            let mut items = Vec::new();
            span::items(ids, &mut items)?;
            Some(
                items
                    .iter()
                    .filter_map(|at| span::plain(at.slice(ids)))
                    .map(str::to_owned)
                    .collect(),
            )
        };
        listed().map_or(Self::Nothing, Self::Ids)
    }

    fn of_pi(rows: &Rows) -> Self {
        let first = rows.iter().find_map(|line| {
            let compaction = span::find(line, "type") == Some(b"\"compaction\"");
            span::find(line, "firstKeptEntryId").filter(|_| compaction).and_then(span::plain)
        });
        first.map_or(Self::Nothing, |id| Self::From(id.to_owned()))
    }

    /// Whether it names this row.
    fn names(&self, id: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Ids(ids) => ids.iter().any(|named| named == id),
            Self::From(first) => first == id,
        }
    }

    /// Appends the kept rows of a round.
    fn of_round(&self, all: &Rows, dialect: &dyn Dialect, kept: &mut Rows) {
        let mut scratch = Scratch::default();
        let named = |line| dialect.row(line, &mut scratch).id.is_some_and(|id| self.names(id));
        let first = all.iter().position(named);
        for (at, line) in all.iter().enumerate() {
            let row = dialect.row(line, &mut scratch);
            let Some(id) = row.id else { continue };
            let wanted = match self {
                // In the round that has the first kept row, from there on; of later rounds, all.
                Self::From(_) => first.is_none_or(|first| at >= first),
                _ => self.names(id),
            };
            if wanted && row.kind != Kind::Boundary {
                kept.push(line);
            }
        }
    }
}

/// Inserts what a compaction kept of earlier rounds after its summary; `rows` are those of its
/// round. Rounds that are `there` by themselves are skipped. Does nothing if no compaction begins
/// the round.
pub fn put(
    session: &Session,
    round: &Round,
    rows: &mut Rows,
    there: &dyn Fn(u32) -> bool,
    read: &mut dyn FnMut(&Round, &mut Rows) -> io::Result<()>,
) -> io::Result<()> {
    let Some(dialect) = dialect::named(&session.dialect).filter(|_| round.boundary) else {
        return Ok(());
    };
    let kept = Kept::of(dialect, rows);
    let mut scratch = Scratch::default();
    let mut missing = match &kept {
        Kept::Nothing => return Ok(()),
        Kept::Ids(ids) => ids.len(),
        Kept::From(_) => 1,
    };
    let mut all = Rows::default();
    // Along the branch: rewound rounds are in no context.
    let mut earlier = Vec::new();
    let mut at = round;
    for _ in 0..FURTHEST {
        let follows = at.follows.filter(|earlier| missing > 0 && *earlier < at.seq);
        let Some(before) = follows.and_then(|seq| session.round(seq)) else { break };
        at = before;
        all.clear();
        read(at, &mut all)?;
        let named =
            |line: &&[u8]| dialect.row(line, &mut scratch).id.is_some_and(|id| kept.names(id));
        let found = all.iter().filter(named).count();
        missing = missing.saturating_sub(found);
        if found > 0 || matches!(kept, Kept::From(_)) {
            earlier.push(at);
        }
    }
    if missing > 0 && matches!(kept, Kept::From(_)) {
        // The first kept row does not exist, so nothing was kept.
        return Ok(());
    }
    let mut behind = Rows::default();
    for at in earlier.into_iter().rev().filter(|at| !there(at.seq)) {
        all.clear();
        read(at, &mut all)?;
        kept.of_round(&all, dialect, &mut behind);
    }
    if behind.ends.is_empty() {
        return Ok(());
    }
    let mut joined = Rows::default();
    let mut due = true;
    for line in rows.iter() {
        let kind = dialect.row(line, &mut scratch).kind;
        if due && !matches!(kind, Kind::Boundary | Kind::Summary | Kind::Other) {
            due = false;
            behind.iter().for_each(|line| joined.push(line));
        }
        joined.push(line);
    }
    if due {
        behind.iter().for_each(|line| joined.push(line));
    }
    *rows = joined;
    Ok(())
}
