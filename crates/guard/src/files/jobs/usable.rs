//! Checks that a job's notes can be written: a checkout put nothing in the place of its files, and
//! the disk has room. Otherwise the guard does not block.

use std::io;
use std::path::Path;

use rustix::fs::{Access, AtFlags, FileType, Mode, StatVfsMountFlags};
use rustix::io::Errno;

use super::atomic;
use base::beneath::{self, Spot};
use base::paths::Places;

/// Extra bytes that a note and a seal need. A seal writes the file again, its version, and the
/// archive.
const ROOM: u64 = 64 * 1024;

/// Checks that a job's files are regular files and real folders of this user, small enough to be
/// read. Fails with the first one that is not.
pub fn check(places: &Places, job: &str) -> io::Result<()> {
    let folder = places.job(job);
    let top = places.top();
    for (path, wanted) in [
        (top.join("jobs"), FileType::Directory),
        (top, FileType::Directory),
        (folder.join("sealed"), FileType::Directory),
        (folder.join("compaction.md"), FileType::RegularFile),
        (folder.join("job.json"), FileType::RegularFile),
        (folder.join("prompts.jsonl"), FileType::RegularFile),
        (folder.join(".lock"), FileType::RegularFile),
        (folder.clone(), FileType::Directory),
    ] {
        let stat = match beneath::stat(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            other => other?,
        };
        if beneath::file_type(&stat) != wanted {
            let what = if wanted == FileType::Directory { "folder" } else { "regular file" };
            return Err(beneath::refuse(&path, &format!("is not a {what}")));
        }
        if wanted == FileType::RegularFile {
            atomic::check_size(&path, stat.st_size as u64)?;
        }
    }
    let sealed = folder.join("sealed");
    let versions = beneath::list(&sealed, crate::files::job_files::MOST)?;
    match versions.into_iter().find(|(_, kind)| *kind != FileType::RegularFile) {
        Some((name, _)) => Err(beneath::refuse(&sealed.join(name), "is not a regular file")),
        None => Ok(()),
    }
}

/// Checks that a note can be written into a job's file and sealed there. The error says why not.
pub fn check_writable(places: &Places, job: &str) -> io::Result<()> {
    check(places, job)?;
    let folder = places.job(job);
    if !beneath::exists(&folder) {
        // The first note creates the folder, in the project or in the state.
        let project = check_folder(&places.project, 0);
        return project.or_else(|_| check_folder(&places.state, 0));
    }
    let live = places.compaction(job);
    let size = atomic::stat(&live).map_or(0, |(_, size)| size);
    check_folder(&folder, size)?;
    match access(&live) {
        // Root may write anything except an immutable file or a read-only file system.
        Err(e) if matches!(e, Errno::PERM | Errno::ROFS) => Err(named(&live, e.into())),
        _ => Ok(()),
    }
}

/// Checks that a folder accepts new files of this many bytes.
fn check_folder(folder: &Path, bytes: u64) -> io::Result<()> {
    let flags = beneath::FOLDER;
    let opened = beneath::open(folder, flags, Mode::empty()).map_err(|e| named(folder, e))?;
    let writable = Access::WRITE_OK | Access::EXEC_OK;
    rustix::fs::accessat(&opened, ".", writable, AtFlags::empty())
        .map_err(|e| named(folder, e.into()))?;
    let disk = rustix::fs::fstatvfs(&opened).map_err(|e| named(folder, e.into()))?;
    if disk.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Err(named(folder, Errno::ROFS.into()));
    }
    // Some file systems do not report their size.
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let no_room = disk.f_blocks > 0 && free < bytes.saturating_mul(3).saturating_add(ROOM);
    let no_names = disk.f_files > 0 && disk.f_favail < 4;
    if no_room || no_names {
        return Err(named(folder, Errno::NOSPC.into()));
    }
    Ok(())
}

fn access(path: &Path) -> Result<(), Errno> {
    let Ok(spot) = Spot::for_path(path) else { return Ok(()) };
    rustix::fs::accessat(spot.folder(), spot.name(), Access::WRITE_OK, AtFlags::empty())
}

fn named(path: &Path, error: io::Error) -> io::Error {
    if beneath::is_refused(&error) {
        return error;
    }
    io::Error::new(error.kind(), format!("{} cannot be written ({error})", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use base::env::Env;

    #[test]
    fn a_job_is_usable_until_something_stands_in_the_place_of_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        assert!(check_writable(&places, "j").is_ok(), "not there yet");
        let folder = places.ensure_job("j").unwrap();
        assert!(check_writable(&places, "j").is_ok());
        for name in ["compaction.md", "job.json", "sealed", "prompts.jsonl", ".lock"] {
            let path = folder.join(name);
            symlink("/etc/hostname", &path).unwrap();
            let error = check_writable(&places, "j").unwrap_err();
            assert!(beneath::is_refused(&error), "{name}: {error}");
            fs::remove_file(&path).unwrap();
        }
        fs::create_dir(folder.join("compaction.md")).unwrap();
        assert!(check(&places, "j").is_err());
        fs::remove_dir(folder.join("compaction.md")).unwrap();
        fs::write(folder.join("job.json"), vec![b' '; 70_000]).unwrap();
        let error = check(&places, "j").unwrap_err().to_string();
        assert!(error.contains("job.json") && error.contains("64 KB"), "{error}");
        fs::remove_file(folder.join("job.json")).unwrap();
        assert!(check(&places, "j").is_ok());
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
