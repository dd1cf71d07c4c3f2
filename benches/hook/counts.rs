//! The accepted counts of the hook. Times are noisy, so counts are what can fail a run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::harness::{Row, report};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/hook/counts.json");

/// Percent by which instructions may grow before the change must be accepted, with the compiler of
/// the accepted counts and with another one.
const ROOM: [u64; 2] = [3, 15];

/// Bytes by which numbers and times in the state, and answers from `/proc`, vary.
pub const BYTES_ROOM: u64 = 32;

/// KiB by which memory may grow: kernels count pages in batches.
const OWN_ROOM: u64 = 256;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Counts {
    instructions: Option<u64>,
    bytes_read: u64,
    system_calls: u64,
    files_opened: u64,
    own_kib: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Accepted {
    /// The compiler of the counted program, by its own version text.
    rustc: String,
    target: String,
    cases: BTreeMap<String, Counts>,
}

impl Accepted {
    /// The counts at the smallest transcript; at others they are the same, or a goal fails.
    pub fn of(rows: &[Row], target: &str) -> Self {
        let mut cases = BTreeMap::new();
        for Row { case, trace, instructions, .. } in rows {
            cases.entry(case.name.clone()).or_insert(Counts {
                instructions: *instructions,
                bytes_read: trace.bytes_read,
                system_calls: trace.system_calls,
                files_opened: trace.files_opened,
                own_kib: trace.own_kib,
            });
        }
        Self { rustc: report::rustc(), target: target.into(), cases }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn write(&self) -> Result<(), String> {
        let text = serde_json::to_value(self).map(|value| format!("{value:#}\n"));
        text.map_err(|why| why.to_string())
            .and_then(|text| fs::write(FILE, text).map_err(|why| why.to_string()))
            .map_err(|why| format!("{FILE}: {why}"))
    }

    /// Reads the file.
    ///
    /// # Errors
    /// A missing or invalid file.
    pub fn read() -> Result<Self, String> {
        let text = fs::read_to_string(Path::new(FILE)).map_err(|why| why.to_string());
        text.and_then(|text| serde_json::from_str(&text).map_err(|why| why.to_string()))
            .map_err(|why| format!("{FILE}: {why}; ./bench --accept writes it"))
    }

    /// The counts that are higher than those accepted, and cases that only one side has.
    pub fn exceeded(&self, accepted: &Self) -> Vec<String> {
        if self.target != accepted.target {
            let (own, other) = (&self.target, &accepted.target);
            eprintln!(
                "bench: NOT COMPARED: this program is for {own}, the accepted counts for {other}"
            );
            return Vec::new();
        }
        let percent = ROOM[usize::from(self.rustc != accepted.rustc)];
        let mut over = Vec::new();
        for (case, now) in &self.cases {
            let Some(then) = accepted.cases.get(case) else {
                over.push(format!("{case}: no counts are accepted"));
                continue;
            };
            let instructions = then.instructions.unwrap_or(u64::MAX / 200);
            for (what, now, then, room) in [
                (
                    "instructions",
                    now.instructions.unwrap_or(0),
                    instructions,
                    instructions * percent / 100,
                ),
                ("bytes read", now.bytes_read, then.bytes_read, BYTES_ROOM),
                ("system calls", now.system_calls, then.system_calls, 0),
                ("files opened", now.files_opened, then.files_opened, 0),
                ("KiB of its own memory", now.own_kib, then.own_kib, OWN_ROOM),
            ] {
                if now > then + room {
                    over.push(format!("{case}: {now} {what}, accepted are {then} and {room} more"));
                }
            }
        }
        let gone = accepted.cases.keys().filter(|case| !self.cases.contains_key(*case));
        over.extend(gone.map(|case| format!("{case}: accepted, but not counted any more")));
        over
    }
}

/// Proves that a grown count is found.
pub fn check() {
    let counts = Counts {
        instructions: Some(1_000),
        bytes_read: 500,
        system_calls: 50,
        files_opened: 5,
        own_kib: 4_000,
    };
    let of = |rustc: &str, counts| Accepted {
        rustc: rustc.into(),
        target: "t".into(),
        cases: BTreeMap::from([("case".into(), counts)]),
    };
    let over = |rustc: &str, now| of(rustc, now).exceeded(&of("1", counts)).len();
    let instructions = |n| Counts { instructions: Some(n), ..counts };
    assert_eq!([over("1", instructions(1_030)), over("1", instructions(1_031))], [0, 1]);
    assert_eq!([over("2", instructions(1_150)), over("2", instructions(1_151))], [0, 1]);
    assert_eq!(over("1", Counts { bytes_read: 532, own_kib: 4_256, ..counts }), 0);
    let grown =
        Counts { bytes_read: 533, system_calls: 51, files_opened: 6, own_kib: 4_257, ..counts };
    assert_eq!(over("1", grown), 4);
}
