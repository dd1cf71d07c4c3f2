//! Tool calls of a round: how many of each, on which files, and the most telling one.

use serde::{Deserialize, Serialize};

use super::texts::cut;
use crate::dialect::Call;
use crate::round::Round;
use crate::span::{self, Field};

/// Characters kept of what a call is about.
const WHAT: usize = 40;

/// Input fields that say what a call is about, best first.
const ABOUT: [&str; 9] = [
    "description",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "command",
    "url",
    "query",
    "prompt",
];

/// Tools that hand work on, write files, run commands: the names of both dialects.
const DISPATCH: [&str; 2] = ["Agent", "Task"];
const WRITE: [&str; 6] = ["Write", "Edit", "MultiEdit", "NotebookEdit", "write", "edit"];
const SHELL: [&str; 4] = ["Bash", "PowerShell", "bash", "exec"];
/// Tools whose `path` is where they search.
const LOOK: [&str; 6] = ["Grep", "Glob", "LS", "grep", "find", "ls"];

/// The most telling call of a round.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Key {
    rank: u8,
    name: String,
    what: String,
}

impl Key {
    /// A call's name and what it is about; `fields` are those of its input.
    fn of(call: &Call, fields: &[Field]) -> Self {
        let about = ABOUT.iter().find_map(|name| {
            let text = span::get(call.input, fields, name).and_then(span::text)?;
            let text = if matches!(*name, "file_path" | "notebook_path" | "path") {
                text.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default()
            } else {
                text.as_ref()
            };
            Some(cut(text, WHAT).0).filter(|what| !what.is_empty())
        });
        Self { rank: 0, name: cut(&call.name, WHAT).0, what: about.unwrap_or_default() }
    }

    /// `Name·what`; `None` if there was no call.
    pub fn text(&self) -> Option<String> {
        match (self.name.as_str(), self.what.as_str()) {
            ("", _) => None,
            (name, "") => Some(name.to_owned()),
            (name, what) => Some(format!("{name}·{what}")),
        }
    }
}

/// Adds a call to the round's counts, its files and its key call.
pub fn count(call: &Call, round: &mut Round, key: &mut Key) {
    let name = call.name.as_ref();
    match round.tools.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            round.tools.insert(name.to_owned(), 1);
        }
    }
    let mut fields = Vec::new();
    span::fields(call.input, &mut fields);
    let field = |name| span::get(call.input, &fields, name).and_then(span::text);
    let path = field("path").filter(|_| !LOOK.contains(&name));
    let files = [field("file_path"), field("notebook_path"), path];
    for file in files.into_iter().flatten().filter(|file| !file.is_empty()) {
        if !round.files.contains(file.as_ref()) {
            round.files.insert(file.into_owned());
        }
    }
    let rank = rank(name);
    if rank > key.rank {
        *key = Key { rank, ..Key::of(call, &fields) };
    }
}

/// `Name·what` of a call.
pub fn title(call: &Call) -> String {
    let mut fields = Vec::new();
    span::fields(call.input, &mut fields);
    Key::of(call, &fields).text().unwrap_or_default()
}

fn rank(name: &str) -> u8 {
    match name {
        _ if DISPATCH.contains(&name) => 4,
        _ if WRITE.contains(&name) => 3,
        _ if SHELL.contains(&name) => 2,
        _ => 1,
    }
}
