//! Sessions that another program rewrote: the meaning counts, not the spelling.

use serde_json::Value;

use super::*;

/// Rewrites a session like a program that only knows JSON: other escapes, other blanks, another
/// order of names.
fn anew(bytes: &[u8]) -> Vec<u8> {
    let escape = |c: char| match c {
        ' '..='~' => c.to_string(),
        c => c
            .encode_utf16(&mut [0; 2])
            .iter()
            .fold(String::new(), |all, unit| all + &format!("\\u{unit:04x}")),
    };
    let row = |row: Result<Value, &[u8]>| match row {
        Ok(row) => (row.to_string().chars().map(escape).collect::<String>() + " \n").into_bytes(),
        Err(none) => none.to_vec(),
    };
    rows(bytes).into_iter().flat_map(row).collect()
}

/// The parsed rows, and the raw ones that are not JSON.
fn rows(bytes: &[u8]) -> Vec<Result<Value, &[u8]>> {
    let rows = bytes.split_inclusive(|byte| *byte == b'\n');
    rows.map(|row| serde_json::from_slice(row).map_err(|_| row)).collect()
}

#[test]
fn a_session_that_another_program_wrote_anew_gets_its_content_back() {
    let made = pi::session(7, 6);
    let world = World::new(&made.id, &made.bytes);
    let own = format!("agents/main/sessions/{}.jsonl", made.id);
    let extracted = world.extract(&own);
    world.write(&anew(&world.bytes()));
    assert_eq!(read::session(&world.source()).unwrap().live.len() as u64, extracted);
    assert_eq!(world.swept(&[]), 0, "it needs them");
    assert_eq!(rows(&world.restore(&own, None).unwrap()), rows(&made.bytes));
}
