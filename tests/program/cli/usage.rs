//! Help and exit codes.

use crate::support::hook::Hook;

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let (mut found, mut listed) = (Vec::new(), false);
    for line in help.lines() {
        if !line.starts_with(' ') {
            listed = line.to_lowercase().ends_with("commands:");
        } else if listed && !line.starts_with("   ") {
            found.extend(line.split_whitespace().next().map(str::to_owned));
        }
    }
    found.retain(|name| name != "help");
    found
}

/// Every verb without subcommands, with its help.
fn verbs(hook: &Hook, above: &[&str]) -> Vec<(String, String)> {
    let answer = hook.raw(&[above, &["--help"]].concat(), b"");
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{above:?}");
    let below = commands(&answer.stdout);
    if below.is_empty() {
        return vec![(above.join(" "), answer.stdout)];
    }
    below.iter().flat_map(|name| verbs(hook, &[above, &[name.as_str()]].concat())).collect()
}

#[test]
fn every_verb_has_an_example() {
    let hook = Hook::new();
    let verbs = verbs(&hook, &[]);
    let names: Vec<&str> = verbs.iter().map(|(name, _)| name.as_str()).collect();
    for name in [
        "install",
        "uninstall",
        "status",
        "explain",
        "log",
        "doctor",
        "override",
        "append",
        "close",
        "seal",
        "phase enter",
        "phase exit",
        "phase list",
        "steering",
        "store export",
        "settings check",
    ] {
        assert!(names.contains(&name), "{name} is not listed in {names:?}");
    }
    for (name, help) in &verbs {
        let example = help.split("Example").nth(1).unwrap_or_default();
        assert!(example.contains(&format!("brain-guard {name}")), "{name}:\n{help}");
    }
    assert!(
        !names.iter().any(|n| ["hook", "mod", "waiter"].contains(n)),
        "not for people: {names:?}"
    );
}

#[test]
fn exit_codes_are_as_documented() {
    let hook = Hook::begun();
    for (args, code) in [
        (&["--version"][..], 0),
        (&["--help"], 0),
        (&["status"], 0),
        (&[], 0),
        (&["help", "history"], 0),
        (&["status", "--session"], 2),
        (&["override", "soon"], 2),
        (&["override", "--calls", "0"], 2),
        (&["log", "--last", "0"], 2),
        (&["completions", "bash"], 0),
        (&["frobnicate"], 2),
        (&["status", "--nonsense"], 2),
        (&["override"], 2),
        (&["seal", "--clear", "--no-clear"], 2),
        (&["append", "--kind", "nonsense", "x"], 2),
        (&["seal"], 0),
        (&["phase"], 2),
        (&["phase", "list"], 0),
        (&["phase", "exit"], 1),
        (&["phase", "exit", "--kind", "risk"], 2),
        (&["steering"], 0),
        (&["close", "abc123"], 1),
        (&["override", "30m"], 1),
        (&["status", "--session", "../x"], 1),
    ] {
        let answer = hook.raw(args, b"");
        assert_eq!(answer.code, Some(code), "{args:?}: {answer:?}");
        assert_eq!(answer.stderr.is_empty(), code == 0, "{args:?}: {answer:?}");
    }
}

/// `brain-guard status | head -1` ends without an error.
#[test]
fn a_closed_pipe_is_no_error() {
    let hook = Hook::begun();
    let mut child = hook
        .command(&["explain"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ended");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}
