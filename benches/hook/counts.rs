//! The counts of a case, and the accepted ones: CI compares counts, because times are noisy.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::calls::Calls;

/// The limited counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    pub instructions: Option<u64>,
    pub bytes_read: u64,
    pub system_calls: u64,
    pub files_opened: u64,
    /// The most resident memory, without pages of files.
    pub own_kib: u64,
}

impl Held {
    pub fn of(calls: &Calls, instructions: Option<u64>, own_kib: u64) -> Self {
        Self {
            instructions,
            own_kib,
            bytes_read: calls.bytes_read,
            system_calls: calls.system_calls,
            files_opened: calls.files_opened,
        }
    }
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// The compiler of the counted program, by its own version text.
    pub rustc: String,
    pub target: String,
    /// By payload and module.
    pub cases: BTreeMap<String, Held>,
}

/// Percent by which instructions may grow before the change must be accepted.
const ROOM: f64 = 3.0;

/// As [`ROOM`], if another compiler built the program.
const ROOM_OTHER_COMPILER: f64 = 15.0;

/// Bytes by which numbers and times in the state, and answers from `/proc`, vary.
const BYTES_ROOM: u64 = 32;

/// KiB by which memory may grow: kernels count pages in batches.
const OWN_ROOM: u64 = 256;

impl Accepted {
    fn path() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/hook/counts.json")
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The system's.
    pub fn write(&self) -> std::io::Result<PathBuf> {
        let path = Self::path();
        fs::write(&path, format!("{:#}\n", serde_json::to_value(self)?))?;
        Ok(path)
    }

    /// Reads the accepted counts.
    ///
    /// # Errors
    /// A missing or invalid file, with the way out.
    pub fn read() -> Result<Self, String> {
        let path = Self::path();
        let text = fs::read_to_string(&path).map_err(|e| e.to_string());
        text.and_then(|text| serde_json::from_str(&text).map_err(|e| e.to_string()))
            .map_err(|e| format!("{}: {e}; ./bench --accept writes it", path.display()))
    }

    /// The counts that grew, a line each, and notes on the comparison.
    pub fn compare(&self, now: &Self) -> (Vec<String>, Vec<String>) {
        let (mut over, mut notes) = (Vec::new(), Vec::new());
        if self.target != now.target {
            notes.push(format!(
                "NOT COMPARED: the accepted counts are those of {}, this program is built for {}",
                self.target, now.target
            ));
            return (over, notes);
        }
        let room = if self.rustc == now.rustc {
            ROOM
        } else {
            notes.push(format!(
                "accepted with {}, built with {}: instructions may differ by {ROOM_OTHER_COMPILER} % instead of {ROOM} %",
                self.rustc, now.rustc
            ));
            ROOM_OTHER_COMPILER
        };
        for (case, counted) in &now.cases {
            let Some(accepted) = self.cases.get(case) else {
                over.push(format!("{case}: no counts were accepted of it yet"));
                continue;
            };
            let mut held = |what: &str, counted: u64, accepted: u64, most: u64| {
                if counted > most {
                    over.push(format!(
                        "{case}: {counted} {what}, accepted were {accepted} (at most {most})"
                    ));
                }
            };
            if let (Some(counted), Some(accepted)) = (counted.instructions, accepted.instructions) {
                let most = (accepted as f64 * (1.0 + room / 100.0)) as u64;
                held("instructions", counted, accepted, most);
                if (counted as f64) < accepted as f64 * (1.0 - ROOM / 100.0) {
                    notes.push(format!(
                        "{case}: {counted} instructions instead of {accepted}; ./bench --accept keeps the gain"
                    ));
                }
            }
            held(
                "bytes read",
                counted.bytes_read,
                accepted.bytes_read,
                accepted.bytes_read + BYTES_ROOM,
            );
            held(
                "system calls",
                counted.system_calls,
                accepted.system_calls,
                accepted.system_calls,
            );
            held(
                "files opened",
                counted.files_opened,
                accepted.files_opened,
                accepted.files_opened,
            );
            held(
                "KiB of its own memory",
                counted.own_kib,
                accepted.own_kib,
                accepted.own_kib + OWN_ROOM,
            );
        }
        for case in self.cases.keys().filter(|case| !now.cases.contains_key(*case)) {
            over.push(format!("{case}: counts were accepted, but nothing counts it any more"));
        }
        (over, notes)
    }
}

/// Proves that a grown count is found.
pub fn check() {
    let held = Held {
        instructions: Some(1_000),
        bytes_read: 500,
        system_calls: 50,
        files_opened: 5,
        own_kib: 4_000,
    };
    let of = |rustc: &str, held: Held| Accepted {
        rustc: rustc.into(),
        target: "t".into(),
        cases: BTreeMap::from([("case".to_owned(), held)]),
    };
    let accepted = of("1", held);
    let over = |rustc: &str, held: Held| accepted.compare(&of(rustc, held)).0.len();
    assert_eq!(over("1", Held { instructions: Some(1_030), bytes_read: 532, ..held }), 0);
    assert_eq!(over("1", Held { instructions: Some(1_031), ..held }), 1);
    assert_eq!(over("2", Held { instructions: Some(1_150), ..held }), 0);
    assert_eq!(over("2", Held { instructions: Some(1_151), ..held }), 1);
    assert_eq!(over("1", Held { bytes_read: 533, system_calls: 51, files_opened: 6, ..held }), 3);
    assert_eq!(over("1", Held { own_kib: 4_256, ..held }), 0);
    assert_eq!(over("1", Held { own_kib: 4_257, ..held }), 1);
}
