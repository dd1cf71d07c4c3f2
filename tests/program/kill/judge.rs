//! Judges what a kill left: every file is the old or the new one, complete, and no written entry is
//! lost.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use notes::compaction::{Shape, parse};

use crate::support::disk::{Node, Plain, Tree, is_journal, is_lock, is_merged, is_temporary};
use crate::support::trace::Swaps;

/// The states around an operation.
#[derive(Debug)]
pub struct Around {
    pub old: Tree,
    new: Tree,
    /// These states and the one after a second run, normalized.
    plain: [Plain; 3],
    /// How often the operation replaced each path.
    swaps: Swaps,
    /// A verb of `job`, which may find done what was interrupted. Then it restarts the session from
    /// the job's file, or leaves it running; nothing is lost either way.
    is_job: bool,
}

impl Around {
    /// From the states before the operation, after it, and after a second run.
    pub fn of(old: Tree, new: Tree, twice: &Tree, swaps: Swaps, is_job: bool) -> Self {
        let plain = [old.plain(), new.plain(), twice.plain()];
        Self { old, new, plain, swaps, is_job }
    }

    /// The fault in the state right after a kill.
    pub fn torn(&self, killed: &Tree) -> Option<String> {
        let [old, new, _] = &self.plain;
        let folder = |(path, node): (&PathBuf, &Node)| {
            let known = [&self.old, &self.new].iter().any(|tree| tree.0.contains_key(path));
            (*node == Node::Folder && !known)
                .then(|| format!("{}: a folder that nobody makes", path.display()))
        };
        let items = killed.items();
        let gone = || {
            let all: BTreeSet<&String> = items.iter().map(|(.., text)| text).collect();
            let names: BTreeSet<&String> = items.iter().map(|(_, name, _)| name).collect();
            old.iter().find_map(|(name, texts)| {
                let removed = !new.contains_key(name) || is_lock(name);
                let moved = || texts.iter().all(|text| all.contains(text));
                (!removed && !names.contains(name) && !moved()).then(|| format!("{name} is gone"))
            })
        };
        let found = killed.whole().err().or_else(|| killed.0.iter().find_map(folder));
        let found = found.or_else(|| items.iter().find_map(|item| self.between(killed, item)));
        found.or_else(gone).or_else(|| lost(&self.old, killed))
    }

    fn between(&self, killed: &Tree, item: &(&PathBuf, String, String)) -> Option<String> {
        let (path, name, text) = item;
        let [old, new, _] = &self.plain;
        let of = |plain: &Plain| plain.get(name).is_some_and(|texts| texts.contains(text));
        if is_temporary(path) || is_lock(name) || is_merged(name) || of(old) || of(new) {
            return None;
        }
        if is_journal(name) {
            return (!longer(text, old.get(name), new.get(name)))
                .then(|| format!("{name}: lines that nobody wrote: {text:?}"));
        }
        // A complete intermediate version, or one between two names.
        let swaps: usize =
            self.swaps.iter().filter(|(to, _)| to.ends_with(path)).map(|(_, times)| times).sum();
        let elsewhere =
            [old, new].into_iter().any(|plain| plain.values().any(|texts| texts.contains(text)));
        let unknown = !old.contains_key(name) && !new.contains_key(name);
        let linked = matches!(killed.0[*path], Node::Link(_));
        if swaps > 1 || (unknown || linked) && elsewhere {
            return None;
        }
        let known = [old.get(name), new.get(name)];
        Some(format!("{name}: neither as before nor as after: {}", parts(text, known)))
    }

