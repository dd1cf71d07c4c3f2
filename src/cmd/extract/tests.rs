//! Properties of every session: extracting and restoring changes nothing, a second run finds
//! nothing, and concurrent writes are not lost.

mod kept;
mod lost;
mod refused;
mod spelt;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::planned::Planned;
use super::run::{execute, plan_session};
use super::source::{self, Kind, Source};
use super::{read, restore};
use base::clock::{self, Time};
use extract::edit;
use sessions::files::Refused;
use sessions::settings::{ExtractSettings, Fixed};
use store::blocks::Root;
use store::extracted::SessionNeeds;
use testing::RECORDED;
use testing::pi::{self, Made};

/// A store, and a session file last written two hours ago.
struct World {
    dir: tempfile::TempDir,
    name: String,
}

impl World {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap(), name: name.to_owned() };
        fs::create_dir_all(world.path().parent().unwrap()).unwrap();
        world.write(bytes);
        world
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join(format!("agents/main/sessions/{}.jsonl", self.name))
    }

    fn write(&self, bytes: &[u8]) {
        fs::write(self.path(), bytes).unwrap();
        let file = File::options().append(true).open(self.path()).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(7_200)).unwrap();
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).unwrap()
    }

    fn root(&self) -> Root {
        Root::new(self.dir.path().join("store"))
    }

    fn source(&self) -> Source {
        source::open(&self.root(), &self.path()).unwrap()
    }

    fn planned(&self, settings: &ExtractSettings, now: Time) -> Planned {
        plan_session(&self.source(), settings, now).unwrap()
    }

    fn needs(&self, place: &Path) -> SessionNeeds {
        let ledger = self.source_ledger();
        source::held(&self.root(), place, &ledger)
    }

    fn source_ledger(&self) -> store::extracted::Ledger {
        store::extracted::Extracted::for_session(&self.root(), "main", &self.name).ledger().unwrap()
    }
}

fn eager() -> ExtractSettings {
    ExtractSettings {
        keep_recent: 0,
        min_value_length: 150,
        trigger_types: vec!["*".into()],
        protect_turns: 0,
        fixed: Fixed { keep_errors: false, ..Fixed::default() },
        ..ExtractSettings::default()
    }
}

/// Without values that go early because they occur again.
fn without_copies(settings: ExtractSettings) -> ExtractSettings {
    let fixed = Fixed { dedupe: false, ..settings.fixed.clone() };
    ExtractSettings { fixed, ..settings }
}

