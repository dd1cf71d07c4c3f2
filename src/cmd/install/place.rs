//! The folder on disk: releases, the `current` link, the command's link.
//!
//! A release is written before it is used: each file by rename, and synced. Only then `current` is
//! swapped. Names that are not ours are never touched.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process,
};

use sha2::{Digest as _, Sha256};

use super::COMMAND;
use super::assets::ASSETS;
use base::atomic;

/// The link to the release in force.
pub const CURRENT: &str = "current";
/// The binary's path in a release.
pub const BINARY: &str = "bin/brain-guard";

/// The release that `uninstall` leaves for open sessions. Its name is that of a release, so the next
/// installation removes it.
pub const IDLE: &str = "0-00000000";

/// It takes the event, so that the client's write doesn't fail.
const IDLE_HOOK: &[u8] = b"#!/bin/sh\ntimeout 1 cat >/dev/null 2>&1\nexit 0\n";

/// Puts a hook that does nothing in the place of the current one.
///
/// # Errors
/// A file system error.
pub fn leave_idle_hook(data: &Path) -> io::Result<()> {
    write(&data.join(IDLE).join(BINARY), IDLE_HOOK, 0o755)?;
    link(&data.join(CURRENT), Path::new(IDLE), |_| true).map(drop)
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
    let hash = hash.finalize();
    format!("{:08x}", u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]))
}

/// Writes the release with this binary into `data`, and makes it the current one. Returns its
/// folder, and whether anything changed.
///
/// # Errors
/// A file system error, or `current` is something other than a link.
pub fn release(data: &Path, binary: &[u8]) -> io::Result<(PathBuf, bool)> {
    let digest = digest(ASSETS.iter().map(|(path, bytes)| (path.as_str(), bytes)), binary);
    let name = format!("{}-{digest}", env!("CARGO_PKG_VERSION"));
    let folder = data.join(&name);
    let mut is_changed = write(&folder.join(BINARY), binary, 0o755)?;
    for (path, bytes) in ASSETS.iter() {
        is_changed |= write(&folder.join(path), bytes, 0o644)?;
    }
    let current = data.join(CURRENT);
    let swapped = link(&current, Path::new(&name), |_| true)?.ok_or_else(|| {
        let why = format!("{} is not a link: move it away and install again", current.display());
        io::Error::new(io::ErrorKind::AlreadyExists, why)
    })?;
    Ok((folder, is_changed || swapped))
}

/// Links `link` to `target`, by rename; an older link is replaced if `is_ours` says so about what it
/// leads to. Returns whether that changed anything, or `None` if something else is in its place.
///
/// # Errors
/// A file system error.
pub fn link(
    link: &Path,
    target: &Path,
    is_ours: impl Fn(&Path) -> bool,
) -> io::Result<Option<bool>> {
    match fs::read_link(link) {
        Ok(found) if found == target => return Ok(Some(false)),
        Ok(found) if !is_ours(&found) => return Ok(None),
        Err(_) if link.exists() => return Ok(None),
        _ => {}
    }
    let folder = link.parent().unwrap_or(link);
    fs::create_dir_all(folder)?;
    // No other process uses this name.
    let new = folder.join(format!(".brain-guard.{}", process::id()));
    symlink(target, &new)?;
    fs::rename(&new, link)?;
    fs::File::open(folder)?.sync_all()?;
    Ok(Some(true))
}

/// Whether `link` is a link to exactly `target`.
pub fn leads_to(link: &Path, target: &Path) -> bool {
    fs::read_link(link).is_ok_and(|found| found == target)
}

/// Removes all of ours in `data` except the release in `keep`, and `data` itself once it is empty.
///
/// # Errors
/// A folder that cannot be listed or removed.
pub fn remove(data: &Path, keep: Option<&Path>) -> io::Result<()> {
    for entry in fs::read_dir(data)? {
        let path = entry?.path();
        if path.is_dir() && is_release(&path) && Some(path.as_path()) != keep {
            fs::remove_dir_all(path)?;
        }
    }
    if keep.is_some() {
        return Ok(());
    }
    atomic::remove(&data.join(CURRENT))?;
    match fs::remove_dir(data) {
        Err(why) if why.kind() != io::ErrorKind::DirectoryNotEmpty => Err(why),
        _ => Ok(()),
    }
}

/// The folder with the releases, if a program is one's.
pub fn folder_of(program: &Path) -> Option<&Path> {
    let release = program.ancestors().nth(2)?;
    let folder = release.parent()?;
    (program.ends_with(BINARY) && is_release(release) && folder.ends_with(COMMAND))
        .then_some(folder)
}

fn is_release(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.rsplit_once('-').is_some_and(|(version, digest)| {
        version.starts_with(|c: char| c.is_ascii_digit())
            && digest.len() == 8
            && digest.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

/// Writes a file, unless it has these bytes and this mode; returns whether that changed it.
///
/// # Errors
/// A file system error.
pub fn write(path: &Path, bytes: &[u8], mode: u32) -> io::Result<bool> {
    let has_mode = |meta: fs::Metadata| meta.permissions().mode() & 0o777 == mode;
    if fs::metadata(path).is_ok_and(has_mode) && fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(false);
    }
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    let (temp, mut file) = atomic::create_temp_file(path, 0o600)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.set_permissions(fs::Permissions::from_mode(mode)))
        .and_then(|()| file.sync_all());
    // Close it before it gets its name: a file that is open for writing cannot be executed.
    drop(file);
    let done = written.and_then(|()| fs::rename(&temp, path));
    if done.is_err() {
        // The disk may be full; the first error is the one to report.
        let _ = fs::remove_file(&temp);
    }
    done.map(|()| true)
}
