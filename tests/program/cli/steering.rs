//! Note kinds that stay as a prefix of an entry, and `steering`, which lists one kind.

use std::fs;

use serde_json::json;

use crate::support::hook::Hook;

fn text(hook: &Hook) -> String {
    fs::read_to_string(hook.file()).expect("file")
}

#[test]
fn steering_notes_and_directives_keep_their_prefix() {
    let hook = Hook::begun();
    for (args, line) in [
        (&["--kind", "steering", "it came too late"][..], "- steering: it came too late\n"),
        (
            &["--kind", "steering", "--about", "note-coach", "! it helped"],
            "- ! steering: [note-coach] it helped\n",
        ),
        (&["--kind", "directive", "never push to main"], "- directive: never push to main\n"),
        (&["--kind", "directive", "directive: ask first"], "- directive: ask first\n"),
        (&["--kind", "scope", "only the parser"], "- only the parser\n"),
    ] {
        let answer = hook.raw(&[&["append"], args].concat(), b"");
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert!(text(&hook).contains(line), "{line}: {}", text(&hook));
    }
    hook.raw(&["append", "--kind", "directive"], b"- one\n- two\n");
    assert!(text(&hook).contains("- directive: one\n- directive: two\n"));
    let about = hook.raw(&["append", "--about", "x", "y"], b"");
    assert_eq!(about.code, Some(2));
    assert!(about.stderr.contains("--about belongs to --kind steering"), "{about:?}");
}

#[test]
fn steering_groups_notes_of_all_jobs_by_topic() {
    let hook = Hook::begun();
    assert!(
        hook.raw(&["steering"], b"")
            .stdout
            .contains("no steering note in any job; `brain-guard append")
    );
    hook.raw(&["phase", "enter", "design", "--coach", "think big"], b"");
    for note in [
        "the kickoff's order was right",
        "in the design it led into a rewrite",
        "something went well",
    ] {
        hook.raw(&["append", "--kind", "steering", note], b"");
    }
    hook.raw(&["append", "--kind", "steering", "--about", "Design", "too big"], b"");
    let other = hook.places().job("other");
    fs::create_dir_all(other.join("sealed")).expect("folder");
    let moved = "# other\n\n## Open Threads\n- steering: [design] too big\n";
    fs::write(other.join("compaction.md"), moved).expect("file");
    let gone = "# other: removed by the seal of version 1\n\n## shrink: Process Insight\n\n- steering: [design] too big\n- steering: [linter] it was ignored\n";
    fs::write(other.join("sealed/v0001.removed.md"), gone).expect("file");

    let groups = hook.raw(&["steering", "--json"], b"").json()["groups"].clone();
    let seen: Vec<_> = groups
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| {
            (
                group["about"].clone(),
                group["voice"].clone(),
                group["notes"].as_array().expect("notes").len(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (json!("design"), json!("phase"), 3),
            (json!("kickoff"), json!("template"), 1),
            (json!("linter"), json!("other"), 1),
            (json!(null), json!(null), 1),
        ]
    );
    assert_eq!(groups[2]["notes"][0]["job"], "other");
    assert_eq!(groups[2]["notes"][0]["place"], "other/sealed/v0001.removed.md:6");
    let shown = hook.agent("brain-guard steering");
    assert!(
        shown.stdout.starts_with("design (a phase)\n  - ")
            && shown.stdout.contains("\nunspecified\n"),
        "{shown:?}"
    );
}

#[test]
fn steering_includes_sealed_away_notes() {
    let hook = Hook::begun();
    hook.settings(&json!({"file": {"words": 100, "seal_target": 0.3}}));
    for number in 0..12 {
        let note = format!("note {number}: {}", "the voice said this and that ".repeat(2 + number));
        let note = note
            .split_whitespace()
            .map(|word| format!("{word}{number}"))
            .collect::<Vec<_>>()
            .join(" ");
        hook.raw(&["append", "--kind", "steering", "--about", "design", &note], b"");
    }
    let before = hook.raw(&["steering", "--json"], b"").json()["groups"].clone();
    let sealed = crate::cli::seal::seal(&hook, &[]);
    assert_eq!(sealed.code, Some(0), "{sealed:?}");
    assert!(text(&hook).matches("steering: ").count() < 12, "the seal took some out");
    let after = hook.raw(&["steering", "--json"], b"").json()["groups"].clone();
    let texts = |groups: &serde_json::Value| {
        let mut texts: Vec<_> = groups[0]["notes"]
            .as_array()
            .expect("notes")
            .iter()
            .map(|n| n["text"].to_string())
            .collect();
        texts.sort();
        texts
    };
    assert_eq!(texts(&after), texts(&before));
    assert_eq!(texts(&after).len(), 12);
}
