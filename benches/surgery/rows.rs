//! Sessions of any length as client 2.1.329 writes them: rounds of a prompt, the client's
//! bookkeeping, responses of thinking, text and calls, results from a line to a few MB with
//! code and escapes in them. The same bytes every time, kept between runs.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::pool::{Dice, Pool};

pub const MB: u64 = 1024 * 1024;

/// Goes up with what is written here: files of another version are made anew.
const VERSION: u32 = 1;

/// Milliseconds from one row to the next.
const STEP: u64 = 700;

/// What a session is made like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// As real ones are.
    Work,
    /// Prompt and answer, nothing else: many rounds in few bytes.
    Talk,
}

/// A session on disk, and what is known of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    pub path: PathBuf,
    pub bytes: u64,
    pub rows: u64,
    pub rounds: u64,
    /// Bytes of the largest round.
    pub largest: u64,
    /// A time right behind the first round, and one in the middle.
    pub early: String,
    pub middle: String,
}

/// The session of that number, at least so many bytes or rounds long, made if it isn't there.
///
/// # Errors
/// Too little room, what the system says.
pub fn session(
    folder: &Path,
    number: u16,
    mix: Mix,
    bytes: u64,
    rounds: u64,
) -> io::Result<Session> {
    let folder = folder.join(format!("sessions-{VERSION}"));
    fs::create_dir_all(&folder)?;
    // Its name is its id: the file's length and the number, so that no two are the same.
    let id = format!("{:08x}-{number:04x}-4000-8000-{rounds:012x}", bytes / MB);
    let (path, told) = (folder.join(format!("{id}.jsonl")), folder.join(format!("{id}.json")));
    let known = fs::read(&told).ok().and_then(|b| serde_json::from_slice::<Session>(&b).ok());
    if let Some(known) = known
        && fs::metadata(&path).is_ok_and(|m| m.len() == known.bytes)
    {
        return Ok(Session { path, ..known });
    }
    room(&folder, bytes.max(rounds * 2048))?;
    let aside = path.with_extension("part");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&aside)?);
    let mut writer = Writer::new(&id, u64::from(number));
    let mut made = Session {
        path: path.clone(),
        bytes: 0,
        rows: 0,
        rounds: 0,
        largest: 0,
        early: String::new(),
        middle: String::new(),
    };
    while made.bytes < bytes || made.rounds < rounds {
        let round = match mix {
            Mix::Work => writer.work(),
            Mix::Talk => writer.talk(),
        };
        out.write_all(round.as_bytes())?;
        made.largest = made.largest.max(round.len() as u64);
        made.bytes += round.len() as u64;
        made.rounds += 1;
        if made.rounds == 1 {
            made.early = writer.time();
        }
        if made.bytes >= bytes / 2 && made.rounds >= rounds / 2 && made.middle.is_empty() {
            made.middle = writer.time();
        }
    }
    made.rows = writer.rows;
    out.flush()?;
    // What the disk is still at would be measured along.
    out.get_ref().sync_all()?;
    fs::rename(&aside, &path)?;
    fs::write(&told, serde_json::to_vec(&made)?)?;
    Ok(made)
}

/// # Errors
/// The disk has less than `bytes` and some more.
pub fn room(folder: &Path, bytes: u64) -> io::Result<()> {
    let disk = rustix::fs::statvfs(folder)?;
    let (free, needed) = (disk.f_bavail * disk.f_frsize, bytes + 64 * MB);
    if free < needed {
        return Err(io::Error::other(format!(
            "{} has {} MB free and {} are needed; name another folder by --dir, or fewer sizes by --sizes 300",
            folder.display(),
            free / MB,
            needed / MB,
        )));
    }
    Ok(())
}

/// Writes round after round.
struct Writer {
    pool: Pool,
    dice: Dice,
    session: String,
    /// Rows so far.
    rows: u64,
    /// Rounds so far.
    round: u64,
    /// Milliseconds since the session began.
    clock: u64,
    /// The last row's id in the chain, as JSON.
    parent: String,
    /// Tokens in the context.
    used: u64,
    out: String,
}

impl Writer {
    fn new(session: &str, seed: u64) -> Self {
        Self {
            pool: Pool::new(),
            dice: Dice(seed),
            session: session.into(),
            rows: 0,
            round: 0,
            clock: 0,
            parent: "null".into(),
            used: 20_000,
            out: String::new(),
        }
    }

    /// The time of the row to come.
    fn time(&self) -> String {
        let start = chrono::DateTime::from_timestamp(1_773_915_825, 0).expect("a time");
        let at = start + chrono::Duration::milliseconds(self.clock as i64);
        at.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
    }

    /// A row that is in the chain: `rest` is what this one has of its own.
    fn chained(&mut self, rest: &str) -> String {
        self.clock += STEP;
        self.rows += 1;
        let (id, at) = (self.dice.uuid(), self.time());
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
        self.rows += 1;
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

    /// A round of work.
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
        for _ in 0..1 + self.dice.below(4) {
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

    /// What the model said and called, and what the calls gave.
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
        for _ in 0..1 + self.dice.below(2) {
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
        let (least, most) = match self.dice.below(4_000) {
            // A picture, or an output that nobody has shortened.
            0 => (2 * MB as usize, 6 * MB as usize),
            n if n < 40 => (60_000, 200_000),
            n if n < 400 => (8_000, 30_000),
            n if n < 1_600 => (1_000, 6_000),
            _ => (20, 800),
        };
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