fn there_and_back(made: &Made, settings: &ExtractSettings) {
    let now = clock::now();
    let world = World::new(&made.id, &made.bytes);
    let first = world.planned(settings, now);
    let done = execute(&world.source(), settings, now, &first).unwrap();
    assert_eq!(done.values, first.plan.items.len() as u64);
    let lean = world.bytes();
    assert_eq!(lean.len() as u64 + done.freed, made.bytes.len() as u64);
    // Rows without extracted values are unchanged.
    let rows = |bytes: &[u8]| -> Vec<Vec<u8>> {
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let (old, new) = (rows(&made.bytes), rows(&lean));
    assert_eq!(old.len(), new.len());
    for (n, (old, new)) in (0..).zip(old.iter().zip(&new)) {
        let changes = first.plan.items.iter().any(|item| item.row == n);
        assert_eq!(old != new, changes, "row {n}");
    }
    let again = world.planned(settings, now);
    assert!(again.plan.items.is_empty(), "{:?}", again.plan.items);
    assert_eq!(again.read.live.len() as u64, done.values);
    assert_eq!(execute(&world.source(), settings, now, &again).unwrap().values, 0);
    assert_eq!(world.bytes(), lean);
    if done.values > 0 {
        restore::in_place(&world.source(), settings, now, "all", &[], true).unwrap();
    }
    assert_eq!(world.bytes(), made.bytes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_was_extracted_comes_back_byte_for_byte(
        made in pi::sessions(),
        keep_recent in 0..4_u32,
        all: bool,
    ) {
        let settings = if all { eager() } else { ExtractSettings::default() };
        there_and_back(&made, &ExtractSettings { keep_recent, ..without_copies(settings) });
    }
}

#[test]
fn recorded_sessions_come_back_byte_for_byte() {
    for (name, bytes) in RECORDED {
        let world = World::new(name, bytes);
        let source = world.source();
        if source.kind == Kind::Jsonl {
            there_and_back(&Made { id: name.to_owned(), bytes: bytes.to_vec() }, &eager());
            continue;
        }
        // Claude Code's sessions are never written, but the plan's places must be right.
        let found = world.planned(&eager(), clock::now());
        assert!(!found.read.entries.is_empty(), "{name}");
        let mut items = found.plan.items.iter().peekable();
        let see = &mut |row: u64, line: &[u8]| {
            while let Some(item) = items.next_if(|item| item.row == row) {
                assert_eq!(edit::locate(line, &item.key), Some(item.span), "{name} {row}");
            }
            Ok(())
        };
        source.file.rows(see).unwrap();
        assert!(items.next().is_none(), "{name}");
        let why = execute(&source, &eager(), clock::now(), &found);
        assert!(found.plan.items.is_empty() || why.is_err(), "{name}");
        assert_eq!(world.bytes(), bytes, "{name}");
    }
}

#[test]
fn what_another_process_appends_between_reading_and_writing_stays() {
    let made = pi::session(7, 6);
    let world = World::new(&made.id, &made.bytes);
    let now = clock::now();
    let found = world.planned(&eager(), now);
    assert!(!found.plan.items.is_empty());
    let row = b"{\"type\":\"label\",\"id\":\"ffffffff\",\"targetId\":\"x\",\"label\":\"l\"}\n";
    File::options().append(true).open(world.path()).unwrap().write_all(row).unwrap();
    let why = execute(&world.source(), &eager(), now, &found).unwrap_err();
    assert!(matches!(why.downcast_ref::<Refused>(), Some(Refused::Changed(_))), "{why}");
    let bytes = world.bytes();
    assert!(bytes.starts_with(&made.bytes) && bytes.ends_with(row));
    // A ledger record without a matching row has no effect.
    assert!(read::session(&world.source()).unwrap().live.is_empty());
}

#[test]
fn a_session_that_was_put_aside_keeps_what_it_needs() {
    let made = pi::session(7, 6);
    let world = World::new(&made.id, &made.bytes);
    let now = clock::now();
    let done = execute(&world.source(), &eager(), now, &world.planned(&eager(), now)).unwrap();
    let path = world.path();
    let needed = world.needs(&path);
    assert!(matches!(&needed, SessionNeeds::Needs(all) if all.len() as u64 == done.values));
    let aside = path.with_extension("jsonl.reset.2026-02-20T10-00-00.000Z");
    fs::rename(&path, &aside).unwrap();
    assert_eq!(world.needs(&path), needed);
    // An unreadable file may need anything.
    fs::write(&aside, "no session").unwrap();
    assert_eq!(world.needs(&path), SessionNeeds::Unknown);
    fs::remove_file(&aside).unwrap();
    assert_eq!(world.needs(&path), SessionNeeds::Gone);
}

/// The planned and the actual savings differ only by the digits of sizes.
#[test]
fn a_plan_knows_what_its_placeholders_take() {
    let text = "so it goes, line by line ".repeat(40);
    let row = |n: usize, block: String| {
        format!(
            r#"{{"type":"message","id":"aa{n:06}","message":{{"role":"assistant","content":[{block}]}}}}"#
        ) + "\n"
    };
    let header = r#"{"type":"session","version":3,"id":"s","cwd":"/w"}"#.to_owned() + "\n";
    for block in [
        r#"{"type":"thinking","thinking":"T"}"#,
        r#"{"type":"thinking","thinking":"T","thinkingSignature":"S"}"#,
    ] {
        let block = block.replace('T', &text).replace('S', &"c2ln".repeat(1_000));
        let rows: String = (0..12).map(|n| row(n, block.clone())).collect();
        let world = World::new("s", (header.clone() + &rows).as_bytes());
        let settings = without_copies(eager());
        let now = clock::now();
        let planned = world.planned(&settings, now);
        let done = execute(&world.source(), &settings, now, &planned).unwrap();
        let (said, freed) = (planned.look.bytes, done.freed);
        assert!(freed.abs_diff(said) <= 16 * done.values, "{said} {freed}");
        assert!(done.values >= 11 && said > 0, "{done:?}");
    }
}
