//! Finds identifiers that a condensed entry lost: hashes, paths, versions, and numbers with units.
//! Unlike words, these cannot be paraphrased.

/// Units that make a number worth keeping, in lower case.
const UNITS: [&str; 44] = [
    "%", "b", "bytes", "chars", "cores", "cpus", "day", "days", "files", "gb", "gib", "h", "hour",
    "hours", "hz", "k", "kb", "khz", "kib", "lines", "m", "mb", "mhz", "mib", "min", "minute",
    "minutes", "month", "months", "ms", "ns", "percent", "px", "requests", "rows", "s", "sec",
    "second", "seconds", "threads", "tokens", "us", "words", "µs",
];

/// The identifiers of `before` that `after` does not name, each once, in order.
pub(super) fn lost<'a>(before: impl Iterator<Item = &'a str>, after: &str) -> Vec<String> {
    let after = after.to_lowercase();
    let mut lost = Vec::new();
    for text in before {
        let words: Vec<&str> = text.split_whitespace().map(bare).collect();
        for (index, word) in words.iter().enumerate() {
            let Some((shown, key)) = identifier(word, words.get(index + 1)) else { continue };
            if !names(&after, &key) && !lost.contains(&shown) {
                lost.push(shown);
            }
        }
    }
    lost
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    let inside = |letter: char| letter.is_alphanumeric() || "/~._-%".contains(letter);
    word.trim_matches(|letter| !inside(letter)).trim_end_matches(['.', '-', '_'])
}

/// Parses an identifier: its display form, and the text that another entry must contain to name it.
fn identifier(word: &str, next: Option<&&str>) -> Option<(String, String)> {
    let lower = word.to_lowercase();
    let digits = word.len() - word.trim_start_matches(|c: char| is_numeric(c)).len();
    let (number, unit) = lower.split_at_checked(digits)?;
    if !number.is_empty() {
        if UNITS.contains(&unit) {
            return Some((word.to_owned(), number.to_owned()));
        }
        let unit = next.filter(|next| UNITS.contains(&next.to_lowercase().as_str()));
        if let Some(unit) = unit.filter(|_| lower == number) {
            return Some((format!("{word} {unit}"), number.to_owned()));
        }
    }
    let is_hash = (7..=64).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.bytes().any(|byte| byte.is_ascii_digit());
    if is_hash {
        // Another entry may shorten the hash.
        return Some((word.to_owned(), lower[..7].to_owned()));
    }
    let version = lower.strip_prefix('v').unwrap_or(&lower);
    if is_path(word) || is_version(version) {
        return Some((word.to_owned(), version.to_owned()));
    }
    None
}

fn is_numeric(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, '.' | ',')
}

/// `1.2`, `1.2.3-rc.1`: a number, a dot, and another number.
fn is_version(word: &str) -> bool {
    let mut parts = word.splitn(3, '.');
    let number = |part: Option<&str>| {
        part.is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit()))
    };
    number(parts.next()) && number(parts.next())
}

/// `src/seal`, `/etc/hosts`, `notes.md`.
fn is_path(word: &str) -> bool {
    let says = |part: &str| part.chars().any(char::is_alphanumeric);
    if word.contains('/') {
        return word.starts_with(['/', '~', '.']) && says(word)
            || word.split('/').filter(|part| says(part)).count() > 1;
    }
    word.rsplit_once('.').is_some_and(|(name, end)| {
        let ends = (1..=5).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphanumeric());
        name.len() > 1 && says(name) && ends && end.starts_with(|c: char| c.is_alphabetic())
    })
}

/// Whether a text contains this key. A number must not be part of a longer one.
fn names(text: &str, key: &str) -> bool {
    if key.chars().all(is_numeric) {
        return text.split(|c| !is_numeric(c)).any(|run| run.trim_end_matches(['.', ',']) == key);
    }
    text.contains(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_that_a_condensed_entry_drops_are_found() {
        for (before, after, expected) in [
            ("fixed in `0a1b2c3d4e`, see 77aa88bb.", "fixed in 0a1b2c3", &["77aa88bb"][..]),
            (
                "read src/seal/mod.rs:42 and notes.md",
                "read mod.rs",
                &["src/seal/mod.rs:42", "notes.md"],
            ),
            ("/etc/hosts, ~/.cache and ./run", "/etc/hosts", &["~/.cache", "./run"]),
            ("since v1.2.3 (or 0.9)", "since 1.2.3", &["0.9"]),
            (
                "40 ms, 128k tokens, 15%, 500 rows, 500 rows",
                "15 % of 500-row batches",
                &["40 ms", "128k"],
            ),
            ("it took 3 tries, e.g. in the defaced facade; see README", "", &[]),
            ("all is well", "", &[]),
        ] {
            let lost = lost([before].into_iter(), after);
            assert_eq!(lost, expected, "{before}");
        }
    }
}
