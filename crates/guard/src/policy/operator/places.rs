//! Which paths only the operator may change.

use std::borrow::Cow;
use std::iter::successors;

use percent_encoding::percent_decode_str;

/// Paths that only the operator may change, absolute and resolved.
#[derive(Debug, Clone, Default)]
pub struct Guarded {
    /// The user's home folder, for `~` and `$HOME`.
    pub home: Option<String>,
    /// The folder that holds the state of every project.
    pub states: String,
    /// The user's settings file and template folder, which no tool of the agent may write.
    pub kept: Vec<String>,
    /// The program, its plugin folder and its link. A command may name these, but not change them.
    pub program: Vec<String>,
}

/// Parts of a project's state that no tool of the agent may write. Saved outputs, jobs and
/// sealed versions belong to the agent.
const OPERATORS: [&str; 9] = [
    "sessions",
    "boundary",
    "snapshots",
    "claims",
    "commits",
    "merged",
    "own",
    "log.jsonl",
    "log.1.jsonl",
];

const PROJECT_SETTINGS: &str = ".brain-guard/settings.json";

/// Normalizes a path, or all paths in a text. Expands the home folder, turns a `file:` URL into a
/// path, and removes doubled slashes, `.`, `..` and `/proc/<pid>/root`. Links are not resolved.
pub fn plain(text: &str, home: Option<&str>) -> String {
    let mut text = Cow::Borrowed(text);
    if text.contains("file:/") {
        let path = text.replace("file://localhost/", "/").replace("file://", "");
        let path = path.replace("file:/", "/");
        text = percent_decode_str(&path).decode_utf8_lossy().into_owned().into();
    }
    if let Some(home) = home.filter(|_| text.contains(['~', '$'])) {
        text = with_home(&text, home).into();
    }
    let text = collapsed(&text);
    // A process root may contain another one.
    successors(Some(text.as_str()), |path| outside_proc(path)).last().unwrap_or(&text).to_owned()
}

fn with_home(text: &str, home: &str) -> String {
    if text == "~" {
        return home.to_owned();
    }
    let text = text.replace("${HOME}", home).replace("$HOME", home);
    let mut plain = String::with_capacity(text.len());
    let mut copied = 0;
    for (at, _) in text.match_indices("~/") {
        let inside = |c: char| c.is_alphanumeric() || "/._-~".contains(c);
        if !text[..at].ends_with(inside) {
            plain.push_str(&text[copied..at]);
            plain.push_str(home);
            copied = at + 1;
        }
    }
    plain.push_str(&text[copied..]);
    plain
}

fn collapsed(text: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        // A part with a space or a quote belongs to the text around the path.
        let name = |p: &&str| !p.contains([' ', '\n', '\t', '"', '\'']) && !["", ".."].contains(p);
        match part {
            "" | "." if !parts.is_empty() => {}
            ".." if parts == [""] => {}
            ".." if parts.last().is_some_and(name) => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    if parts == [""] { text.get(..1).unwrap_or_default().to_owned() } else { parts.join("/") }
}

/// The path inside `/proc/<pid>/root`, if it is one.
fn outside_proc(path: &str) -> Option<&str> {
    let (_, rest) = path.strip_prefix("/proc/")?.split_once('/')?;
    let task = rest.strip_prefix("task/").and_then(|rest| rest.split_once('/'));
    let outside = strip_folder(task.map_or(rest, |(_, rest)| rest), "root")?;
    Some(if outside.is_empty() { "/" } else { outside })
}

/// All methods but `normalize` expect normalized paths, or a text with such paths.
impl Guarded {
    /// A path or text with its paths normalized.
    pub fn plain(&self, text: &str) -> String {
        plain(text, self.home.as_deref())
    }

    /// Whether a path belongs to the settings, or to the operator's part of the state.
    pub fn is_guarded(&self, path: &str) -> bool {
        self.kept.iter().any(|k| strip_folder(path, k).is_some())
            || self.state_part(path).is_some_and(|part| part == Part::Operators)
            || path.ends_with(&format!("/{PROJECT_SETTINGS}"))
    }

    /// Whether a path is the program, or inside the folder that the client runs it from.
    pub fn is_program(&self, path: &str) -> bool {
        self.program.iter().any(|p| strip_folder(path, p).is_some())
    }

    /// Whether code contains a path of the program.
    pub fn names_program(&self, code: &str) -> bool {
        self.program.iter().any(|p| code.contains(p.as_str()))
    }

    /// Whether a path or a piece of code names settings or state. With `projects`, the project's
    /// settings count, too.
    pub fn mentioned(&self, text: &str, projects: bool) -> bool {
        let quote = |c| matches!(c, '"' | '\'' | '\\');
        let text: Cow<str> =
            if text.contains(quote) { text.replace(quote, "").into() } else { text.into() };
        (projects && (text.contains(PROJECT_SETTINGS) || globs_settings(&text)))
            || self.kept.iter().any(|k| text.contains(self.tail(k)))
            || self.mentions_state(&text)
    }

    fn mentions_state(&self, text: &str) -> bool {
        let states = self.tail(&self.states);
        let ends = |c: char| c.is_whitespace() || "();,|&:".contains(c);
        !states.is_empty()
            && text.match_indices(states).any(|(at, _)| {
                // Two parts decide, and each has at most 255 bytes.
                let inside = &text[at + states.len()..];
                let end = inside.char_indices().take(600).find(|(_, c)| ends(*c));
                let inside = end.map_or(inside, |(end, _)| &inside[..end]);
                (inside.is_empty() || inside.starts_with('/')) && part(inside) != Part::Agents
            })
    }

    /// A path relative to the home folder, because code may spell the home folder in many ways.
    fn tail<'a>(&self, path: &'a str) -> &'a str {
        let home = self.home.as_deref().filter(|home| home.len() > 1);
        home.and_then(|home| strip_folder(path, home))
            .map_or(path, |tail| tail.trim_start_matches('/'))
    }

    /// Whether a path is a folder that directly contains our files.
    pub fn encloses(&self, path: &str) -> bool {
        let holds = |file: &String| file.rsplit_once('/').is_some_and(|(folder, _)| folder == path);
        self.is_state(path) || self.kept.iter().any(holds)
    }

    /// Whether removing or renaming this path would affect our files: it may be any folder above.
    pub fn takes_along(&self, path: &str) -> bool {
        let mut ours = self.kept.iter().chain(&self.program).chain([&self.states]);
        self.is_state(path)
            || path.rsplit('/').next() == Some(".brain-guard")
            || (path.starts_with('/') && ours.any(|o| leads(path, o)))
    }

    /// Whether relative paths from this folder may be ours.
    pub fn is_near(&self, folder: &str) -> bool {
        self.takes_along(folder) || self.is_guarded(folder) || self.is_program(folder)
    }

    /// Whether a path is a state folder, or a part of it that does not belong to the agent.
    pub fn is_state(&self, path: &str) -> bool {
        self.state_part(path).is_some_and(|part| part != Part::Agents)
    }

    fn state_part(&self, path: &str) -> Option<Part> {
        strip_folder(path, &self.states).filter(|_| !self.states.is_empty()).map(part)
    }
}

