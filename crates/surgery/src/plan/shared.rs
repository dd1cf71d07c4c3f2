//! Decides which of two rounds that begin alike is redundant. It compares their rows, because forks
//! begin alike wherever they part.

use crate::plan::Refused;
use std::collections::HashMap;
use std::io;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::preserved;
use sessions::dialect::{self, Dialect, Kind, Row, Scratch};
use sessions::round::{Round, Session};
use sessions::rows::Rows;
use sessions::span;

/// Reads the rows of a session's round into a buffer, which it clears first.
pub type RowsOf<'r> = dyn FnMut(&Session, &Round, &mut Rows) -> io::Result<()> + 'r;

/// Which of two rounds is redundant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Redundant {
    First,
    Second,
}

/// What a row and all its copies share: the original's session and id.
pub(super) type Key = (String, String);

/// A row that says something.
struct Said {
    /// A digest of what it says.
    words: [u8; 32],
    /// The length of what it says.
    weight: usize,
    own: Option<Key>,
    /// The rows it was copied from, the nearest first.
    from: Vec<Key>,
    /// Whether part of it was removed when it was copied.
    less: bool,
}

impl Said {
    /// All keys that identify it.
    fn keys(&self) -> impl Iterator<Item = &Key> {
        self.own.iter().chain(&self.from)
    }

    /// Whether it was copied from `other`.
    fn is_from(&self, other: &Self) -> bool {
        other.own.as_ref().is_some_and(|own| self.from.contains(own))
    }

    /// Whether `other`, of the same origin, says all of it: it was copied from `other`, says the
    /// same, or kept less.
    fn is_in(&self, other: &Self) -> bool {
        let less = match (self.less, other.less) {
            (true, false) => true,
            (true, true) => self.weight <= other.weight,
            (false, _) => false,
        };
        self.is_from(other) || self.words == other.words || less
    }
}

/// Which round the other one makes redundant, if any. It is a row-by-row copy of the other, even at
/// lower fidelity. Or both are copies of a third, and it has no more of that. Or it is the
/// beginning of the other. `None` if each says something of its own.
pub(super) fn spare(
    a: (&Session, &Round),
    b: (&Session, &Round),
    rows: &mut RowsOf,
) -> io::Result<Option<Redundant>> {
    let (first, second) = (said(a, rows)?, said(b, rows)?);
    // If both say the same, the larger one stays. Their order means nothing: sessions that began at
    // one time are sorted by their ids.
    let more = first.len() > second.len() || (a.1.rows, a.1.bytes) >= (b.1.rows, b.1.bytes);
    let in_first = among(&second, &first, Said::is_in);
    let in_second = among(&first, &second, Said::is_in);
    Ok(if among(&second, &first, Said::is_from) {
        Some(Redundant::Second)
    } else if among(&first, &second, Said::is_from) {
        Some(Redundant::First)
    } else if in_first && (more || !in_second) || more && begins(&first, &second) {
        Some(Redundant::Second)
    } else if in_second || begins(&second, &first) {
        Some(Redundant::First)
    } else {
        None
    })
}

/// The keys that identify a round in other sessions: those of its first row that says something. If
/// a compaction begins it, those of all rows, because what it kept begins rounds of its own in a
/// copy.
pub(super) fn keys(of: (&Session, &Round), rows: &mut RowsOf) -> io::Result<Vec<Key>> {
    let count = if of.1.boundary { usize::MAX } else { 1 };
    let said = said(of, rows)?;
    Ok(said.iter().take(count).flat_map(Said::keys).cloned().collect())
}

/// Rounds that an index table stands for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Table {
    /// Their session.
    pub session: String,
    /// The first row of each.
    pub first: Vec<Option<String>>,
}

/// What an index table stands for, if the round is that table and nothing else.
pub(super) fn table(of: (&Session, &Round), read: &mut RowsOf) -> io::Result<Option<Table>> {
    let (session, round) = of;
    let Some(dialect) = dialect::named(&session.dialect) else { return Ok(None) };
    let (mut rows, mut scratch) = (Rows::with_capacity(round.bytes as usize), Scratch::default());
    read(session, round, &mut rows)?;
    let mut found = None;
    for line in rows.iter() {
        let row = dialect.row(line, &mut scratch);
        if row.told {
            found = span::find(line, "brainGuard").and_then(|told| span::find(told, "stands_for"));
        } else if words(dialect, line, &row).is_some() {
            return Ok(None);
        }
    }
    Ok(found.and_then(|told| serde_json::from_slice(told).ok()))
}

/// Whether each row of `copy` has its own row in `whole` with a shared key that satisfies `is`. The
/// first rows must match; the others come in any order, because a copy has the rows of a message
/// together.
fn among(copy: &[Said], whole: &[Said], is: fn(&Said, &Said) -> bool) -> bool {
    let mut places: HashMap<&Key, usize> = HashMap::new();
    for (at, row) in whole.iter().enumerate() {
        for key in row.keys() {
            places.entry(key).or_insert(at);
        }
    }
    let places = copy.iter().map(|row| {
        let at = row.keys().find_map(|key| places.get(key).copied())?;
        is(row, &whole[at]).then_some(at)
    });
    match places.collect::<Option<Vec<usize>>>() {
        Some(mut places) => {
            let first = places.first().copied();
            places.sort_unstable();
            first.is_some_and(|first| first == places[0]) && places.is_sorted_by(|a, b| a < b)
        }
        None => false,
    }
}

