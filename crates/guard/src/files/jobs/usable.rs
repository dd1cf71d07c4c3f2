//! Checks that a job's notes can be written. Otherwise the guard does not block.

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, StatVfsMountFlags};
use rustix::io::Errno;

use base::atomic;
use base::paths::Places;

/// Extra bytes that a note and a seal need. A seal writes the file again, its version, and the
/// archive.
const ROOM: u64 = 64 * 1024;

/// Checks that a note can be written into a job's file and sealed there. The error says why not.
pub fn check_writable(places: &Places, job: &str) -> io::Result<()> {
    let (folder, live) = (places.job(job), places.compaction(job));
    let size = match fs::symlink_metadata(&live) {
        Ok(meta) if !meta.is_file() => {
            let why = format!("{} is not a regular file", live.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(meta) if meta.len() > atomic::MAX_NOTES => {
            let (has, most) = (meta.len() / 1024, atomic::MAX_NOTES / 1024);
            let why = format!("{} has {has} KB; at most {most} KB are read", live.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(meta) => meta.len(),
        Err(_) => 0,
    };
    let record = folder.join("job.json");
    if fs::symlink_metadata(&record).is_ok_and(|meta| !meta.is_file()) {
        let why = format!("{} is not a regular file", record.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    // The first note creates the folder. A link to nowhere is in its way.
    let is_there = |path: &&Path| fs::symlink_metadata(path).is_ok();
    let there = folder.ancestors().find(is_there).unwrap_or(&folder);
    check_folder(there, size)?;
    match access(&live) {
        // Root may write anything except an immutable file or a read-only file system.
        Err(e) if matches!(e, Errno::PERM | Errno::ROFS) => Err(named(&live, &e.into())),
        _ => Ok(()),
    }
}

/// Checks that a folder accepts new files of this many bytes.
fn check_folder(folder: &Path, bytes: u64) -> io::Result<()> {
    let failed = |errno: Errno| named(folder, &errno.into());
    if !folder.is_dir() {
        return Err(failed(Errno::NOTDIR));
    }
    let writable = Access::WRITE_OK | Access::EXEC_OK;
    rustix::fs::accessat(CWD, folder, writable, AtFlags::empty()).map_err(failed)?;
    let disk = rustix::fs::statvfs(folder).map_err(failed)?;
    if disk.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Err(failed(Errno::ROFS));
    }
    // Some file systems do not report their size.
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let no_room = disk.f_blocks > 0 && free < bytes.saturating_mul(3).saturating_add(ROOM);
    let no_names = disk.f_files > 0 && disk.f_favail < 4;
    if no_room || no_names {
        return Err(failed(Errno::NOSPC));
    }
    Ok(())
}

fn access(path: &Path) -> Result<(), Errno> {
    rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::empty())
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{} cannot be written ({error})", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use base::env::Env;

    #[test]
    fn a_job_is_usable_until_something_stands_in_the_place_of_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        assert!(check_writable(&places, "j").is_ok(), "not there yet");
        let live = places.ensure_job("j").unwrap().join("compaction.md");
        assert!(check_writable(&places, "j").is_ok());
        symlink("/etc/hostname", &live).unwrap();
        let error = check_writable(&places, "j").unwrap_err().to_string();
        assert!(error.ends_with("compaction.md is not a regular file"), "{error}");
        fs::remove_file(&live).unwrap();
        fs::write(&live, vec![b' '; 1_100_000]).unwrap();
        let error = check_writable(&places, "j").unwrap_err().to_string();
        assert!(error.ends_with("has 1074 KB; at most 1024 KB are read"), "{error}");
    }

    #[test]
    fn a_disk_without_room_takes_no_note() {
        let dir = tempfile::tempdir().unwrap();
        let error = check_folder(&dir.path().join("none"), 0).unwrap_err().to_string();
        assert!(error.contains("none cannot be written"), "{error}");
        assert!(check_folder(dir.path(), 0).is_ok());
        let error = check_folder(dir.path(), u64::MAX / 4).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
