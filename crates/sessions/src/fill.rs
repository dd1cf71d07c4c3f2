//! The context usage, read from the end of the transcript.

use std::ops::ControlFlow;

use super::branch::{Branch, Place};
use super::row::{Compact, Content, Response, Row, field, may_be_relevant};

use crate::gauge::{Reading, Source};
use base::clock::Time;

/// Tokens that the rows account for.
#[derive(Debug, Clone, PartialEq)]
pub struct Fill {
    /// Tokens of the last main-loop response with usage (input, cache and output),
    /// or what a compaction after it left.
    pub measured: u64,
    /// Tokens of the response before it, if there was one.
    pub before: Option<u64>,
    /// Estimated tokens of the rows after it.
    pub estimated: u64,
    /// When the measured row was written.
    pub at: Option<Time>,
    /// Model of the last response.
    pub model: Option<String>,
    /// Bytes per token in this session, for other estimates.
    pub bytes_per_token: f64,
    /// Whether a rewind abandoned a later response.
    pub rewound: bool,
}

impl Default for Fill {
    fn default() -> Self {
        Self {
            measured: 0,
            estimated: 0,
            before: None,
            at: None,
            model: None,
            bytes_per_token: BYTES_PER_TOKEN,
            rewound: false,
        }
    }
}

impl Fill {
    /// Takes over a later reading by the mod; `true` if the rows lagged behind it. The client
    /// writes rows asynchronously, so a response's row may be missing after its tools have run
    /// (seen with client 2.1.329). After a rewind the reading may be of the abandoned branch: a
    /// figure that is too high would block wrongly.
    pub fn lags(&mut self, reading: Option<&Reading>) -> bool {
        let later = |r: &&Reading| {
            r.source == Source::Mod
                && !self.rewound
                && r.used > self.measured
                && self.at.is_none_or(|at| at < r.at)
        };
        let Some(reading) = reading.filter(later) else { return false };
        (self.measured, self.estimated, self.at) = (reading.used, 0, Some(reading.at));
        true
    }
}

/// Bytes of transcript per token if the session gives no rate of its own. Set low, because a token
/// estimate that is too high only coaches early.
pub const BYTES_PER_TOKEN: f64 = 3.5;

/// How many bytes before the last response its predecessor is searched for. It only improves the
/// estimate, and every call pays for the search.
const LOOK_BEHIND: u64 = 256 * 1024;

/// Tokens of an image, whatever its size. A document costs more, by its pages; a figure too low
/// until the next response is better than counting its megabytes.
const IMAGE_TOKENS: u64 = 1_600;

/// Bytes of text in a message's content, and the number of images and documents in it.
fn measure(raw: &str) -> Since {
    // Most hold none, which `contains` finds faster than a count. `memchr` would first probe the
    // processor's features, which takes longer than both.
    let count = |mark: &str| if raw.contains(mark) { raw.matches(mark).count() } else { 0 };
    let images = count(r#""base64""#).max(count(r#""type":"image""#)) as u64;
    // Without the image's own bytes, a row still counts with what else it may hold.
    let bytes = if images > 0 { raw.len().min(4_000) } else { raw.len() } as u64;
    Since { bytes, images }
}

/// The weight of content, in bytes of text that cost the same.
pub fn weight(raw: &str) -> u64 {
    let Since { bytes, images } = measure(raw);
    bytes + images * (IMAGE_TOKENS as f64 * BYTES_PER_TOKEN) as u64
}

/// Gathers rows from the end until it knows enough.
#[derive(Debug, Default)]
pub struct Gatherer {
    /// Stop at the last response if nothing came after it: its predecessor only serves estimates
    /// and `Fill::before`.
    brief: bool,
    branch: Branch,
    since: Since,
    /// Rows that count only if the response before them does.
    beside: Since,
    last: Option<Last>,
    /// A response on a branch that seems to be abandoned.
    left: Option<Last>,
    /// Rows after it, beside the branch.
    left_since: Since,
    /// Rows before it, back to the previous response.
    left_before: Since,
    /// Bytes between the last two responses: they give the session's own rate.
    between: u64,
    rate: Option<f64>,
    /// Bytes of rows before the last response, read so far.
    behind: u64,
}

/// Content that rows added.
#[derive(Debug, Clone, Copy, Default)]
struct Since {
    bytes: u64,
    images: u64,
}

impl Since {
    fn is_none(self) -> bool {
        self.bytes == 0 && self.images == 0
    }

    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.images += other.images;
    }
}

#[derive(Debug)]
struct Last {
    message: Option<String>,
    fill: Fill,
    output: u64,
}

impl Last {
    fn of(response: Response) -> Self {
        let Response { message, model, at, total, output } = response;
        let fill = Fill { measured: total, at, model, ..Fill::default() };
        Self { message, fill, output }
    }
}

impl Gatherer {
    /// A gatherer that reads past the last response only if an estimate needs the rate.
    pub fn brief() -> Self {
        Self { brief: true, ..Self::default() }
    }

