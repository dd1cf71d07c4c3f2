//! Writes a plan to a file. Each piece is written, checked and passed on, so the largest round
//! bounds the memory.

use std::io::{self, Write};

use thiserror::Error;

use super::out::Out;
use super::{Birth, Exporter, Report, Say};
use crate::plan::{Piece, Place, Plan};
use crate::preserved;
use crate::validate::Finding;
use sessions::dialect::{self, Kind, Scratch};
use sessions::round::Round;
use sessions::rows::{Edit, Rows};

/// Why nothing was written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failed {
    /// The dialect is unknown.
    #[error("a session of the dialect {0} can't be written; there is claude and pi")]
    Dialect(String),
    /// The sessions have two dialects.
    #[error("cannot combine a {0} session with a {1} session")]
    Dialects(String, String),
    /// The store or the file failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The output is not a valid session; the caller must discard it.
    #[error("the new session is not sound, nothing was written: {}", first(.0))]
    Unsound(Vec<Finding>),
}

fn first(findings: &[Finding]) -> String {
    findings.first().map_or_else(String::new, ToString::to_string)
}

/// Writes the plan into what `begin` opens; `read` reads the rows of a round from the store. The
/// output counts only if this succeeds. If a row turns out to be invalid JSON, it starts again and
/// checks each row first; that is too rare to do every time.
pub fn all<W: Write>(
    plan: &Plan,
    birth: &Birth,
    say: &Say,
    read: &mut dyn FnMut(Place, &mut Rows) -> io::Result<()>,
    begin: &mut dyn FnMut() -> io::Result<W>,
) -> Result<(Report, W), Failed> {
    let mut attempt = |careful| {
        let mut sink = begin()?;
        let exporter = Exporter::new(plan, birth, say, careful)?;
        let report =
            export(exporter, read, Out::new(&birth.id, plan.rows(), plan.largest(), &mut sink))?;
        Ok((report, sink))
    };
    match attempt(false) {
        Err(Failed::Unsound(found)) if found.iter().any(Finding::is_malformed) => attempt(true),
        done => done,
    }
}

fn export(
    mut exporter: Exporter,
    read: &mut dyn FnMut(Place, &mut Rows) -> io::Result<()>,
    mut out: Out,
) -> Result<Report, Failed> {
    let plan = exporter.plan;
    let mut rows = Rows::with_capacity(plan.largest());
    exporter.open(&mut out.rows);
    for piece in &plan.pieces {
        match piece {
            Piece::Index(places) => exporter.index(places, &mut out.rows),
            Piece::Summary(place) => {
                rows.clear();
                read(*place, &mut rows)?;
                only_summary(plan, *place, &mut rows)?;
                exporter.summary = true;
                exporter.round(*place, &rows, &mut out)?;
                exporter.summary = false;
            }
            Piece::Round(place) => {
                rows.clear();
                read(*place, &mut rows)?;
                preserve(plan, *place, &mut rows, read)?;
                exporter.round(*place, &rows, &mut out)?;
            }
        }
        if out.malformed() {
            return Err(Failed::Unsound(out.finish()?.1));
        }
    }
    let report = exporter.close(&mut out);
    let (bytes, findings) = out.finish()?;
    if findings.is_empty() {
        Ok(Report { bytes, ..report })
    } else {
        Err(Failed::Unsound(findings))
    }
}

/// Leaves the rows with a compaction's summary.
fn only_summary(plan: &Plan, place: Place, rows: &mut Rows) -> io::Result<()> {
    let Some(dialect) = dialect::named(&plan.sessions[place.session].dialect) else {
        return Ok(());
    };
    let mut scratch = Scratch::default();
    rows.edit(|line| {
        let kind = dialect.row(line, &mut scratch).kind;
        Ok(if matches!(kind, Kind::Boundary | Kind::Summary) { Edit::Stays } else { Edit::Gone })
    })
}

/// Adds the rows that a compaction kept of rounds outside the plan, after its summary.
fn preserve(
    plan: &Plan,
    place: Place,
    rows: &mut Rows,
    read: &mut dyn FnMut(Place, &mut Rows) -> io::Result<()>,
) -> io::Result<()> {
    let session = &plan.sessions[place.session];
    let Some(round) = session.round(place.seq) else { return Ok(()) };
    let there = |seq| plan.pieces.contains(&Piece::Round(Place { seq, ..place }));
    let mut read =
        |earlier: &Round, rows: &mut Rows| read(Place { seq: earlier.seq, ..place }, rows);
    preserved::put(session, round, rows, &there, &mut read)
}