/// `.brain-guard/sett*`
fn globs_settings(text: &str) -> bool {
    text.match_indices(".brain-guard/").any(|(at, name)| {
        let last = text[at + name.len()..].split([' ', '/']).next().unwrap_or_default();
        let all = last.chars().all(|c| c == '*');
        last.contains(GLOB) && !all && matches(last, "settings.json")
    })
}

const GLOB: [char; 4] = ['*', '?', '[', '{'];

/// Whether one part of a path, with or without globs, may match this name.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, behind)) = pattern.split_once(GLOB) else { return pattern == name };
    let last = behind.rsplit(['*', '?', ']', '}']).next().unwrap_or_default();
    // A glob at the start does not match hidden files.
    (!first.is_empty() || !name.starts_with('.')) && name.starts_with(first) && name.ends_with(last)
}

/// Whether a path, with or without globs, may match `path` or a folder above it.
fn leads(pattern: &str, path: &str) -> bool {
    let mut names = path.split('/');
    let pattern = if pattern == "/" { "" } else { pattern };
    pattern.split('/').all(|part| names.next().is_some_and(|name| matches(part, name)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The whole state of one project, or of all.
    Whole,
    /// Written by the hooks only.
    Operators,
    /// The agent may write it.
    Agents,
}

/// Classifies a path relative to the state folder.
fn part(inside: &str) -> Part {
    let mut parts = inside.split('/').filter(|p| !p.is_empty());
    let first = parts.next();
    // Claims of commits are shared by all projects.
    if first == Some("commits") {
        return Part::Operators;
    }
    let Some(part) = parts.next() else { return Part::Whole };
    if part.contains(GLOB) || OPERATORS.contains(&part) { Part::Operators } else { Part::Agents }
}

/// The path relative to a folder, with its leading slash. Empty for the folder itself.
fn strip_folder<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_plain_name() {
        for (text, expected) in [
            ("/a/b", "/a/b"),
            ("/a//./b/../c/", "/a/c"),
            ("/", "/"),
            ("/../a", "/a"),
            ("a/../../b", "../b"),
            ("~", "/home/u"),
            ("~/a", "/home/u/a"),
            ("a~/b", "a~/b"),
            ("$HOME/a", "/home/u/a"),
            ("${HOME}", "/home/u"),
            ("open('~/a')", "open('/home/u/a')"),
            ("--file=~/a", "--file=/home/u/a"),
            ("/proc/self/root/a", "/a"),
            ("/proc/1/root/proc/2/task/3/root/a", "/a"),
            ("/proc/1/root", "/"),
            ("/proc/1/rooted", "/proc/1/rooted"),
            ("file:///a/b%2Dc%20d", "/a/b-c d"),
            ("file://localhost/%61", "/a"),
            ("/a/b%2Dc", "/a/b%2Dc"),
            ("file:///a%", "/a%"),
            ("one two/../three", "one two/../three"),
        ] {
            assert_eq!(plain(text, Some("/home/u")), expected, "{text}");
        }
    }

    #[test]
    fn a_folder_above_leads_to_what_is_inside() {
        for pattern in ["/", "/a", "/a/.b", "/a/.b/c", "/*/.?/c", "/a/.*", "/a/.b/[a-c]*"] {
            assert!(leads(pattern, "/a/.b/c"), "{pattern}");
        }
        for pattern in ["/b", "/a/*", "/a/.b/*.x", "/a/.b/c/d", "a", "/a/.b/cc"] {
            assert!(!leads(pattern, "/a/.b/c"), "{pattern}");
        }
    }
}
