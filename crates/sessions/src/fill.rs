//! How full the context is, by the transcript's rows read from the end.

use std::ops::ControlFlow;

use super::branch::{Branch, Place};
use super::row::{Compact, Content, Response, Row, field, may_tell};

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
    /// Tokens that rows after it are estimated to bring.
    pub estimated: u64,
    /// When the measured row was written.
    pub at: Option<Time>,
    /// Model of the last response.
    pub model: Option<String>,
    /// Bytes one token took in this session, for other estimates.
    pub bytes_per_token: f64,
    /// A later response is there that was left by a rewind.
    pub rewound: bool,
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
            rewound: false,
        }
    }
}

impl Fill {
    /// Takes over a later reading by the mod: the client writes its rows
    /// asynchronously, so a response's own may be missing after its tools have run
    /// (seen with client 2.1.329). `true` if the rows were behind it. After a rewind the
    /// reading may be of what was left: a figure that is too high would block wrongly.
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

/// Bytes of transcript a token takes where the session itself doesn't tell:
/// low, since a figure that is too high only coaches early.
pub const BYTES_PER_TOKEN: f64 = 3.5;

/// How far behind the last response its predecessor is looked for, in bytes: it
/// only betters the estimate, and every call would pay for the search.
const LOOK_BEHIND: u64 = 256 * 1024;

/// What an image costs, whatever its bytes. A document costs more, by its pages: too
/// little until the next response says it is better than megabytes.
const IMAGE_TOKENS: u64 = 1_600;

/// Bytes of text in a message's content, and how many images and documents are in it.
fn measure(raw: &str) -> Since {
    // Most hold none, which `contains` tells faster than a count; `memchr` would first ask
    // the processor what it can do, which takes longer than both.
    let count = |mark: &str| if raw.contains(mark) { raw.matches(mark).count() } else { 0 };
    let images = count(r#""base64""#).max(count(r#""type":"image""#)) as u64;
    // Without their own bytes a row is still counted by what else it may hold.
    let bytes = if images > 0 { raw.len().min(4_000) } else { raw.len() } as u64;
    Since { bytes, images }
}

/// What content weighs, in bytes of text that cost as much.
pub fn weight(raw: &str) -> u64 {
    let Since { bytes, images } = measure(raw);
    bytes + images * (IMAGE_TOKENS as f64 * BYTES_PER_TOKEN) as u64
}

/// Gathers rows from the end until it knows enough.
#[derive(Debug, Default)]
pub struct Gatherer {
    /// The last response is enough where nothing came after it: its predecessor
    /// serves estimates and the base alone.
    brief: bool,
    branch: Branch,
    since: Since,
    /// Of rows that count only if the response behind them does.
    beside: Since,
    last: Option<Last>,
    /// A response on a branch that seems to have been left.
    left: Option<Last>,
    /// Of rows behind it, beside the branch.
    left_since: Since,
    /// Of rows before it, up to the next response.
    left_before: Since,
    /// The response before the last and the bytes between them: the session's own rate.
    between: u64,
    rate: Option<f64>,
    /// Bytes of rows behind the last response.
    behind: u64,
}

/// What rows brought.
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
    /// One that looks behind the last response only for the rate of an estimate.
    pub fn brief() -> Self {
        Self { brief: true, ..Self::default() }
    }

    /// Takes the next row towards the start; an empty one stands for a row too long to be
    /// handed over.
    pub fn feed(&mut self, line: &[u8]) -> ControlFlow<()> {
        if self.last.is_some() {
            self.behind += line.len() as u64;
            if self.behind > LOOK_BEHIND || line.is_empty() {
                return ControlFlow::Break(());
            }
        }
        if !may_tell(line) {
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

    /// A row that is not on the branch. Of several calls in one response, the last one's
    /// row is not, where the first one's result came last: what the others brought counts.
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

    /// Whether a row is of the same response as the one that was left.
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
            // What the rows behind it hold is the summary, which is in `postTokens` already.
            (self.since, self.beside) = (Since::default(), Since::default());
            self.last = Some(Last { message: None, fill, output: 0 });
        }
        ControlFlow::Break(())
    }

    /// The result; `None` if no row told anything.
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
