//! Opens files below a project's `.brain-guard`. A stranger's commit may have created them, so a
//! path is opened part by part from the project's folder without following links. Any other path is
//! opened the usual way.
//!
//! All access to project files goes through here: [`open`] to read or append, [`Spot`] to create,
//! replace, rename or remove.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

mod refused;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, RenameFlags, Stat};
use rustix::io::Errno;

pub use refused::refuse;
use refused::refuse_link;
pub use refused::{Refused, is_refused, refused_paths};

/// The folder in a project that holds all our files.
pub const TOP: &str = ".brain-guard";

/// Linux can open a folder by name only, which needs no read permission.
#[cfg(target_os = "linux")]
const NAME_ONLY: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const NAME_ONLY: OFlags = OFlags::NONBLOCK;
/// Flags that open a folder only to reach what is in it.
pub const FOLDER: OFlags = NAME_ONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens a file. Below [`TOP`] no link is followed. The file must belong to this user, to root, or
/// to the owner of the project's folder (another user in a container).
///
/// # Errors
/// The system's error. It wraps [`Refused`] if a link, `..` or another owner is in the way.
pub fn open(path: &Path, flags: OFlags, mode: Mode) -> io::Result<File> {
    // A folder opened by name only takes no other flag.
    let terminal = if flags.contains(FOLDER) { OFlags::empty() } else { OFlags::NOCTTY };
    let flags = flags | OFlags::CLOEXEC | terminal;
    match split(path)? {
        None => Ok(rustix::fs::open(path, flags, mode)?.into()),
        Some(inside) => Ok(inside.open(flags, mode)?.0.into()),
    }
}

/// The metadata of a file or folder; below [`TOP`] with the checks of [`open`].
pub fn stat(path: &Path) -> io::Result<Stat> {
    match split(path)? {
        None => Ok(rustix::fs::stat(path)?),
        Some(inside) => Ok(inside.open(NAME_ONLY | OFlags::CLOEXEC, Mode::empty())?.1),
    }
}

/// Whether a file or folder exists. A refused one counts as missing.
pub fn exists(path: &Path) -> bool {
    stat(path).is_ok()
}

/// Whether a folder exists. A refused one counts as missing.
pub fn is_dir(path: &Path) -> bool {
    stat(path).is_ok_and(|stat| file_type(&stat) == FileType::Directory)
}

/// Whether a path lies below a project's [`TOP`].
pub fn is_beneath(path: &Path) -> bool {
    !matches!(split(path), Ok(None))
}

/// The type of a file.
pub fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Whether the path itself is a symbolic link, wherever it leads.
pub fn is_link(path: &Path) -> bool {
    let stat = Spot::for_path(path).and_then(|spot| spot.stat());
    stat.is_ok_and(|stat| stat.is_some_and(|stat| file_type(&stat) == FileType::Symlink))
}

/// Lists the names in a folder with their types, at most `most`. A missing folder is empty.
pub fn list(folder: &Path, most: usize) -> io::Result<Vec<(String, FileType)>> {
    let opened = open(folder, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty());
    let file = match opened {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut names = Vec::new();
    for entry in Dir::read_from(&file)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if matches!(name, "." | "..") {
            continue;
        }
        if names.len() == most {
            break;
        }
        let kind = match entry.file_type() {
            // Some file systems do not give the type with the name.
            FileType::Unknown => {
                let stat = rustix::fs::statat(&file, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
                stat.map_or(FileType::Unknown, |stat| file_type(&stat))
            }
            kind => kind,
        };
        names.push((name.to_owned(), kind));
    }
    Ok(names)
}

/// Creates a folder and its parents with `mode`. Existing folders keep their mode.
pub fn create_dirs(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let Some(inside) = split(path)? else {
        return std::fs::DirBuilder::new().recursive(true).mode(mode).create(path);
    };
    std::fs::create_dir_all(inside.root)?;
    let mut made = inside.root.to_path_buf();
    for part in inside.path.components() {
        made.push(part);
        let spot = Spot::for_path(&made)?;
        let name = spot.name;
        match rustix::fs::mkdirat(spot.folder(), name, Mode::from_raw_mode(mode as RawMode)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
        }
    }
    // Fails if the last part is no folder, or leads elsewhere.
    open(path, FOLDER, Mode::empty()).map(drop)
}

/// A name in an open folder, which can be created, replaced or removed there.
#[derive(Debug)]
pub struct Spot<'a> {
    /// `None`: the name is a path, and the system resolves it.
    folder: Option<OwnedFd>,
    name: &'a OsStr,
}

