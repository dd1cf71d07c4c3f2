//! `surgery edit`: a list of rounds with a word for each, as in `git rebase -i`.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use super::operations::all;
use super::{Left, Performed, Piece, Place, Plan, Refused, tables};
use crate::ranges;
use crate::table;
use base::shown::{local_minute, tokens};
use sessions::digest::preview;
use sessions::operation::{Fate, Fates, Fidelity, Level};
use sessions::origin::Named;
use sessions::round::{Round, Session};
use store::engagement::id_fault;

/// A line that can't be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it, and what would be right.
    pub what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.what)
    }
}

/// Characters of what a round is.
const WORDS: usize = 60;

const HELP: &str = "\
#
# The command before each round says what becomes of it:
#   keep, k               it stays
#   index, i              it becomes a line of a table; `brain-guard show` shows it in full
#   shrink, s             it stays, with a line in place of each result of a tool
#   drop, d               it is left out, and named in the answer
#   engagement NAME, e    it goes into a new session with the other rounds of NAME
# A line may name several rounds: `index 1-15,18`. Text after the numbers is ignored, and a round
# without a line stays. The session itself doesn't change.
# What a list comes to: brain-guard surgery edit SESSION --plan FILE --dry-run
";

/// The list for a session.
pub fn list(session: &Session) -> String {
    let context = session.in_context();
    let rounds = context.iter().filter_map(|seq| session.round(*seq));
    let width = context.iter().max().map_or(1, |seq| seq.to_string().len());
    let mut text = String::new();
    for round in rounds {
        let tag = round.engagement.as_ref().map(|id| format!("#{id} ")).unwrap_or_default();
        // Writing into memory cannot fail.
        let _ = writeln!(
            text,
            "keep {:>width$}  {}  {:>6}  {tag}{}",
            round.seq,
            local_minute(round.started),
            tokens(round.tokens),
            words(round)
        );
    }
    let _ = writeln!(
        text,
        "\n# {} of {}: {} rounds",
        table::short(&session.id),
        session.agent,
        context.len()
    );
    text + HELP
}

/// What a round is, in a few words.
fn words(round: &Round) -> String {
    match &round.table {
        Some(named) => {
            format!("(table of {} rounds)", named.iter().flat_map(Named::origins).count())
        }
        None => preview(&table::summary(round), WORDS),
    }
}

/// Reads a list. An empty one is no mistake.
///
/// # Errors
/// All lines that can't be followed.
pub fn parse(text: &str, session: &Session) -> Result<Fates, Vec<Mistake>> {
    let mut fates = Fates::new();
    let mut mistakes = Vec::new();
    for (at, text) in text.lines().enumerate() {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if let Err(what) = line(text, session, &mut fates) {
            mistakes.push(Mistake { line: at + 1, what });
        }
    }
    if mistakes.is_empty() { Ok(fates) } else { Err(mistakes) }
}

/// The list that gives these fates: a line for each of them.
pub fn lines(fates: &Fates) -> Vec<String> {
    let mut rounds: Vec<(String, Vec<u32>)> = Vec::new();
    for (seq, fate) in fates {
        let command = match fate {
            Fate::Keep => "keep".to_owned(),
            Fate::Index => "index".to_owned(),
            Fate::Shrink => "shrink".to_owned(),
            Fate::Drop => "drop".to_owned(),
            Fate::Engagement(name) => format!("engagement {name}"),
        };
        match rounds.iter_mut().find(|(known, _)| *known == command) {
            Some((_, seqs)) => seqs.push(*seq),
            None => rounds.push((command, vec![*seq])),
        }
    }
    let line = |(command, seqs): (String, Vec<u32>)| {
        format!("{command} {}", ranges::show(&seqs).replace(", ", ","))
    };
    rounds.into_iter().map(line).collect()
}

fn line(text: &str, session: &Session, fates: &mut Fates) -> Result<(), String> {
    let mut words = text.split_whitespace();
    let fate = match words.next().unwrap_or_default() {
        "keep" | "k" => Fate::Keep,
        "index" | "i" => Fate::Index,
        "shrink" | "s" => Fate::Shrink,
        "drop" | "d" => Fate::Drop,
        "engagement" | "e" => {
            let name = words.next().ok_or("write `engagement NAME ROUND`")?;
            if let Some(fault) = id_fault(name) {
                return Err(fault);
            }
            Fate::Engagement(name.to_owned())
        }
        other => {
            return Err(format!(
                "unknown command `{other}`; use keep, index, shrink, drop or engagement NAME"
            ));
        }
    };
    let numbers = words.next().ok_or("the number of a round is missing")?;
    for seq in ranges::parse(numbers).map_err(|e| e.to_string())?.into_iter().flatten() {
        check_fate(session, seq, &fate)?;
        if fates.insert(seq, fate.clone()).is_some() {
            return Err(format!("round {seq} has two lines"));
        }
    }
    Ok(())
}

