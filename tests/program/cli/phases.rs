//! `phase`: what an exit requires and refuses, and that a refusal keeps what was given.

use std::fs;

use serde_json::{Value, json};

use crate::cli::seal::tree;
use crate::support::hook::{Answer, Hook, percent_in};

const FULL: &str = "## Forward State\n- write the migration\n\n## Open Threads\n- none: nothing was left open\n\n\
                    ## Assumptions & Risks\n- the feed is sorted\n\n## Process Insight\n- the first plan was too big\n";

fn text(hook: &Hook) -> String {
    fs::read_to_string(hook.file()).expect("file")
}

fn exit(hook: &Hook, slice: &str) -> Answer {
    hook.raw(&["phase", "exit"], slice.as_bytes())
}

fn record(hook: &Hook) -> Value {
    let path = hook.file().with_file_name("job.json");
    serde_json::from_slice(&fs::read(path).expect("record")).expect("JSON")
}

#[test]
fn phase_exit_requires_every_section() {
    let hook = Hook::begun();
    let entered = hook.agent("brain-guard phase enter design");
    assert_eq!(entered.code, Some(0), "{entered:?}");
    assert!(
        entered.stdout.starts_with("entered the phase \"design\" of the job project-"),
        "{entered:?}"
    );
    assert!(
        entered
            .stdout
            .contains("Forward State, Open Threads, Assumptions & Risks, Process Insight (1"),
        "{entered:?}"
    );
    hook.agent("brain-guard append --kind gotcha 'CRLF breaks the parser'");

    let refused = exit(&hook, "## Forward State\n- write the migration\n");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(text(&hook).contains("- write the migration\n"), "what was given is kept");
    for part in [
        "Missing:\n  Assumptions & Risks: no entry\n  Process Insight: 0 of 1 entries that reflect on the work",
        "What you gave is in the notes. Give only this",
        "brain-guard phase exit <<'EOF'\n## Assumptions & Risks\n<!-- ",
        "\n- \nEOF\n",
    ] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert!(
        !refused.stderr.contains("## Open Threads"),
        "written in the phase: {}",
        refused.stderr
    );

    let left = hook.agent(&format!("brain-guard phase exit <<'EOF'\n{FULL}EOF"));
    assert_eq!(left.code, Some(0), "{left:?}");
    assert!(
        left.stdout.starts_with("left the phase \"design\": 3 entries added to Open Threads, "),
        "{left:?}"
    );
    let file = text(&hook);
    for line in [
        "- write the migration\n",
        "- CRLF breaks the parser\n- none: nothing was left open\n",
        "- the first plan was too big\n",
    ] {
        assert!(file.contains(line), "{line}: {file}");
    }
    let record = record(&hook);
    assert_eq!(record["auto"], true, "the default job is made by its first phase, too");
    assert_eq!((&record["phase"], &record["phases"][0]["name"]), (&Value::Null, &json!("design")));
    let again = exit(&hook, FULL);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("is in no phase; `brain-guard phase enter NAME`"), "{again:?}");
}

#[test]
fn phase_exit_counts_only_notes_of_the_phase() {
    let hook = Hook::begun();
    hook.raw(&["append"], FULL.as_bytes());
    hook.raw(&["phase", "enter", "build"], b"");
    let refused = exit(&hook, "");
    assert_eq!(refused.stderr.matches("no entry").count(), 3, "{refused:?}");
    // An edit by hand counts, too.
    let file = text(&hook)
        .replace("- the feed is sorted\n", "- the feed is sorted\n- the clock is right\n");
    fs::write(hook.file(), file).expect("file");
    for (kind, note) in
        [("directive", "never push"), ("thread", "a question"), ("lesson", "smaller steps")]
    {
        hook.raw(&["append", "--kind", kind, note], b"");
    }
    let before = text(&hook);
    let left = exit(&hook, "");
    assert!(left.stdout.contains("nothing added"), "{left:?}");
    assert_eq!(text(&hook), before);
}

