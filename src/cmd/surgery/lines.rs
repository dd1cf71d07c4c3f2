//! Notes about source lines that are not in the new session.

use std::collections::BTreeMap;
use std::io;

use super::source::Store;
use crate::cmd::import;
use sessions::dialect::{Kind, Scratch, named};
use sessions::round::{Round, Session};
use store::blocks::Reader;
use surgery::export::Report;
use surgery::plan::Plan;
use surgery::ranges;
use surgery::table::short;

/// The notes about lines that were left out, and why.
///
/// # Errors
/// Databases that cannot be read.
pub fn left_out(store: &Store, plan: &Plan, report: &Report) -> anyhow::Result<Vec<String>> {
    let mut notes = ahead(store, plan)?;
    notes.extend(malformed(store, plan, report)?);
    notes.extend(outside_context(plan));
    notes.extend(retagged(plan));
    Ok(notes)
}

/// Notes tags that a split replaces.
fn retagged(plan: &Plan) -> Vec<String> {
    let mut tags: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for round in plan.retagged() {
        if let Some(tag) = &round.engagement {
            tags.entry(tag).or_default().push(round.seq);
        }
    }
    let note = |(tag, seqs): (&str, Vec<u32>)| {
        let new = plan.operation.child().unwrap_or_default();
        let rounds = if seqs.len() == 1 { "round" } else { "rounds" };
        format!("{rounds} {} had the tag {tag}, and now {new}", ranges::show(&seqs))
    };
    tags.into_iter().map(note).collect()
}

/// Notes table rounds that were no longer in the session's context.
fn outside_context(plan: &Plan) -> Vec<String> {
    let of = |(number, session): (usize, &Session)| {
        let is_away = |seq: &u32| !session.round(*seq).is_some_and(Round::is_sent);
        let own = plan.indexed().filter(|place| place.session == number);
        let seqs: Vec<u32> = own.map(|place| place.seq).filter(is_away).collect();
        (!seqs.is_empty()).then(|| {
            format!(
                "{} {} of {}: a line in the table, though no longer in the context before (rewound, compacted or cut off)",
                if seqs.len() == 1 { "round" } else { "rounds" },
                ranges::show(&seqs),
                short(&session.id),
            )
        })
    };
    plan.sessions.iter().enumerate().filter_map(of).collect()
}

/// Notes conversation lines before a source's first round. If a prompt cannot be read, the lines
/// after it belong to no round.
fn ahead(store: &Store, plan: &Plan) -> anyhow::Result<Vec<String>> {
    let mut notes = Vec::new();
    for session in &plan.sessions {
        let Some(dialect) = named(&session.dialect) else { continue };
        let folder = store.folder(session);
        let rows = store.index.progress(&folder)?.map_or(0, |p| p.rows);
        let before = before(session, rows);
        let (mut number, mut lines, mut scratch) = (0, Vec::new(), Scratch::default());
        let read = Reader::open(&folder).and_then(|reader| {
            reader.rows(0, |_, row| {
                number += 1;
                if number > before {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                let kind = dialect.row(row, &mut scratch).kind;
                let said = matches!(kind, Kind::Assistant | Kind::ToolResult | Kind::Broken);
                lines.extend((said && !row.trim_ascii().is_empty()).then_some(number as u32));
                Ok(())
            })
        });
        let read = read.map_or_else(|e| e.kind() == io::ErrorKind::Interrupted, |()| true);
        // Damaged blocks are reported where they are needed.
        if read && !lines.is_empty() {
            let why = "before the first prompt that can be read, so in no round";
            notes.push(note(session, &lines, why));
        }
    }
    Ok(notes)
}

/// The note about lines of a session that were left out.
fn note(session: &Session, lines: &[u32], why: &str) -> String {
    format!(
        "{} {} of {}: {why}, left out",
        if lines.len() == 1 { "line" } else { "lines" },
        ranges::show(lines),
        session.source.as_deref().unwrap_or(&session.id),
    )
}

/// The number of rows before the first round.
fn before(session: &Session, rows: u64) -> u64 {
    let of_rounds: u64 = session.rounds.iter().map(|round| u64::from(round.rows)).sum();
    rows.saturating_sub(of_rounds)
}

/// Notes lines that are not JSON in rounds that are kept or in a table. They were left out, and one
/// may have started a round. The store has them.
fn malformed(store: &Store, plan: &Plan, report: &Report) -> anyhow::Result<Vec<String>> {
    let mut notes = Vec::new();
    for (number, session) in plan.sessions.iter().enumerate() {
        let whole = report.broken.iter().filter(|(place, _)| place.session == number);
        let whole: Vec<_> = whole.map(|(place, row)| (place.seq, *row)).collect();
        let mut indexed: Vec<u32> =
            plan.indexed().filter(|place| place.session == number).map(|place| place.seq).collect();
        indexed.sort_unstable();
        if whole.is_empty() && indexed.is_empty() {
            continue;
        }
        let Some(progress) = store.index.progress(&store.folder(session))? else { continue };
        let told = if indexed.is_empty() { Vec::new() } else { import::malformed(&progress) };
        let told = told.into_iter().filter(|(seq, _)| indexed.binary_search(seq).is_ok());
        let before = before(session, progress.rows);
        let line = |(seq, row): (u32, u32)| {
            let earlier = session.rounds.iter().take_while(|round| round.seq < seq);
            before as u32 + earlier.map(|round| round.rows).sum::<u32>() + row + 1
        };
        let mut lines: Vec<u32> = whole.into_iter().chain(told).map(line).collect();
        lines.sort_unstable();
        lines.dedup();
        if !lines.is_empty() {
            notes.push(note(session, &lines, "no JSON object (a prompt may have been there)"));
        }
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::when::When;
    use sessions::operation::Fidelity;
    use surgery::plan::compress_before;
    use testing::rounds::session;

    #[test]
    fn what_was_left_behind_and_stands_in_a_table_is_told() {
        let noted = |follows: &[(u32, bool)]| {
            let plan = compress_before(session(follows), When::Round(4), Fidelity::default());
            outside_context(&plan.unwrap())
        };
        assert_eq!(noted(&[(0, false), (1, false), (2, false), (3, false)]), [""; 0]);
        let [only] = &noted(&[(0, false), (1, false), (1, false), (3, false)])[..] else {
            panic!()
        };
        assert!(only.starts_with("round 2 of 3f0a9d1e: a line in the table, though"), "{only}");
        let [only] = &noted(&[(0, false), (1, false), (2, true), (3, false)])[..] else { panic!() };
        assert!(only.starts_with("rounds 1-2 of 3f0a9d1e: "), "{only}");
    }
}
