//! Whether a tool returned everything that it was asked to read. Clients cut long files and say so
//! in the result (pi 0.73, `OpenClaw` 2026.9.6, Claude Code 2.1.329).

use memchr::memmem;

/// The line number after which these clients cut. Older Claude Code versions cut silently but
/// number the lines: a result with that line number may be cut.
const LAST: &str = "2000";

/// What follows a line's number, in JSON.
const BEHIND: [&str; 3] = ["\\t", "→", ":"];

/// How many bytes from its ends a result may say it.
const NEAR: usize = 600;

/// Whether a result, as a JSON string, may be only the start.
pub fn cut(json: &[u8]) -> bool {
    let text = json.strip_prefix(b"\"").unwrap_or(json);
    let text = text.strip_suffix(b"\"").unwrap_or(text);
    let (begin, end) = (&text[..text.len().min(NEAR)], &text[text.len().saturating_sub(NEAR)..]);
    let says = |part, words: &str| memmem::find(part, words.as_bytes()).is_some();
    // If the caller set a limit, the words differ: `7 more lines in file`.
    let goes_on = end.ends_with(b"to continue.]")
        && (says(end, "[Showing ") || says(end, "[Read output capped at "));
    goes_on
        || says(end, " limit. Use bash: ")
        || says(end, " more characters truncated;")
        || says(begin, "[Truncated: PARTIAL view")
        || says(end, "[Truncated: PARTIAL view")
        || says(text, "[... middle content omitted ")
        || numbered(text)
}

/// Whether one of the lines has the number after which clients cut.
fn numbered(text: &[u8]) -> bool {
    memmem::find_iter(text, LAST.as_bytes()).any(|at| {
        let (before, behind) = (&text[..at], &text[at + LAST.len()..]);
        // Numbers are right-aligned at the start of a line.
        (before.ends_with(b" ") || before.ends_with(b"\\n"))
            && BEHIND.iter().any(|word| behind.starts_with(word.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_says_so_or_is_long() {
        let json = |text: &str| serde_json::to_string(text).unwrap();
        let is_cut = |text: &str| cut(json(text).as_bytes());
        let body = "a line of the file\n".repeat(900);
        assert!(!is_cut(&body) && !is_cut("") && !cut(b"\""));
        for notice in [
            "[Showing lines 1-900 of 4000. Use offset=901 to continue.]",
            "[Showing lines 1-900 of 4000 (50.0KB limit). Use offset=901 to continue.]",
            "[Showing part of line 1 (50.0KB limit). Use read with offset=1, cursor=9 to continue.]",
            "[Read output capped at 50KB for this call. Use offset=901 to continue.]",
            "[... 1234 more characters truncated; rerun with narrower args if needed]",
            "[Truncated: PARTIAL view \u{2014} /w/a: showing 900 of 4000 lines. Call Read with offset/limit to page through.]",
        ] {
            assert!(is_cut(&format!("{body}\n\n{notice}")), "{notice}");
        }
        assert!(is_cut(&format!(
            "<system-reminder>[Truncated: PARTIAL view \u{2014} /w/a: this view is incomplete]</system-reminder>\n{body}"
        )));
        assert!(is_cut(
            "[Line 1 is 80.0KB, exceeds 50.0KB limit. Use bash: sed -n '1p' /w/a | head -c 51200]"
        ));
        assert!(is_cut(&format!(
            "{body}⚠️ [... middle content omitted — showing head and tail ...]{body}"
        )));
        // Everything that was requested is there.
        assert!(!is_cut(&format!(
            "{body}\n\n[3100 more lines in file. Use offset=901 to continue.]"
        )));
        let lines = |to: u32, separator: &str| -> String {
            let line = |n: u32| format!("{n:>6}{separator}2000 words\n");
            (1..=to).map(line).collect::<Vec<_>>().concat()
        };
        for separator in ["\t", "→", ":"] {
            assert!(is_cut(&lines(2_000, separator)) && !is_cut(&lines(1_999, separator)));
        }
        assert!(is_cut(&lines(2_000, "\t").replace("  ", "")));
    }
}
