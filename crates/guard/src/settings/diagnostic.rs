//! Error messages about settings: where, which key, why, and what to do.

use serde::{Deserialize, Serialize};

use base::shown::group_thousands;

/// The end of a message about a wrong key.
const IGNORED: &str = "; this key is ignored, the other settings apply";

/// The end of a message about a wrong file.
const NO_FILE: &str = "; the file is ignored";

/// Maximum characters of an error that are shown, because it may quote a whole file.
pub(super) const LONGEST: usize = 400;

/// Maximum characters of a key or value that are shown.
const SHORT: usize = 80;

/// One error in a settings layer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Diagnostic {
    /// One line with all fields but `way_out`, and with what applies instead.
    pub message: String,
    /// The file, the environment variable or the plugin option.
    pub source: String,
    /// The line in the file.
    pub line: Option<usize>,
    /// The key, its parts joined by dots. Empty if the error is about the whole file.
    pub key: String,
    /// What is wrong.
    pub why: String,
    /// What to do about it.
    pub way_out: String,
}

/// Where a key was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, the environment variable or the plugin option.
    pub source: String,
    /// The line in the file.
    pub line: Option<usize>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.source)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// Why a key is rejected.
pub(super) struct Why {
    what: String,
    way_out: String,
    /// `what` continues a sentence that begins with the key: `"mode" can be set only in your own settings`.
    of_key: bool,
}

impl Why {
    /// A value of the wrong type.
    pub(super) fn type_(error: &serde_json::Error) -> Self {
        let what = in_words(error);
        let way_out = match suggestion(&what) {
            Some(meant) => meant,
            None if what.starts_with("unknown") => "remove the key".into(),
            None => "set a valid value, or remove the key".into(),
        };
        Self { what, way_out, of_key: false }
    }

    /// An unknown key.
    pub(super) fn unknown(key: &str, known: impl Iterator<Item = &'static str>) -> Self {
        let key = shown(key);
        let known: Vec<_> = known.collect();
        let near = known.iter().map(|name| (distance(&key, name), *name)).min();
        let way_out = meant(near).unwrap_or_else(|| "remove the key".into());
        let what = format!("unknown field `{key}`, expected one of `{}`", known.join("`, `"));
        Self { what, way_out, of_key: false }
    }

    /// A value that breaks a rule.
    pub(super) fn rule(what: String) -> Self {
        Self { what, way_out: "set a valid value, or remove the key".into(), of_key: false }
    }

    /// A value that only the user may set.
    pub(super) fn project(what: &str) -> Self {
        Self {
            what: what.to_owned(),
            way_out: "remove it from the project's file; you can set it in your own settings"
                .into(),
            of_key: true,
        }
    }

    /// Reports an ignored key.
    pub(super) fn left_out(self, place: Place, key: &[String]) -> Diagnostic {
        let parts: Vec<String> = key.iter().map(|part| shown(part)).collect();
        let key = one_line(&parts.join("."), SHORT);
        let (why, colon) = (one_line(&self.what, LONGEST), if self.of_key { "" } else { ":" });
        let message = format!("{place}: \"{key}\"{colon} {why}{IGNORED}");
        let Place { source, line } = place;
        Diagnostic { message, source, line, key, why, way_out: self.way_out }
    }

    /// Reports an ignored variable that the project sets.
    pub(super) fn into_variable_diagnostic(self, by: &Foreign, key: &[String]) -> Diagnostic {
        let Foreign { name, value, file, certain, own } = by;
        let set = one_line(&format!("{name}={value}"), SHORT);
        let why = if self.of_key { "a project may only tighten" } else { self.what.as_str() };
        let why = one_line(why, LONGEST);
        let message = if *certain {
            format!("`{set}` in {file} is ignored: {why}. To apply it, set it in {own}")
        } else {
            format!(
                "`{set}` is ignored: {why}, and {file}, which is not readable JSON, may set it. To apply it, set it in {own}"
            )
        };
        Diagnostic {
            message,
            source: file.clone(),
            line: None,
            key: one_line(&key.join("."), SHORT),
            why,
            way_out: format!("remove {} from {file}, or set it in {own}", one_line(name, SHORT)),
        }
    }
}

/// A part of a key for display. Anything but a plain name is hidden, because the project may have
/// put any text there.
fn shown(part: &str) -> String {
    let is_name = part.chars().all(|c| c.is_alphanumeric() || "-_. *&".contains(c));
    if is_name { one_line(part, SHORT) } else { "…".to_owned() }
}

impl Diagnostic {
    /// The message without what applies instead, for callers that stop until the error is fixed.
    pub fn fault(&self) -> &str {
        let message = self.message.as_str();
        let fault = message.strip_suffix(IGNORED).or_else(|| message.strip_suffix(NO_FILE));
        fault.unwrap_or(message)
    }

    /// A file that is ignored as a whole.
    pub(super) fn file(source: &str, line: usize, at: &str, why: String) -> Self {
        Self {
            message: format!("{source}:{at}: {why}{NO_FILE}"),
            source: source.to_owned(),
            line: Some(line),
            key: String::new(),
            why,
            way_out: "fix the file there".into(),
        }
    }

