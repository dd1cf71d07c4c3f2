//! Which call passes, is allowed or denied: context usage × tool × caller × mode, in full.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::hook::{Hook, percent_in};

/// `.` no opinion, `A` allowed by a rule, `D` denied; each at 5 % and in the three tiers.
const TABLE: &str = "
                  main                        subagent
                  default plan    headless    default plan    headless
Read              ..DD    ....    ....        ....    ....    ....
Edit              ...D    ....    ....        ....    ....    ....
Bash              ...D    ....    ....        ....    ....    ....
Agent             ...D    ....    ....        ....    ....    ....
append            AAAA    AAAA    AAAA        AAAA    AAAA    AAAA
seal              AAAA    AAAA    AAAA        DDDD    DDDD    DDDD
compaction file   AAAA    AAAA    AAAA        AAAA    AAAA    AAAA
";

const TOOLS: [&str; 7] = ["Read", "Edit", "Bash", "Agent", "append", "seal", "compaction file"];

fn call(hook: &Hook, what: &str) -> Value {
    let (tool, input) = match what {
        "Read" => ("Read", json!({"file_path": "/etc/hostname"})),
        "Edit" => {
            ("Edit", json!({"file_path": "/etc/hostname", "old_string": "a", "new_string": "b"}))
        }
        "Bash" => ("Bash", json!({"command": "ls"})),
        "Agent" => ("Agent", json!({"description": "d", "prompt": "p"})),
        "append" => ("Bash", json!({"command": "brain-guard append --kind risk 'one'"})),
        "seal" => ("Bash", json!({"command": "brain-guard seal"})),
        _ => ("Edit", json!({"file_path": hook.file(), "old_string": "a", "new_string": "b"})),
    };
    hook.call(tool, &input)
}

fn cell(what: &str, percent: f64, subagent: bool, mode: &str) -> char {
    let mut hook = Hook::begun();
    if mode == "headless" {
        hook.set("CLAUDE_CODE_SESSION_ATTENDED", "0");
    }
    hook.fill(percent);
    let mut payload = call(&hook, what);
    if mode == "plan" {
        payload["permission_mode"] = "plan".into();
    }
    if subagent {
        payload["agent_id"] = "a1".into();
    }
    match hook.send(&payload).verdict().as_str() {
        "pass" => '.',
        "allow" => 'A',
        "deny" => 'D',
        other => panic!("{other}"),
    }
}

#[test]
fn every_call_is_decided_as_in_the_table() {
    let header: String = TABLE.lines().take(3).fold(String::new(), |all, line| all + line + "\n");
    let mut got = header;
    for what in TOOLS {
        let mut row = format!("{what:<18}");
        for subagent in [false, true] {
            for mode in ["default", "plan", "headless"] {
                let tiers = ["coach", "block-reads", "narrow"].map(percent_in);
                let cells: String = [5.0, tiers[0], tiers[1], tiers[2]]
                    .map(|at| cell(what, at, subagent, mode))
                    .iter()
                    .collect();
                let width = if mode == "headless" { 12 } else { 8 };
                let _ = write!(row, "{cells:<width$}");
            }
        }
        let _ = writeln!(got, "{}", row.trim_end());
    }
    assert_eq!(got, TABLE, "\n{got}");
}
