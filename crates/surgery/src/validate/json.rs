//! Checks that a line is JSON.

use serde::de::IgnoredAny;

use super::ledger::Ledger;
use super::rules;

/// Removes the newline; a missing one is a finding.
pub(super) fn row<'a>(bytes: &'a [u8], ledger: &mut Ledger) -> &'a [u8] {
    bytes.strip_suffix(b"\n").unwrap_or_else(|| {
        ledger.add(&rules::LINE, "it has no line break: it was being written, or is cut off");
        bytes
    })
}

/// The row, where it is one JSON object.
pub(super) fn object<'a>(row: &'a [u8], ledger: &mut Ledger) -> Option<&'a [u8]> {
    let text = match std::str::from_utf8(row) {
        Ok(text) => text,
        Err(e) => {
            let at = e.valid_up_to() + 1;
            ledger.add(&rules::JSON, &format!("no UTF-8 at byte {at}"));
            return None;
        }
    };
    if let Err(e) = serde_json::from_str::<IgnoredAny>(text) {
        ledger.add(&rules::JSON, &format!("{} at byte {}", reason(&e), e.column()));
        return None;
    }
    if !text.trim_start().starts_with('{') {
        ledger.add(&rules::JSON, "it is no object");
        return None;
    }
    Some(row)
}

/// Whether a whole line is JSON.
pub(crate) fn valid(line: &[u8]) -> bool {
    str::from_utf8(line).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

/// The fault without its position, which is always line 1 here.
fn reason(e: &serde_json::Error) -> String {
    let text = e.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}
