//! Sessions with their rounds, tags, and the phases of engagements.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Error, Index, copies, rows, schema};
use crate::blocks::Folder;
use crate::database::Db;
use crate::engagement::Phase;
use sessions::origin::Origin;
use sessions::round::{Round, Session};

/// Loads a session with the rounds that `rounds` selects, from one snapshot.
fn load(
    folder: &Folder,
    rounds: impl Fn(&Connection) -> rusqlite::Result<Vec<Round>>,
) -> Result<Session, Error> {
    let Some(own) = Db::read(&folder.database(), schema::SESSION)? else {
        return Err(not_imported(folder));
    };
    own.run(|c| {
        let view = c.unchecked_transaction()?;
        let session = rows::own(&view)?;
        let rounds = rounds(&view)?;
        Ok(session.map(|session| Session { rounds, ..session }))
    })?
    .ok_or_else(|| not_imported(folder))
}

impl Index {
    /// A session with all its rounds and their tags.
    ///
    /// # Errors
    /// [`Error::Unknown`] if it is not imported.
    pub fn session(&self, folder: &Folder) -> Result<Session, Error> {
        load(folder, |c| rows::rounds(c, &folder.session, &folder.agent, rows::ALL))
    }

    /// Like [`Index::session`], without the tools and files of rounds, which operations do not
    /// need.
    pub fn outline(&self, folder: &Folder) -> Result<Session, Error> {
        load(folder, |c| rows::outlines(c, &folder.session, &folder.agent))
    }

    /// Whether a session was imported, by its id or its file.
    pub fn knows(&self, name: &str) -> Result<bool, Error> {
        let Some(all) = self.all()? else { return Ok(false) };
        all.run(|c| {
            c.prepare_cached("SELECT 1 FROM sessions WHERE session_id = ?1 OR source = ?1")?
                .exists([name])
        })
    }

    /// All sessions, without their rounds, by start time.
    pub fn sessions(&self) -> Result<Vec<Session>, Error> {
        let Some(all) = self.all()? else { return Ok(Vec::new()) };
        all.run(|c| {
            let query = format!(
                "SELECT {} FROM sessions WHERE revision > 0 ORDER BY started, session_id",
                rows::SESSION
            );
            c.prepare(&query)?.query_map([], rows::session)?.collect()
        })
    }

    /// Tags rounds and their copies in other sessions, or removes their tags; a round that is not
    /// [`Round::is_work`] stays without one. Returns how many of the rounds changed.
    ///
    /// # Errors
    /// [`Error::Unknown`] names the rounds that do not exist; nothing is changed then. If only copies
    /// cannot be tagged, the others are.
    pub fn tag(
        &self,
        folder: &Folder,
        rounds: &[u32],
        engagement: Option<&str>,
    ) -> Result<usize, Error> {
        if !folder.database().exists() {
            return Err(not_imported(folder));
        }
        let rounds: BTreeSet<u32> = rounds.iter().copied().collect();
        let changed = self.tag_here(folder, &rounds, engagement)?;
        let mut failed = None;
        for (folder, rounds) in self.copies(folder, &rounds)? {
            if let Err(why) = self.tag_here(&folder, &rounds, engagement) {
                failed.get_or_insert(why);
            }
        }
        failed.map_or(Ok(changed), Err)
    }

    /// The origins and copies of rounds in other sessions.
    fn copies(
        &self,
        folder: &Folder,
        rounds: &BTreeSet<u32>,
    ) -> Result<Vec<(Folder, BTreeSet<u32>)>, Error> {
        let mut by_session: BTreeMap<(String, String), BTreeSet<u32>> = BTreeMap::new();
        self.make_sessions_db()?.run(|c| {
            let mut origin = c.prepare_cached(
                "SELECT coalesce(origin_session, session_id), coalesce(origin_seq, seq) \
                 FROM rounds WHERE session_id = ?1 AND agent = ?2 AND seq = ?3",
            )?;
            for seq in rounds {
                let key = params![folder.session, folder.agent, seq];
                let origin = origin
                    .query_row(key, |row| Ok(Origin { session: row.get(0)?, seq: row.get(1)? }));
                let Some(origin) = origin.optional()? else { continue };
                for copy in copies::of(c, "main", &origin)? {
                    by_session.entry((copy.agent, copy.session)).or_default().insert(copy.seq);
                }
            }
            Ok(())
        })?;
        let folders = by_session
            .into_iter()
            .map(|((agent, session), rounds)| (self.root.folder(&agent, &session), rounds));
        let is_other = |other: &Folder| other.session != folder.session;
        Ok(folders.filter(|(other, _)| is_other(other) && other.database().exists()).collect())
    }

