//! What a row says about its entry: whether it may be extracted, and when it was restored.

use chrono::DateTime;

use super::Extractable;
use base::clock::Time;
use sessions::span::text;

/// A value with an unknown meaning.
pub struct Unclear;

/// The value of `_extractable`; `null` says nothing.
///
/// # Errors
/// Any other value.
pub fn extractable(json: &[u8]) -> Result<Option<Extractable>, Unclear> {
    Ok(Some(match json {
        b"null" => return Ok(None),
        b"true" => Extractable::Always,
        b"false" => Extractable::Never,
        number => match serde_json::from_slice::<f64>(number) {
            // Other programs write 10.0. With more messages than the session has, the entry stays
            // for good.
            Ok(messages) if messages >= 0.0 && messages.fract() == 0.0 => {
                Extractable::After(messages as u32)
            }
            _ => return Err(Unclear),
        },
    }))
}

/// When it was restored, from `_restored`.
pub fn restored(json: &[u8]) -> Option<Time> {
    Some(DateTime::parse_from_rfc3339(&text(json)?).ok()?.to_utc())
}
