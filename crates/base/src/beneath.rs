//! Files below a project's `.brain-guard`. A stranger's commit may have laid them out, so
//! they are opened part by part from the project's folder, and no link on the way is followed.
//! Every other path is opened as the system does it.
//!
//! All that touches a project's files goes through here: [`open`] to read or append, [`Spot`]
//! to make, replace, rename or remove.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

mod refused;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

pub use refused::refuse;
use refused::refuse_link;
pub use refused::{Refused, is_refused, refused};

/// The folder of a project that holds everything of ours.
pub const TOP: &str = ".brain-guard";

/// A folder is opened for its name only: that needs no right to read it. Linux alone has that.
#[cfg(target_os = "linux")]
const NAME_ONLY: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const NAME_ONLY: OFlags = OFlags::NONBLOCK;
/// How a folder is opened that is only gone through.
pub const FOLDER: OFlags = NAME_ONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens a file. Below [`TOP`] no link is followed, and the file must belong to this user,
/// to root, or to whom the project's folder belongs to (in a container that is somebody else).
///
/// # Errors
/// What the system says; [`Refused`] inside of it where the way leads elsewhere.
pub fn open(path: &Path, flags: OFlags, mode: Mode) -> io::Result<File> {
    // What is opened for its name only takes no other flag.
    let terminal = if flags.contains(FOLDER) { OFlags::empty() } else { OFlags::NOCTTY };
    let flags = flags | OFlags::CLOEXEC | terminal;
    match split(path)? {
        None => Ok(rustix::fs::open(path, flags, mode)?.into()),
        Some(inside) => Ok(inside.open(flags, mode)?.0.into()),
    }
}

/// What the system says of a file or folder; below [`TOP`] as with [`open`].
///
/// # Errors
/// As [`open`].
pub fn stat(path: &Path) -> io::Result<Stat> {
    match split(path)? {
        None => Ok(rustix::fs::stat(path)?),
        Some(inside) => Ok(inside.open(NAME_ONLY | OFlags::CLOEXEC, Mode::empty())?.1),
    }
}

/// Whether there is a file or folder; one that is refused counts as none.
pub fn exists(path: &Path) -> bool {
    stat(path).is_ok()
}

/// Whether there is a folder; one that is refused counts as none.
pub fn is_dir(path: &Path) -> bool {
    stat(path).is_ok_and(|stat| kind(&stat) == FileType::Directory)
}

/// Whether a path is below a project's [`TOP`].
pub fn is_beneath(path: &Path) -> bool {
    !matches!(split(path), Ok(None))
}

/// The type of a file.
pub fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Whether a link lies there, wherever it leads.
pub fn is_link(path: &Path) -> bool {
    let stat = Spot::of(path).and_then(|spot| spot.stat());
    stat.is_ok_and(|stat| stat.is_some_and(|stat| kind(&stat) == FileType::Symlink))
}

/// The names in a folder, at most `most` of them, with what each is. None where there is no
/// such folder.
///
/// # Errors
/// As [`open`].
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
            // Some file systems tell only when they are asked for each.
            FileType::Unknown => {
                let stat = rustix::fs::statat(&file, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
                stat.map_or(FileType::Unknown, |stat| kind(&stat))
            }
            kind => kind,
        };
        names.push((name.to_owned(), kind));
    }
    Ok(names)
}

/// Makes a folder and its parents with `mode`; those that are there stay as they are.
///
/// # Errors
/// As [`open`].
pub fn create_dirs(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let Some(inside) = split(path)? else {
        return std::fs::DirBuilder::new().recursive(true).mode(mode).create(path);
    };
    std::fs::create_dir_all(inside.root)?;
    let mut made = inside.root.to_path_buf();
    for part in inside.path.components() {
        made.push(part);
        let spot = Spot::of(&made)?;
        let name = spot.name;
        match rustix::fs::mkdirat(spot.folder(), name, Mode::from_raw_mode(mode)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
        }
    }
    // The last one was there and is no folder, or leads elsewhere.
    open(path, FOLDER, Mode::empty()).map(drop)
}

