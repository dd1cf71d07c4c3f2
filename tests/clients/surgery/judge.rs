//! The promise of an operation, and the check that a request has exactly these blocks in order.

use std::collections::BTreeMap;

use serde_json::Value;

use super::block::{Block, blocks_of_request};
use super::source::{Round, Source};
use crate::support::mock::Request;

/// How much of a kind of block a plan keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Much {
    Full,
    Summary,
    Omit,
}

/// The levels for thinking, calls and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fidelity(pub Much, pub Much, pub Much);

/// An expected block.
#[derive(Debug, Clone)]
pub enum Want {
    /// This block. Call ids may differ, as long as calls and results match.
    Same(Block),
    /// A call with long texts of its input shortened to their beginning.
    Shorter(Block),
    /// A text in the user's role with this start that contains this.
    User(&'static str, String),
    /// The text of a [`Block::Beside`].
    Beside(String),
    /// A result whose text was replaced by one with this start.
    Result(String, String),
    /// An index table with exactly these lines.
    Index(Vec<String>),
}

/// The blocks that a successor must have, in order.
#[derive(Debug, Clone, Default)]
pub struct Promise {
    wants: Vec<Want>,
    /// Whether something before is not as it was in the session: thinking behind it is left out.
    is_changed: bool,
}

impl Promise {
    /// Adds an index message with these lines.
    pub fn index(mut self, lines: &[String]) -> Self {
        self.wants.push(Want::Index(lines.to_vec()));
        self.behind_a_change()
    }

    /// What comes now is behind a change, so that it has no thinking.
    pub fn behind_a_change(mut self) -> Self {
        self.is_changed = true;
        self
    }

    /// Adds the first message of a merge, which lists the source of the rounds: session, numbers,
    /// and the text of the first round.
    pub fn voices(self, runs: &[(&str, &str, &str)]) -> Self {
        let line = |(id, seqs, words): &(&str, &str, &str)| {
            let short: String = words.chars().take(40).collect();
            let dots = if short == *words { "" } else { "..." };
            format!("| {} | {seqs} | \"{short}{dots}\" |", &id[..8])
        };
        let lines: Vec<String> = runs.iter().map(line).collect();
        self.index(&lines)
    }

    /// Adds unchanged rounds of a session.
    pub fn rounds(self, source: &Source, seqs: &[u32]) -> Self {
        let thinking = if self.is_changed { Much::Omit } else { Much::Full };
        self.reduced(source, seqs, Fidelity(thinking, Much::Full, Much::Full))
    }

    /// Adds rounds of a session at this fidelity.
    pub fn reduced(mut self, source: &Source, seqs: &[u32], fidelity: Fidelity) -> Self {
        for seq in seqs {
            reduce(source.round(*seq), fidelity, &mut self.wants);
        }
        self
    }

    /// Adds rounds of a session with each block changed by `change`.
    pub fn changed(
        mut self,
        source: &Source,
        seqs: &[u32],
        change: impl Fn(&Block) -> Option<Want>,
    ) -> Self {
        let blocks = seqs.iter().flat_map(|seq| &source.round(*seq).blocks);
        self.wants.extend(blocks.filter_map(change));
        self
    }

    /// Adds a text of the user.
    pub fn says(mut self, text: &str) -> Self {
        self.wants.push(Want::Same(Block::User(text.to_owned())));
        self
    }

    /// Adds a text of the agent.
    pub fn answers(mut self, text: &str) -> Self {
        self.wants.push(Want::Same(Block::Agent(text.to_owned())));
        self
    }

    /// Compares with the request's whole conversation; the error is the first difference.
    pub fn kept_by(&self, request: &Request) -> Result<(), String> {
        self.compare(&blocks_of_request(request))
    }