/// Whether `long` begins with all that `short` says.
fn begins(long: &[Said], short: &[Said]) -> bool {
    short.len() <= long.len() && short.iter().zip(long).all(|(a, b)| a.words == b.words)
}

/// What a round says, in order, with what the compaction that begins it kept: the exporter writes
/// that there, too.
fn said(of: (&Session, &Round), read: &mut RowsOf) -> io::Result<Vec<Said>> {
    let (session, round) = of;
    let Some(dialect) = dialect::named(&session.dialect) else { return Ok(Vec::new()) };
    let (mut rows, mut scratch) = (Rows::with_capacity(round.bytes as usize), Scratch::default());
    read(session, round, &mut rows)?;
    let mut earlier = |round: &Round, rows: &mut Rows| {
        rows.clear();
        read(session, round, rows)
    };
    preserved::put(session, round, &mut rows, &|_| false, &mut earlier)?;
    let rows = rows.iter().filter_map(|line| {
        let row = dialect.row(line, &mut scratch);
        let words = words(dialect, line, &row)?;
        let own = row.id.map(|id| (session.id.clone(), id.to_owned()));
        let (from, less) = from(line);
        let weight = row.content.map_or(line.len(), |content| content.slice(line).len());
        Some(Said { words, weight, own, from, less })
    });
    Ok(rows.collect())
}

/// A digest of what the row tells the model. It ignores ids, times and notes of the client, which
/// differ in each copy.
fn words(dialect: &dyn Dialect, line: &[u8], row: &Row) -> Option<[u8; 32]> {
    let digest = |bytes: &[u8]| Some(Sha256::digest(bytes).into());
    match (row.kind, row.content) {
        (Kind::System | Kind::Other | Kind::Broken, _) => None,
        (Kind::Attachment, _) => match dialect.queued(line) {
            Some(text) => digest(text.as_bytes()),
            // The model gets what an extension of pi says, and the summary of a branch.
            None if dialect.name() == "pi" => {
                digest(span::find(line, "content").or_else(|| span::find(line, "summary"))?)
            }
            None => None,
        },
        // Claude Code has the summary in a row of its own.
        (Kind::Boundary, _) => digest(span::find(line, "summary")?),
        (_, Some(content)) => digest(content.slice(line)),
        (_, None) => digest(line),
    }
}

/// The rows that a row was copied from, and whether part of it was removed on the way.
fn from(line: &[u8]) -> (Vec<Key>, bool) {
    let Some(from) = span::find(line, "forkedFrom") else { return (Vec::new(), false) };
    let key = |json| {
        let text = |name| span::find(json, name).and_then(span::plain).map(str::to_owned);
        Some((text("sessionId")?, text("messageUuid").or_else(|| text("entryId"))?))
    };
    let all = key(from).into_iter().chain(span::find(from, "origin").and_then(key));
    (all.collect(), span::find(from, "less") == Some(b"true"))
}

pub(super) fn of<'a>(
    session: &'a Session,
    seqs: &'a [u32],
) -> impl Iterator<Item = (u32, &'a Round)> {
    seqs.iter().filter_map(|seq| Some((*seq, session.round(*seq)?)))
}

