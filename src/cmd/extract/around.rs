//! What content the sessions that can be found need, beyond the placeholders that a ledger itself
//! makes out in its files: sessions that were moved or copied, forks of the clients', sessions
//! that were put aside, backups of a database, and placeholders that another program wrote anew.
//! Here a name in a text is enough: content that is kept for nothing costs its bytes, content
//! that went is gone.

mod escapes;
mod packed;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use memchr::memmem;

use super::source;
use store::blocks::Root;
use store::extracted::{Held, Ledger, Named, Sessions};
use store::openclaw;

/// How a placeholder begins.
const BEGIN: &[u8] = b"[[extracted-";

/// How its entry's id ends.
const END: &[u8] = b"]]";

/// The longest id that is looked for, in bytes as it stands there: 256 of text, each of which an
/// escape writes in six at most.
const LONGEST: usize = 6 * 256;

/// How much longer a name may be by escapes of what needs none.
const ESCAPED: usize = 2;

/// Bytes that are read at once.
const PART: usize = 1024 * 1024;

/// How `OpenClaw` calls the database of an agent; copies have a longer name.
const DATABASE: &str = "openclaw-agent.sqlite";

/// Beside a database, and no database.
const BESIDE: [&str; 4] = ["-wal", "-shm", "-journal", ".part"];

/// Where `OpenClaw` puts files that it took over, in their folder.
const ARCHIVE: &str = "session-sqlite-import-archive";

/// Whether a file is called as `OpenClaw` calls the database of an agent.
pub fn is_database(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == DATABASE)
}

/// Bytes of a file's beginning that tell what it is.
const PROBE: u64 = 4096;

/// Entries that are named in session files, with the number of the first such file.
type Ids = BTreeMap<Vec<u8>, usize>;

/// The sessions around a store: those in the clients' folders, and whatever lies in a folder
/// that a ledger names.
#[derive(Debug)]
pub struct Around<'r> {
    root: &'r Root,
    homes: Vec<PathBuf>,
    /// Folders of the files that ledgers name.
    folders: BTreeSet<PathBuf>,
    /// How these files are called, without their ending.
    stems: BTreeSet<Vec<u8>>,
    seen: Option<Seen>,
}

impl<'r> Around<'r> {
    /// Nothing is read yet; `homes` are looked through with all that is below them.
    pub fn new(root: &'r Root, homes: Vec<PathBuf>) -> Self {
        Self { root, homes, folders: BTreeSet::new(), stems: BTreeSet::new(), seen: None }
    }

    fn seen(&mut self) -> &Seen {
        let seen = self.seen.take().unwrap_or_else(|| self.look());
        self.seen.insert(seen)
    }

    fn look(&self) -> Seen {
        let mut seen = Seen { stems: self.stems.clone(), ..Seen::default() };
        for home in &self.homes {
            seen.path(home, true);
        }
        for folder in &self.folders {
            seen.path(folder, false);
            seen.path(&folder.join(ARCHIVE), false);
        }
        seen
    }
}

impl Sessions for Around<'_> {
    fn held(&mut self, file: &Path, ledger: &Ledger) -> Held {
        self.folders.extend(file.parent().map(Path::to_path_buf));
        self.stems.extend(file.file_stem().map(|stem| stem.as_encoded_bytes().to_vec()));
        source::held(self.root, file, ledger)
    }

    fn others(&mut self, known: &HashSet<&str>) -> Named {
        let seen = self.seen();
        let known: HashSet<&[u8]> = known.iter().map(|entry| as_named(entry)).collect();
        let mut others = seen.ids.iter().filter(|(id, _)| !known.contains(id.as_slice()));
        match others.next() {
            Some((_, number)) => Named::Yes(seen.files.get(*number).cloned().unwrap_or_default()),
            None if seen.unread.is_empty() && seen.cold.is_empty() => Named::No,
            None => Named::Unknown(seen.unread.iter().chain(&seen.cold).cloned().collect()),
        }
    }

    fn named(&mut self, entry: &str, file: &Path) -> Named {
        let seen = self.seen();
        if let Some(number) = seen.ids.get(as_named(entry)) {
            return Named::Yes(seen.files.get(*number).cloned().unwrap_or_default());
        }
        // Sessions that OpenClaw put into cold storage are of the same installation.
        let agents = |database: &Path| database.ancestors().nth(3).map(Path::to_path_buf);
        let cold = seen.cold.iter().filter(|at| agents(at).is_some_and(|of| file.starts_with(of)));
        let unread: Vec<PathBuf> = seen.unread.iter().chain(cold).cloned().collect();
        if unread.is_empty() { Named::No } else { Named::Unknown(unread) }
    }
}

