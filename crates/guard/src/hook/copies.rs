//! Chooses which copy of the plugin acts in a session. A client may have several copies, such as
//! the installed one and one from a marketplace. It then runs the hooks of each at every event.
//!
//! The first copy that saves the session's state acts in it; the others stay silent. A copy that is
//! gone is replaced by the next one that is asked. The plugin module follows the hooks' choice.

use std::path::{Path, PathBuf};

use super::event::{Event, Kind};
use super::facts::Facts;
use super::prompt::own_command;
use crate::files::ancestry::below_a_client;
use crate::session::{ActingCopy, Session};
use base::env;
use base::paths::same_file;

/// How much later than this the hooks of one event never start. The client ends them after 5 s.
const SAME_EVENT: chrono::TimeDelta = chrono::TimeDelta::seconds(6);

/// This copy's folder. `None` if the client did not start us as a plugin.
fn own_root(facts: &Facts) -> Option<PathBuf> {
    facts.env.get(env::PLUGIN_ROOT).map(PathBuf::from)
}

/// This copy, as the session's state names it.
pub fn own(facts: &Facts) -> Option<ActingCopy> {
    Some(ActingCopy {
        root: own_root(facts)?,
        client: facts.env.client_pid(),
        answered: facts.now,
        passed: None,
    })
}

/// Whether this copy acts in the session. Takes a session that no other copy acts in.
pub fn acts(facts: &mut Facts, event: &Event) -> bool {
    let Some(root) = own_root(facts) else { return true };
    let starts = matches!(event.kind, Kind::SessionStart { .. });
    match &facts.session.copy {
        // Below, a resumed session gets the number of its new client.
        Some(copy) if copy.root == root && !starts => return true,
        // The first event saves the copy with the rest of the session.
        None if facts.unseen => return true,
        _ => {}
    }
    // An agent's shell may start a hook to silence the copy that acts.
    let is_by_agent = |facts: &Facts| below_a_client(&facts.places, 1);
    if is_other(facts, &facts.session) {
        if let Kind::Prompt(text) = event.kind
            && own_command(text).is_none()
            && !is_by_agent(facts)
        {
            let now = facts.now;
            facts.update(|s| s.copy.iter_mut().for_each(|copy| copy.passed = Some(now)));
        }
        return false;
    }
    let (own, copy) = (own(facts), facts.session.copy.clone());
    let place = |copy: &ActingCopy| (copy.root.clone(), copy.client);
    if copy.as_ref().map(place) != own.as_ref().map(place) {
        if copy.as_ref().is_none_or(|copy| !is_same(&copy.root, &root)) && is_by_agent(facts) {
            return copy.is_none();
        }
        facts.update(|s| {
            if s.copy == copy {
                s.copy.clone_from(&own);
            }
        });
    }
    !is_silent(facts)
}

/// Whether the session's state names another copy.
pub fn is_silent(facts: &Facts) -> bool {
    let copy = facts.session.copy.as_ref();
    own_root(facts).zip(copy).is_some_and(|(root, copy)| !is_same(&copy.root, &root))
}

/// Whether another copy acts in a session: it is the one that the state names, and nothing says
/// that it is gone.
pub fn is_other(facts: &Facts, session: &Session) -> bool {
    let Some((copy, root)) = session.copy.as_ref().zip(own_root(facts)) else { return false };
    // It was no longer loaded when the client fired the hooks of that prompt.
    let missed = copy.passed.is_some_and(|passed| copy.answered + SAME_EVENT < passed);
    !is_same(&copy.root, &root)
        && copy.client == facts.env.client_pid()
        && copy.root.is_dir()
        && !missed
}

fn is_same(one: &Path, other: &Path) -> bool {
    same_file(without_version(one), without_version(other))
}

/// A copy's folder without its version, so that an update is the same copy. The client keeps each
/// version in `cache/MARKETPLACE/PLUGIN/VERSION`.
fn without_version(root: &Path) -> &Path {
    let is_version = root.ancestors().nth(3).is_some_and(|folder| folder.ends_with("cache"));
    root.parent().filter(|_| is_version).unwrap_or(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_is_the_same_copy_and_another_marketplace_is_not() {
        let cached = |rest: &str| Path::new("/h/.claude/plugins/cache").join(rest);
        let old = cached("acme/brain-guard/0.1.0");
        assert!(is_same(&old, &cached("acme/brain-guard/0.2.0")));
        assert!(!is_same(&old, &cached("brain-guard/brain-guard/0.1.0")));
        assert!(!is_same(&old, Path::new("/h/.local/share/brain-guard/current")));
        assert!(!is_same(Path::new("/src/one"), Path::new("/src/two")));
    }

    #[test]
    fn a_link_and_its_target_are_the_same_copy() {
        let dir = tempfile::tempdir().unwrap();
        let (release, current) = (dir.path().join("0.1.0-0"), dir.path().join("current"));
        std::fs::create_dir(&release).unwrap();
        std::os::unix::fs::symlink(&release, &current).unwrap();
        assert!(is_same(&release, &current));
    }
}
