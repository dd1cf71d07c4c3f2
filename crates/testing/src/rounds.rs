//! Sessions for tests of plans.

use crate::at;
use sessions::round::{Round, Session};
use sessions::sent::{Standing, State};

/// A session whose rounds follow the given ones; `true` marks a compaction.
pub fn session(follows: &[(u32, bool)]) -> Session {
    let rounds =
        follows.iter().zip(standings(follows)).enumerate().map(|(n, ((_, boundary), standing))| {
            Round {
                seq: n as u32 + 1,
                started: Some(at(&format!("2026-03-19T10:{n:02}Z"))),
                ended: Some(at(&format!("2026-03-19T10:{n:02}:30Z"))),
                user: true,
                assistant: true,
                user_preview: format!("ask {n}"),
                agent_preview: format!("say {n}"),
                boundary: *boundary,
                standing,
                first_id: Some(format!("id-{n}")),
                tokens: 100,
                rows: 2,
                bytes: 400,
                ..Round::default()
            }
        });
    Session {
        id: "3f0a9d1e-0000".into(),
        dialect: "claude".into(),
        rounds: rounds.collect(),
        ..Session::default()
    }
}

/// How rounds stand if each follows the given one and compactions keep nothing: back from the last.
pub fn standings(follows: &[(u32, bool)]) -> Vec<Standing> {
    let rewound = Standing { state: State::Rewound, ..Standing::default() };
    let mut standings = vec![rewound; follows.len()];
    let (mut at, mut state, mut sent) = (follows.len(), State::InContext, Vec::new());
    while at > 0 {
        let (before, boundary) = follows[at - 1];
        standings[at - 1].state = state;
        if state == State::InContext {
            sent.push(at - 1);
        }
        if boundary {
            state = State::Compacted;
        }
        at = before as usize;
    }
    for (place, at) in sent.into_iter().rev().enumerate() {
        standings[at].place = Some(place as u32);
    }
    standings
}
