//! Session rows in the format of pi and `OpenClaw` up to 2026.7.1 (version 3). An answer has
//! reasoning, text and calls; each result has its own row, with a second copy of command output in
//! its details.

use std::fmt::Write as _;

use crate::claude::{result_size, stamp};
use crate::pool::Pool;
use crate::session::{MB, Rounds};
use testing::dice::Dice;

/// Milliseconds between rows.
const STEP: u64 = 700;

/// Writes round after round.
pub struct Writer {
    pool: Pool,
    dice: Dice,
    session: String,
    round: u64,
    /// Milliseconds since the session started.
    clock: u64,
    /// The last row's id, as JSON.
    parent: String,
    used: u64,
    out: String,
}

impl Writer {
    pub fn new(session: &str, seed: u64) -> Self {
        Self {
            pool: Pool::new(),
            dice: Dice(seed),
            session: session.into(),
            round: 0,
            clock: 0,
            parent: "null".into(),
            used: 20_000,
            out: String::new(),
        }
    }

    fn header(&mut self) {
        let (id, at) = (&self.session, stamp(0));
        let _ = writeln!(
            self.out,
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"{at}","cwd":"/home/dev/project"}}"#
        );
        self.entry("model_change", r#""provider":"anthropic","modelId":"claude-sonnet-4-5""#);
        self.entry("thinking_level_change", r#""thinkingLevel":"low""#);
    }

    fn entry(&mut self, kind: &str, rest: &str) {
        self.clock += STEP;
        let (id, at) = (self.dice.next() >> 32, stamp(self.clock));
        let parent = &self.parent;
        let _ = writeln!(
            self.out,
            r#"{{"type":"{kind}","id":"{id:08x}","parentId":{parent},"timestamp":"{at}",{rest}}}"#
        );
        self.parent = format!("\"{id:08x}\"");
    }

    fn message(&mut self, rest: &str) {
        let at = 1_773_915_825_000 + self.clock;
        self.entry("message", &format!(r#""message":{{{rest},"timestamp":{at}}}"#));
    }

    fn said(&mut self, blocks: &[String], reason: &str) {
        let (blocks, used) = (blocks.join(","), self.used);
        self.message(&format!(
            r#""role":"assistant","content":[{blocks}],"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","usage":{{"input":7,"output":111,"cacheRead":{used},"cacheWrite":400,"totalTokens":{},"cost":{{"input":0.00002,"output":0.0016,"cacheRead":0.006,"cacheWrite":0.0015,"total":0.0091}}}},"stopReason":"{reason}""#,
            used + 518
        ));
    }

    /// The model's text and calls, and the results.
    fn response(&mut self) {
        let signature = self.pool.base64(&mut self.dice, 300, 900).to_owned();
        let text = self.pool.prose(&mut self.dice, 0, 1_200);
        let mut blocks = vec![format!(
            r#"{{"type":"thinking","thinking":"{text}","thinkingSignature":"{signature}"}}"#
        )];
        if self.dice.below(2) == 0 {
            let text = self.pool.prose(&mut self.dice, 30, 300);
            blocks.push(format!(r#"{{"type":"text","text":"{text}"}}"#));
        }
        let mut calls = Vec::new();
        for _ in 0..=self.dice.below(2) {
            let id = format!("toolu_{:016x}", self.dice.next());
            let (name, arguments) = self.call();
            blocks.push(format!(
                r#"{{"type":"toolCall","id":"{id}","name":"{name}","arguments":{arguments}}}"#
            ));
            calls.push((id, name));
        }
        self.said(&blocks, "toolUse");
        for (id, name) in calls {
            self.result(&id, name);
        }
        self.used += 400 + self.dice.below(2_000);
    }

    fn call(&mut self) -> (&'static str, String) {
        match self.dice.below(4) {
            0 => ("read", r#"{"path":"/home/dev/project/src/parser/lines.rs"}"#.into()),
            1 => {
                let text = self.pool.code(&mut self.dice, 200, 3_000);
                let path = "/home/dev/project/src/parser/rows.rs";
                ("write", format!(r#"{{"path":"{path}","content":"{text}"}}"#))
            }
            2 => ("exec", r#"{"command":"cargo test --lib 2>&1 | tail -40"}"#.into()),
            _ => ("exec", r#"{"command":"grep -rn 'fn \\w+' src","timeout":30}"#.into()),
        }
    }

    fn result(&mut self, call: &str, name: &str) {
        let (least, most) = result_size(&mut self.dice);
        let picture = least > MB as usize && self.dice.below(2) == 0;
        let (content, details) = if picture {
            let data = self.pool.base64(&mut self.dice, least, most);
            let image = format!(r#"{{"type":"image","data":"{data}","mimeType":"image/png"}}"#);
            (format!(r#"{{"type":"text","text":"Read image file [image/png]"}},{image}"#), None)
        } else {
            let text = self.pool.code(&mut self.dice, least, most);
            let details = (name == "exec").then(|| {
                format!(
                    r#""details":{{"status":"completed","exitCode":0,"durationMs":120,"aggregated":"{text}","cwd":"/home/dev/project"}},"#
                )
            });
            (format!(r#"{{"type":"text","text":"{text}"}}"#), details)
        };
        let details = details.unwrap_or_default();
        self.message(&format!(
            r#""role":"toolResult","toolCallId":"{call}","toolName":"{name}","content":[{content}],{details}"isError":false"#
        ));
    }
}

impl Rounds for Writer {
    fn round(&mut self) -> String {
        self.out.clear();
        if self.round == 0 {
            self.header();
        }
        self.round += 1;
        let text = self.pool.prose(&mut self.dice, 40, 700);
        self.message(&format!(r#""role":"user","content":[{{"type":"text","text":"{text}"}}]"#));
        for _ in 0..=self.dice.below(4) {
            self.response();
        }
        let text = self.pool.prose(&mut self.dice, 60, 1_400);
        self.said(&[format!(r#"{{"type":"text","text":"{text}"}}"#)], "stop");
        self.entry("custom", r#""customType":"openclaw.cache-ttl","data":{"timestamp":1}"#);
        std::mem::take(&mut self.out)
    }

    fn time(&self) -> String {
        stamp(self.clock)
    }
}
