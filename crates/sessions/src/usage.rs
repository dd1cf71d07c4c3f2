//! What a response used, as the API counts it.

use serde::Deserialize;

use super::span::Cursor;

/// The API's count for one response, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// New input.
    pub input_tokens: Option<u64>,
    /// Input that was written to the cache.
    pub cache_creation_input_tokens: Option<u64>,
    /// Input that came from the cache.
    pub cache_read_input_tokens: Option<u64>,
    /// The answer.
    pub output_tokens: Option<u64>,
}

impl Usage {
    /// The sum: what the context holds after the response.
    pub fn total(&self) -> u64 {
        [
            self.input_tokens,
            self.cache_creation_input_tokens,
            self.cache_read_input_tokens,
            self.output_tokens,
        ]
        .into_iter()
        .flatten()
        .fold(0, u64::saturating_add)
    }
}

/// The total of a `usage` object; `None` if it is not an object or nothing was used, as in the
/// client's own rows.
pub fn total(json: &[u8]) -> Option<u64> {
    total_at(&mut Cursor::new(json), json)?
}

/// The total, walking over the object at the cursor. The outer `None` means that the JSON does not
/// end.
pub fn total_at(cursor: &mut Cursor, bytes: &[u8]) -> Option<Option<u64>> {
    let mut total = 0u64;
    let mut more = cursor.enter(b'{')?;
    while more {
        let name = cursor.name()?;
        let value = cursor.value()?.slice(bytes);
        if let b"input_tokens"
        | b"cache_creation_input_tokens"
        | b"cache_read_input_tokens"
        | b"output_tokens" = name.slice(bytes)
        {
            let count = str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
            total = total.saturating_add(count.unwrap_or(0));
        }
        more = cursor.more(b'}')?;
    }
    Some(Some(total).filter(|total| *total > 0))
}

/// The total of pi's `usage` object.
pub fn pi_total(json: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Pi {
        #[serde(rename = "totalTokens")]
        total: Option<u64>,
    }
    serde_json::from_slice::<Pi>(json).ok()?.total.filter(|n| *n > 0)
}
