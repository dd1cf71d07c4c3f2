//! Whose the lines are that were added to the reflogs.

use std::cell::OnceCell;
use std::path::Path;

use super::{Around, Candidate, Seen};
use crate::files::commits::Watch;
use crate::files::neighbours::{self, Neighbour};
use crate::files::repository;
use crate::git::{Act, Call, Evidence, Place, ours};
use crate::hook::facts::Facts;
use base::clock::Time;

/// Takes this session's lines out of the candidates; what is of no interest goes as well.
pub(super) fn judge(
    facts: &Facts,
    around: &Around,
    seen: &Seen,
    watch: &Watch,
    candidates: &mut Vec<Candidate>,
) -> Vec<(Candidate, Evidence)> {
    // Each line of a reflog is held against what git reported, and that begins so.
    let text = seen.text();
    let reports: Vec<&str> =
        text.lines().filter(|line| line.trim_start().starts_with('[')).collect();
    let text = reports.join("\n");
    let ended = facts.now.timestamp();
    let call = Call {
        command: seen.command,
        output: &text,
        began: seen.began.timestamp(),
        ended,
        measured: seen.measured,
    };
    let others = OnceCell::new();
    let mut taken = Vec::new();
    let mut left = Vec::new();
    for candidate in candidates.drain(..) {
        let Candidate { log, line, seen: first } = &candidate;
        if line.act() == Act::Other {
            continue;
        }
        let own = repository::own_of(log);
        let place =
            if around.here.iter().any(|h| h == own) { Place::Here } else { Place::Elsewhere };
        let rival = || {
            let others = others
                .get_or_init(|| neighbours::at_work(&facts.places, facts.id, facts.session.client));
            others.iter().any(|other| rivals(other, own, place, line.at))
        };
        let running = |began: Time| first.is_none_or(|first| began <= first);
        let fresh = first.is_none();
        let mut evidence = (fresh || (call.measured && running(seen.began)))
            .then(|| ours(line, fresh, place, &call, rival))
            .flatten();
        for other in watch.background.iter().filter(|b| running(b.began)) {
            let began = other.began.timestamp();
            let call = Call { command: &other.command, output: "", began, ended, measured: false };
            evidence = evidence.or_else(|| ours(line, fresh, place, &call, rival));
        }
        match evidence {
            Some(evidence) => taken.push((candidate, evidence)),
            None => left.push(candidate),
        }
    }
    *candidates = left;
    taken
}

/// Whether another session may have written a line there.
fn rivals(other: &Neighbour, own: &Path, place: Place, at: i64) -> bool {
    if other.since.is_some_and(|since| since.timestamp() > at) {
        return false;
    }
    let Some(repository) = &other.repository else { return false };
    repository.own == own
        || (place == Place::Elsewhere && repository.common == repository::common(own))
}
