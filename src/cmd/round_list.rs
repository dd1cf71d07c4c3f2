//! `rounds`: lists a session's rounds, one line each.

use std::fmt;

use serde::Serialize;

use super::look::Look;
use super::surgery::source::Store;
use super::{Context, Exit, Run, show};
use crate::cli::RoundsArgs;
use base::clock::Time;
use base::env::Env;
use base::shown::{count_with_noun, local_minute, tokens};
use sessions::refusal::Refusal;
use sessions::round::{Round, Session};
use sessions::sent::State;
use sessions::span;
use store::blocks::{Reader, Rows};
use surgery::ranges;
use surgery::table::{number, reference, short, summary};

/// Most columns of a tag.
const TAG: usize = 24;

/// Fewest columns for what a round is about.
const WORDS: usize = 20;

/// A round of the list.
#[derive(Debug, Serialize)]
struct Row {
    round: u32,
    #[serde(rename = "ref")]
    reference: String,
    started: Option<Time>,
    ended: Option<Time>,
    tokens: u64,
    engagement: Option<String>,
    state: State,
    summary: String,
}

/// The rounds in the context, and its tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
struct Total {
    rounds: usize,
    tokens: u64,
}

/// The rounds of a session.
#[derive(Debug, Serialize)]
pub struct RoundList {
    session: String,
    agent: String,
    /// How many rounds the session has.
    total: usize,
    /// The line whose parent is not in the file, so that the client sends nothing before it.
    cut_off_by_line: Option<u64>,
    /// What the API refused at its end.
    refusal: Option<Refusal>,
    #[serde(skip)]
    is_mendable: bool,
    in_context: Total,
    /// Their numbers.
    #[serde(skip)]
    sent: String,
    rounds: Vec<Row>,
    #[serde(skip)]
    look: Look,
}

impl Run for RoundsArgs {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        show(&RoundList::of(env, self, Look::of(env))?, self.json)?;
        Ok(Exit::Done)
    }
}

impl RoundList {
    /// The rounds that the arguments name. Imports what is new in the session.
    ///
    /// # Errors
    /// No such session, several, or one that cannot be imported.
    pub fn of(env: &Env, args: &RoundsArgs, look: Look) -> anyhow::Result<Self> {
        let store = Store::open(env)?;
        let session = store.session(env, args.session.as_deref())?;
        let refusal = refusal(&store, &session);
        Ok(Self { refusal, ..Self::new(&session, args.last, look) })
    }

    /// The newest `last` rounds, or all.
    fn new(session: &Session, last: Option<usize>, look: Look) -> Self {
        let mut context = session.in_context();
        context.sort_unstable();
        let total = session.rounds.len();
        let row = |round: &Round| Row {
            round: round.seq,
            reference: reference(session, round.seq),
            started: round.started,
            ended: round.ended,
            tokens: round.tokens,
            engagement: round.engagement.clone(),
            state: round.standing.state,
            summary: summary(round),
        };
        let skipped = last.map_or(0, |last| total.saturating_sub(last));
        Self {
            session: session.id.clone(),
            agent: session.agent.clone(),
            total,
            cut_off_by_line: session.cut,
            refusal: None,
            is_mendable: session.dialect == "claude",
            in_context: Total {
                rounds: context.len(),
                tokens: surgery::context::Context::of(session).now,
            },
            sent: ranges::show(&context),
            rounds: session.rounds.iter().skip(skipped).map(row).collect(),
            look,
        }
    }
}

/// What the API refused, if no answer came after it.
pub(crate) fn refusal(store: &Store, session: &Session) -> Option<Refusal> {
    let mut rows = Rows::default();
    let last = session.rounds.last()?;
    Reader::open(&store.folder(session)).ok()?.round(last.seq, &mut rows).ok()?;
    let lines: Vec<&[u8]> = rows.iter().collect();
    let is_answer = |line: &&&[u8]| span::find(line, "type") == Some(b"\"assistant\"");
    lines.iter().rfind(is_answer).and_then(|line| Refusal::of_row(line))
}

