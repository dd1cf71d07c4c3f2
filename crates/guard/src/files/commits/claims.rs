//! Decides which session a commit belongs to: the first one that claimed it.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use super::PATIENCE;
use base::paths::{Places, short_digest};
use base::{atomic, lock};

/// Size of a repository's claims in bytes at which the older half is dropped.
const MOST_CLAIMS: usize = 256 * 1024;

/// Claims commits of a repository for a session, across all projects of this user. Returns those
/// that no other session had claimed, and all that are `sure`.
pub fn claim<'a>(
    places: &Places,
    common: &Path,
    session: &str,
    commits: &[(&'a str, bool)],
) -> io::Result<Vec<&'a str>> {
    let dir = places.commit_claims();
    atomic::create_private_dir(&dir)?;
    let name = short_digest(common.as_os_str().as_encoded_bytes());
    let path = dir.join(&name);
    let _held = lock::acquire(&dir.join(format!("{name}.lock")), PATIENCE)?;
    let known = atomic::read_text(&path)?.unwrap_or_default();
    let holders: BTreeMap<&str, &str> = known.lines().filter_map(|l| l.split_once(' ')).collect();
    let mut new = String::new();
    let mut ours = Vec::new();
    for (hash, sure) in commits {
        let holder = holders.get(hash).copied();
        if *sure || holder.is_none_or(|holder| holder == session) {
            ours.push(*hash);
            if holder != Some(session) {
                // Writing to a string cannot fail.
                let _ = writeln!(new, "{hash} {session}");
            }
        }
    }
    if new.is_empty() {
        return Ok(ours);
    }
    if known.len() > MOST_CLAIMS {
        let half = known[known.len() / 2..].split_once('\n').map_or("", |(_, rest)| rest);
        atomic::write_unsynced(&path, [half, &new].concat().as_bytes())?;
    } else {
        atomic::append(&path, new.as_bytes())?;
    }
    Ok(ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::env::Env;

    #[test]
    fn a_commit_is_claimed_once_unless_it_is_sure() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let [one, two] =
            ["one", "two"].map(|name| Places::for_project(&env, &dir.path().join(name)).unwrap());
        let repository = Path::new("/r/.git");
        let claimed = |places, session, hash, sure| {
            claim(places, repository, session, &[(hash, sure)]).unwrap().len() == 1
        };
        assert!(claimed(&one, "a", "1111", false) && claimed(&one, "a", "1111", false));
        assert!(!claimed(&two, "b", "1111", false), "another project of the same user");
        assert!(claimed(&two, "b", "1111", true) && !claimed(&one, "a", "1111", false));
        for n in 0..8000 {
            let hash = format!("{n:040}");
            let path = one.commit_claims().join(short_digest(b"/r/.git"));
            atomic::append(&path, format!("{hash} c\n").as_bytes()).unwrap();
        }
        assert!(claimed(&one, "a", "2222", false));
        assert!(claimed(&one, "a", "1111", false), "the oldest are let go");
        assert!(!claimed(&one, "a", &format!("{:040}", 7999), false));
    }
}
