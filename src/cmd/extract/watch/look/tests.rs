//! Checks with fixed times and made-up marks.

use std::cell::RefCell;

use super::*;

const START: i64 = 1_800_000_000;

fn at(seconds: i64) -> Time {
    Time::from_timestamp(START + seconds, 0).unwrap()
}

/// The mark of a file with this inode and write time.
fn mark(written: i64, inode: u64) -> Mark {
    ((START + written) * 1_000_000_000, 0, 1, inode)
}

fn waits(until: i64) -> Came {
    Came::Waits { turns: Some(40), until: at(until) }
}

fn extracted() -> Came {
    Came::Extracted { done: Done::default(), verdict: Verdict::Cold, until: None }
}

fn never() -> Came {
    Came::Never { why: "not here".into() }
}

/// Files by name.
struct World {
    watched: Watched,
    files: BTreeMap<PathBuf, Mark>,
}

impl World {
    fn new(files: &[(&str, Mark)]) -> Self {
        let files = files.iter().map(|(name, mark)| (PathBuf::from(name), *mark)).collect();
        Self { watched: Watched::default(), files }
    }

    /// Checks `seconds` after the start; returns the files read and all results.
    fn look(
        &mut self,
        seconds: i64,
        mut act: impl FnMut(&mut BTreeMap<PathBuf, Mark>, &Path) -> Came,
    ) -> (Vec<PathBuf>, Vec<Came>) {
        let names: Vec<PathBuf> = self.files.keys().cloned().collect();
        let files = RefCell::new(&mut self.files);
        let mut read = Vec::new();
        let moment = Moment {
            now: at(seconds),
            mark: &|path| files.borrow().get(path).copied(),
            ended: &|| false,
        };
        let seen = self.watched.look(&names, &moment, &mut |path| {
            read.push(path.to_path_buf());
            act(&mut files.borrow_mut(), path)
        });
        (read, seen.into_iter().map(|seen| seen.came).collect())
    }
}

fn one() -> World {
    World::new(&[("a", mark(-600, 1))])
}

#[test]
fn an_unchanged_file_is_read_once() {
    let mut world = one();
    let nothing = |_: &mut BTreeMap<PathBuf, Mark>, _: &Path| Came::Nothing { until: None };
    assert_eq!(world.look(0, nothing).0.len(), 1);
    for seconds in [30, 60, 86_400] {
        assert_eq!(world.look(seconds, nothing), (vec![], vec![]));
    }
    world.files.insert("a".into(), mark(90_000, 1));
    assert_eq!(world.look(90_031, nothing).0.len(), 1, "it was written");
    world.files.insert("b".into(), mark(0, 2));
    assert_eq!(world.look(90_060, nothing).0, [Path::new("b")], "it is new");
    world.watched.forget();
    assert_eq!(world.look(90_090, nothing).0.len(), 2, "the settings are others");
}

#[test]
fn a_warm_cache_is_waited_for_and_no_longer() {
    let mut world = one();
    assert_eq!(world.look(0, |_, _| waits(200)).1, [waits(200)]);
    assert_eq!(world.look(199, |_, _| extracted()).0.len(), 0);
    assert_eq!(world.look(200, |_, _| extracted()).1, [extracted()]);
    assert_eq!(world.look(900, |_, _| extracted()).0.len(), 0);
}

#[test]
fn what_a_restore_protects_is_due_when_it_no_longer_does() {
    let mut world = one();
    let until = Came::Nothing { until: Some(at(600)) };
    assert_eq!(world.look(0, |_, _| until.clone()).0.len(), 1);
    assert_eq!(world.look(570, |_, _| until.clone()).0.len(), 0);
    assert_eq!(world.look(600, |_, _| extracted()).0.len(), 1);
}

#[test]
fn what_a_restore_protects_is_due_then_too_where_something_else_was_extracted() {
    let mut world = one();
    let done =
        Came::Extracted { done: Done::default(), verdict: Verdict::Cold, until: Some(at(600)) };
    assert_eq!(world.look(0, |_, _| done.clone()).0.len(), 1);
    assert_eq!(world.look(570, |_, _| extracted()).0.len(), 0);
    assert_eq!(world.look(600, |_, _| extracted()).0.len(), 1);
    assert_eq!(world.look(900, |_, _| extracted()).0.len(), 0);
}

#[test]
fn a_file_in_use_is_not_even_read() {
    let mut world = World::new(&[("a", mark(0, 1))]);
    let (read, came) = world.look(29, |_, _| panic!("read"));
    assert!(read.is_empty() && matches!(came.as_slice(), [Came::Refused { .. }]), "{came:?}");
    // Only the time changed.
    assert_eq!(world.look(30, |_, _| extracted()).0.len(), 1);
}

#[test]
fn who_refuses_is_asked_again_at_the_next_look_and_what_failed_later() {
    let mut world = one();
    let refused = || Came::Refused { why: String::new() };
    assert_eq!(world.look(0, |_, _| refused()).0.len(), 1);
    assert_eq!(world.look(30, |_, _| refused()).0.len(), 1);
    let mut world = one();
    let failed = || Came::Failed { why: String::new() };
    assert_eq!(world.look(0, |_, _| failed()).0.len(), 1);
    assert_eq!(world.look(30, |_, _| failed()).0.len(), 0);
    assert_eq!(world.look(600, |_, _| failed()).0.len(), 1);
}

#[test]
fn our_own_change_is_none_and_one_while_we_read_is_one() {
    let mut world = one();
    world.look(0, |files, path| {
        files.insert(path.into(), mark(0, 7));
        extracted()
    });
    assert_eq!(world.look(60, |_, _| panic!("read")).0.len(), 0);
    let mut world = one();
    world.look(0, |files, path| {
        files.insert(path.into(), mark(0, 1));
        Came::Nothing { until: None }
    });
    assert_eq!(world.look(60, |_, _| extracted()).0.len(), 1);
}

#[test]
fn a_session_that_is_never_written_is_looked_at_once_however_it_grows() {
    let mut world = one();
    assert_eq!(world.look(0, |_, _| never()).1, [never()]);
    world.files.insert("a".into(), mark(10, 1));
    assert_eq!(world.look(60, |_, _| never()).0.len(), 0);
    world.files.insert("a".into(), mark(10, 2));
    assert_eq!(world.look(90, |_, _| never()).0.len(), 1, "another file has its name");
}

#[test]
fn a_file_that_is_gone_is_forgotten_and_an_end_is_between_two_files() {
    let mut world = World::new(&[("a", mark(-600, 1)), ("b", mark(-600, 2))]);
    world.look(0, |_, _| Came::Nothing { until: None });
    let gone = world.files.remove(Path::new("a")).unwrap();
    assert_eq!(world.look(30, |_, _| extracted()).0.len(), 0);
    world.files.insert("a".into(), gone);
    assert_eq!(world.look(60, |_, _| extracted()).0, [Path::new("a")]);
    let asked = RefCell::new(0);
    let moment = Moment {
        now: at(90),
        mark: &|_| Some(mark(0, 9)),
        ended: &|| {
            *asked.borrow_mut() += 1;
            *asked.borrow() > 1
        },
    };
    let seen = world.watched.look(&["x".into(), "y".into()], &moment, &mut |_| extracted());
    assert_eq!(seen.len(), 1);
}
