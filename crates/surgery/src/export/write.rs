//! From a plan to a file: every piece is written, checked and passed on, so that memory is
//! bounded by the largest round.

use std::io::{self, Write};

use thiserror::Error;

use super::out::Out;
use super::{Birth, Exporter, Report, Say};
use crate::plan::{Piece, Place, Plan};
use crate::preserved;
use crate::validate::Finding;
use sessions::round::Round;
use sessions::rows::Rows;

/// Why nothing was written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failed {
    /// A dialect nobody knows.
    #[error("a session of the dialect {0} can't be written; there is claude and pi")]
    Dialect(String),
    /// Two dialects in one session.
    #[error("a session of {0} and one of {1} don't go into one file")]
    Dialects(String, String),
    /// The store or the file.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What was written is no sound session: nothing of it may stay.
    #[error("the new session is not sound, nothing was written: {}", first(.0))]
    Unsound(Vec<Finding>),
}

fn first(findings: &[Finding]) -> String {
    findings.first().map_or_else(String::new, ToString::to_string)
}

/// Writes the plan into what `begin` gives; `read` gives the rows of a round as they are in the
/// store. What was written counts only when this succeeds. It begins anew where a row turns
/// out to be no JSON inside: that is so rare that rows are not looked through for it twice.
///
/// # Errors
/// [`Failed`].
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

/// Puts behind a compaction's summary what it kept of rounds that don't come by themselves.
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
