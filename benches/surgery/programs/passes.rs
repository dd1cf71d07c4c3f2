//! Passes over a session file, for `./bench surgery`: the library's work on rows, compared with a
//! reader that parses each line with serde_json. `passes scan|rounds|typed FILE` prints the counts.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program that is measured: it opens a file and prints"
)]

mod typed;

use std::fs::File;
use std::io::{self, BufReader};

use dlmalloc::GlobalDlmalloc;
use sessions::dialect::{self, Kind, Scratch};
use sessions::digest::Digest;
use sessions::line::Lines;
use sessions::round::{Round, Rounds, Words};

/// The allocator of brain-guard.
#[global_allocator]
static ALLOCATOR: GlobalDlmalloc = GlobalDlmalloc;

/// Bytes per read.
const BUFFER: usize = 256 * 1024;

fn main() -> io::Result<()> {
    let mut words = std::env::args().skip(1);
    let (Some(pass), Some(path)) = (words.next(), words.next()) else {
        return Err(io::Error::other("usage: passes scan|rounds|typed FILE"));
    };
    let lines = Lines::new(BufReader::with_capacity(BUFFER, File::open(path)?));
    let (rows, rounds, texts) = match pass.as_str() {
        "scan" => scan(lines)?,
        "rounds" => rounds(lines)?,
        "typed" => typed::read(lines)?,
        other => return Err(io::Error::other(format!("no pass {other}"))),
    };
    println!("{rows} rows, {rounds} rounds, {texts} bytes of text");
    Ok(())
}

/// Lines, their row headers, and the round of each.
fn scan(mut lines: Lines<BufReader<File>>) -> io::Result<(u64, u64, u64)> {
    let (mut scratch, mut rounds, mut dialect) = (Scratch::default(), Rounds::default(), None);
    let (mut rows, mut texts) = (0, 0);
    while let Some(line) = lines.next()? {
        let dialect = *dialect.get_or_insert_with(|| dialect::detect(line.bytes));
        let row = dialect.row(line.bytes, &mut scratch);
        rounds.place(&row);
        rows += 1;
        if matches!(row.kind, Kind::Prompt | Kind::Assistant) {
            texts += row.content.map_or(0, |span| (span.end - span.start) as u64);
        }
    }
    Ok((rows, u64::from(rounds.seq), texts))
}

/// As [`scan`], plus the digest of each round for the index, as in an import.
fn rounds(mut lines: Lines<BufReader<File>>) -> io::Result<(u64, u64, u64)> {
    let (mut scratch, mut digest, mut dialect) = (Scratch::default(), Digest::default(), None);
    let (mut rows, mut rounds, mut texts) = (0, 0, 0);
    let mut ended = |round: Option<(Round, Words)>| {
        rounds += u64::from(round.is_some());
        texts += round.map_or(0, |(_, words)| (words.user.len() + words.agent.len()) as u64);
    };
    while let Some(line) = lines.next()? {
        let dialect = *dialect.get_or_insert_with(|| dialect::detect(line.bytes));
        let row = dialect.row(line.bytes, &mut scratch);
        ended(digest.row(dialect, &row, line.bytes, scratch.blocks()));
        rows += 1;
    }
    ended(digest.open());
    Ok((rows, rounds, texts))
}
