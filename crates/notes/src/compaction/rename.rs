//! Renames the job in the front matter and the title of its file.

use super::front::scalar;
use super::{BlockKind, Shape, digest, parse};

/// Renames the job in a file. The stamp stays valid, because its text does not change. A title of
/// the author's own stays too.
pub fn rename(text: &str, shape: &Shape, from: &str, to: &str) -> String {
    let document = parse(text, shape);
    let mut out = String::with_capacity(text.len() + to.len());
    let mut copied = 0;
    for block in document.blocks() {
        let raw = &text[block.range.clone()];
        let new = match &block.kind {
            BlockKind::Front => front(raw, to),
            BlockKind::Title if document.title() == Some(from) => raw.replacen(from, to, 1),
            _ => continue,
        };
        out.push_str(&text[copied..block.range.start]);
        out.push_str(&new);
        copied = block.range.end;
    }
    out.push_str(&text[copied..]);
    let new = parse(&out, shape);
    if digest(&new) == digest(&document) { out } else { text.to_owned() }
}

/// The front matter with another job in its first `job:` line.
fn front(raw: &str, to: &str) -> String {
    let mut done = false;
    let line = |line: &str| {
        if done || !line.starts_with("job:") {
            return line.to_owned();
        }
        done = true;
        let end = &line[line.trim_end_matches(['\r', '\n']).len()..];
        format!("job: {}{end}", scalar(to))
    };
    raw.split_inclusive('\n').map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::{DEFAULT_TEMPLATE, template};

    #[test]
    fn only_the_name_changes() {
        let shape = Shape::default();
        let now = chrono::DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let old = template(DEFAULT_TEMPLATE, &shape, "app-20260101-1", now);
        let new = rename(&old, &shape, "app-20260101-1", "parser");
        assert_eq!(new, template(DEFAULT_TEMPLATE, &shape, "parser", now));
        let windows = rename(&old.replace('\n', "\r\n"), &shape, "app-20260101-1", "parser");
        assert_eq!(windows, new.replace('\n', "\r\n"));
    }

    #[test]
    fn what_others_wrote_stays() {
        let shape = Shape::default();
        let text = "---\njob: a\ntags: a\n---\n\n# My own title, a\n\n## Open Threads\n- a\n";
        let new = rename(text, &shape, "a", "b");
        assert_eq!(new, text.replace("job: a", "job: b"));
        assert_eq!(parse(&new, &shape).front().job.as_deref(), Some("b"));
        for text in ["", "no front matter\n", "# c\n\n- a\n"] {
            assert_eq!(rename(text, &shape, "a", "b"), text);
        }
    }
}
