//! Debug records of extractions and restores (seed 001, "Logging Requirements"). Lists and objects
//! are passed as JSON, and `cmd::trace` writes them as such.

use serde_json::{Map, Value};
use tracing::{Level, debug, enabled};

/// Logs that values of an entry were extracted. `values` are keys and bytes; `session` is
/// `agent/id`.
pub fn extracted(session: &str, entry: &str, values: &[(&str, u64)]) {
    if !enabled!(Level::DEBUG) {
        return;
    }
    let (keys, sizes) = shown(values);
    debug!(
        module = "extraction",
        entry_id = entry,
        keys_extracted = %keys,
        sizes_bytes = %sizes,
        session,
        "extracted"
    );
}

/// Logs that values of an entry were restored; `redacted`: the call that requested it was redacted.
pub fn restored(session: &str, entry: &str, values: &[(&str, u64)], redacted: bool) {
    if !enabled!(Level::DEBUG) {
        return;
    }
    let (keys, sizes) = shown(values);
    debug!(
        module = "extraction",
        entry_id = entry,
        keys_restored = %keys,
        sizes_bytes = %sizes,
        redacted,
        session,
        "restored"
    );
}

/// Keys as a list, and sizes by key.
fn shown(values: &[(&str, u64)]) -> (Value, Value) {
    let keys = values.iter().map(|(key, _)| Value::from(*key)).collect();
    let sizes: Map<String, Value> =
        values.iter().map(|(key, bytes)| ((*key).to_owned(), Value::from(*bytes))).collect();
    (Value::Array(keys), Value::Object(sizes))
}
