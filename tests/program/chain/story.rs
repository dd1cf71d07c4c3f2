//! What the chain's agent does in each session: a growing job, in bursts, with repetition.

use crate::chain::note::{self, Dice, Note};

/// The sessions that pin something.
const PINS: [u32; 3] = [2, 9, 17];

/// Something that must stay until closed.
#[derive(Debug, Clone)]
struct Live {
    text: String,
    /// The session that closes it; `None` for never.
    until: Option<u32>,
}

/// A fact that a session wrote down.
#[derive(Debug, Clone)]
pub struct Fact {
    pub session: u32,
    pub text: String,
}

/// What one session does, in this order.
#[derive(Debug)]
pub struct Plan {
    /// Entries to close, by text.
    pub close: Vec<String>,
    /// Notes to append, command by command.
    pub bursts: Vec<Vec<Note>>,
    /// An entry to reword by hand.
    pub edit: Option<(String, String)>,
    /// Whether it also seals halfway, without a clear.
    pub seals_halfway: bool,
    /// The summary for its seal.
    pub summary: Vec<String>,
}

/// The job so far.
#[derive(Debug)]
pub struct Story {
    dice: Dice,
    /// Makes threads and steps unique.
    number: u32,
    pins: Vec<String>,
    directives: Vec<Live>,
    open: Vec<Live>,
    facts: Vec<Fact>,
}

impl Story {
    pub fn new(seed: u64) -> Self {
        let (pins, directives, open) = (Vec::new(), Vec::new(), Vec::new());
        Self { dice: Dice(seed), number: 0, pins, directives, open, facts: Vec::new() }
    }

    pub fn pins(&self) -> Vec<String> {
        self.pins.clone()
    }

    pub fn directives(&self) -> Vec<String> {
        self.directives.iter().map(|live| live.text.clone()).collect()
    }

    pub fn open(&self) -> Vec<String> {
        self.open.iter().map(|live| live.text.clone()).collect()
    }

    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Plans one of `of` sessions; `ids` are entries it could name.
    pub fn session(&mut self, session: u32, of: u32, ids: &[String]) -> Plan {
        let grown = session * 4 / of.max(1);
        let close = self.due(session);
        let mut notes = self.open_up(session, grown);
        let burst = self.dice.percent(25);
        let insights =
            self.dice.within(3, 6) + grown + if burst { self.dice.within(8, 20) } else { 0 };
        for _ in 0..insights {
            notes.push(self.remark(session, ids));
        }
        if let Some(nth) = PINS.iter().position(|pinned| *pinned == session) {
            let rule = [
                "a release is tagged from a clean checkout and from nowhere else",
                "the production database is read through the replica, never directly",
                "the numbers in the report come from the ledger and not from the cache",
            ][nth];
            self.pins.push(rule.to_owned());
            self.facts.push(Fact { session, text: rule.to_owned() });
            notes.push(Note { kind: ["lesson", "risk", "thread"][nth], text: format!("! {rule}") });
        }
        if self.dice.percent(20) {
            let text = format!("none: session {session} leaned on nothing that was not checked");
            notes.push(Note { kind: "risk", text });
        }
        let bursts = self.deal(notes);
        let edit = (session % 6 == 4).then(|| self.reword(session)).flatten();
        let summary: Vec<String> =
            (0..self.dice.within(2, 4)).map(|_| note::sentence(&mut self.dice, session)).collect();
        let facts = summary.iter().map(|text| Fact { session, text: text.clone() });
        self.facts.extend(facts);
        Plan { close, bursts, edit, seals_halfway: session % 8 == 5, summary }
    }

    /// What the agent closes when the seal says that open work is this many words too long: the
    /// oldest first.
    pub fn tidy(&mut self, words: usize) -> Vec<String> {
        let (mut closed, mut freed) = (Vec::new(), 0);
        while freed < words && !self.open.is_empty() {
            let text = self.open.remove(0).text;
            freed += text.split_whitespace().count();
            closed.push(text);
        }
        closed
    }

