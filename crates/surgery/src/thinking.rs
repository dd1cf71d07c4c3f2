//! Which models refuse the thinking behind a change. From Claude Fable 5.1 on, the API takes a
//! thinking block only if nothing before it changed since it was made ("Preserved thinking" in the
//! documentation of Anthropic's API, November 2026); without the block, the request is valid.

/// Whether a model refuses thinking behind a change: a Claude that is not known to take it.
pub fn is_refused_by(model: &str) -> bool {
    let Some(at) = model.find("claude-") else { return false };
    let mut parts = model[at + "claude-".len()..].split(['-', '.', '@', '[', ':']);
    // Older names begin with the version: `claude-3-7-sonnet`.
    let version = |part: Option<&str>| part.and_then(|part| part.parse::<u32>().ok());
    let first = parts.next();
    let major = version(first).or_else(|| version(parts.next()));
    // A date is no minor version.
    let minor = version(parts.next()).filter(|minor| *minor < 100).unwrap_or_default();
    major.is_none_or(|major| (major, minor) > (5, 0))
}

#[cfg(test)]
mod tests {
    use super::is_refused_by;

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
            assert!(is_refused_by(model), "{model}");
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
            assert!(!is_refused_by(model), "{model}");
        }
    }
}
