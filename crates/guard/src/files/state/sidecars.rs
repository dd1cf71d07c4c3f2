//! Files next to a session's state that parallel calls append to.

use std::io;

use base::atomic;
use base::paths::Places;

/// Counts one call by appending a byte, so that parallel calls are all counted.
pub fn count_call(places: &Places, id: &str) -> io::Result<()> {
    atomic::append(&places.session(id, "calls"), b".")
}

/// The number of calls so far.
pub fn calls(places: &Places, id: &str) -> u64 {
    std::fs::metadata(places.session(id, "calls")).map_or(0, |m| m.len())
}

/// Records that the session has read or edited a file.
pub fn remember_file(places: &Places, id: &str, path: &str) -> io::Result<()> {
    if path.contains('\n') {
        return Ok(());
    }
    atomic::append(&places.session(id, "files"), format!("{path}\n").as_bytes())
}

/// Whether the session has read or edited the file before.
pub fn knows_file(places: &Places, id: &str, path: &str) -> bool {
    let Ok(Some(bytes)) = atomic::read(&places.session(id, "files")) else { return false };
    bytes.split(|b| *b == b'\n').any(|line| line == path.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::*;

    #[test]
    fn files_are_remembered() {
        let (_dir, places) = places();
        places.ensure_state().unwrap();
        remember_file(&places, "s", "/a b").unwrap();
        assert!(knows_file(&places, "s", "/a b"));
        assert!(!knows_file(&places, "s", "/a"));
    }
}
