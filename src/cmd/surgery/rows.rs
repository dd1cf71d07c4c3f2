//! Reads rows of stored sessions, round by round.

use std::borrow::Cow;
use std::path::Path;

use anyhow::Context as _;

use super::source::Store;
use base::new_file::project_name;
use sessions::round::Session;
use sessions::span;
use store::blocks::{Reader, Rows};
use surgery::plan::Plan;

impl Store {
    /// Readers for the sessions of a plan.
    pub fn readers(&self, plan: &Plan) -> anyhow::Result<Vec<Reader>> {
        plan.sessions.iter().map(|session| self.reader(session)).collect()
    }

    /// The folder that the plan's first session was in at its end, if another one than at its
    /// start: a worktree, or where `/cd` went. The client has then moved the session's file; a `cd`
    /// of the agent's shell moves nothing.
    pub fn last_folder(&self, plan: &Plan) -> anyhow::Result<Option<String>> {
        let first = plan.sessions.first();
        let Some(session) = first else { return Ok(None) };
        let source = session.source.as_deref().and_then(|source| Path::new(source).parent());
        let Some(place) = source.and_then(Path::file_name) else { return Ok(None) };
        let is_there = |cwd: &str| place == project_name(cwd).as_str() && Path::new(cwd).is_dir();
        if session.cwd.as_deref().is_none_or(is_there) {
            return Ok(None);
        }
        let reader = self.reader(session)?;
        let mut rows = Rows::default();
        for round in session.rounds.iter().rev() {
            reader.round(round.seq, &mut rows)?;
            if let Some(cwd) = rows.iter().filter_map(folder).filter(|cwd| is_there(cwd)).last() {
                return Ok(Some(cwd));
            }
        }
        Ok(None)
    }

    fn reader(&self, session: &Session) -> anyhow::Result<Reader> {
        let folder = self.folder(session);
        Reader::open(&folder)
            .with_context(|| format!("could not read {}", folder.blocks().display()))
    }
}

fn folder(row: &[u8]) -> Option<String> {
    span::text(span::find(row, "cwd")?).map(Cow::into_owned)
}
