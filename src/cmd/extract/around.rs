//! What content the sessions around a ledger may need, beyond the placeholders that the ledger
//! itself makes out: copies of a session under another id (a branch of pi's, a fork of Claude
//! Code's, one that was put aside) and placeholders that another program wrote anew. Here a
//! name in a text is enough: content that is kept for nothing costs its bytes, content that
//! went is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memchr::memmem;

use super::source;
use crate::clock::Time;
use crate::store::blocks::Root;
use crate::store::extracted::{Ledger, Record};

/// How a placeholder begins.
const BEGIN: &[u8] = b"[[extracted-";

/// How its entry's id ends.
const END: &[u8] = b"]]";

/// The longest id that is looked for, in bytes.
const LONGEST: usize = 256;

/// Bytes that are read at once.
const PART: usize = 1024 * 1024;

/// Entries that are named in the session files of a folder.
type Named = BTreeSet<Vec<u8>>;

/// What is needed, folder by folder, each read once.
#[derive(Debug)]
pub struct Around {
    /// What was used since stays anyway.
    older: Time,
    /// `None` for a folder of which something can't be read.
    folders: BTreeMap<PathBuf, Option<Named>>,
}

impl Around {
    /// Nothing is read yet.
    pub fn new(older: Time) -> Self {
        Self { older, folders: BTreeMap::new() }
    }

    /// The objects of a ledger that the session at `place`, or another one in its folder, needs;
    /// `None` where that can't be told.
    pub fn needs(&mut self, root: &Root, place: &Path, ledger: &Ledger) -> Option<Vec<String>> {
        // A disk that is not there has no sessions, and yet they are not gone.
        let folder = place.parent().filter(|folder| folder.is_dir())?;
        let mut needed = source::needs(root, place, ledger)?;
        let own: BTreeSet<&str> = needed.iter().map(String::as_str).collect();
        let old: Vec<(&String, &String)> = ledger
            .records
            .iter()
            .filter_map(|record| match record {
                Record::Extract { entry, object, at, .. } if *at < self.older => {
                    Some((entry, object))
                }
                _ => None,
            })
            .filter(|(_, object)| !own.contains(object.as_str()))
            .collect();
        if old.is_empty() {
            return Some(needed);
        }
        let named = self.folder(folder)?;
        let named: Vec<String> = old
            .into_iter()
            .filter(|(entry, _)| named.contains(&in_json(entry)))
            .map(|(_, object)| object.clone())
            .collect();
        needed.extend(named);
        Some(needed)
    }

    /// The entries that are named in a folder.
    fn folder(&mut self, folder: &Path) -> Option<&Named> {
        if !self.folders.contains_key(folder) {
            let named = of_folder(folder).ok();
            self.folders.insert(folder.to_path_buf(), named);
        }
        self.folders.get(folder)?.as_ref()
    }
}

/// An id as it stands in a string of JSON.
fn in_json(id: &str) -> Vec<u8> {
    let json = serde_json::to_string(id).unwrap_or_default();
    json.as_bytes().get(1..json.len().saturating_sub(1)).unwrap_or_default().to_vec()
}

fn of_folder(folder: &Path) -> io::Result<Named> {
    let mut named = Named::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // `x.jsonl`, and what it is called once it was put aside.
        let session = path
            .file_name()
            .is_some_and(|name| memmem::find(name.as_encoded_bytes(), b".jsonl").is_some());
        match fs::metadata(&path) {
            Ok(meta) if session && meta.is_file() => names(File::open(&path)?, &mut named)?,
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    Ok(named)
}

/// The entries that placeholders in a text name.
fn names(mut text: impl Read, named: &mut Named) -> io::Result<()> {
    let finder = memmem::Finder::new(BEGIN);
    let mut part = Vec::with_capacity(PART + BEGIN.len() + LONGEST + END.len());
    loop {
        let read = text.by_ref().take(PART as u64).read_to_end(&mut part)?;
        let mut from = 0;
        while let Some(at) = finder.find(&part[from..]) {
            let id = from + at + BEGIN.len();
            let within = &part[id..part.len().min(id + LONGEST + END.len())];
            if let Some(end) = memmem::find(within, END) {
                named.insert(within[..end].to_vec());
            }
            from = id;
        }
        if read == 0 {
            return Ok(());
        }
        // What begins at the end of one part may go on in the next.
        let keep = part.len().saturating_sub(BEGIN.len() + LONGEST + END.len());
        part.drain(..keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<String> {
        let mut named = Named::new();
        names(text, &mut named).unwrap();
        named.into_iter().map(|id| String::from_utf8_lossy(&id).into_owned()).collect()
    }

    #[test]
    fn names_are_found_wherever_they_stand() {
        assert_eq!(
            all(b"{\"a\":\"[[extracted-a1]]\",\"b\":\"x [[extracted-b\\\"2]] y\"}"),
            ["a1", "b\\\"2"]
        );
        assert_eq!(all(b"[[extracted-[[extracted-a]] [[extracted-b"), ["[[extracted-a", "a"]);
        assert!(all(&[b"[[extracted-", &[b'x'; 600][..], b"]]"].concat()).is_empty());
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
    fn ids_stand_in_json_as_json() {
        assert_eq!(in_json("a1b2"), b"a1b2");
        assert_eq!(in_json("a\"b"), b"a\\\"b");
    }
}