    fn tag_here(
        &self,
        folder: &Folder,
        rounds: &BTreeSet<u32>,
        engagement: Option<&str>,
    ) -> Result<usize, Error> {
        // Tags exist nowhere else.
        self.own(folder)?.run(|c| c.pragma_update(None, "synchronous", "FULL"))?;
        self.change(folder, |own, _| {
            let last: Option<u32> =
                own.run(|c| c.query_row("SELECT max(seq) FROM rounds", [], |row| row.get(0)))?;
            let mut changed = 0;
            let mut missing = Vec::new();
            own.run(|c| {
                let mut known = c.prepare_cached(
                    "SELECT 1 FROM rounds WHERE session_id = ?1 AND agent = ?2 AND seq = ?3",
                )?;
                let mut write = c.prepare_cached(
                    "UPDATE rounds SET engagement_id = ?4 \
                     WHERE session_id = ?1 AND agent = ?2 AND seq = ?3 \
                     AND engagement_id IS NOT ?4 AND names IS NULL \
                     AND ((boundary = 0 AND less = 0) OR roles LIKE '%assistant')",
                )?;
                let (id, agent) = (&folder.session, &folder.agent);
                for seq in rounds {
                    if known.exists(params![id, agent, seq])? {
                        changed += write.execute(params![id, agent, seq, engagement])?;
                    } else {
                        missing.push(seq.to_string());
                    }
                }
                Ok(())
            })?;
            if !missing.is_empty() {
                let there = last.map_or("no rounds".to_owned(), |last| format!("rounds 1-{last}"));
                let some = missing.get(..8).map_or(missing.join(", "), |m| m.join(", ") + ", …");
                return Err(Error::Unknown(format!(
                    "session {} has {there}; there is no {some}",
                    folder.session
                )));
            }
            Ok((changed, rounds.first().copied().zip(rounds.last().copied())))
        })
    }

    /// All rounds of an engagement across sessions, by time.
    ///
    /// # Errors
    /// [`Error::Unknown`], with the existing engagements, if there are none.
    pub fn engagement(&self, id: &str) -> Result<Vec<(Session, Round)>, Error> {
        let found = self.tagged(Some(id))?;
        if found.is_empty() {
            let there: Vec<String> = self.engagements()?.into_iter().map(|(id, _)| id).collect();
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            return Err(Error::Unknown(format!(
                "no round is tagged {id}; engagements there are: {there}"
            )));
        }
        Ok(found)
    }

    /// Tagged rounds across sessions, by time: of one engagement, or of all. A round with copies is
    /// there once.
    pub fn tagged(&self, engagement: Option<&str>) -> Result<Vec<(Session, Round)>, Error> {
        let Some(all) = self.all()? else { return Ok(Vec::new()) };
        let key = |session: Session| ((session.id.clone(), session.agent.clone()), session);
        let sessions: HashMap<_, _> = self.sessions()?.into_iter().map(key).collect();
        all.run(|c| {
            let query = format!(
                "SELECT {}, session_id, agent FROM rounds \
                 WHERE engagement_id IS NOT NULL AND (?1 IS NULL OR engagement_id = ?1) \
                 ORDER BY started, session_id, agent, seq",
                rows::ROUND
            );
            let mut query = c.prepare(&query)?;
            let mut found = query.query([engagement])?;
            let mut rounds = Vec::new();
            while let Some(row) = found.next()? {
                let (id, agent): (String, String) = (row.get("session_id")?, row.get("agent")?);
                if let Some(session) = sessions.get(&(id, agent)) {
                    rounds.push((session.clone(), rows::round(row)?));
                }
            }
            Ok(copies::once(rounds))
        })
    }

    /// All engagements, with the number of their rounds.
    pub fn engagements(&self) -> Result<Vec<(String, u64)>, Error> {
        let Some(all) = self.all()? else { return Ok(Vec::new()) };
        all.run(|c| {
            let mut query = c.prepare(
                "SELECT engagement_id, count(DISTINCT coalesce(origin_session, session_id) || ':' || \
                 coalesce(origin_seq, seq)) FROM rounds WHERE engagement_id IS NOT NULL \
                 GROUP BY engagement_id ORDER BY engagement_id",
            )?;
            query.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?.collect()
        })
    }

    /// Replaces the phases of an engagement.
    pub fn set_phases(&self, engagement: &str, phases: &[Phase]) -> Result<(), Error> {
        if self.phases(engagement)? == phases {
            return Ok(());
        }
        let all = self.make_sessions_db()?;
        let transaction = all.begin()?;
        all.run(|c| {
            c.execute("DELETE FROM phases WHERE engagement_id = ?1", [engagement])?;
            let mut add = c.prepare(
                "INSERT INTO phases(engagement_id, position, name, started, ended) \
                 VALUES(?1, ?2, ?3, ?4, ?5)",
            )?;
            for (position, phase) in phases.iter().enumerate() {
                let (from, to) = (rows::time(phase.from), phase.to.map(rows::time));
                add.execute(params![engagement, position as i64, phase.name, from, to])?;
            }
            Ok(())
        })?;
        all.commit(transaction)
    }

    /// The phases of an engagement, in order; empty if none are set.
    pub fn phases(&self, engagement: &str) -> Result<Vec<Phase>, Error> {
        let Some(all) = self.all()? else { return Ok(Vec::new()) };
        all.run(|c| {
            let mut query = c.prepare(
                "SELECT name, started, ended FROM phases WHERE engagement_id = ?1 \
                 ORDER BY position",
            )?;
            let phase = |row: &rusqlite::Row| {
                let from = rows::at(row, 1)?.unwrap_or_default();
                Ok(Phase { name: row.get(0)?, from, to: rows::at(row, 2)? })
            };
            query.query_map([engagement], phase)?.collect()
        })
    }
}

fn not_imported(folder: &Folder) -> Error {
    Error::Unknown(format!(
        "session {} is not imported; import it with `brain-guard import PATH`",
        folder.session
    ))
}
