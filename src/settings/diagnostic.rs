//! What is wrong in a layer: where, which key, why, and the way out.

use super::locate::in_words;

/// What holds in the place of a key that is wrong.
const IGNORED: &str = "; ignored, the rest stands";

/// What holds in the place of a file that is wrong.
const NO_FILE: &str = "; the file is ignored";

/// What is wrong in a layer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Diagnostic {
    /// All of it but the way out, in one line: place, key, what is wrong, what holds instead.
    pub message: String,
    /// The file, the environment variable or the plugin option.
    pub source: String,
    /// The line in the file.
    pub line: Option<usize>,
    /// The key, its parts joined by dots; empty where the whole file is meant.
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

/// Why a key may not hold.
pub(super) struct Why {
    what: String,
    way_out: String,
    /// Said of the key in a sentence with it: `"mode" is the user's to set`.
    of_key: bool,
}

impl Why {
    /// A value that the types don't take.
    pub(super) fn type_(error: &serde_json::Error) -> Self {
        let what = in_words(error);
        let way_out = match suggestion(&what) {
            Some(meant) => format!("did you mean `{meant}`? if not, take it out"),
            None if what.starts_with("unknown") => "take it out".into(),
            None => "give it such a value, or take it out".into(),
        };
        Self { what, way_out, of_key: false }
    }

    /// A value that the rules don't take.
    pub(super) fn rule(what: String) -> Self {
        Self { what, way_out: "give it such a value, or take it out".into(), of_key: false }
    }

    /// A value that only the user may give.
    pub(super) fn project(what: &str) -> Self {
        Self {
            what: what.to_owned(),
            way_out: "take it out of the project's file; your own settings may say so".into(),
            of_key: true,
        }
    }

    /// This key was left out.
    pub(super) fn left_out(self, place: Place, key: &[String]) -> Diagnostic {
        let (key, colon) = (key.join("."), if self.of_key { "" } else { ":" });
        let message = format!("{place}: \"{key}\"{colon} {}{IGNORED}", self.what);
        let Place { source, line } = place;
        Diagnostic { message, source, line, key, why: self.what, way_out: self.way_out }
    }
}

impl Diagnostic {
    /// Place, key and what is wrong, for who does nothing until it is mended.
    pub fn fault(&self) -> &str {
        let message = self.message.as_str();
        let fault = message.strip_suffix(IGNORED).or_else(|| message.strip_suffix(NO_FILE));
        fault.unwrap_or(message)
    }

    /// A file of which nothing could be used.
    pub(super) fn file(source: &str, line: usize, at: &str, why: String) -> Self {
        Self {
            message: format!("{source}:{at}: {why}{NO_FILE}"),
            source: source.to_owned(),
            line: Some(line),
            key: String::new(),
            why,
            way_out: "mend the file there".into(),
        }
    }
}

/// The known key or value that an unknown one was meant to be.
fn suggestion(said: &str) -> Option<String> {
    let mut names = said.split('`').skip(1).step_by(2);
    let wrong = names.next().filter(|_| said.starts_with("unknown"))?;
    let near = names.map(|name| (distance(wrong, name), name)).min()?;
    (near.0 <= 2 && near.0 < near.1.len()).then(|| near.1.to_owned())
}

/// Letters to change, add, take out or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j - 1] + same).min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant() {
        let said =
            |name| format!("unknown field `{name}`, expected one of `mode`, `tiers`, `file`");
        assert_eq!(suggestion(&said("tires")).as_deref(), Some("tiers"));
        assert_eq!(suggestion(&said("mod")).as_deref(), Some("mode"));
        assert_eq!(suggestion(&said("colour")), None);
        assert_eq!(suggestion("invalid type: string `mod`, expected `mode`"), None);
        assert_eq!((distance("", "abc"), distance("abc", "abc"), distance("ab", "ba")), (3, 0, 1));
    }
}
