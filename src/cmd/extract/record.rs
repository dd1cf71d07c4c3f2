//! A debug record of every extraction and every restore (seed 001, "Logging Requirements").
//! What is a list or an object goes in as its JSON, which `cmd::trace` writes as such.

use serde_json::{Map, Value};
use tracing::{Level, debug, enabled};

/// Values of an entry went into the store. `values` are keys and bytes; `session` is
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

/// Values of an entry came back; `redacted`: the call that asked was redacted.
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
