//! The tools of a session and what each call was for: a result often names only its call.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use memchr::memmem;

use super::{Entry, FileRead, Role, Trigger, hash};
use crate::placeholder::BEGIN;
use sessions::span::{self, Span, plain, text};

/// Tools that read files, as clients and file servers name them.
const READERS: [&str; 5] = ["read", "read_file", "read_text_file", "view", "view_file"];

/// Tools that write a whole file. After an edit, most of an earlier read is still true.
const WRITERS: [&str; 2] = ["write", "write_file"];

/// Names of the file argument. All other arguments say which part of the file.
const FILE: [&[u8]; 6] =
    [b"path", b"file_path", b"filePath", b"file", b"filename", b"absolute_path"];

#[derive(Debug, Clone)]
pub struct Call {
    tool: Arc<str>,
    access: Option<Access>,
}

/// What a call does with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Reads(FileRead),
    /// The file, as a hash of its path.
    Writes(u64),
}

impl Call {
    fn read(&self) -> Option<FileRead> {
        let Some(Access::Reads(read)) = self.access else { return None };
        Some(read)
    }

    fn written(&self) -> Option<u64> {
        let Some(Access::Writes(file)) = self.access else { return None };
        Some(file)
    }
}

/// Names of tools, each stored once.
#[derive(Debug, Default)]
pub struct Names(HashSet<Arc<str>>);

impl Names {
    /// The tool with that name.
    pub fn of(&mut self, json: Option<&[u8]>) -> Option<Arc<str>> {
        let name = text(json?)?;
        if let Some(known) = self.0.get(name.as_ref()) {
            return Some(Arc::clone(known));
        }
        let kept: Arc<str> = name.into();
        self.0.insert(Arc::clone(&kept));
        Some(kept)
    }
}

/// What a row says about calls, in its order.
#[derive(Debug)]
enum Said {
    /// The call with this id was made.
    Made(u64, Call),
    /// The result of a call is there; not every result says of which one.
    Gave(Option<u64>, Span),
}

/// What a row says about calls. Earlier rows tell which tool a result came from.
#[derive(Debug, Default)]
pub struct Calls {
    /// The call whose result the whole row is.
    row: Option<u64>,
    said: Vec<Said>,
}

impl Calls {
    /// Records that the row is the result of the call with this id.
    pub fn of_row(&mut self, id: Option<&[u8]>) {
        self.row = of(id);
    }

    /// Records calls with these ids, of this tool, with this input.
    pub fn made(&mut self, ids: &[Option<&str>], tool: Option<&Arc<str>>, given: Option<&[u8]>) {
        let Some(tool) = tool else { return };
        let access = given.and_then(|given| access(tool, given));
        for id in ids.iter().flatten() {
            self.said.push(Said::Made(hash(id), Call { tool: Arc::clone(tool), access }));
        }
    }

    /// Records where the result of the call with this id is.
    pub fn gave(&mut self, id: Option<&[u8]>, at: Span) {
        self.said.push(Said::Gave(of(id), at));
    }
}

fn of(id: Option<&[u8]>) -> Option<u64> {
    plain(id?).map(hash)
}

/// The calls made so far.
#[derive(Debug, Default)]
pub struct Tools(HashMap<u64, Call>);

impl Tools {
    /// Fills in which tools the next row's results came from, and what they read or wrote.
    pub fn settle(&mut self, entry: &mut Entry, calls: Calls) {
        let (mut tool, mut read) = (entry.tool.take(), None);
        if let Some(call) = calls.row.and_then(|id| self.0.get(&id)) {
            tool = tool.or_else(|| Some(Arc::clone(&call.tool)));
            read = call.read();
            entry.written.extend(call.written());
        }
        let mut blocks = Vec::new();
        for said in calls.said {
            match said {
                Said::Made(id, call) => {
                    self.0.insert(id, call);
                }
                Said::Gave(id, at) => {
                    let call = id.and_then(|id| self.0.get(&id));
                    let of_call = call.map(|call| &call.tool);
                    for value in entry.values.iter_mut().filter(|value| lies(value.span, at)) {
                        value.tool = of_call.map(Arc::clone);
                        value.read = call.and_then(Call::read);
                    }
                    entry.written.extend(call.and_then(Call::written));
                    tool = tool.or_else(|| of_call.map(Arc::clone));
                    blocks.push(at);
                }
            }
        }
        for value in &mut entry.values {
            let of_row = value.trigger == Trigger::ToolResult;
            if of_row && !blocks.iter().any(|at| lies(value.span, *at)) {
                value.tool = value.tool.take().or_else(|| tool.as_ref().map(Arc::clone));
                value.read = read.filter(|_| !value.copy);
            }
        }
        entry.tool = tool.filter(|_| entry.role != Role::Assistant);
        if entry.error {
            entry.written.clear();
        }
    }
}

/// Whether a value lies in a block.
fn lies(value: Span, block: Span) -> bool {
    block.start <= value.start && value.end <= block.end
}

/// Which file a call reads or writes.
fn access(tool: &str, given: &[u8]) -> Option<Access> {
    let own = tool.rsplit("__").next().unwrap_or(tool).to_ascii_lowercase();
    let writes = WRITERS.contains(&own.as_str());
    if !writes && !READERS.contains(&own.as_str()) {
        return None;
    }
    let mut fields = Vec::new();
    span::fields(given, &mut fields)?;
    let (mut file, mut part) = (None, 0);
    for field in fields {
        let (name, value) = (field.name.slice(given), field.value.slice(given));
        let is_file = file.is_none() && FILE.contains(&name);
        // Equal placeholders may stand for different values.
        if (is_file || !writes) && memmem::find(value, BEGIN).is_some() {
            return None;
        } else if is_file {
            file = plain(value).map(hash);
        } else if value != b"null" {
            // In any order.
            part ^= hash([name, b":", value].concat());
        }
    }
    let file = file?;
    Some(if writes { Access::Writes(file) } else { Access::Reads(FileRead { file, part }) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_of_a_file_and_a_part() {
        let read = |tool, given: &str| match access(tool, given.as_bytes()) {
            Some(Access::Reads(read)) => Some(read),
            _ => None,
        };
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
            ("read", r#"{"path":"/w/a","edits":["[[extracted-a1b2c3d4]]"]}"#),
            ("read", r#"{"path":"[[extracted-a1b2c3d4]]"}"#),
            ("read", r#""{\"path\":\"/w/a\"}""#),
        ] {
            assert_eq!(read(tool, given), None, "{tool} {given}");
        }
    }
}
