//! Test sessions whose content follows from their number, so that a new writer can continue and any
//! process can check them.

use std::path::{Path, PathBuf};

pub const PER_WRITER: u64 = 10;

/// Pseudo-random numbers from a seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides.max(1)
    }
}

pub fn id(number: u64) -> String {
    format!("{number:08x}-5e55-4000-8000-{number:012x}")
}

pub fn file(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("project-{}", number % 7)).join(format!("{}.jsonl", id(number)))
}

/// The number of rounds in a session.
pub fn rounds(number: u64) -> u64 {
    3 + Dice::new(number).roll(20)
}

/// The complete content of a session's file.
pub fn text(number: u64) -> Vec<u8> {
    let mut dice = Dice::new(number);
    let rounds = 3 + dice.roll(20);
    let session = id(number);
    let mut text = String::from("{\"type\":\"mode\",\"mode\":\"normal\"}\n");
    let mut parent = "null".to_owned();
    let mut row = |text: &mut String, kind: &str, name: String, message: String| {
        text.extend([format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{kind}","uuid":"{name}","sessionId":"{session}","cwd":"/p","timestamp":"2026-03-19T10:23:45.678Z","message":{message}}}"#
        )]);
        *text += "\n";
        parent = format!("\"{name}\"");
    };
    for round in 0..rounds {
        let long = "größer \\\"als\\\" ".repeat(dice.roll(40) as usize);
        let asked = format!(r#"{{"role":"user","content":"round{round}of{number} {long}"}}"#);
        row(&mut text, "user", format!("u-{number}-{round}"), asked);
        for call in 0..dice.roll(6) {
            let tool = format!("toolu_{number}_{round}_{call}");
            let id = format!("msg_{number}_{round}_{call}");
            let used = 1000 * round + call;
            let called = format!(
                r#"{{"id":"{id}","role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"c2ln"}},{{"type":"tool_use","id":"{tool}","name":"Bash","input":{{"command":"ls"}}}}],"usage":{{"input_tokens":{used},"output_tokens":5}}}}"#
            );
            row(&mut text, "assistant", format!("a-{number}-{round}-{call}"), called);
            // Some are longer than one read.
            let size = if dice.roll(40) == 0 { 1_300_000 } else { dice.roll(6000) };
            let output = "x".repeat(size as usize);
            let gave = format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{tool}","content":"{output}"}}]}}"#
            );
            row(&mut text, "user", format!("r-{number}-{round}-{call}"), gave);
        }
        if dice.roll(5) == 0 {
            text += "{\"type\":\"mode\",\"mode\":\"normal\"}\nnot json\n\n";
        }
        let said = r#"{"id":"m","role":"assistant","content":[{"type":"text","text":"done"}]}"#;
        row(&mut text, "assistant", format!("e-{number}-{round}"), said.to_owned());
    }
    text.into_bytes()
}
