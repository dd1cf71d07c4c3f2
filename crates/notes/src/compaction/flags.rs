//! Reads the flags at the start of an entry: pinned, closed, `none:`, a kind.

/// The flags of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flags<'a> {
    /// Begins with `!`.
    pub pinned: bool,
    /// Ticked, struck through, or begins with `closed:`.
    pub closed: bool,
    /// Says `none:`, with a reason.
    pub none: bool,
    /// The first word, if a colon follows it.
    pub word: Option<String>,
    /// The text without flags, but with that word.
    pub bare: &'a str,
}

/// Reads the flags of a text in any order: checkbox, pin, `closed:`, and strikethrough.
pub fn flags(text: &str) -> Flags<'_> {
    let (mut pinned, mut closed) = (false, false);
    let mut rest = text.trim();
    loop {
        if let Some((checked, after)) = checkbox(rest) {
            closed |= checked;
            rest = after;
        } else if let Some(after) = pin(rest) {
            pinned = true;
            rest = after;
        } else if let Some(inner) = struck(rest) {
            closed = true;
            rest = inner;
        } else if let Some((_, after)) = lead(rest).filter(|(word, _)| word == "closed") {
            closed = true;
            rest = after;
        } else {
            break;
        }
    }
    let lead = lead(rest);
    let says = |after: &str| after.chars().any(char::is_alphanumeric);
    let none = lead.as_ref().is_some_and(|(word, after)| word == "none" && says(after));
    Flags { pinned, closed, none, word: lead.map(|(word, _)| word), bare: rest }
}

/// Whether a checkbox at the start is ticked, and the text after it. `None` without a checkbox.
pub(crate) fn checkbox(text: &str) -> Option<(bool, &str)> {
    let (checked, after) = match text.get(..3)? {
        "[ ]" => (false, &text[3..]),
        "[x]" | "[X]" => (true, &text[3..]),
        _ => return None,
    };
    (after.is_empty() || after.starts_with(char::is_whitespace))
        .then(|| (checked, after.trim_start()))
}

fn pin(text: &str) -> Option<&str> {
    let after = text.strip_prefix('!')?.trim_start_matches('!');
    // An image or an inequality is no pin.
    (!after.starts_with(['[', '='])).then(|| after.trim_start())
}

fn struck(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("~~")?.strip_suffix("~~")?;
    // Three or more are a fence.
    let fence = inner.starts_with('~') || inner.ends_with('~');
    (!fence && !inner.trim().is_empty() && !inner.contains("~~")).then(|| inner.trim())
}

/// The first word before a colon, in lower case and without emphasis, and the text after it.
/// `std::fs` and `https://` do not count.
pub(crate) fn lead(text: &str) -> Option<(String, &str)> {
    let emphasis = ['*', '_', '`'];
    let start = text.trim_start_matches(emphasis);
    let end = start.find(|letter: char| !letter.is_alphabetic() && letter != '-')?;
    let (word, after) = start.split_at(end);
    let after = after.trim_start_matches(emphasis).strip_prefix([':', '：'])?;
    let usable = !word.is_empty() && word.len() <= 40 && !after.starts_with([':', '/']);
    usable.then(|| (word.to_lowercase(), after.trim_start_matches(emphasis).trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_in_any_order() {
        for (text, pinned, closed, bare) in [
            ("plain", false, false, "plain"),
            ("! keep", true, false, "keep"),
            ("!keep", true, false, "keep"),
            ("[ ] to do", false, false, "to do"),
            ("[x] ! done", true, true, "done"),
            ("! [X] done", true, true, "done"),
            ("~~gone~~", false, true, "gone"),
            ("~~! gone~~", true, true, "gone"),
            ("~~gone~~ not whole ~~gone~~", false, false, "~~gone~~ not whole ~~gone~~"),
            ("~~~\ncode\n~~~", false, false, "~~~\ncode\n~~~"),
            ("Closed: it works", false, true, "it works"),
            ("**closed:** it works", false, true, "it works"),
            ("[x](a link)", false, false, "[x](a link)"),
            ("![an image](x)", false, false, "![an image](x)"),
            ("!= is wrong", false, false, "!= is wrong"),
        ] {
            let flags = flags(text);
            assert_eq!((flags.pinned, flags.closed, flags.bare), (pinned, closed, bare), "{text}");
        }
    }

    #[test]
    fn a_first_word_with_a_colon_is_a_kind() {
        for (text, word) in [
            ("Risk: x", Some("risk")),
            ("**risk**: x", Some("risk")),
            ("`risk:` x", Some("risk")),
            ("[ ] ! risk:x", Some("risk")),
            ("std::fs is used", None),
            ("https://example.org", None),
            ("two words: x", None),
            ("", None),
        ] {
            assert_eq!(flags(text).word.as_deref(), word, "{text}");
        }
        assert!(flags("none: nothing was assumed").none);
        assert!(!flags("none:").none && !flags("none of it").none);
    }
}