impl<'a> Spot<'a> {
    /// Finds the folder of `path`. The file itself need not exist.
    pub fn for_path(path: &'a Path) -> io::Result<Self> {
        let Some(inside) = split(path)? else {
            return Ok(Self { folder: None, name: path.as_os_str() });
        };
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self { folder: Some(inside.parent()?), name })
    }

    /// The folder, for system calls that take one.
    pub fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_ref().map_or(CWD, AsFd::as_fd)
    }

    /// The name, relative to [`Spot::folder`].
    pub fn name(&self) -> &'a OsStr {
        self.name
    }

    /// The last part of the name.
    pub fn file_name(&self) -> String {
        let name = Path::new(self.name).file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Another name in the same folder.
    pub fn sibling_path(&self, name: &str) -> PathBuf {
        Path::new(self.name).with_file_name(name)
    }

    /// Removes a file with another name in the same folder.
    pub fn remove_sibling(&self, name: &Path) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.folder(), name, AtFlags::empty())?)
    }

    /// The metadata of the file or of the link itself; `None` if nothing exists.
    pub fn stat(&self) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(self.folder(), self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Opens or creates the file `name` in the same folder.
    pub fn open(&self, name: &Path, flags: OFlags, mode: RawMode) -> io::Result<File> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NOFOLLOW;
        Ok(rustix::fs::openat(self.folder(), name, flags, Mode::from_raw_mode(mode))?.into())
    }

    /// Renames the file `name` of the same folder to this name.
    pub fn replace_with(&self, name: &Path) -> io::Result<()> {
        Ok(rustix::fs::renameat(self.folder(), name, self.folder(), self.name)?)
    }

    /// Moves the file to `to`.
    pub fn rename(&self, to: &Spot, flags: RenameFlags) -> io::Result<()> {
        Ok(rustix::fs::renameat_with(self.folder(), self.name, to.folder(), to.name, flags)?)
    }

    /// Removes the file or link.
    pub fn remove(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.folder(), self.name, AtFlags::empty())?)
    }

    /// Removes the empty folder.
    pub fn remove_dir(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.folder(), self.name, AtFlags::REMOVEDIR)?)
    }

    /// Creates a link to the name `to` in the same folder.
    pub fn link_to(&self, to: &str) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(to, self.folder(), self.name)?)
    }

    /// The target of the link; `None` for anything else.
    pub fn link_target(&self) -> Option<String> {
        let target = rustix::fs::readlinkat(self.folder(), self.name, Vec::new()).ok()?;
        target.into_string().ok()
    }

    /// Syncs the folder, so that its names survive a crash.
    pub fn sync(&self) {
        let parent = Path::new(self.name).parent().filter(|p| !p.as_os_str().is_empty());
        let path =
            if self.folder.is_some() { Path::new(".") } else { parent.unwrap_or(Path::new(".")) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Some file systems refuse to sync a folder; the rename is done anyway.
        if let Ok(folder) = rustix::fs::openat(self.folder(), path, flags, Mode::empty()) {
            let _ = rustix::fs::fsync(folder);
        }
    }
}

/// A path below a project's [`TOP`].
#[derive(Debug, Clone, Copy)]
struct Inside<'a> {
    /// The project's folder.
    root: &'a Path,
    /// The rest, from [`TOP`] on.
    path: &'a Path,
}

