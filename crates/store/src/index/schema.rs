//! The tables. `rounds` is the same in `session.db` and `sessions.db`, so that the query
//! `SELECT * FROM rounds WHERE engagement_id = 'console-work' ORDER BY started` (seed 000)
//! works in both. Times such as `2026-03-19T10:23:45.678Z` sort as text. A round's `origin_…` is where
//! it was first, and `names` is what an index table names. `state`, `place` and `parts` are its
//! [`sessions::sent::Standing`].

use crate::database::{Journal, Schema};

const fn log(tables: &'static str) -> Schema {
    Schema { tables, journal: Journal::Log }
}

macro_rules! rounds {
    () => {
        "CREATE TABLE rounds(
            session_id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            engagement_id TEXT,
            started TEXT,
            ended TEXT,
            agent TEXT NOT NULL,
            roles TEXT NOT NULL,
            user_preview TEXT NOT NULL,
            agent_preview TEXT NOT NULL,
            key_tool TEXT,
            tokens INTEGER NOT NULL,
            measured INTEGER NOT NULL,
            tools TEXT NOT NULL,
            files TEXT NOT NULL,
            rows INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            boundary INTEGER NOT NULL,
            first_id TEXT,
            origin_session TEXT,
            origin_seq INTEGER,
            less INTEGER NOT NULL DEFAULT 0,
            more INTEGER NOT NULL DEFAULT 0,
            names TEXT,
            last_id TEXT,
            state TEXT NOT NULL,
            place INTEGER,
            parts TEXT,
            PRIMARY KEY(session_id, agent, seq));
        CREATE INDEX engagements ON rounds(engagement_id, started)
            WHERE engagement_id IS NOT NULL;
        CREATE INDEX first_rows ON rounds(first_id) WHERE first_id IS NOT NULL;
        CREATE INDEX origins ON rounds(origin_session, origin_seq)
            WHERE origin_session IS NOT NULL;"
    };
}

/// `session.db`: one session. `revision` counts its changes; `recorded` is the last revision from
/// the transcript. `base` is what its context holds beside the rounds, `used` what it held at its
/// end; `cut` is the line that nothing before is sent for. `kept` has the tags of rounds that are indexed again, by the id of their first
/// row.
pub(super) const SESSION: Schema = log(concat!(
    rounds!(),
    "CREATE TABLE session(
        one INTEGER PRIMARY KEY CHECK(one = 1),
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        dialect TEXT NOT NULL,
        cwd TEXT,
        source TEXT,
        started TEXT,
        ended TEXT,
        parent TEXT,
        revision INTEGER NOT NULL,
        recorded INTEGER NOT NULL,
        base INTEGER,
        used INTEGER,
        cut INTEGER,
        model TEXT);
    CREATE TABLE progress(
        one INTEGER PRIMARY KEY CHECK(one = 1),
        source TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        rows INTEGER NOT NULL,
        state TEXT NOT NULL);
    CREATE TABLE kept(first_id TEXT PRIMARY KEY, engagement_id TEXT) WITHOUT ROWID;"
));

/// `sessions.db`: all sessions. `revision` is that of the `session.db` copied here; `due` is one
/// that is being written, or was when its writer died.
pub(super) const SESSIONS: Schema = log(concat!(
    rounds!(),
    "CREATE TABLE sessions(
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        dialect TEXT NOT NULL DEFAULT '',
        cwd TEXT,
        source TEXT,
        started TEXT,
        ended TEXT,
        parent TEXT,
        revision INTEGER NOT NULL DEFAULT 0,
        recorded INTEGER NOT NULL DEFAULT 0,
        due INTEGER NOT NULL DEFAULT 0,
        base INTEGER,
        used INTEGER,
        cut INTEGER,
        model TEXT,
        PRIMARY KEY(session_id, agent)) WITHOUT ROWID;
    CREATE INDEX unfinished ON sessions(session_id) WHERE due > revision;
    CREATE TABLE phases(
        engagement_id TEXT NOT NULL,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        started TEXT NOT NULL,
        ended TEXT,
        PRIMARY KEY(engagement_id, position)) WITHOUT ROWID;
    CREATE TABLE exports(
        id TEXT PRIMARY KEY,
        made TEXT NOT NULL,
        operation TEXT NOT NULL,
        path TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        removed TEXT,
        detail TEXT NOT NULL) WITHOUT ROWID;"
));

/// `search.db`: the search text. A `rowid` has the session's number in its upper half, the round's
/// in its lower. User text weighs twice as much as the agent's: it names the subject and is
/// shorter.
pub(super) const SEARCH: Schema = log("CREATE TABLE sessions(
        number INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        recorded INTEGER NOT NULL,
        UNIQUE(session_id, agent));
    CREATE VIRTUAL TABLE words USING fts5(
        user, agent, tokenize = 'unicode61 remove_diacritics 2');
    INSERT INTO words(words, rank) VALUES('rank', 'bm25(2.0, 1.0)');");
