//! Reads rows of stored sessions, round by round.

use std::io;

use anyhow::Context as _;

use super::source::Store;
use sessions::round::{Round, Session};
use sessions::rows::Rows;
use store::blocks::Reader;
use surgery::plan::Plan;

impl Store {
    /// Readers for the sessions of a plan.
    pub fn readers(&self, plan: &Plan) -> anyhow::Result<Vec<Reader>> {
        plan.sessions.iter().map(|session| self.reader(session)).collect()
    }

    /// A function that reads rounds of these sessions.
    pub fn rows(
        &self,
        sessions: &[&Session],
    ) -> anyhow::Result<impl FnMut(&Session, &Round, &mut Rows) -> io::Result<()> + use<>> {
        let readers =
            sessions.iter().map(|session| Ok((session.id.clone(), self.reader(session)?)));
        let readers = readers.collect::<anyhow::Result<Vec<_>>>()?;
        Ok(move |session: &Session, round: &Round, rows: &mut Rows| {
            let reader = readers.iter().find(|(id, _)| *id == session.id);
            let (_, reader) = reader.ok_or(io::ErrorKind::NotFound)?;
            reader.round(round.seq, rows)
        })
    }

    fn reader(&self, session: &Session) -> anyhow::Result<Reader> {
        let folder = self.folder(session);
        Reader::open(&folder)
            .with_context(|| format!("could not read {}", folder.blocks().display()))
    }
}
