//! Checks whether this process was started below a client: by its agent's shell, or by a client
//! that the agent started. The process tree shows what a shell command hides.

use std::path::PathBuf;

use super::state;
use base::paths::Places;
use base::process;

/// The maximum number of processes to follow upward.
const DEPTH: usize = 64;

/// Whether a client with a session in any project is above this process. The first `skipped`
/// processes above are ignored. Inside the client's sandbox, outer processes are invisible, so
/// nothing is found; the state is not writable there either.
pub fn below_a_client(places: &Places, skipped: usize) -> bool {
    let above = ancestors().skip(skipped).take(DEPTH);
    above.into_iter().any(|pid| seated(places, pid))
}

/// The processes above this one, nearest first.
fn ancestors() -> impl Iterator<Item = u32> {
    let parent = rustix::process::getppid().map(|p| p.as_raw_nonzero().get() as u32);
    std::iter::successors(parent, |pid| process::parent(*pid)).filter(|pid| *pid > 1)
}

fn seated(places: &Places, pid: u32) -> bool {
    let here = |state: &PathBuf| state::seated(&places.for_state(state), pid);
    places.all_states().iter().any(here)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use base::env::Env;

    #[test]
    fn a_client_above_is_found_by_its_seat() {
        let home = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", home.path().to_str().unwrap())]);
        let (a, b) = (
            Places::for_project(&env, Path::new("/a")),
            Places::for_project(&env, Path::new("/b")),
        );
        let (a, b) = (a.unwrap(), b.unwrap());
        assert!(ancestors().count() > 0);
        assert!(!below_a_client(&a, 0));
        a.ensure_state().unwrap();
        let parent = ancestors().next().unwrap();
        state::take_seat(&a, state::client(parent).unwrap(), "s").unwrap();
        assert!(below_a_client(&a, 0), "of this project");
        assert!(below_a_client(&b, 0), "of another");
        assert!(!below_a_client(&a, 1), "who starts the hook itself");
        // An earlier process had the same id.
        let gone = state::Client { start: 0, ..state::client(parent).unwrap() };
        state::take_seat(&a, gone, "s").unwrap();
        assert!(!below_a_client(&a, 0));
    }
}
