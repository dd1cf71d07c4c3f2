//! Extraction from Claude Code's sessions: into a new session, by surgery's exporter.
