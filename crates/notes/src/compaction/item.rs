//! Converts between an entry's text and its list item.

use serde::{Deserialize, Serialize};

use super::flags::flags;

/// How an entry is marked in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Marker {
    /// `-`, `*` or `+`.
    Bullet,
    /// A number, which stays unchanged.
    Ordered(String),
    /// No marker: a paragraph, a fence, a table, a quote.
    Block,
}

/// The lines of a text, without their line endings of any kind.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let Some(end) = text.find(['\n', '\r']) else { return Some(text) };
        let width = if text[end..].starts_with("\r\n") { 2 } else { 1 };
        rest = Some(&text[end + width..]);
        Some(&text[..end])
    })
}

/// Splits a list item, from the start of its line in the file, into marker and text.
pub(super) fn parse_item(raw: &str) -> (Marker, String) {
    let mut all = lines(raw);
    let first = all.next().unwrap_or_default();
    let (indent, body) = columns(first);
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let marker =
        if digits == 0 { Marker::Bullet } else { Marker::Ordered(body[..digits].to_owned()) };
    let after = body.get(digits + 1..).unwrap_or_default();
    let (gap, text) = columns_from(after, indent + digits + 1);
    // CommonMark: five or more columns mean one column and an indented code block.
    let (pad, code) = if text.is_empty() {
        (1, 0)
    } else if gap > 4 {
        (1, gap - 1)
    } else {
        (gap, 0)
    };
    let width = indent + digits + 1 + pad;
    let mut out = " ".repeat(code);
    out.push_str(text);
    for line in all {
        out.push('\n');
        push_dedented(line, width, &mut out);
    }
    (marker, tidy(&out))
}

/// The text of a block that is no list item. Removes the first line's indentation from every line.
pub(super) fn block_text(raw: &str) -> String {
    let indent = lines(raw).find(|line| !line.trim().is_empty()).map_or(0, |line| columns(line).0);
    // An indented code block keeps its indentation.
    let width = if indent > 3 { 0 } else { indent };
    let mut out = String::with_capacity(raw.len());
    for (index, line) in lines(raw).enumerate() {
        if index > 0 {
            out.push('\n');
        }
        push_dedented(line, width, &mut out);
    }
    tidy(&out)
}

/// Removes blank lines around the text and white space in blank lines.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split('\n') {
        if line.trim().is_empty() && out.is_empty() {
            continue;
        }
        out.push_str(if line.trim().is_empty() { "" } else { line });
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

/// The columns of indentation (tab stops at four), and the rest of the line.
fn columns(line: &str) -> (usize, &str) {
    columns_from(line, 0)
}

fn columns_from(line: &str, start: usize) -> (usize, &str) {
    let mut column = start;
    for (index, byte) in line.bytes().enumerate() {
        match byte {
            b' ' => column += 1,
            b'\t' => column += 4 - column % 4,
            _ => return (column - start, &line[index..]),
        }
    }
    (column - start, "")
}

/// Removes up to `width` columns of indentation. The rest of a partly removed tab becomes spaces.
fn push_dedented(line: &str, width: usize, out: &mut String) {
    let mut column = 0;
    for (index, byte) in line.bytes().enumerate() {
        if column >= width {
            out.extend(std::iter::repeat_n(' ', column - width));
            out.push_str(&line[index..]);
            return;
        }
        match byte {
            b' ' => column += 1,
            b'\t' => column += 4 - column % 4,
            _ => {
                out.push_str(&line[index..]);
                return;
            }
        }
    }
}

/// Writes an entry as a list item, the form the seal uses. Open fences and comments end with the
/// item. Writes no final line break.
pub(crate) fn write(marker: &Marker, text: &str, out: &mut String) {
    write_padded(marker, text, 0, out);
}

/// Like [`write()`], with the text indented by at least `least` columns. From four on, no following
/// heading can become part of the item.
pub(super) fn write_padded(marker: &Marker, text: &str, least: usize, out: &mut String) {
    let start = out.len();
    match marker {
        Marker::Bullet | Marker::Block => out.push('-'),
        Marker::Ordered(number) => {
            out.push_str(number);
            out.push('.');
        }
    }
    out.push(' ');
    while out.len() - start < least {
        out.push(' ');
    }
    let pad = out.len() - start;
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
            if !line.is_empty() {
                out.extend(std::iter::repeat_n(' ', pad));
            }
        }
        out.push_str(line);
    }
}

/// An entry as it stands in the file.
pub fn written(marker: &Marker, text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    write(marker, text, &mut out);
    out
}

/// Puts a text into a fence that none of its lines can close, with its flags before the fence. This
/// is the form for a text that would not be read back as one entry.
pub(crate) fn fenced(text: &str) -> String {
    let flags = flags(text);
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let front = match (flags.closed, flags.pinned) {
        (true, true) => "[x] !\n",
        (true, false) => "[x]\n",
        (false, true) => "!\n",
        (false, false) => "",
    };
    format!("{front}{fence}\n{}\n{fence}", flags.bare)
}

/// The start of a text on one line, for reports.
pub(crate) fn head(text: &str, letters: usize) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if out.chars().count() + word.chars().count() >= letters && !out.is_empty() {
            out.push_str(" …");
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().take(letters));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_lose_their_indentation_and_get_it_back() {
        for (raw, text) in [
            ("- a\n  b", "a\nb"),
            ("* a\nlazy", "a\nlazy"),
            ("-   a\n\n    ```\n      x\n    ```\n", "a\n\n```\n  x\n```"),
            ("-\ta\n\tb\n\t\tc", "a\nb\n\tc"),
            ("-     code\n      more", "    code\n    more"),
            ("  - a\r\n    b\r\n", "a\nb"),
            ("-\n  a", "a"),
        ] {
            let (marker, got) = parse_item(raw);
            assert_eq!((marker, got.as_str()), (Marker::Bullet, text), "{raw:?}");
            assert_eq!(parse_item(&written(&Marker::Bullet, text)).1, text, "{raw:?}");
        }
        assert_eq!(
            parse_item("12) a\n    b"),
            (Marker::Ordered("12".to_owned()), "a\nb".to_owned())
        );
        assert_eq!(written(&Marker::Ordered("12".to_owned()), "a\nb"), "12. a\n    b");
    }

    #[test]
    fn a_fence_outlasts_what_it_holds() {
        assert_eq!(fenced("! a ````` b"), "!\n``````\na ````` b\n``````");
        assert_eq!(flags(&fenced("[x] ! a")).bare, "```\na\n```");
    }

    #[test]
    fn heads_are_short() {
        assert_eq!(head("one two\n three four", 12), "one two …");
        assert_eq!(head("a", 3), "a");
    }
}