    /// Takes the next row towards the start. An empty one stands for a row too long to hand over.
    pub fn feed(&mut self, line: &[u8]) -> ControlFlow<()> {
        if self.last.is_some() {
            self.behind += line.len() as u64;
            if self.behind > LOOK_BEHIND || line.is_empty() {
                return ControlFlow::Break(());
            }
        }
        if !may_be_relevant(line) {
            return ControlFlow::Continue(());
        }
        let Ok(row) = serde_json::from_slice::<Row>(line) else { return ControlFlow::Continue(()) };
        if field(row.sidechain) == Some(true) {
            return ControlFlow::Continue(());
        }
        let response = if row.kind == "assistant" { Response::of(&row) } else { None };
        let place = if self.last.is_some() {
            Place::On
        } else {
            let (uuid, parent) = (row.uuid.as_deref(), row.parent.as_deref());
            self.branch.place(uuid, parent, response.is_some(), line.len() as u64)?
        };
        if place == Place::Left {
            self.leave(&row, response);
            return ControlFlow::Continue(());
        }
        match row.kind.as_ref() {
            "assistant" => match response {
                Some(response) => self.response(response),
                None => ControlFlow::Continue(()),
            },
            "user" => {
                self.user(&row, place);
                ControlFlow::Continue(())
            }
            "system" if row.subtype.as_deref() == Some("compact_boundary") => self.compaction(&row),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Takes a row that is off the branch. If a response has several calls and the first one's
    /// result came last, the last call's row is off the branch; the other results still count.
    fn leave(&mut self, row: &Row, response: Option<Response>) {
        let beside = std::mem::take(&mut self.beside);
        match response {
            Some(response) if self.left.is_none() => {
                self.left = Some(Last::of(response));
                self.left_since = beside;
            }
            Some(response) if self.is_left(&response) => {
                self.left_since.add(std::mem::take(&mut self.left_before));
            }
            Some(_) => self.left_before = Since::default(),
            None if row.kind == "user" => {
                if let Some(raw) = field::<Content>(row.message).and_then(|c| c.content) {
                    self.left_before.add(measure(raw.get()));
                }
            }
            None => {}
        }
    }

    /// Whether a row belongs to the same response as the abandoned one.
    fn is_left(&self, response: &Response) -> bool {
        self.left.as_ref().is_some_and(|l| l.message.is_some() && l.message == response.message)
    }

    fn response(&mut self, response: Response) -> ControlFlow<()> {
        if self.last.is_none() && self.is_left(&response) {
            self.since.add(self.left_since);
            self.since.add(self.left_before);
            self.left = None;
        }
        match &mut self.last {
            None => {
                self.last = Some(Last::of(response));
                if self.brief && self.since.is_none() && self.beside.is_none() {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            }
            // One response is several rows with the same usage.
            Some(last) if last.message.is_some() && last.message == response.message => {
                ControlFlow::Continue(())
            }
            Some(last) => {
                last.fill.before = Some(response.total);
                let grown = (last.fill.measured - last.output.min(last.fill.measured))
                    .saturating_sub(response.total);
                if grown > 500 && self.between > 2_000 {
                    self.rate = Some((self.between as f64 / grown as f64).clamp(1.5, 8.0));
                }
                ControlFlow::Break(())
            }
        }
    }

    fn user(&mut self, row: &Row, place: Place) {
        let Some(raw) = field::<Content>(row.message).and_then(|c| c.content) else { return };
        let brought = measure(raw.get());
        if self.last.is_some() {
            self.between += if brought.images == 0 { brought.bytes } else { 0 };
        } else if place == Place::On {
            self.since.add(brought);
        } else {
            self.beside.add(brought);
        }
    }

    fn compaction(&mut self, row: &Row) -> ControlFlow<()> {
        if self.last.is_none()
            && let Some(post_tokens) = field::<Compact>(row.compact).and_then(|c| c.post_tokens)
        {
            let at = field(row.timestamp);
            let fill = Fill { measured: post_tokens, at, ..Fill::default() };
            // The rows after it hold the summary, which `postTokens` already includes.
            (self.since, self.beside) = (Since::default(), Since::default());
            self.last = Some(Last { message: None, fill, output: 0 });
        }
        ControlFlow::Break(())
    }

    /// The result; `None` if no row gave a figure.
    pub fn finish(self) -> Option<Fill> {
        let rewound = self.last.is_some() && self.left.is_some();
        let lost = self.left.filter(|_| self.branch.lost());
        let mut since = self.since;
        since.add(self.beside);
        if self.last.is_none() {
            since.add(self.left_since);
        }
        let mut fill = self.last.or(lost)?.fill;
        fill.rewound = rewound;
        fill.bytes_per_token = self.rate.unwrap_or(BYTES_PER_TOKEN);
        fill.estimated =
            (since.bytes as f64 / fill.bytes_per_token) as u64 + since.images * IMAGE_TOKENS;
        Some(fill)
    }
}

#[cfg(test)]
mod tests;