/// Checks that the round exists, and that a round outside the context is not to stay.
fn check_fate(session: &Session, seq: u32, fate: &Fate) -> Result<(), String> {
    let Some(round) = session.round(seq) else {
        return Err(format!("there is no round {seq}: {}", session.describe_rounds()));
    };
    if matches!(fate, Fate::Keep | Fate::Shrink) && !round.is_sent() {
        return Err(format!(
            "round {seq} is no longer in the context, so it can't stay: index it, or leave it out"
        ));
    }
    Ok(())
}

fn fate(fates: &Fates, seq: u32) -> &Fate {
    fates.get(&seq).unwrap_or(&Fate::Keep)
}

fn engagement(fate: &Fate) -> Option<&str> {
    match fate {
        Fate::Engagement(name) => Some(name),
        _ => None,
    }
}

/// The plans of an edit: of the session with what stays, if any round does, and of one for each
/// engagement.
///
/// # Errors
/// [`Refused::Nothing`] if everything stays, or nothing, or if a round left the context since the
/// list was read; [`Refused::Map`] if all rounds of an engagement were rewound.
pub fn edit(session: &Session, fates: &Fates, fidelity: Fidelity) -> Result<Vec<Plan>, Refused> {
    let context = session.in_context();
    for (seq, fate) in fates {
        check_fate(session, *seq, fate).map_err(Refused::Nothing)?;
    }
    if fates.values().all(|fate| *fate == Fate::Keep) && fidelity.is_full() {
        let what = format!("every round of {} stays: there is nothing to do", session.id);
        return Err(Refused::Nothing(what));
    }
    let is_away = |seq: &u32| !session.round(*seq).is_some_and(Round::is_sent);
    let away: Vec<u32> = fates.keys().copied().filter(is_away).collect();
    let all = tables::with_away(&context, &away);
    let names: BTreeSet<&str> = fates.values().filter_map(engagement).collect();
    let mut plans = Vec::new();
    let stays = |seq: &&u32| matches!(fate(fates, **seq), Fate::Keep | Fate::Shrink);
    if all.iter().any(|seq| stays(&seq)) {
        plans.push(rest(session, fates, &all, fidelity));
    }
    let branch = session.on_branch();
    for name in names {
        let own = all.iter().copied().filter(|seq| engagement(fate(fates, *seq)) == Some(name));
        let own: Vec<u32> = own.filter(|seq| branch.binary_search(seq).is_ok()).collect();
        if own.is_empty() {
            let fault = "all of its rounds were rewound or cut off".to_owned();
            return Err(Refused::Map { key: format!("engagement {name}"), fault });
        }
        let shared = |seq: &u32| !matches!(fate(fates, *seq), Fate::Drop | Fate::Engagement(_));
        let table: Vec<u32> = all.iter().copied().filter(shared).collect();
        let mut pieces = tables::pieces(session, &table);
        pieces.extend(own.into_iter().map(Place::first).map(Piece::Round));
        let operation = Performed::Split { engagement: name.to_owned() };
        let dropped = all.iter().filter(|seq| *fate(fates, **seq) == Fate::Drop);
        let dropped = dropped.copied().map(Place::first).collect();
        let left = Left { dropped, ..Left::default() };
        plans.push(Plan::new(operation, vec![session.clone()], pieces, left, fidelity));
    }
    if plans.is_empty() {
        let what =
            format!("no round of {} would stay: keep one, or name an engagement", session.id);
        return Err(Refused::Nothing(what));
    }
    Ok(plans)
}

