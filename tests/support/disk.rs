//! The content of a folder: read, written back, and compared without what differs in every run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    Folder,
    Link(PathBuf),
    File(Vec<u8>, u32),
}

/// Everything below a folder, by relative path.
#[derive(Debug, Clone, Default)]
pub struct Tree(pub BTreeMap<PathBuf, Node>);

impl Tree {
    pub fn read(root: &Path) -> Self {
        let mut tree = Self::default();
        tree.add(root, Path::new(""));
        tree
    }

    fn add(&mut self, root: &Path, below: &Path) {
        for entry in fs::read_dir(root.join(below)).into_iter().flatten().flatten() {
            let path = below.join(entry.file_name());
            let Ok(meta) = fs::symlink_metadata(entry.path()) else { continue };
            if meta.is_symlink() {
                let target = fs::read_link(entry.path()).unwrap_or_default();
                self.0.insert(path, Node::Link(target));
            } else if meta.is_dir() {
                self.0.insert(path.clone(), Node::Folder);
                self.add(root, &path);
            } else {
                let bytes = fs::read(entry.path()).unwrap_or_default();
                self.0.insert(path, Node::File(bytes, meta.permissions().mode() & 0o777));
            }
        }
    }

    /// Makes the folder hold exactly this. Folders that are in it stay: a project that is made anew
    /// is another one.
    pub fn put(&self, root: &Path) {
        self.remove_others(root, Path::new(""));
        for (path, node) in &self.0 {
            let path = root.join(path);
            let made = match node {
                Node::Folder if path.is_dir() => Ok(()),
                Node::Folder => fs::create_dir(&path),
                Node::Link(target) => symlink(target, &path),
                Node::File(bytes, mode) => fs::write(&path, bytes)
                    .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(*mode))),
            };
            made.unwrap_or_else(|e| panic!("{} not put back: {e}", path.display()));
        }
    }

    fn remove_others(&self, root: &Path, below: &Path) {
        for entry in fs::read_dir(root.join(below)).into_iter().flatten().flatten() {
            let (path, real) = (below.join(entry.file_name()), entry.path());
            let is_folder = real.is_dir() && !real.is_symlink();
            let gone = match self.0.get(&path) {
                Some(Node::Folder) if is_folder => {
                    self.remove_others(root, &path);
                    continue;
                }
                _ if is_folder => fs::remove_dir_all(&real),
                _ => fs::remove_file(&real),
            };
            gone.unwrap_or_else(|e| panic!("{} not removed: {e}", real.display()));
        }
    }

    pub fn text(&self, path: &Path) -> Option<&[u8]> {
        match self.0.get(path)? {
            Node::File(bytes, _) => Some(bytes),
            _ => None,
        }
    }

    /// Files and links, normalized between runs: path, its normalized name, content. Names with a
    /// number or a time become one.
    pub fn items(&self) -> Vec<(&PathBuf, String, String)> {
        let mut items = Vec::new();
        for (path, node) in &self.0 {
            let text = match node {
                Node::Folder => continue,
                Node::Link(target) => format!("-> {}", normal(&target.to_string_lossy())),
                Node::File(bytes, _) => {
                    normal(&self.without_tokens(&String::from_utf8_lossy(bytes)))
                }
            };
            items.push((path, normal(&self.without_tokens(&path.to_string_lossy())), text));
        }
        items
    }

    /// [`Self::items`] by normalized name.
    pub fn plain(&self) -> Plain {
        let mut plain = Plain::new();
        for (_, name, text) in self.items() {
            plain.entry(name).or_default().insert(text);
        }
        plain
    }

    /// Replaces token ids, which are made from the time.
    fn without_tokens(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for path in self.0.keys() {
            let folder = path.parent().and_then(Path::file_name);
            if let Some(id) = path.file_stem().and_then(|stem| stem.to_str())
                && folder.is_some_and(|name| name == "boundary")
                && id.len() == 16
                && id.bytes().all(|b| b.is_ascii_hexdigit())
            {
                text = text.replace(id, "<token>");
            }
        }
        text
    }
}

/// Contents by normalized path.
pub type Plain = BTreeMap<String, BTreeSet<String>>;

/// A lock or a claim; its content does not matter.
pub fn is_lock(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name == ".lock" || [".lock", ".waiter"].iter().any(|end| name.ends_with(end))
}

/// A temporary file that an interrupted write may leave behind; nothing reads such names.
pub fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let Some(rest) = name.strip_prefix('.') else { return false };
    match rest.strip_suffix(".tmp") {
        Some(rest) => rest.rsplitn(3, '.').take(2).all(number),
        None => rest.rsplit_once('.').is_some_and(|(_, pid)| number(pid)),
    }
}

/// The merged settings hold the times of files that are recreated for each kill, so only their
/// completeness is compared.
pub fn is_merged(path: &str) -> bool {
    path.contains("/merged/")
}

/// A text that grows line by line.
pub fn is_journal(path: &str) -> bool {
    [".jsonl", "/boundaries", ".files", ".calls"].iter().any(|end| path.ends_with(end))
}

