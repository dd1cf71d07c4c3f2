//! Generated pi sessions for property tests: everything that a row can hold, long and short,
//! abandoned branches, compactions, odd rows. The same seed gives the same bytes.
use proptest::prelude::*;

use crate::dice::{Dice, json};

/// A generated session.
#[derive(Debug, Clone)]
pub struct Made {
    /// Its id.
    pub id: String,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Sessions of up to ten prompts.
pub fn sessions() -> impl Strategy<Value = Made> {
    (any::<u64>(), 1..=10usize).prop_map(|(seed, prompts)| session(seed, prompts))
}

/// A session with that many prompts.
pub fn session(seed: u64, prompts: usize) -> Made {
    let mut dice = Dice(seed);
    let id = dice.uuid();
    let crlf = dice.chance(10);
    let mut pen = Pen { dice, out: Vec::new(), ids: Vec::new(), tip: None, crlf };
    pen.line(&format!(
        r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-02-20T10:00:00.000Z","cwd":"/w"}}"#
    ));
    for _ in 0..prompts {
        pen.prompt();
    }
    if pen.dice.chance(20) {
        pen.out.truncate(pen.out.trim_ascii_end().len());
    }
    Made { id, bytes: pen.out }
}

struct Pen {
    dice: Dice,
    out: Vec<u8>,
    ids: Vec<String>,
    tip: Option<String>,
    crlf: bool,
}

impl Pen {
    fn line(&mut self, row: &str) {
        self.out.extend_from_slice(row.as_bytes());
        self.out.extend_from_slice(if self.crlf { b"\r\n" } else { b"\n" });
    }