/// What stays of the session, with tables in place of what was indexed or went elsewhere.
fn rest(session: &Session, fates: &Fates, all: &[u32], fidelity: Fidelity) -> Plan {
    let (mut pieces, mut run, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
    for seq in all {
        match fate(fates, *seq) {
            Fate::Index | Fate::Engagement(_) => run.push(*seq),
            Fate::Drop => dropped.push(Place::first(*seq)),
            Fate::Keep | Fate::Shrink => {
                pieces.extend(tables::pieces(session, &std::mem::take(&mut run)));
                pieces.push(Piece::Round(Place::first(*seq)));
            }
        }
    }
    pieces.extend(tables::pieces(session, &run));
    let left = Left { dropped, ..Left::of(session, 0, &self::all(session), all) };
    let mut plan = Plan::new(Performed::Edit, vec![session.clone()], pieces, left, fidelity);
    let shrunk = all.iter().filter(|seq| *fate(fates, **seq) == Fate::Shrink);
    let less = Fidelity { tool_result: fidelity.tool_result.max(Level::Summary), ..fidelity };
    plan.shrunk = shrunk.map(|seq| (Place::first(*seq), less)).collect();
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::rounds::session;

    const LINE: [(u32, bool); 6] =
        [(0, false), (1, false), (2, false), (3, false), (4, false), (5, false)];

    /// `main: i12 3 s4`, and so on for each plan.
    fn shapes(text: &str, session: &Session) -> Result<Vec<String>, String> {
        let parsed = parse(text, session).map_err(|mistakes| {
            mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        })?;
        let plans = edit(session, &parsed, Fidelity::default()).map_err(|e| e.to_string())?;
        let shape = |plan: &Plan| {
            let pieces = plan.pieces.iter().map(|piece| match piece {
                Piece::Index(places) => {
                    format!("i{}", places.iter().map(|p| p.seq.to_string()).collect::<String>())
                }
                Piece::Summary(place) => format!("({})", place.seq),
                Piece::Round(p) if plan.shrunk.contains_key(p) => format!("s{}", p.seq),
                Piece::Round(p) => p.seq.to_string(),
            });
            pieces.collect::<Vec<_>>().join(" ")
        };
        Ok(plans.iter().map(shape).collect())
    }

    #[test]
    fn one_list_compresses_extracts_and_splits() {
        let text = "# a comment\nindex 1-2 whatever\nshrink 3\ndrop 4\n\ne console-work 5\nkeep 6";
        assert_eq!(shapes(text, &session(&LINE)).unwrap(), ["i12 s3 i5 6", "i1236 5"]);
        let parsed = parse(text, &session(&LINE)).unwrap();
        let plans = edit(&session(&LINE), &parsed, Fidelity::default()).unwrap();
        assert_eq!(plans[0].left.dropped, [Place::first(4)]);
        assert_eq!(plans[1].operation, Performed::Split { engagement: "console-work".into() });
        // Only what goes elsewhere: an extraction, or a split.
        assert_eq!(shapes("d 1-4\ne a 5-6", &session(&LINE)).unwrap(), ["56".replace("56", "5 6")]);
        assert_eq!(
            shapes("i 1-2\ne a 3-4\ne b 5,6", &session(&LINE)).unwrap(),
            ["i12 3 4", "i12 5 6"]
        );
        // What is not named stays.
        assert_eq!(shapes("i 2", &session(&LINE)).unwrap(), ["1 i2 3 4 5 6"]);
    }

    #[test]
    fn the_list_that_is_opened_changes_nothing() {
        let session = session(&[(0, false), (1, false), (1, false), (3, true), (4, false)]);
        let text = list(&session);
        assert!(text.starts_with("keep 4  2026-03-19T10:03Z     100  ask 3\nkeep 5 "), "{text}");
        let parsed = parse(&text, &session).unwrap();
        assert!(!parsed.is_empty() && parse("# x\n\n", &session).unwrap().is_empty());
        assert!(
            edit(&session, &parsed, Fidelity::default())
                .unwrap_err()
                .to_string()
                .ends_with("nothing to do")
        );
        // The summary that the context begins with stays in a table.
        assert_eq!(shapes("i 1-4", &session).unwrap(), ["i123 (4) i4 5"]);
    }

    #[test]
    fn mistakes_are_named_by_line() {
        let session = session(&[(0, false), (1, false), (2, true), (3, false)]);
        let text =
            "fixup 3\nkeep\nkeep x\n# fine\nindex 9\nkeep 1\nindex 4\ndrop 4\nengagement a/b 3\ne";
        let expected = [
            "1: unknown command `fixup`; use keep, index,",
            "2: the number of a round is missing",
            "3: \"x\" is not a range of rounds",
            "5: there is no round 9: it has rounds 1-4",
            "6: round 1 is no longer in the context, so it can't stay",
            "8: round 4 has two lines",
            "9: \"a/b\" is not an engagement's id",
            "10: write `engagement NAME ROUND`",
        ];
        let mistakes = parse(text, &session).unwrap_err();
        assert_eq!(mistakes.len(), expected.len(), "{mistakes:?}");
        for (mistake, expected) in mistakes.iter().zip(expected) {
            assert!(mistake.to_string().starts_with(expected), "{mistake}");
        }
        assert!(shapes("drop 1-4", &session).unwrap_err().contains("no round of"));
    }
}
