//! What a session began with: the notes that brain-guard delivered, what hooks said when it started,
//! and attached files. It comes along even where the first round becomes a line of a table.

use std::io;

use memchr::memmem;

use crate::plan::{Place, Plan};
use sessions::dialect::{Claude, Dialect as _, Kind, Row, Scratch};
use sessions::rows::{Edit, Rows};

/// How delivered notes begin.
const DELIVERED: &[u8] = b"<<<<< compaction file ";

/// The first rounds of the plan's sessions, if they are in the context, but not whole in the plan.
pub fn places(plan: &Plan) -> Vec<Place> {
    let first = |session| Place { session, seq: 1 };
    let is_left = |place: &Place| {
        let round = plan.at(*place).map(|(_, round)| round);
        round.is_some_and(|round| round.is_sent() && !round.boundary)
            && plan.whole().all(|whole| whole != *place)
            && !plan.left.doubled.contains(place)
            && !plan.left.dropped.contains(place)
    };
    (0..plan.sessions.len()).map(first).filter(is_left).collect()
}

/// Leaves what a session began with of the rows of its first round.
///
/// # Errors
/// Never: editing in place cannot fail here.
pub fn keep(rows: &mut Rows) -> io::Result<()> {
    let (mut scratch, mut is_answered) = (Scratch::default(), false);
    rows.edit(|line| {
        let row = Claude.row(line, &mut scratch);
        is_answered |= row.kind == Kind::Assistant;
        let stays = !is_answered
            && (is_delivery(line, &row)
                || (row.kind == Kind::Attachment && Claude.attached(line).is_some()));
        Ok(if stays { Edit::Stays } else { Edit::Gone })
    })
}

/// Whether a prompt has notes that brain-guard delivered.
fn is_delivery(line: &[u8], row: &Row) -> bool {
    let content = row.content.filter(|_| row.kind == Kind::Prompt && !row.told);
    let text = content.map(|content| content.slice(line)).unwrap_or_default();
    memmem::find(text, DELIVERED).is_some()
}