/// A text without times, versions and process ids.
pub fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if !matches!(first, '0'..='9' | '"' | 'd' | 'e' | 'm' | 'p' | 't' | 'v') {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let skipped =
            time(rest).or_else(|| stamp(rest)).or_else(|| version(rest, out.chars().last()));
        if let Some((length, instead)) = skipped.or_else(|| named_number(rest)) {
            out.push_str(instead);
            rest = &rest[length..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

fn shaped(text: &str, shape: &str) -> bool {
    text.len() >= shape.len()
        && text.bytes().zip(shape.bytes()).all(|(byte, wanted)| match wanted {
            b'9' => byte.is_ascii_digit(),
            other => byte == other,
        })
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// `2026-01-01T00:00:00.123Z` and similar.
fn time(text: &str) -> Option<(usize, &'static str)> {
    const SHAPE: &str = "9999-99-99T99:99:99";
    if !shaped(text, SHAPE) {
        return None;
    }
    let mut end = SHAPE.len();
    if text[end..].starts_with('.') {
        end += 1 + digits(&text[end + 1..]);
    }
    for zone in ["Z", "+00:00"] {
        if text[end..].starts_with(zone) {
            return Some((end + zone.len(), "<time>"));
        }
    }
    Some((end, "<time>"))
}

/// `20260101T000000Z` in file names, with a number after a clash.
fn stamp(text: &str) -> Option<(usize, &'static str)> {
    const SHAPE: &str = "99999999T999999Z";
    if !shaped(text, SHAPE) {
        return None;
    }
    let rest = text[SHAPE.len()..].strip_prefix('-').map_or(0, digits);
    Some((SHAPE.len() + if rest > 0 { rest + 1 } else { 0 }, "<time>"))
}

/// `v0001`, `version: 1` in a file's front matter, and `version 1` in an archive.
fn version(text: &str, before: Option<char>) -> Option<(usize, &'static str)> {
    if shaped(text, "v9999") && !before.is_some_and(char::is_alphanumeric) {
        return Some((5, "v<n>"));
    }
    let rest = text.strip_prefix("version: ").or_else(|| text.strip_prefix("version "))?;
    Some((text.len() - rest.len() + digits(rest), "version <n>"))
}

/// Values that differ in each run, or that a kill may change without harm, by the name before them.
/// Examples are call counts, a figure's age, caches, and the number of a default job (never
/// reused). An entry's reference count is one higher if a seal was interrupted between the record
/// and the file.
fn named_number(text: &str) -> Option<(usize, &'static str)> {
    const NUMBERS: [&str; 5] =
        ["\"modified\":", "\"version\":", "\"size\":", "\"calls\":", "\"references\":"];
    if let Some(name) = NUMBERS.iter().find(|name| text.starts_with(**name)) {
        let rest = text[name.len()..].trim_start();
        return Some((text.len() - rest.len() + digits(rest), name));
    }
    // These digests cover times; after a kill the next digest may stand beside.
    for name in ["\"digest\":", "\"root\":", "\"repository\":"] {
        let Some(rest) = text.strip_prefix(name) else { continue };
        let quoted = |rest: &str| Some(rest.strip_prefix('"')?.find('"')? + 2);
        let listed = |rest: &str| rest.strip_prefix('[').and_then(|rest| Some(rest.find(']')? + 2));
        let length = rest.strip_prefix("null").map(|_| 4).or_else(|| quoted(rest));
        let length = length.or_else(|| listed(rest))?;
        let next = rest[length..].strip_prefix(",\"next\":").and_then(quoted);
        let length = length + next.map_or(0, |next| ",\"next\":".len() + next);
        return Some((name.len() + length, "\"digest\":"));
    }
    // It is there once a call has counted the file.
    if let Some(rest) = text.strip_prefix("\"counted\":") {
        return Some((text.len() - rest.len() + rest.find("},")? + 2, ""));
    }
    // A seal's digest covers the times of the file.
    if let Some(rest) = text.strip_prefix("digest: ") {
        let length = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        return Some(("digest: ".len() + length, "digest: "));
    }
    for source in ["transcript, ", "estimated, ", "mod, "] {
        if let Some(rest) = text.strip_prefix(source)
            && let Some(end) = rest.find(')').filter(|end| *end < 12)
        {
            return Some((source.len() + end, source));
        }
    }
    let rest = text.strip_prefix("project-")?;
    let number = shaped(rest, "99999999-9").then(|| digits(&rest[9..]))?;
    Some(("project-99999999-".len() + number, "project-<n>"))
}

impl Tree {
    /// Checks that JSON files are valid JSON.
    ///
    /// # Errors
    /// The first file that is not.
    pub fn whole(&self) -> Result<(), String> {
        for (path, node) in &self.0 {
            let Node::File(bytes, _) = node else { continue };
            let broken = match path.extension().and_then(|e| e.to_str()) {
                Some("json") => serde_json::from_slice::<serde_json::Value>(bytes).err(),
                Some("jsonl") => bytes
                    .split(|byte| *byte == b'\n')
                    .filter(|line| !line.is_empty())
                    .find_map(|line| serde_json::from_slice::<serde_json::Value>(line).err()),
                _ => None,
            };
            if let Some(e) = broken.filter(|_| !is_temporary(path)) {
                return Err(format!("{}: {e}", path.display()));
            }
        }
        Ok(())
    }
}
