//! Full-text search over what users and agents said.

use std::collections::HashSet;

use rusqlite::{OptionalExtension as _, params};
use serde::{Serialize, Serializer};

use super::copies::{self, Copied};
use super::{Error, Index, query, record, rows, schema};
use crate::blocks::Folder;
use crate::database::Db;
use base::clock::Time;
use sessions::origin::Origin;

/// Which rounds to search; all by default.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only in this session.
    pub session: Option<Folder>,
    /// Only with these tags.
    pub tagged: Tagged,
    /// Only of this agent.
    pub agent: Option<String>,
    /// Only those that began at this time or later.
    pub since: Option<Time>,
}

/// Which tags match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Tagged {
    /// Any tag, or none.
    #[default]
    Any,
    /// This engagement.
    As(String),
    /// No tag.
    No,
    /// Any other tag, or none.
    Not(String),
}

/// A search result, as `search --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// Its session.
    pub session: String,
    /// The agent that ran it.
    pub agent: String,
    /// Its number.
    pub seq: u32,
    /// When it began.
    pub started: Option<Time>,
    /// Its engagement.
    pub engagement: Option<String>,
    /// The match, with some context.
    pub snippet: Snippet,
    /// Its copies in other sessions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<Copied>,
}

impl Hit {
    /// Adds the copies in other sessions. Unless only one session was searched, the hit becomes the
    /// origin, if that is imported.
    fn with_copies(mut self, all: Vec<Copied>, origin: &Origin, one: bool) -> Self {
        let is_origin =
            |copied: &&Copied| copied.session == origin.session && copied.seq == origin.seq;
        if let Some(Copied { session, agent, seq, engagement }) =
            all.iter().find(is_origin).cloned().filter(|_| !one)
        {
            (self.session, self.agent, self.seq) = (session, agent, seq);
            self.engagement = engagement.or(self.engagement);
        }
        self.copies = all.into_iter().filter(|copied| copied.session != self.session).collect();
        self
    }
}

/// A piece of a text on one line, with marked matches. In JSON, they are in brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet(String);

/// SQLite's marks around a match; [`query::indexed`] keeps them out of texts.
const MARKS: [char; 2] = ['\u{2}', '\u{3}'];

impl Snippet {
    fn of(marked: &str) -> Self {
        let line = marked.split_whitespace().collect::<Vec<_>>().join(" ");
        let whole: String = line.chars().filter(|c| *c != query::BREAK).collect();
        // Adjacent characters that match are one match.
        Self(whole.replace("\u{3}\u{2}", ""))
    }

    /// The text with `begin` and `end` around each match.
    pub fn marked(&self, begin: &str, end: &str) -> String {
        self.0.replace(MARKS[0], begin).replace(MARKS[1], end)
    }
}

impl Serialize for Snippet {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.marked("[", "]"))
    }
}

/// How many rounds are ranked if only words narrow the search: ranking reads each of them.
const RANKED: usize = 10_000;

impl Filter {
    /// Whether it excludes nothing.
    fn is_none(&self) -> bool {
        let Self { session, tagged, agent, since } = self;
        session.is_none() && *tagged == Tagged::Any && agent.is_none() && since.is_none()
    }
}

impl Index {
    /// Rounds that match `query`, best first. A round that was copied into other sessions is found
    /// once: its origin, or the copy in the session that the filter names.
    ///
    /// # Errors
    /// [`Error::Unknown`] if the query has no word.
    pub fn search(&self, query: &str, filter: &Filter, limit: usize) -> Result<Vec<Hit>, Error> {
        self.found(query, filter, limit, None).map(|(hits, _)| hits)
    }