    fn compare(&self, found: &[Block]) -> Result<(), String> {
        let wanted = sent(&self.wants);
        let mut calls = Calls::default();
        let pairs = wanted.iter().map(Some).chain(std::iter::repeat(None));
        let met = pairs.zip(found.iter().map(Some).chain(std::iter::repeat(None)));
        for (at, (want, block)) in met.enumerate() {
            match (want, block) {
                (None, None) => return Ok(()),
                (Some(want), Some(block)) if fits(want, block, &mut calls) => {}
                _ => return Err(difference(at, &wanted, found)),
            }
        }
        Ok(())
    }
}

/// Sorts the blocks as the client sends them: `Beside` texts go before the user's text.
fn sent(promised: &[Want]) -> Vec<Want> {
    let mut sent: Vec<Want> = Vec::new();
    for want in promised {
        if let Want::Same(Block::Beside(text)) = want {
            let words = |want: &Want| {
                let plain = matches!(want, Want::Same(Block::User(_)));
                plain || matches!(want, Want::User(..) | Want::Index(_))
            };
            let at = sent.iter().rposition(|want| !words(want)).map_or(0, |last| last + 1);
            sent.insert(at, Want::Beside(text.clone()));
        } else {
            sent.push(want.clone());
        }
    }
    sent
}

fn difference(at: usize, wanted: &[Want], found: &[Block]) -> String {
    let from = at.saturating_sub(2);
    let wanted: Vec<_> = wanted.iter().enumerate().skip(from).take(6).collect();
    let there: Vec<_> = found.iter().enumerate().skip(from).take(6).collect();
    format!("block {at} differs\nwanted: {wanted:#?}\nfound: {there:#?}\nof {}", found.len())
}

/// The calls so far: the promised id and the id in the request.
#[derive(Default)]
struct Calls {
    sent: BTreeMap<String, String>,
}

fn fits(want: &Want, block: &Block, calls: &mut Calls) -> bool {
    match (want, block) {
        (Want::Same(Block::Call(id, name, input)), Block::Call(sent, n, i)) => {
            let fresh = !calls.sent.values().any(|known| known == sent);
            // In a merge a call may get a new id, but two calls must not share one.
            calls.sent.insert(id.clone(), sent.clone());
            fresh && (name, input) == (n, i)
        }
        (Want::Same(Block::Result(id, text, error)), Block::Result(sent, t, e)) => {
            calls.sent.get(id) == Some(sent) && (text, error) == (t, e)
        }
        (Want::Result(id, start), Block::Result(sent, text, _)) => {
            calls.sent.get(id) == Some(sent) && text.starts_with(start.as_str())
        }
        (Want::Same(wanted), found) => wanted == found,
        (Want::Beside(text), Block::User(found)) => text == found,
        (Want::Shorter(Block::Call(id, name, input)), Block::Call(sent, n, i)) => {
            calls.sent.insert(id.clone(), sent.clone());
            name == n && shortened(input, i)
        }
        (Want::User(start, part), Block::User(text)) => {
            text.starts_with(start) && text.contains(part.as_str())
        }
        (Want::Index(lines), Block::User(text)) => {
            let found =
                text.lines().filter(|line| line.starts_with("| ") && !line.contains("| who |"));
            text.contains("brain-guard show") && found.eq(lines.iter())
        }
        _ => false,
    }
}

/// Whether each long text has become its beginning, with a hint, and all else is the same.
fn shortened(long: &Value, short: &Value) -> bool {
    let (Some(long), Some(short)) = (long.as_object(), short.as_object()) else { return false };
    let like = |(name, value): (&String, &Value)| match (value.as_str(), short[name].as_str()) {
        (Some(text), Some(found)) if text.len() > LONG => {
            found.len() < text.len()
                && found.starts_with(&text[..40])
                && found.contains("brain-guard show")
        }
        _ => value == &short[name],
    };
    long.len() == short.len() && long.iter().all(like)
}

/// Bytes of a text that is longer than what surgery puts in its place.
const LONG: usize = 250;

/// Appends the expected blocks of a round at a fidelity.
fn reduce(round: &Round, Fidelity(thinking, calls, results): Fidelity, out: &mut Vec<Want>) {
    let thought = round.blocks.iter().any(|block| matches!(block, Block::Thinking(..)));
    let mut note = (thinking == Much::Summary && thought).then(|| {
        Want::User("[brain-guard] Left out of this round: ", "brain-guard show".to_owned())
    });
    for block in &round.blocks {
        let want = match block {
            Block::Thinking(..) if thinking != Much::Full => None,
            Block::Call(..) => match calls {
                Much::Full => Some(Want::Same(block.clone())),
                Much::Summary => Some(Want::Shorter(block.clone())),
                Much::Omit => None,
            },
            Block::Result(id, text, _) => result(id, text, block, calls, results),
            _ => Some(Want::Same(block.clone())),
        };
        out.extend(want);
        if matches!(block, Block::User(_)) {
            out.extend(note.take());
        }
    }
}

/// A result stays a result as long as its call is there.
fn result(id: &str, text: &str, block: &Block, calls: Much, results: Much) -> Option<Want> {
    match (calls, results) {
        (Much::Omit, _) => None,
        (_, Much::Summary) if text.len() > LONG => {
            Some(Want::Result(id.to_owned(), "[tool_result: ".to_owned()))
        }
        (_, Much::Omit) => Some(Want::Result(id.to_owned(), "[tool_result omitted]".to_owned())),
        _ => Some(Want::Same(block.clone())),
    }
}

/// The line of a round in the index table. `key` is its most important call, `text` the agent's
/// last text.
pub fn line(number: &str, round: &Round, roles: &str, key: Option<&str>, text: &str) -> String {
    let minute = round.started.get(..16).expect("a time");
    let short: String = text.chars().take(80).collect();
    let dots = if short == text { "" } else { "..." };
    let key = key.map(|key| format!("[tool_use: {key}] → ")).unwrap_or_default();
    format!("| {number} | {minute}Z | {roles} | {key}\"{short}{dots}\" |")
}
