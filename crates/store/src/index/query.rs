//! What a person asks for, as SQLite's FTS5 wants it: words are joined by AND, quotes make a
//! phrase, `*` at the end of a word asks for its beginning. Everything else is taken word for
//! word, so that no query is a syntax error.

/// Stands between the signs of scripts that put no spaces between words. The tokenizer takes
/// it for a break, and it has no width where a text is shown.
pub const BREAK: char = '\u{200b}';

/// Whether words of this sign's script stand without spaces. Such a text is indexed sign by
/// sign, and what is asked for in it is a phrase of signs.
fn unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'       // Thai, Lao
        | '\u{1000}'..='\u{109f}'     // Burmese
        | '\u{1780}'..='\u{17ff}'     // Khmer
        | '\u{3041}'..='\u{30ff}'     // Hiragana, Katakana
        | '\u{3400}'..='\u{4dbf}'     // Han
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'     // Hangul: words end in particles
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}')
}

/// The text as it is indexed: a [`BREAK`] beside each sign of an unspaced script, and no
/// control characters but blanks, for two of them mark what was found.
pub fn indexed(text: &str) -> String {
    let mut to = String::with_capacity(text.len() + text.len() / 16);
    // Whether the last sign was of an unspaced script; at the beginning and behind a blank
    // nothing is to be parted.
    let mut before = None;
    for c in text.chars() {
        let alone = unspaced(c);
        let blank = c.is_whitespace() || c.is_control();
        if !blank && before.is_some_and(|before| before || alone) {
            to.push(BREAK);
        }
        before = (!blank).then_some(alone);
        to.push(if c.is_control() { ' ' } else { c });
    }
    to
}

/// The query as an expression of FTS5; `None` where it holds no word.
pub fn expression(query: &str) -> Option<String> {
    let mut parts = Vec::new();
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        let (words, behind) = if let Some(quoted) = rest.strip_prefix('"') {
            quoted.split_once('"').unwrap_or((quoted, ""))
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(rest.len());
            rest.split_at(end)
        };
        let bare = words.trim_end_matches('*');
        let star = bare.len() < words.len() || behind.starts_with('*');
        let behind = behind.trim_start_matches('*');
        // A phrase without a word in it would match nothing, whatever stands beside it.
        if bare.chars().any(char::is_alphanumeric) {
            parts.push(format!("\"{}\"{}", indexed(bare), if star { "*" } else { "" }));
        }
        rest = behind.trim_start();
    }
    (!parts.is_empty()).then(|| parts.join(" AND "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_phrases_and_beginnings() {
        for (query, expected) in [
            ("console work", r#""console" AND "work""#),
            (r#""console work" tag"#, r#""console work" AND "tag""#),
            ("cons*", r#""cons"*"#),
            (r#""console wor"*"#, r#""console wor"*"#),
            (r#""console wor*""#, r#""console wor"*"#),
            ("well-known", r#""well-known""#),
            ("a OR b NOT c NEAR(d)", r#""a" AND "OR" AND "b" AND "NOT" AND "c" AND "NEAR(d)""#),
            (r#"say "half a phrase"#, r#""say" AND "half a phrase""#),
            (r#"don't"stop"#, r#""don't" AND "stop""#),
            ("user:x ^y {z} (-> ++)", r#""user:x" AND "^y" AND "{z}""#),
            ("a\0b", r#""a b""#),
            ("東京タワー", "\"東\u{200b}京\u{200b}タ\u{200b}ワ\u{200b}ー\""),
        ] {
            assert_eq!(expression(query).as_deref(), Some(expected), "{query}");
        }
        for empty in ["", "  ", "\"\"", "*", "-> ()", "\" \" \""] {
            assert_eq!(expression(empty), None, "{empty:?}");
        }
    }

    #[test]
    fn signs_stand_alone_and_words_whole() {
        assert_eq!(indexed("a東京b c\u{2}d\n"), "a\u{200b}東\u{200b}京\u{200b}b c d ");
        assert_eq!(indexed("東 京"), "東 京");
        assert_eq!(indexed("plain text"), "plain text");
    }
}
