use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
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

/// Writes packs as earlier builds did, with a new pack after every `roll` bytes.
fn write_packs(packs: &Path, rows: &[(u32, Vec<u8>)], roll: usize) {
    fs::create_dir_all(packs).unwrap();
    let (mut number, mut pack) = (0, Vec::new());
    for (at, (round, row)) in rows.iter().enumerate() {
        // A long row spans several blocks.
        for block in row.chunks(100) {
            let id = format!("{:x}", Sha256::digest(block));
            let header = serde_json::json!({
                "id": id, "session": "s", "round_seq": round, "row": at, "role": "", "type": "row",
                "bytes": block.len(), "content": [0, block.len()],
            });
            pack.extend_from_slice(format!("{header}\n").as_bytes());
            pack.extend_from_slice(block);
        }
        if pack.len() >= roll || at + 1 == rows.len() {
            fs::write(packs.join(format!("{number:06}.pack")), &pack).unwrap();
            number += 1;
            pack.clear();
        }
    }
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

fn packs(folder: &Folder) -> PathBuf {
    folder.path.join("blocks")
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

#[test]
fn packs_are_copied_when_they_are_first_opened_and_keep_what_tells_them_apart() {
    for roll in [1, 700, usize::MAX] {
        let (_dir, folder) = scene();
        let rows = session(5);
        write_packs(&packs(&folder), &rows, roll);
        write_packs(&folder.path.join("blocks.1"), &rows[..7], roll);
        let inode = fs::metadata(packs(&folder)).unwrap().ino();
        assert!(folder.has_blocks());
        assert_eq!(original(&folder), text(&rows), "{roll}");
        assert_eq!(identity(&folder.blocks()), Some(inode));
        let edition = &editions(&folder).unwrap()[0];
        let mut bytes = Vec::new();
        Reader::open_file(&edition.path).unwrap().original(&mut bytes).unwrap();
        assert_eq!(bytes, text(&rows[..7]));
        for old in list_packs(&folder).unwrap() {
            old.verify().unwrap();
            old.remove().unwrap();
        }
        assert_eq!(original(&folder), text(&rows));
        assert!(list_packs(&folder).unwrap().is_empty());
    }
}

#[test]
fn a_program_of_the_version_before_is_followed_until_this_one_writes() {
    let (_dir, folder) = scene();
    let rows = session(5);
    write_packs(&packs(&folder), &rows[..6], 700);
    assert_eq!(original(&folder), text(&rows[..6]));
    write_packs(&packs(&folder), &rows[..9], 700);
    assert_eq!(original(&folder), text(&rows[..9]));
    write(&folder, &rows[9..12]);
    write_packs(&packs(&folder), &rows, 700);
    assert_eq!(original(&folder), text(&rows[..12]));
    write(&folder, &rows[12..]);
    assert_eq!(original(&folder), text(&rows));
    list_packs(&folder).unwrap()[0].verify().unwrap();
}

#[test]
fn packs_with_damage_give_what_stands_before_it_and_stay() {
    let (_dir, folder) = scene();
    let rows = session(5);
    write_packs(&packs(&folder), &rows, usize::MAX);
    let pack = packs(&folder).join("000000.pack");
    let mut bytes = fs::read(&pack).unwrap();
    let at = bytes.windows(10).position(|words| words == b"question 3").unwrap();
    bytes[at] = b'Q';
    fs::write(&pack, &bytes).unwrap();
    assert_eq!(original(&folder), text(&rows[..7]));
    let why = list_packs(&folder).unwrap()[0].verify().unwrap_err().to_string();
    assert!(why.contains("is incomplete, because a pack is damaged"), "{why}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn of_packs_that_were_torn_the_whole_rows_are_copied_and_the_rest_follows(
        rounds in 1..5u32, roll in prop::sample::select(vec![1, 700, usize::MAX]), part in 0.0..1.0f64,
    ) {
        let (_dir, folder) = scene();
        let rows = session(rounds);
        write_packs(&packs(&folder), &rows, roll);
        let last = fs::read_dir(packs(&folder)).unwrap().map(|e| e.unwrap().path()).max().unwrap();
        let length = fs::metadata(&last).unwrap().len();
        let file = fs::OpenOptions::new().write(true).open(&last).unwrap();
        file.set_len((length as f64 * part) as u64).unwrap();
        let kept = original(&folder);
        prop_assert!(text(&rows).starts_with(&kept));
        let count = memchr::memchr_iter(b'\n', &kept).count();
        write(&folder, &rows[count..]);
        prop_assert_eq!(original(&folder), text(&rows));
    }
}
