//! Reads a settings file, and says where and why one cannot be used.

use std::fmt;

use serde::Serialize;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};

/// A settings file that does not take effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The file.
    pub path: String,
    /// Line and column in it, if the file could be read.
    pub at: Option<(usize, usize)>,
    /// The key, its parts joined by dots. Empty if the error is about the whole file.
    pub key: String,
    /// What is wrong.
    pub why: String,
    /// What to do about it.
    pub way_out: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some((line, column)) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.why)
    }
}

/// Maximum characters of an error or a key that are shown, because it may quote a whole file.
const SHOWN: usize = 300;

impl Fault {
    /// A file that could not be read.
    pub fn unreadable(path: &str, why: &std::io::Error) -> Self {
        Self {
            path: path.to_owned(),
            at: None,
            key: String::new(),
            why: format!("could not be read ({})", one_line(&why.to_string())),
            way_out: "put a readable settings file there, or remove it".into(),
        }
    }

    /// A value that breaks a rule: the key's path in `text`, and what its value must be.
    pub(super) fn rule(path: &str, text: &str, key: &[String], why: &str) -> Self {
        Self {
            path: path.to_owned(),
            at: Some(locate(text, key)),
            key: one_line(&key.join(".")),
            why: one_line(why),
            way_out: "set a valid value, or remove the key".into(),
        }
    }

    fn json(path: &str, text: &str, error: serde_path_to_error::Error<serde_json::Error>) -> Self {
        let mut key = error.path().to_string();
        let error = error.into_inner();
        let mut why = in_words(&error);
        let way_out = if error.is_data() {
            suggestion(&why).unwrap_or_else(|| "set a valid value, or remove the key".into())
        } else {
            let hint = if text.contains("//") { "; JSON has no comments" } else { "" };
            (key, why) = (String::new(), format!("not JSON ({why}{hint})"));
            "fix the file there".into()
        };
        let key = if key == "." { String::new() } else { one_line(&key) };
        let at = Some((error.line(), error.column()));
        Self { path: path.to_owned(), at, key, why, way_out }
    }
}

/// Reads the text of a settings file. An empty file sets nothing.
///
/// # Errors
/// The first fault in the file.
pub fn parse<T: DeserializeOwned + Default>(path: &str, text: &str) -> Result<T, Fault> {
    let text = without_mark(text);
    if text.trim().is_empty() {
        return Ok(T::default());
    }
    serde_json::from_str(text).or_else(|_| {
        // The path to the fault costs time, so it is sought only where there is a fault.
        let mut json = serde_json::Deserializer::from_str(text);
        let read = serde_path_to_error::deserialize(&mut json);
        let read = read.map_err(|e| Fault::json(path, text, e))?;
        // What follows the object is no part of a value, so it has no path.
        json.end().map(|()| read).map_err(|e| Fault {
            path: path.to_owned(),
            at: Some((e.line(), e.column())),
            key: String::new(),
            why: format!("not JSON ({})", in_words(&e)),
            way_out: "fix the file there".into(),
        })
    })
}

/// A file's text without a byte order mark, which some editors write.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Line and column of the deepest part of `path` that the text has.
fn locate(text: &str, path: &[String]) -> (usize, usize) {
    let mut json = serde_json::Deserializer::from_str(without_mark(text));
    match At(path).deserialize(&mut json) {
        Err(e) => (e.line(), e.column()),
        Ok(()) => (1, 1),
    }
}

/// Fails at the end of the path. The parser adds the position to the error.
struct At<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        if self.0.is_empty() { Err(D::Error::custom("here")) } else { from.deserialize_any(self) }
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if self.0.first() == Some(&key) {
                map.next_value_seed(At(&self.0[1..]))?;
            } else {
                map.next_value::<serde::de::IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// One line of at most [`SHOWN`] characters, without control characters.
fn one_line(text: &str) -> String {
    base::plain::line(text, SHOWN)
}

/// A serde error without Rust's type names and without the position.
fn in_words(why: &serde_json::Error) -> String {
    let said = one_line(&why.to_string());
    let mut said = said.split(" at line ").next().unwrap_or_default().to_owned();
    for (theirs, ours) in [
        ("unknown field", "unknown key"),
        ("unknown variant", "unknown value"),
        ("duplicate field", "the key is there twice:"),
        ("expected a sequence", "expected a list"),
        ("expected string or map", "expected a string"),
        ("expected u64", "expected a whole number, 0 or more"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected usize", "expected a whole number, 0 or more"),
        ("expected f64", "expected a number"),
    ] {
        said = said.replace(theirs, ours);
    }
    match said.split_once("expected struct ") {
        Some((said, _)) => format!("{said}expected an object"),
        None => said,
    }
}

/// Suggests the known key or value that is nearest to an unknown one.
fn suggestion(said: &str) -> Option<String> {
    let mut names = said.split('`').skip(1).step_by(2);
    let wrong = names.next().filter(|_| said.starts_with("unknown"))?;
    let near = names.map(|name| (strsim::osa_distance(wrong, name), name)).min();
    let near = near.filter(|(letters, name)| *letters <= 2 && *letters < name.len());
    Some(match near {
        Some((_, name)) => format!("did you mean `{name}`? if not, remove the key"),
        None => "remove the key".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn fault(text: &str) -> Fault {
        parse::<Settings>("/s.json", text).unwrap_err()
    }

    #[test]
    fn a_fault_names_file_line_column_key_and_what_would_be_right() {
        let said = fault("{\n \"file\": {\n  \"words\": \"many\"\n }\n}");
        assert_eq!(
            said.to_string(),
            "/s.json:3:17: file.words: invalid type: string \"many\", expected a whole number, 0 or more"
        );
        let said = fault("{\"tiers\": {\"narrow\": 60}}");
        assert_eq!(said.why, "invalid type: integer `60`, expected an object");
        let said = fault("{\"tires\": {}}");
        assert_eq!((said.at, said.key.as_str()), (Some((1, 8)), "tires"));
        assert!(said.why.starts_with("unknown key `tires`, expected one of `$schema`, `mode`"));
        assert_eq!(said.way_out, "did you mean `tiers`? if not, remove the key");
        assert_eq!(fault("{\"profile\": \"colour\"}").way_out, "remove the key");
        let said = fault("{\"mode\": \"on\"\n// why\n}");
        assert_eq!((said.at.map(|at| at.0), said.key.as_str()), (Some(2), ""));
        assert!(said.why.ends_with("; JSON has no comments)"), "{said}");
        assert!(fault("{} 7").why.starts_with("not JSON"), "{:?}", fault("{} 7"));
        assert!(fault(&format!("{{\"{}\": 1}}", "k".repeat(100_000))).to_string().len() < 800);
    }

    #[test]
    fn an_empty_file_and_a_byte_order_mark_are_fine() {
        for text in ["", " \n", "\u{feff}", "{}", "\u{feff}{}"] {
            assert_eq!(parse::<Settings>("/s.json", text), Ok(Settings::default()), "{text:?}");
        }
        assert!(parse::<Settings>("/s.json", "{\"$schema\": \"x\"}").is_ok());
    }

    #[test]
    fn a_broken_rule_is_located() {
        let at = |key: &[&str]| {
            let text =
                "{\n \"a\": [1, {\"b\": 2}],\n \"c\": {\n  \"x\\\"y\": 1,\n  \"b\": \"}\"\n }\n}\n";
            locate(text, &key.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>()).0
        };
        assert_eq!((at(&["c", "b"]), at(&["c", "x\"y"]), at(&["c"])), (5, 4, 3));
        assert_eq!(at(&["missing"]), 1);
    }
}
