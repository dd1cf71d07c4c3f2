//! What a compaction kept of the rounds before it.

use std::io;

use super::Exporter;
use super::form::Kept;
use crate::surgery::plan::{Piece, Place, Plan};
use crate::transcript::dialect::{Dialect, Kind, Scratch};
use crate::transcript::rows::Rows;

/// Rounds that are looked through for what a compaction kept: it keeps the latest.
const FURTHEST: u32 = 500;

/// Puts what a compaction kept of the rounds before it behind its summary: it is in the
/// context, and lies elsewhere.
pub(super) fn preserved(
    plan: &Plan,
    place: Place,
    exporter: &Exporter,
    rows: &mut Rows,
    read: &mut dyn FnMut(Place, &mut Rows) -> io::Result<()>,
) -> io::Result<()> {
    let session = &plan.sessions[place.session];
    let Some(round) = session.round(place.seq).filter(|r| r.boundary) else { return Ok(()) };
    let kept = exporter.form.behind(rows);
    let dialect = exporter.form.dialect();
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
        let earlier = Place { seq: at.seq, ..place };
        read(earlier, &mut all)?;
        let (mut some, found) = of_round(&kept, &all, dialect, &mut scratch);
        missing = missing.saturating_sub(found);
        if plan.pieces.contains(&Piece::Round(earlier)) {
            // Its rows are there already.
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
