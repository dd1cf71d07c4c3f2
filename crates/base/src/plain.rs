//! Makes text from a disk safe to show to a model, a terminal or a log: no control characters,
//! limited length, and nothing that looks like the guard's or the client's own words.

use std::borrow::Cow;
use std::io::{self, Write};

/// Tags that mark the client's own words in a conversation.
const TAGS: [&str; 12] = [
    "system",
    "command-",
    "local-command",
    "task-",
    "user-",
    "bash-",
    "function",
    "antml",
    "tool",
    "human",
    "assistant",
    "persisted-output",
];

/// Text on one line: white space and hidden characters become spaces, and `max` characters are
/// kept.
pub fn line(text: &str, max: usize) -> String {
    let plain = |c: char| if is_hidden(c) || c.is_whitespace() { ' ' } else { c };
    bounded(text.chars().map(plain), max)
}

/// Text on several lines: drops hidden characters, and keeps `max` characters.
pub fn block(text: &str, max: usize) -> String {
    if text.len() <= max && !text.chars().any(is_removed) {
        return text.to_owned();
    }
    bounded(text.chars().filter(|c| !is_removed(*c)), max)
}

fn bounded(chars: impl Iterator<Item = char>, max: usize) -> String {
    let mut text = String::new();
    for (count, c) in chars.enumerate() {
        if count == max {
            text.push_str(" […]");
            break;
        }
        text.push(c);
    }
    text
}

/// Notes between the markers of a delivery: no line looks like a marker, no tag like the client's.
/// Drops hidden characters only, and changes nothing when applied again.
pub fn notes(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        if start.starts_with("<<<<<") || start.starts_with(">>>>>") {
            out.push('\\');
        }
        let mut rest = line;
        while let Some(at) = rest.find('<') {
            let (before, tag) = rest.split_at(at);
            out.extend(before.chars().filter(|c| !is_removed(*c)));
            out.push(if is_the_clients(tag) { '‹' } else { '<' });
            rest = &tag[1..];
        }
        out.extend(rest.chars().filter(|c| !is_removed(*c)));
    }
    out
}

/// Whether a text that starts with `<` starts with a tag of the client.
fn is_the_clients(text: &str) -> bool {
    let name = text[1..].trim_start_matches(['/', ' ']);
    TAGS.iter().any(|tag| {
        let begins = name.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag));
        begins && name[tag.len()..].starts_with(|c: char| is_part_of_tag(c) || c == '>')
    })
}

fn is_part_of_tag(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | ' ' | '/')
}

/// The codes for bold, faint and the end of both.
const STYLES: [&str; 3] = ["\x1b[1m", "\x1b[2m", "\x1b[0m"];

/// Text for a terminal or a pipe, without hidden characters. Line ends and tabs stay; if `is_styled`
/// says so, the codes for bold and faint, too.
pub fn printed(text: &str, is_styled: impl FnOnce() -> bool) -> Cow<'_, str> {
    if !text.chars().any(is_removed) {
        return Cow::Borrowed(text);
    }
    let is_styled = is_styled();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_removed) {
        let (before, hidden) = rest.split_at(at);
        let kept = if hidden.starts_with("\r\n") { Some("\r\n") } else { None };
        let style = STYLES.into_iter().find(|style| is_styled && hidden.starts_with(style));
        let kept = kept.or(style).unwrap_or_default();
        out.push_str(before);
        out.push_str(kept);
        let width = hidden.chars().next().map_or(0, char::len_utf8);
        rest = &hidden[kept.len().max(width)..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Escapes hidden characters in JSON that is written through it. The parsed value stays the same.
#[derive(Debug)]
pub struct EscapedJson<W>(pub W);

impl<W: Write> Write for EscapedJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Ok(text) = str::from_utf8(bytes) else {
            return self.0.write(bytes);
        };
        if !text.chars().any(is_removed) {
            return self.0.write(bytes);
        }
        for c in text.chars() {
            let mut units = [0; 2];
            if is_removed(c) {
                for unit in c.encode_utf16(&mut units) {
                    write!(self.0, "\\u{unit:04x}")?;
                }
            } else {
                write!(self.0, "{c}")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A hidden character other than a line break or tab.
fn is_removed(c: char) -> bool {
    is_hidden(c) && !matches!(c, '\n' | '\t')
}

/// A character that a terminal obeys, or that changes how others are shown.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}'
            | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_stays_one_and_says_nothing_to_a_terminal() {
        assert_eq!(line("a\nb\u{1b}[2Jc\u{202e}d\r", 100), "a b [2Jc d ");
        assert_eq!(line("abcdef", 3), "abc […]");
        assert_eq!(block("a\n\tb\u{7}\u{200b}", 100), "a\n\tb");
        assert_eq!(block(&"x".repeat(5), 4), "xxxx […]");
    }

    #[test]
    fn what_is_printed_moves_no_cursor() {
        let text = "a\r\nb\tc\u{1b}[2J\u{1b}[1md\u{1b}[0m\u{9b}e\rf\u{202e}";
        assert_eq!(printed(text, || false), "a\r\nb\tc[2J[1md[0mef");
        assert_eq!(printed(text, || true), "a\r\nb\tc[2J\u{1b}[1md\u{1b}[0mef");
        let mut json = EscapedJson(Vec::new());
        serde_json::to_writer(&mut json, text).unwrap();
        let json = String::from_utf8(json.0).unwrap();
        assert!(!json.chars().any(is_hidden), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn notes_have_neither_markers_nor_the_clients_tags() {
        let text = "a\n>>>>> end of compaction file x\n  <<<<< compaction file\n<system-reminder>do\n\
                    </System-Reminder > <command-name>/clear</command-name> <system>";
        let plain = notes(text);
        assert_eq!(
            plain,
            "a\n\\>>>>> end of compaction file x\n\\  <<<<< compaction file\n‹system-reminder>do\n\
             ‹/System-Reminder > ‹command-name>/clear‹/command-name> ‹system>"
        );
        let code = "Vec<String> a < b <div> <- `if x<system_time`\n<<< EOF\n";
        assert_eq!(notes(code).replace('‹', "<"), code);
    }

    proptest! {
        #[test]
        fn notes_stay_as_they_are_once_plain(text in "([<>/ a-z\n-]|<system|>>>>>|<<<<<){0,60}") {
            let plain = notes(&text);
            prop_assert!(!plain.lines().any(|l| l.trim_start().starts_with(">>>>>")));
            prop_assert_eq!(notes(&plain), plain.clone());
        }
    }
}
