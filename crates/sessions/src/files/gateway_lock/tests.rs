//! Locks of living and of dead processes, fresh and old.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::*;

const SHORT: Duration = Duration::from_millis(60);

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn session(&self) -> PathBuf {
        self.dir.path().join("s.jsonl")
    }

    fn lock(&self) -> PathBuf {
        self.dir.path().join("s.jsonl.lock")
    }

    /// Writes another process's lock of that age.
    fn put(&self, said: &str, age: Duration) {
        fs::write(self.lock(), said).unwrap();
        let file = File::options().write(true).open(self.lock()).unwrap();
        file.set_modified(std::time::SystemTime::now() - age).unwrap();
    }

    fn acquire(&self) -> Result<GatewayLock, Refused> {
        GatewayLock::acquire(&self.session(), SHORT)
    }

    fn is_kept(&self, said: &str, age: Duration) {
        self.put(said, age);
        let refused = self.acquire().unwrap_err();
        assert!(matches!(refused, Refused::Locked(_)), "{said}: {refused}");
        assert_eq!(fs::read_to_string(self.lock()).unwrap(), said);
    }

    fn is_taken(&self, said: &str, age: Duration) {
        self.put(said, age);
        let lock = self.acquire().unwrap_or_else(|refused| panic!("{said}: {refused}"));
        assert_ne!(fs::read_to_string(self.lock()).unwrap(), said);
        drop(lock);
        assert!(!self.lock().exists());
    }
}

fn alive() -> Child {
    Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap()
}

fn ended(mut child: Child) -> u32 {
    child.kill().unwrap();
    child.wait().unwrap();
    child.id()
}

fn ago(age: Duration) -> String {
    (clock::now() - age).to_rfc3339_opts(SecondsFormat::Millis, true)
}

const NOW: Duration = Duration::ZERO;
const OLD: Duration = Duration::from_secs(31 * 60);
const YOUNG: Duration = Duration::from_secs(29 * 60);

#[test]
fn it_says_who_holds_it_and_goes_with_its_guard() {
    let place = Place::new();
    let lock = place.acquire().unwrap();
    let text = fs::read_to_string(place.lock()).unwrap();
    let said: Value = serde_json::from_str(&text).unwrap();
    let me = std::process::id();
    assert_eq!(said["pid"], me);
    assert_eq!(said["starttime"], process::start_time(me).unwrap());
    let at = said["createdAt"].as_str().unwrap();
    assert!(at.ends_with('Z') && at.len() == "2026-02-20T10:00:00.000Z".len(), "{at}");
    assert!(text.starts_with("{\n  \"pid\": ") && text.ends_with("\n}"), "{text}");
    let order = ["pid", "createdAt", "starttime"].map(|name| text.find(name).unwrap());
    assert!(order.is_sorted(), "{text}");
    assert!(lock.is_ours());
    let refused = place.acquire().unwrap_err().to_string();
    assert!(refused.contains(&format!("is held by process {me} since 20")), "{refused}");
    drop(lock);
    assert_eq!(fs::read_dir(place.dir.path()).unwrap().count(), 0);
}

#[test]
fn it_lies_in_the_real_folder_by_the_name_it_was_asked_for() {
    let place = Place::new();
    let link = place.dir.path().join("link");
    let real = place.dir.path().join("real");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    fs::write(real.join("target.jsonl"), "").unwrap();
    std::os::unix::fs::symlink("target.jsonl", real.join("s.jsonl")).unwrap();
    let found = GatewayLock::lock_path(&link.join("s.jsonl")).unwrap();
    assert_eq!(found, fs::canonicalize(&real).unwrap().join("s.jsonl.lock"));
}

#[test]
fn the_lock_of_a_living_process_is_never_removed() {
    let place = Place::new();
    let other = alive();
    let pid = other.id();
    let start = process::start_time(pid).unwrap();
    for said in [
        json!({"pid": pid, "createdAt": ago(NOW), "starttime": start}),
        json!({"pid": pid, "createdAt": ago(YOUNG), "starttime": start}),
        json!({"pid": pid, "createdAt": ago(YOUNG)}),
        json!({"pid": pid, "createdAt": ago(OLD), "starttime": start}),
        json!({"pid": f64::from(pid), "createdAt": ago(NOW)}),
        json!({"pid": pid, "createdAt": "yesterday", "starttime": start}),
        json!({"pid": std::process::id(), "createdAt": ago(NOW), "starttime": process::start_time(std::process::id()).unwrap()}),
    ] {
        place.is_kept(&said.to_string(), NOW);
    }
    ended(other);
}

