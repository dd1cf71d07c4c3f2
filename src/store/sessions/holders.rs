//! Who has a file open for writing, by `/proc`: processes of other users are not seen.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// `O_WRONLY` and `O_RDWR` among the flags in `fdinfo`.
const WRITES: u32 = 0o3;

/// The processes that have the file with this path and inode open for writing, but for this
/// one. The path may lead to another file by now.
pub fn writers(file: &Path, inode: u64) -> Vec<u32> {
    let mut gone = file.as_os_str().to_owned();
    gone.push(" (deleted)");
    let me = std::process::id();
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| *pid != me)
        .filter(|pid| {
            let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
            open.map(|fd| fd.path()).any(|fd| {
                // Asked for its inode, what is no file of a disk of ours might not answer.
                fs::read_link(&fd).is_ok_and(|to| to == file || to.as_os_str() == gone)
                    && fs::metadata(&fd).is_ok_and(|meta| meta.ino() == inode)
                    && fd
                        .file_name()
                        .and_then(|number| number.to_str())
                        .is_some_and(|number| writes(*pid, number))
            })
        })
        .collect()
}

fn writes(pid: u32, number: &str) -> bool {
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    flags
        .and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok())
        .is_some_and(|f| f & WRITES != 0)
}

#[cfg(test)]
mod tests {
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
    fn a_writer_is_found_also_behind_a_rename_and_a_reader_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(dir.path()).unwrap().join("s.jsonl");
        fs::write(&path, "one\n").unwrap();
        let inode = fs::metadata(&path).unwrap().ino();
        let (mut reader, mut writer) = (held("<", &path), held(">>", &path));
        assert_eq!(writers(&path, inode), [writer.id()]);
        fs::write(path.with_extension("new"), "two\n").unwrap();
        fs::rename(path.with_extension("new"), &path).unwrap();
        assert_eq!(writers(&path, inode), [writer.id()]);
        assert_eq!(writers(&path, fs::metadata(&path).unwrap().ino()), [] as [u32; 0]);
        for child in [&mut reader, &mut writer] {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        assert_eq!(writers(&path, inode), [] as [u32; 0]);
    }
}
