//! One line of the log, formatted for people.

use std::path::Path;

use chrono::Local;
use serde_json::Value;

use base::clock::Time;
use base::plain::{self, is_hidden};

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub at: Time,
    pub kind: String,
    /// The line as it is in the log.
    pub raw: String,
    fields: serde_json::Map<String, Value>,
}

impl Entry {
    /// Parses a line; `None` if it is incomplete.
    pub fn of(line: &str) -> Option<Self> {
        let Value::Object(mut fields) = serde_json::from_str(line).ok()? else { return None };
        let at = fields.remove("at")?.as_str()?.parse().ok()?;
        let kind = fields.remove("kind")?.as_str()?.to_owned();
        Some(Self { at, kind, raw: line.to_owned(), fields })
    }

    /// Whether it names the session.
    pub fn names(&self, session: &str) -> bool {
        ["session", "from", "to"]
            .iter()
            .any(|key| self.fields.get(*key).and_then(Value::as_str) == Some(session))
    }

    /// The token of the boundary it is about.
    pub fn token(&self) -> Option<&str> {
        self.fields.get("token")?.as_str()
    }

    /// The line for people: time, kind, session, and the other fields by name.
    pub fn text(&self, colour: bool) -> String {
        let at = self.at.with_timezone(&Local).format("%m-%d %H:%M:%S");
        let session = self.fields.get("session").and_then(Value::as_str).unwrap_or_default();
        let session: String = session.chars().take(8).collect();
        // Of a denial, the figures say why.
        let by_tier = |key: &str, value: &Value| key == "band" || (key == "why" && value == "tier");
        let rest: Vec<String> = self
            .fields
            .iter()
            .filter(|(key, value)| *key != "session" && !value.is_null() && !by_tier(key, value))
            .map(|(key, value)| format!("{key}={}", shown(value)))
            .collect();
        let kind = format!("{:<14}", plain::line(&self.kind, 40));
        let kind = match colour_of(&self.kind).filter(|_| colour) {
            Some(code) => format!("\x1b[{code}m{kind}\x1b[0m"),
            None => kind,
        };
        format!("{at}  {kind} {session:<8}  {}", rest.join(" ")).trim_end().to_owned()
    }
}

fn colour_of(kind: &str) -> Option<&'static str> {
    match kind {
        "fault" | "carrier-failed" => Some("31"),
        "deny" | "would-deny" | "lifted" | "no-boundary" => Some("33"),
        "override" => Some("35"),
        "delivered" | "acknowledged" | "cleared" | "boundary" => Some("32"),
        _ => None,
    }
}

/// A value on one line. Text from elsewhere may hold anything, even terminal codes.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let clean: String = text
                .chars()
                .flat_map(|c| if is_hidden(c) { c.escape_default().collect() } else { vec![c] })
                .collect();
            if clean.contains(' ') { format!("\"{clean}\"") } else { clean }
        }
        other => other.to_string(),
    }
}

/// The project of a log, by the name of its state folder.
pub fn project_of(log: &Path) -> String {
    let folder = log.parent().and_then(Path::file_name).unwrap_or_default();
    folder.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_short_and_can_not_draw_on_the_terminal() {
        let line = r#"{"at":"2026-01-01T00:00:00Z","kind":"fault","session":"0123456789","what":"state \u001b[2J not read","none":null,"token":"t1"}"#;
        let entry = Entry::of(line).unwrap();
        let text = entry.text(false);
        assert!(
            text.contains("fault          01234567  token=t1 what=\"state \\u{1b}[2J not read\""),
            "{text}"
        );
        assert!(!text.contains('\x1b'));
        assert!(entry.text(true).contains("\x1b[31mfault"));
        assert!(entry.names("0123456789") && !entry.names("t1"));
        assert_eq!(entry.token(), Some("t1"));
        assert_eq!(Entry::of(r#"{"at":"2026"#), None);
    }
}
