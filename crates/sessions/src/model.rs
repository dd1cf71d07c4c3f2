//! What depends on the model, by its name.

/// The name in rows that the client wrote in the agent's place.
pub const SYNTHETIC: &str = "<synthetic>";

/// Price of a cache read, in thousandths of plain input, where nothing else is known.
pub const READ: u16 = 100;

/// The price of a cache read, in thousandths of plain input (price list of Anthropic's API, November
/// 2026).
pub fn read_price(model: &str) -> u16 {
    match claude_version(model) {
        Some(version) if version > (5, 0) && model.contains("fable") => 25,
        Some(version) if version >= (5, 5) && !model.contains("haiku") => 50,
        _ => READ,
    }
}

/// Whether a model refuses thinking behind a change. From Claude Fable 5.1 on, the API takes a
/// thinking block only if nothing before it changed since it was made ("Preserved thinking" in the
/// documentation of Anthropic's API, November 2026); without the block, the request is valid.
pub fn refuses_changed_thinking(model: &str) -> bool {
    claude_version(model).is_some_and(|version| version > (5, 0))
}

/// The version of a Claude; the highest if its name has none.
fn claude_version(model: &str) -> Option<(u32, u32)> {
    let at = model.find("claude-")?;
    let mut parts = model[at + "claude-".len()..].split(['-', '.', '@', '[', ':']);
    // Older names begin with the version: `claude-3-7-sonnet`.
    let version = |part: Option<&str>| part.and_then(|part| part.parse::<u32>().ok());
    let first = parts.next();
    let major = version(first).or_else(|| version(parts.next()));
    // A date is no minor version.
    let minor = version(parts.next()).filter(|minor| *minor < 100).unwrap_or_default();
    Some(major.map_or((u32::MAX, 0), |major| (major, minor)))
}

#[cfg(test)]
mod tests {
    use super::{read_price, refuses_changed_thinking};

    #[test]
    fn newer_models_refuse_it() {
        for model in [
            "claude-fable-5-1",
            "claude-fable-5-2-20261101",
            "claude-opus-5-5[1m]",
            "us.anthropic.claude-sonnet-5-5-v1:0",
            "claude-haiku-6",
            "claude-next",
        ] {
            assert!(refuses_changed_thinking(model), "{model}");
        }
        for model in [
            "claude-3-7-sonnet-20250219",
            "claude-opus-4-8",
            "anthropic/claude-opus-4.8",
            "claude-sonnet-4-20250514",
            "claude-opus-5",
            "claude-opus-5-20260724",
            "claude-sonnet-5[1m]",
            "claude-sonnet-4-5@20250929",
            "gpt-6",
        ] {
            assert!(!refuses_changed_thinking(model), "{model}");
        }
    }

    #[test]
    fn newer_models_ask_less_for_a_cache_read() {
        for (model, price) in [
            ("claude-fable-5-1", 25),
            ("claude-fable-5-2-20261101", 25),
            ("claude-fable-5", 100),
            ("claude-opus-5-5[1m]", 50),
            ("us.anthropic.claude-sonnet-5-5-v1:0", 50),
            ("claude-haiku-5-5", 100),
            ("claude-opus-5", 100),
            ("gpt-6", 100),
        ] {
            assert_eq!(read_price(model), price, "{model}");
        }
    }
}