    /// Closes what is due in this session.
    fn due(&mut self, session: u32) -> Vec<String> {
        let mut closed = Vec::new();
        for lives in [&mut self.directives, &mut self.open] {
            let due = |live: &Live| live.until.is_some_and(|until| until <= session);
            closed.extend(lives.iter().filter(|live| due(live)).map(|live| live.text.clone()));
            lives.retain(|live| !due(live));
        }
        closed
    }

    /// Threads, next steps and directives, some of which stay long.
    fn open_up(&mut self, session: u32, grown: u32) -> Vec<Note> {
        let mut notes = Vec::new();
        let dice = &mut self.dice;
        let flood = if dice.percent(15) { dice.within(6, 12) } else { 0 };
        for _ in 0..dice.within(1, 3) + grown / 2 + flood {
            self.number += 1;
            let note = note::thread(dice, self.number);
            let until = match dice.within(1, 10) {
                1..=6 => Some(session + dice.within(1, 2)),
                7..=9 => Some(session + dice.within(2, 6)),
                _ => None,
            };
            self.open.push(Live { text: note.text.clone(), until });
            notes.push(note);
        }
        for _ in 0..dice.within(1, 3) {
            self.number += 1;
            let note = note::step(dice, self.number);
            self.open
                .push(Live { text: note.text.clone(), until: Some(session + dice.within(1, 3)) });
            notes.push(note);
        }
        if session == 1 || dice.percent(30) {
            self.number += 1;
            let note = note::directive(dice, self.number);
            let until = dice.percent(70).then(|| session + dice.within(2, 12));
            self.directives.push(Live { text: note.text.clone(), until });
            // A shorter directive also binds; neither replaces the other.
            let short = note.text.split(" (").next().unwrap_or_default().to_owned();
            if dice.percent(40) && !self.directives.iter().any(|live| live.text == short) {
                let shorter = Note { kind: note.kind, text: short.clone() };
                self.directives.push(Live { text: short, until });
                notes.push(shorter);
            }
            notes.push(note);
        }
        notes
    }

    /// An insight or a risk, new or repeated, that may name another entry.
    fn remark(&mut self, session: u32, ids: &[String]) -> Note {
        let dice = &mut self.dice;
        if !self.facts.is_empty() && dice.percent(30) {
            // Mostly recent, sometimes old.
            let (last, few) = (self.facts.len() as u32 - 1, dice.percent(60));
            let first = if few { last.saturating_sub(12) } else { 0 };
            let before = self.facts[dice.within(first, last) as usize].text.clone();
            return Note { kind: "lesson", text: note::again(dice, &before) };
        }
        let mut note = if dice.percent(35) { note::risk(dice) } else { note::insight(dice) };
        if !ids.is_empty() && dice.percent(20) {
            let at = dice.within(0, ids.len() as u32 - 1) as usize;
            note.text = format!("{}, compare {}", note.text, ids[at]);
        }
        if dice.percent(8) {
            note.text += "\n  `cargo test --test suite -- --exact`";
        }
        let text = note.text.lines().next().unwrap_or_default().to_owned();
        self.facts.push(Fact { session, text });
        note
    }

    /// Distributes the notes to commands, in random order.
    fn deal(&mut self, mut notes: Vec<Note>) -> Vec<Vec<Note>> {
        for at in (1..notes.len()).rev() {
            notes.swap(at, self.dice.within(0, at as u32) as usize);
        }
        let size = self.dice.within(3, 9) as usize;
        notes.chunks(size).map(<[Note]>::to_vec).collect()
    }

    /// Rewords one of this session's facts.
    fn reword(&mut self, session: u32) -> Option<(String, String)> {
        let fact = self.facts.iter_mut().find(|fact| {
            fact.session == session
                && fact.text.contains(" when ")
                && !self.pins.contains(&fact.text)
        })?;
        let before = fact.text.clone();
        fact.text = before.replacen(" when ", " each time ", 1);
        Some((before, fact.text.clone()))
    }
}
