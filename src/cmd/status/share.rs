//! What the guard has added to a context, and its share of the limit.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use base::shown::group_thousands;
use guard::journal::{Added, Sum};

/// The added text, and the figures to measure it by.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    pub added: Added,
    /// Bytes per token in this session: measured, or a default.
    pub bytes_per_token: f64,
    /// Tokens that count as full, if known.
    pub limit: Option<u64>,
}

impl Share {
    /// Tokens of all additions except the deliveries.
    pub fn tokens(&self) -> u64 {
        self.added.tokens(self.bytes_per_token)
    }

    /// Percent of the limit.
    pub fn percent(&self) -> Option<f64> {
        self.limit.map(|limit| self.tokens() as f64 * 100.0 / limit.max(1) as f64)
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Added { notes, denials, partial, stops, delivered } = self.added;
        let mut fields = serializer.serialize_struct("Share", 9)?;
        fields.serialize_field("tokens", &self.tokens())?;
        fields.serialize_field("bytes", &self.added.bytes())?;
        fields.serialize_field("percent", &self.percent())?;
        fields.serialize_field("bytes_per_token", &self.bytes_per_token)?;
        fields.serialize_field("notes", &notes)?;
        fields.serialize_field("denials", &denials)?;
        fields.serialize_field("partial", &partial)?;
        fields.serialize_field("stops", &stops)?;
        fields.serialize_field("delivered", &delivered)?;
        fields.end()
    }
}

/// `9 notes`, `1 note`.
fn counted(sum: Sum, one: &str, many: &str) -> Option<String> {
    let name = if sum.count == 1 { one } else { many };
    (sum.count > 0).then(|| format!("{} {name}", group_thousands(sum.count)))
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Added { notes, denials, partial, stops, delivered } = self.added;
        let parts: Vec<String> = [
            counted(notes, "note", "notes"),
            counted(denials, "denial", "denials"),
            counted(partial, "line about a cut", "lines about cuts"),
            counted(stops, "refused turn's end", "refused turn's ends"),
        ]
        .into_iter()
        .flatten()
        .collect();
        if parts.is_empty() {
            f.write_str("nothing to the context yet")?;
        } else {
            write!(f, "{} tokens in {}", group_thousands(self.tokens()), parts.join(", "))?;
            if let Some(percent) = self.percent() {
                write!(f, " ({percent:.2} %)")?;
            }
        }
        if delivered.count > 0 {
            let tokens = (delivered.bytes as f64 / self.bytes_per_token.max(1.0)).ceil() as u64;
            write!(f, "; {} of the delivered file", group_thousands(tokens))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_words() {
        let sum = |count, bytes| Sum { count, bytes };
        let added = Added {
            notes: sum(9, 1_100),
            denials: sum(1, 400),
            delivered: sum(1, 9_000),
            ..Added::default()
        };
        let share = Share { added, bytes_per_token: 3.75, limit: Some(967_000) };
        assert_eq!(
            share.to_string(),
            "400 tokens in 9 notes, 1 denial (0.04 %); 2,400 of the delivered file"
        );
        let nothing = Share { added: Added::default(), bytes_per_token: 0.0, limit: None };
        assert_eq!(nothing.to_string(), "nothing to the context yet");
    }
}
