//! Tags rounds during import by the project's `engagement.md`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use base::atomic;
use sessions::round::Round;
use store::engagement::{self, Engagement};
use store::index::Words;

const FILE: &str = "engagement.md";

/// The largest file that is read.
const MOST: u64 = 256 * 1024;

/// The engagements of projects; each is read once until [`Engagements::forget`].
#[derive(Debug, Default)]
pub struct Engagements {
    /// By working folder.
    known: RefCell<BTreeMap<PathBuf, Option<Engagement>>>,
    faults: RefCell<Vec<String>>,
    told: RefCell<BTreeSet<String>>,
    off: bool,
}

impl Engagements {
    /// Tags nothing.
    pub fn none() -> Self {
        Self { off: true, ..Self::default() }
    }

    /// Tags rounds that started during a phase, or all if there are no phases. A tag in the index
    /// stays. `cwd` is the session's working folder. Returns the engagement if a round is of it.
    pub fn tag(&self, cwd: Option<&str>, rounds: &mut [(Round, Words)]) -> Option<Engagement> {
        let cwd = cwd.map(Path::new).filter(|cwd| cwd.is_absolute() && !self.off)?;
        let mut known = self.known.borrow_mut();
        let found = known.entry(cwd.to_path_buf()).or_insert_with(|| self.read(cwd));
        let engagement = found.as_ref()?;
        let mut own: Vec<&mut Round> = rounds
            .iter_mut()
            .map(|(round, _)| round)
            .filter(|round| round.is_work() && includes_round(engagement, round))
            .collect();
        for round in &mut own {
            round.engagement = Some(engagement.id.clone());
        }
        (!own.is_empty()).then(|| engagement.clone())
    }

    /// Makes the files be read again, because they may have changed.
    pub fn forget(&self) {
        self.known.borrow_mut().clear();
    }

    /// The faults in the files, each only once.
    pub fn faults(&self) -> Vec<String> {
        let mut told = self.told.borrow_mut();
        self.faults.take().into_iter().filter(|fault| told.insert(fault.clone())).collect()
    }

    fn read(&self, cwd: &Path) -> Option<Engagement> {
        let path = file(cwd)?;
        let text = match atomic::read_no_follow(&path, MOST) {
            Ok(text) => text?,
            Err(e) => {
                self.faults.borrow_mut().push(format!("{}: {e}", path.display()));
                return None;
            }
        };
        match engagement::parse(&text) {
            Ok(engagement) => Some(engagement),
            Err(why) => {
                let why = format!("{}: {why}; its rounds are not tagged", path.display());
                let mut faults = self.faults.borrow_mut();
                if !faults.contains(&why) {
                    faults.push(why);
                }
                None
            }
        }
    }
}

/// Whether a round belongs to the engagement by its start time.
fn includes_round(engagement: &Engagement, round: &Round) -> bool {
    let on = |at| {
        engagement.phases.iter().any(|phase| phase.from <= at && phase.to.is_none_or(|to| at < to))
    };
    engagement.phases.is_empty() || round.started.is_some_and(on)
}

/// The nearest file from this folder up to the repository root.
fn file(cwd: &Path) -> Option<PathBuf> {
    let is_root = |dir: &Path| dir.join(".git").exists() || dir.join(".brain-guard").is_dir();
    let root = cwd.ancestors().find(|dir| is_root(dir)).unwrap_or(cwd);
    let up_to_root = cwd.ancestors().take_while(|dir| dir.starts_with(root));
    up_to_root.map(|dir| dir.join(FILE)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_nearest_file_of_the_same_project_counts() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("project/.git")).unwrap();
        fs::create_dir_all(at("project/a/b")).unwrap();
        fs::write(at(FILE), "of another project").unwrap();
        assert_eq!(file(&at("project/a/b")), None);
        fs::write(at("project").join(FILE), "").unwrap();
        assert_eq!(file(&at("project/a/b")), Some(at("project").join(FILE)));
        fs::write(at("project/a").join(FILE), "").unwrap();
        assert_eq!(file(&at("project/a/b")), Some(at("project/a").join(FILE)));
        assert_eq!(file(&at("gone")), None);
    }

    #[test]
    fn a_file_that_changed_counts_once_it_is_read_again_and_its_fault_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().to_str();
        let write = |text: &str| fs::write(dir.path().join(FILE), text).unwrap();
        let engagements = Engagements::default();
        let tag = || {
            let mut rounds = [(Round::default(), Words::default())];
            engagements.tag(cwd, &mut rounds);
            rounds[0].0.engagement.clone()
        };
        write("---\nid: one\n---\n");
        assert_eq!(tag().as_deref(), Some("one"));
        write("---\nid: two\n---\n");
        assert_eq!(tag().as_deref(), Some("one"), "one answer within a run");
        engagements.forget();
        assert_eq!(tag().as_deref(), Some("two"));
        write("no engagement's");
        for told in [1, 0] {
            engagements.forget();
            assert_eq!(tag(), None);
            assert_eq!(engagements.faults().len(), told);
        }
    }

    #[test]
    fn rounds_are_tagged_by_the_phases_that_were_on() {
        use store::engagement::Phase;
        let time = |text: &str| text.parse().unwrap();
        let round =
            |at: &str| (Round { started: Some(time(at)), ..Round::default() }, Words::default());
        let phase = |from: &str, to: Option<&str>| Phase {
            name: "p".to_owned(),
            from: time(from),
            to: to.map(time),
        };
        let tags = |phases| {
            let engagements = Engagements::default();
            let engagement = Engagement { id: "x".into(), phases, ..Engagement::default() };
            engagements.known.borrow_mut().insert("/p".into(), Some(engagement));
            let mut rounds =
                ["2026-03-01T00:00:00Z", "2026-03-03T00:00:00Z", "2026-03-05T00:00:00Z"].map(round);
            engagements.tag(Some("/p"), &mut rounds);
            rounds.map(|(round, _)| round.engagement.is_some())
        };
        assert_eq!(tags(vec![]), [true; 3]);
        let closed = phase("2026-03-02T00:00:00Z", Some("2026-03-04T00:00:00Z"));
        assert_eq!(tags(vec![closed.clone()]), [false, true, false]);
        assert_eq!(tags(vec![closed, phase("2026-03-05T00:00:00Z", None)]), [false, true, true]);
    }
}
