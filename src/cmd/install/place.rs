//! The folder on disk: releases, the `current` link, the command's link.
//!
//! A release is written before it is used: each file by rename, and synced. Only then `current` is
//! swapped. Names that are not ours are never touched.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process,
};

use sha2::{Digest as _, Sha256};

use super::assets::{ASSETS, Asset};

/// The link to the release in force.
pub const CURRENT: &str = "current";
/// The binary's path in a release.
pub const BINARY: &str = "bin/brain-guard";

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was not there.
    Made,
    /// It was there, but not as it should be.
    Mended,
    /// It was as it should be.
    Unchanged,
}

/// One version of the plugin's folder, by content.
#[derive(Debug)]
pub struct Release {
    version: &'static str,
    binary: Vec<u8>,
    digest: String,
}

impl Release {
    /// The plugin's files of this version with `binary`.
    pub fn new(version: &'static str, binary: Vec<u8>) -> Self {
        let digest = digest(ASSETS.iter().copied(), &binary);
        Self { version, binary, digest }
    }

    /// The folder's name: the version, and 8 hex digits of the content's SHA-256.
    pub fn name(&self) -> String {
        format!("{}-{}", self.version, self.digest)
    }

    fn files(&self) -> impl Iterator<Item = (&str, &[u8], u32)> {
        let is_script = |path: &str| Path::new(path).extension().is_some_and(|e| e == "sh");
        let mode = move |path: &str| if is_script(path) { 0o755 } else { 0o644 };
        let file = move |(path, bytes): Asset| (path, bytes, mode(path));
        ASSETS.iter().copied().map(file).chain([(BINARY, self.binary.as_slice(), 0o755)])
    }
}

/// 8 hex digits that identify a release's content.
pub fn digest<'a>(
    files: impl Iterator<Item = (&'a str, impl AsRef<[u8]>)>,
    binary: &[u8],
) -> String {
    let mut hash = Sha256::new();
    for (path, text) in files {
        hash.update(path);
        hash.update([0]);
        hash.update(text);
        hash.update([0]);
    }
    hash.update(binary);
    hash.finalize().iter().take(4).fold(String::new(), |mut text, byte| {
        use std::fmt::Write as _;
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes the release into `data` and makes it the current one.
///
/// # Errors
/// A file system error, or `current` is something other than a link.
pub fn release(data: &Path, release: &Release) -> io::Result<Change> {
    let folder = data.join(release.name());
    let is_new = !folder.exists();
    let mut is_mended = false;
    for (path, bytes, mode) in release.files() {
        is_mended |= write(&folder.join(path), bytes, mode)?;
    }
    let is_swapped = point(&data.join(CURRENT), Path::new(&release.name()))?;
    Ok(match (is_new, is_mended || is_swapped) {
        (true, _) => Change::Made,
        (false, true) => Change::Mended,
        (false, false) => Change::Unchanged,
    })
}

/// Removes all other releases. Running sessions use `current`, so they never see them.
///
/// # Errors
/// A folder that cannot be listed or removed.
pub fn remove_older(data: &Path, release: &Release) -> io::Result<()> {
    for folder in releases(data)? {
        if folder != data.join(release.name()) {
            fs::remove_dir_all(folder)?;
        }
    }
    Ok(())
}

/// Links the command at `link` to `target`. `None` if something else is in its place.
///
/// # Errors
/// A file system error.
pub fn link(link: &Path, target: &Path) -> io::Result<Option<Change>> {
    if let Some(folder) = link.parent() {
        fs::create_dir_all(folder)?;
    }
    match symlink(target, link) {
        Ok(()) => Ok(Some(Change::Made)),
        Err(why) if why.kind() != io::ErrorKind::AlreadyExists => Err(why),
        Err(_) => Ok(is_ours(link, target).then_some(Change::Unchanged)),
    }
}

/// Whether `link` is a link to exactly `target`.
pub fn is_ours(link: &Path, target: &Path) -> bool {
    fs::read_link(link).is_ok_and(|found| found == target)
}

/// Removes everything of ours in `data`, and `data` itself once it is empty.
///
/// # Errors
/// A folder that cannot be listed or removed.
pub fn remove(data: &Path) -> io::Result<Change> {
    if !data.exists() {
        return Ok(Change::Unchanged);
    }
    let current = data.join(CURRENT);
    if current.is_symlink() {
        fs::remove_file(current)?;
    }
    for folder in releases(data)? {
        fs::remove_dir_all(folder)?;
    }
    match fs::remove_dir(data) {
        Err(why) if why.kind() != io::ErrorKind::DirectoryNotEmpty => Err(why),
        _ => Ok(Change::Made),
    }
}

/// The releases in `data`, recognized by their names.
fn releases(data: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(data)? {
        let entry = entry?;
        let is_release = entry.file_name().to_str().is_some_and(is_release_name);
        if is_release && entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn is_release_name(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(version, digest)| {
        version.starts_with(|c: char| c.is_ascii_digit())
            && digest.len() == 8
            && digest.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

/// Writes `bytes` to the file, by rename. Returns false if it has them already.
fn write(path: &Path, bytes: &[u8], mode: u32) -> io::Result<bool> {
    replace(path, bytes, mode, true)
}

/// Writes a file as `write` does, but without a sync.
///
/// # Errors
/// A file system error.
pub fn write_unsynced(path: &Path, bytes: &[u8], mode: u32) -> io::Result<bool> {
    replace(path, bytes, mode, false)
}

fn replace(path: &Path, bytes: &[u8], mode: u32, is_synced: bool) -> io::Result<bool> {
    let is_mode = |meta: fs::Metadata| meta.permissions().mode() & 0o777 == mode;
    if fs::metadata(path).is_ok_and(is_mode) && fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(false);
    }
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let new = temp_path(path);
    let mut file = File::create(&new)?;
    file.write_all(bytes)?;
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    if is_synced {
        file.sync_all()?;
    }
    // Close it before it gets its name: a file that is open for writing cannot be executed.
    drop(file);
    fs::rename(&new, path)?;
    if is_synced {
        File::open(folder)?.sync_all()?;
    }
    Ok(true)
}

/// Points `link` to `target`, by rename. Returns false if it does already.
///
/// # Errors
/// A file system error, or `link` is something other than a link.
pub fn point(link: &Path, target: &Path) -> io::Result<bool> {
    if is_ours(link, target) {
        return Ok(false);
    }
    if link.exists() && !link.is_symlink() {
        let why = format!("{} is not a link: move it away and install again", link.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    let new = temp_path(link);
    symlink(target, &new)?;
    fs::rename(&new, link)?;
    File::open(link.parent().unwrap_or(link))?.sync_all()?;
    Ok(true)
}

/// A name in the same folder that no other process uses.
fn temp_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}", process::id()))
}