    /// The fault after the same verb ran again.
    pub fn not_reached(&self, again: &Tree) -> Option<String> {
        let [_, new, twice] = &self.plain;
        let found = again.plain();
        // A piece is handed out only once; if it was lost, its session is told.
        let handed = found.keys().any(|name| name.ends_with(".piece-1"));
        let known = |name: &String, text: &String| {
            [new, twice]
                .iter()
                .any(|plain| plain.get(name).is_some_and(|texts| texts.contains(text)))
        };
        let strange = |name: &String, text: &String| {
            // An interrupted boundary is replaced by one that the next call opens.
            let replaced = text.contains("\"why\":\"sealed anew\"");
            let delivered = text.replace("\"step\":\"cleared\"", "\"step\":\"delivered\"");
            !(known(name, text) || replaced || handed && known(name, &delivered))
        };
        let other = found.iter().find_map(|(name, texts)| {
            let boundary =
                self.is_job && (name.contains("/boundary/") || name.contains("/sessions/"));
            let apart = is_lock(name) || is_journal(name) || is_merged(name);
            let apart = apart || boundary;
            if apart || is_temporary(Path::new(name)) {
                return None;
            }
            let text = texts.iter().find(|text| strange(name, text))?;
            Some(format!("{name} is {}", parts(text, [new.get(name), twice.get(name)])))
        });
        let missing = || {
            new.keys().find_map(|name| {
                let boundary = self.is_job && name.contains("/boundary/");
                let needed = twice.contains_key(name) && !is_lock(name) && !boundary;
                (needed && !found.contains_key(name)).then(|| format!("{name} is missing"))
            })
        };
        again.whole().err().or(other).or_else(missing).or_else(|| lost(&self.old, again))
    }
}

/// Whether only complete lines were added, all of them in the new state.
fn longer(text: &str, old: Option<&BTreeSet<String>>, new: Option<&BTreeSet<String>>) -> bool {
    let none = BTreeSet::from([String::new()]);
    let lines = |texts: Option<&BTreeSet<String>>| -> Vec<String> {
        texts.into_iter().flatten().flat_map(|t| t.lines().map(str::to_owned)).collect()
    };
    let written = lines(new);
    old.unwrap_or(&none).iter().any(|before| {
        text.strip_prefix(before.as_str()).is_some_and(|added| {
            (added.is_empty() || added.ends_with('\n'))
                && added.lines().all(|line| written.iter().any(|known| known == line))
        })
    })
}

/// An entry of a compaction file that is now in no Markdown file.
fn lost(old: &Tree, now: &Tree) -> Option<String> {
    let shape = Shape::default();
    let is_markdown =
        |path: &Path| path.extension().is_some_and(|e| e == "md") && !is_temporary(path);
    let texts: Vec<String> = now
        .0
        .iter()
        .filter(|(path, _)| is_markdown(path))
        .filter_map(|(path, _)| Some(String::from_utf8_lossy(now.text(path)?).into_owned()))
        .collect();
    let live = |path: &&PathBuf| {
        let of_a_job = path.components().any(|part| part.as_os_str() == "jobs");
        of_a_job && path.ends_with("compaction.md")
    };
    old.0.keys().filter(live).find_map(|path| {
        let text = String::from_utf8_lossy(old.text(path)?).into_owned();
        let document = parse(&text, &shape);
        let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        let gone = document
            .entries()
            .map(|entry| first(&entry.text))
            .find(|line| !texts.iter().any(|text| text.contains(line.as_str())));
        gone.map(|line| format!("the entry {line:?} is in no file any more"))
    })
}

/// Where a text differs from each of its expected versions.
fn parts(text: &str, known: [Option<&BTreeSet<String>>; 2]) -> String {
    let mut said = Vec::new();
    for other in known.into_iter().flatten().flatten() {
        let (ours, theirs): (Vec<char>, Vec<char>) =
            (text.chars().collect(), other.chars().collect());
        let same = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
        let around = |text: &[char]| -> String {
            text[same.saturating_sub(60)..text.len().min(same + 60)].iter().collect()
        };
        said.push(format!("…{:?}… and not …{:?}…", around(&ours), around(&theirs)));
    }
    if said.is_empty() { format!("{text:?}") } else { said.join(", nor ") }
}
