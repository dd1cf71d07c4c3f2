//! Reads rows of stored sessions, round by round.

use anyhow::Context as _;

use super::source::Store;
use sessions::round::Session;
use store::blocks::Reader;
use surgery::plan::Plan;

impl Store {
    /// Readers for the sessions of a plan.
    pub fn readers(&self, plan: &Plan) -> anyhow::Result<Vec<Reader>> {
        plan.sessions.iter().map(|session| self.reader(session)).collect()
    }

    fn reader(&self, session: &Session) -> anyhow::Result<Reader> {
        let folder = self.folder(session);
        Reader::open(&folder)
            .with_context(|| format!("could not read {}", folder.blocks().display()))
    }
}
