//! Writes a plan to a file. Each piece is written, checked and passed on, so the largest round
//! bounds the memory.

use std::borrow::Cow;
use std::io::{self, Write};

use thiserror::Error;

use super::out::Out;
use super::{Birth, Exporter, Report, Say, opening};
use crate::plan::{Piece, Place, Plan};
use crate::validate::Finding;
use sessions::dialect::{self, Kind, Scratch};
use sessions::rows::{Edit, Rows};
use sessions::span;

/// Why nothing was written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failed {
    /// A session, and its dialect, which is not Claude Code's.
    #[error("{0} is a session of {1}; surgery is for those of Claude Code")]
    Dialect(String, String),
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

/// How a plan's rows are read from the store, and changed on their way.
pub struct Reading<'r> {
    /// Reads all rows of a round.
    pub read: &'r mut dyn FnMut(Place, &mut Rows) -> io::Result<()>,
    /// Changes the rows that stand for a round.
    pub edit: &'r mut dyn FnMut(Place, &mut Rows) -> io::Result<()>,
}

/// Writes the plan into what `begin` opens. The output counts only if this succeeds. If a row turns
/// out to be invalid JSON, it starts again and checks each row first; that is too rare to do every
/// time.
pub fn all<W: Write>(
    plan: &Plan,
    birth: &Birth,
    say: &Say,
    mut reading: Reading,
    begin: &mut dyn FnMut() -> io::Result<W>,
) -> Result<(Report, W), Failed> {
    let mut attempt = |careful| {
        let mut sink = begin()?;
        let exporter = Exporter::new(plan, birth, say, careful)?;
        let out = Out::new(&birth.id, plan.rows(), plan.largest(), &mut sink);
        let report = export(exporter, &mut reading, out)?;
        Ok((report, sink))
    };
    match attempt(false) {
        Err(Failed::Unsound(found)) if found.iter().any(Finding::is_malformed) => attempt(true),
        done => done,
    }
}

fn export(mut exporter: Exporter, reading: &mut Reading, mut out: Out) -> Result<Report, Failed> {
    let plan = exporter.plan;
    let mut rows = Rows::with_capacity(plan.largest());
    exporter.open(&mut out.rows);
    for place in opening::places(plan) {
        sent_rows(plan, place, &mut rows, reading, &mut exporter)?;
        opening::keep(&mut rows)?;
        if rows.ends.is_empty() {
            continue;
        }
        exporter.summary = true;
        exporter.round(place, &rows, &mut out)?;
        exporter.summary = false;
    }
    let unchanged = plan.with_thinking();
    for (at, piece) in plan.pieces.iter().enumerate() {
        exporter.changed |= at >= unchanged;
        match piece {
            Piece::Index(places) => exporter.index(places, &mut out.rows),
            Piece::Summary(place) => {
                sent_rows(plan, *place, &mut rows, reading, &mut exporter)?;
                let files = only_summary(plan, *place, &mut rows)?;
                exporter.put_back(*place, &files);
                exporter.summary = true;
                exporter.round(*place, &rows, &mut out)?;
                exporter.summary = false;
            }
            Piece::Round(place) => {
                sent_rows(plan, *place, &mut rows, reading, &mut exporter)?;
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

/// Leaves the rows with a compaction's summary, and what hooks said behind it. Returns the files
/// that the client put back there.
fn only_summary(plan: &Plan, place: Place, rows: &mut Rows) -> io::Result<Vec<String>> {
    let Some(dialect) = dialect::named(&plan.sessions[place.session].dialect) else {
        return Ok(Vec::new());
    };
    let (mut scratch, mut files) = (Scratch::default(), Vec::new());
    rows.edit(|line| {
        let kind = dialect.row(line, &mut scratch).kind;
        if matches!(kind, Kind::Boundary | Kind::Summary) {
            return Ok(Edit::Stays);
        }
        match dialect.attached(line) {
            Some((kind, _)) if kind.starts_with("hook_") => Ok(Edit::Stays),
            attached => {
                let file = attached.and_then(|(_, json)| span::find(json, "filename"));
                files.extend(file.and_then(span::text).map(Cow::into_owned));
                Ok(Edit::Gone)
            }
        }
    })?;
    Ok(files)
}

/// Reads the rows that stand for a round. Those of a round that is no longer in the context are left
/// out if that round is in the plan with all of its rows.
fn sent_rows(
    plan: &Plan,
    place: Place,
    rows: &mut Rows,
    reading: &mut Reading,
    exporter: &mut Exporter,
) -> io::Result<()> {
    rows.clear();
    let (session, round) = plan.at(place).ok_or(io::ErrorKind::NotFound)?;
    let Some(dialect) = dialect::named(&session.dialect) else { return Ok(()) };
    let parts = &round.standing.parts;
    if parts.is_empty() {
        (reading.read)(place, rows)?;
        return (reading.edit)(place, rows);
    }
    let mut scratch = Scratch::default();
    for of_one in parts.chunk_by(|a, b| a.seq == b.seq) {
        let from = Place { seq: of_one[0].seq, ..place };
        let is_away = session.round(from.seq).is_some_and(|round| !round.is_sent());
        if from != place && is_away && plan.pieces.contains(&Piece::Round(from)) {
            continue;
        }
        let mut all = Rows::default();
        (reading.read)(from, &mut all)?;
        let mut lines = Vec::new();
        for (number, line) in (0..).zip(all.iter()) {
            let row = dialect.row(line, &mut scratch);
            if row.id.is_some() {
                lines.push(line);
            } else if row.kind == Kind::Broken && from == place {
                exporter.report.broken.push((place, number));
            }
        }
        for part in of_one {
            let wanted = lines.get(part.rows.start as usize..part.rows.end as usize);
            let wanted = wanted.ok_or(io::ErrorKind::InvalidData)?;
            for line in wanted {
                rows.push(line);
            }
        }
    }
    (reading.edit)(place, rows)
}
