//! Sessions that grow, tear, are rewritten or copied: the store has every complete row, and the
//! index every round once.

mod properties;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use super::*;
use sessions::round::Round;
use store::blocks::{Folder, Reader, Rows, editions};
use testing::claude;

/// A store and a session file.
struct Scene {
    _dir: tempfile::TempDir,
    root: Root,
    file: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path().join("store"));
        let file = dir.path().join("projects/-p/s.jsonl");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        Self { root, file, _dir: dir }
    }

    fn of(bytes: &[u8]) -> Self {
        let scene = Self::new();
        fs::write(&scene.file, bytes).unwrap();
        scene
    }

    fn append(&self, bytes: &[u8]) {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.file).unwrap();
        file.write_all(bytes).unwrap();
    }

    /// A new index, as a new process would open it.
    fn index(&self) -> Index {
        Index::new(self.root.clone())
    }

    fn import(&self) -> anyhow::Result<Done> {
        session(&self.root, &self.index(), &self.file, 0)
    }

    fn folder(&self) -> Folder {
        self.root.folder("claude", "s")
    }

    fn original(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        Reader::open(&self.folder()).unwrap().original(&mut bytes).unwrap();
        bytes
    }

    fn rounds(&self) -> Vec<Round> {
        self.index().session(&self.folder()).unwrap().rounds
    }

    /// Checks that every round can be read and that together they are complete.
    fn read_back(&self) {
        let (reader, mut rows) = (Reader::open(&self.folder()).unwrap(), Rows::default());
        let mut bytes = 0;
        for (at, round) in self.rounds().iter().enumerate() {
            assert_eq!(round.seq as usize, at + 1);
            reader.round(round.seq, &mut rows).unwrap();
            assert_eq!(
                (rows.ends.len() as u32, rows.bytes.len() as u64),
                (round.rows, round.bytes)
            );
            bytes += round.bytes;
        }
        let before = reader.round(0, &mut rows).map_or(0, |()| rows.bytes.len() as u64);
        assert_eq!(bytes + before, self.original().len() as u64);
    }
}

/// Everything up to the last newline.
fn whole(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1)]
}

/// The databases and their content.
fn databases(scene: &Scene) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let all = ["sessions.db", "search.db"].map(|name| scene.root.sessions().join(name));
    let all = all.into_iter().chain([scene.folder().database()]);
    let files =
        all.flat_map(|path| ["", "-wal", "-shm"].map(|end| format!("{}{end}", path.display())));
    files.map(|path| (PathBuf::from(&path), fs::read(path).ok())).collect()
}

#[test]
fn a_file_that_was_written_anew_gets_an_edition_and_tags_are_kept() {
    let scene = Scene::of(&claude::session(1, 5).bytes);
    scene.import().unwrap();
    scene.index().tag(&scene.folder(), &[2, 4], Some("work")).unwrap();
    let old = scene.original();
    // Like an editor that removes the last rounds, after which the client continues differently.
    let rounds = scene.rounds();
    let kept: u64 = rounds[..3].iter().map(|round| round.bytes).sum();
    let head = old.len() as u64 - rounds.iter().map(|round| round.bytes).sum::<u64>() + kept;
    let other = r#"{"type":"user","uuid":"n1","message":{"role":"user","content":"another end"}}"#;
    let new = [&old[..head as usize], other.as_bytes(), b"\n"].concat();
    fs::write(&scene.file, &new).unwrap();
    let done = scene.import().unwrap();
    assert_eq!(done.set_aside, Some(1));
    assert_eq!(scene.original(), new);
    scene.read_back();
    let tags: Vec<_> = scene.rounds().iter().map(|round| round.engagement.is_some()).collect();
    assert_eq!(tags, [false, true, false, false]);
    assert_eq!(editions(&scene.folder()).unwrap().len(), 1);
    assert_eq!(scene.import().unwrap().set_aside, None);
    // An empty file has nothing to import: the stored rows stay.
    fs::write(&scene.file, "").unwrap();
    assert_eq!(scene.import().unwrap().new_rows, 0);
    assert_eq!(scene.original(), new);
}

#[test]
fn a_process_that_dies_as_it_sets_blocks_aside_costs_nothing() {
    let scene = Scene::of(&claude::session(2, 4).bytes);
    scene.import().unwrap();
    let text = scene.original();
    store::blocks::set_aside(&scene.folder()).unwrap();
    scene.import().unwrap();
    assert_eq!(scene.original(), text);
    scene.read_back();
    // And without any database.
    for (path, _) in databases(&scene) {
        fs::remove_file(path).unwrap_or_default();
    }
    scene.import().unwrap();
    assert_eq!(scene.original(), text);
    scene.read_back();
    assert_eq!(editions(&scene.folder()).unwrap().len(), 1);
}

