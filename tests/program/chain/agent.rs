//! The agents of the chain, by their answer when the seal asks for a summary. The last delivery
//! must hold most facts of the first ten sessions.

use crate::chain::judge::{Delivered, Line, plain};
use crate::chain::note::{self, Dice, Note};
use crate::chain::run::{Chain, words};

/// What an agent does when the seal asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Gives every seal its own summary, and answers nothing.
    Summarizes,
    /// Never answers, so the seal decides alone.
    Silent,
    /// Condenses when asked, within the word limit.
    Careful,
    /// Writes a third of the allowed words.
    Terse,
    /// Copies whole entries, half as many words again as allowed.
    Verbose,
    /// Answers every other time, and keeps every other fact.
    Sloppy,
}

/// The printed question of the seal.
struct Asked<'a> {
    words: usize,
    entries: Vec<&'a str>,
}

impl<'a> Asked<'a> {
    fn read(printed: &'a str) -> Option<Self> {
        let (_, limit) = printed.split_once("with one entry of at most ")?;
        let (_, list) = printed.split_once("To keep an entry word for word, ")?;
        let entries = list.lines().skip(1).filter_map(|line| line.split_once("  "));
        Some(Self {
            words: limit.split(' ').next()?.parse().ok()?,
            entries: entries.map(|(_, text)| text).collect(),
        })
    }
}

impl Agent {
    /// The words of open work to close, because the seal says that space is short.
    pub fn closes(self, printed: &str) -> usize {
        let asks = |printed: &str| {
            let (_, open) = printed.split_once("Open work and pins take ")?;
            let mut figures = open.split(' ').filter_map(|word| word.parse::<usize>().ok());
            Some(figures.next()?.saturating_sub(figures.next()? * 3 / 4))
        };
        let heeds = matches!(self, Self::Careful | Self::Terse | Self::Verbose);
        if heeds { asks(printed).unwrap_or_default() } else { 0 }
    }

    /// The condensed entry it answers with, from the seal's output alone; longer by the words that
    /// it closed, as the seal allows.
    pub fn answer(self, printed: &str, session: u32, closed: usize) -> Option<String> {
        let mut asked = Asked::read(printed)?;
        asked.words += closed;
        let facts: Vec<&str> = asked.entries.iter().flat_map(|text| marked(text)).collect();
        match self {
            Self::Summarizes | Self::Silent => None,
            Self::Careful => {
                let others = asked.entries.iter().filter(|text| marked(text).is_empty());
                let heads: Vec<String> = others
                    .map(|text| text.split_whitespace().take(6).collect::<Vec<_>>().join(" "))
                    .collect();
                let all = facts.into_iter().chain(heads.iter().map(String::as_str));
                Some(within(all, asked.words))
            }
            Self::Terse => Some(within(facts.into_iter(), asked.words / 3)),
            Self::Verbose => Some(within(asked.entries.into_iter(), asked.words * 3 / 2)),
            Self::Sloppy => session.is_multiple_of(2).then(|| {
                let half = facts.into_iter().step_by(2);
                within(std::iter::once("several things were learned").chain(half), asked.words)
            }),
        }
        .filter(|text| !text.is_empty())
    }
}

/// Joins pieces into one entry within a word limit; the rest is left out.
fn within<'a>(pieces: impl Iterator<Item = &'a str>, limit: usize) -> String {
    let mut entry: Vec<&str> = Vec::new();
    let mut left = limit;
    for piece in pieces {
        if words(piece) <= left && !entry.contains(&piece) {
            left -= words(piece);
            entry.push(piece);
        }
    }
    entry.join("; ")
}

/// The facts in a text, each from its number to the next `;` or `:`.
fn marked(text: &str) -> Vec<&str> {
    let starts = text.match_indices("fact-").map(|(at, _)| &text[at..]);
    starts.map(|from| from.split([';', ':']).next().unwrap_or(from).trim()).collect()
}

/// How many facts stay true; some more are closed or corrected later.
pub const FACTS: u32 = 20;
const CHANGED: u32 = 6;

/// What happens to a fact later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Later {
    Holds,
    Closed,
    Corrected,
}

/// A numbered fact, recognizable in any wording.
#[derive(Debug, Clone)]
pub struct Marked {
    number: u32,
    pub session: u32,
    pub later: Later,
}

const SUBJECTS: [&str; 6] =
    ["retry queue", "rate limiter", "search index", "mail queue", "audit log", "tenant router"];

impl Marked {
    /// All facts: two or three in each of the first ten sessions.
    pub fn all() -> Vec<Self> {
        let later = |number| match number {
            n if n < FACTS => Later::Holds,
            n if n % 2 == 0 => Later::Closed,
            _ => Later::Corrected,
        };
        let all = 0..FACTS + CHANGED;
        all.map(|number| Self { number, session: number % 10 + 1, later: later(number) }).collect()
    }

    pub fn changes_in(&self) -> Option<u32> {
        (self.later != Later::Holds).then_some(self.session + 9)
    }

    /// The fact in seven words at most.
    pub fn condensed(&self) -> String {
        let subject = SUBJECTS[self.number as usize % SUBJECTS.len()];
        format!("fact-{:02} {subject} stops at {} ms", self.number, 1_700 + 13 * self.number)
    }

    /// The corrected fact.
    pub fn corrected(&self) -> String {
        self.condensed().replace(" stops at ", " starts at ")
    }

    /// The session's note: the fact, with a different story each time.
    pub fn note(&self) -> Note {
        let story = note::insight(&mut Dice(u64::from(self.number))).text;
        let text = format!("{}: seen where {story}", self.condensed());
        Note { kind: "lesson", text }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// Facts that still hold and are in the last delivery.
    pub facts: usize,
    /// Deliveries with a closed or corrected fact in its old form.
    pub stale: usize,
}

/// Searches the deliveries for the facts.
pub fn kept(chain: &Chain) -> Kept {
    let facts = Marked::all();
    let open = |delivered: &Delivered, text: &str| delivered.says(text, Line::open);
    let last = chain.sessions.last().map(|session| Delivered::parse(&session.delivered));
    let holds = |fact: &&Marked| {
        fact.later == Later::Holds
            && last.as_ref().is_some_and(|last| open(last, &fact.condensed()))
    };
    let mut stale = 0;
    for session in &chain.sessions {
        let delivered = Delivered::parse(&session.delivered);
        let changed =
            facts.iter().filter(|fact| fact.changes_in().is_some_and(|at| at <= session.number));
        stale += changed.filter(|fact| open(&delivered, &fact.condensed())).count();
    }
    if let Some(last) = chain.sessions.last() {
        // The last delivery must not even have it as closed.
        let changed = facts.iter().filter(|fact| fact.later != Later::Holds);
        let text = plain(&last.delivered);
        stale += changed.filter(|fact| text.contains(&plain(&fact.condensed()))).count();
    }
    Kept { facts: facts.iter().filter(holds).count(), stale }
}
