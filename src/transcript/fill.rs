//! How full the context is, by the transcript's rows read from the end
//! (row shapes as written by client 2.1.329).

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::clock::Time;
use crate::policy::gauge::{Reading, Source};

/// Tokens that the rows account for.
#[derive(Debug, Clone, PartialEq)]
pub struct Fill {
    /// Tokens of the last main-loop response with usage (input, cache and output),
    /// or what a compaction after it left.
    pub measured: u64,
    /// Tokens of the response before it, if there was one.
    pub before: Option<u64>,
    /// Tokens that rows after it are estimated to bring.
    pub estimated: u64,
    /// When the measured row was written.
    pub at: Option<Time>,
    /// Model of the last response.
    pub model: Option<String>,
    /// Bytes one token took in this session, for other estimates.
    pub bytes_per_token: f64,
}

impl Default for Fill {
    /// No row: nothing is accounted for.
    fn default() -> Self {
        Self {
            measured: 0,
            estimated: 0,
            before: None,
            at: None,
            model: None,
            bytes_per_token: BYTES_PER_TOKEN,
        }
    }
}

impl Fill {
    /// Takes over a later reading by the mod: the client writes its rows
    /// asynchronously, so a response's own may be missing after its tools have run
    /// (seen with client 2.1.329). `true` if the rows were behind it.
    pub fn lags(&mut self, reading: Option<&Reading>) -> bool {
        let later = |r: &&Reading| {
            r.source == Source::Mod && r.used > self.measured && self.at.is_none_or(|at| at < r.at)
        };
        let Some(reading) = reading.filter(later) else { return false };
        (self.measured, self.estimated, self.at) = (reading.used, 0, Some(reading.at));
        true
    }
}

/// Bytes of transcript a token takes where the session itself doesn't tell:
/// low, since a figure that is too high only coaches early.
pub const BYTES_PER_TOKEN: f64 = 3.5;

/// How far behind the last response its predecessor is looked for, in bytes: it
/// only betters the estimate, and every call would pay for the search.
const LOOK_BEHIND: u64 = 256 * 1024;

/// What an image costs, whatever its bytes.
const IMAGE_TOKENS: u64 = 1_600;

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
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names are the API's")]
struct Usage {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Usage {
    fn total(&self) -> u64 {
        [
            self.input_tokens,
            self.cache_creation_input_tokens,
            self.cache_read_input_tokens,
            self.output_tokens,
        ]
        .into_iter()
        .flatten()
        .fold(0, u64::saturating_add)
    }
}

/// Gathers rows from the end until it knows enough.
#[derive(Debug, Default)]
pub struct Gatherer {
    /// The last response is enough where nothing came after it: its predecessor
    /// serves estimates and the base alone.
    brief: bool,
    bytes_since: u64,
    images_since: u64,
    last: Option<Last>,
    /// The response before the last and the bytes between them: the session's own rate.
    between: u64,
    rate: Option<f64>,
    /// Bytes of rows behind the last response.
    behind: u64,
}

#[derive(Debug)]
struct Last {
    message: Option<String>,
    fill: Fill,
    output: u64,
}

impl Gatherer {
    /// One that looks behind the last response only for the rate of an estimate.
    pub fn brief() -> Self {
        Self { brief: true, ..Self::default() }
    }

    /// Takes the next row towards the start.
    pub fn feed(&mut self, line: &[u8]) -> ControlFlow<()> {
        if self.last.is_some() {
            self.behind += line.len() as u64;
            if self.behind > LOOK_BEHIND {
                return ControlFlow::Break(());
            }
        }
        let Ok(row) = serde_json::from_slice::<Row>(line) else { return ControlFlow::Continue(()) };
        if row.sidechain == Some(true) {
            return ControlFlow::Continue(());
        }
        match row.kind.as_ref() {
            "assistant" => self.assistant(&row),
            "user" => {
                self.user(&row);
                ControlFlow::Continue(())
            }
            "system" if row.subtype.as_deref() == Some("compact_boundary") => self.compaction(&row),
            _ => ControlFlow::Continue(()),
        }
    }