    /// A row of the chain; `rest` are the fields after the first ones.
    fn entry(&mut self, kind: &str, rest: &str) -> String {
        let id = format!("{:08x}", self.dice.next() >> 32);
        let parent = self.tip.as_ref().map_or("null".to_owned(), |tip| json(tip));
        let said = match self.dice.below(30) {
            0 => r#","_extractable":false"#,
            1 => r#","_extractable":true"#,
            2 => r#","_extractable":4"#,
            3 => r#","_restored":"2026-02-20T10:00:00Z""#,
            4 => r#","fromTomorrow":{"a":[1,{"b":"}"}],"id":"x"}"#,
            _ => "",
        };
        self.line(&format!(
            r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"2026-02-20T10:00:01.000Z",{rest}{said}}}"#
        ));
        self.ids.push(id.clone());
        self.tip = Some(id.clone());
        id
    }

    fn message(&mut self, role: &str, rest: &str) -> String {
        self.entry("message", &format!(r#""message":{{"role":"{role}",{rest},"timestamp":1}}"#))
    }

    /// A text as JSON: long or short, with needless escapes and surrogate pairs.
    fn text(&mut self) -> String {
        let short = self.dice.words(12);
        let times = if self.dice.chance(40) { self.dice.below(60) } else { 0 };
        let text = json(&[short.clone(), format!(" {short}").repeat(times as usize)].concat());
        match self.dice.below(5) {
            0 => text.replace('🦀', "\\ud83e\\udd80").replace('ö', "\\u00f6").replace('/', "\\/"),
            1 => text.replacen('"', "\"[[extracted-aa000001]] ", 1),
            _ => text,
        }
    }

    fn prompt(&mut self) {
        if self.ids.len() > 6 && self.dice.chance(15) {
            let back = self.dice.below(6) as usize;
            self.tip = self.ids.get(self.ids.len() - 2 - back).cloned();
        }
        self.odd();
        let text = self.text();
        let content = match self.dice.below(4) {
            0 => format!(
                r#"[{{"type":"text","text":{text}}},{{"type":"image","data":"{}","mimeType":"image/png"}}]"#,
                "iVBORw0K".repeat(200)
            ),
            1 => format!(r#"[{{"type":"text","text":{text}}}]"#),
            _ => text,
        };
        self.message("user", &format!(r#""content":{content}"#));
        for _ in 0..self.dice.below(4) {
            self.calls();
        }
        let text = self.text();
        self.assistant(&format!(r#"{{"type":"text","text":{text}}}"#), "stop");
    }

    fn assistant(&mut self, blocks: &str, stop: &str) {
        let thinking = match (self.dice.below(4), self.text()) {
            (0, text) => format!(r#"{{"type":"thinking","thinking":{text}}},"#),
            (1, text) => {
                format!(
                    r#"{{"type":"thinking","thinking":{text},"thinkingSignature":"c2ln+/=="}},"#
                )
            }
            _ => String::new(),
        };
        self.message(
            "assistant",
            &format!(
                r#""content":[{thinking}{blocks}],"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","usage":{{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}}},"stopReason":"{stop}""#
            ),
        );
    }

    /// A message with calls, and their results.
    fn calls(&mut self) {
        let made: Vec<(String, &str)> = (0..=self.dice.below(2))
            .map(|_| (format!("toolu_{:012x}", self.dice.next() >> 16), self.tool()))
            .collect();
        let blocks: Vec<String> = made
            .iter()
            .map(|(call, tool)| {
                let text = self.text();
                format!(
                    r#"{{"type":"toolCall","id":"{call}","name":"{tool}","arguments":{{"path":"/w/a.rs","edits":[{{"content":{text}}}]}}}}"#
                )
            })
            .collect();
        self.assistant(&blocks.join(","), "toolUse");
        for (call, tool) in made {
            let text = self.text();
            let more = match self.dice.below(6) {
                0 => format!(r#",{{"type":"text","text":{}}}"#, self.text()),
                1 => r#",{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}"#.into(),
                _ => String::new(),
            };
            let details = match self.dice.below(4) {
                0 => format!(r#","details":{{"aggregated":{text},"exitCode":0}}"#),
                1 => r#","details":{}"#.to_owned(),
                _ => String::new(),
            };
            let error = self.dice.chance(15);
            self.message(
                "toolResult",
                &format!(
                    r#""toolCallId":"{call}","toolName":"{tool}","content":[{{"type":"text","text":{text}}}{more}]{details},"isError":{error}"#
                ),
            );
        }
    }

    fn tool(&mut self) -> &'static str {
        ["exec", "read", "edit", "purge_control"][self.dice.below(4) as usize]
    }

    /// Rows that are not messages, or not entries.
    fn odd(&mut self) {
        let (text, chosen) = (self.text(), self.dice.below(16));
        let some = self.ids.len().saturating_sub(1 + self.dice.below(6) as usize);
        let target = self.ids.get(some).cloned();
        match (chosen, target) {
            (0, Some(target)) => {
                self.entry(
                    "compaction",
                    &format!(
                        r#""summary":{text},"firstKeptEntryId":"{target}","tokensBefore":50000,"details":{{"readFiles":[],"modifiedFiles":[]}},"fromHook":false"#
                    ),
                );
            }
            (1, Some(target)) => {
                self.entry("label", &format!(r#""targetId":"{target}","label":"here""#));
            }
            (2, Some(target)) => {
                self.entry("branch_summary", &format!(r#""fromId":"{target}","summary":{text}"#));
            }
            (3, _) => {
                self.entry("custom", &format!(r#""customType":"x","data":{{"kept":{text}}}"#));
            }
            (4, _) => {
                self.entry(
                    "custom_message",
                    &format!(r#""customType":"x","content":{text},"display":true"#),
                );
            }
            (5, _) => {
                self.message(
                    "bashExecution",
                    &format!(
                        r#""command":"ls","output":{text},"exitCode":0,"cancelled":false,"truncated":false"#
                    ),
                );
            }
            (6, _) => {
                self.entry("model_change", r#""provider":"openai","modelId":"gpt-4o""#);
            }
            (7, _) => self.line("no JSON"),
            (8, _) => self.line(r#"{"type":"message","id":"torn","#),
            (9, _) => self.line(""),
            (10, _) => self.line(&format!(r#"{{"of":"nobody","text":{text}}}"#)),
            _ => {}
        }
    }
}
