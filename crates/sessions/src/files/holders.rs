//! Finds who has a file open for writing. Processes of other users are not visible.

use std::fs::Metadata;
use std::path::Path;
use std::thread;
use std::time::Duration;

use base::process;

/// The process that `look` finds, if it finds one for a tenth of a second. A starting process has
/// its parent's files open until it runs its program.
pub fn lasting_holder(look: impl Fn() -> Option<u32>) -> Option<u32> {
    for _ in 0..5 {
        look()?;
        thread::sleep(Duration::from_millis(20));
    }
    look()
}

/// The other processes that have this file open for writing. `file` is its name now or before;
/// folders above it may have other names for them.
pub fn writers(file: &Path, meta: &Metadata) -> Vec<u32> {
    let name = file.file_name().unwrap_or_default().as_encoded_bytes();
    let writers = process::open_files()
        .filter(|open| is_called(&open.path, name) && open.is(meta) && open.writes());
    let mut pids: Vec<u32> = writers.map(|open| open.pid).collect();
    pids.dedup();
    pids
}

/// Whether that is the last part of a path; also of a file that was deleted or replaced.
fn is_called(path: &Path, name: &[u8]) -> bool {
    let last = path.file_name().unwrap_or_default().as_encoded_bytes();
    last == name || last.strip_suffix(b" (deleted)") == Some(name)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::process::{Command, Stdio};

    use super::*;

    fn held(how: &str, path: &Path) -> std::process::Child {
        let mut shell = Command::new("sh");
        let script = format!("exec 9{how}\"$0\"; echo open; read -r _");
        shell.args(["-c", &script]).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let mut said = [0; 5];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
        child
    }

    #[test]
    fn who_holds_it_for_a_moment_is_no_holder() {
        let looks = Cell::new(0);
        let until = |last| {
            looks.set(looks.get() + 1);
            (looks.get() <= last).then_some(7)
        };
        assert_eq!(lasting_holder(|| until(2)), None);
        assert_eq!(looks.replace(0), 3);
        assert_eq!(lasting_holder(|| until(100)), Some(7));
    }

    #[test]
    fn a_writer_is_found_also_behind_a_rename_and_a_reader_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(dir.path()).unwrap().join("s.jsonl");
        fs::write(&path, "one\n").unwrap();
        let old = fs::metadata(&path).unwrap();
        let (mut reader, mut writer) = (held("<", &path), held(">>", &path));
        assert_eq!(writers(&path, &old), [writer.id()]);
        fs::write(path.with_extension("new"), "two\n").unwrap();
        fs::rename(path.with_extension("new"), &path).unwrap();
        assert_eq!(writers(&path, &old), [writer.id()]);
        assert_eq!(writers(&path, &fs::metadata(&path).unwrap()), [] as [u32; 0]);
        for child in [&mut reader, &mut writer] {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        assert_eq!(writers(&path, &old), [] as [u32; 0]);
    }
}
