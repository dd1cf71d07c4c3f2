//! From a plan to a file: every piece is written, checked and passed on, so that memory is
//! bounded by the largest round.

use std::io::{self, Write};

use thiserror::Error;

use super::preserved::preserved;
use super::{Birth, Exporter, Report, Say};
use crate::surgery::plan::{Piece, Place, Plan};
use crate::surgery::validate::{Finding, Validator};
use crate::transcript::rows::Rows;
use crate::transcript::span::Span;

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

/// Writes the plan into `sink`; `read` gives the rows of a round as they are in the store. The
/// sink's content counts only when this succeeds.
///
/// # Errors
/// [`Failed`].
pub fn all(
    plan: &Plan,
    birth: &Birth,
    say: &Say,
    read: &mut dyn FnMut(Place, &mut Rows) -> io::Result<()>,
    sink: &mut dyn Write,
) -> Result<Report, Failed> {
    let mut exporter = Exporter::new(plan, birth, say)?;
    let mut checked = Checked { validator: Validator::strict(&birth.id), sink, lines: 0, bytes: 0 };
    let (mut rows, mut out) = (Rows::default(), Vec::new());
    // From the last answer on, whose usage is set at the end.
    let (mut held, mut usages): (Vec<u8>, Vec<Span>) = (Vec::new(), Vec::new());
    exporter.open(&mut out);
    for piece in &plan.pieces {
        match piece {
            Piece::Index(places) => exporter.index(places, &mut out),
            Piece::Round(place) => {
                rows.clear();
                read(*place, &mut rows)?;
                preserved(plan, *place, &exporter, &mut rows, read)?;
                exporter.round(*place, &rows, &mut out);
            }
        }
        checked.validator.given(exporter.thinking());
        if exporter.answered() {
            checked.pass(&held)?;
            std::mem::swap(&mut held, &mut out);
            usages = exporter.usages();
        } else if usages.is_empty() {
            checked.pass(&out)?;
        } else {
            held.append(&mut out);
        }
        out.clear();
    }
    let mut report = exporter.close(&usages, &mut held);
    checked.pass(&held)?;
    report.bytes = checked.bytes;
    let findings = checked.validator.finish();
    if findings.is_empty() { Ok(report) } else { Err(Failed::Unsound(findings)) }
}

/// Rows that are looked at on their way.
struct Checked<'s> {
    validator: Validator,
    sink: &'s mut dyn Write,
    lines: u64,
    bytes: u64,
}

impl Checked<'_> {
    fn pass(&mut self, rows: &[u8]) -> io::Result<()> {
        for line in rows.split_inclusive(|b| *b == b'\n') {
            self.lines += 1;
            self.validator.line(self.lines, line);
        }
        self.bytes += rows.len() as u64;
        self.sink.write_all(rows)
    }
}