/// Splits a path before [`TOP`]; `None` if it has no such part. Compares bytes, because a hook
/// calls this for each of its paths.
fn split(path: &Path) -> io::Result<Option<Inside<'_>>> {
    let bytes = path.as_os_str().as_bytes();
    let is_end = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b'/');
    let mut at = 0;
    loop {
        let begins = at == 0 || bytes[at - 1] == b'/';
        if begins && bytes[at..].starts_with(TOP.as_bytes()) && is_end(bytes.get(at + TOP.len())) {
            break;
        }
        at += 1;
        if at + TOP.len() > bytes.len() {
            return Ok(None);
        }
    }
    if bytes[at..].split(|byte| *byte == b'/').any(|part| part == b"..") {
        return Err(refuse(path, "has `..` in it"));
    }
    let root = if at == 0 { b"." } else { &bytes[..at] };
    let path = |bytes| Path::new(OsStr::from_bytes(bytes));
    Ok(Some(Inside { root: path(root), path: path(&bytes[at..]) }))
}

impl Inside<'_> {
    fn open(&self, flags: OFlags, mode: Mode) -> io::Result<(OwnedFd, Stat)> {
        open_inside(self.root, self.path, flags, mode)
    }

    /// The folder that contains the path.
    fn parent(&self) -> io::Result<OwnedFd> {
        match self.path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => Ok(open_inside(self.root, parent, FOLDER, Mode::empty())?.0),
            None => Ok(rustix::fs::open(self.root, FOLDER, Mode::empty())?),
        }
    }
}

fn open_inside(root: &Path, path: &Path, flags: OFlags, mode: Mode) -> io::Result<(OwnedFd, Stat)> {
    let base = rustix::fs::open(root, FOLDER, Mode::empty())?;
    let flags = flags | OFlags::NOFOLLOW;
    let opened =
        at_once(&base, path, flags, mode).unwrap_or_else(|| part_by_part(&base, path, flags, mode));
    let file = opened.map_err(|e| refuse_link(root, path, e))?;
    let stat = rustix::fs::fstat(&file)?;
    if file_type(&stat) == FileType::Symlink {
        return Err(refuse_link(root, path, Errno::LOOP));
    }
    if !is_trusted_owner(&base, stat.st_uid) {
        let why = format!("belongs to another user (uid {})", stat.st_uid);
        return Err(refuse(&root.join(path), &why));
    }
    Ok((file, stat))
}

fn is_trusted_owner(root: &OwnedFd, uid: u32) -> bool {
    uid == 0
        || uid == rustix::process::geteuid().as_raw()
        || rustix::fs::fstat(root).is_ok_and(|stat| stat.st_uid == uid)
}

/// How often to retry while somebody renames the path.
#[cfg(target_os = "linux")]
const TRIES: usize = 8;

/// Opens with one system call that follows no link; `None` if the kernel lacks or forbids it.
#[cfg(target_os = "linux")]
fn at_once(
    root: &OwnedFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> Option<Result<OwnedFd, Errno>> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..TRIES {
        match rustix::fs::openat2(root, path, flags, mode, resolve) {
            Err(Errno::AGAIN) => {}
            Err(Errno::NOSYS | Errno::PERM) => return None,
            other => return Some(other),
        }
    }
    Some(Err(Errno::AGAIN))
}

#[cfg(not(target_os = "linux"))]
fn at_once(_: &OwnedFd, _: &Path, _: OFlags, _: Mode) -> Option<Result<OwnedFd, Errno>> {
    None
}

/// Opens one part at a time, for older kernels, sandboxes and other systems.
fn part_by_part(root: &OwnedFd, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let mut parts: Vec<_> = path.components().collect();
    let last = parts.pop().ok_or(Errno::INVAL)?;
    let mut folder: Option<OwnedFd> = None;
    for part in parts {
        let at = folder.as_ref().unwrap_or(root);
        let next =
            rustix::fs::openat(at, part.as_os_str(), FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        folder = Some(next);
    }
    rustix::fs::openat(folder.as_ref().unwrap_or(root), last.as_os_str(), flags, mode)
}

#[cfg(test)]
mod tests;
