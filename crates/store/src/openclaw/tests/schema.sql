CREATE TABLE schema_meta(meta_key TEXT PRIMARY KEY, role TEXT, agent_id TEXT);
INSERT INTO schema_meta VALUES ('primary', 'agent', 'main');
CREATE TABLE transcript_events(
    session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT,
    created_at INTEGER NOT NULL, event_zstd BLOB, event_utf8_bytes INTEGER,
    navigation_json TEXT, PRIMARY KEY (session_id, seq),
    CHECK ((event_json IS NULL) = (event_zstd IS NOT NULL AND navigation_json IS NOT NULL)));
CREATE TABLE transcript_rewrite_watermarks(
    session_id TEXT PRIMARY KEY, generation TEXT NOT NULL, updated_at INTEGER NOT NULL);
CREATE TABLE session_windows(
    session_id TEXT PRIMARY KEY, transcript_updated_at INTEGER,
    transcript_observed_at INTEGER);
CREATE TABLE session_transcript_cold_archives(session_id TEXT PRIMARY KEY);
PRAGMA user_version = 23;
