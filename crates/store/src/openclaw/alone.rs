//! Checks that no gateway or other process of OpenClaw uses a database, and holds OpenClaw's locks
//! so that none starts.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use base::atomic;
use base::process;
use sessions::files::{Refused, holders};

/// OpenClaw's locks, held until this is dropped.
#[derive(Debug)]
pub(super) struct Alone {
    _held: Vec<Connection>,
}

/// What OpenClaw writes beside a lock.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Holder {
    pid: u32,
    start_time: Option<u64>,
}

/// Takes the locks as OpenClaw does: each is an exclusive transaction on an empty database.
pub(super) fn take(database: &Path) -> Result<Alone, Refused> {
    let database = fs::canonicalize(database)?;
    let Some(root) = root(&database) else {
        return Err(Refused::Unsupported(format!(
            "{} is not where OpenClaw keeps its databases (agents/ID/agent below its folder), so \
             brain-guard cannot tell whether something uses it; `plan`, `search` and `restore` without \
             --in-place work",
            database.display()
        )));
    };
    let owner = fs::metadata(&database)?.uid();
    let me = rustix::process::getuid().as_raw();
    if owner != me {
        return Err(Refused::Unsupported(format!(
            "{} belongs to user {owner}, and each user has their own OpenClaw locks: run this as that \
             user (`sudo -u '#{owner}' brain-guard …`); `plan`, `search` and `restore` without \
             --in-place work without that",
            database.display()
        )));
    }
    let mut held = Vec::new();
    for lock in [starting(root, me), running(root, me)] {
        held.push(hold(&lock)?.ok_or_else(|| locked(root, holder(root, me)))?);
    }
    for user in users(root)? {
        // Older OpenClaws of this user take no locks, and other users' locks cannot be held.
        let seen = atomic::read_record(&beside(root, user));
        if let (Err(e), false) = (&seen, user == me) {
            let said = beside(root, user);
            return Err(Refused::Unsupported(format!(
                "cannot tell whether OpenClaw runs on {} as user {user} ({}: {e}); once it has \
                 ended there, remove that file's folder",
                root.display(),
                said.display()
            )));
        }
        if let Some(pid) = holder(root, user) {
            return Err(locked(root, Some(pid)));
        }
    }
    if let Some(pid) = holders::lasting_holder(|| user(&database)) {
        let path = database.display();
        let why = format!("{path} is open in another process ({pid}); end it, then try again");
        return Err(Refused::Busy(why));
    }
    Ok(Alone { _held: held })
}

/// The OpenClaw folder that a database is in: `<root>/agents/<id>/agent/<file>`.
fn root(database: &Path) -> Option<&Path> {
    let agent = database.parent().filter(|path| path.ends_with("agent"))?;
    let agents = agent.parent()?.parent().filter(|path| path.ends_with("agents"))?;
    agents.parent()
}

/// The lock that a gateway holds from its start on; another gateway waits for it.
pub(super) fn starting(root: &Path, user: u32) -> PathBuf {
    let state = root.join("state/openclaw.sqlite");
    let digest = Sha256::digest(state.as_os_str().as_encoded_bytes());
    let name = digest.iter().take(4).fold(0, |name: u32, byte| name << 8 | u32::from(*byte));
    // OpenClaw always uses `/tmp`, whatever temporary folder the environment names.
    PathBuf::from(format!("/tmp/openclaw-state-locks-{user}"))
        .join(format!("gateway-lifecycle.{name:08x}.lock.sqlite"))
}

/// The lock that a gateway, or any other writer below the folder, holds.
pub(super) fn running(root: &Path, user: u32) -> PathBuf {
    root.join(format!("tmp/openclaw-{user}/gateway.state.lock.sqlite"))
}

/// The file in which the holder of the `running` lock says who it is.
fn beside(root: &Path, user: u32) -> PathBuf {
    running(root, user).with_extension("")
}

/// The users who ever ran OpenClaw on this folder.
fn users(root: &Path) -> io::Result<Vec<u32>> {
    let folder = root.join("tmp");
    let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", folder.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(named)? {
        let name = entry.map_err(named)?.file_name();
        let user =
            name.to_str().and_then(|name| name.strip_prefix("openclaw-")?.parse::<u32>().ok());
        found.extend(user);
    }
    Ok(found)
}

/// Takes a lock; `None` while another process holds it.
fn hold(lock: &Path) -> io::Result<Option<Connection>> {
    let folder = lock.parent().unwrap_or(lock);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", folder.display())))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let held = Connection::open_with_flags(lock, flags).and_then(|connection| {
        connection.busy_timeout(Duration::ZERO)?;
        connection.pragma_update_and_check(None, "journal_mode", "MEMORY", |_| Ok(()))?;
        connection.execute_batch("BEGIN EXCLUSIVE")?;
        Ok(connection)
    });
    match held {
        Ok(connection) => Ok(Some(connection)),
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(None),
        Err(e) => Err(super::failed(lock, &e)),
    }
}

/// The live process that the file beside a lock names.
fn holder(root: &Path, user: u32) -> Option<u32> {
    let json = atomic::read_record(&beside(root, user)).ok()??;
    let holder: Holder = serde_json::from_slice(&json).ok()?;
    let started = process::start_time(holder.pid)?;
    holder.start_time.is_none_or(|start| start == started).then_some(holder.pid)
}

fn locked(root: &Path, pid: Option<u32>) -> Refused {
    let root = root.display();
    let who = pid.map_or_else(String::new, |pid| format!(" ({pid})"));
    Refused::Locked(format!(
        "OpenClaw runs on {root}{who}; end it (`openclaw gateway stop`), then try again; `plan`, \
         `search` and `restore` without --in-place work meanwhile"
    ))
}

/// A process that has the database open, as far as we can see.
fn user(database: &Path) -> Option<u32> {
    let with = |end: &str| {
        let mut name = database.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let files = [database.to_owned(), with("-wal"), with("-shm")];
    process::open_files().find(|open| files.contains(&open.path)).map(|open| open.pid)
}
