//! The random behavior of the agent in each session: its calls, and the context usage of each.

use std::collections::VecDeque;

use crate::climb::notes::SLOPPY;
use crate::soak::scenario::Dice;

/// One intended action of the agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Ordinary work with a tool: `Read`, `Bash`, `grep`, `Write`, `Again` (a known file),
    /// `WebFetch`, `Agent`.
    Work(&'static str),
    /// Another call in the same answer.
    Also(&'static str),
    /// Writes a fact by `append`.
    Append(&'static str),
    /// Writes a fact by an edit of the compaction file with this mistake.
    Sloppy(&'static str),
    /// A brain-guard command in a form that is not accepted.
    NearMiss(&'static str),
    /// Closes every next step, so that a seal asks for one.
    CloseAll,
    Question,
    Seal(&'static str),
    End,
    /// Ends the turn with an answer that the test holds back.
    EndHeld,
    /// Starts a background agent that runs for a while.
    Subagent,
    /// Starts a background shell for this many tenths of a second.
    Background(u64),
}

/// The action of a person at a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    MidTurn,
    Draft,
    LaterNow,
    Escape,
    Override,
    InNotice,
    Unsealed,
    /// Types an answer slowly, across the end of the countdown.
    Typing,
    /// Answers the notice by its digits.
    Digits,
    /// Sends more prompts after the seal.
    Speaks,
    /// Types `/clear` in the notice.
    OwnClear,
}

pub const PERSONS: [Person; 11] = [
    Person::LaterNow,
    Person::Draft,
    Person::Escape,
    Person::MidTurn,
    Person::Override,
    Person::InNotice,
    Person::Unsealed,
    Person::Typing,
    Person::Digits,
    Person::Speaks,
    Person::OwnClear,
];

/// Commands that are almost valid brain-guard commands.
const NEAR: [&str; 5] = [
    "brain-guard seal | tee sealed.txt",
    "brain-guard seal > /dev/null",
    "brain-guard append --kind thread \"costs $5\"",
    "brain-guard seal # done",
    "brain-guard seal; ls",
];

#[derive(Debug, Clone)]
pub struct Plan {
    /// Each act with its context usage in percent.
    pub acts: VecDeque<(f64, Act)>,
    /// How often the agent retries a denied call.
    pub retries: usize,
    /// The agent tries another tool for the same purpose.
    pub detours: bool,
    /// The agent adds what a seal asks for, instead of only sealing again.
    pub answers: bool,
    pub person: Option<Person>,
    /// How the session ends, for the output.
    pub name: &'static str,
}

/// Chooses the agent of a session at random.
pub fn draw(dice: &mut Dice, person: Option<Person>) -> Plan {
    let (retries, detours) = ([0, 0, 2][pick(dice, 3)], dice.percent(50));
    let mut plan = Plan {
        acts: VecDeque::new(),
        retries,
        detours,
        answers: dice.percent(50),
        person,
        name: "",
    };
    let mut at = 6.0 + part(dice, 3.0);
    let mut add = |plan: &mut Plan, step: f64, act: Act| {
        at += step;
        plan.acts.push_back((at, act));
        at
    };
    add(&mut plan, 0.0, Act::Work("Read"));
    if dice.percent(40) {
        add(&mut plan, 3.0, Act::Background(10 + dice.within(0, 60) as u64));
    }
    if dice.percent(40) {
        add(&mut plan, 2.0, Act::Subagent);
    }
    add(&mut plan, 1.0, Act::Work("Write"));
    let now = add(&mut plan, 1.0, Act::Work(work(dice)));
    let coach = 20.5 + part(dice, 3.0);
    add(&mut plan, coach - now, Act::Work(work(dice)));
    if dice.percent(40) {
        add(&mut plan, 0.3, Act::Append("lesson"));
    }
    let now = add(&mut plan, 0.2, Act::Work("Read"));
    let blocks = 25.3 + part(dice, 2.0);
    add(&mut plan, blocks - now, Act::Work("Read"));
    add(&mut plan, 0.3, Act::Work("Again"));
    let mut now = add(&mut plan, 0.3, Act::Work(work(dice)));
    if person.is_none() && dice.percent(15) {
        plan.name = "seals early";
        add(&mut plan, 0.3, Act::Append("next"));
        add(&mut plan, 0.1, Act::Seal("brain-guard seal --clear"));
        if dice.percent(50) {
            add(&mut plan, 0.1, Act::Work("Bash"));
        }
        add(&mut plan, 0.1, Act::End);
        return plan;
    }
    if dice.percent(50) {
        now = add(&mut plan, 0.4, Act::Work(work(dice)));
    }
    add(&mut plan, 30.2 + part(dice, 1.5) - now, Act::Work(work(dice)));
    if dice.percent(30) {
        add(&mut plan, 0.0, Act::Also("Write"));
    }
    add(&mut plan, 0.2, Act::Work("Again"));
    for act in at_the_top(dice, person) {
        add(&mut plan, 0.1, act);
    }
    let (name, end) = ending(dice, person);
    plan.name = name;
    for act in end {
        add(&mut plan, 0.1, act);
    }
    plan
}

fn at_the_top(dice: &mut Dice, person: Option<Person>) -> Vec<Act> {
    let mut acts = vec![Act::Append("thread")];
    let form = SLOPPY[pick(dice, SLOPPY.len())];
    let near = NEAR[pick(dice, NEAR.len())];
    // A dialog would catch the keys of the person.
    let asks = !matches!(person, Some(Person::MidTurn | Person::Draft));
    for (percent, act) in [
        (60, Act::Sloppy(form)),
        (50, Act::NearMiss(near)),
        (if asks { 40 } else { 0 }, Act::Question),
        (if person.is_none() { 35 } else { 0 }, Act::End),
    ] {
        if dice.percent(percent) {
            let place = pick(dice, acts.len() + 1);
            acts.insert(place, act);
        }
    }
    acts
}

fn ending(dice: &mut Dice, person: Option<Person>) -> (&'static str, Vec<Act>) {
    let seal = Act::Seal("brain-guard seal");
    let next = Act::Append("next");
    let ends = match person {
        Some(Person::Unsealed) => return ("waits for the person", vec![Act::End; 3]),
        Some(Person::Escape) => {
            let end =
                vec![next, seal, Act::EndHeld, Act::Work("Bash"), Act::Work("Write"), Act::End];
            return ("is interrupted", end);
        }
        Some(Person::InNotice) => {
            return (
                "works in the notice",
                vec![next, seal, Act::End, Act::Work("Bash"), Act::End],
            );
        }
        Some(Person::Speaks) => {
            return ("is spoken to after the seal", vec![next, seal, Act::End, Act::End, Act::End]);
        }
        Some(Person::Draft | Person::MidTurn) => {
            return ("seals", vec![next, seal, Act::End]);
        }
        Some(_) | None => dice.within(0, 7),
    };
    match ends {
        0 => ("seals without a next step", vec![Act::CloseAll, seal, Act::End]),
        1 if person.is_none() => ("never seals", vec![Act::End; 3]),
        2 if person.is_none() => {
            ("tries tools after the seal", vec![next, seal, Act::Work("Bash"), Act::End])
        }
        3 => ("appends after the seal", vec![next, seal, Act::Append("thread"), Act::End]),
        4 => ("asks after the seal", vec![next, seal, Act::Question, Act::End]),
        5 if person.is_none() => {
            let form = SLOPPY[pick(dice, SLOPPY.len())];
            let again = seal.clone();
            ("edits after the seal", vec![next, seal, Act::Sloppy(form), Act::End, again, Act::End])
        }
        _ => ("seals", vec![next, seal, Act::End]),
    }
}

fn work(dice: &mut Dice) -> &'static str {
    ["Read", "Bash", "grep", "Write", "Read", "Agent"][pick(dice, 6)]
}

fn pick(dice: &mut Dice, count: usize) -> usize {
    dice.within(0, count as i64) as usize
}

fn part(dice: &mut Dice, most: f64) -> f64 {
    dice.within(0, 1000) as f64 / 1000.0 * most
}
