//! The log in the project's state: one JSON line per decision or fault. It rotates, and a line that
//! cannot be written is dropped.
#![allow(clippy::disallowed_methods, reason = "the log owns its files")]

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::atomic;
use crate::clock::Time;
use crate::lock;

/// Size in bytes at which the log is rotated; one older log is kept.
const ROTATE_AT: u64 = 1024 * 1024;

/// Appends a line with `at`, `kind` and the fields of `details`.
pub fn write(path: &Path, at: Time, kind: &str, details: &Value) {
    let mut line = json!({ "at": at.to_rfc3339(), "kind": kind });
    if let (Value::Object(line), Value::Object(details)) = (&mut line, details) {
        line.extend(details.clone());
    }
    if is_long(path) {
        rotate(path);
    }
    let mut bytes = line.to_string().into_bytes();
    bytes.push(b'\n');
    if atomic::append(path, &bytes).is_err()
        && let Some(dir) = path.parent()
        && atomic::create_private_dir(dir).is_ok()
    {
        let _ = atomic::append(path, &bytes);
    }
}

fn is_long(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.len() > ROTATE_AT)
}

/// Moves the log aside. The lock stops a second process, whose few new lines would replace all the
/// older ones.
fn rotate(path: &Path) {
    let Ok(_held) = lock::acquire(&path.with_extension("lock"), Duration::ZERO) else { return };
    if is_long(path) {
        let _ = std::fs::rename(path, path.with_extension("1.jsonl"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_json_and_the_log_is_rotated() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/log.jsonl");
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        write(&path, at, "deny", &json!({"tool": "Read"}));
        let line: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!((line["kind"].as_str(), line["tool"].as_str()), (Some("deny"), Some("Read")));
        std::fs::write(&path, vec![b' '; ROTATE_AT as usize + 1]).unwrap();
        write(&path, at, "x", &json!({}));
        assert!(path.metadata().unwrap().len() < 100);
        assert!(path.with_extension("1.jsonl").exists());
    }
}
