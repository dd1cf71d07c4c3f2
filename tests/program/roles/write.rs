//! A client that writes sessions.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::made::{Dice, PER_WRITER, file, text};

/// Continues ten sessions in parallel, in pieces that may end anywhere.
pub fn write(folder: &Path, seed: u64) {
    let mut dice = Dice::new(seed ^ u64::from(std::process::id()));
    let numbers = seed * PER_WRITER..(seed + 1) * PER_WRITER;
    let mut left: Vec<(PathBuf, Vec<u8>, usize)> = numbers
        .map(|number| {
            let path = file(folder, number);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            let there = fs::metadata(&path).map_or(0, |meta| meta.len() as usize);
            (path, text(number), there)
        })
        .collect();
    while !left.is_empty() {
        let at = dice.roll(left.len() as u64) as usize;
        let (path, text, done) = &mut left[at];
        let most = if dice.roll(4) == 0 { 200_000 } else { 12_000 };
        let size = 1 + dice.roll(most) as usize;
        let end = (*done + size).min(text.len());
        let mut file = fs::OpenOptions::new().create(true).append(true).open(path).expect("opened");
        file.write_all(&text[*done..end]).expect("written");
        *done = end;
        if end == text.len() {
            left.swap_remove(at);
        }
        std::thread::sleep(Duration::from_micros(dice.roll(4000)));
    }
}
