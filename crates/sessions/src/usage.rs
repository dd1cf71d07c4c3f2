//! What a response used, by the API's own count.

use serde::Deserialize;

use super::span::Cursor;

/// The API's count of one response, in tokens. A count that is missing is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// New input.
    pub input_tokens: Option<u64>,
    /// Input that was written to the cache.
    pub cache_creation_input_tokens: Option<u64>,
    /// Input that came from the cache.
    pub cache_read_input_tokens: Option<u64>,
    /// What was answered.
    pub output_tokens: Option<u64>,
}

impl Usage {
    /// All of it: what the context holds behind the response.
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

/// The total of a `usage` object; `None` where it is none, or says nothing was used, as the
/// client's own rows do.
pub fn total(json: &[u8]) -> Option<u64> {
    walk(&mut Cursor::new(json), json)?
}

/// The same on the way through `bytes`: walks over the object. The outer `None` is JSON that
/// doesn't end.
pub fn walk(cursor: &mut Cursor, bytes: &[u8]) -> Option<Option<u64>> {
    let mut total = 0u64;
    let mut more = cursor.enter(b'{')?;
    while more {
        let name = cursor.name()?;
        let value = cursor.value()?.of(bytes);
        if let b"input_tokens"
        | b"cache_creation_input_tokens"
        | b"cache_read_input_tokens"
        | b"output_tokens" = name.of(bytes)
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
