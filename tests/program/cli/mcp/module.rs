//! The same tools as the plugin's module offers them: `mod start` names them, `mod tool` answers
//! their calls.

use serde_json::{Value, json};

use crate::support::hook::{Hook, percent_in};

const INJECT: &str = "mcp__brain-guard__inject";
const PURGE_CONTROL: &str = "mcp__brain-guard__purge_control";

/// The module's payload for a call: no transcript, folder or permission mode.
fn payload(hook: &Hook, tool: &str, input: &Value) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": hook.session, "tool_name": tool,
        "tool_input": input, "tool_use_id": "toolu_1",
    })
}

fn ask(hook: &Hook, payload: &Value) -> Value {
    hook.raw(&["mod", "tool"], payload.to_string().as_bytes()).json()
}

/// The text of the denial, with the session's folder left out.
fn denial(hook: &Hook, answer: &Value) -> String {
    assert!(answer["result"].is_null(), "{answer}");
    let text = answer["deny"].as_str().unwrap_or_else(|| panic!("not denied: {answer}"));
    text.replace(&hook.places().state.display().to_string(), "")
}

#[test]
fn a_call_is_denied_in_the_hooks_own_words() {
    let input = json!({"ref": 1});
    for tier in ["block-reads", "narrow"] {
        let (hook, other) = (Hook::climbed(percent_in(tier)), Hook::climbed(percent_in(tier)));
        let reply = other.pre(INJECT, &input);
        let reason = denial(&other, &json!({"deny": reply.reason()}));
        let answer = ask(&hook, &payload(&hook, INJECT, &input));
        assert_eq!(denial(&hook, &answer), reason);
        assert!(reason.contains("inject"), "{reason}");
        assert_eq!(answer["say"].as_str().unwrap_or_default(), reply.user());
        // The module knows no permission mode, and forgets none.
        assert_eq!(hook.state()["mode"], "default");
        let mut of_agent = payload(&hook, INJECT, &input);
        of_agent["agent_id"] = json!("a1");
        let page = ask(&hook, &of_agent);
        assert!(page["result"].as_str().is_some_and(|t| t.contains("go on")), "{page}");
        // Past the guard, the tool misses a real transcript.
        let purge = payload(&hook, PURGE_CONTROL, &json!({"action": "get_context"}));
        assert!(denial(&hook, &ask(&hook, &purge)).starts_with("purge_control:"), "{purge}");
    }
}

#[test]
fn an_error_is_the_answer_and_another_tool_is_not_ours() {
    let hook = Hook::begun();
    let answer = ask(&hook, &payload(&hook, INJECT, &json!({})));
    assert!(denial(&hook, &answer).contains("missing field `ref`"), "{answer}");
    for tool in ["Bash", "mcp__other__ping"] {
        assert_eq!(ask(&hook, &payload(&hook, tool, &json!({})))["action"], "none", "{tool}");
    }
}

#[test]
fn the_module_is_given_the_tools_if_the_settings_say_so() {
    let hook = Hook::begun();
    let asked = json!({"version": env!("CARGO_PKG_VERSION"), "session_id": hook.session});
    let start = || hook.raw(&["mod", "start"], asked.to_string().as_bytes()).json();
    assert_eq!(start()["tools"], json!([]));
    hook.settings(&json!({"extract": {"mcp": true}}));
    let started = start();
    let tools = started["tools"].as_array().expect("tools");
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["purge_control", "inject", "search", "sessions", "rounds"]);
    assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"), "{started}");
}
