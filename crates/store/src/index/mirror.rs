//! Writes changes to a session so that a kill between two databases heals.
//!
//! `session.db` is the source of truth. A change marks the session in `sessions.db` as due for the
//! new revision, commits `session.db`, then copies itself to `sessions.db`. Opening the index
//! copies each session that is still due. The search text is written before `session.db` commits;
//! until then the transcript counts as not recorded, and is recorded again.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Error, Index, rows, schema};
use crate::blocks::Folder;
use crate::database::Db;
use sessions::round::Session;

impl Index {
    /// Changes a session in one transaction of its `session.db`, and copies the range of rounds
    /// that `act` returns to `sessions.db`. `act` receives the new revision.
    pub(super) fn change<T>(
        &self,
        folder: &Folder,
        act: impl FnOnce(&Db, i64) -> Result<(T, Option<(u32, u32)>), Error>,
    ) -> Result<T, Error> {
        let (own, all) = (self.own(folder)?, self.make_sessions_db()?);
        let transaction = own.begin()?;
        let revision = own.run(revision)? + 1;
        all.run(|c| {
            c.prepare_cached(
                "INSERT INTO sessions(session_id, agent, due) VALUES(?1, ?2, ?3) \
                 ON CONFLICT DO UPDATE SET due = max(due, ?3)",
            )?
            .execute(params![folder.session, folder.agent, revision])
        })?;
        let (result, touched) = act(&own, revision)?;
        own.run(|c| c.execute("UPDATE session SET revision = ?1", [revision]))?;
        own.commit(transaction)?;
        match repeat(&all, &own, folder, touched) {
            // It stays due; the next process that opens the index copies it.
            Err(Error::Busy { .. }) => {}
            other => other?,
        }
        Ok(result)
    }

    /// Copies every session that is due to `sessions.db`.
    pub(super) fn heal(&self, all: &Db) -> Result<(), Error> {
        let due: Vec<(String, String)> = all.run(|c| {
            let mut query =
                c.prepare("SELECT session_id, agent FROM sessions WHERE due > revision")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })?;
        for (session, agent) in due {
            let folder = self.root.folder(&agent, &session);
            // An unreadable session is reported when somebody uses it.
            let Ok(Some(own)) = Db::read(&folder.database(), schema::SESSION) else { continue };
            match repeat(all, &own, &folder, Some(rows::ALL)) {
                Err(Error::Damaged { path, .. }) if path == own.path() => {}
                other => other?,
            }
        }
        Ok(())
    }

    /// Copies a session to `sessions.db`, whatever revision is there.
    pub fn repeat(&self, folder: &Folder) -> Result<(), Error> {
        let all = self.make_sessions_db()?;
        all.run(|c| {
            c.execute(
                "UPDATE sessions SET revision = 0 WHERE session_id = ?1 AND agent = ?2",
                [&folder.session, &folder.agent],
            )
        })?;
        match Db::read(&folder.database(), schema::SESSION)? {
            Some(own) => repeat(&all, &own, folder, Some(rows::ALL)),
            None => Ok(()),
        }
    }
}

/// The revision of a session; 0 if nothing is recorded.
pub(super) fn revision(connection: &Connection) -> rusqlite::Result<i64> {
    let found = connection.query_row("SELECT revision FROM session", [], |row| row.get(0));
    Ok(found.optional()?.unwrap_or_default())
}

/// Copies the rounds in `touched` from `session.db` to `sessions.db`, or all rounds if more than
/// one change is missing there.
fn repeat(all: &Db, own: &Db, folder: &Folder, touched: Option<(u32, u32)>) -> Result<(), Error> {
    let (session, agent) = (&folder.session, &folder.agent);
    let transaction = all.begin()?;
    let have: i64 = all.run(|c| {
        let mut query =
            c.prepare_cached("SELECT revision FROM sessions WHERE session_id = ?1 AND agent = ?2")?;
        Ok(query.query_row([session, agent], |row| row.get(0)).optional()?.unwrap_or_default())
    })?;
    // One snapshot of the session, even if another process changes it.
    let (facts, revision, recorded, rounds, whole) = own.run(|c| {
        let view = c.unchecked_transaction()?;
        let revision = revision(&view)?;
        let whole = have != revision - 1 || touched == Some(rows::ALL);
        let range = if whole { Some(rows::ALL) } else { touched };
        let rounds = match range {
            Some(range) if have < revision => rows::rounds(&view, session, agent, range)?,
            _ => Vec::new(),
        };
        let recorded = view.query_row("SELECT recorded FROM session", [], |row| row.get(0));
        let recorded: i64 = recorded.optional()?.unwrap_or_default();
        Ok((rows::own(&view)?, revision, recorded, rounds, whole))
    })?;
    let Some(facts) = facts.filter(|_| have < revision) else { return Ok(()) };
    all.run(|c| {
        if whole {
            c.execute("DELETE FROM rounds WHERE session_id = ?1 AND agent = ?2", [session, agent])?;
        }
        for round in &rounds {
            rows::put(c, session, agent, round)?;
        }
        facts_across(c, &facts, revision, recorded)
    })?;
    all.commit(transaction)
}

/// Writes a session's row in `sessions`.
fn facts_across(
    connection: &Connection,
    facts: &Session,
    revision: i64,
    recorded: i64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO sessions(session_id, agent, dialect, cwd, source, started, ended, \
             parent, revision, recorded, base, used, cut, model) \
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) \
             ON CONFLICT DO UPDATE SET dialect = ?3, cwd = ?4, source = ?5, started = ?6, \
             ended = ?7, parent = ?8, revision = ?9, recorded = ?10, base = ?11, used = ?12, \
             cut = ?13, model = ?14",
        )?
        .execute(params![
            facts.id,
            facts.agent,
            facts.dialect,
            facts.cwd,
            facts.source,
            facts.started.map(rows::time),
            facts.ended.map(rows::time),
            facts.parent,
            revision,
            recorded,
            facts.base.map(|tokens| tokens as i64),
            facts.used.map(|tokens| tokens as i64),
            facts.cut.map(|line| line as i64),
            facts.model,
        ])?;
    Ok(())
}
