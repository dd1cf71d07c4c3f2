//! Whether a database is left alone: no gateway, no other writer of OpenClaw. Its locks are
//! held meanwhile, so that none begins.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::store::atomic;
use crate::store::sessions::Refused;
use crate::store::state;

/// The locks of OpenClaw, held while this lives.
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
             whether something uses it can't be told; `plan`, `search` and `restore` without \
             --in-place work",
            database.display()
        )));
    };
    let owner = fs::metadata(&database)?.uid();
    let me = rustix::process::getuid().as_raw();
    let mut held = Vec::new();
    let mut users = vec![owner, me];
    users.dedup();
    for user in users {
        // What is made for somebody else they could not open.
        let make = user == owner && owner == me;
        for lock in [starting(root, user), running(root, user)] {
            match hold(&lock, make)? {
                Held::Ours(connection) => held.push(connection),
                Held::Theirs => return Err(locked(root, holder(root, user))),
                Held::Missing => {}
            }
        }
        // One that knows no such locks.
        if let Some(pid) = holder(root, user) {
            return Err(locked(root, Some(pid)));
        }
    }
    if let Some(pid) = user(&database) {
        let path = database.display();
        let why = format!("{path} is open in another process ({pid}); end it, then try again");
        return Err(Refused::Busy(why));
    }
    Ok(Alone { _held: held })
}

/// The folder of OpenClaw that a database lies in: `<root>/agents/<id>/agent/<file>`.
fn root(database: &Path) -> Option<&Path> {
    let agent = database.parent().filter(|path| path.ends_with("agent"))?;
    let agents = agent.parent()?.parent().filter(|path| path.ends_with("agents"))?;
    agents.parent()
}

/// What a gateway holds from its start on; one that finds it taken waits.
pub(super) fn starting(root: &Path, user: u32) -> PathBuf {
    let state = root.join("state/openclaw.sqlite");
    let digest = Sha256::digest(state.as_os_str().as_encoded_bytes());
    let name = digest.iter().take(4).fold(0, |name: u32, byte| name << 8 | u32::from(*byte));
    // Not the folder for temporary files that the environment names: it is the same for all.
    PathBuf::from(format!("/tmp/openclaw-state-locks-{user}"))
        .join(format!("gateway-lifecycle.{name:08x}.lock.sqlite"))
}

/// What a gateway holds, and whoever else writes below the folder.
pub(super) fn running(root: &Path, user: u32) -> PathBuf {
    root.join(format!("tmp/openclaw-{user}/gateway.state.lock.sqlite"))
}

/// A lock, after it was asked for.
enum Held {
    Ours(Connection),
    Theirs,
    Missing,
}

fn hold(lock: &Path, make: bool) -> io::Result<Held> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if make {
        let folder = lock.parent().unwrap_or(lock);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", folder.display())))?;
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    } else if !lock.is_file() {
        return Ok(Held::Missing);
    }
    let held = Connection::open_with_flags(lock, flags).and_then(|connection| {
        connection.busy_timeout(Duration::ZERO)?;
        connection.pragma_update_and_check(None, "journal_mode", "MEMORY", |_| Ok(()))?;
        connection.execute_batch("BEGIN EXCLUSIVE")?;
        Ok(connection)
    });
    match held {
        Ok(connection) => Ok(Held::Ours(connection)),
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(Held::Theirs),
        Err(e) => Err(super::failed(lock, &e)),
    }
}

/// The process that says beside a lock that it is its, where it lives still.
fn holder(root: &Path, user: u32) -> Option<u32> {
    let json = atomic::read_record(&running(root, user).with_extension("")).ok()??;
    let holder: Holder = serde_json::from_slice(&json).ok()?;
    let there = state::client(holder.pid)?;
    holder.start_time.is_none_or(|start| start == there.start).then_some(holder.pid)
}

fn locked(root: &Path, pid: Option<u32>) -> Refused {
    let root = root.display();
    let who = pid.map_or_else(String::new, |pid| format!(" ({pid})"));
    Refused::Locked(format!(
        "OpenClaw runs on {root}{who}; end it (`openclaw gateway stop`), then try again; `plan`, \
         `search` and `restore` without --in-place work meanwhile"
    ))
}

/// A process that has the database open, as far as that can be seen.
fn user(database: &Path) -> Option<u32> {
    let beside = |end: &str| {
        let mut name = database.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let files = [database.to_owned(), beside("-wal"), beside("-shm")];
    let me = std::process::id();
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| *pid != me).find(|pid| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|path| files.contains(&path))
    })
}
