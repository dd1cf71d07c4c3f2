//! What is written is read back, whatever was cut off in between.

use std::fs;

use proptest::prelude::*;

use super::*;
use sessions::dialect::{self, Scratch};
use sessions::line::Lines;
use sessions::round::Rounds;

/// A session's file: prompts, answers of several blocks, bookkeeping, a broken line.
fn session(rounds: usize) -> Vec<u8> {
    let mut text = String::new();
    for round in 0..rounds {
        text.extend([format!(
            r#"{{"type":"user","uuid":"u{round}","timestamp":"2026-03-19T10:23:45.678Z","message":{{"role":"user","content":"question {round}\u00e4 \"x\""}}}}"#
        )]);
        text += "\n";
        text.extend([format!(
            r#"{{"type":"assistant","uuid":"a{round}","message":{{"content":[{{"type":"thinking","thinking":"{}"}},{{"type":"text","text":"yes"}},{{"type":"tool_use","id":"t","name":"Bash","input":{{}}}}]}}}}"#,
            "hm ".repeat(round * 50)
        )]);
        text += "\n{\"type\":\"mode\",\"mode\":\"normal\"}\n";
        if round % 3 == 1 {
            text += "not json\n\n";
        }
    }
    text.into_bytes()
}

/// Writes rows; returns where each round begins.
fn write(folder: &Folder, text: &[u8], roll: u64) -> Vec<(u32, u64)> {
    let dialect = dialect::named("claude").unwrap();
    let (mut scratch, mut parts, mut rounds) = (Scratch::default(), Vec::new(), Rounds::default());
    let mut writer = Writer::open(&folder.blocks(), 0).unwrap().rolling_at(roll);
    let mut lines = Lines::new(text);
    let mut began = Vec::new();
    while let Some(line) = lines.next().unwrap() {
        let row = dialect.row(line.bytes, &mut scratch);
        dialect.blocks(line.bytes, &row, &mut scratch, &mut parts);
        let round = rounds.place(&row);
        let whose = Author { session: "s", row: line.number - 1, round };
        let position = writer.place().unwrap();
        writer.row(whose, &row, line.bytes, &parts).unwrap();
        if began.last().is_none_or(|(last, _)| *last != round) {
            began.push((round, position));
        }
    }
    writer.sync().unwrap();
    began
}

fn original(folder: &Folder) -> Vec<u8> {
    let mut bytes = Vec::new();
    Reader::open(folder).unwrap().original(&mut bytes).unwrap();
    bytes
}

fn scene() -> (tempfile::TempDir, Folder) {
    let dir = tempfile::tempdir().unwrap();
    let folder = Root::new(dir.path().into()).folder("claude", "s");
    (dir, folder)
}

#[test]
fn rows_come_back_whole_and_by_rounds_over_many_packs() {
    use std::os::unix::fs::PermissionsExt;
    for roll in [1, 900, ROLL] {
        let (_dir, folder) = scene();
        let text = session(9);
        let began = write(&folder, &text, roll);
        assert_eq!(original(&folder), text);
        assert_eq!(numbers(&folder.blocks()).unwrap().len() > 1, roll < ROLL);
        let mode =
            |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.blocks()), 0o700);
        assert_eq!(mode(&folder.blocks().join("000000.pack")), 0o600);
        let (mut reader, mut rows, mut all) =
            (Reader::open(&folder).unwrap(), Rows::default(), Vec::new());
        for (seq, position) in &began {
            reader.round(*position, *seq, &mut rows).unwrap();
            assert!(rows.iter().all(|row| row.ends_with(b"\n")));
            all.extend_from_slice(&rows.bytes);
        }
        assert_eq!(all, text);
        let (seq, position) = began[4];
        reader.round(position, seq, &mut rows).unwrap();
        assert!(rows.iter().next().unwrap().windows(10).any(|w| w == b"question 4"));
        assert!(reader.round(position, seq + 1, &mut rows).is_err(), "another round");
    }
}

