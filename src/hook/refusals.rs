//! What of the checkout is not used, named to the user once a session. The call itself passes.

use serde_json::json;

use super::facts::Facts;
use super::reply::Reply;
use crate::log;
use crate::store::beneath::{self, Refused};

/// Paths that are named in one message; the log has all.
const NAMED: usize = 3;

/// Adds what this event's hook refused, as far as the user was not told of it before.
pub fn tell(facts: &Facts, reply: &mut Reply) {
    let known = &facts.session.refused;
    let mut new = beneath::refused();
    new.retain(|refused| !known.contains(&refused.path));
    if new.is_empty() || known.len() >= MOST {
        return;
    }
    for Refused { path, why } in &new {
        let details = json!({"session": facts.id, "path": path, "why": why});
        log::write(&facts.places.log(), facts.now, "refused", &details);
    }
    let paths: Vec<_> = new.iter().map(|refused| refused.path.clone()).take(MOST).collect();
    facts.update(|s| s.refused.extend(paths));
    let line = line(&new);
    reply.user = Some(reply.user.take().map_or(line.clone(), |user| format!("{user}\n{line}")));
}

/// Paths that a session tells of at all.
const MOST: usize = 50;

fn line(new: &[Refused]) -> String {
    let named: Vec<String> = new
        .iter()
        .take(NAMED)
        .map(|refused| format!("{} {}", refused.path.display(), refused.why))
        .collect();
    let more = match new.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" (and {more} more, see `brain-guard log`)"),
    };
    format!(
        "brain-guard does not use these files, which may have come with the repository: {}{more}. \
         Nothing is blocked for a job whose notes can't be written. Remove them to use jobs here.",
        named.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_three_paths_at_most() {
        let refused =
            |n: usize| Refused { path: format!("/p/{n}").into(), why: "is a link".into() };
        let few: Vec<_> = (0..2).map(refused).collect();
        assert!(line(&few).contains("/p/0 is a link; /p/1 is a link. Nothing"), "{}", line(&few));
        let many: Vec<_> = (0..9).map(refused).collect();
        assert!(line(&many).contains("(and 6 more") && !line(&many).contains("/p/3"));
    }
}
