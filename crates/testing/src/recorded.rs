//! Sessions as clients write them.

macro_rules! recorded {
    ($($name:literal)*) => {
        [$(($name, include_bytes!(concat!("../../../fixtures/transcripts/", $name, ".jsonl")))),*]
    };
}

/// Every session of `fixtures/transcripts`, recorded and then shortened, with its name.
pub static RECORDED: [(&str, &[u8]); 10] = recorded!(
    "cleared" "compaction" "main" "notified" "odd" "parallel" "pi" "queued" "rewound" "subagent"
);