    /// A file that could not be read.
    pub(super) fn unreadable(source: &str, why: &str) -> Self {
        let why = format!("could not be read ({})", one_line(why, LONGEST));
        Self {
            message: format!("{source}: {why}{NO_FILE}"),
            source: source.to_owned(),
            line: None,
            key: String::new(),
            why,
            way_out: "put a readable settings file there, or remove it".into(),
        }
    }

    /// A project's file with too many keys to check.
    pub(super) fn too_much(source: &str, keys: usize) -> Self {
        let why = format!("the project sets too many keys; {keys} were not checked");
        Self {
            message: format!("{source}: {why}; the other keys apply"),
            source: source.to_owned(),
            line: None,
            key: String::new(),
            why,
            way_out: "remove the keys that the project does not need".into(),
        }
    }

    /// The number of errors that were counted but not reported.
    pub fn more(count: usize) -> Self {
        let way_out = "`brain-guard settings check` lists them".to_owned();
        let why = format!("and {} more", group_thousands(count as u64));
        Self {
            message: format!("{why}; {way_out}"),
            source: String::new(),
            line: None,
            key: String::new(),
            why,
            way_out,
        }
    }
}

/// One line of at most `most` characters, cut in the middle, without control characters.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let plain = |c: char| match c {
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => ' ',
        c if c.is_control() => ' ',
        c => c,
    };
    let letters = text.chars().count();
    if letters <= most {
        return text.chars().map(plain).collect();
    }
    let tail = most / 3;
    let head = text.chars().take(most - tail);
    let tail = text.chars().skip(letters - tail);
    head.chain(['…']).chain(tail).map(plain).collect()
}

/// Suggests the known key or value that is nearest to an unknown one.
fn suggestion(said: &str) -> Option<String> {
    let mut names = said.split('`').skip(1).step_by(2);
    let wrong = names.next().filter(|_| said.starts_with("unknown"))?;
    meant(names.map(|name| (distance(wrong, name), name)).min())
}

/// The suggestion, if the name is near enough.
fn meant(near: Option<(usize, &str)>) -> Option<String> {
    let (letters, name) = near?;
    let near = letters <= 2 && letters < name.len();
    near.then(|| format!("did you mean `{name}`? if not, remove the key"))
}

/// Edit distance: characters to change, add, remove or swap with their neighbor.
fn distance(a: &str, b: &str) -> usize {
    let longer = a.chars().count().abs_diff(b.chars().count());
    // Too far for a suggestion, so the exact distance does not matter.
    if longer > 2 { longer } else { strsim::osa_distance(a, b) }
}

/// A variable that a file of the project sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::settings) struct Foreign {
    pub(in crate::settings) name: String,
    pub(in crate::settings) value: String,
    /// The file that sets it.
    pub(in crate::settings) file: String,
    /// Whether the file is readable, so that it certainly sets the variable.
    pub(in crate::settings) certain: bool,
    /// Path of the user's own client settings.
    pub(in crate::settings) own: String,
}

/// A serde error without Rust's type names and without the position, which the caller names.
pub fn in_words(why: &serde_json::Error) -> String {
    // serde quotes the whole value, which may be as long as its file.
    let said = one_line(&why.to_string(), LONGEST);
    let mut said = said.split(" at line ").next().unwrap_or_default().to_owned();
    for (theirs, ours) in [
        ("expected a sequence", "expected a list"),
        ("expected string or map", "expected a string"),
        ("expected u64", "expected a whole number, 0 or more"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected usize", "expected a whole number, 0 or more"),
        ("expected f64", "expected a number"),
    ] {
        said = said.replace(theirs, ours);
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant() {
        let said =
            |name| format!("unknown field `{name}`, expected one of `mode`, `tiers`, `file`");
        let meant = |name| Some(format!("did you mean `{name}`? if not, remove the key"));
        assert_eq!(suggestion(&said("tires")), meant("tiers"));
        assert_eq!(suggestion(&said("mod")), meant("mode"));
        assert_eq!(suggestion(&said("colour")), None);
        assert_eq!(suggestion("invalid type: string `mod`, expected `mode`"), None);
        assert_eq!((distance("", "abc"), distance("abc", "abc"), distance("ab", "ba")), (3, 0, 1));
    }

    #[test]
    fn a_long_text_keeps_its_ends_and_a_line_has_no_control_characters() {
        assert_eq!(one_line("abcdefghij", 6), "abcd…ij");
        assert_eq!(one_line("a\n\u{1b}[31mb\u{202e}", 20), "a  [31mb ");
        let key = vec!["k".repeat(200_000)];
        let place = Place { source: "/s.json".into(), line: Some(1) };
        let why = Why::unknown(&key[0], ["mode", "tiers"].into_iter());
        let said = why.left_out(place, &key);
        assert!(said.message.len() < 600 && said.key.len() < 100, "{said:?}");
    }
}
