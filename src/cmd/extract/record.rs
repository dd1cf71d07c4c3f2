//! Debug records of extractions and restores (seed 001, "Logging Requirements"). With
//! `BRAIN_GUARD_LOG=debug`, each is a JSON object on a line of stderr.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value, json};

use base::clock;
use base::env::Env;

static IS_ON: AtomicBool = AtomicBool::new(false);

/// Turns the records on if the variable asks for them.
pub fn begin(env: &Env) {
    IS_ON.store(env.get("BRAIN_GUARD_LOG").as_deref() == Some("debug"), Ordering::Relaxed);
}

/// Records that values of an entry were extracted. `values` are keys and bytes; `session` is
/// `agent/id`.
pub fn extracted(session: &str, entry: &str, values: &[(&str, u64)]) {
    write(session, entry, "keys_extracted", values, None);
}

/// Records that values of an entry were restored; `redacted`: the call that requested it was
/// redacted.
pub fn restored(session: &str, entry: &str, values: &[(&str, u64)], redacted: bool) {
    write(session, entry, "keys_restored", values, Some(redacted));
}

fn write(session: &str, entry: &str, name: &str, values: &[(&str, u64)], redacted: Option<bool>) {
    if !IS_ON.load(Ordering::Relaxed) {
        return;
    }
    let keys: Vec<&str> = values.iter().map(|(key, _)| *key).collect();
    let sizes: Map<String, Value> =
        values.iter().map(|(key, bytes)| ((*key).to_owned(), (*bytes).into())).collect();
    let mut record = json!({
        "timestamp": clock::now().to_rfc3339(),
        "level": "debug",
        "module": "extraction",
        "entry_id": entry,
        "sizes_bytes": sizes,
        "session": session,
    });
    record[name] = json!(keys);
    if let Some(redacted) = redacted {
        record["redacted"] = redacted.into();
    }
    let _ = writeln!(io::stderr().lock(), "{record}");
}
