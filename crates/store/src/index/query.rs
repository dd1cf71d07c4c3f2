//! Turns a user's query into FTS5 syntax: AND joins words, quotes make a phrase, a final `*` makes
//! a prefix. Everything else is literal, so that no query is a syntax error.

/// Separates characters of scripts without spaces. The tokenizer breaks there, and it is invisible
/// in a text.
pub const BREAK: char = '\u{200b}';

/// Whether this character's script puts no spaces between words. Such text is indexed character by
/// character, and a query for it is a phrase of characters.
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

/// The text as indexed: a [`BREAK`] next to each unspaced character, and spaces for control
/// characters, because two of them mark matches.
pub fn indexed(text: &str) -> String {
    let mut to = String::with_capacity(text.len() + text.len() / 16);
    // Whether the last character was unspaced; `None` at the start and after whitespace, where no
    // break is needed.
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

/// The query as an FTS5 expression; `None` if it has no word.
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
        // A phrase without a word would make the whole query match nothing.
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
