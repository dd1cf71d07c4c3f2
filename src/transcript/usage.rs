//! What a response used, by the API's own count.

use serde::Deserialize;

/// The API's count of one response, in tokens. A count that is missing is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "the names are the API's")]
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
    serde_json::from_slice::<Usage>(json).ok().map(|u| u.total()).filter(|n| *n > 0)
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
