//! Whether a session file can be edited: by its location, its permissions, and its first row.

use std::fs::File;
use std::io::BufReader;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::dialect;
use crate::files::{Refused, with_path};
use crate::line::Lines;
use crate::span;

/// Checks that the file at `path`, whose real path is `real`, can be edited.
///
/// # Errors
/// [`Refused::Unsupported`]; I/O errors.
pub fn supported(path: &Path, real: &Path, source: &File) -> Result<(), Refused> {
    let name = path.display();
    let database = |file: &Path| {
        let folder = std::path::absolute(file).ok()?.parent()?.to_owned();
        let there = folder.parent()?.join("agent/openclaw-agent.sqlite");
        (folder.ends_with("sessions") && there.exists()).then_some(there)
    };
    if let Some(database) = database(path).or_else(|| database(real)) {
        return Err(Refused::Unsupported(format!(
            "{name} belongs to an OpenClaw that keeps its sessions in {}, and OpenClaw's doctor stops at such a file. Name the session in the database instead",
            database.display()
        )));
    }
    let mode = source.metadata().map_err(|e| with_path(real, &e))?.mode() & 0o777;
    if mode & 0o222 == 0 {
        return Err(Refused::Unsupported(format!(
            "{name} is read-only (mode {mode:o}), so it was not edited; run `chmod u+w` on it first"
        )));
    }
    let mut lines = Lines::new(BufReader::new(source));
    let mut first = Vec::new();
    while let Some(line) = lines.next().map_err(|e| with_path(real, &e))? {
        // pi skips rows that are not JSON, also before the header.
        if span::fields(line.bytes, &mut Vec::new()).is_some() {
            first = line.bytes.to_vec();
            break;
        }
    }
    let first = first.as_slice();
    if first.is_empty() {
        return Err(Refused::Unsupported(format!("{name} holds no session")));
    }
    let is = |field: &str| span::find(first, field).is_some_and(|id| id.starts_with(b"\""));
    if !dialect::detect(first).has_header() {
        // A file of flat rows has no header.
        if is("__id") || is("id") && !is("uuid") && !is("sessionId") {
            return Ok(());
        }
        return Err(Refused::Unsupported(format!(
            "{name} is not a session of pi or OpenClaw: its first row is not a header"
        )));
    }
    match span::find(first, "version") {
        Some(b"3") if is("id") => Ok(()),
        Some(b"3") => Err(Refused::Unsupported(format!("{name}: its header has no id"))),
        Some(newer) if number(newer).is_some_and(|version| version > 3) => {
            Err(Refused::Unsupported(format!(
                "{name} is a session of version {}; this brain-guard reads versions up to 3. Update brain-guard",
                String::from_utf8_lossy(newer)
            )))
        }
        version => {
            let version = version.map_or("1".into(), String::from_utf8_lossy);
            Err(Refused::Unsupported(format!(
                "{name} is a session of version {version}, not 3: open it once with its client, which converts versions 1 and 2"
            )))
        }
    }
}

fn number(json: &[u8]) -> Option<u64> {
    std::str::from_utf8(json).ok()?.parse().ok()
}