#[test]
fn headers_say_what_a_block_is() {
    let (_dir, folder) = scene();
    let text = session(1);
    write(&folder, &text, ROLL);
    let mut records = Records::at(&folder.blocks(), 0);
    let mut kinds = Vec::new();
    let mut bytes = Vec::new();
    while matches!(records.peek().unwrap(), Next::Record(_)) {
        let header = records.header().unwrap();
        bytes.clear();
        records.take(&mut bytes).unwrap();
        let (start, length) = header.content;
        let content = String::from_utf8(bytes[start as usize..][..length as usize].to_vec());
        assert_eq!((header.session.as_str(), header.round_seq), ("s", 1));
        if header.kind == "user-text" {
            assert_eq!(header.timestamp.as_deref(), Some("2026-03-19T10:23:45.678Z"));
            assert!(content.clone().unwrap().starts_with("\"question 0"));
        }
        assert!(
            header.kind != "tool_use" || content.unwrap().starts_with("{\"type\":\"tool_use\"")
        );
        kinds.push((header.row, header.role, header.kind));
    }
    let expected = [
        (0, "user", "user-text"),
        (1, "assistant", "thinking"),
        (1, "assistant", "assistant-text"),
        (1, "assistant", "tool_use"),
        (2, "", "row"),
    ];
    assert_eq!(kinds, expected.map(|(row, role, kind)| (row, role.to_owned(), kind.to_owned())));
}

#[test]
fn a_block_that_is_not_what_its_id_says_is_an_error_that_names_it() {
    let (_dir, folder) = scene();
    let text = session(3);
    write(&folder, &text, ROLL);
    let pack = folder.blocks().join("000000.pack");
    let good = fs::read(&pack).unwrap();
    let at = good.windows(10).position(|w| w == b"question 1").unwrap();
    let mut bad = good.clone();
    bad[at] = b'Q';
    fs::write(&pack, &bad).unwrap();
    let why = Reader::open(&folder).unwrap().original(&mut Vec::new()).unwrap_err().to_string();
    assert!(why.contains("000000.pack") && why.contains("not what its id says"), "{why}");
    // A header that is none, and one that promises more than there is.
    let line = good.iter().position(|b| *b == b'\n').unwrap();
    let mut none = good.clone();
    none[..line].fill(b'x');
    fs::write(&pack, &none).unwrap();
    assert!(Reader::open(&folder).unwrap().original(&mut Vec::new()).is_err());
    let header = String::from_utf8(good[..line].to_vec()).unwrap();
    let length = header.split("\"bytes\":").nth(1).unwrap().split(',').next().unwrap();
    let huge = header.replace(&format!("\"bytes\":{length}"), "\"bytes\":99999999999999");
    fs::write(&pack, [huge.as_bytes(), &good[line..]].concat()).unwrap();
    assert_eq!(original(&folder), b"", "as if it were being written");
}

#[test]
fn old_editions_are_kept_apart() {
    let (_dir, folder) = scene();
    write(&folder, &session(1), ROLL);
    assert_eq!(set_aside(&folder).unwrap().number, 1);
    write(&folder, &session(2), ROLL);
    assert_eq!(set_aside(&folder).unwrap().path, folder.path.join("blocks.2"));
    assert_eq!(editions(&folder).unwrap().len(), 2);
    assert!(!folder.blocks().exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A process may die at any byte that it writes.
    #[test]
    fn whatever_was_torn_off_the_whole_rows_are_found_and_the_rest_is_cut(
        rounds in 1..5usize, roll in prop::sample::select(vec![1, 700, ROLL]), part in 0.0..1.0f64,
    ) {
        let (_dir, folder) = scene();
        let text = session(rounds);
        write(&folder, &text, roll);
        let blocks = folder.blocks();
        let last = *numbers(&blocks).unwrap().last().unwrap();
        let path = pack::path(&blocks, last);
        let length = fs::metadata(&path).unwrap().len();
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len((length as f64 * part) as u64).unwrap();

        let mut kept = Vec::new();
        let end = whole_rows(&blocks, 0, |_, row| { kept.extend_from_slice(row); Ok(()) }).unwrap();
        prop_assert!(text.starts_with(&kept));
        prop_assert_eq!(&original(&folder), &kept);
        let mut writer = Writer::open(&blocks, end).unwrap().rolling_at(roll);
        let dialect = dialect::named("claude").unwrap();
        let mut scratch = Scratch::default();
        let mut lines = Lines::new(&text[kept.len()..]);
        while let Some(line) = lines.next().unwrap() {
            let row = dialect.row(line.bytes, &mut scratch);
            let whose = Author { session: "s", row: 0, round: 1 };
            writer.place().unwrap();
            writer.row(whose, &row, line.bytes, &[]).unwrap();
        }
        writer.sync().unwrap();
        prop_assert_eq!(original(&folder), text);
    }
}
