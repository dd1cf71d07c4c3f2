//! `mod tool`: answers the agent's call of a tool that the module registered. The client runs no
//! `PreToolUse` hook for such a call, so the hook decides here first.

use serde_json::{Value, json};

use super::Ask;
use crate::cmd::PROGRAM;
use crate::cmd::mcp::tools;
use base::clock::Time;
use base::env::{self, Env};
use guard::hook::reply::Agent;
use guard::hook::{self, Role, variables};

/// The client's answer to the call. `payload` is what the client would give the `PreToolUse` hook.
/// `None` if the tool is not ours.
pub fn answer(env: &Env, now: Time, session: &str, asked: &Ask, payload: &str) -> Option<Value> {
    let (_, name) = asked.tool_name.as_deref()?.rsplit_once("__")?;
    let tool = tools::find(name)?;
    let env = variables::restore_user_variables(env.clone());
    let reply = hook::run(Role::Main, payload.as_bytes(), &env, now, PROGRAM);
    let run = || {
        let input = asked.tool_input.as_deref().map(|input| serde_json::from_str(input.get()));
        let input: Value = input.and_then(Result::ok).unwrap_or_else(|| json!({}));
        match tool.call(&env.with_variable(env::SESSION_ID, session), now, input) {
            // The client saves a long text as it is, but long blocks as one line of JSON.
            Ok(texts) => json!({"result": texts.join("\n")}),
            Err(why) => json!({"deny": format!("{why:#}")}),
        }
    };
    let mut answer = match reply.agent {
        None | Some(Agent::Allow(..) | Agent::Note(..)) => run(),
        Some(Agent::Deny(why)) => json!({"deny": why}),
        // Answers to other events; a call that nobody allowed does not run.
        Some(
            Agent::Close(_)
            | Agent::Output(_)
            | Agent::Block(_)
            | Agent::DropPrompt(_)
            | Agent::GoOn(_),
        ) => {
            json!({"deny": "brain-guard did not decide on this call"})
        }
    };
    answer["say"] = json!(reply.user);
    Some(answer)
}
