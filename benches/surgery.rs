//! Surgery on long sessions, beside `cp`.

use crate::harness::report::{Goal, tell};
use crate::harness::{Bench, Case, Row, measure};
use crate::session::{CLAUDE, Place, empty, memory, text};

/// Instructions that an import may take for each byte of the session.
const IMPORT: u64 = 110;

/// Measures and prints; returns whether memory and instructions hold.
///
/// # Errors
/// What can't be prepared.
pub fn run(bench: &Bench) -> Result<bool, String> {
    let sizes: &[u64] = if bench.quick { &[20] } else { &[50, 1024] };
    let rounds = if bench.quick { 3 } else { 5 };
    let (mut rows, mut about) = (Vec::new(), format!("{rounds} rounds"));
    let mut goals = Vec::new();
    for megabytes in sizes {
        let place = Place::new(bench, *megabytes).map_err(|why| why.to_string())?;
        let (cases, bytes, session) = cases(&place, bench.quick)?;
        about = format!("{about}\n{session}");
        let measured = measure(cases, rounds);
        goals.extend(measured.iter().filter_map(|row| import(row, bytes)));
        rows.extend(measured);
        empty(&place.work);
    }
    goals.push(memory(&rows));
    tell(bench, &about, &rows, &goals)
}

fn import(row: &Row, bytes: u64) -> Option<Goal> {
    let each = row.instructions? / bytes;
    Some(Goal {
        what: format!("an import takes at most {IMPORT} instructions for each byte"),
        found: each.to_string(),
        held: each <= IMPORT,
    })
}

/// The cases, the session's bytes, and what it is like.
fn cases(place: &Place, counted: bool) -> Result<(Vec<Case>, u64, String), String> {
    let session = |seed, part| place.session(seed, part, CLAUDE).map_err(|why| why.to_string());
    let (session, other) = (session(1, 1)?, session(2, 4)?);
    let (file, out, fresh) =
        (text(&session.path), place.work.join("out"), place.work.join("fresh"));
    let verb = |name, store, words: &[&str]| place.verb(name, store, words, session.largest_round);
    let into_out = |name, words: &[&str]| {
        let words = [&["surgery"], words, &["--out", text(&out)]].concat();
        let out = out.clone();
        verb(name, "store", &words).after(move || empty(&out))
    };
    let import = |store, path| verb("import", store, &["import", path]);
    import("store", text(&other.path)).output()?;
    import("store", file).output()?;
    let cases = vec![
        place.copy(&session),
        Case { counted, ..import("fresh", file).after(move || empty(&fresh)) },
        Case { name: "import again".into(), ..import("store", file) },
        into_out("compress-before, the first round", &["compress-before", file, &session.early]),
        into_out("compress-before, half", &["compress-before", file, &session.middle]),
        into_out("merge", &["merge", file, text(&other.path)]),
        verb("search", "store", &["search", "parser"]),
    ];
    for case in &cases {
        case.output()?;
    }
    Ok((cases, session.bytes, session.about()))
}
