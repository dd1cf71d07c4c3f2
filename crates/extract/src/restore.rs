//! What a restore changes in a row, and what it answers.

use chrono::SecondsFormat;
use serde::Serialize;

use super::edit;
use base::clock::Time;
use sessions::span::Span;

/// What an agent is told that restores the same entry again.
const SUGGESTION: &str = "This entry was previously restored. If you need to keep this content long-term, consider setting _extractable: false on the entry.";

/// The answer to a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Always `true`.
    pub restored: bool,
    /// The entry's id.
    pub entry_id: String,
    /// The restored keys.
    pub keys_restored: Vec<String>,
    /// When it was restored before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_restored_at: Option<Time>,
    /// What to do instead, if it was restored before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl Answer {
    /// The answer for an entry with these restored keys, which was restored before at `previous`.
    pub fn new(entry: &str, keys: Vec<String>, previous: Option<Time>) -> Self {
        Self {
            restored: true,
            entry_id: entry.to_owned(),
            keys_restored: keys,
            previous_restored_at: previous,
            suggestion: previous.map(|_| SUGGESTION.to_owned()),
        }
    }
}

/// A key that the row does not have, or that overlaps another one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the row has no place for {0}")]
pub struct MissingKey(String);

/// The row with values put back (`(key, raw JSON)`), and marked with the time `at`; `None` leaves
/// it unmarked.
pub fn row(
    line: &[u8],
    values: &[(String, Vec<u8>)],
    at: Option<Time>,
) -> Result<Vec<u8>, MissingKey> {
    let mut places: Vec<(Span, &String, &Vec<u8>)> = Vec::with_capacity(values.len());
    for (key, json) in values {
        places.push((edit::locate(line, key).ok_or_else(|| MissingKey(key.clone()))?, key, json));
    }
    places.sort_by_key(|(at, ..)| at.start);
    if let Some(both) = places.windows(2).find(|both| both[0].0.end > both[1].0.start) {
        return Err(MissingKey(both[1].1.clone()));
    }
    let places: Vec<(Span, &Vec<u8>)> =
        places.into_iter().map(|(at, _, json)| (at, json)).collect();
    let restored = edit::replaced(line, &places);
    let Some(at) = at else { return Ok(restored) };
    let at = format!("\"{}\"", at.to_rfc3339_opts(SecondsFormat::Millis, true));
    edit::with_field(&restored, "_restored", Some(at.as_bytes()))
        .ok_or_else(|| MissingKey("_restored".to_owned()))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn time() -> Time {
        DateTime::from_timestamp_millis(1_771_608_600_250).unwrap()
    }

    fn text(row: Vec<u8>) -> String {
        String::from_utf8(row).unwrap()
    }

    fn values(of: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
        of.iter().map(|(key, json)| ((*key).to_owned(), json.as_bytes().to_vec())).collect()
    }

    #[test]
    fn restores_extracted_content_back() {
        let line = br#"{"id":"a","message":{"content":[{"type":"text","text":"[[extracted-a]]"}],"details":{"x":"[[extracted-a]]"}}}"#;
        let both = [
            ("message.details.x", r#""\u00e9\/""#),
            ("message.content.0.text", r#""\ud83d [[extracted-b]]""#),
        ];
        let back = text(row(line, &values(&both), None).unwrap());
        assert_eq!(
            back,
            r#"{"id":"a","message":{"content":[{"type":"text","text":"\ud83d [[extracted-b]]"}],"details":{"x":"\u00e9\/"}}}"#
        );
        assert_eq!(row(line, &[], None).unwrap(), line);
    }

    #[test]
    fn sets_restored_timestamp() {
        let line = b"{\"id\":\"a\",\"output\":\"[[extracted-a]]\"}\r\n";
        let back = row(line, &values(&[("output", "\"x\"")]), Some(time())).unwrap();
        assert_eq!(
            text(back.clone()),
            "{\"id\":\"a\",\"output\":\"x\",\"_restored\":\"2026-02-20T17:30:00.250Z\"}\r\n"
        );
        let later = time() + chrono::TimeDelta::milliseconds(750);
        let again = row(&back, &values(&[("output", "\"x\"")]), Some(later)).unwrap();
        assert_eq!(
            text(again),
            "{\"id\":\"a\",\"output\":\"x\",\"_restored\":\"2026-02-20T17:30:01.000Z\"}\r\n"
        );
    }

    #[test]
    fn error_for_a_key_that_is_not_there() {
        let line = br#"{"a":{"b":"[[extracted-a]]"},"c":1,"c":2}"#;
        for (keys, wrong) in [
            (&["a.c"][..], "a.c"),
            (&["a.b", "c"], "c"),
            (&["a.b", "a"], "a.b"),
            (&["a.b", "a.b"], "a.b"),
        ] {
            let keys: Vec<_> = keys.iter().map(|key| (*key, "1")).collect();
            assert_eq!(row(line, &values(&keys), Some(time())).unwrap_err().0, wrong);
        }
        assert!(row(b"not json", &[], Some(time())).is_err());
    }

    #[test]
    fn a_second_restore_comes_with_a_suggestion() {
        let first = Answer::new("msg-456", vec!["content".into()], None);
        assert_eq!(
            serde_json::to_string(&first).unwrap(),
            r#"{"restored":true,"entry_id":"msg-456","keys_restored":["content"]}"#
        );
        let at = "2026-02-20T17:30:00Z".parse().unwrap();
        let second = Answer::new("msg-456", vec!["content".into()], Some(at));
        assert_eq!(
            serde_json::to_string(&second).unwrap(),
            r#"{"restored":true,"entry_id":"msg-456","keys_restored":["content"],"previous_restored_at":"2026-02-20T17:30:00Z","suggestion":"This entry was previously restored. If you need to keep this content long-term, consider setting _extractable: false on the entry."}"#
        );
    }
}
