//! Paths that were not opened because they lead out of the project or belong to another user. The
//! process remembers them, so that the hook can name them to the user.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;

/// A path that was not opened, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The file, folder or link in the way.
    pub path: PathBuf,
    /// The reason, worded to follow the path.
    pub why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {}, so it is not used", self.path.display(), self.why)
    }
}

impl std::error::Error for Refused {}

static SEEN: Mutex<Vec<Refused>> = Mutex::new(Vec::new());

/// The paths this process has refused so far, each once.
pub fn refused_paths() -> Vec<Refused> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Whether an error says that a path was refused.
pub fn is_refused(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<Refused>()).is_some()
}

/// Refuses a path, and remembers it.
pub fn refuse(path: &Path, why: &str) -> io::Error {
    let refused = Refused { path: path.to_path_buf(), why: why.to_owned() };
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.iter().all(|known| known.path != refused.path) {
        seen.push(refused.clone());
    }
    io::Error::new(io::ErrorKind::PermissionDenied, refused)
}

/// Whether a link is the old name of a renamed job. Callers find the job by its current name, so
/// the old path counts as missing.
fn is_former_name(link: &Path) -> bool {
    let jobs = Path::new(super::TOP).join("jobs");
    let is_name = |to: PathBuf| {
        let own = link.file_name();
        to.file_name().is_some_and(|name| *name == *to.as_os_str() && own != Some(name))
    };
    link.parent().is_some_and(|folder| folder.ends_with(jobs))
        && std::fs::read_link(link).is_ok_and(is_name)
}

/// The refusal of a link on the way to `path`, if that caused `error`.
pub(super) fn refuse_link(root: &Path, path: &Path, error: Errno) -> io::Error {
    if !matches!(error, Errno::LOOP | Errno::NOTDIR | Errno::XDEV) {
        return error.into();
    }
    let mut at = root.to_path_buf();
    for part in path.components() {
        at.push(part);
        if std::fs::symlink_metadata(&at).is_ok_and(|meta| meta.is_symlink()) {
            if is_former_name(&at) {
                return io::ErrorKind::NotFound.into();
            }
            return refuse(&at, "is a symbolic link");
        }
    }
    error.into()
}
