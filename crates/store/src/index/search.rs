//! Full-text search over what users and agents said.

use std::collections::HashSet;
use std::ops::Range;

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
    #[serde(rename = "round")]
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

/// Most words of a piece, those ahead of its first match, most characters of a word, and most
/// matches in a long one.
const SNIPPET: usize = 24;
const AHEAD: usize = 8;
const WORD: usize = 80;
const MATCHES: usize = 4;

/// SQLite's marks around a match; [`query::indexed`] keeps them out of texts.
const MARKS: [char; 2] = ['\u{2}', '\u{3}'];

impl Snippet {
    /// Of the user's words if the match is in them, else of the agent's.
    fn best(user: &str, agent: &str) -> Self {
        Self::of(if user.contains(MARKS[0]) { user } else { agent })
    }

    fn of(marked: &str) -> Self {
        let words: Vec<&str> = marked.split_whitespace().collect();
        let within = densest(&words);
        let mut line =
            words[within.clone()].iter().map(|word| shortened(word)).collect::<Vec<_>>().join(" ");
        if within.start > 0 {
            line.insert(0, '…');
        }
        if within.end < words.len() {
            line.push('…');
        }
        // A match may go over the ends.
        let [begins, ends] = MARKS.map(|mark| line.find(mark));
        if ends.is_some_and(|end| begins.is_none_or(|begin| end < begin)) {
            line.insert(0, MARKS[0]);
        }
        let [begins, ends] = MARKS.map(|mark| line.rfind(mark));
        if begins.is_some_and(|begin| ends.is_none_or(|end| end < begin)) {
            line.push(MARKS[1]);
        }
        let whole: String = line.chars().filter(|c| *c != query::BREAK).collect();
        // Adjacent characters that match are one match.
        Self(whole.replace("\u{3}\u{2}", ""))
    }

    /// The text with `begin` and `end` around each match.
    pub fn marked(&self, begin: &str, end: &str) -> String {
        self.0.replace(MARKS[0], begin).replace(MARKS[1], end)
    }
}

/// The words around the most matches.
fn densest(words: &[&str]) -> Range<usize> {
    let marks = |word: &&str| word.matches(MARKS[0]).count();
    let mut within: usize = words.iter().take(SNIPPET).map(marks).sum();
    let (mut most, mut best) = (within, 0);
    for from in 1..=words.len().saturating_sub(SNIPPET) {
        within = within + marks(&words[from + SNIPPET - 1]) - marks(&words[from - 1]);
        if within > most {
            (most, best) = (within, from);
        }
    }
    // Some words ahead of the first match show what it is about.
    let first = words[best..].iter().position(|word| word.contains(MARKS[0])).unwrap_or_default();
    let from = (best + first).saturating_sub(AHEAD);
    from..words.len().min(from + SNIPPET)
}

/// A word, with dots in place of the middle of a long one; a match stays marked.
fn shortened(word: &str) -> String {
    if word.chars().count() <= WORD {
        return word.to_owned();
    }
    let part = |part: &str| {
        let count = part.chars().count();
        if count <= WORD / 2 {
            return part.to_owned();
        }
        let head = part.chars().take(WORD / 4);
        head.chain(['…']).chain(part.chars().skip(count - WORD / 4)).collect()
    };
    let mut out = String::new();
    for (at, piece) in word.split_inclusive(MARKS).enumerate() {
        if at == 2 * MATCHES {
            out.push('…');
            break;
        }
        let text = piece.trim_end_matches(MARKS);
        out.push_str(&part(text));
        out.push_str(&piece[text.len()..]);
    }
    out
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
                 highlight(words, 0, char(2), char(3)), \
                 highlight(words, 1, char(2), char(3)), \
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
                    snippet: Snippet::best(row.get_ref(5)?.as_str()?, row.get_ref(6)?.as_str()?),
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
                    rows::origin(row, 7)?.filter(|_| row.get(9) == Ok(false)).unwrap_or(own);
                if seen.insert(origin.clone()) {
                    hits.push((hit(row)?, origin));
                }
            }
            let one = filter.session.is_some();
            let copied = |(hit, origin): (Hit, Origin)| {
                Ok(hit.with_copies(copies::of(c, "everywhere", &origin)?, &origin, one))
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
