//! Ways out of a project, tried with one system call and part by part.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

struct World {
    dir: tempfile::TempDir,
    top: PathBuf,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("project/.brain-guard");
        fs::create_dir_all(top.join("jobs/j")).unwrap();
        fs::write(top.join("jobs/j/compaction.md"), "notes").unwrap();
        fs::create_dir_all(dir.path().join("outside")).unwrap();
        fs::write(dir.path().join("outside/secret"), "secret").unwrap();
        Self { dir, top }
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.dir.path().join("outside").join(name)
    }
}

/// Opens in both ways, which must agree.
fn both(path: &Path) -> bool {
    let inside = split(path).unwrap().unwrap();
    let root = rustix::fs::open(inside.root, FOLDER, Mode::empty()).unwrap();
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let parts = part_by_part(&root, inside.path, flags, Mode::empty()).is_ok();
    let whole = open(path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).is_ok();
    assert_eq!(parts, whole, "{path:?}");
    whole
}

#[test]
fn no_link_is_followed_at_any_level() {
    for level in ["", "jobs", "jobs/j", "jobs/j/compaction.md"] {
        let world = World::new();
        let file = world.top.join("jobs/j/compaction.md");
        assert!(both(&file));
        let link = if level.is_empty() { world.top.clone() } else { world.top.join(level) };
        fs::rename(&link, world.outside("moved")).unwrap();
        symlink(world.outside("moved"), &link).unwrap();
        assert!(!both(&file), "{level}");
        let error = open(&file, OFlags::RDONLY, Mode::empty()).unwrap_err();
        assert!(is_refused(&error) && error.to_string().contains("symbolic link"), "{error}");
        assert!(refused_paths().iter().any(|refused| refused.path == link), "{level}");
        assert!(stat(&file).is_err() && !exists(&file), "{level}");
    }
}

#[test]
fn links_within_the_folder_are_none_the_better() {
    let world = World::new();
    symlink("j", world.top.join("jobs/alias")).unwrap();
    symlink("compaction.md", world.top.join("jobs/j/again.md")).unwrap();
    let former = world.top.join("jobs/alias/compaction.md");
    assert!(!both(&former));
    let error = stat(&former).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound, "a job's former name");
    assert!(refused_paths().iter().all(|refused| refused.path != world.top.join("jobs/alias")));
    assert!(!both(&world.top.join("jobs/j/again.md")));
    assert_eq!(
        Spot::for_path(&world.top.join("jobs/alias")).unwrap().link_target().as_deref(),
        Some("j")
    );
}

#[test]
fn a_path_that_leaves_is_refused() {
    let world = World::new();
    let path = world.top.join("../../outside/secret");
    assert!(is_refused(&open(&path, OFlags::RDONLY, Mode::empty()).unwrap_err()));
    // A path outside `.brain-guard` is opened as usual.
    assert!(open(&world.outside("secret"), OFlags::RDONLY, Mode::empty()).is_ok());
    for path in ["/a/.brain-guard-old/x", "/a/x.brain-guard", "/a/b", "", "/"] {
        assert!(split(Path::new(path)).unwrap().is_none(), "{path}");
    }
    for (path, root, rest) in [
        ("/a/.brain-guard/jobs//j/", "/a/", ".brain-guard/jobs//j/"),
        (".brain-guard", ".", ".brain-guard"),
        ("/.brain-guard/x", "/", ".brain-guard/x"),
        ("/x.brain-guard/.brain-guard", "/x.brain-guard/", ".brain-guard"),
    ] {
        let inside = split(Path::new(path)).unwrap().unwrap();
        assert_eq!((inside.root, inside.path), (Path::new(root), Path::new(rest)), "{path}");
    }
}

#[test]
fn folders_are_made_and_never_through_a_link() {
    let world = World::new();
    create_dirs(&world.top.join("jobs/k/sealed"), 0o700).unwrap();
    assert!(is_dir(&world.top.join("jobs/k/sealed")));
    symlink(world.outside(""), world.top.join("jobs/evil")).unwrap();
    assert!(create_dirs(&world.top.join("jobs/evil/sealed"), 0o700).is_err());
    assert!(create_dirs(&world.top.join("jobs/evil"), 0o700).is_err());
    assert!(!world.outside("sealed").exists());
    // The project's folder need not exist yet.
    let fresh = world.dir.path().join("fresh/.brain-guard");
    create_dirs(&fresh, 0o755).unwrap();
    assert!(fresh.is_dir());
}

#[test]
fn what_is_written_replaces_no_file_elsewhere() {
    use crate::atomic;
    let world = World::new();
    let job = world.top.join("jobs/j");
    symlink(world.outside("secret"), job.join("link.md")).unwrap();
    fs::hard_link(world.outside("secret"), job.join("hard.md")).unwrap();
    fs::hard_link(world.outside("secret"), job.join("prompts.jsonl")).unwrap();
    symlink(world.outside("new"), job.join("dangling.md")).unwrap();
    assert!(atomic::write(&job.join("link.md"), b"x").is_err());
    assert!(atomic::append(&job.join("link.md"), b"x").is_err());
    assert!(atomic::append(&job.join("dangling.md"), b"x").is_err());
    assert!(!atomic::claim(&job.join("dangling.md")).unwrap());
    atomic::write(&job.join("hard.md"), b"x").unwrap();
    atomic::append(&job.join("prompts.jsonl"), b"x").unwrap();
    assert_eq!(fs::read_to_string(world.outside("secret")).unwrap(), "secret");
    assert_eq!(fs::read_to_string(job.join("prompts.jsonl")).unwrap(), "secretx");
    assert!(!world.outside("new").exists());
    assert!(atomic::read(&job.join("link.md")).is_err());
}

#[test]
fn what_a_checkout_may_bring_is_bounded() {
    use crate::atomic;
    let world = World::new();
    let job = world.top.join("jobs/j");
    for (name, most) in [("job.json", 64), ("compaction.md", 1024)] {
        fs::write(job.join(name), vec![b' '; most * 1024]).unwrap();
        assert!(atomic::read(&job.join(name)).unwrap().is_some(), "{name}");
        fs::write(job.join(name), vec![b' '; most * 1024 + 1]).unwrap();
        assert!(atomic::read(&job.join(name)).is_err(), "{name}");
    }
    for number in 0..50 {
        fs::create_dir(world.top.join(format!("jobs/{number}"))).unwrap();
    }
    assert_eq!(list(&world.top.join("jobs"), 20).unwrap().len(), 20);
    assert!(list(&world.top.join("none"), 20).unwrap().is_empty());
}