#[test]
fn another_file_of_the_same_id_is_refused_unless_it_goes_on_with_the_same() {
    let scene = Scene::of(&claude::session(3, 3).bytes);
    scene.import().unwrap();
    let other = scene.file.with_file_name("other").join("s.jsonl");
    fs::create_dir(other.parent().unwrap()).unwrap();
    fs::write(&other, claude::session(4, 6).bytes).unwrap();
    let why = session(&scene.root, &scene.index(), &other, 0).unwrap_err().to_string();
    assert!(why.contains("--agent NAME") && why.contains("-p/s.jsonl"), "{why}");
    assert_eq!(scene.original(), whole(&fs::read(&scene.file).unwrap()));
    // A copy that the client continued.
    fs::copy(&scene.file, &other).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&other).unwrap();
    file.write_all(b"{\"type\":\"mode\"}\n").unwrap();
    assert_eq!(session(&scene.root, &scene.index(), &other, 0).unwrap().new_rows, 1);
    // The original file is gone.
    fs::remove_file(&other).unwrap();
    fs::write(&scene.file, claude::session(5, 2).bytes).unwrap();
    assert_eq!(scene.import().unwrap().set_aside, Some(1));
}

#[test]
fn what_is_no_session_is_left_and_nothing_is_made() {
    let scene = Scene::of(b"");
    assert_eq!(scene.import().unwrap().new_rows, 0);
    scene.append(b"{\"type\":\"user\"");
    assert_eq!(scene.import().unwrap().new_rows, 0);
    assert!(!scene.root.path().exists(), "nothing to keep");
    fs::remove_file(&scene.file).unwrap();
    assert!(scene.import().unwrap_err().to_string().contains("s.jsonl"));
    fs::create_dir(&scene.file).unwrap();
    let said = format!("{:#}", scene.import().unwrap_err());
    assert!(said.contains("s.jsonl") && said.contains("not a regular file"), "{said}");
    fs::remove_dir(&scene.file).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&scene.file).status().unwrap().success());
    assert!(scene.import().is_err(), "a pipe is not waited for");
    assert!(!scene.root.path().exists());
}

#[test]
fn what_is_written_is_the_users_alone() {
    let scene = Scene::of(&claude::session(6, 3).bytes);
    scene.import().unwrap();
    let mut folders = vec![scene.root.path().to_path_buf()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                files += 1;
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                assert_eq!(mode, 0o600, "{}", entry.path().display());
            }
        }
    }
    assert!(files >= 5);
}

#[test]
fn the_index_is_made_again_from_the_blocks_alone() {
    let scene = Scene::of(&claude::session(7, 6).bytes);
    scene.import().unwrap();
    scene.index().tag(&scene.folder(), &[3], Some("work")).unwrap();
    let before = scene.rounds();
    fs::remove_file(&scene.file).unwrap();
    assert_eq!(reindex(&scene.index(), &scene.folder()).unwrap() as usize, before.len());
    assert_eq!(scene.rounds(), before);
    let session = scene.index().session(&scene.folder()).unwrap();
    assert!(session.source.unwrap().ends_with("-p/s.jsonl"));
}

#[test]
fn an_engagement_that_is_on_tags_what_is_imported_and_no_tag_is_taken_from_a_person() {
    let scene = Scene::new();
    let project = scene.file.parent().unwrap().to_path_buf();
    let row = |n: u32| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u{n}\",\"sessionId\":\"s\",\"cwd\":{:?},\"timestamp\":\"2026-03-0{n}T00:00:00Z\",\"message\":{{\"role\":\"user\",\"content\":\"question {n}\"}}}}\n",
            project.display().to_string()
        )
    };
    let tags = || scene.rounds().into_iter().map(|round| round.engagement).collect::<Vec<_>>();
    scene.append(row(1).as_bytes());
    scene.import().unwrap();
    fs::write(project.join("engagement.md"), "---\nid: console-work\n---\n").unwrap();
    scene.append(row(2).as_bytes());
    scene.import().unwrap();
    let work = Some("console-work".to_owned());
    assert_eq!(tags(), [None, work.clone()], "what was there is as it was");
    scene.index().tag(&scene.folder(), &[2], None).unwrap();
    scene.append(row(3).as_bytes());
    scene.import().unwrap();
    assert_eq!(tags(), [None, None, work]);
}