/// What was found in session files.
#[derive(Debug, Default)]
struct Seen {
    ids: Ids,
    /// Files that name some.
    files: Vec<PathBuf>,
    stems: BTreeSet<Vec<u8>>,
    /// What can't be read.
    unread: Vec<PathBuf>,
    /// Databases with sessions that `OpenClaw` has put away.
    cold: Vec<PathBuf>,
    /// Files that were read and folders that were listed, the latter with all below them or
    /// without.
    known: BTreeSet<(u64, u64, bool)>,
}

impl Seen {
    fn path(&mut self, path: &Path, deep: bool) {
        if let Err(e) = self.within(path, deep)
            && !matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
        {
            self.unread.push(path.to_path_buf());
        }
    }

    fn within(&mut self, path: &Path, deep: bool) -> io::Result<()> {
        let meta = fs::metadata(path)?;
        let key = |deep| (meta.dev(), meta.ino(), deep);
        if meta.is_file() {
            return if self.known.insert(key(false)) {
                self.file(path, meta.len())
            } else {
                Ok(())
            };
        }
        if !meta.is_dir() || self.known.contains(&key(true)) || !self.known.insert(key(deep)) {
            return Ok(());
        }
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            // What a link leads to tells what it is.
            if deep || !entry.file_type().is_ok_and(|of| of.is_dir()) {
                self.path(&entry.path(), deep);
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, length: u64) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let number = self.files.len();
        self.files.push(path.to_path_buf());
        if name.starts_with(DATABASE.as_bytes()) {
            // What a kill left of a copy holds nothing that the database hasn't.
            let beside = BESIDE.iter().any(|end| name.ends_with(end.as_bytes()));
            if !beside && length > 0 {
                let ids = &mut self.ids;
                let cold = openclaw::every(path, &mut |row| names(row, ids, number))?;
                self.cold.extend(cold.then(|| path.to_path_buf()));
            }
            return Ok(());
        }
        // `x.jsonl`, and what it is called once it was put aside.
        let session = memmem::find(name, b".jsonl").is_some();
        let mut file = File::open(path)?;
        let mut begins = Vec::new();
        file.by_ref().take(PROBE).read_to_end(&mut begins)?;
        let one = session || self.stems.iter().any(|stem| name.starts_with(stem));
        if one && packed::is(&begins) {
            return Err(ErrorKind::InvalidData.into());
        }
        // A session may have any name, and is text whatever that is.
        if !session && begins.contains(&0) {
            return Ok(());
        }
        names(begins.chain(file), &mut self.ids, number)
    }
}

/// An id as far as a placeholder names it: to the first mark that ends one.
fn as_named(id: &str) -> &[u8] {
    let marked = [id.as_bytes(), END].concat();
    let end = memmem::find(&marked, END).unwrap_or(id.len());
    id.as_bytes().get(..end).unwrap_or_default()
}

/// An id as it stands in a text, and what that says as JSON: programs write the same id with
/// escapes of their own, and JSON may stand in JSON.
fn spelt(id: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    std::iter::successors(Some(id.to_vec()), |id| {
        memchr::memchr(b'\\', id)?;
        let json = [b"\"", id.as_slice(), b"\""].concat();
        Some(serde_json::from_slice::<String>(&json).ok()?.into_bytes())
    })
}

