//! One response of the scripted agent: its tool calls go through the hooks and, if these allow
//! them, through the tools.

use serde_json::{Value, json};

use super::client::{Client, broken, printed};
use super::reply::Replies;
use super::screen::Screen;
use super::stage::{Stop, expect};
use super::tools::{self, Use};
use super::transcript::{LIMIT, WINDOW};
use base::atomic;

/// The result of one call.
#[derive(Debug)]
pub struct Done {
    pub before: Replies,
    /// The hooks' answers after it ran; empty if it did not run.
    pub after: Replies,
    pub ran: bool,
    /// What the agent got.
    pub result: String,
    /// Whether the guard consumed the module's reading of this call.
    pub measured: bool,
    input: Value,
    id: String,
}

impl Done {
    fn outcome(&self) -> &'static str {
        match (self.ran, self.before.deny().is_some()) {
            (_, true) => ": denied",
            (true, _) => "",
            (false, false) => ": failed",
        }
    }
}

/// The result of a response.
#[derive(Debug)]
pub struct Response {
    pub calls: Vec<Done>,
    /// The hooks' answers once all calls were done.
    pub batch: Replies,
    /// The guard's own figure at that point.
    pub percent: Option<f64>,
    /// The guard's own tier at that point.
    pub stance: String,
}

impl Response {
    /// All answers of the hooks before the calls.
    pub fn before(&self) -> String {
        self.calls.iter().map(|c| c.before.to_string()).collect::<Vec<_>>().join(" and ")
    }

    /// Whether no hook answered anything.
    pub fn silent(&self) -> bool {
        self.batch.silent() && self.calls.iter().all(|c| c.before.silent() && c.after.silent())
    }
}

impl Client<'_> {
    /// Plays a response that makes these calls at `percent` of the limit.
    ///
    /// # Errors
    /// A hook or a program that fails.
    pub fn respond(
        &mut self,
        screen: &mut Screen,
        percent: f64,
        uses: &[Use],
    ) -> Result<Response, Stop> {
        let tokens = (LIMIT as f64 * percent / 100.0) as u64;
        let mut calls = Vec::new();
        for what in uses {
            calls.push(self.before(tokens, what)?);
        }
        let blocks: Vec<Value> = uses
            .iter()
            .zip(&calls)
            .map(|(what, done)| json!({"type": "tool_use", "id": done.id, "name": what.tool, "input": what.input}))
            .collect();
        self.transcript
            .assistant(tokens, &blocks)
            .map_err(broken("could not write the transcript"))?;
        for (what, done) in uses.iter().zip(&mut calls) {
            if done.before.deny().is_none() {
                self.use_tool(what, done)?;
            }
            let error = !done.ran;
            let row = json!([{
                "type": "tool_result", "tool_use_id": done.id, "content": done.result, "is_error": error,
            }]);
            self.transcript.user(&row).map_err(broken("could not write the transcript"))?;
        }
        let listed: Vec<Value> = uses
            .iter()
            .zip(&calls)
            .map(|(what, done)| json!({
                "tool_name": what.tool, "tool_input": done.input, "tool_use_id": done.id, "tool_response": done.result,
            }))
            .collect();
        let batch = self.fire("PostToolBatch", "", json!({"tool_calls": listed}))?;
        let (percent, stance) = self.status()?;
        show(screen, percent, &stance, uses, &calls);
        Ok(Response { calls, batch, percent, stance })
    }

    /// Starts a call: writes the module's reading, then runs the hooks.
    fn before(&mut self, tokens: u64, what: &Use) -> Result<Done, Stop> {
        let id = format!("toolu_demo_{}", self.next_call());
        let asked = json!({
            "effort": {"level": "medium"}, "tool_name": what.tool, "tool_input": what.input, "tool_use_id": id,
        });
        let input = what.input.clone();
        if self.sealed {
            // The real module would end the turn here. The demo goes on, to test the hooks without
            // it.
            let answer = self.ask("gate", asked.clone())?;
            expect(answer["action"] == "abort", "`mod gate` to end the turn", || answer.clone())?;
        }
        let snapshot = self.snapshots.as_ref().map(|folder| folder.join(format!("{id}.json")));
        if let Some(path) = &snapshot {
            let reading = json!({"session_id": self.session, "tokens": tokens, "window": WINDOW, "output": null});
            atomic::write_unsynced(path, reading.to_string().as_bytes())
                .map_err(broken("could not write the module's reading"))?;
        }
        let before = self.fire("PreToolUse", what.tool, asked)?;
        let result = before.deny().map(|why| format!("PreToolUse:{} hook error: {why}", what.tool));
        let measured = snapshot.is_some_and(|path| !path.exists());
        Ok(Done {
            before,
            after: Replies::default(),
            ran: false,
            result: result.unwrap_or_default(),
            measured,
            input,
            id,
        })
    }

    /// Runs a call that is allowed, then the hooks on its outcome.
    fn use_tool(&mut self, what: &Use, done: &mut Done) -> Result<(), Stop> {
        if let Some(input) = done.before.input() {
            done.input = input.clone();
        }
        let rewritten = done.before.input().and_then(|i| i["command"].as_str()).map(str::to_owned);
        let outcome = match rewritten {
            Some(command) => {
                let ended = self.shell(&command)?;
                let response = tools::shell_response(&ended.stdout, &ended.stderr);
                let text = format!("{}{}", ended.stdout, ended.stderr);
                if ended.status.success() { Ok((response, text)) } else { Err(printed(&ended)) }
            }
            None => tools::run(what, &done.input),
        };
        let mut more = json!({
            "effort": {"level": "medium"}, "tool_name": what.tool, "tool_input": done.input,
            "tool_use_id": done.id, "duration_ms": 1,
        });
        let event = match outcome {
            Ok((response, text)) => {
                (done.ran, done.result) = (true, text);
                more["tool_response"] = response;
                "PostToolUse"
            }
            Err(why) => {
                more["error"] = json!(why);
                more["is_interrupt"] = json!(false);
                done.result = why;
                "PostToolUseFailure"
            }
        };
        done.after = self.fire(event, what.tool, more)?;
        if let Some(output) = done.after.output() {
            output["stdout"].as_str().unwrap_or_default().clone_into(&mut done.result);
        }
        if self.snapshots.is_some()
            && done.input["command"].as_str().is_some_and(|c| c.contains("brain-guard"))
        {
            self.ask("poll", json!({}))?;
        }
        Ok(())
    }
}

/// Prints a response: its gauge and calls. More than two calls with the same outcome share one
/// entry.
fn show(screen: &mut Screen, percent: Option<f64>, stance: &str, uses: &[Use], calls: &[Done]) {
    let alike = calls.windows(2).all(|pair| pair[0].outcome() == pair[1].outcome());
    let told: Vec<String> = if uses.len() > 2 && alike {
        let tools: Vec<&str> = uses.iter().map(|u| u.tool).collect();
        let outcome = calls.first().map_or("", Done::outcome);
        // In two lines, because the gauge leaves little room.
        let (first, rest) = tools.split_at(tools.len() / 2);
        vec![first.join(", ") + ",", rest.join(", ") + outcome]
    } else {
        uses.iter().zip(calls).map(|(what, done)| what.brief() + done.outcome()).collect()
    };
    let indent = Screen::indent();
    for (index, what) in told.iter().enumerate() {
        if index == 0 {
            screen.gauge(percent, stance, what);
        } else {
            screen.line(&format!("{indent}{what}"));
        }
    }
}