#[test]
fn notes_and_a_slice_are_merged_without_duplicates() {
    let hook = Hook::begun();
    hook.raw(&["append", "--kind", "risk", "the feed is sorted"], b"");
    hook.raw(&["phase", "enter", "the build"], b"");
    let command = "brain-guard phase exit --kind directive 'never push' --kind lesson '- smaller steps' --kind Thread 'ask Petra' <<'EOF' 2>&1\n\
                   ## risks\n- the feed is sorted\n- the feed is sorted\nEOF";
    let left = hook.agent(command);
    assert_eq!(left.code, Some(0), "{left:?}");
    assert!(
        left.stdout.contains(
            "3 entries added to Forward State, Open Threads, Process Insight, 2 stood there already"
        ),
        "{left:?}"
    );
    let file = text(&hook);
    assert_eq!(file.matches("the feed is sorted").count(), 1, "{file}");
    assert!(
        file.contains("- directive: never push\n") && file.contains("- smaller steps\n"),
        "{file}"
    );
}

#[test]
fn a_coached_phase_asks_what_the_coaching_did() {
    let hook = Hook::begun();
    hook.settings(&json!({"phases": {"names": {"review": {"coach": "read the tests first"}}}}));
    let entered = hook.raw(&["phase", "enter", "Review"], b"");
    assert!(
        entered.stdout.contains("\nread the tests first\n")
            && entered.stdout.contains("steering note"),
        "{entered:?}"
    );
    assert_eq!(record(&hook)["phase"]["coach"], "read the tests first");
    let refused = exit(&hook, FULL);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("a steering note: what the coaching you heard did to the work"),
        "{refused:?}"
    );
    assert!(refused.stderr.contains("\n- steering: \nEOF"), "{refused:?}");
    let left = exit(&hook, &format!("{FULL}- steering: it kept me from a rewrite\n"));
    assert_eq!(left.code, Some(0), "{left:?}");
    assert!(text(&hook).contains("- steering: [Review] it kept me from a rewrite\n"));
}

#[test]
fn coaching_prefers_the_call_then_the_job_then_the_settings() {
    let hook = Hook::begun();
    hook.settings(
        &json!({"phases": {"reflection_steps": 0, "names": {"*": {"coach": "from the settings"}}}}),
    );
    let coach = |args: &[&str], stdin: &[u8]| {
        let entered = hook.raw(&[&["phase", "enter", "a phase"], args].concat(), stdin);
        assert_eq!(entered.code, Some(0), "{entered:?}");
        let said = record(&hook)["phase"]["coach"].as_str().expect("coach").to_owned();
        assert!(entered.stdout.contains(&said), "{entered:?}");
        let note = format!(
            "## Open Threads\n- heard: {said}\n## forward\n- x\n## risks\n- x\n## insight\n- x\n- steering: none: too early\n"
        );
        let left = exit(&hook, &note);
        assert_eq!(left.code, Some(0), "{left:?}");
        said
    };
    assert_eq!(coach(&[], b""), "from the settings");
    let path = hook.file().with_file_name("job.json");
    let mut own = record(&hook);
    own["coaching"] = json!({"A Phase": "from the job"});
    fs::write(&path, own.to_string()).expect("record");
    assert_eq!(coach(&[], b""), "from the job");
    assert_eq!(coach(&["--coach", "from the call"], b""), "from the call");
    assert_eq!(coach(&["--coach", "-"], b"from\nstdin\n"), "from\nstdin");
    assert_eq!(coach(&["--coach", ""], b""), "");
}

#[test]
fn the_settings_choose_the_reflection_steps() {
    let hook = Hook::begun();
    hook.settings(&json!({"phases": {"names": {"design": {"reflection_steps": 2}}}}));
    hook.raw(&["phase", "enter", "design"], b"");
    let refused = exit(&hook, FULL);
    assert!(refused.stderr.contains("Process Insight: 1 of 2 entries"), "{refused:?}");
    assert_eq!(
        exit(&hook, &format!("{FULL}- none: no more\n")).code,
        Some(1),
        "`none:` is no reflection"
    );
    let left = exit(&hook, &format!("{FULL}- the second was too small\n"));
    assert_eq!(left.code, Some(0), "{left:?}");
}