    /// Like [`Index::search`], in bounded time. If only words narrow the search, it ranks at most
    /// 10,000 matches (or `limit`, if larger), from the sessions imported last. Returns how many it
    /// ranked, if not all.
    pub fn search_soon(
        &self,
        query: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<(Vec<Hit>, Option<usize>), Error> {
        let most = filter.is_none().then(|| RANKED.max(limit));
        self.found(query, filter, limit, most)
    }

    fn found(
        &self,
        query: &str,
        filter: &Filter,
        limit: usize,
        most: Option<usize>,
    ) -> Result<(Vec<Hit>, Option<usize>), Error> {
        let Some(expression) = query::expression(query) else {
            return Err(Error::Unknown(format!("the query {query:?} has no word to search for")));
        };
        let Some(search) = self.finder()? else { return Ok((Vec::new(), None)) };
        let (mut first, mut last) = (0, i64::MAX);
        if let Some(folder) = &filter.session {
            let number = search.run(|c| {
                c.query_row(
                    "SELECT number FROM main.sessions WHERE session_id = ?1 AND agent = ?2",
                    [&folder.session, &folder.agent],
                    |row| row.get(0),
                )
                .optional()
            })?;
            let Some(number) = number else { return Ok((Vec::new(), None)) };
            (first, last) = (record::rowid(number, 0), record::rowid(number, u32::MAX));
        }
        let mut ranked = None;
        if let Some(most) = most {
            let from = search.run(|c| {
                let mut find = c.prepare_cached(
                    "SELECT rowid FROM words WHERE words MATCH ?1 \
                     ORDER BY rowid DESC LIMIT 1 OFFSET ?2",
                )?;
                let most = i64::try_from(most).unwrap_or(i64::MAX);
                find.query_row(params![expression, most], |row| row.get::<_, i64>(0)).optional()
            })?;
            if let Some(from) = from {
                (first, ranked) = (from + 1, Some(most));
            }
        }
        let hits = search.run(|c| {
            // Words come first: their table ranks, and the joins only run until there are enough
            // matches.
            let mut find = c.prepare_cached(
                "SELECT s.session_id, s.agent, r.seq, r.started, r.engagement_id, \
                 snippet(words, -1, char(2), char(3), '…', 24), \
                 r.origin_session, r.origin_seq, r.more \
                 FROM words \
                 CROSS JOIN main.sessions s ON s.number = words.rowid >> 32 \
                 CROSS JOIN everywhere.rounds r ON r.session_id = s.session_id \
                     AND r.agent = s.agent AND r.seq = words.rowid & 4294967295 \
                 WHERE words MATCH ?1 AND words.rowid BETWEEN ?2 AND ?3 \
                 AND CASE ?7 WHEN 'as' THEN r.engagement_id = ?4 \
                     WHEN 'no' THEN r.engagement_id IS NULL \
                     WHEN 'not' THEN r.engagement_id IS NOT ?4 ELSE 1 END \
                 AND (?5 IS NULL OR r.agent = ?5) \
                 AND (?6 IS NULL OR r.started >= ?6) \
                 ORDER BY rank",
            )?;
            let hit = |row: &rusqlite::Row| -> rusqlite::Result<Hit> {
                Ok(Hit {
                    session: row.get(0)?,
                    agent: row.get(1)?,
                    seq: row.get(2)?,
                    started: rows::at(row, 3)?,
                    engagement: row.get(4)?,
                    snippet: Snippet::of(row.get_ref(5)?.as_str()?),
                    copies: Vec::new(),
                })
            };
            let (id, how) = match &filter.tagged {
                Tagged::Any => (None, ""),
                Tagged::As(id) => (Some(id), "as"),
                Tagged::No => (None, "no"),
                Tagged::Not(id) => (Some(id), "not"),
            };
            let since = filter.since.map(rows::time);
            let asked = params![expression, first, last, id, filter.agent, since, how];
            let mut rows = find.query(asked)?;
            let (mut hits, mut seen) = (Vec::new(), HashSet::new());
            while hits.len() < limit
                && let Some(row) = rows.next()?
            {
                let own = Origin { session: row.get(0)?, seq: row.get(2)? };
                // What was added to a copy is only there.
                let origin =
                    rows::origin(row, 6)?.filter(|_| row.get(8) == Ok(false)).unwrap_or(own);
                if seen.insert(origin.clone()) {
                    hits.push((hit(row)?, origin));
                }
            }
            let one = filter.session.is_some();
            let copied = |(hit, origin): (Hit, Origin)| {
                Ok(hit.with_copies(copies::of(c, &origin)?, &origin, one))
            };
            hits.into_iter().map(copied).collect()
        })?;
        Ok((hits, ranked))
    }

    /// `search.db`, with `sessions.db` attached as `everywhere`; `None` if nothing is imported.
    fn finder(&self) -> Result<Option<Db>, Error> {
        let Some(all) = self.all()? else { return Ok(None) };
        let path = self.root.sessions().join("search.db");
        let Some(search) = Db::read(&path, schema::SEARCH)? else { return Ok(None) };
        search.attach(&all, "everywhere")?;
        Ok(Some(search))
    }
}
