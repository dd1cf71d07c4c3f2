//! The agent's messages of a generated session: thinking, calls and results, answers.

use super::pen::Pen;
use crate::dice::json;

impl Pen {
    /// A message with calls, and their results.
    pub fn calls(&mut self) {
        let (message, usage) = self.message();
        self.think(&message, &usage);
        if self.dice.chance(25) {
            let text = self.dice.words(10);
            let block = format!(r#"{{"type":"text","text":{}}}"#, json(&text));
            self.here().agent.push(text);
            self.assistant(&message, &usage, &block, "tool_use");
        }
        // Results that come while the message is still being written are between its rows.
        let between = self.dice.chance(25);
        let mut made = Vec::new();
        for n in 0..=self.dice.below(3) {
            let (name, input) = match self.dice.below(5) {
                0 => ("Read", r#"{"file_path":"/w/src/lib.rs"}"#.to_owned()),
                1 => {
                    let text = json(&"fn a() {}\n".repeat(1 + 20 * n as usize));
                    ("Write", format!(r#"{{"file_path":"/w/new.rs","content":{text}}}"#))
                }
                2 => (
                    "Agent",
                    r#"{"description":"Read console","prompt":"x","subagent_type":"scout"}"#
                        .to_owned(),
                ),
                3 => ("Grep", r#"{"pattern":"a|b","path":"/w"}"#.to_owned()),
                _ => (
                    "Bash",
                    format!(r#"{{"command":"ls","description":{}}}"#, json(&self.dice.words(8))),
                ),
            };
            let call = format!("toolu_{:016x}_{n}", self.dice.next());
            let block =
                format!(r#"{{"type":"tool_use","id":"{call}","name":"{name}","input":{input}}}"#);
            let row = self.assistant(&message, &usage, &block, "tool_use");
            self.here().calls.push(call.clone());
            if between {
                self.gives(&call, &row);
            } else {
                made.push((call, row));
            }
        }
        if made.len() > 1 && self.dice.chance(40) {
            made.rotate_left(1);
        }
        for (call, row) in made {
            self.gives(&call, &row);
        }
        if self.dice.chance(10) {
            let text = self.dice.words(6);
            self.here().user.push(text.clone());
            self.attachment(&format!(
                r#"{{"type":"queued_command","prompt":{},"commandMode":"prompt","origin":{{"kind":"human"}}}}"#,
                json(&text)
            ));
        }
    }

    /// The result of a call in that row.
    fn gives(&mut self, call: &str, row: &str) {
        let (short, long) = (self.dice.words(20), self.dice.chance(5));
        let given = json(&if long { short.repeat(40) } else { short });
        let blocks = match self.dice.below(4) {
            0 => format!(r#"[{{"type":"text","text":{given}}}]"#),
            _ => given.clone(),
        };
        self.tip = Some(row.to_owned());
        self.user(
            &format!(r#"[{{"tool_use_id":"{call}","type":"tool_result","content":{blocks}}}]"#),
            &format!(r#","toolUseResult":{{"stdout":{given}}},"sourceToolAssistantUUID":"{row}""#),
        );
    }

    /// A message that ends a turn.
    pub fn answer(&mut self) {
        let (message, usage) = self.message();
        self.think(&message, &usage);
        let text = self.dice.words(40);
        let block = format!(r#"{{"type":"text","text":{}}}"#, json(&text));
        self.here().agent.push(text);
        self.assistant(&message, &usage, &block, "end_turn");
    }

    fn think(&mut self, message: &str, usage: &str) {
        if self.dice.chance(40) {
            let (text, signature) = (json(&self.dice.words(20)), self.dice.next());
            let block =
                format!(r#"{{"type":"thinking","thinking":{text},"signature":"{signature:x}=="}}"#);
            self.assistant(message, usage, &block, "tool_use");
        }
    }

    /// Id and usage of the next message.
    fn message(&mut self) -> (String, String) {
        self.used += 100 + self.dice.below(3_000);
        let (output, input) = (90, self.used - 97);
        let usage = format!(
            r#"{{"input_tokens":7,"cache_creation_input_tokens":null,"cache_read_input_tokens":{input},"output_tokens":{output},"server_tool_use":{{"web_search_requests":0}}}}"#
        );
        (format!("msg_{:016x}", self.dice.next()), usage)
    }

    fn assistant(&mut self, message: &str, usage: &str, block: &str, stop: &str) -> String {
        let (parent, rest) = (self.parent(), self.rest());
        let id = self.step();
        self.line(&format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"message":{{"id":"{message}","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{block}],"stop_reason":"{stop}","stop_sequence":null,"usage":{usage}}},"requestId":"req_1","type":"assistant","uuid":"{id}"{rest}}}"#
        ));
        id
    }
}
