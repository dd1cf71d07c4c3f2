//! What the guard has added to a context, and what part of it that is.

use std::fmt;

use serde_json::{Value, json};

use base::shown::grouped;
use guard::files::journal::{Added, Sum};

/// What was added, and what it is measured by.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// The sums.
    pub added: Added,
    /// Bytes that a token takes in this session, as measured, or a default.
    pub bytes_per_token: f64,
    /// Tokens that count as full, where they are known.
    pub limit: Option<u64>,
}

impl Share {
    /// Tokens of everything but the deliveries.
    pub fn tokens(&self) -> u64 {
        self.added.tokens(self.bytes_per_token)
    }

    /// Percent of the tokens that count as full.
    pub fn percent(&self) -> Option<f64> {
        self.limit.map(|limit| self.tokens() as f64 * 100.0 / limit.max(1) as f64)
    }

    /// As `status --json` has it.
    pub fn json(&self) -> Value {
        let Added { notes, denials, partial, stops, delivered } = self.added;
        json!({
            "tokens": self.tokens(), "bytes": self.added.bytes(), "percent": self.percent(),
            "bytes_per_token": self.bytes_per_token,
            "notes": notes, "denials": denials, "partial": partial, "stops": stops,
            "delivered": delivered,
        })
    }
}

/// `9 notes`, `1 note`.
fn counted(sum: Sum, one: &str, many: &str) -> Option<String> {
    let name = if sum.count == 1 { one } else { many };
    (sum.count > 0).then(|| format!("{} {name}", grouped(sum.count)))
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
            write!(f, "{} tokens in {}", grouped(self.tokens()), parts.join(", "))?;
            if let Some(percent) = self.percent() {
                write!(f, " ({percent:.2} %)")?;
            }
        }
        if delivered.count > 0 {
            let tokens = (delivered.bytes as f64 / self.bytes_per_token.max(1.0)).ceil() as u64;
            write!(f, "; {} of the delivered file", grouped(tokens))?;
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
