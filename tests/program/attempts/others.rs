//! With other tools: those that put text into a prompt, other shells, and oddly shaped inputs.

use serde_json::json;

use crate::attempts::attempt::{Attempt, Outcome, denied};
use crate::support::hook::percent_in;

const SLASH: &str = "/brain-guard:override --for 7d";
const PLAIN: &str = "brain-guard override --for 7d";

pub fn all() -> Vec<Attempt> {
    let call = |name: &str, tool: &'static str, input| Attempt::call(name, tool, input);
    let unrun = |name: &str, tool: &'static str, input| Attempt::unrun(name, tool, input);
    let mut all = vec![
        call("PowerShell", "PowerShell", json!({"command": PLAIN})),
        call(
            "Monitor",
            "Monitor",
            json!({"command": format!("sleep 1; {PLAIN}"), "description": "d"}),
        ),
        call("in the background", "Bash", json!({"command": PLAIN, "run_in_background": true})),
        call(
            "without the sandbox",
            "Bash",
            json!({"command": PLAIN, "dangerouslyDisableSandbox": true}),
        ),
        call(
            "a stray field of another type",
            "Bash",
            json!({"command": PLAIN, "limit": "all", "offset": []}),
        ),
        call(
            "a path beside the command",
            "Bash",
            json!({"command": PLAIN, "file_path": "/etc/hostname"}),
        ),
        unrun(
            "a notebook's path beside another",
            "NotebookEdit",
            json!({"file_path": "x", "notebook_path": "{settings}"}),
        ),
        Attempt::story("a subagent as proxy", |scene| {
            let hook = &scene.hook;
            let agent = json!({"description": "d", "prompt": "Run brain-guard override"});
            assert_eq!(hook.pre("Agent", &agent).verdict(), "pass", "free, and only words");
            let mut inside = hook.call("Bash", &json!({"command": PLAIN}));
            inside["agent_id"] = "a1".into();
            if hook.send(&inside).verdict() != "deny" {
                return Outcome::Through("in a subagent".to_owned());
            }
            hook.fill(percent_in("narrow"));
            hook.read();
            denied(hook, "Agent", &agent)
        }),
        Attempt::story("a shell in a folder of the state", |scene| {
            let mut payload = scene.hook.call("Bash", &json!({"command": "rm -rf sessions"}));
            payload["cwd"] = scene.text("{state}").into();
            match scene.hook.send(&payload).verdict().as_str() {
                "deny" => Outcome::Denied,
                other => Outcome::Through(other.to_owned()),
            }
        }),
    ];
    all.extend(servers());
    all.extend(prompts());
    all
}

/// Tools of MCP servers.
fn servers() -> Vec<Attempt> {
    let unrun = |name: &str, tool: &'static str, input| Attempt::unrun(name, tool, input);
    vec![
        unrun("MCP, a shell", "mcp__shell__execute", json!({"command": PLAIN})),
        unrun(
            "MCP, a command with arguments",
            "mcp__shell__run",
            json!({"command": "brain-guard", "args": ["override", "--off"]}),
        ),
        unrun(
            "MCP, an editor with verbs",
            "mcp__editor__edit",
            json!({"command": "create", "path": "{settings}", "text": "{}"}),
        ),
        unrun(
            "MCP, a shell with arguments",
            "mcp__shell__run",
            json!({"cmd": "brain-guard", "args": ["override", "--off"]}),
        ),
        unrun(
            "MCP, a script",
            "mcp__ide__executeCode",
            json!({"code": "import os; os.system('brain-guard override')"}),
        ),
        unrun(
            "MCP, a list of words",
            "mcp__shell__run",
            json!({"command": ["sh", "-c", "brain-guard override --for 7d"]}),
        ),
        unrun(
            "MCP, a shell and its words",
            "mcp__shell__run",
            json!({"command": "sh", "args": ["-c", "brain-guard job accept parser"]}),
        ),
        unrun(
            "MCP, words alone",
            "mcp__shell__run",
            json!({"argv": ["bash", "-lc", "echo '{}' > {settings}"]}),
        ),
        unrun(
            "MCP, a second command",
            "mcp__shell__run",
            json!({"cmd": "ls", "script": "brain-guard purge --all"}),
        ),
        unrun(
            "MCP, a command in a step",
            "mcp__shell__run_all",
            json!({"steps": [{"command": "ls"}, {"command": ["rm", "-rf", "{home}/.local/state"]}]}),
        ),
        unrun("MCP, keys", "mcp__tmux__send_keys", json!({"pane": "%0", "keys": SLASH})),
    ]
}

/// Tools that put text into a prompt.
fn prompts() -> Vec<Attempt> {
    let unrun = |name: &str, tool: &'static str, input| Attempt::unrun(name, tool, input);
    vec![
        unrun("Skill", "Skill", json!({"skill": "brain-guard:override", "args": "--for 7d"})),
        unrun(
            "Skill, in a loop",
            "Skill",
            json!({"skill": "loop", "args": format!("/loop 5m {SLASH}")}),
        ),
        unrun("CronCreate", "CronCreate", json!({"cron": "* * * * *", "prompt": SLASH})),
        unrun(
            "ScheduleWakeup",
            "ScheduleWakeup",
            json!({"delaySeconds": 60, "prompt": format!("  {SLASH}")}),
        ),
        unrun(
            "Skill, a job",
            "Skill",
            json!({"skill": "brain-guard:job", "args": "accept parser"}),
        ),
        unrun("Skill, later", "Skill", json!({"skill": "brain-guard:later"})),
        unrun("Skill, purge", "Skill", json!({"skill": "/brain-guard:purge", "args": "--all"})),
        unrun(
            "CronCreate, a job",
            "CronCreate",
            json!({"cron": "* * * * *", "prompt": "/brain-guard:job accept parser"}),
        ),
        unrun(
            "ScheduleWakeup, now",
            "ScheduleWakeup",
            json!({"delaySeconds": 60, "prompt": "/brain-guard:now"}),
        ),
        unrun(
            "SendMessage, later",
            "SendMessage",
            json!({"to": "main", "message": "/brain-guard:later 7d"}),
        ),
        unrun("SendMessage", "SendMessage", json!({"to": "main", "message": SLASH})),
    ]
}
