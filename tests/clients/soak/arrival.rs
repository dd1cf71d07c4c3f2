//! Checks that the notes arrived complete, once, in the new session's first request.

use std::sync::Arc;

use crate::soak::judge::{new_requests, token};
use crate::soak::play::{Crossing, Scene};
use crate::soak::stage::Stage;
use crate::soak::tally::{Fault, Outcome};
use crate::support::mock::Request;

/// Checks that the first request of exactly one new session has the sealed file, byte for byte.
pub fn judge(stage: &Stage, scene: &Scene, crossing: &Crossing, over: bool, outcome: &mut Outcome) {
    let Some(path) = stage.agent.sealed(&crossing.name) else {
        outcome.fault(Fault::Stuck, "no sealed version was named");
        return;
    };
    // A later seal of the same boundary (after an append) replaces the earlier one.
    let sealed =
        token(stage, crossing).and_then(|token| token["sealed"].as_str().map(str::to_owned));
    let file = std::fs::read_to_string(sealed.as_deref().unwrap_or(&path)).unwrap_or_default();
    let file = notes::compaction::for_reader(&file);
    let mine = |request: &&Arc<Request>| {
        request.notes().iter().any(|(_, text)| text.contains(&crossing.nonce))
    };
    let all = new_requests(stage, scene);
    let holders: Vec<_> = all.iter().filter(mine).collect();
    let mut sessions: Vec<_> = holders.iter().map(|request| request.session.clone()).collect();
    sessions.dedup();
    sessions.sort();
    sessions.dedup();
    if sessions.is_empty() {
        if over {
            outcome.fault(Fault::Lost, "no request holds the notes");
        }
        return;
    }
    if sessions.len() > 1 {
        outcome.fault(Fault::Double, format!("the notes are in {} sessions", sessions.len()));
    }
    let session = &sessions[0];
    let of_child: Vec<_> = all.iter().filter(|request| request.session == *session).collect();
    let (first, last) = (of_child[0], of_child[of_child.len() - 1]);
    if session.as_deref() == Some(crossing.parent.as_str()) {
        outcome.fault(Fault::Misfire("delivered into the old session"), crossing.name.clone());
    }
    for (request, which) in [(first, "first"), (last, "last")] {
        let mut found = request.notes();
        let count = found.len();
        found.dedup();
        if found.len() < count {
            let details =
                format!("{count} parts of which {} differ ({which} request)", found.len());
            outcome.fault(Fault::Double, details);
            return;
        }
        let whole: String = found.into_iter().map(|(_, text)| text).collect();
        if whole != file {
            let lengths = format!("{} of {} bytes", whole.len(), file.len());
            outcome.fault(Fault::Lost, format!("{lengths} in the {which} request"));
            return;
        }
    }
}
