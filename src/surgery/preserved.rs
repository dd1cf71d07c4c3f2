//! What a compaction kept of the rounds before it: it is in the context behind the summary, and
//! lies elsewhere in the file.

use std::io;

use memchr::memmem;

use crate::transcript::dialect::{self, Dialect, Kind, Scratch};
use crate::transcript::round::{Round, Session};
use crate::transcript::rows::Rows;
use crate::transcript::span;

/// Rounds that are looked through for what a compaction kept: it keeps the latest.
const FURTHEST: u32 = 500;

/// What a compaction left in the context of the rows before it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kept {
    /// Nothing.
    Nothing,
    /// These rows.
    Ids(Vec<String>),
    /// This row and all behind it.
    From(String),
}

impl Kept {
    /// By the rows of the compaction's round.
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
            Some(items.iter().filter_map(|at| span::plain(at.of(ids))).map(str::to_owned).collect())
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
}

/// Puts what a compaction kept of the rounds before it behind its summary, in `rows`, which are
/// those of its round. Rounds that are `there` by themselves bring their rows. Nothing where no
/// compaction begins the round.
///
/// # Errors
/// What `read` says of an earlier round.
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
    let (mut behind, mut all) = (Vec::new(), Rows::default());
    // Along the branch: what was rewound is in no context.
    let mut at = round;
    for _ in 0..FURTHEST {
        let follows = at.follows.filter(|earlier| missing > 0 && *earlier < at.seq);
        let Some(earlier) = follows.and_then(|seq| session.round(seq)) else { break };
        at = earlier;
        read(at, &mut all)?;
        let (mut some, found) = of_round(&kept, &all, dialect, &mut scratch);
        missing = missing.saturating_sub(found);
        if there(at.seq) {
            some.clear();
        }
        behind.push(some);
    }
    if missing > 0 && matches!(kept, Kept::From(_)) {
        // It begins nowhere: then nothing was kept.
        return Ok(());
    }
    let mut joined = Rows::default();
    let mut due = true;
    for line in rows.iter() {
        let kind = dialect.row(line, &mut scratch).kind;
        if due && !matches!(kind, Kind::Boundary | Kind::Summary | Kind::Other) {
            due = false;
            behind.iter().rev().flat_map(Rows::iter).for_each(|line| joined.push(line));
        }
        joined.push(line);
    }
    if due {
        behind.iter().rev().flat_map(Rows::iter).for_each(|line| joined.push(line));
    }
    *rows = joined;
    Ok(())
}

/// The rows of a round that were kept, and how many of what was named are among them.
fn of_round(
    kept: &Kept,
    all: &Rows,
    dialect: &dyn Dialect,
    scratch: &mut Scratch,
) -> (Rows, usize) {
    let (mut some, mut found) = (Rows::default(), 0);
    let names = |id: &str| match kept {
        Kept::Nothing => false,
        Kept::Ids(ids) => ids.iter().any(|named| named == id),
        Kept::From(first) => first == id,
    };
    let mut id = |line| dialect.row(line, scratch).id.is_some_and(names);
    let first = all.iter().position(&mut id);
    for (at, line) in all.iter().enumerate() {
        let row = dialect.row(line, scratch);
        let Some(id) = row.id else { continue };
        found += usize::from(names(id));
        let wanted = match kept {
            // All of a round behind the one that it begins in.
            Kept::From(_) => first.is_none_or(|first| at >= first),
            _ => names(id),
        };
        if wanted && row.kind != Kind::Boundary {
            some.push(line);
        }
    }
    (some, found)
}
