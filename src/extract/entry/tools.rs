//! The tools of a session, and what each call was for: a result often names only its call.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{FileRead, hash};
use crate::transcript::span::{self, plain, text};

/// Tools that give what is in a file, as clients and file servers call them.
const READERS: [&str; 5] = ["read", "read_file", "read_text_file", "view", "view_file"];

/// What they call the file. Anything else they are given says which part of it.
const FILE: [&[u8]; 6] =
    [b"path", b"file_path", b"filePath", b"file", b"filename", b"absolute_path"];

/// A call.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its tool.
    pub tool: Arc<str>,
    /// What it read, where it is such a tool.
    pub read: Option<FileRead>,
}

/// The tools by name, each kept once, and which calls were theirs.
#[derive(Debug, Default)]
pub struct Tools {
    names: HashSet<Arc<str>>,
    calls: HashMap<u64, Call>,
}

impl Tools {
    /// The tool of that name.
    pub fn name(&mut self, json: Option<&[u8]>) -> Option<Arc<str>> {
        let name = text(json?)?;
        if let Some(known) = self.names.get(name.as_ref()) {
            return Some(Arc::clone(known));
        }
        let kept: Arc<str> = name.into();
        self.names.insert(Arc::clone(&kept));
        Some(kept)
    }

    /// Calls with these ids were this tool's, which was given that.
    pub fn called(&mut self, ids: &[Option<&str>], tool: Option<&Arc<str>>, given: Option<&[u8]>) {
        let Some(tool) = tool else { return };
        let read = given.and_then(|given| file(tool, given));
        for id in ids.iter().flatten() {
            self.calls.insert(hash(id), Call { tool: Arc::clone(tool), read });
        }
    }

    /// The call with that id.
    pub fn call(&self, id: Option<&[u8]>) -> Option<&Call> {
        self.calls.get(&hash(plain(id?)?))
    }
}

/// Which file a call reads, if its tool reads files.
fn file(tool: &str, given: &[u8]) -> Option<FileRead> {
    let own = tool.rsplit("__").next().unwrap_or(tool).to_ascii_lowercase();
    if !READERS.contains(&own.as_str()) {
        return None;
    }
    let mut fields = Vec::new();
    span::fields(given, &mut fields)?;
    let (mut file, mut part) = (None, 0);
    for field in fields {
        let (name, value) = (field.name.of(given), field.value.of(given));
        if file.is_none() && FILE.contains(&name) {
            file = plain(value).map(hash);
        } else if value != b"null" {
            // Whatever order they stand in.
            part ^= hash(&String::from_utf8_lossy(&[name, b":", value].concat()));
        }
    }
    Some(FileRead { file: file?, part })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_of_a_file_and_a_part() {
        let read = |tool, given: &str| file(tool, given.as_bytes());
        let whole = read("read", r#"{"path":"/w/a"}"#).unwrap();
        assert_eq!(whole.part, 0);
        for (tool, given) in [
            ("Read", r#"{ "file_path" : "/w/a" }"#),
            ("mcp__files__read_text_file", r#"{"path":"/w/a","head":null}"#),
            ("view_file", r#"{"absolute_path":"/w/a"}"#),
        ] {
            assert_eq!(read(tool, given), Some(whole), "{tool}");
        }
        let part = read("read", r#"{"path":"/w/a","offset":1,"limit":20}"#).unwrap();
        assert_eq!(part.file, whole.file);
        assert_ne!(part.part, 0);
        assert_eq!(read("read", r#"{"limit":20,"offset":1,"path":"/w/a"}"#), Some(part));
        assert_ne!(read("read", r#"{"path":"/w/a","offset":2,"limit":20}"#), Some(part));
        assert_ne!(read("read", r#"{"path":"/w/b"}"#).unwrap().file, whole.file);
        for (tool, given) in [
            ("exec", r#"{"path":"/w/a"}"#),
            ("read", r#"{"paths":["/w/a"]}"#),
            ("read", r#"{"path":7}"#),
            ("read", r#""{\"path\":\"/w/a\"}""#),
        ] {
            assert_eq!(read(tool, given), None, "{tool} {given}");
        }
    }
}
