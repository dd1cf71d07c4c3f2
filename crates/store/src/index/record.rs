//! Writes the results of an import: rounds, words, and progress.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Error, Index, Progress, Words, inherit, query, rows, schema};
use crate::blocks::Folder;
use crate::database::Db;
use sessions::round::{Round, Session};
use sessions::sent::Standing;

impl Index {
    /// How much of a session is imported; `None` if nothing is.
    pub fn progress(&self, folder: &Folder) -> Result<Option<Progress>, Error> {
        let Some(own) = Db::read(&folder.database(), schema::SESSION)? else { return Ok(None) };
        own.run(|c| {
            c.query_row("SELECT source, bytes, rows, state FROM progress", [], |row| {
                Ok(Progress {
                    source: PathBuf::from(row.get::<_, String>(0)?),
                    bytes: row.get::<_, i64>(1)? as u64,
                    rows: row.get::<_, i64>(2)? as u64,
                    state: row.get(3)?,
                })
            })
            .optional()
        })
    }

    /// Records new and grown rounds of `session` in all three databases; ignores `session.rounds`.
    /// `standings` are those of all its rounds, from round 1; none if more rows are to come.
    /// Known rounds keep their tags. A new round gets the tag it had before a [`Index::reset`],
    /// else that of its origin and copies, else, if it is a copy, `engagement` (what a split made the
    /// session for), else its own. The caller holds the session's lock.
    pub fn record(
        &self,
        folder: &Folder,
        session: &Session,
        rounds: &[(Round, Words)],
        standings: &[Standing],
        progress: &Progress,
        engagement: Option<&str>,
    ) -> Result<(), Error> {
        let all = self.make_sessions_db()?;
        let inherited = all.run(|c| inherit::all(c, session, rounds, engagement))?;
        self.change(folder, |own, revision| {
            let mut touched: BTreeSet<u32> = rounds.iter().map(|(round, _)| round.seq).collect();
            own.run(|c| {
                for round in inherited {
                    let round = Round { engagement: tag(c, folder, &round)?, ..round };
                    rows::put(c, &folder.session, &folder.agent, &round)?;
                }
                for (seq, standing) in (1..).zip(standings) {
                    if rows::stand(c, (&folder.session, &folder.agent), seq, standing)? {
                        touched.insert(seq);
                    }
                }
                facts(c, folder, session, revision)?;
                went(c, progress)
            })?;
            self.say(folder, rounds, revision)?;
            Ok(((), touched.first().copied().zip(touched.last().copied())))
        })
    }

    /// Forgets a session's rounds and progress, so that it can be indexed again. Tags return with
    /// the rounds that begin with the same row.
    pub fn reset(&self, folder: &Folder) -> Result<(), Error> {
        self.change(folder, |own, revision| {
            own.run(|c| {
                c.execute_batch(
                    "INSERT OR REPLACE INTO kept SELECT first_id, engagement_id FROM rounds \
                     WHERE first_id IS NOT NULL; \
                     DELETE FROM rounds; DELETE FROM progress;",
                )?;
                c.execute("UPDATE session SET recorded = ?1", [revision])
            })?;
            self.unsay(folder, revision)?;
            Ok(((), Some(rows::ALL)))
        })
    }

    /// Replaces the search text of these rounds.
    fn say(&self, folder: &Folder, rounds: &[(Round, Words)], revision: i64) -> Result<(), Error> {
        let search = self.search_made()?;
        let transaction = search.begin()?;
        search.run(|c| {
            let number = number(c, folder, revision)?;
            let mut remove = c.prepare_cached("DELETE FROM words WHERE rowid = ?1")?;
            let mut add =
                c.prepare_cached("INSERT INTO words(rowid, user, agent) VALUES(?1, ?2, ?3)")?;
            for (round, words) in rounds {
                let id = rowid(number, round.seq);
                remove.execute([id])?;
                if !(words.user.is_empty() && words.agent.is_empty()) {
                    let (user, agent) = (query::indexed(&words.user), query::indexed(&words.agent));
                    add.execute(params![id, user, agent])?;
                }
            }
            Ok(())
        })?;
        search.commit(transaction)
    }

    /// Removes all search text of a session.
    fn unsay(&self, folder: &Folder, revision: i64) -> Result<(), Error> {
        let search = self.search_made()?;
        let transaction = search.begin()?;
        search.run(|c| {
            let number = number(c, folder, revision)?;
            c.execute(
                "DELETE FROM words WHERE rowid BETWEEN ?1 AND ?2",
                [rowid(number, 0), rowid(number, u32::MAX)],
            )
        })?;
        search.commit(transaction)
    }
}

/// The `rowid` of a round's words.
pub(super) fn rowid(number: i64, seq: u32) -> i64 {
    (number << 32) | i64::from(seq)
}

/// A session's number in `search.db`; records the revision of its words.
fn number(connection: &Connection, folder: &Folder, revision: i64) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO sessions(session_id, agent, recorded) VALUES(?1, ?2, ?3) \
             ON CONFLICT DO UPDATE SET recorded = ?3 RETURNING number",
        )?
        .query_row(params![folder.session, folder.agent, revision], |row| row.get(0))
}

/// The tag of a round: its current one, the one from before a reset, or its own.
fn tag(
    connection: &Connection,
    folder: &Folder,
    round: &Round,
) -> rusqlite::Result<Option<String>> {
    let mut known = connection.prepare_cached(
        // A round that was only a summary so far had no tag.
        "SELECT engagement_id FROM rounds WHERE session_id = ?1 AND agent = ?2 AND seq = ?3 \
         AND ((boundary = 0 AND less = 0) OR roles LIKE '%assistant')",
    )?;
    let key = params![folder.session, folder.agent, round.seq];
    if let Some(tag) = known.query_row(key, |row| row.get(0)).optional()? {
        return Ok(tag);
    }
    if let Some(id) = &round.first_id {
        let mut kept = connection
            .prepare_cached("DELETE FROM kept WHERE first_id = ?1 RETURNING engagement_id")?;
        // Read to the end: SQLite undoes a statement that is not finished.
        let found = kept.query_map([id], |row| row.get(0))?.collect::<Result<Vec<_>, _>>()?;
        if let Some(tag) = found.into_iter().next() {
            return Ok(tag);
        }
    }
    Ok(round.engagement.clone())
}

fn facts(
    connection: &Connection,
    folder: &Folder,
    session: &Session,
    revision: i64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO session(one, session_id, agent, dialect, cwd, source, \
             started, ended, parent, base, used, revision, recorded, cut, model) \
             VALUES(1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?12, ?13)",
        )?
        .execute(params![
            folder.session,
            folder.agent,
            session.dialect,
            session.cwd,
            session.source,
            session.started.map(rows::time),
            session.ended.map(rows::time),
            session.parent,
            session.base.map(|tokens| tokens as i64),
            session.used.map(|tokens| tokens as i64),
            revision,
            session.cut.map(|line| line as i64),
            session.model,
        ])?;
    Ok(())
}

fn went(connection: &Connection, progress: &Progress) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO progress(one, source, bytes, rows, state) \
             VALUES(1, ?1, ?2, ?3, ?4)",
        )?
        .execute(params![
            progress.source.to_string_lossy(),
            progress.bytes as i64,
            progress.rows as i64,
            progress.state,
        ])?;
    Ok(())
}
