//! Sessions for tests of plans.

use crate::at;
use sessions::round::{Round, Session};

/// A session whose rounds follow the given ones; `true` marks a compaction.
pub fn session(follows: &[(u32, bool)]) -> Session {
    let rounds = follows.iter().enumerate().map(|(n, (follows, boundary))| Round {
        seq: n as u32 + 1,
        started: Some(at(&format!("2026-03-19T10:{n:02}Z"))),
        ended: Some(at(&format!("2026-03-19T10:{n:02}:30Z"))),
        user: true,
        assistant: true,
        user_preview: format!("ask {n}"),
        agent_preview: format!("say {n}"),
        follows: Some(*follows).filter(|f| *f > 0),
        boundary: *boundary,
        first_id: Some(format!("id-{n}")),
        tokens: 100,
        rows: 2,
        bytes: 400,
        ..Round::default()
    });
    Session {
        id: "3f0a9d1e-0000".into(),
        dialect: "claude".into(),
        rounds: rounds.collect(),
        ..Session::default()
    }
}