/// The entries that placeholders in a text name, which is in the file of that number.
fn names(mut text: impl Read, named: &mut Ids, number: usize) -> io::Result<()> {
    let finder = memmem::Finder::new(BEGIN);
    // What begins at the end of one part may go on in the next.
    let over = (BEGIN.len() + LONGEST + END.len()) * ESCAPED;
    let mut part = Vec::with_capacity(PART + over);
    loop {
        let read = text.by_ref().take(PART as u64).read_to_end(&mut part)?;
        named_in(&part, &finder, named, number);
        if let Some(plain) = escapes::plain(&part) {
            named_in(&plain, &finder, named, number);
        }
        if read == 0 {
            return Ok(());
        }
        part.drain(..part.len().saturating_sub(over));
    }
}

fn named_in(part: &[u8], finder: &memmem::Finder, named: &mut Ids, number: usize) {
    let mut from = 0;
    while let Some(at) = finder.find(&part[from..]) {
        let id = from + at + BEGIN.len();
        let within = &part[id..part.len().min(id + LONGEST + END.len())];
        if let Some(end) = memmem::find(within, END) {
            for id in spelt(&within[..end]) {
                named.entry(id).or_insert(number);
            }
        }
        from = id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<String> {
        let mut named = Ids::new();
        names(text, &mut named, 0).unwrap();
        named.into_keys().map(|id| String::from_utf8_lossy(&id).into_owned()).collect()
    }

    #[test]
    fn names_are_found_wherever_they_stand() {
        assert_eq!(
            all(b"{\"a\":\"[[extracted-a1]]\",\"b\":\"x [[extracted-b\\\"2]] y\"}"),
            ["a1", "b\"2", "b\\\"2"]
        );
        assert_eq!(all(b"[[extracted-[[extracted-a]] [[extracted-b"), ["[[extracted-a", "a"]);
        assert!(all(&[b"[[extracted-", &[b'x'; 2000][..], b"]]"].concat()).is_empty());
    }

    #[test]
    fn names_are_found_across_parts() {
        for shift in 0..20 {
            let mut text = vec![b'.'; PART - shift];
            text.extend_from_slice(b"[[extracted-a1b2]]");
            text.resize(3 * PART, b'.');
            assert_eq!(all(&text), ["a1b2"], "{shift}");
        }
    }

    #[test]
    fn escapes_that_nothing_needs_hide_no_name() {
        for text in [
            r"\u005b[extracted-a1]] 9 KB",
            r"[\u005Bextr\u0061cted\u002da1]\u005d",
            r"\\u005b\\u005bextracted-a\\u0031]]",
        ] {
            for shift in [0, 7, PART - 40, PART - 9] {
                let text = [&vec![b'.'; shift][..], text.as_bytes(), &[b'.'; 3000]].concat();
                assert!(all(&text).iter().any(|id| id == "a1"), "{shift}: {:?}", all(&text));
            }
        }
    }

    /// Other programs write what is not ASCII in their own way, and JSON in JSON.
    #[test]
    fn an_id_is_found_however_it_is_written() {
        for id in ["a1b2", "a\"b", "msg-é", "🦀", "a]]b", "a]"] {
            let json = serde_json::to_string(&format!("[[extracted-{id}]] 9 KB")).unwrap();
            let escape = |c: char| match c {
                ' '..='~' => c.to_string(),
                c => c
                    .encode_utf16(&mut [0; 2])
                    .iter()
                    .fold(String::new(), |all, unit| all + &format!("\\u{unit:04x}")),
            };
            let ascii: String = json.chars().map(escape).collect();
            let within = serde_json::to_string(&ascii).unwrap();
            for text in [json, ascii, within] {
                let mut named = Ids::new();
                names(text.as_bytes(), &mut named, 0).unwrap();
                assert!(named.contains_key(as_named(id)), "{id} in {text}");
            }
        }
    }
}
