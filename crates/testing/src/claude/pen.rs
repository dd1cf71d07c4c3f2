//! Writes the rows of a generated session.

use super::{Expected, Generated};
use crate::dice::{Dice, json};

pub struct Pen {
    pub(super) dice: Dice,
    id: String,
    out: Vec<u8>,
    /// The chain's last row.
    pub(super) tip: Option<String>,
    /// The last row and the tokens in the context when each round ended, from round 0.
    ends: Vec<(Option<String>, u64)>,
    /// The round of the last compaction.
    boundary: usize,
    pub(super) used: u64,
    millis: u64,
    rounds: Vec<Expected>,
    /// The chain's rows in the round before, and in this one.
    chain: [Vec<String>; 2],
}

impl Pen {
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let id = dice.uuid();
        let millis = dice.below(240) * 60_000;
        let (out, rounds) = (Vec::new(), Vec::new());
        let ends = Vec::new();
        let chain = Default::default();
        Self { dice, id, out, tip: None, ends, boundary: 0, used: 20_000, millis, rounds, chain }
    }

    pub fn finish(self) -> Generated {
        Generated { id: self.id, bytes: self.out, rounds: self.rounds }
    }

    /// The next round.
    pub fn round(&mut self) {
        self.ends.push((self.tip.clone(), self.used));
        self.chain = [std::mem::take(&mut self.chain[1]), Vec::new()];
        let mut follows = self.rounds.len();
        if follows > self.boundary + 1 && self.dice.chance(15) {
            let span = (follows - self.boundary) as u64;
            follows = self.boundary + self.dice.below(span) as usize;
            (self.tip, self.used) = self.ends[follows].clone();
        }
        let follows = Some(follows as u32).filter(|round| *round > 0);
        self.rounds.push(Expected { follows, ..Expected::default() });
        match self.dice.below(20) {
            0 | 1 if self.rounds.len() > 1 => return self.compaction(),
            2 => return self.command(),
            3 => {
                self.user(r#""<bash-input>ls</bash-input>""#, "");
                self.here().user.push("! ls".into());
                let printed = self.dice.words(60);
                let printed =
                    format!("<bash-stdout>{printed}</bash-stdout><bash-stderr></bash-stderr>");
                return self.user(&json(&printed), "");
            }
            _ => self.prompt(),
        }
        if self.dice.chance(40) {
            self.attachments();
        }
        self.bookkeeping();
        if self.dice.chance(5) {
            return self.user(r#"[{"type":"text","text":"[Request interrupted by user]"}]"#, "");
        }
        for _ in 0..self.dice.below(3) {
            self.calls();
        }
        self.answer();
        if self.dice.chance(10) {
            self.user(
                r#""<task-notification>\n<task-id>a1</task-id>\n</task-notification>""#,
                r#","origin":{"kind":"task-notification","producer":"session-task"}"#,
            );
            self.answer();
        }
        let (parent, rest) = (self.parent(), self.rest());
        let id = self.step();
        self.line(&format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"system","subtype":"turn_duration","durationMs":1122,"uuid":"{id}","isMeta":false{rest}}}"#
        ));
        self.bookkeeping();
    }

    /// Rows outside the chain.
    pub fn bookkeeping(&mut self) {
        let id = self.id.clone();
        let all = [
            format!(r#"{{"type":"mode","mode":"normal","sessionId":"{id}"}}"#),
            format!(r#"{{"type":"last-prompt","lastPrompt":"x","sessionId":"{id}"}}"#),
            format!(r#"{{"type":"api-request-blob","sessionId":"{id}","message":{{"role":"user","content":[{{"type":"text","text":"x"}}]}}}}"#),
            format!(r#"{{"type":"unheard-of","with":[1,{{"a":"}}"}}],"sessionId":"{id}"}}"#),
            r#"{"type":"file-history-snapshot","snapshot":{"trackedFileBackups":{}},"isSnapshotUpdate":false}"#.into(),
        ];
        for row in all {
            if self.dice.chance(30) {
                self.line(&row);
            }
        }
    }

    fn prompt(&mut self) {
        let text = self.dice.words(30);
        self.here().user.push(text.clone());
        let text = json(&text);
        let reminder = r#"{"type":"text","text":"<system-reminder>\nToday\n</system-reminder>"}"#;
        let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}"#;
        let content = match self.dice.below(10) {
            0 => format!(r#"[{image},{{"type":"text","text":{text}}}]"#),
            1 => format!(r#"[{reminder},{{"type":"text","text":{text}}}]"#),
            2 | 3 => format!(r#"[{{"type":"text","text":{text}}}]"#),
            _ => text,
        };
        self.user(&content, r#","origin":{"kind":"human"},"promptSource":"typed""#);
    }

    fn command(&mut self) {
        let text = r#""<command-name>/model</command-name>\n <command-message>model</command-message>\n <command-args>opus</command-args>""#;
        self.user(text, "");
        self.here().user.push("/model opus".into());
        self.user(r#""<local-command-stdout>Set model</local-command-stdout>""#, "");
    }

    fn compaction(&mut self) {
        let seq = self.rounds.len();
        // A rewind before a compaction has no effect.
        (self.tip, self.used) = self.ends[seq - 1].clone();
        self.here().follows = Some(seq as u32 - 1);
        self.boundary = seq;
        self.here().boundary = true;
        let (logical, rest) = (self.parent(), self.rest());
        // No client was seen to keep a prompt.
        let last = self.chain[0].iter().skip(1).rev().take(2);
        let kept: Vec<&String> = if self.chain[0].len() > 2 && self.dice.chance(50) {
            last.rev().collect()
        } else {
            self.tip.iter().collect()
        };
        let kept = serde_json::to_string(&kept).unwrap();
        let anchor = self.dice.uuid();
        let pre = self.used;
        self.used = 20_000;
        let id = self.step();
        self.line(&format!(
            r#"{{"parentUuid":null,"logicalParentUuid":{logical},"isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","level":"info","compactMetadata":{{"trigger":"manual","preTokens":{pre},"postTokens":2875,"preservedMessages":{{"anchorUuid":"{anchor}","uuids":{kept},"allUuids":{kept}}}}},"uuid":"{id}"{rest}}}"#
        ));
        // The client gives the summary an earlier time than the boundary.
        self.millis -= 9;
        let (parent, rest) = (self.parent(), self.rest());
        self.line(&format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"user","message":{{"role":"user","content":"This session is being continued from a previous conversation.\nSummary:\nx"}},"isVisibleInTranscriptOnly":true,"isCompactSummary":true,"uuid":"{anchor}"{rest}}}"#
        ));
        self.tip = Some(anchor);
        self.user(r#""<local-command-caveat>Caveat</local-command-caveat>""#, r#","isMeta":true"#);
        self.user(r#""<command-name>/compact</command-name>\n <command-args></command-args>""#, "");
        self.user(r#""<local-command-stdout>Compacted</local-command-stdout>""#, "");
    }

    fn attachments(&mut self) {
        for kind in ["environment", "session_context", "date"] {
            self.attachment(&format!(r#"{{"type":"{kind}","value":"x"}}"#));
        }
    }

    pub(super) fn attachment(&mut self, what: &str) {
        let (parent, rest) = (self.parent(), self.rest());
        let id = self.step();
        self.line(&format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"attachment":{what},"type":"attachment","uuid":"{id}"{rest}}}"#
        ));
    }

    pub(super) fn user(&mut self, content: &str, more: &str) {
        let (parent, rest) = (self.parent(), self.rest());
        let id = self.step();
        self.line(&format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"promptId":"p","type":"user","message":{{"role":"user","content":{content}}},"uuid":"{id}"{more}{rest}}}"#
        ));
    }

    /// Adds a row to the chain and returns its id.
    pub(super) fn step(&mut self) -> String {
        let id = self.dice.uuid();
        if let Some(round) = self.rounds.last_mut().filter(|round| round.first_id.is_empty()) {
            round.first_id.clone_from(&id);
        }
        self.tip = Some(id.clone());
        self.chain[1].push(id.clone());
        id
    }

    pub(super) fn parent(&self) -> String {
        self.tip.as_ref().map_or("null".into(), |tip| format!("\"{tip}\""))
    }

    /// The fields that every row of the chain ends with; advances the time.
    pub(super) fn rest(&mut self) -> String {
        self.millis += 10 + self.dice.below(20_000);
        let (s, ms) = (self.millis / 1_000, self.millis % 1_000);
        let time = format!("{:02}:{:02}:{:02}.{ms:03}", 10 + s / 3_600, s / 60 % 60, s % 60);
        format!(
            r#","timestamp":"2026-03-19T{time}Z","userType":"external","entrypoint":"cli","cwd":"/w","sessionId":"{}","version":"2.1.329","gitBranch":"HEAD""#,
            self.id
        )
    }

    pub(super) fn here(&mut self) -> &mut Expected {
        self.rounds.last_mut().unwrap()
    }

    pub(super) fn line(&mut self, row: &str) {
        if let Some(round) = self.rounds.last_mut() {
            round.rows += 1;
        }
        self.out.extend_from_slice(row.as_bytes());
        self.out.push(b'\n');
    }
}
