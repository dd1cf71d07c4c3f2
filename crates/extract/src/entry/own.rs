//! What a row says of its entry: whether it may be extracted, and when it was restored.

use chrono::DateTime;

use super::Extractable;
use base::clock::Time;
use sessions::span::text;

/// It is not known what is meant.
pub struct Unclear;

/// What is said by `_extractable`; `null` says nothing.
///
/// # Errors
/// Anything else.
pub fn extractable(json: &[u8]) -> Result<Option<Extractable>, Unclear> {
    Ok(Some(match json {
        b"null" => return Ok(None),
        b"true" => Extractable::Always,
        b"false" => Extractable::Never,
        number => match serde_json::from_slice::<f64>(number) {
            // As other programs write it: 10.0. What is more than there is stays for good.
            Ok(messages) if messages >= 0.0 && messages.fract() == 0.0 => {
                Extractable::After(messages as u32)
            }
            _ => return Err(Unclear),
        },
    }))
}

/// When it was restored, as `_restored` says it.
pub fn restored(json: &[u8]) -> Option<Time> {
    Some(DateTime::parse_from_rfc3339(&text(json)?).ok()?.to_utc())
}
