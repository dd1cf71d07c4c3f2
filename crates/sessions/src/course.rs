//! The course of a session, from its first transcript row to the last: what each response used,
//! when turns ended and requests went out (row shapes of client 2.1.329). What counts follows the
//! rules of `fill`, which reads backwards.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::model::SYNTHETIC;
use super::usage::Usage;
use base::clock::Time;

/// What the context held after a response, or after a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// When the row was written.
    pub at: Time,
    /// Tokens: input, cache and output of a response, or what a compaction left.
    pub tokens: u64,
    /// Model of the response; a compaction names none.
    pub model: Option<String>,
    /// Whether a compaction by the client left it.
    pub compacted: bool,
}

/// The course, gathered row by row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Course {
    /// Responses of the main loop and compactions, in the order of their rows.
    pub used: Vec<Used>,
    /// When turns ended.
    pub turn_ends: Vec<Time>,
    /// When requests of the main loop went out.
    pub requests: Vec<Time>,
    /// Rows that could not be parsed, such as torn ones.
    pub unread: u64,
    /// Message id of the last response: one response is several rows with the same usage.
    message: Option<String>,
}

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    subtype: Option<Cow<'a, str>>,
    #[serde(rename = "isSidechain", default)]
    sidechain: Option<bool>,
    #[serde(default)]
    timestamp: Option<Time>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(rename = "compactMetadata", default)]
    compact: Option<Compact>,
}

#[derive(Deserialize)]
struct Compact {
    #[serde(rename = "postTokens")]
    post_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
}

impl Course {
    /// Takes the next row. A response or compaction without a time gets that of the one before it.
    pub fn feed(&mut self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let Ok(row) = serde_json::from_slice::<Row>(line) else {
            self.unread += 1;
            return;
        };
        if row.sidechain == Some(true) {
            return;
        }
        match (row.kind.as_ref(), row.subtype.as_deref()) {
            ("assistant", _) => self.response(&row),
            ("system", Some("compact_boundary")) => self.compaction(&row),
            ("system", Some("turn_duration" | "stop_hook_summary")) => {
                self.turn_ends.extend(row.timestamp);
            }
            ("api-request", _) => self.requests.extend(row.timestamp),
            _ => {}
        }
    }

    fn response(&mut self, row: &Row) {
        let message = row.message.and_then(|m| serde_json::from_str::<Message>(m.get()).ok());
        let Some(Message { id, model, usage: Some(usage) }) = message else { return };
        let tokens = usage.total();
        // The client writes rows of its own with zero usage.
        if tokens == 0 || model.as_deref() == Some(SYNTHETIC) {
            return;
        }
        let Some(at) = row.timestamp.or(self.used.last().map(|u| u.at)) else { return };
        let used = Used { at, tokens, model, compacted: false };
        match self.used.last_mut() {
            Some(last) if !last.compacted && id.is_some() && self.message == id => *last = used,
            _ => self.used.push(used),
        }
        self.message = id;
    }

    fn compaction(&mut self, row: &Row) {
        let post = row.compact.as_ref().and_then(|c| c.post_tokens);
        let at = row.timestamp.or(self.used.last().map(|u| u.at));
        if let (Some(tokens), Some(at)) = (post, at) {
            self.used.push(Used { at, tokens, model: None, compacted: true });
            self.message = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fill::Gatherer;

    fn course(rows: &[String]) -> Course {
        let mut course = Course::default();
        for row in rows {
            course.feed(row.as_bytes());
        }
        course
    }

    fn response(id: &str, tokens: u64) -> String {
        format!(
            r#"{{"isSidechain":false,"message":{{"id":"{id}","model":"claude-opus-5-5","content":[],"usage":{{"input_tokens":7,"cache_read_input_tokens":{},"output_tokens":3}}}},"type":"assistant","timestamp":"2026-11-21T02:16:25Z"}}"#,
            tokens.saturating_sub(10)
        )
    }

    fn row(kind: &str, second: u32) -> String {
        format!(r#"{{{kind},"timestamp":"2026-11-21T02:17:{second:02}Z"}}"#)
    }

    fn tokens(course: &Course) -> Vec<u64> {
        course.used.iter().map(|u| u.tokens).collect()
    }

    #[test]
    fn responses_are_counted_once_and_only_the_main_loops() {
        let side =
            response("x", 900_000).replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
        let synthetic = response("s", 99).replace("claude-opus-5-5", "<synthetic>");
        let rows = [
            response("a", 1_000),
            response("a", 1_000),
            side,
            response("b", 2_000),
            synthetic,
            r#"{"type":"api-request-blob","message":{"usage":{"input_tokens":9}}}"#.into(),
            "{\"torn".into(),
            String::new(),
        ];
        let course = course(&rows);
        assert_eq!((tokens(&course), course.unread), (vec![1_000, 2_000], 1));
        assert_eq!(course.used[0].model.as_deref(), Some("claude-opus-5-5"));
    }

    #[test]
    fn a_compaction_is_a_point_of_its_own() {
        let boundary = row(
            r#""type":"system","subtype":"compact_boundary","compactMetadata":{"postTokens":2875}"#,
            1,
        );
        let course = course(&[response("a", 150_000), boundary, response("a", 4_000)]);
        assert_eq!(tokens(&course), [150_000, 2_875, 4_000]);
        assert_eq!(course.used.iter().filter(|u| u.compacted).count(), 1);
    }

    #[test]
    fn turns_end_and_requests_go_out() {
        let course = course(&[
            row(r#""type":"api-request""#, 1),
            row(r#""type":"system","subtype":"stop_hook_summary""#, 2),
            row(r#""type":"system","subtype":"turn_duration""#, 3),
        ]);
        let at = |s: u32| format!("2026-11-21T02:17:{s:02}Z").parse().unwrap();
        assert_eq!((course.requests, course.turn_ends), (vec![at(1)], vec![at(2), at(3)]));
    }

    proptest! {
        /// Both readers follow the same rules: the last point here is the first one there.
        #[test]
        fn the_last_point_is_the_gauges(rows in proptest::collection::vec((0u8..6, 0u8..3, 0u64..5_000), 1..20)) {
            let rows: Vec<String> = rows.into_iter().map(|(kind, id, tokens)| {
                let id = format!("m{id}");
                match kind {
                    0 => response(&id, tokens + 10).replace(r#""isSidechain":false"#, r#""isSidechain":true"#),
                    1 => response(&id, tokens + 10).replace("claude-opus-5-5", "<synthetic>"),
                    2 => row(&format!(r#""type":"system","subtype":"compact_boundary","compactMetadata":{{"postTokens":{tokens}}}"#), 1),
                    _ => response(&id, tokens + 10),
                }
            }).collect();
            let mut gatherer = Gatherer::default();
            for row in rows.iter().rev() {
                if gatherer.feed(row.as_bytes()).is_break() {
                    break;
                }
            }
            let gauge = gatherer.finish().map(|fill| fill.measured);
            prop_assert_eq!(course(&rows).used.last().map(|u| u.tokens), gauge);
        }
    }
}
