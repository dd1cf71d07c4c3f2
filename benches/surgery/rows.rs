//! Session rows in the format of client 2.1.329. A round has a prompt, client bookkeeping,
//! responses of thinking, text and calls, and results from a line to a few MB of escaped code.

use std::fmt::Write as _;

use crate::pool::Pool;
use crate::session::{MB, Rounds};
use testing::dice::Dice;

/// Milliseconds between rows.
const STEP: u64 = 700;

/// The composition of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// Like a real session.
    Work,
    /// Only prompts and answers: many rounds in few bytes.
    Talk,
}

/// Writes round after round.
pub struct Writer {
    mix: Mix,
    pool: Pool,
    dice: Dice,
    session: String,
    round: u64,
    /// Milliseconds since the session started.
    clock: u64,
    /// The last row's id in the chain, as JSON.
    parent: String,
    used: u64,
    out: String,
}

impl Writer {
    pub fn new(mix: Mix, session: &str, seed: u64) -> Self {
        Self {
            mix,
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

    /// A row in the chain; `rest` holds its own fields.
    fn chained(&mut self, rest: &str) -> String {
        self.clock += STEP;
        let (id, at) = (self.dice.uuid(), stamp(self.clock));
        let (parent, session) = (&self.parent, &self.session);
        let _ = writeln!(
            self.out,
            r#"{{"parentUuid":{parent},"isSidechain":false,{rest},"uuid":"{id}","timestamp":"{at}","userType":"external","entrypoint":"cli","cwd":"/home/dev/project","sessionId":"{session}","version":"2.1.329","gitBranch":"main"}}"#
        );
        self.parent = format!("\"{id}\"");
        id
    }

    /// A row of the client's bookkeeping.
    fn aside(&mut self, rest: &str) {
        let _ = writeln!(self.out, r#"{{{rest},"sessionId":"{}"}}"#, self.session);
    }

    fn prompt(&mut self) {
        self.round += 1;
        let (text, id) = (self.pool.prose(&mut self.dice, 40, 700), self.dice.uuid());
        let round = self.round;
        self.chained(&format!(
            r#""promptId":"{id}","type":"user","message":{{"role":"user","content":"{text}"}},"permissionMode":"default","promptSource":"typed","turnPosition":{{"promptIndex":{round},"turnIndex":{round}}}"#
        ));
    }

    /// One row of a response.
    fn said(&mut self, message: &str, block: &str, last: bool) -> String {
        let (reason, used) = (if last { "end_turn" } else { "tool_use" }, self.used);
        self.chained(&format!(
            r#""message":{{"id":"{message}","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{block}],"stop_reason":"{reason}","stop_sequence":null,"usage":{{"input_tokens":7,"cache_creation_input_tokens":400,"cache_read_input_tokens":{used},"output_tokens":111,"server_tool_use":{{"web_search_requests":0,"web_fetch_requests":0}},"service_tier":"standard","speed":"standard"}}}},"requestId":"req_{message}","requestedModel":"claude-opus-5-5","type":"assistant","effort":"medium""#
        ))
    }

    /// Prompt and answer.
    fn talk(&mut self) -> String {
        self.out.clear();
        self.prompt();
        let (text, message) = (self.pool.prose(&mut self.dice, 80, 600), self.message());
        self.used += 300;
        self.said(&message, &format!(r#"{{"type":"text","text":"{text}"}}"#), true);
        std::mem::take(&mut self.out)
    }

    fn work(&mut self) -> String {
        self.out.clear();
        self.prompt();
        self.aside(r#""type":"mode","mode":"normal""#);
        self.chained(r#""attachment":{"type":"date","date":"2026-03-19"},"type":"attachment","rendered":[{"content":"<system-reminder>\nToday's date is 2026-03-19.\n</system-reminder>"}],"renderedRole":"system""#);
        if self.round.is_multiple_of(24) {
            let text = self.pool.code(&mut self.dice, 14_000, 16_000);
            self.chained(&format!(
                r#""attachment":{{"type":"prompt_snapshot","systemPrompt":["{text}"]}},"type":"attachment""#
            ));
            let text = self.pool.code(&mut self.dice, 16_000, 20_000);
            self.aside(&format!(r#""type":"api-request-shape","shape":{{"system":[{{"type":"text","text":"{text}"}}]}}"#));
        }
        for _ in 0..=self.dice.below(4) {
            self.response();
        }
        let (text, message) = (self.pool.prose(&mut self.dice, 60, 1_400), self.message());
        self.said(&message, &format!(r#"{{"type":"text","text":"{text}"}}"#), true);
        self.chained(r#""type":"system","subtype":"stop_hook_summary","hookCount":1,"hookInfos":[{"command":"brain-guard hook","durationMs":2}],"hookErrors":[],"preventedContinuation":false,"stopReason":"","hasOutput":false,"level":"suggestion""#);
        self.chained(
            r#""type":"system","subtype":"turn_duration","durationMs":81234,"isMeta":false"#,
        );
        let leaf = self.parent.clone();
        self.aside(&format!(r#""type":"last-prompt","lastPrompt":"go on","leafUuid":{leaf}"#));
        std::mem::take(&mut self.out)
    }

    fn message(&mut self) -> String {
        format!("msg_{:016x}", self.dice.next())
    }

    /// The model's text and calls, and the results.
    fn response(&mut self) {
        let hash = self.dice.next();
        let text = self.pool.code(&mut self.dice, 300, 2_500);
        self.aside(&format!(
            r#""type":"api-request-blob","hash":"{hash:016x}","message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#
        ));
        let message = self.message();
        let (text, signature) =
            (self.pool.prose(&mut self.dice, 0, 1_200), self.pool.base64(&mut self.dice, 300, 900));
        self.said(
            &message,
            &format!(r#"{{"type":"thinking","thinking":"{text}","signature":"{signature}"}}"#),
            false,
        );
        if self.dice.below(2) == 0 {
            let text = self.pool.prose(&mut self.dice, 30, 300);
            self.said(&message, &format!(r#"{{"type":"text","text":"{text}"}}"#), false);
        }
        let mut calls = Vec::new();
        for _ in 0..=self.dice.below(2) {
            let call = format!("toolu_{:016x}", self.dice.next());
            let block = self.call(&call);
            calls.push((call, self.said(&message, &block, false)));
        }
        for (call, row) in calls {
            self.result(&call, &row);
        }
        self.used += 400 + self.dice.below(2_000);
    }

    fn call(&mut self, id: &str) -> String {
        let (name, input) = match self.dice.below(4) {
            0 => ("Read", r#"{"file_path":"/home/dev/project/src/parser/lines.rs"}"#.to_owned()),
            1 => {
                let text = self.pool.code(&mut self.dice, 200, 3_000);
                ("Write", format!(r#"{{"file_path":"/home/dev/project/src/parser/rows.rs","content":"{text}"}}"#))
            }
            2 => ("Bash", r#"{"command":"cargo test --lib 2>&1 | tail -40","description":"Run the unit tests"}"#.to_owned()),
            _ => ("Grep", r#"{"pattern":"fn \\w+\\(&self\\)","path":"/home/dev/project/src"}"#.to_owned()),
        };
        format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#)
    }

    fn result(&mut self, call: &str, row: &str) {
        let (least, most) = result_size(&mut self.dice);
        let text = if least > MB as usize && self.dice.below(2) == 0 {
            let data = self.pool.base64(&mut self.dice, least, most);
            let image = format!(
                r#"[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}]"#
            );
            self.chained(&format!(
                r#""type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{call}","type":"tool_result","content":{image}}}]}},"sourceToolAssistantUUID":"{row}""#
            ));
            return;
        } else {
            self.pool.code(&mut self.dice, least, most)
        };
        self.chained(&format!(
            r#""type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{call}","type":"tool_result","content":"{text}","is_error":false}}]}},"toolUseResult":{{"stdout":"{text}","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}},"sourceToolAssistantUUID":"{row}","permissionDecision":{{"decision":"accept","source":"config","reasonType":"mode"}}"#
        ));
    }
}

impl Rounds for Writer {
    fn round(&mut self) -> String {
        match self.mix {
            Mix::Work => self.work(),
            Mix::Talk => self.talk(),
        }
    }

    fn time(&self) -> String {
        stamp(self.clock)
    }
}

/// A timestamp this many milliseconds after the start of every session.
pub fn stamp(milliseconds: u64) -> String {
    let start = chrono::DateTime::from_timestamp(1_773_915_825, 0).expect("a time");
    let at = start + chrono::Duration::milliseconds(milliseconds as i64);
    at.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// The minimum and maximum bytes of a tool result.
pub fn result_size(dice: &mut Dice) -> (usize, usize) {
    match dice.below(4_000) {
        // A picture, or a full-length output.
        0 => (2 * MB as usize, 6 * MB as usize),
        n if n < 40 => (60_000, 200_000),
        n if n < 400 => (8_000, 30_000),
        n if n < 1_600 => (1_000, 6_000),
        _ => (20, 800),
    }
}
