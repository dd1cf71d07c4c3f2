use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;

use sha2::{Digest as _, Sha256};

use super::*;

/// Rows with their rounds.
fn session(rounds: u32) -> Vec<(u32, Vec<u8>)> {
    let mut rows = vec![(0, b"{\"type\":\"mode\"}\n".to_vec())];
    for round in 1..=rounds {
        let long = "hm ".repeat(round as usize * 50);
        for row in [format!("question {round} \u{e4}\n"), "\n".into(), format!("{long}{round}\n")] {
            rows.push((round, row.into_bytes()));
        }
    }
    rows
}

fn text(rows: &[(u32, Vec<u8>)]) -> Vec<u8> {
    rows.iter().flat_map(|(_, row)| row.clone()).collect()
}

fn write(folder: &Folder, rows: &[(u32, Vec<u8>)]) {
    fs::create_dir_all(&folder.path).unwrap();
    let mut writer = Writer::open(&folder.blocks()).unwrap();
    for (round, row) in rows {
        writer.row(*round, row).unwrap();
    }
    writer.commit().unwrap();
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
fn rows_come_back_whole_by_rounds_and_from_any_of_them_on() {
    let (_dir, folder) = scene();
    let rows = session(9);
    let (first, rest) = rows.split_at(11);
    write(&folder, first);
    write(&folder, rest);
    assert_eq!(original(&folder), text(&rows));
    assert_eq!(fs::metadata(folder.blocks()).unwrap().permissions().mode() & 0o777, 0o600);
    let reader = Reader::open(&folder).unwrap();
    let totals = Totals { rounds: 9, rows: 28, blocks: 11, bytes: text(&rows).len() as u64 };
    assert_eq!(reader.totals().unwrap(), totals);
    assert_eq!(reader.session().unwrap().as_deref(), Some("s"));
    let mut found = Rows::default();
    for seq in 0..=9 {
        reader.round(seq, &mut found).unwrap();
        let of_round: Vec<_> = rows.iter().filter(|(round, _)| *round == seq).cloned().collect();
        assert_eq!(found.bytes, text(&of_round), "{seq}");
        assert_eq!(found.ends.len(), of_round.len());
    }
    assert_eq!(reader.round(10, &mut found).unwrap_err().kind(), io::ErrorKind::NotFound);
    for from in 0..=rows.len() {
        let mut behind = Vec::new();
        let take = |round, row: &[u8]| {
            behind.push((round, row.to_vec()));
            Ok(())
        };
        reader.rows(from as u64, take).unwrap();
        assert_eq!(behind, rows[from..], "{from}");
    }
    assert_eq!(Writer::open(&folder.blocks()).unwrap().rows(), 28);
}

#[test]
fn a_row_longer_than_a_block_is_one_of_its_own() {
    let (_dir, folder) = scene();
    let mut rows = session(2);
    let long = (2, format!("{}\n", "long ".repeat(200_000)).into_bytes());
    rows.extend([long.clone(), (2, b"behind\n".to_vec()), (3, long.1)]);
    write(&folder, &rows);
    assert_eq!(original(&folder), text(&rows));
    let totals = Reader::open(&folder).unwrap().totals().unwrap();
    assert_eq!((totals.rows, totals.blocks, totals.rounds), (10, 6, 3));
}

#[test]
fn what_was_not_committed_is_not_there() {
    let (_dir, folder) = scene();
    let rows = session(3);
    write(&folder, &rows[..4]);
    let mut writer = Writer::open(&folder.blocks()).unwrap();
    rows[4..].iter().for_each(|(round, row)| writer.row(*round, row).unwrap());
    drop(writer);
    assert_eq!(original(&folder), text(&rows[..4]));
}

/// Wherever a file is damaged, reads return what was written or an error that names the file.
#[test]
fn damage_is_told_and_costs_no_other_round() {
    let (_dir, folder) = scene();
    // Long enough for many pages.
    let noise = |n: u32| {
        (0..900u32).map(move |i| format!("{:x}", Sha256::digest((n * 1000 + i).to_le_bytes())))
    };
    let rows: Vec<_> =
        (1..=12).map(|n| (n, format!("{}\n", noise(n).collect::<String>()).into_bytes())).collect();
    write(&folder, &rows);
    let good = fs::read(folder.blocks()).unwrap();
    let (mut told, mut most) = (0, 0);
    for at in (100..good.len()).step_by(1987) {
        let mut bad = good.clone();
        bad[at] ^= 0x55;
        fs::write(folder.blocks(), &bad).unwrap();
        let reader = match Reader::open(&folder) {
            Ok(reader) => reader,
            Err(e) => {
                assert!(e.to_string().contains("blocks.db"), "{e}");
                continue;
            }
        };
        let (mut found, mut lost) = (Rows::default(), 0);
        for (seq, row) in &rows {
            match reader.round(*seq, &mut found) {
                Ok(()) => assert_eq!(&found.bytes, row, "{at}"),
                Err(e) => {
                    assert!(e.to_string().contains("blocks.db"), "{e}");
                    lost += 1;
                }
            }
        }
        told += usize::from(lost > 0);
        most += usize::from(lost == 1);
        let mut bytes = Vec::new();
        let whole = reader.check_pages().and_then(|()| reader.original(&mut bytes));
        assert_eq!(whole.is_err(), lost > 0, "{at}: {whole:?}");
    }
    assert!(told > 100 && most * 10 > told * 9, "{told} {most}");
}

#[test]
fn old_editions_are_kept_apart() {
    let (_dir, folder) = scene();
    write(&folder, &session(1));
    let first = identity(&folder.blocks());
    assert_eq!(set_aside(&folder).unwrap().number, 1);
    write(&folder, &session(2));
    assert_eq!(set_aside(&folder).unwrap().path, folder.path.join("blocks.2.db"));
    let all = editions(&folder).unwrap();
    assert_eq!(all.iter().map(|edition| edition.number).collect::<Vec<_>>(), [1, 2]);
    assert!(first.is_some() && first == identity(&all[0].path) && first != identity(&all[1].path));
    assert!(!folder.has_blocks());
    assert_eq!(identity(&folder.blocks()), None);
    all[0].remove().unwrap();
    assert_eq!(editions(&folder).unwrap(), all[1..]);
}
