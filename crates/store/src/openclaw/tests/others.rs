//! Others that may use a database: a gateway, any process, another user.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use rusqlite::Connection;

use super::lab::{Lab, USER, put, rows};
use crate::openclaw::alone;
use sessions::files::{Refused, SessionFile as _};

#[test]
fn a_gateway_s_lock_is_respected() {
    let lab = Lab::new();
    let found = lab.find(true);
    let (stamp, all) = rows(&found);
    let me = rustix::process::getuid().as_raw();
    for lock in [alone::running(&lab.root(), me), alone::starting(&lab.root(), me)] {
        fs::create_dir_all(lock.parent().unwrap()).unwrap();
        let gateway = Connection::open(&lock).unwrap();
        gateway.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let why = put(&found, stamp, 0, "{}").unwrap_err();
        assert!(matches!(&why, Refused::Locked(why) if why.contains("gateway stop")), "{why}");
        assert_eq!(rows(&found), (stamp, all.clone()));
    }
    // Only the file beside a lock: of a live process, and of an earlier one with the same number.
    let beside = alone::running(&lab.root(), me).with_extension("");
    let pid = std::process::id();
    let start = base::process::start_time(pid).unwrap();
    for (start, held) in [(start, true), (start + 1, false)] {
        fs::write(&beside, format!("{{\"pid\":{pid},\"startTime\":{start}}}")).unwrap();
        let done = put(&found, stamp, 0, USER);
        assert_eq!(matches!(done, Err(Refused::Locked(_))), held, "{done:?}");
    }
    assert_eq!(lab.copies().len(), 1);
}

#[test]
fn while_it_is_written_no_gateway_begins() {
    let lab = Lab::new();
    let found = lab.find(true);
    let (stamp, _) = rows(&found);
    let me = rustix::process::getuid().as_raw();
    let locks = [alone::running(&lab.root(), me), alone::starting(&lab.root(), me)];
    let mut taken = 0;
    let mut ask = |_: u64, _: &[u8]| {
        for lock in &locks {
            let gateway = Connection::open(lock).unwrap();
            gateway.busy_timeout(std::time::Duration::ZERO).unwrap();
            taken += u32::from(gateway.execute_batch("BEGIN EXCLUSIVE").is_err());
        }
        Ok(None)
    };
    found.edit(stamp, &mut ask).unwrap();
    assert_eq!(taken, 2 * 3, "both, at each row");
}

#[test]
fn a_process_that_has_it_open_is_respected() {
    let lab = Lab::new();
    let found = lab.find(true);
    let (stamp, _) = rows(&found);
    let mut other = Command::new("sleep")
        .arg("600")
        .stdin(Stdio::from(File::open(lab.path()).unwrap()))
        .spawn()
        .unwrap();
    let why = put(&found, stamp, 0, "{}");
    other.kill().unwrap();
    other.wait().unwrap();
    let number = other.id().to_string();
    assert!(matches!(&why, Err(Refused::Busy(why)) if why.contains(&number)), "{why:?}");
}

#[test]
fn one_of_another_user_is_left_alone() {
    let lab = Lab::new();
    let found = lab.find(true);
    let (stamp, all) = rows(&found);
    // The other user's OpenClaw runs, does not run, or is unknown.
    let beside = alone::running(&lab.root(), 54_321).with_extension("");
    fs::create_dir_all(beside.parent().unwrap()).unwrap();
    let pid = std::process::id();
    for (json, why) in [(format!("{{\"pid\":{pid}}}"), Some("gateway stop")), ("{}".into(), None)] {
        fs::write(&beside, json).unwrap();
        let done = put(&found, rows(&found).0, 0, USER);
        assert_eq!(done.err().map(|e| e.to_string().contains(why.unwrap())), why.map(|_| true));
    }
    fs::remove_file(&beside).unwrap();
    fs::create_dir(&beside).unwrap();
    let why = put(&found, rows(&found).0, 0, USER).unwrap_err();
    assert!(matches!(&why, Refused::Unsupported(said) if said.contains("user 54321")), "{why}");
    fs::remove_dir(&beside).unwrap();
    // Only root can give a file away.
    if std::os::unix::fs::chown(lab.path(), Some(54_321), None).is_ok() {
        let why = put(&found, stamp, 0, USER).unwrap_err();
        let told = |why: &Refused| matches!(why, Refused::Unsupported(said) if said.contains("sudo -u '#54321'"));
        assert!(told(&why), "{why}");
        assert_eq!(rows(&found).1, all);
    }
}
