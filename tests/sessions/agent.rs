//! The agents of the chain: what each writes where the seal asks for a condensed entry; and the
//! facts that the first ten sessions learn, of which the last one's delivery is to hold most.

use crate::judge::{Delivered, Line, plain};
use crate::note::{self, Dice, Note};
use crate::run::{Chain, words};

/// What an agent does where the seal asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Hands a summary of its own to every seal, and answers nothing.
    Summarizes,
    /// Never answers: what the seal does by itself.
    Silent,
    /// Condenses when it is asked, to the words it is given.
    Careful,
    /// Writes a third of the words it may.
    Terse,
    /// Copies whole entries, half as many words again as it may.
    Verbose,
    /// Answers every other time, and then keeps every other fact.
    Sloppy,
}

/// Those that condense, or don't, and write no summary else.
pub const AGENTS: [Agent; 5] =
    [Agent::Careful, Agent::Terse, Agent::Verbose, Agent::Sloppy, Agent::Silent];

/// What the seal printed as it asked.
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
    /// The words of open work that it closes because the seal says that it leaves too little room.
    pub fn closes(self, printed: &str) -> usize {
        let asks = |printed: &str| {
            let (_, open) = printed.split_once("Open work and pins take ")?;
            let mut figures = open.split(' ').filter_map(|word| word.parse::<usize>().ok());
            Some(figures.next()?.saturating_sub(figures.next()? * 3 / 4))
        };
        let heeds = matches!(self, Self::Careful | Self::Terse | Self::Verbose);
        if heeds { asks(printed).unwrap_or_default() } else { 0 }
    }

    /// The condensed entry it answers with, from nothing but what the seal printed; longer by
    /// the words that it closed, as the seal says.
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

/// Pieces as one entry of so many words; what does not fit is left out.
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

/// The facts in a text, each as it is condensed: from its number to the next `;` or `:`.
fn marked(text: &str) -> Vec<&str> {
    let starts = text.match_indices("fact-").map(|(at, _)| &text[at..]);
    starts.map(|from| from.split([';', ':']).next().unwrap_or(from).trim()).collect()
}

/// How many facts stay true; a few more are closed or corrected later.
pub const FACTS: u32 = 20;
const CHANGED: u32 = 6;

/// What becomes of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Later {
    Holds,
    Closed,
    Corrected,
}

/// A fact that is marked, so that it is known again however it is told.
#[derive(Debug, Clone)]
pub struct Marked {
    number: u32,
    /// The session that learns it.
    pub session: u32,
    pub later: Later,
}

const SUBJECTS: [&str; 6] =
    ["retry queue", "rate limiter", "search index", "mail queue", "audit log", "tenant router"];

impl Marked {
    /// All of them: two or three in each of the first ten sessions.
    pub fn all() -> Vec<Self> {
        let later = |number| match number {
            n if n < FACTS => Later::Holds,
            n if n % 2 == 0 => Later::Closed,
            _ => Later::Corrected,
        };
        let all = 0..FACTS + CHANGED;
        all.map(|number| Self { number, session: number % 10 + 1, later: later(number) }).collect()
    }

    /// The session that closes or corrects it.
    pub fn changes_in(&self) -> Option<u32> {
        (self.later != Later::Holds).then_some(self.session + 9)
    }

    /// In seven words at most.
    pub fn condensed(&self) -> String {
        let subject = SUBJECTS[self.number as usize % SUBJECTS.len()];
        format!("fact-{:02} {subject} stops at {} ms", self.number, 1_700 + 13 * self.number)
    }

    /// What it says once it is corrected.
    pub fn corrected(&self) -> String {
        self.condensed().replace(" stops at ", " starts at ")
    }

    /// As the session writes it down: with how it was found, which is another story each time.
    pub fn note(&self) -> Note {
        let story = note::insight(&mut Dice(u64::from(self.number))).text;
        let text = format!("{}: seen where {story}", self.condensed());
        Note { kind: "lesson", text }
    }
}

/// How a chain kept the facts.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// Of the facts that hold, those in the last delivery.
    pub facts: usize,
    /// Deliveries that hold a fact as it was before it was closed or corrected.
    pub stale: usize,
    /// Corrected facts in the last delivery, as they are now.
    pub corrected: usize,
}

/// Looks for the facts in what was delivered.
pub fn kept(chain: &Chain) -> Kept {
    let facts = Marked::all();
    let open = |delivered: &Delivered, text: &str| delivered.says(text, Line::open);
    let last = chain.sessions.last().map(|session| Delivered::of(&session.delivered));
    let holds = |fact: &&Marked| {
        fact.later == Later::Holds
            && last.as_ref().is_some_and(|last| open(last, &fact.condensed()))
    };
    let corrected = |fact: &&Marked| {
        fact.later == Later::Corrected
            && last.as_ref().is_some_and(|last| open(last, &fact.corrected()))
    };
    let mut stale = 0;
    for session in &chain.sessions {
        let delivered = Delivered::of(&session.delivered);
        let changed =
            facts.iter().filter(|fact| fact.changes_in().is_some_and(|at| at <= session.number));
        stale += changed.filter(|fact| open(&delivered, &fact.condensed())).count();
    }
    if let Some(last) = chain.sessions.last() {
        // In the last one it must not even stand closed.
        let changed = facts.iter().filter(|fact| fact.later != Later::Holds);
        let text = plain(&last.delivered);
        stale += changed.filter(|fact| text.contains(&plain(&fact.condensed()))).count();
    }
    Kept {
        facts: facts.iter().filter(holds).count(),
        stale,
        corrected: facts.iter().filter(corrected).count(),
    }
}
