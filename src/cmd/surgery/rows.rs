//! Reads rows of stored sessions, round by round.

use anyhow::Context as _;

use super::source::Store;
use sessions::round::Session;
use sessions::span;
use store::blocks::{Reader, Rows};
use surgery::plan::Plan;

impl Store {
    /// Readers for the sessions of a plan.
    pub fn readers(&self, plan: &Plan) -> anyhow::Result<Vec<Reader>> {
        plan.sessions.iter().map(|session| self.reader(session)).collect()
    }

    /// Sets the folder of each session to the one that its last row names: a worktree, or where
    /// `/cd` went. A session made from it goes on there.
    pub fn follow_folders(&self, plan: &mut Plan) -> anyhow::Result<()> {
        for session in plan.sessions.iter_mut().filter(|session| session.dialect == "claude") {
            let reader = self.reader(session)?;
            let mut rows = Rows::default();
            for round in session.rounds.iter().rev() {
                reader.round(round.seq, &mut rows)?;
                if let Some(cwd) = rows.iter().filter_map(folder).last() {
                    session.cwd = Some(cwd);
                    break;
                }
            }
        }
        Ok(())
    }

    fn reader(&self, session: &Session) -> anyhow::Result<Reader> {
        let folder = self.folder(session);
        Reader::open(&folder)
            .with_context(|| format!("could not read {}", folder.blocks().display()))
    }
}

/// The folder that a row of the main loop names.
fn folder(row: &[u8]) -> Option<String> {
    let is_beside = span::find(row, "isSidechain") == Some(b"true");
    let cwd = span::find(row, "cwd").filter(|_| !is_beside)?;
    span::text(cwd).map(std::borrow::Cow::into_owned)
}