    fn assistant(&mut self, row: &Row) -> ControlFlow<()> {
        let message = row.message.and_then(|m| serde_json::from_str::<Message>(m.get()).ok());
        let Some(message) = message else { return ControlFlow::Continue(()) };
        let Some(usage) = message.usage else { return ControlFlow::Continue(()) };
        let total = usage.total();
        // The client writes rows of its own with zero usage.
        if total == 0 || message.model.as_deref() == Some("<synthetic>") {
            return ControlFlow::Continue(());
        }
        let output = usage.output_tokens.unwrap_or(0);
        match &mut self.last {
            None => {
                let fill = Fill {
                    measured: total,
                    at: row.timestamp,
                    model: message.model.map(Cow::into_owned),
                    ..Fill::default()
                };
                let message = message.id.map(Cow::into_owned);
                self.last = Some(Last { message, fill, output });
                if self.brief && self.bytes_since == 0 && self.images_since == 0 {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            }
            // One response is several rows with the same usage.
            Some(last)
                if last.message.is_some() && last.message.as_deref() == message.id.as_deref() =>
            {
                ControlFlow::Continue(())
            }
            Some(last) => {
                last.fill.before = Some(total);
                let grown = (last.fill.measured - last.output.min(last.fill.measured))
                    .saturating_sub(total);
                if grown > 500 && self.between > 2_000 {
                    self.rate = Some((self.between as f64 / grown as f64).clamp(1.5, 8.0));
                }
                ControlFlow::Break(())
            }
        }
    }

    fn user(&mut self, row: &Row) {
        let content = row.message.and_then(|m| serde_json::from_str::<Content>(m.get()).ok());
        let Some(raw) = content.and_then(|c| c.content) else { return };
        let raw = raw.get();
        // Most rows hold none, which `contains` tells faster than a count.
        let image = r#""type":"image""#;
        let images = if raw.contains(image) { raw.matches(image).count() as u64 } else { 0 };
        // Without the pictures' own bytes a row is still counted by what else it may hold.
        let bytes = if images > 0 { raw.len().min(4_000) as u64 } else { raw.len() as u64 };
        if self.last.is_none() {
            self.bytes_since += bytes;
            self.images_since += images;
        } else if images == 0 {
            self.between += bytes;
        }
    }

    fn compaction(&mut self, row: &Row) -> ControlFlow<()> {
        if self.last.is_none()
            && let Some(post_tokens) = row.compact.as_ref().and_then(|c| c.post_tokens)
        {
            let fill = Fill { measured: post_tokens, at: row.timestamp, ..Fill::default() };
            // What the rows behind it hold is the summary, which is in `postTokens` already.
            (self.bytes_since, self.images_since) = (0, 0);
            self.last = Some(Last { message: None, fill, output: 0 });
        }
        ControlFlow::Break(())
    }

    /// The result; `None` if no row told anything.
    pub fn finish(self) -> Option<Fill> {
        let mut fill = self.last?.fill;
        fill.bytes_per_token = self.rate.unwrap_or(BYTES_PER_TOKEN);
        fill.estimated = (self.bytes_since as f64 / fill.bytes_per_token) as u64
            + self.images_since * IMAGE_TOKENS;
        Some(fill)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(rows: &[&str]) -> Option<Fill> {
        let mut gatherer = Gatherer::default();
        for row in rows.iter().rev() {
            if gatherer.feed(row.as_bytes()).is_break() {
                break;
            }
        }
        gatherer.finish()
    }

    fn assistant(id: &str, input: u64, output: u64) -> String {
        format!(
            r#"{{"isSidechain":false,"message":{{"id":"{id}","model":"claude-opus-5-5","content":[],"usage":{{"input_tokens":{input},"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":{output}}}}},"type":"assistant","timestamp":"2026-11-21T02:16:25.315Z"}}"#
        )
    }

    fn user(bytes: usize) -> String {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":"{}"}}}}"#,
            "x".repeat(bytes)
        )
    }

    #[test]
    fn the_response_before_the_last_is_kept() {
        let before = |rows: &[&str]| gather(rows).unwrap().before;
        assert_eq!(before(&[&assistant("m1", 48_000, 50)]), None);
        assert_eq!(
            before(&[&assistant("m1", 48_000, 50), &user(9), &assistant("m2", 300_000, 50)]),
            Some(48_050)
        );
    }

    #[test]
    fn rows_that_are_not_written_yet_are_behind_the_mod() {
        let reading = |used, at: &str, source| {
            Some(Reading { used, limit: 967_000, source, at: at.parse().unwrap() })
        };
        let lags = |reading: Option<Reading>| {
            let mut fill = gather(&[&assistant("m1", 48_000, 50)]).unwrap();
            fill.lags(reading.as_ref()).then_some(fill.measured)
        };
        let (before, after) = ("2026-11-21T02:16:25Z", "2026-11-21T02:16:26Z");
        assert_eq!(lags(reading(300_000, after, Source::Mod)), Some(300_000));
        assert_eq!(lags(reading(300_000, before, Source::Mod)), None);
        assert_eq!(lags(reading(300_000, after, Source::Transcript)), None);
        assert_eq!(lags(reading(40_000, after, Source::Mod)), None);
        assert_eq!(lags(None), None);
    }

    #[test]
    fn the_last_response_and_what_came_since() {
        let fill =
            gather(&[&assistant("a", 100, 10), &user(33), &assistant("b", 1_000, 50), &user(68)]);
        let fill = fill.unwrap();
        assert_eq!((fill.measured, fill.estimated), (1_050, 20));
        assert_eq!(fill.model.as_deref(), Some("claude-opus-5-5"));
    }

    #[test]
    fn the_sessions_own_rate() {
        let rows =
            [assistant("a", 1_000, 0), user(19_998), assistant("b", 11_000, 500), user(1_998)];
        let fill = gather(&rows.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        assert!((fill.bytes_per_token - 2.0).abs() < 0.01, "{}", fill.bytes_per_token);
        assert_eq!((fill.measured, fill.estimated), (11_500, 1_000));
    }

    #[test]
    fn one_response_alone_is_not_paid_for_with_the_whole_file() {
        let mut gatherer = Gatherer::default();
        assert!(gatherer.feed(assistant("a", 1_000, 0).as_bytes()).is_continue());
        let row = user(1_000);
        let fed = (0..10_000).take_while(|_| gatherer.feed(row.as_bytes()).is_continue()).count();
        assert!(fed < 300, "{fed}");
        assert_eq!(gatherer.finish().unwrap().measured, 1_000);
    }

    #[test]
    fn a_brief_look_ends_at_the_last_response_unless_something_came_since() {
        let rows = [assistant("a", 1_000, 0), user(19_998), assistant("b", 11_000, 500)];
        let fed = |more: &[String]| {
            let mut gatherer = Gatherer::brief();
            let all = rows.iter().chain(more).rev();
            let fed = all.take_while(|row| gatherer.feed(row.as_bytes()).is_continue()).count();
            (fed, gatherer.finish().unwrap())
        };
        let (count, fill) = fed(&[]);
        assert_eq!((count, fill.measured, fill.estimated), (0, 11_500, 0));
        let (count, fill) = fed(&[user(1_998)]);
        assert_eq!((count, fill.measured, fill.estimated), (3, 11_500, 1_000));
    }

    #[test]
    fn skipped_rows() {
        let synthetic = assistant("s", 9, 9).replace("claude-opus-5-5", "<synthetic>");
        let side =
            assistant("x", 900_000, 1).replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
        let fill = gather(&[
            &assistant("a", 700, 0),
            "{\"torn",
            &side,
            &synthetic,
            &assistant("z", 0, 0),
            r#"{"type":"api-request","usage":{"input_tokens":999999}}"#,
            "",
            "[]",
            "null",
        ]);
        assert_eq!(fill.unwrap().measured, 700);
        assert_eq!(gather(&[r#"{"type":"user","message":{"content":"x"}}"#]), None);
    }

    #[test]
    fn a_compaction_counts_what_it_left() {
        let boundary = r#"{"type":"system","subtype":"compact_boundary","compactMetadata":{"preTokens":150060,"postTokens":2875},"timestamp":"2026-11-21T02:16:25.315Z"}"#;
        let fill = gather(&[&assistant("a", 150_000, 60), boundary, &user(10_000)]).unwrap();
        assert_eq!((fill.measured, fill.estimated), (2_875, 0));
        let fill =
            gather(&[&assistant("a", 150_000, 60), boundary, &user(9), &assistant("b", 4_000, 1)]);
        assert_eq!(fill.unwrap().measured, 4_001);
    }

    #[test]
    fn a_picture_is_not_its_bytes() {
        let row = format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","content":[{{"type":"image","source":{{"data":"{}"}}}}]}}]}}}}"#,
            "A".repeat(450_000)
        );
        let fill = gather(&[&assistant("a", 1_000, 0), &row]).unwrap();
        assert!(fill.estimated < 3_500, "{}", fill.estimated);
    }
}