pub(super) fn unread(session: &Session, seq: u32, why: &io::Error) -> Refused {
    Refused::Unread(format!("could not read round {seq} of {}: {why}", session.id))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// One user message for each line `ID words` or `ID<SESSION/ROW words`.
    pub fn rows(lines: &str) -> Rows {
        let mut rows = Rows::default();
        for line in lines.lines() {
            let (id, words) = line.trim().split_once(' ').expect("an id");
            let (id, from) = id.split_once('<').unwrap_or((id, ""));
            let from = from.split_once('/').map_or(String::new(), |(session, row)| {
                format!(r#","forkedFrom":{{"sessionId":"{session}","messageUuid":"{row}"}}"#)
            });
            let row = format!(
                r#"{{"type":"user","uuid":"{id}","message":{{"role":"user","content":"{words}"}}{from}}}"#
            );
            rows.push(format!("{row}\n").as_bytes());
        }
        rows
    }

    fn session(id: &str, dialect: &str) -> Session {
        Session { id: id.to_owned(), dialect: dialect.to_owned(), ..Session::default() }
    }

    fn of(a: &str, b: &str) -> Option<Redundant> {
        let (first, second, round) =
            (session("a", "claude"), session("b", "claude"), Round::default());
        let mut read = |session: &Session, _: &Round, into: &mut Rows| {
            *into = rows(if session.id == "a" { a } else { b });
            Ok(())
        };
        spare((&first, &round), (&second, &round), &mut read).unwrap()
    }

    #[test]
    fn a_round_that_the_other_has_whole_is_spare() {
        assert_eq!(of("1 ask\n2 say", "1 ask\n2 say"), Some(Redundant::Second));
        assert_eq!(of("1 ask\n2 say", "8 ask\n9 say"), Some(Redundant::Second), "other ids");
        assert_eq!(of("1 ask\n2 say", "1 ask"), Some(Redundant::Second));
        assert_eq!(of("1 ask", "1 ask\n2 say"), Some(Redundant::First));
    }

    #[test]
    fn of_two_that_say_the_same_the_one_with_more_beside_it_stays() {
        let (a, b) = (session("a", "claude"), session("b", "claude"));
        let round = |bytes| Round { bytes, ..Round::default() };
        let mut read = |_: &Session, _: &Round, into: &mut Rows| {
            *into = rows("1 ask");
            Ok(())
        };
        let mut spare = |one, two| spare((&a, &round(one)), (&b, &round(two)), &mut read).unwrap();
        assert_eq!(spare(90, 80), Some(Redundant::Second));
        assert_eq!(spare(80, 80), Some(Redundant::Second));
        assert_eq!(spare(80, 90), Some(Redundant::First));
    }

    #[test]
    fn rounds_that_part_are_both_kept() {
        assert_eq!(of("1 ask\n2 say", "1 ask\n3 say so"), None);
        assert_eq!(of("1 ask\n2 say", "1<a/1 ask\n3 say so"), None);
        assert_eq!(of("1 ask\n2 say\n3 more", "1 ask\n3 more"), None);
    }

    #[test]
    fn what_was_made_from_the_other_is_spare_at_any_fidelity() {
        let whole = "1 ask\n2 thought\n3 call\n4 say";
        let less = |of: &str| format!("7<{of}/1 ask\n8<{of}/3 a call\n9<{of}/4 say");
        assert_eq!(of(whole, &less("a")), Some(Redundant::Second));
        assert_eq!(of(&less("b"), whole), Some(Redundant::First));
        assert_eq!(of(whole, &less("c")), None, "of another session");
        assert_eq!(of(whole, &(less("a") + "\n10 and on")), None, "it went on");
        assert_eq!(of(whole, "7<a/4 say it\n8<a/1 ask"), None, "another begins it");
        let together = "7<a/1 ask\n8<a/4 say\n9<a/3 call";
        assert_eq!(of(whole, together), Some(Redundant::Second), "a message's rows stand together");
        assert_eq!(of(whole, "7<a/1 ask\n8<a/4 say\n9<a/4 say"), None, "one came twice");
    }

    #[test]
    fn a_table_tells_which_rounds_it_stands_for() {
        let told = r#""brainGuard":{"table":true,"stands_for":{"first":["7",null],"rounds":"1-2","session":"a"}}}"#;
        let prompt = r#""message":{"role":"user","content":[{"type":"text","text":"| 001 |"}]}"#;
        for (dialect, head) in [
            ("claude", r#"{"type":"user","uuid":"1""#),
            ("pi", r#"{"type":"message","id":"1","parentId":null"#),
        ] {
            let row = format!("{head},{prompt},{told}\n");
            let of = |lines: &[&str]| {
                let (session, round) = (session("b", dialect), Round::default());
                let mut read = |_: &Session, _: &Round, rows: &mut Rows| {
                    for line in lines {
                        rows.push(line.as_bytes());
                    }
                    Ok(())
                };
                table((&session, &round), &mut read).unwrap()
            };
            let expected = Table { session: "a".into(), first: vec![Some("7".into()), None] };
            assert_eq!(of(&[&row]), Some(expected), "{dialect}");
            let words = format!("{head},{prompt}}}\n");
            assert_eq!((of(&[&words]), of(&[&row, &words])), (None, None), "{dialect}");
            let early = row
                .replace(r#","stands_for":{"first":["7",null],"rounds":"1-2","session":"a"}"#, "");
            assert_eq!(of(&[&early]), None, "{dialect}: of an earlier build");
        }
    }

    #[test]
    fn what_an_extension_of_pis_said_in_a_copy_keeps_it() {
        let (a, b, round) = (session("a", "pi"), session("b", "pi"), Round::default());
        let row = |id: &str, from: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":null,"message":{{"role":"user","content":"ask"}}{from}}}"#
            )
        };
        let copy = row("7", r#","forkedFrom":{"sessionId":"a","entryId":"1"}"#);
        let said = r#"{"type":"custom_message","id":"8","parentId":"7","customType":"x","content":"note","display":true}"#;
        let spare = |more: &str| {
            let mut read = |session: &Session, _: &Round, into: &mut Rows| {
                let lines = if session.id == "a" { row("1", "") } else { format!("{copy}{more}") };
                *into = Rows::default();
                lines.lines().for_each(|line| into.push(format!("{line}\n").as_bytes()));
                Ok(())
            };
            super::spare((&a, &round), (&b, &round), &mut read).unwrap()
        };
        assert_eq!(spare(""), Some(Redundant::Second));
        assert_eq!(spare(&format!("\n{said}")), Some(Redundant::First));
    }
}
