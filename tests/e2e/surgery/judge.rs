//! What an operation promises, and whether a request holds it: exactly these blocks, in this order.

use std::collections::BTreeMap;

use super::block::{Block, blocks_of_request};
use super::source::{Round, Source};
use crate::mock::Request;

/// What a plan makes of a kind of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Much {
    Full,
    Summary,
    Omit,
}

/// Thinking, calls, results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fidelity(pub Much, pub Much, pub Much);

/// All of a round.
pub const WHOLE: Fidelity = Fidelity(Much::Full, Much::Full, Much::Full);

/// What a block must be.
#[derive(Debug, Clone)]
pub enum Want {
    /// This very block. Ids of calls are compared by which call answers to which result.
    Same(Block),
    /// Words of the agent that begin like this and hold this.
    Agent(String, &'static str),
    /// Words in the user's role that begin like this and hold this.
    User(&'static str, String),
    /// What stands beside the user's words: see [`Block::Beside`].
    Beside(String),
    /// A result with other words, which begin like this.
    Result(String, String),
    /// An index table: these lines and no other.
    Index(Vec<String>),
}

/// What a new session is to hold, in order.
#[derive(Debug, Clone, Default)]
pub struct Promise(Vec<Want>);

impl Promise {
    /// One index message with these lines.
    pub fn index(mut self, lines: &[String]) -> Self {
        self.0.push(Want::Index(lines.to_vec()));
        self
    }

    /// The message that begins a merge: whose the rounds are, by session, numbers and the first one's words.
    pub fn voices(self, runs: &[(&str, &str, &str)]) -> Self {
        let line = |(id, seqs, words): &(&str, &str, &str)| {
            let short: String = words.chars().take(40).collect();
            let dots = if short == *words { "" } else { "..." };
            format!("| {} | {seqs} | \"{short}{dots}\" |", &id[..8])
        };
        let lines: Vec<String> = runs.iter().map(line).collect();
        self.index(&lines)
    }

    /// Rounds of a session, whole.
    pub fn rounds(self, source: &Source, seqs: &[u32]) -> Self {
        self.reduced(source, seqs, WHOLE)
    }

    /// Rounds of a session at this fidelity.
    pub fn reduced(mut self, source: &Source, seqs: &[u32], fidelity: Fidelity) -> Self {
        for seq in seqs {
            reduce(source.round(*seq), fidelity, &mut self.0);
        }
        self
    }

    /// Rounds of a session, their blocks as `change` makes them.
    pub fn changed(
        mut self,
        source: &Source,
        seqs: &[u32],
        change: impl Fn(&Block) -> Option<Want>,
    ) -> Self {
        let blocks = seqs.iter().flat_map(|seq| &source.round(*seq).blocks);
        self.0.extend(blocks.filter_map(change));
        self
    }

    /// These words of the user.
    pub fn says(mut self, text: &str) -> Self {
        self.0.push(Want::Same(Block::User(text.to_owned())));
        self
    }

    /// These words of the agent.
    pub fn answers(mut self, text: &str) -> Self {
        self.0.push(Want::Same(Block::Agent(text.to_owned())));
        self
    }

    /// Whether the request's conversation is this and nothing else; else what differs first.
    pub fn kept_by(&self, request: &Request) -> Result<(), String> {
        self.compare(&blocks_of_request(request))
    }

    /// Whether the request's conversation ends with this.
    pub fn ends(&self, request: &Request) -> Result<(), String> {
        let found = blocks_of_request(request);
        let from = found.len().saturating_sub(self.0.len());
        self.compare(&found[from..])
    }

    fn compare(&self, found: &[Block]) -> Result<(), String> {
        let wanted = sent(&self.0);
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

/// In the order in which the client sends it: what stands beside the user's words before them.
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

/// The calls so far: promised id to id in the request, both ways.
#[derive(Default)]
struct Calls {
    sent: BTreeMap<String, String>,
}

fn fits(want: &Want, block: &Block, calls: &mut Calls) -> bool {
    match (want, block) {
        (Want::Same(Block::Call(id, name, input)), Block::Call(sent, n, i)) => {
            let fresh = !calls.sent.values().any(|known| known == sent);
            // In a merge a call may have a new id; two calls of one id would be told as one.
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
        (Want::Agent(start, part), Block::Agent(text)) => {
            text.starts_with(start.as_str()) && text.contains(part)
        }
        (Want::User(start, part), Block::User(text)) => {
            text.starts_with(start) && text.contains(part.as_str())
        }
        (Want::Index(lines), Block::User(text)) => {
            let found =
                text.lines().filter(|line| line.starts_with("| ") && !line.contains("| who |"));
            text.contains("brain-guard inject") && found.eq(lines.iter())
        }
        _ => false,
    }
}

/// Appends what is to be of a round at a fidelity.
fn reduce(round: &Round, Fidelity(thinking, calls, results): Fidelity, out: &mut Vec<Want>) {
    let mut names = BTreeMap::new();
    for block in &round.blocks {
        let want = match block {
            Block::Thinking(text, _) if thinking == Much::Summary => {
                let start = format!("[thinking · {} chars", text.chars().count());
                Some(Want::Agent(start, "inject"))
            }
            Block::Thinking(..) if thinking == Much::Omit => None,
            Block::Call(id, name, _) => {
                names.insert(id.clone(), name.clone());
                match calls {
                    Much::Full => Some(Want::Same(block.clone())),
                    Much::Summary => Some(Want::Agent(format!("[tool_use: {name}"), "inject")),
                    Much::Omit => None,
                }
            }
            Block::Result(id, text, _) => result(id, text, block, calls, results),
            _ => Some(Want::Same(block.clone())),
        };
        out.extend(want);
    }
}

/// A result stays one as long as its call does.
fn result(id: &str, text: &str, block: &Block, calls: Much, results: Much) -> Option<Want> {
    const MARK: &str = "[tool_result: ";
    match (calls, results) {
        (Much::Omit, _) | (Much::Summary, Much::Omit) => None,
        (Much::Full, Much::Full) => Some(Want::Same(block.clone())),
        (Much::Full, _) => Some(Want::Result(id.to_owned(), MARK.to_owned())),
        (Much::Summary, Much::Full) => Some(Want::User(MARK, text.to_owned())),
        (Much::Summary, Much::Summary) => Some(Want::User(MARK, "inject".to_owned())),
    }
}

/// The index line of a round, as the index table has it. `key` is its most telling call, `text` the agent's last words.
pub fn line(number: &str, round: &Round, roles: &str, key: Option<&str>, text: &str) -> String {
    let minute = round.started.get(..16).expect("a time");
    let short: String = text.chars().take(80).collect();
    let dots = if short == text { "" } else { "..." };
    let key = key.map(|key| format!("[tool_use: {key}] → ")).unwrap_or_default();
    format!("| {number} | {minute}Z | {roles} | {key}\"{short}{dots}\" |")
}