#[test]
fn one_that_says_nothing_is_kept_while_it_is_fresh() {
    let place = Place::new();
    let fresh = json!({ "createdAt": ago(NOW) }).to_string();
    for said in ["", "{}", "no json", fresh.as_str(), r#"{"pid":0}"#, r#"{"pid":"12"}"#] {
        place.is_kept(said, YOUNG);
        place.is_taken(said, OLD);
    }
    let forgotten = json!({ "createdAt": ago(OLD) }).to_string();
    place.is_taken(&forgotten, NOW);
    let other = alive();
    place.is_taken(&json!({"pid": other.id(), "createdAt": "yesterday"}).to_string(), OLD);
    ended(other);
}

#[test]
fn the_lock_of_the_dead_the_recycled_and_the_forgotten_is_taken_over() {
    let place = Place::new();
    let gone = ended(alive());
    place.is_taken(&json!({"pid": gone, "createdAt": ago(NOW), "starttime": 5}).to_string(), NOW);
    place.is_taken(&json!({"pid": gone, "createdAt": "yesterday"}).to_string(), NOW);
    let other = alive();
    let start = process::start_time(other.id()).unwrap();
    let recycled = json!({"pid": other.id(), "createdAt": ago(NOW), "starttime": start + 1});
    place.is_taken(&recycled.to_string(), NOW);
    // Nobody knows whether that is the same process.
    let forgotten = json!({"pid": other.id(), "createdAt": ago(OLD)});
    place.is_taken(&forgotten.to_string(), NOW);
    for no_process in [4_294_967_296_u64 + u64::from(other.id()), 4_194_305] {
        place.is_taken(&json!({"pid": no_process, "createdAt": ago(NOW)}).to_string(), NOW);
    }
    ended(other);
    // A pid that is ours now, but was another's when this was written.
    let orphan = json!({"pid": std::process::id(), "createdAt": ago(NOW)});
    place.is_taken(&orphan.to_string(), NOW);
    let mut zombie = Command::new("true").spawn().unwrap();
    let pid = zombie.id();
    let deadline = Instant::now() + Duration::from_secs(20);
    while process::start_time(pid).is_some() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    place.is_taken(&json!({"pid": pid, "createdAt": ago(NOW)}).to_string(), NOW);
    zombie.wait().unwrap();
}

#[test]
fn one_that_was_taken_over_is_not_given_back() {
    let place = Place::new();
    let lock = place.acquire().unwrap();
    fs::remove_file(place.lock()).unwrap();
    assert!(!lock.is_ours());
    place.put("another's", NOW);
    assert!(!lock.is_ours());
    drop(lock);
    assert_eq!(fs::read_to_string(place.lock()).unwrap(), "another's");
}

#[test]
fn of_many_that_find_it_stale_one_has_it_at_a_time() {
    let place = Place::new();
    place.put(&json!({"pid": ended(alive()), "createdAt": ago(NOW)}).to_string(), NOW);
    let held = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let lock = GatewayLock::acquire(&place.session(), Duration::from_secs(30)).unwrap();
                assert!(!held.swap(true, Ordering::SeqCst), "two hold it");
                std::thread::sleep(Duration::from_millis(5));
                held.store(false, Ordering::SeqCst);
                drop(lock);
            });
        }
    });
    assert_eq!(fs::read_dir(place.dir.path()).unwrap().count(), 0);
}

#[test]
fn what_is_no_file_in_its_place_is_told_and_stays() {
    let place = Place::new();
    fs::create_dir(place.lock()).unwrap();
    assert!(place.acquire().is_err());
    assert!(place.lock().is_dir());
}

#[test]
fn what_can_not_be_followed_is_waited_for_and_told() {
    let place = Place::new();
    std::os::unix::fs::symlink("nothing", place.lock()).unwrap();
    let began = Instant::now();
    let patience = Duration::from_millis(400);
    let refused = GatewayLock::acquire(&place.session(), patience).unwrap_err();
    assert!(matches!(&refused, Refused::Locked(why) if why.contains("s.jsonl.lock")), "{refused}");
    assert!(began.elapsed() >= patience);
    assert!(fs::symlink_metadata(place.lock()).unwrap().is_symlink());
}

#[test]
fn one_that_can_not_be_read_counts_by_its_age() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let said = json!({"pid": ended(alive()), "createdAt": ago(NOW)}).to_string();
    let hide = || fs::set_permissions(place.lock(), fs::Permissions::from_mode(0o000)).unwrap();
    place.put(&said, YOUNG);
    hide();
    if File::open(place.lock()).is_ok() {
        // Root can read everything.
        return;
    }
    assert!(matches!(place.acquire(), Err(Refused::Locked(_))));
    fs::set_permissions(place.lock(), fs::Permissions::from_mode(0o600)).unwrap();
    place.put(&said, OLD);
    hide();
    drop(place.acquire().unwrap());
    assert!(!place.lock().exists());
}
