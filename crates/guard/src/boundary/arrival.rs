//! Proves that the notes arrived: compares the text between the markers in the new session's
//! transcript with the sealed file, byte for byte.

use std::collections::BTreeMap;

use serde_json::Value;

/// The result of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// The complete file. A file longer than the delivered pieces counts if its beginning arrived
    /// with the path of the rest.
    Whole,
    /// Something is missing or differs.
    Broken,
    /// Nothing of it arrived.
    Absent,
}

/// Compares a transcript with the file. Only rows that contain the token are parsed.
pub fn judge(transcript: &[u8], token: &str, file: &str) -> Arrival {
    let mut parts = BTreeMap::new();
    let mut expected = 0;
    for row in transcript.split(|b| *b == b'\n') {
        if memchr::memmem::find(row, token.as_bytes()).is_none() {
            continue;
        }
        // A prompt in the client's queue has not arrived yet.
        if let Ok(value) = serde_json::from_slice::<Value>(row)
            && value["type"] != "queue-operation"
        {
            each_text(&value, &mut |text| {
                for (number, of, body) in bodies(text, token) {
                    expected = of;
                    parts.insert(number, body.to_owned());
                }
            });
        }
    }
    if parts.is_empty() {
        return Arrival::Absent;
    }
    let all = parts.keys().copied().eq(1..=expected);
    let text: String = parts.into_values().collect();
    let begun = text.rsplit_once("\n[the rest is in ").map(|(begun, _)| begun);
    let same = text == file || begun.is_some_and(|begun| file.starts_with(begun));
    if all && same { Arrival::Whole } else { Arrival::Broken }
}

fn each_text(value: &Value, see: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => see(text),
        Value::Array(values) => values.iter().for_each(|v| each_text(v, see)),
        Value::Object(fields) => fields.values().for_each(|v| each_text(v, see)),
        _ => {}
    }
}

/// The bodies between the markers of a text: (part number, part count, body).
fn bodies<'a>(text: &'a str, token: &str) -> Vec<(usize, usize, &'a str)> {
    let begin = format!("<<<<< compaction file {token}");
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(&begin) {
        rest = &rest[at + begin.len()..];
        let Some((head, body)) = rest.split_once('\n') else { break };
        let numbers = head.strip_prefix(", part ").and_then(|n| n.split_once(" of "));
        let (number, of) = match numbers.map(|(a, b)| (a.parse(), b.parse())) {
            Some((Ok(number), Ok(of))) => (number, of),
            _ if head.is_empty() => (1, 1),
            _ => continue,
        };
        let end = if head.is_empty() {
            format!("\n>>>>> end of compaction file {token}")
        } else {
            format!("\n>>>>> end of part {number} of {of} {token}")
        };
        let Some(at) = body.find(&end) else { continue };
        found.push((number, of, &body[..at]));
        rest = &body[at..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn whole(file: &str) -> String {
        format!("hello\n<<<<< compaction file t1\n{file}\n>>>>> end of compaction file t1\n")
    }

    fn part(number: usize, of: usize, file: &str) -> String {
        format!(
            "<<<<< compaction file t1, part {number} of {of}\n{file}\n>>>>> end of part {number} of {of} t1"
        )
    }

    fn rows(texts: &[String]) -> Vec<u8> {
        let rows = texts.iter().map(|t| json!({"message": {"content": [{"text": t}]}}).to_string());
        rows.collect::<Vec<_>>().join("\n").into_bytes()
    }

    #[test]
    fn whole_in_parts_and_not_at_all() {
        let file = "# a\n- é <b>\n\n";
        assert_eq!(judge(&rows(&[whole(file)]), "t1", file), Arrival::Whole);
        assert_eq!(judge(&rows(&[whole(file), whole(file)]), "t1", file), Arrival::Whole);
        let parts = [part(2, 2, "- é <b>\n\n"), part(1, 2, "# a\n")];
        assert_eq!(judge(&rows(&parts), "t1", file), Arrival::Whole);
        assert_eq!(judge(&rows(&parts[..1]), "t1", file), Arrival::Broken);
        assert_eq!(judge(&rows(&[whole("# a\n- e")]), "t1", file), Arrival::Broken);
        assert_eq!(judge(&rows(&[whole(file)]), "t2", file), Arrival::Absent);
        assert_eq!(judge(b"torn {\n", "t1", file), Arrival::Absent);
    }

    #[test]
    fn what_waits_in_the_clients_queue_has_not_arrived() {
        let file = "# a\n";
        let queued = json!({"type": "queue-operation", "content": whole(file)}).to_string();
        assert_eq!(judge(queued.as_bytes(), "t1", file), Arrival::Absent);
        let pieces = rows(&[part(1, 2, "# "), part(2, 2, "a\n")]);
        let both = [queued.as_bytes(), b"\n", &pieces].concat();
        assert_eq!(judge(&both, "t1", file), Arrival::Whole);
    }

    #[test]
    fn a_file_longer_than_the_pieces() {
        let parts = [part(1, 1, "# a\n[the rest is in /p/v1.md]")];
        assert_eq!(judge(&rows(&parts), "t1", "# a\n- b\n"), Arrival::Whole);
        let parts = [part(1, 1, "# b\n[the rest is in /p/v1.md]")];
        assert_eq!(judge(&rows(&parts), "t1", "# a\n- b\n"), Arrival::Broken);
    }
}