/// A name in a folder that is open, for what makes, replaces or removes it.
#[derive(Debug)]
pub struct Spot<'a> {
    /// `None`: the name is a path, and the system resolves it.
    folder: Option<OwnedFd>,
    name: &'a OsStr,
}

impl<'a> Spot<'a> {
    /// Where `path` lies.
    ///
    /// # Errors
    /// As [`open`]: of the folder, whatever lies there under the name.
    pub fn of(path: &'a Path) -> io::Result<Self> {
        let Some(inside) = split(path)? else {
            return Ok(Self { folder: None, name: path.as_os_str() });
        };
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self { folder: Some(inside.parent()?), name })
    }

    /// The folder, for calls of the system that take one.
    pub fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_ref().map_or(CWD, AsFd::as_fd)
    }

    /// The name in it.
    pub fn name(&self) -> &'a OsStr {
        self.name
    }

    /// The name without a path.
    pub fn file_name(&self) -> String {
        let name = Path::new(self.name).file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Another name in the same folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        Path::new(self.name).with_file_name(name)
    }

    /// Removes the file of another name in the same folder.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove_beside(&self, name: &Path) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.folder(), name, AtFlags::empty())?)
    }

    /// What lies there; a link is itself. `None` where nothing does.
    ///
    /// # Errors
    /// What the system says.
    pub fn stat(&self) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(self.folder(), self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Opens what lies there, or makes it.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(&self, name: &Path, flags: OFlags, mode: u32) -> io::Result<File> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NOFOLLOW;
        Ok(rustix::fs::openat(self.folder(), name, flags, Mode::from_raw_mode(mode))?.into())
    }

    /// Gives the file `name` of the same folder this name.
    ///
    /// # Errors
    /// What the system says.
    pub fn take(&self, name: &Path) -> io::Result<()> {
        Ok(rustix::fs::renameat(self.folder(), name, self.folder(), self.name)?)
    }

    /// Moves what lies there to `to`.
    ///
    /// # Errors
    /// What the system says.
    pub fn rename(&self, to: &Spot, flags: RenameFlags) -> io::Result<()> {
        Ok(rustix::fs::renameat_with(self.folder(), self.name, to.folder(), to.name, flags)?)
    }

    /// Removes the file or link.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.folder(), self.name, AtFlags::empty())?)
    }

    /// Removes the empty folder.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove_dir(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.folder(), self.name, AtFlags::REMOVEDIR)?)
    }

    /// Makes a link that leads to the name `to` in the same folder.
    ///
    /// # Errors
    /// What the system says.
    pub fn link_to(&self, to: &str) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(to, self.folder(), self.name)?)
    }

    /// The name that a link leads to; `None` for anything else.
    pub fn link(&self) -> Option<String> {
        let target = rustix::fs::readlinkat(self.folder(), self.name, Vec::new()).ok()?;
        target.into_string().ok()
    }

    /// Has the disk keep the folder's names.
    pub fn sync(&self) {
        let parent = Path::new(self.name).parent().filter(|p| !p.as_os_str().is_empty());
        let path =
            if self.folder.is_some() { Path::new(".") } else { parent.unwrap_or(Path::new(".")) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Some file systems refuse to sync a folder; what was renamed stands.
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

/// Splits a path ahead of [`TOP`]; `None` where it has no such part. By bytes: a hook asks
/// for each of its paths.
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

    /// The folder that the path lies in.
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
    if kind(&stat) == FileType::Symlink {
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

/// How often a path is looked up again that somebody renames meanwhile.
#[cfg(target_os = "linux")]
const TRIES: usize = 8;

/// One call of the system that follows no link; `None` where it has none or forbids it.
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

/// The same a part at a time, for older kernels, sandboxes and other systems.
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