#[test]
fn phases_do_not_nest_and_their_names_are_one_line() {
    let hook = Hook::begun();
    for (name, code) in
        [("", 2), ("a\nb", 2), (&*"x".repeat(61), 2), ("the design", 0), ("build", 1)]
    {
        let answer = hook.raw(&["phase", "enter", name], b"");
        assert_eq!(answer.code, Some(code), "{name:?}: {answer:?}");
        assert_eq!(answer.stderr.contains("brain-guard phase exit"), code == 1, "{answer:?}");
    }
    let listed = hook.raw(&["phase", "list", "--json"], b"").json();
    assert_eq!((&listed["phase"]["name"], &listed["left"]), (&json!("the design"), &json!([])));
    assert_eq!(listed["phase"]["missing"].as_array().map(Vec::len), Some(4));
    assert_eq!(exit(&hook, FULL).code, Some(0));
    let listed = hook.raw(&["phase", "list"], b"");
    assert!(listed.stdout.contains("is in no phase\nleft: \"the design\", 20"), "{listed:?}");
}

#[test]
fn text_outside_of_sections_is_named_by_its_line() {
    let hook = Hook::begun();
    hook.raw(&["phase", "enter", "design"], b"");
    let before = tree(&hook.project);
    for (slice, code, said) in [
        (
            format!("by the way\n\n{FULL}"),
            1,
            "line 1 is not under a section heading (\"by the way\")",
        ),
        (
            format!("{FULL}\n## Ideas\n- x\n"),
            1,
            "line 13: no section is called \"Ideas\"; there are: Forward State,",
        ),
        (
            format!("{FULL}\n## Git Commit Messages\n- abc123 mine\n"),
            1,
            "line 14: Git Commit Messages is written by brain-guard",
        ),
    ] {
        let answer = exit(&hook, &slice);
        assert_eq!(answer.code, Some(code), "{answer:?}");
        assert!(
            answer.stderr.contains(said) && answer.stderr.contains("Nothing was written"),
            "{said}: {answer:?}"
        );
    }
    let unknown = hook.raw(&["phase", "exit", "--kind", "idea", "x"], FULL.as_bytes());
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.stderr.contains("unknown kind \"idea\"; kinds: next, assumption,"),
        "{unknown:?}"
    );
    assert_eq!(tree(&hook.project), before);
}

#[test]
fn phase_verbs_pass_only_in_the_main_loop() {
    let hook = Hook::climbed(percent_in("narrow"));
    assert_eq!(
        hook.agent("brain-guard phase enter design && brain-guard phase list").code,
        Some(0)
    );
    let mut call = hook.call("Bash", &json!({"command": "brain-guard phase exit"}));
    call["agent_id"] = json!("a1");
    call["agent_type"] = json!("general-purpose");
    assert_eq!(hook.send(&call).verdict(), "deny");
}

#[test]
fn a_phase_belongs_to_the_job_it_was_entered_in() {
    let hook = Hook::begun();
    hook.agent("brain-guard job focus first --no-clear");
    hook.agent("brain-guard phase enter design");
    let refused = hook.agent("brain-guard job complete");
    assert!(refused.stderr.contains("`brain-guard phase exit`"), "{refused:?}");
    let next = hook.agent("brain-guard job pause && brain-guard phase enter build");
    assert_eq!(next.code, Some(0), "{next:?}");
    assert!(next.stdout.contains("entered the phase \"build\" of the job project-"), "{next:?}");
    let phase = |job: &str| {
        let path = hook.places().job(job).join("job.json");
        let record: Value = serde_json::from_slice(&fs::read(path).expect("record")).expect("JSON");
        record["phase"]["name"].clone()
    };
    let own = hook.state()["job"].as_str().expect("job").to_owned();
    assert_ne!(own, "first");
    assert_eq!((phase("first"), phase(&own)), (json!("design"), json!("build")));
    // A summary in the notes given at the exit counts for completing the job.
    let left = exit(&hook, &format!("{FULL}## Prior Summary\n- built\n"));
    assert_eq!(left.code, Some(0), "{left:?}");
    let path = hook.places().job(&own).join("job.json");
    let record: Value = serde_json::from_slice(&fs::read(path).expect("record")).expect("JSON");
    assert_eq!(record["summary"]["session"], hook.session.as_str());
    hook.agent("brain-guard phase enter ship");
    let refused = hook.agent("brain-guard job pause && brain-guard phase exit");
    assert!(refused.stderr.contains(" is in no phase"), "{refused:?}");
}