impl fmt::Display for RoundList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widest = |text: &dyn Fn(&Row) -> String| {
            self.rounds.iter().map(|row| text(row).chars().count()).max().unwrap_or_default()
        };
        let tag = |row: &Row| match &row.engagement {
            Some(id) => format!("#{}  ", Look::fit(id, TAG)),
            None => String::new(),
        };
        let (numbers, tags) = (widest(&|row| number(row.round)), widest(&tag));
        for row in &self.rounds {
            let mark = match row.state {
                State::InContext => "",
                State::Compacted => "(compacted) ",
                State::Rewound => "(rewound) ",
                State::Cut => "(cut off) ",
            };
            let head = format!(
                "{:>numbers$}  {:<17}  {:>5}  {:<tags$}{mark}",
                number(row.round),
                local_minute(row.started),
                tokens(row.tokens),
                tag(row)
            );
            let room = self.look.width.saturating_sub(head.chars().count()).max(WORDS);
            let line = format!("{head}{}", Look::fit(&row.summary, room));
            match row.state {
                State::InContext => writeln!(f, "{line}")?,
                State::Compacted | State::Rewound | State::Cut => {
                    writeln!(f, "{}", self.look.faint(&line))?;
                }
            }
        }
        let listed = match self.rounds.len() {
            listed if listed < self.total => format!("the last {listed} of "),
            _ => String::new(),
        };
        let last = self.rounds.last().map_or(0, |row| row.round);
        if let Some(line) = self.cut_off_by_line {
            write!(
                f,
                "the client sends only rounds {}: line {line} names a parent that is not in the file",
                self.sent
            )?;
            let mend = format!(
                ". `brain-guard mend {}` makes a session with all of them",
                short(&self.session)
            );
            writeln!(f, "{}", if self.is_mendable { &mend } else { "" })?;
        }
        if let Some(refusal) = self.refusal {
            writeln!(
                f,
                "it ends in an API error: {}. `brain-guard mend {}` makes a session without that",
                refusal.words(),
                short(&self.session)
            )?;
        }
        write!(
            f,
            "{listed}{}, {} in the context with {} tokens\nread one: brain-guard show {}:{last}",
            count_with_noun(self.total, "round", "rounds"),
            self.in_context.rounds,
            tokens(self.in_context.tokens),
            short(&self.session),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::at;
    use testing::rounds::session;

    fn sample() -> Session {
        // Round 2 was rewound, and round 4 began with a compaction.
        let mut session = session(&[(0, false), (1, false), (1, false), (3, true), (4, false)]);
        for round in &mut session.rounds {
            round.started = Some(at("2026-03-19T10:23:00Z"));
            round.tokens = 1_500;
            round.user_preview = format!("question {} {}", round.seq, "about apples ".repeat(5));
        }
        session.rounds[4].engagement = Some("console-work".to_owned());
        session
    }

    #[test]
    fn every_round_has_a_line_that_fits() {
        let list = RoundList::new(&sample(), None, Look { colour: false, width: 80 }).to_string();
        let lines: Vec<&str> = list.lines().collect();
        let (rounds, footer) = lines.split_at(5);
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{list}");
        assert!(rounds[0].contains("(compacted) question 1 about"), "{list}");
        assert!(rounds[1].contains("(rewound) question 2"), "{list}");
        assert!(
            rounds[4].starts_with("005  2026-03-19T10:23Z   1.5k  #console-work  question 5"),
            "{list}"
        );
        assert!(rounds[4].ends_with("..."), "{list}");
        assert_eq!(
            footer,
            [
                "5 rounds, 2 in the context with 3.0k tokens",
                "read one: brain-guard show 3f0a9d1e:5"
            ]
        );
    }

    #[test]
    fn last_lists_the_newest_rounds() {
        let list = RoundList::new(&sample(), Some(2), Look::PLAIN);
        assert_eq!(list.rounds.iter().map(|row| row.round).collect::<Vec<_>>(), [4, 5]);
        assert!(list.to_string().contains("\nthe last 2 of 5 rounds, 2 in the context"));
        assert_eq!(RoundList::new(&sample(), Some(9), Look::PLAIN).rounds.len(), 5);
    }
}
